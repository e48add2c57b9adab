"""`kmatch edit` and `kmatch best` as a user runs them."""

import gzip
import os

import naive
import naive_bounds
import pytest
from support.commands import (
    HEAVY,
    compressed,
    failed,
    fasta,
    here,
    loaded,
    misused,
    process,
    random_letters,
)

import kmatch

RECORDS = [("chr1", random_letters(3_000)), ("chr2", "GG" + "AATGG" * 12 + "NNN"), ("empty", "")]
PANEL = {"fwd": "ACGTTGCATT", "rev": "NRYACGTAAC", "sat": "AATGGAATGG", "fwd2": "TTGACC"}
SEARCH = ("-p", "ACGTTGCAACGT", "-k", 2)


@pytest.fixture
def genome(tmp_path):
    path = tmp_path / "genome.fa"
    path.write_bytes(fasta([(f"{name} a title", text) for name, text in RECORDS]))
    return path


@pytest.fixture
def panel(tmp_path):
    path = tmp_path / "panel.txt"
    path.write_text("".join(f"{name}\t{sequence}\n" for name, sequence in PANEL.items()))
    return path


@pytest.fixture(scope="module")
def tables():
    """The BED and TSV by report, from the oracle."""
    names, patterns = list(PANEL), list(PANEL.values())
    found = {}
    for report in ("minima", "ends", "loci"):
        hits = naive.edit(RECORDS, patterns, 2, report)
        assert len(hits) > 20
        found[report, "bed"] = naive.edit_bed(RECORDS, names, patterns, hits).encode()
        found[report, "tsv"] = naive.edit_tsv(RECORDS, names, hits).encode()
    assert len({len(table) for table in found.values()}) == len(found)
    return found


@pytest.mark.parametrize("form", ["bed", "tsv"])
@pytest.mark.parametrize("report", ["minima", "ends", "loci"])
def test_reports(genome, panel, tables, report, form):
    search = ("edit", genome, panel, "-k", 2, "--report", report)
    assert here(*search, "--format", form) == (0, tables[report, form], b"")
    assert here(*search, "--format", form, "-t", 2, "--device", "cpu").out == tables[report, form]


def test_minima_as_bed_by_default(genome, panel, tables):
    assert process("edit", genome, panel, "-k", 2) == (0, tables["minima", "bed"], b"")


def test_strands(genome, panel, tables):
    rows = tables["minima", "bed"].splitlines(keepends=True)
    for sign in "+-":
        expected = b"".join(row for row in rows if row.split(b"\t")[5] == sign.encode())
        result = here("edit", genome, panel, "-k", 2, "--strand", sign)
        assert result == (0, expected, b"") and expected


def test_standard_input(genome, panel, tables):
    data = compressed("gz", genome.read_bytes())
    search = ("edit", "-", panel, "-k", 2)
    assert here(*search, stdin=data) == (0, tables["minima", "bed"], b"")
    result = here("edit", genome, "-", "-k", 2, stdin=panel.read_bytes())
    assert result == (0, tables["minima", "bed"], b"")


@pytest.mark.parametrize("name", ["hits.bed", "hits.tsv", "hits.tsv.gz", "hits"])
def test_files_are_whole(tmp_path, genome, panel, tables, name):
    before = set(os.listdir(tmp_path))
    assert here("edit", genome, panel, "-k", 2, "-o", tmp_path / name) == (0, b"", b"")
    assert set(os.listdir(tmp_path)) == before | {name}
    data = (tmp_path / name).read_bytes()
    data = gzip.decompress(data) if name.endswith(".gz") else data
    assert data == tables["minima", "tsv" if "tsv" in name else "bed"]


