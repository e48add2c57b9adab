"""Several genomes: each is searched as if alone, in the order given, and named in a column."""

import os
from unittest import mock

import naive
import pytest
from support.commands import failed, fasta, here, misused, random_letters, shell

import kmatch

PATTERN = "ACGTTGCATTAGCCAGTACT"
SITE = naive.reverse_complement(PATTERN)
TEXTS = [PATTERN + "ACA", random_letters(70), "", SITE, PATTERN[:9] + "A" + PATTERN[10:]]
FILES = [[("r", text), ("s", "ACGTAC")] for text in TEXTS]


def test_hits_have_a_genome():
    hits = kmatch.hamming([kmatch.Genome.from_records(f) for f in FILES], [PATTERN], 1)
    assert hits.genome_number.tolist() == [0, 3, 4]
    assert hits[1].genome == "records in memory" and hits[1].strand == "-"
    assert "genome" in repr(hits) and list(hits)[2].distance == 1
    turned = hits[[2, 0, 1, 0]]
    assert turned.genome_number.tolist() == [4, 0, 3, 0]
    assert turned.cigar.tolist() == ["9=1X10=", "20=", "20=", "20="]
    assert turned.record.tolist() == ["r"] * 4 and hits[:0].genome.tolist() == []
    one = kmatch.Genome.from_records(FILES[0])
    assert not hasattr(kmatch.hamming(one, [PATTERN], 1), "genome")
    # Copies of a pattern stay with their genome.
    same = kmatch.hamming([one, one], [PATTERN, PATTERN], 1)
    assert same.genome_number.tolist() == [0, 0, 1, 1]
    assert same.pattern_number.tolist() == [0, 1, 0, 1]
    with pytest.raises(kmatch.InputError, match="no genome to search"):
        kmatch.hamming([], [PATTERN], 1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of genomes, one of them packed, and a list of them."""
    monkeypatch.chdir(tmp_path)
    for number, records in enumerate(FILES):
        (tmp_path / f"g{number}.fa").write_bytes(fasta(records))
    assert here("pack", "g3.fa", "-o", "g3.kmatch").status == 0
    (tmp_path / "list").write_text("# genomes\n\n" + "\n".join(NAMES) + "\n")
    return tmp_path


NAMES = ["g0.fa", "g1.fa", "g2.fa", "g3.kmatch", "g4.fa"]
ONE = ("-p", PATTERN, "-k", 1)


def test_the_warning_of_best_names_the_genome(folder):
    (folder / "g2.fa").write_text(">r\nACACA\n")
    found = here("best", "@list", "-p", "GGGG", "--strand", "+", "--device", "cpu")
    said = "kmatch: warning: pattern 'GGGG' matches nowhere in g2.fa\n"
    assert (found.status, found.err.decode()) == (0, said)


def test_a_list_in_standard_input_or_a_pipe(folder):
    options = ("-p", PATTERN, "-k", 0)
    expected = here("hamming", "@list", *options).out
    assert here("hamming", "@-", *options, stdin=(folder / "list").read_bytes()).out == expected
    found = shell('"$@" @<(ls g0.fa g1.fa g3.kmatch)', "hamming", *options)
    assert (found.status, found.out) == (0, expected) and expected.count(b"\n") == 2


def test_a_panel_is_built_once(folder):
    from kmatch.search import windows as compared

    with mock.patch.object(compared, "build_panel", wraps=compared.build_panel) as built:
        assert here("hamming", "@list", *ONE).status == 0
    assert built.call_count == 1


def test_formats(folder):
    (folder / "a=b.fa").write_text(f">r\n{PATTERN}\n")
    (folder / "two").write_text("g0.fa\na=b.fa\n")
    found = here("hamming", "@two", "-p", PATTERN, "-k", 0, "--format", "gff3").out.decode()
    lines = found.splitlines()
    assert [line.split(";genome=")[1] for line in lines[1:]] == ["g0.fa", "a%3Db.fa"]
    found = here("hamming", "@list", *ONE, "--format", "view").out.decode()
    lines = [line.split() for line in found.splitlines() if line]  # with letters of their genome
    assert [line[:2] for line in lines[::4]] == [
        [name, "r:0-20"] for name in ("g0.fa", "g3.kmatch", "g4.fa")
    ]
    assert lines[3][1] == PATTERN + "aca" and lines[7][1] == PATTERN
    failed(here("hamming", "@list", *ONE, "--format", "sam"), "one genome")
    with pytest.raises(kmatch.InputError, match="one genome"):
        kmatch.hamming("@list", [PATTERN], 1).to_sam(folder / "hits.sam")
    assert here("hamming", "@list", *ONE, "--summary-only").out.endswith(b"\t2\t1\t3\n")
    letters = 2 * 23 + 70 + 20 + 20 - 23 + 5 * 6
    said = here("hamming", "@list", *ONE, "-v").err.decode()
    assert f"5 genomes, 10 records, {letters} bp in" in said


def test_a_limit_is_one_a_genome(folder):
    hits = kmatch.hamming("@list", ["ACGT"], 1)
    kept = sum(min((hits.genome == name).sum(), 2) for name in dict.fromkeys(hits.genome))
    with pytest.warns(UserWarning, match=f"the limit keeps {kept}, at most 2"):
        assert len(kmatch.hamming("@list", ["ACGT"], 1, limit=2)) == kept


def test_regions_name_records_of_any(folder):
    (folder / "regions").write_text("r\t0\t20\n")
    options = ("-p", PATTERN[:9], "-k", 0)
    whole = here("edit", "@list", *options, "--report", "ends").out.decode().splitlines()
    for command in ("edit", "hamming"):
        found = here(command, "@list", *options, "--regions", "regions").out.decode()
        assert found.count("\n") > 0 and set(found.splitlines()) <= set(whole)
    (folder / "regions").write_text("r\t0\t20\nx\t0\t5\n")
    found = here("hamming", "@list", *options, "--regions", "regions")
    assert b"@list has no record 'x'" in found.err
    (folder / "regions").write_text("r\t0\t71\n")
    beyond = here("hamming", "@list", *options, "--regions", "regions", "-o", "out.bed")
    failed(beyond, "ends at 71")


@pytest.mark.parametrize(
    ("name", "content", "genome", "said"),
    [
        ("list", "g0.fa\ng9.fa\n", "@list", ("g9.fa", "No such file")),
        ("g1.fa", ">r\nACGTEACGT\n", "@list", ("g1.fa", "looks like protein")),
        ("list", "\n# none\n", "@list", ("@list", "names no genome")),
        ("list", "g0.fa\n-\n", "@list", ("@list", "'-'")),
        ("list", "", "@g0.fa", ("begins a sequence file",)),
        ("list", "", "@none", ("none", "No such file")),
    ],
)
def test_mistakes(folder, name, content, genome, said):
    (folder / name).write_text(content)
    failed(here("hamming", genome, *ONE, "-o", "out.bed"), *said)
    assert not os.path.exists("out.bed")


@pytest.mark.parametrize("name", ["g1.fa", "list", "./g3.kmatch"])
def test_no_output_is_one_of_them(folder, name):
    os.link(name, "linked.bed")
    before = (folder / name).read_bytes()
    misused(here("hamming", "@list", *ONE, "-o", "linked.bed"), "is read")
    assert (folder / name).read_bytes() == before


def test_patterns_and_the_list_are_standard_input(folder):
    misused(here("hamming", "@-", "-", "-k", 1), "only one of")


def test_progress_goes_over_the_list(folder):
    heard = []
    kmatch.hamming("@list", [PATTERN], 0, on_progress=lambda *sizes: heard.append(sizes))
    total = sum(os.path.getsize(name) for name in NAMES)
    assert {size for _, size in heard} == {total}
    consumed = [done for done, _ in heard]
    assert consumed == sorted(consumed) and consumed[-1] == total and len(heard) >= 5
