"""The same sequences and patterns give the same bytes, however they are written down."""

import gzip
import io
import re
from types import SimpleNamespace
from unittest import mock

import pytest
from Bio.SeqIO.FastaIO import SimpleFastaParser
from hypothesis import given
from hypothesis import strategies as st
from support.commands import (
    compressed,
    fasta,
    genbank,
    here,
    process,
    random_letters,
    twobit,
)

import kmatch
from kmatch.search.hooked import hooked
from kmatch.sequences.fasta import read_fasta
from kmatch.sequences.records import whole_records, whole_stretches

LETTERS = random_letters(3_000)
WITH_N = LETTERS[:700] + "N" * 40 + LETTERS[740:]
RECORDS = [("chr1", WITH_N), ("empty", ""), ("chr2", random_letters(500, 2)), ("tiny", "ACG")]
PLAIN = fasta(RECORDS)
PANEL = ["ACGTTG", "NRYAC", "TTGACCA"]
PATTERNS = "".join(f"p{i}\t{sequence}\n" for i, sequence in enumerate(PANEL)).encode()
KINDS = ["gz", "bgzf", "bz2", "xz", "zst"]


def searched(path, *arguments, stdin=b""):
    """The TSV of a search, which has to end well and say nothing."""
    arguments = arguments or [word for sequence in PANEL for word in ("-p", sequence)]
    result = here("hamming", path, *arguments, "-k", 1, "--format", "tsv", stdin=stdin)
    assert (result.status, result.err) == (0, b"")
    return result.out


