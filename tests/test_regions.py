"""Hits inside regions are those of a search of the whole genome that lie within one of them."""

import pytest
from support.commands import failed, fasta, here, misused, random_letters
from support.searches import packed, rows

import kmatch

RECORDS = [("chr1", random_letters(2_000)), ("chr2", random_letters(1_500, 2)), ("tiny", "ACGTA")]
REGIONS = [("chr1", 690, 725), ("chr1", 100, 900), ("chr1", 100, 110), ("chr2", 0, 400)]


def bed(regions):
    return "".join(f"{name}\t{start}\t{end}\n" for name, start, end in regions).encode()


def test_chunks_of_a_packed_genome_are_left_out(monkeypatch):
    length = 40_000
    records = [(f"r{number}", random_letters(length, number)) for number in range(12)]
    records.insert(5, ("repeat", "AC" * (length // 2)))
    genome = kmatch.Genome.from_records(records)
    stored = packed(records, length=3 * length // 2, halo=64, gap=16)
    checked = []
    monkeypatch.setattr(stored.file, "check", checked.append)
    regions = [("r2", 10_000, length), ("repeat", 0, length), ("r11", 0, 30_000)]
    for search in (kmatch.hamming, kmatch.edit):
        checked.clear()
        pattern = ["ACACACACAC", records[2][1][20_000:20_020]]
        expected = rows(search(genome, pattern, 1, device="cpu", regions=regions))
        assert rows(search(stored, pattern, 1, device="cpu", regions=regions)) == expected
        assert len({hit[0] for hit in expected}) > 1
        assert 0 < len(checked) < len(stored.file.lengths)


WRONG = {
    "empty": (b"# nothing\n", "no regions", "write BED"),
    "two columns": (b"chr1\t5\n", "line 1", "2 columns"),
    "no numbers": (b"chr1\t0\t9\nchr1\tx\t9\n", "line 2", "'x' is no position"),
    "negative": (b"chr1\t-1\t9\n", "line 1", "'-1' is no position"),
    "exchanged": (b"chr1\t9\t3\n", "line 1", "begins at 9"),
    "beyond the end": (b"chr2\t0\t1501\n", "line 1", "1,501", "1,500 letters"),
    "another genome": (b"1\t0\t9\n", "line 1", "no record '1'"),
    "huge": (b"chr1\t0\t99999999999\n", "line 1", "no position"),
}


def test_wrong_regions_are_named(tmp_path):
    (tmp_path / "genome.fa").write_bytes(fasta(RECORDS))
    regions, out = tmp_path / "regions.bed", tmp_path / "hits.bed"
    search = ("hamming", tmp_path / "genome.fa", "-p", "ACGT", "-k", 1, "--regions", regions)
    for data, *words in WRONG.values():
        regions.write_bytes(data)
        failed(here(*search, "-o", out), "regions.bed", *words)
        assert not out.exists()
    regions.write_bytes(bed([*REGIONS, ("chrM", 0, 9)]))
    result = here(*search)
    assert result.status == 0 and result.out.count(b"\n") > 5
    assert b"warning" in result.err and b"'chrM'" in result.err


def test_records_named_as_headers_begin(tmp_path):
    for name in ("track1", "track", "tracks x", "browser_2", "browser"):
        (tmp_path / "genome.fa").write_bytes(fasta([(name, "TTACGTT")]))
        rest = f"{name.split()[0]}\t1\t7\n"
        (tmp_path / "regions.bed").write_bytes(f"track\nbrowser x\ntrack 1 2\n{rest}".encode())
        search = ("hamming", tmp_path / "genome.fa", "-p", "ACGT", "-k", 0, "--strand", "+")
        found = here(*search, "--regions", tmp_path / "regions.bed")
        assert found.out.decode() == f"{name.split()[0]}\t2\t6\tACGT\t1000\t+\t0\n"


def test_regions_are_an_input(tmp_path):
    (tmp_path / "regions.bed").write_bytes(bed(REGIONS))
    search = ("hamming", "-", "-p", "ACGT", "-k", 1, "--regions")
    path = tmp_path / "regions.bed"
    misused(here(*search, path, "-o", path, stdin=fasta(RECORDS)), "same file")
    misused(here(*search, "-", stdin=fasta(RECORDS)), "only one of")
    by_file = here(*search, path, stdin=fasta(RECORDS))
    (tmp_path / "genome.fa").write_bytes(fasta(RECORDS))
    search = ("hamming", tmp_path / "genome.fa", *search[2:])
    assert here(*search, "-", stdin=bed(REGIONS)) == by_file and by_file.out
    genome = kmatch.Genome.from_records(RECORDS)
    for regions in ([], 7, [("chr1", 5, 3)], [("chr1", 5)], [("chr1", "0", 9)], [(1, 2, 3)]):
        with pytest.raises(kmatch.InputError, match=r"region|start"):
            kmatch.hamming(genome, "ACGT", 1, regions=regions)
