"""SAM, GFF3 and hits for eyes: by hand, against slow formatters, and as samtools reads them."""

import io
import os
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.commands import failed, fasta, here, random_letters, shell
from support.formats import gff3_row, sam_row
from support.searches import GENOME, TEXT, call, hooked

import kmatch

CHR = "TTTTACGTTGCAGGTTTTTTTTCCTGCAAT"
HEAD = f"@PG\tID:kmatch\tPN:kmatch\tVN:{kmatch.__version__}\n"


def text_of(hits, form):
    table = io.StringIO()
    getattr(hits, f"to_{form}")(table)
    return table.getvalue()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = [("chr1 first", CHR), ("empty", ""), ("a(2)", "GGGG")]
    (tmp_path / "genome.fa").write_bytes(fasta(records))
    (tmp_path / "g.fa").write_bytes(fasta([("one", VIEWED)]))
    (tmp_path / "p.txt").write_text("a\tACTTGCAGR\n")
    return tmp_path


SAM = f"""\
@HD\tVN:1.6\tSO:coordinate
@SQ\tSN:chr1\tLN:30
@SQ\tSN:a(2)\tLN:4
{HEAD}\
a_b\t0\tchr1\t5\t255\t2=1D7=\t*\t0\t0\tACTTGCAGG\t*\tNM:i:1\tkd:i:1
a_b\t16\tchr1\t23\t255\t7=1I1=\t*\t0\t0\tCCTGCAAGT\t*\tNM:i:1\tkd:i:1
"""
GFF3 = """\
##gff-version 3
a%282%29\tkmatch\tnucleotide_match\t1\t4\t1000\t+\t.\tID=hit1;Name=GGGG;distance=0;cigar=4=
"""


def test_by_hand(folder):
    """The pattern ACTTGCAGR lies at 4 with a G more, and on `-` at the end without its C."""
    (folder / "p.txt").write_text("a b\tACTTGCAGR\n")
    search = ("edit", "genome.fa", "p.txt", "-k", 1)
    rows = [line.split()[-2:] for line in here(*search, "--format", "tsv").out.splitlines()[1:]]
    assert rows == [[b"2=1D7=", b"ACGTTGCAGG"], [b"1=1I7=", b"ATTGCAGG"]]
    assert here(*search, "--format", "sam") == (0, SAM.encode(), b"")
    search = ("hamming", "genome.fa", "-p", "GGGG", "-k", 0)
    assert here(*search, "-o", "hits.gff") == (0, b"", b"")
    assert (folder / "hits.gff").read_text() == GFF3


patterns = st.lists(st.text("ACGTRYN", min_size=4, max_size=12), min_size=1, max_size=4)
NAMES = st.text("ab =;%,&(é", min_size=1, max_size=5)


@settings(max_examples=50)
@given(st.data())
def test_rows_are_those_of_tsv(data):
    sequences = data.draw(patterns)
    names = data.draw(st.lists(NAMES, min_size=4, max_size=4, unique=True))
    panel = dict(zip(names, sequences, strict=False))
    name = data.draw(st.sampled_from(["chr1", "a,b", "x|y"]))
    genome = kmatch.Genome.from_records([("one", ""), (name, TEXT[:200]), ("N", "ANNGTNAC")])
    length = data.draw(st.sampled_from([37, 200]))
    hits = hooked("edit", genome, panel, 2, report="ends", chunk_length=length, threads=1)
    rows = [line.split("\t") for line in text_of(hits, "tsv").splitlines()[1:]]
    sam = text_of(hits, "sam").splitlines()
    assert sam[:4] == [
        "@HD\tVN:1.6\tSO:coordinate",
        f"@SQ\tSN:{name}\tLN:200",
        "@SQ\tSN:N\tLN:8",
        HEAD.rstrip(),
    ]
    assert sam[4:] == [sam_row(row, panel[row[3]]) for row in rows]
    gff3 = text_of(hits, "gff3").splitlines()
    expected = [gff3_row(i, row, len(panel[row[3]])) for i, row in enumerate(rows, 1)]
    assert gff3 == ["##gff-version 3", *expected]


def test_selections_say_whether_they_are_sorted(tmp_path):
    hits = call(kmatch.hamming, GENOME, "ACGTACG", 3)
    assert text_of(hits[::2], "sam").startswith("@HD\tVN:1.6\tSO:coordinate\n")
    assert text_of(hits[::-1], "sam").startswith("@HD\tVN:1.6\tSO:unknown\n")
    hits.to_sam(tmp_path / "hits.sam")
    assert (tmp_path / "hits.sam").read_text() == text_of(hits, "sam")
    with pytest.raises(kmatch.InputError, match="give it to Hits"):
        kmatch.Hits(hits.batches, hits.patterns).to_sam(io.StringIO())


def searched(genome="genome.fa", form="sam"):
    return here("hamming", genome, "-p", "TTGCAGG", "-k", 0, "--format", form)


FAI = "chr1\t30\t0\t60\t61\na(2)\t4\t0\t60\t61\n"


