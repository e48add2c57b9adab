"""`kmatch edit`, `best`, `pcr` and `primer` as a user runs them: what they write, and refuse."""

import gzip

import naive
import pytest
from support.commands import compressed, failed, fasta, here, random_letters, shell

import kmatch
from kmatch.sequences.primer_pairs import FORWARD, REVERSE, role_of

RECORDS = [("chr1", random_letters(3_000)), ("chr2", "GG" + "AATGG" * 12 + "NNN"), ("empty", "")]
PANEL = {"fwd": "ACGTTGCATT", "rev": "NRYACGTAAC", "sat": "AATGGAATGG", "fwd2": "TTGACC"}
ONE, TWO = random_letters(120, 1), random_letters(200, 2)
TEXT = random_letters(500, 3) + ONE + random_letters(300, 4) + TWO + random_letters(100, 5)
(F1, R1), (F2, R2) = ((text[:18], naive.reverse_complement(text[-20:])) for text in (ONE, TWO))
TARGET = [("t1", random_letters(150, 1)), ("t2", "GGNACC" + "AATGG" * 6), ("empty", "")]
BACKGROUND = [("b1", TARGET[0][1][40:60] + random_letters(200, 2)), ("b2", ""), ("b3", "AATGG" * 9)]
EDIT, K = ("edit", "genome.fa", "panel.txt", "-k", 2), 4
PRIMER = ("primer", "target.fa", "background.fa.gz", "-k", K)
PCR = ("pcr", "chr.fa", "pairs.txt", "-k", 0)
FILES = {
    "genome.fa": fasta([(f"{name} a title", text) for name, text in RECORDS]),
    "panel.txt": "".join(f"{name}\t{sequence}\n" for name, sequence in PANEL.items()).encode(),
    "chr.fa": fasta([("chr", TEXT)]),
    "pairs.txt": f"# primers\none\t{F1}\t{R1}\n\ntwo\t{F2.lower()}\t{R2}\n".encode(),
    "target.fa": fasta([(f"{name} a title", text) for name, text in TARGET]),
    "background.fa.gz": compressed("gz", fasta(BACKGROUND)),
    "cut.fa.gz": compressed("gz", fasta(RECORDS))[:200],
    "empty.fa": b"",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# What cannot be used, and what is said of it.
PAIRS_OF = (
    ("", ["no primers", "FORWARD"]),
    ("# nothing\n", ["no primers"]),
    ("a\tACGT\n", ["line 1 has 2 columns", "REVERSE"]),
    ("ACGT\n", ["line 1 has 1 column;"]),
    ("#\n\na\tACGT\tACGT\t100\t200\n", ["line 3 has 5 columns"]),
    ("a\tACGT\tAC?T\n", ["line 1", "'a_R'", "'?' at position 3"]),
    ("a\tACGT\t\n", ["line 1", "'a_R' is empty"]),
    ("x\t1\t9\ta_F\t1\t+\n", ["line 1 is BED with 6 columns", "column 7"]),
    (">a_F\nACGT\n", ["primers without a partner: 'a_F';"]),
    (">a_F\nAC!T\n>a_R\nACGT\n", ["'a_F'", "'!' at position 3"]),
)
MISTAKES = (
    ((*EDIT, "--pam", ""), "the PAM is empty; give its letters, such as NGG"),
    ((*EDIT, "--pam", "NGG,"), "the PAM is empty"),
    ((*EDIT, "--pam", "NG!"), "PAM 'NG!': '!' at position 3"),
    ((*EDIT, "--pam", "NGG" * 30), "has 90 letters, and kmatch takes 64"),
    ((*EDIT, "--pam", "TT,AC,GG,CC"), "all 4 patterns end with a PAM, TT or AC or GG or CC"),
    ((*EDIT, "--exact-3p", 7), "pattern 'fwd2' has 6 letters: --exact-3p 7 asks for more to match"),
    ((*EDIT, "--max-insertions", 3), "3 insertions are more than the k = 2 differences allowed"),
    ((*EDIT[:-1], 6), "'fwd2'"),
    ((*EDIT[:-1], 100), "k = 100"),
    (("hamming", "genome.fa", "-p", "", "-k", 0), "pattern '' is empty"),
    (("hamming", "genome.fa", "-p", "ACGTTGACCA", "-k", 1, "--exact-5p", 11), "--exact-5p 11"),
    (("edit", "genome.fa", "-p", "ACGT", "-p", "AQ", "-k", 1), "pattern 'AQ': 'Q' at position 2"),
    (("best", "genome.fa", "-p", "AC!T"), "pattern 'AC!T': '!' at position 3"),
    (("edit", "cut.fa.gz", "panel.txt", "-k", 2), "cut.fa.gz: the compressed file is truncated"),
    (("best", "cut.fa.gz", "panel.txt"), "cut.fa.gz: the compressed file is truncated"),
    (("pcr", "missing", "pairs.txt", "-k", 0), "missing: cannot be read"),
    ((*PCR[:-1], 18), "'one_F'"),
    ((*PCR, "--exact-3p", 19), "--exact-3p 19"),
    (("primer", "cut.fa.gz", "target.fa", "-k", 4), "cut.fa.gz"),
    (("primer", "target.fa", "empty.fa", "-k", 4), "empty.fa"),
    ((*PRIMER[:-1], 9, "--max-length", 8), "k = 9"),
    ((*PRIMER, "--min-length", 9, "--max-length", 8), "9"),
    ((*PRIMER, "--gc", 0.6, 0.4), "GC"),
    ((*PRIMER, "--tm", 60, 50), "melting"),
)


@pytest.mark.parametrize("words, message", MISTAKES)
def test_what_cannot_be_used_leaves_no_file(folder, words, message):
    failed(here(*words, "-o", "new.bed"), message)
    assert {path.name for path in folder.iterdir()} == {*FILES}


@pytest.mark.parametrize("text, words", PAIRS_OF)
def test_files_of_primers_that_cannot_be_used(folder, text, words):
    (folder / "pairs.txt").write_text(text)
    failed(here(*PCR), *words, "" if "partner" in words[0] else "pairs.txt: ")


PRODUCTS = "chr\t500\t620\tone\t1000\t+\t0\t0\nchr\t920\t1120\ttwo\t1000\t+\t0\t0\n"


@pytest.mark.parametrize(
    "text",
    [
        FILES["pairs.txt"].decode(),
        f"one {F1}  {R1}\r\ntwo {F2} {R2}\r\n",
        f">one_F\n{F1}\n>two_R x\n{R2}\n>two_F\n{F2}\n>one_R\n{R1}\n",
        f"# x\n>one/1\n{F1}\n>one/2\n{R1}\n>two/1\n{F2}\n>two/2\n{R2}\n",
        "track name=x\n"
        f"chr\t500\t518\tone_LEFT\t1\t+\t{F1}\nchr\t600\t620\tone_RIGHT\t1\t-\t{R1}\n"
        f"chr\t920\t938\ttwo_LEFT\t2\t+\t{F2}\nchr\t1100\t1120\ttwo_RIGHT_alt1\t2\t-\t{R2}\n",
    ],
)
def test_files_of_primers(folder, text):
    (folder / "pairs.txt").write_bytes(text.encode())
    assert here(*PCR) == (0, PRODUCTS.encode(), b"")
    (folder / "pairs.txt").write_bytes(gzip.compress(text.encode()))
    assert here(*PCR[:-1], 2).out.decode() == PRODUCTS
    assert here("pcr", "chr.fa", "-", "-k", 0, stdin=text.encode()).out.decode() == PRODUCTS


def columns(result, *which):
    rows = [line.split("\t") for line in result.out.decode().splitlines()]
    return [tuple(row[i] for i in which) for row in rows]


def test_pairs(folder):
    result = here("pcr", "chr.fa", "-p", F1, R1, "-p", F2, R2, "-k", 0)
    assert result.out.decode() == PRODUCTS.replace("one", "pair_1").replace("two", "pair_2")
    result = here("pcr", "chr.fa", "-p", F1, R2, "-k", 0, "--pairs", "any", "-v")
    assert columns(result, 1, 2) == [("500", "1120")]
    assert "1 product of 1 pair; 1 record" in result.err.decode()
    found = columns(here(*PCR, "--pairs", "any"), 3)
    assert found == [("one",), ("one_F+two_R",), ("two",)]
    (folder / "pairs.txt").write_text(f">first\n{F1}\n>second_R\n{R2}\n")
    assert columns(here(*PCR, "--pairs", "any"), 3) == [("first+second_R",)]
    alone = "primers without a partner: 'first', 'second_R'"
    failed(here(*PCR), alone, "_LEFT and _RIGHT", "any")
    (folder / "pairs.txt").write_text(f"a\t{F1}\t{R1}\na\t{F2}\t{R2}\n")
    result = here(*PCR)
    assert columns(result, 3) == [("a",), ("a",)] and result.err.count(b"\n") == 1
    assert b"'a_F', 'a_R': the name stands for more than one primer" in result.err
    late = naive.reverse_complement(ONE[-25:-5])
    (folder / "pairs.txt").write_text(f">a_LEFT\n{F1}\n>a_RIGHT\n{R1}\n>a_RIGHT_alt1\n{late}\n")
    rows = columns(here(*PCR, "--format", "tsv"), 1, 2, 3, 12)[1:]
    assert rows == [("500", "615", "a", "a_RIGHT_alt1"), ("500", "620", "a", "a_RIGHT")]
    swapped = here("pcr", "chr.fa", "-p", "ACGT" * 600, "ACGT" * 600, "-k", 0)
    assert b"are genome and patterns exchanged?" in swapped.err


def test_names_tell_pairs():
    for name, role in {
        **{"x_F": ("x", FORWARD), "x_r": ("x", REVERSE), "x_F_R": ("x_F", REVERSE)},
        **{"nCoV_76_LEFT_alt1": ("nCoV_76", FORWARD), "nCoV_76_RIGHT_alt": ("nCoV_76", REVERSE)},
        **{"s_400_12_RIGHT_1": ("s_400_12", REVERSE), "x_F_alt2": ("x", FORWARD)},
        **dict.fromkeys(("x_F_2", "_F", "LEFT", "x_FORWARD")),
    }.items():
        assert role_of(name) == role


def test_primers(folder):
    """Regions do not depend on what becomes of the primers, and each file may be piped."""
    found = here(*PRIMER, "--regions", "r.bed", "--gc", 1, 1, "--tm", 20.05, 40.05)
    genomes = [kmatch.Genome.from_records(records) for records in (TARGET, BACKGROUND)]
    kmatch.primer(*genomes, K, device="cpu").regions_to_bed("python.bed")
    assert found.status == 0
    assert (folder / "r.bed").read_bytes() == (folder / "python.bed").read_bytes() != b""
    whole = here(*PRIMER)
    for place, name in ((1, "target.fa"), (2, "background.fa.gz")):
        words = [*PRIMER[:place], "-", *PRIMER[place + 1 :]]
        assert here(*words, stdin=FILES[name]) == whole
    bed = naive.primers_bed(TARGET, K, naive.primers(TARGET, BACKGROUND, K))
    assert whole == (0, bed.encode(), b"") and bed.count("\n") > 100


PANEL_OF = b"first\tACGTTGCATT\nnowhere\tCCCC\nlast\tTTTT\nneither\tSSSSSS\n"


@pytest.mark.parametrize("place", ["genome.fa", "/dev/stdin", "<(cat genome.fa)"])
def test_the_closest(folder, place):
    """A pipe, which cannot be read twice, and what matches nowhere."""
    records = [("a", "TTAATTATATTAAT"), ("b", "AAATTTTA"), ("c", "NNNN")]
    (folder / "genome.fa").write_bytes(fasta(records))
    (folder / "panel.txt").write_bytes(PANEL_OF)
    names, patterns = zip(
        *(line.split("\t") for line in PANEL_OF.decode().splitlines()), strict=True
    )
    expected = naive.best(records, patterns)
    assert {row[3] for row in expected} == {0, 2}
    table = naive.edit_bed(records, names, patterns, expected).encode()
    done = shell(f'cat genome.fa | "$@" {place} panel.txt', "best")
    assert (done.status, done.out) == (0, table)
    said = done.err.decode()
    assert all(line.startswith("kmatch: warning: ") for line in said.splitlines())
    assert "nowhere" in said and "neither" in said and "first" not in said and "last" not in said
    assert here("best", "genome.fa", "panel.txt", "-q") == (0, table, b"")
    assert here("best", "genome.fa", "-p", "TTTT", "-p", "AATT").err == b""


def test_names_that_repeat(folder):
    (folder / "panel.txt").write_text("".join(f"{name}\tACGT\n" for name in "aabbbc"))
    done = here("hamming", "-", "panel.txt", "-k", 0, "--strand", "+", stdin=b">r\nACGT\n")
    assert done.out.count(b"\n") == 6 and done.err.count(b"\n") == 1
    assert b"'a', 'b'" in done.err