@pytest.mark.parametrize("command", [("edit", "-k", 2), ("best",)])
def test_no_file_of_a_bad_genome(tmp_path, command):
    data = compressed("gz", fasta(RECORDS))
    (tmp_path / "cut.fa.gz").write_bytes(data[: len(data) // 2])
    (tmp_path / "old.bed").write_bytes(b"what was here before\n")
    search = (*command, tmp_path / "cut.fa.gz", "-p", "ACGTTGCA")
    failed(here(*search, "-o", tmp_path / "new.bed"), "cut.fa.gz", "truncated")
    failed(here(*search, "-o", tmp_path / "old.bed"), "cut.fa.gz", "truncated")
    assert sorted(os.listdir(tmp_path)) == ["cut.fa.gz", "old.bed"]
    assert (tmp_path / "old.bed").read_bytes() == b"what was here before\n"


@pytest.mark.parametrize("k", [6, 7, 100])
def test_k_of_a_pattern_or_more(tmp_path, genome, panel, k):
    result = here("edit", genome, panel, "-k", k, "-o", tmp_path / "hits.bed")
    failed(result, "fwd2" if k < 10 else "fwd", f"k = {k}")
    assert not (tmp_path / "hits.bed").exists()


def test_letters_outside_iupac(genome):
    failed(here("edit", genome, "-p", "ACGT", "-p", "AQ", "-k", 1), "AQ", "'Q'", "position 2")
    failed(here("best", genome, "-p", "AC!T"), "AC!T", "'!'", "position 3")


def test_names_that_repeat(genome):
    for command in (("edit", "-k", 1), ("best",)):
        result = here(*command, genome, "-p", "AATGG", "-p", "AATGG")
        assert result.status == 0 and b"warning" in result.err and b"AATGG" in result.err
        lines = result.out.splitlines()
        assert lines[::2] == lines[1::2] != []


@pytest.mark.parametrize("command", [("edit", "-k", 1), ("best",)])
def test_verbose(genome, command):
    result = here(*command, genome, "-p", "AATGGAATGG", "-v", "--device", "cpu")
    said = result.err.decode()
    assert result.status == 0 and result.out
    assert "cpu" in said
    rows = result.out.count(b"\n")
    assert f"{rows:,} hits" in said
    assert here(*command, genome, "-p", "AATGGAATGG", "-q") == (0, result.out, b"")


USAGE = {
    "negative k": ("edit", "GENOME", "-p", "ACGT", "-k", "-1"),
    "no k": ("edit", "GENOME", "-p", "ACGT"),
    "k is no number": ("edit", "GENOME", "-p", "ACGT", "-k", "one"),
    "no genome": ("edit", "-k", "1"),
    "patterns twice": ("edit", "GENOME", "GENOME", "-p", "ACGT", "-k", "1"),
    "no patterns": ("edit", "GENOME", "-k", "1"),
    "standard input twice": ("edit", "-", "-", "-k", "1"),
    "report": ("edit", "GENOME", "-p", "ACGT", "-k", "1", "--report", "all"),
    "strand": ("edit", "GENOME", "-p", "ACGT", "-k", "1", "--strand", "plus"),
    "format": ("edit", "GENOME", "-p", "ACGT", "-k", "1", "--format", "vcf"),
    "device": ("edit", "GENOME", "-p", "ACGT", "-k", "1", "--device", "gpu"),
    "threads": ("edit", "GENOME", "-p", "ACGT", "-k", "1", "-t", "0"),
    "side of the PAM": ("edit", "GENOME", "-p", "ACGT", "-k", "1", "--pam-side", "left"),
    "negative bound": ("edit", "GENOME", "-p", "ACGT", "-k", "1", "--max-mismatches", "-1"),
    "best beside a PAM": ("best", "GENOME", "-p", "ACGT", "--pam", "NGG"),
    "best with k": ("best", "GENOME", "-p", "ACGT", "-k", "1"),
    "best with a report": ("best", "GENOME", "-p", "ACGT", "--report", "ends"),
    "best without patterns": ("best", "GENOME"),
    "best without a genome": ("best", "-p", "ACGT"),
    "best, patterns twice": ("best", "GENOME", "GENOME", "-p", "ACGT"),
    "best, standard input twice": ("best", "-", "-"),
}


@pytest.mark.parametrize("name", USAGE)
def test_usage(genome, name):
    words = [str(genome) if word == "GENOME" else word for word in USAGE[name]]
    misused(here(*words), f"Usage: kmatch {words[0]}")


RULES = {
    "beside a PAM": (("--pam", "NGG"), {"pam": "NGG"}),
    "before a PAM": (
        ("--pam", "NGG", "--pam", "TTN,AAAA", "--pam-side", "5p"),
        {"pam": ["NGG", "TTN", "AAAA"], "pam_side": "5p"},
    ),
    "exact ends": (("--exact-3p", 2, "--exact-5p", 1), {"exact_3p": 2, "exact_5p": 1}),
    "bounds": (
        ("--max-mismatches", 1, "--max-insertions", 0, "--max-deletions", 1, "--report", "loci"),
        {"max_mismatches": 1, "max_insertions": 0, "max_deletions": 1, "report": "loci"},
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_rules(genome, panel, name):
    words, rules = RULES[name]
    names, patterns = list(PANEL), list(PANEL.values())
    hits = naive_bounds.edit(RECORDS, patterns, 2, **rules)
    assert hits
    search = ("edit", genome, panel, "-k", 2, *words)
    assert here(*search).out == naive.edit_bed(RECORDS, names, patterns, hits).encode()
    assert here(*search, "--format", "tsv").out == naive.edit_tsv(RECORDS, names, hits).encode()


def test_best_with_exact_ends(genome, panel):
    names, patterns = list(PANEL), list(PANEL.values())
    hits = naive_bounds.best(RECORDS, patterns, exact_5p=2, exact_3p=3)
    plain = naive_bounds.best(RECORDS, patterns)
    assert hits and hits != plain
    found = here("best", genome, panel, "--exact-5p", 2, "--exact-3p", 3)
    assert found.out == naive.edit_bed(RECORDS, names, patterns, hits).encode()


MISTAKES = {
    "an empty PAM": (("--pam", ""), "the PAM is empty; give its letters, such as NGG"),
    "an empty PAM among others": (("--pam", "NGG,"), "the PAM is empty"),
    "a letter that is none": (("--pam", "NG!"), "PAM 'NG!': '!' at position 3"),
    "a long PAM": (("--pam", "NGG" * 30), "has 90 letters, and kmatch takes 64"),
    "patterns that hold it": (
        ("--pam", "TT,AC,GG", "--exact-3p", 1),
        "all 4 patterns end with a PAM, TT or AC or GG, which would have to stand there twice",
    ),
    "more exact letters than a pattern has": (
        ("--exact-3p", 7),
        "pattern 'fwd2' has 6 letters: --exact-3p 7 asks for more to match",
    ),
    "a bound beyond k": (
        ("--max-insertions", 3),
        "3 insertions are more than the k = 2 differences allowed altogether; raise k",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_in_rules(tmp_path, genome, panel, name):
    words, message = MISTAKES[name]
    if name == "patterns that hold it":
        panel.write_text("ACGTTGCATT\nNRYACGTAAC\nAATGGAATGG\nTTGATT\n")
    failed(here("edit", genome, panel, "-k", 2, *words, "-o", tmp_path / "hits.bed"), message)
    assert not (tmp_path / "hits.bed").exists()


LIGHT = {
    "help of edit": ("edit", "--help"),
    "help of best": ("best", "--help"),
    "no k": ("edit", "g.fa", "-p", "ACGT"),
    "report": ("edit", "g.fa", "-p", "ACGT", "-k", "1", "--report", "x"),
    "best without patterns": ("best", "g.fa"),
}


@pytest.mark.parametrize("name", LIGHT)
def test_help_and_usage_errors_wait_for_nothing(name):
    body = "from kmatch.cli.main import run; run(sys.argv[1:])"
    status, modules = loaded(body, *LIGHT[name])
    assert status == 0 and "kmatch" in modules
    assert modules & HEAVY == set()


def test_the_commands_are_listed():
    listed = here("--help").out.decode()
    assert "  edit " in listed and "  best " in listed
    assert {"edit", "best"} <= set(kmatch.__all__)


@pytest.mark.parametrize("form, header", [("bed", b""), ("tsv", b"sequence\tstart")])
def test_no_hits(genome, form, header):
    result = here("edit", genome, "-p", "ACGTTGCA" * 5, "-k", 1, "--format", form)
    assert (result.status, result.err) == (0, b"")
    assert result.out.startswith(header) and result.out.count(b"\n") == bool(header)


def test_dense_results_flow(tmp_path):
    text = random_letters(120_000, 3)
    (tmp_path / "genome.fa").write_bytes(fasta([("r", text)]))
    pattern = "ACGTTGCATTAG"
    result = here("edit", tmp_path / "genome.fa", "-p", pattern, "-k", 6, "--report", "ends")
    hits = kmatch.edit(tmp_path / "genome.fa", [pattern], 6, report="ends")
    rows = [line.split(b"\t") for line in result.out.splitlines()]
    assert [int(row[1]) for row in rows] == hits.start.tolist()
    assert [int(row[6]) for row in rows] == hits.distance.tolist()
    assert len(rows) > 60_000
