"""`kmatch pcr` as a user runs it: files of primers, tables, and what is refused."""

import gzip

import naive
import pytest
from support.commands import failed, fasta, here, random_letters, shell

import kmatch
from kmatch.errors import InputError
from kmatch.sequences.primer_pairs import FORWARD, REVERSE, load_pairs, role_of

ONE, TWO = random_letters(120, 1), random_letters(200, 2)
TEXT = random_letters(500, 3) + ONE + random_letters(300, 4) + TWO + random_letters(100, 5)
PLACES = [(500, 620), (920, 1120)]


def ends(text):
    return text[:18], naive.reverse_complement(text[-20:])


(F1, R1), (F2, R2) = ends(ONE), ends(TWO)
FILES = {
    "lines": f"# primers\none\t{F1}\t{R1}\n\ntwo\t{F2.lower()}\t{R2}\n",
    "words": f"one {F1}  {R1}\r\ntwo {F2} {R2}\r\n",
    "FASTA": f">one_F\n{F1}\n>two_R x\n{R2}\n>two_F\n{F2}\n>one_R\n{R1}\n",
    "FASTA with /1": f"# x\n>one/1\n{F1}\n>one/2\n{R1}\n>two/1\n{F2}\n>two/2\n{R2}\n",
    "BED": "track name=x\n"
    f"chr\t500\t518\tone_LEFT\t1\t+\t{F1}\nchr\t600\t620\tone_RIGHT\t1\t-\t{R1}\n"
    f"chr\t920\t938\ttwo_LEFT\t2\t+\t{F2}\nchr\t1100\t1120\ttwo_RIGHT_alt1\t2\t-\t{R2}\n",
}
BED = "chr\t500\t620\tone\t1000\t+\t0\t0\nchr\t920\t1120\ttwo\t1000\t+\t0\t0\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "genome.fa").write_bytes(fasta([("chr", TEXT)]))
    (tmp_path / "primers.txt").write_text(FILES["lines"])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_files_of_primers(name, folder):
    (folder / "p").write_bytes(FILES[name].encode())
    assert here("pcr", "genome.fa", "p", "-k", 0) == (0, BED.encode(), b"")
    (folder / "p.gz").write_bytes(gzip.compress(FILES[name].encode()))
    assert here("pcr", "genome.fa", "p.gz", "-k", 2).out.decode() == BED
    assert here("pcr", "genome.fa", "-", "-k", 0, stdin=FILES[name].encode()).out.decode() == BED


@pytest.mark.parametrize(
    "name, role",
    [
        ("x_F", ("x", FORWARD)),
        ("x_r", ("x", REVERSE)),
        ("x_F_R", ("x_F", REVERSE)),
        ("x/1", ("x", FORWARD)),
        ("x/2", ("x", REVERSE)),
        ("nCoV_76_LEFT_alt1", ("nCoV_76", FORWARD)),
        ("nCoV_76_RIGHT_alt", ("nCoV_76", REVERSE)),
        ("scheme_400_12_LEFT_0", ("scheme_400_12", FORWARD)),
        ("scheme_400_12_RIGHT_1", ("scheme_400_12", REVERSE)),
        ("x_F_alt2", ("x", FORWARD)),
        ("x_F_2", None),
        ("_F", None),
        ("LEFT", None),
        ("x_FORWARD", None),
    ],
)
def test_names_tell_pairs(name, role):
    assert role_of(name) == role


def test_alternates_join(folder):
    late = naive.reverse_complement(ONE[-25:-5])
    (folder / "p.fa").write_text(f">a_LEFT\n{F1}\n>a_RIGHT\n{R1}\n>a_RIGHT_alt1\n{late}\n")
    result = here("pcr", "genome.fa", "p.fa", "-k", 0, "--format", "tsv")
    lines = [line.split("\t") for line in result.out.decode().splitlines()[1:]]
    assert [(line[1], line[2], line[3], line[11]) for line in lines] == [
        ("500", "615", "a", "a_RIGHT_alt1"),
        ("500", "620", "a", "a_RIGHT"),
    ]


def test_tables(folder):
    options = ("-k", 1, "--product", "100-150", "--sequence")
    result = here("pcr", "genome.fa", "primers.txt", *options, "--format", "tsv")
    header, *lines = result.out.decode().splitlines()
    assert header.split("\t")[-1] == "product" and len(lines) == 1
    assert lines[0] == (
        "chr\t500\t620\tone\t120\t+\tone_F\t500\t518\t0\t18=\tone_R\t600\t620\t0\t20=\t" + ONE
    )
    products = kmatch.pcr("genome.fa", "primers.txt", 1, product=(100, 150), sequence=True)
    products.to_tsv("python.tsv")
    assert (folder / "python.tsv").read_bytes() == result.out
    assert here("pcr", "genome.fa", "primers.txt", *options, "-o", "o.tsv").out == b""
    assert (folder / "o.tsv").read_bytes() == result.out
    with open("genome.fa", "rb") as text:
        piped = here("pcr", "-", "primers.txt", *options, "--format", "tsv", stdin=text.read())
    assert piped == result
    assert here("pack", "genome.fa").status == 0
    packed = here("pcr", "genome.fa.kmatch", "primers.txt", *options, "--format", "tsv")
    assert packed == result


