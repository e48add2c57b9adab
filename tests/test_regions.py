"""Hits inside regions are those of a search of the whole genome that lie within one of them."""

import warnings

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import failed, fasta, here, misused, random_letters
from support.hooks import hooked
from support.mismatches import rows
from support.packing import packed

import kmatch
from kmatch.results.table import Hits
from kmatch.search.regions import load_regions
from kmatch.sequences.patterns import load_patterns

RECORDS = [("chr1", random_letters(2_000)), ("chr2", random_letters(1_500, 2)), ("tiny", "ACGTA")]
PATTERNS = ["ACGT", "TTGAC", RECORDS[0][1][700:720]]
REGIONS = [("chr1", 690, 725), ("chr1", 100, 900), ("chr1", 100, 110), ("chr2", 0, 400)]
SEARCHES = {
    "hamming": (PATTERNS[:2], 1),
    "multi": (PATTERNS[:1], 1),
    "edit": (PATTERNS, 1),
    "best": (PATTERNS,),
}


def is_inside(regions, record, start, end):
    return any(name == record and a <= start and end <= b for name, a, b in regions)


def inside(regions, records, hits):
    return [hit for hit in hits if is_inside(regions, records[hit[0]][0], hit[1], hit[2])]


def bed(regions):
    return "".join(f"{name}\t{start}\t{end}\n" for name, start, end in regions).encode()


@pytest.mark.parametrize("command", SEARCHES)
def test_commands_and_packed_genomes(tmp_path, command):
    patterns, *k = SEARCHES[command]
    (tmp_path / "genome.fa").write_bytes(fasta(RECORDS))
    kmatch.pack(tmp_path / "genome.fa", tmp_path / "genome.kmatch")
    (tmp_path / "regions.bed").write_bytes(
        b"track x\n#y\n\n" + bed(REGIONS).replace(b"\n", b"\tz\n")
    )
    words = [word for pattern in patterns for word in ("-p", pattern)]
    words += ["--format", "tsv", *(word for number in k for word in ("-k", number))]
    lines = here(command, tmp_path / "genome.fa", *words).out.decode().splitlines()
    cells = [line.split("\t") for line in lines[1:]]
    kept = [is_inside(REGIONS, cell[0], int(cell[1]), int(cell[2])) for cell in cells]
    expected = lines[:1] + [line for line, inside in zip(lines[1:], kept, strict=True) if inside]
    words += ["--regions", tmp_path / "regions.bed"]
    for genome in ("genome.fa", "genome.kmatch"):
        result = here(command, tmp_path / genome, *words)
        assert (result.status, result.err) == (0, b"")
        assert result.out.decode().splitlines() == expected


def test_a_header_names_all_records(tmp_path):
    (tmp_path / "genome.fa").write_bytes(fasta(RECORDS))
    (tmp_path / "regions.bed").write_bytes(bed(REGIONS[:1]))
    words = ("hamming", tmp_path / "genome.fa", "-p", "ACGT", "-k", 1, "--format", "sam")
    whole, part = here(*words), here(*words, "--regions", tmp_path / "regions.bed")
    headers = [
        [line for line in result.out.splitlines() if line.startswith(b"@SQ")]
        for result in (whole, part)
    ]
    assert headers[0] == headers[1] and len(headers[0]) == len(RECORDS)
    assert 0 < part.out.count(b"\n") < whole.out.count(b"\n")


regions_of_two = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 40), st.integers(0, 12)).map(
        lambda region: (region[0], region[1], min(region[1] + region[2], 40))
    ),
    min_size=1,
    max_size=6,
)


@given(
    regions_of_two,
    st.lists(st.text("ACGT", min_size=40, max_size=60), min_size=3, max_size=3),
    st.integers(0, 1),
    st.sampled_from(["hamming", "edit"]),
)
def test_any_regions_and_chunks(regions, texts, k, problem):
    records = list(zip("axb", texts, strict=True))
    panel, genome = load_patterns(["ACG", "TA"]), kmatch.Genome.from_records(records)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = hooked(problem, genome, panel, k, chunk_length=17, regions=load_regions(regions))
        hits = Hits(found.batches, panel)
    oracle = getattr(naive, problem)
    expected = [hit[:6] for hit in oracle(records, ["ACG", "TA"], k)]
    assert rows(hits) == inside(regions, records, expected)


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