def test_lengths_of_every_kind_of_genome(folder):
    expected = searched().out
    assert expected.count(b"\n") == 6
    assert here("pack", "genome.fa", "-o", "genome.kmatch").status == 0
    assert searched("genome.kmatch").out == expected
    (folder / "genome.fa.fai").write_text(FAI)
    assert searched().out == expected


# Older than the genome, of another file, and of none.
@pytest.mark.parametrize("index", [FAI.replace("30", "3"), FAI.replace("30", "13"), "chr2\t3", "x"])
def test_an_index_that_is_not_read(folder, index):
    expected = searched().out
    (folder / "genome.fa.fai").write_text(index)
    if index == FAI.replace("30", "3"):
        os.utime(folder / "genome.fa.fai", (1, 1))
    assert searched().out == expected
    assert searched(form="bed").status == 0


def test_a_pipe_does_not_tell(folder):
    result = shell('cat genome.fa | "$@"', "hamming", "-", "-p", "ACG", "-k", 0, "-o", "h.sam")
    failed(result, "standard input", "read twice", "give a file")
    assert not (folder / "h.sam").exists()


@pytest.mark.parametrize(
    "names, words",
    [
        (["x", "x"], "several records are named 'x'"),
        (["x", ""], "record 2 has no name"),
        (["*"], "record 1 is named '*'"),
    ],
)
def test_names_that_sam_cannot_have(folder, names, words):
    (folder / "odd.fa").write_bytes(fasta([(name, "ACGT") for name in names]))
    for index in (None, "x\t4\t0\t60\t61\n"):  # which hides no repeated name
        if index and names == ["x", "x"]:
            (folder / "odd.fa.fai").write_text(index)
        failed(here("hamming", "odd.fa", "-p", "ACG", "-k", 0, "-o", "h.sam", "-q"), words)
        assert not (folder / "h.sam").exists()


@pytest.mark.skipif(not shutil.which("samtools"), reason="samtools is not installed")
def test_samtools_takes_it(folder):
    """view, index without sort, sort, calmd and mpileup; samtools counts the same differences."""
    text = random_letters(5_000)
    near = text[900:912] + text[913:930]
    (folder / "g.fa").write_bytes(fasta([("one", text), ("two", text[::-1])]))
    search = ("-p", near, "-p", text[200:215] + "N" + text[216:225], "-p", "RACGTNGC")
    result = here("edit", "g.fa", *search, "-k", 2, "--report", "ends", "-o", "hits.sam")
    assert result == (0, b"", b"")

    def run(*words):
        done = subprocess.run(["samtools", *words], capture_output=True, text=True, check=True)
        assert "error" not in done.stderr.lower() and "warning" not in done.stderr.lower()
        return done.stdout

    def tags(lines):
        cells = (line.split("\t") for line in lines if not line.startswith("@"))
        return [[cell for cell in row if cell.startswith("NM")] for row in cells]

    lines = (folder / "hits.sam").read_text().splitlines()
    rows = [line for line in lines if not line.startswith("@")]
    places = [row.split("\t")[2:4] for row in rows]
    assert len(rows) > 50 and any(row.split("\t")[1] == "16" for row in rows)
    assert run("view", "hits.sam").splitlines() == rows
    run("view", "-b", "-o", "hits.bam", "hits.sam")
    run("index", "hits.bam")
    near_it = {row for row in rows if row.split("\t")[2] == "one" and "kd:i:1" in row}
    assert near_it & set(run("view", "hits.bam", "one:890-940").splitlines())
    run("sort", "-o", "sorted.bam", "hits.sam")
    again = run("view", "sorted.bam").splitlines()
    assert sorted(again) == sorted(rows) and [row.split("\t")[2:4] for row in again] == places
    piled = [line.split("\t") for line in run("mpileup", "-f", "g.fa", "hits.bam").splitlines()]
    begun = {int(start) for record, start in places if record == "one"}
    assert {int(line[1]) for line in piled if line[0] == "one"} >= begun
    assert tags(run("calmd", "hits.bam", "g.fa").splitlines()) == tags(rows)


VIEWED = "GGTACGTTGCAGGTTTTTTCCTGCAATGG"
VIEW = """\
one:3-13 + a, distance 1
pattern    AC-TTGCAGR
           || |||||||
text    ggtACGTTGCAGGttttt

one:19-27 - a, distance 1
pattern   ACTTGCAGR
          | |||||||
text    ccA-TTGCAGGaaaaa

"""


SEARCH = ("edit", "g.fa", "p.txt", "-k", 1, "--format", "view")


def test_views(folder):
    assert here(*SEARCH) == (0, VIEW.encode(), b"")
    assert here(*SEARCH, "-o", "hits.txt") == (0, b"", b"")
    assert (folder / "hits.txt").read_text() == VIEW


def test_nothing_is_around_in_a_pipe(folder):
    result = here("edit", "-", *SEARCH[2:], stdin=(folder / "g.fa").read_bytes())
    lines = result.out.decode().splitlines()
    assert lines[1:4] == ["pattern AC-TTGCAGR", "        || |||||||", "text    ACGTTGCAGG"]