def test_no_products_have_the_same_header(folder):
    options = ("-k", 0, "--product", "2-3", "--sequence", "--format", "tsv")
    header = here("pcr", "genome.fa", "primers.txt", *options).out
    products = kmatch.pcr("genome.fa", "primers.txt", 0, product=(2, 3), sequence=True)
    for none in (products, products[:0]):
        none.to_tsv("none.tsv")
        assert (folder / "none.tsv").read_bytes() == header
    assert header.endswith(b"\tproduct\n")


def test_pairs_of_the_command_line():
    result = here("pcr", "genome.fa", "-p", F1, R1, "-p", F2, R2, "-k", 0)
    assert result.out.decode() == BED.replace("one", "pair_1").replace("two", "pair_2")
    result = here("pcr", "genome.fa", "-p", F1, R2, "-k", 0, "--pairs", "any", "-v")
    assert result.out.decode().split("\t")[1:3] == ["500", "1120"]
    assert "1 product of 1 pair; 1 record" in result.err.decode()


def test_any_two_of_a_pool():
    result = here("pcr", "genome.fa", "primers.txt", "-k", 0, "--pairs", "any")
    rows = [line.split("\t") for line in result.out.decode().splitlines()]
    assert [row[3] for row in rows] == ["one", "one_F+two_R", "two"]


def test_lone_primers(folder):
    (folder / "p.fa").write_text(f">first\n{F1}\n>second_R\n{R2}\n")
    result = here("pcr", "genome.fa", "p.fa", "-k", 0, "--pairs", "any")
    assert result.out.decode().split("\t")[3] == "first+second_R"
    failed(
        here("pcr", "genome.fa", "p.fa", "-k", 0),
        "primers without a partner: 'first', 'second_R'", "_LEFT and _RIGHT", "any",
    )  # fmt: skip


def test_names_that_repeat(folder):
    (folder / "p").write_text(f"a\t{F1}\t{R1}\na\t{F2}\t{R2}\n")
    result = here("pcr", "genome.fa", "p", "-k", 0)
    assert [line.split(b"\t")[3] for line in result.out.splitlines()] == [b"a", b"a"]
    assert b"'a_F', 'a_R': the name stands for more than one primer" in result.err
    assert result.err.count(b"\n") == 1


@pytest.mark.parametrize(
    "text, words",
    [
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
    ],
)
def test_files_that_cannot_be_used(text, words, folder):
    (folder / "p").write_text(text)
    failed(
        here("pcr", "genome.fa", "p", "-k", 0), "p: " if "partner" not in words[0] else "", *words
    )


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("-k", 0), "one of the two"),
        (("primers.txt", "-p", "ACGT", "ACGT", "-k", 0), "one of the two"),
        (("primers.txt", "-k", 0, "--product", "500"), "'500' is not MIN-MAX"),
        (("primers.txt", "-k", 0, "--product", "500-300"), "the least, 500, is more"),
        (("primers.txt", "-k", 0, "--product", "1-9999999999"), "more than kmatch counts to"),
        (("primers.txt", "-k", 1, "--regions", "r.bed", "-o", "r.bed"), "which is read"),
        (("primers.txt", "-k", 1, "--sequence"), "--format tsv"),
        (("primers.txt", "-k", 1, "-o", "primers.txt"), "which is read"),
    ],
)
def test_wrong_usage(arguments, words):
    result = here("pcr", "genome.fa", *arguments)
    assert (result.status, result.out) == (2, b"")
    assert words in " ".join(result.err.decode().split())


def test_inputs_that_cannot_be_used():
    failed(here("pcr", "genome.fa", "missing", "-k", 0), "missing: cannot be read")
    failed(here("pcr", "missing", "primers.txt", "-k", 0), "missing: cannot be read")
    failed(here("pcr", "genome.fa", "primers.txt", "-k", 18), "'one_F'", "18")
    failed(here("pcr", "genome.fa", "primers.txt", "-k", 1, "--exact-3p", 19), "--exact-3p 19")
    assert here("pcr", "-", "-", "-k", 0).status == 2
    assert here("pcr", "genome.fa", "-", "-k", 0, "--regions", "-").status == 2
    swapped = here("pcr", "genome.fa", "-p", "ACGT" * 600, "ACGT" * 600, "-k", 0)
    assert b"are genome and patterns exchanged?" in swapped.err


def test_a_closed_pipe_is_quiet():
    script = 'set -o pipefail; "$@" | head -n 1'
    result = shell(script, "pcr", "genome.fa", "primers.txt", "-k", 9, "--pairs", "any")
    assert result.err == b"" and result.out.count(b"\n") == 1


@pytest.mark.parametrize(
    "given, message",
    [
        ({}, "no primers were given"),
        (["ACGT", "ACGT"], "give a path or a dict"),
        ({"a": "ACGT"}, "give \\(forward, reverse\\)"),
        ({"a": ("ACGT",)}, "give \\(forward, reverse\\)"),
        ({"a": ("ACGT", 5)}, "sequences are str"),
        ({"a": ("ACGT", ["ACGT", 5])}, "sequences are str"),
    ],
)
def test_primers_from_python(given, message):
    with pytest.raises(InputError, match=message):
        load_pairs(given)


def test_alternates_from_python():
    pairs = load_pairs({"a": (["ACGT", "ACGA"], "TTGA"), "b": ("GGGA", "CCCA")})
    assert pairs.primers.names == ["a_F", "a_F_alt1", "a_R", "b_F", "b_R"]
    assert pairs.pair.tolist() == [0, 0, 0, 1, 1] and pairs.role.tolist() == [0, 0, 1, 0, 1]
    assert load_pairs(pairs) is pairs and repr(pairs) == "<PrimerPairs: 'a', 'b'>"