def file_with(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    table = searched(file_with(tmp_path_factory.mktemp("plain"), "plain.fa", PLAIN))
    assert table.count(b"\nchr1\t") > 20 and table.count(b"\nchr2\t") > 4
    return table


def edited(old, new):
    return PLAIN.replace(old, new)


WRITTEN = {
    "CRLF": edited(b"\n", b"\r\n"),
    "lone CR": edited(b"\n", b"\r"),
    "lower case": fasta([(name, letters.lower()) for name, letters in RECORDS]),
    "U for T": fasta([(name, letters.replace("T", "U")) for name, letters in RECORDS]),
    "no final newline": PLAIN.rstrip(b"\n"),
    "blank lines": b"\n\n" + edited(b"\n", b"\n\n") + b"\n \n",
    "spaces and tabs": edited(b"ACG", b"A C\tG").replace(b"\n", b"  \n"),
    "a line a record": fasta(RECORDS, width=10_000),
    "a letter a line": fasta(RECORDS, width=1),
    "descriptions": edited(b"chr1\n", b"chr1 first, >the large one\n"),
    "tab after the name": edited(b"chr2\n", b"chr2\tsecond\n"),
    "space before the name": edited(b">chr", b"> chr"),
    "other letters for N": edited(b"N", b"R").replace(b"RR", b"-*"),
    "'>' inside": PLAIN.replace(b"NNN", b"N>N"),
    "byte order mark": b"\xef\xbb\xbf" + PLAIN,
    "2bit": twobit([record for record in RECORDS if record[1]]),
    "2bit in lower case": twobit([(name, text.lower()) for name, text in RECORDS if text]),
    "GenBank": genbank(RECORDS),
    "two gzip members": gzip.compress(PLAIN[:999]) + gzip.compress(PLAIN[999:]),
    "an empty gzip member": gzip.compress(b"") + gzip.compress(PLAIN),
    "gzip without compression": gzip.compress(PLAIN, 0),
    "2bit in gzip": gzip.compress(twobit([record for record in RECORDS if record[1]])),
    "GenBank in gzip": gzip.compress(genbank(RECORDS)),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_ways_to_write_a_genome(tmp_path, expected, name):
    assert searched(file_with(tmp_path, "genome", WRITTEN[name])) == expected


@pytest.mark.parametrize("suffix", ["right", ".fa", ".txt", ".gz", ".bz2", ".zst", ""])
@pytest.mark.parametrize("kind", KINDS)
def test_compression_is_told_by_content(tmp_path, expected, kind, suffix):
    name = "genome" + (f".fa.{kind}" if suffix == "right" else suffix)
    assert searched(file_with(tmp_path, name, compressed(kind, PLAIN))) == expected


@pytest.mark.parametrize("name", ["genome.gz", "genome.xz", "genome.2bit", "genome.gb"])
def test_plain_under_a_wrong_name(tmp_path, expected, name):
    assert searched(file_with(tmp_path, name, PLAIN)) == expected


@pytest.mark.parametrize("kind", ["plain", *KINDS])
def test_standard_input(expected, kind):
    assert searched("-", stdin=PLAIN if kind == "plain" else compressed(kind, PLAIN)) == expected


@pytest.mark.parametrize("kind", ["plain", "gz"])
def test_standard_input_of_a_process(tmp_path, expected, kind):
    patterns = file_with(tmp_path, "patterns", "\n".join(PANEL).encode())
    data = PLAIN if kind == "plain" else gzip.compress(PLAIN)
    result = process("hamming", "-", patterns, "-k", 1, "--format", "tsv", stdin=data)
    assert result == (0, expected, b"")


class Trickle(io.RawIOBase):
    """A pipe whose writer is slow: every read gives one byte."""

    def __init__(self, data):
        self._left = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self._left.read(1)
        buffer[: len(data)] = data
        return len(data)


@pytest.mark.parametrize("kind", ["plain", "blank line", "gz", "zst"])
def test_a_slow_pipe(expected, kind):
    data = {"plain": PLAIN, "blank line": b"\n" + PLAIN}.get(kind) or compressed(kind, PLAIN)
    assert searched("-", stdin=Trickle(data)) == expected


def test_many_blank_lines_first(tmp_path, expected):
    assert searched(file_with(tmp_path, "genome", b"\n" * 100_000 + PLAIN)) == expected


def test_a_greater_sign_inside_a_line_is_no_base():
    table = searched("-", "-p", "ACGT", stdin=b">r\nTTACG>ACG\n>s\nTTACGTACG\n")
    rows = [tuple(line.split(b"\t")[:3]) for line in table.splitlines()[1:]]
    assert (b"r", b"2", b"6") in rows and (b"s", b"2", b"6") in rows
    assert not any(name == b">ACG" or name == b"ACG" for name, _, _ in rows)
    assert table.count(b"ACGN") == 1


def test_records_without_letters_have_no_hits():
    only_header = b"sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch\n"
    assert searched("-", "-p", "AC", stdin=b">a\n>b\n\n>c") == only_header


def test_names_that_repeat_are_kept(monkeypatch):
    monkeypatch.setattr("kmatch.genome.COMPARED", 0)  # they have a warning otherwise
    table = searched("-", "-p", "ACGT", stdin=b">a\nACGT\n>a\nCACGT\n")
    assert b"\na\t0\t4\t" in table and b"\na\t1\t5\t" in table


@pytest.mark.parametrize("name", ["Zürich", "à_la_carte", "voilà", "染色体", "a|b:1-2;x=y#"])
def test_names_stay_as_they_are(name):
    table = searched("-", "-p", "ACGT", stdin=f">{name} note\nACGT\n".encode())
    assert table.splitlines()[1].split(b"\t")[0].decode() == name


lines = st.text("ACGTNacgu-> \t", max_size=12) | st.sampled_from([">a", ">b c>d", "> e", ">", ""])


def records_of(data, block, read=read_fasta):
    """The records that a reader finds in blocks of so many bytes, as (name, letters)."""
    source = SimpleNamespace(label="data", head=data[:16], handle=io.BytesIO(data))
    with mock.patch("kmatch.sequences.fasta.BLOCK", block):
        return [(name, bytes(letters).decode()) for name, letters, _ in whole_records(read(source))]


def plain_records(text):
    """The same by Biopython, which takes '>' for a header at the start of a line alone."""
    lines = [line for line in re.split("\r\n|\r|\n", text) if line]
    pairs = SimpleFastaParser(io.StringIO("".join(f"{line}\n" for line in lines)))
    return [
        ((title.split(None, 1) or [""])[0], "".join(letters.split()).replace(">", "*"))
        for title, letters in pairs
    ]


@given(
    st.lists(st.tuples(lines, st.sampled_from(["\n", "\r\n", "\r", "\n\n"])), max_size=12),
    st.text("ACGT> ", max_size=4),
    st.integers(1, 17),
)
def test_blocks_of_any_size(body, last_line, block):
    text = ">first\n" + "".join(line + end for line, end in body) + last_line
    assert records_of(text.encode(), block) == plain_records(text)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("width", [1, 60, 5_000])
def test_lines_of_any_width(width, newline):
    letters = LETTERS + " nN\t-" + LETTERS
    data = fasta([("a", letters), ("b x", letters[:70]), ("c", letters.lower())], width, newline)
    for block in (1, 4_099, 1 << 20):
        assert records_of(data, block) == plain_records(data.decode())


@given(st.lists(st.sampled_from([b"A", b"\n", b"\x1f", b"\x85", b"\xa0"])))
def test_odd_bytes_are_no_bases(data):
    data = b"".join(data)
    expected = [("a", "AC" + "".join("A" if byte == 65 else "*" for byte in data if byte != 10))]
    assert records_of(b">a\nAC" + data, 7) == expected


PARTS = [
    ("long", random_letters(700)),
    ("empty", ""),
    ("short", "ACGTTG"),
    ("longer", random_letters(1_500, 2)),
    ("none", ""),
]


@pytest.mark.parametrize("chunk", [40, 333, 5_000])
@pytest.mark.parametrize("block", [7, 64])
def test_searches_do_not_see_parts(tmp_path, monkeypatch, block, chunk):
    monkeypatch.setattr("kmatch.sequences.fasta.BLOCK", block)
    path = file_with(tmp_path, "genome.fa", fasta(PARTS))
    searches = [
        ("hamming", ["ACGTT", "NGGAC"], [1], {}),
        ("edit", ["ACGTTGA"], [2], {"report": "ends"}),
        ("edit", ["ACGTTGA"], [2], {"report": "loci"}),
        ("best", ["ACGTTGACCAGA"], [], {}),
    ]
    for command, patterns, k, options in searches:
        tables = []
        for genome in (kmatch.Genome(path, keep=False), kmatch.Genome.from_records(PARTS)):
            table = io.StringIO()
            found = hooked(command, genome, patterns, *k, chunk_length=chunk, **options)
            found.to_tsv(table)
            tables.append(table.getvalue())
        assert tables[0] == tables[1] and tables[0].count("\n") > 1


@given(st.lists(st.text("ACGT", max_size=40), max_size=8), st.sampled_from([1, 7, 64, 1 << 20]))
def test_whole_parts_hold_the_same_records(texts, block):
    records = [(f"r{number}", text) for number, text in enumerate(texts)] or [("r", "")]
    source = SimpleNamespace(label="data", head=b">", handle=io.BytesIO(fasta(records, 9)))
    with mock.patch("kmatch.sequences.fasta.BLOCK", block):
        whole = list(whole_stretches(read_fasta(source)))
    assert not any(part.goes_on for part in whole)
    assert [(name, bytes(of).decode()) for name, of, _ in whole_records(whole)] == records


def test_an_error_behind_the_first_chunks_is_reported(tmp_path):
    data = fasta([("a", random_letters(3_000_000))]) + b">b\nAC\0GT\n"
    path = file_with(tmp_path, "genome.fa", data)
    result = here("hamming", path, "-p", "ACGTACGTACGTACGTACGT", "-k", 1, "-o", tmp_path / "hits")
    assert result.status == 1 and not (tmp_path / "hits").exists()
    assert result.err.decode() == f"kmatch: error: {path}: a binary file, not FASTA\n"


PATTERN_FILES = {
    "tabs": PATTERNS,
    "FASTA": b">p0\nACGTTG\n>p1 the second\nNRYAC\n>p2\nTTG\nACCA\n",
    "FASTA in CRLF": b">p0\r\nACGTTG\r\n>p1 the second\r\nNRYAC\r\n>p2\r\nTTG\r\nACCA\r\n",
    "FASTA with blank lines": b"\n>p0\n\nACGTTG\n\n>p1\nNRYAC\n>p2\nTTG ACCA",
    "comments": b"# a panel\n" + PATTERNS.replace(b"p1", b"#p9\tAAA\np1"),
    "blank lines": b"\n \n" + PATTERNS.replace(b"\n", b"\n\n"),
    "CRLF": PATTERNS.replace(b"\n", b"\r\n"),
    "lone CR": PATTERNS.replace(b"\n", b"\r"),
    "lower case": PATTERNS.lower(),
    "U for T": PATTERNS.replace(b"T", b"U"),
    "no final newline": PATTERNS.rstrip(),
    "spaces at the ends": PATTERNS.replace(b"\n", b"  \n").replace(b"\t", b" \t "),
    "byte order mark": b"\xef\xbb\xbf" + PATTERNS,
}


@pytest.mark.parametrize("name", PATTERN_FILES)
def test_ways_to_write_patterns(tmp_path, name):
    genome = file_with(tmp_path, "genome.fa", PLAIN)
    expected = searched(genome, file_with(tmp_path, "expected", PATTERNS))
    assert expected.count(b"\tp1\t") > 20
    assert searched(genome, file_with(tmp_path, "panel", PATTERN_FILES[name])) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_compressed_patterns(tmp_path, kind):
    genome = file_with(tmp_path, "genome.fa", PLAIN)
    expected = searched(genome, file_with(tmp_path, "expected", PATTERNS))
    panel = file_with(tmp_path, "panel.txt", compressed(kind, PATTERNS))
    assert searched(genome, panel) == expected


def test_patterns_from_standard_input(tmp_path):
    genome = file_with(tmp_path, "genome.fa", PLAIN)
    expected = searched(genome, file_with(tmp_path, "expected", PATTERNS))
    assert searched(genome, "-", stdin=PATTERNS) == expected
    assert searched(genome, "-", stdin=gzip.compress(PATTERNS)) == expected


def test_patterns_of_the_command_line_are_those_of_a_file(tmp_path, expected):
    genome = file_with(tmp_path, "genome.fa", PLAIN)
    nameless = file_with(tmp_path, "panel.txt", "\n".join(PANEL).encode())
    assert searched(genome, nameless) == expected
    for sequence in PANEL:
        assert b"\t%s\t" % sequence.encode() in expected


def test_a_pattern_is_named_as_it_is_written():
    table = searched("-", "-p", "acgU", stdin=b">r\nACGT\n")
    assert table.splitlines()[1].split(b"\t")[3] == b"acgU"


def test_names_of_fasta_patterns_may_be_missing(tmp_path):
    panel = file_with(tmp_path, "panel.fa", b">\nACGT\n>b\nACG\n")
    table = searched("-", panel, stdin=b">r\nACGT\n")
    assert {line.split(b"\t")[3] for line in table.splitlines()} == {b"pattern", b"ACGT", b"b"}


def test_repeated_names_are_kept_with_one_warning(tmp_path):
    panel = file_with(tmp_path, "panel.txt", b"a\tACGT\na\tTTTT\na\tCCCC\nb\tGGGG\n")
    genome = b">r\nACGTTTT\n"
    result = here("hamming", "-", panel, "-k", 0, "--strand", "+", stdin=genome)
    assert result.out == b"r\t0\t4\ta\t1000\t+\t0\nr\t3\t7\ta\t1000\t+\t0\n"
    assert result.status == 0
    assert result.err.startswith(b"kmatch: warning: ") and result.err.count(b"\n") == 1
    assert b"'a'" in result.err


def test_python_reads_the_same_files(tmp_path):
    genome = file_with(tmp_path, "genome.zst", compressed("zst", PLAIN))
    panel = file_with(tmp_path, "panel.txt", PATTERNS)
    table = io.BytesIO()
    kmatch.hamming(genome, panel, k=1).to_tsv(table)
    assert table.getvalue() == searched(str(genome), str(panel))
