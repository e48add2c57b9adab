"""SAM, GFF3 and hits for eyes: by hand, against slow formatters, and as samtools reads them."""

import io
import os
import re
import shutil
import subprocess

import pytest
from support.commands import fasta, here, random_letters
from support.searches import GENOME, call

import kmatch

CHR = "TTTTACGTTGCAGGTTTTTTTTCCTGCAAT"


def text_of(hits, form):
    table = io.StringIO()
    getattr(hits, f"to_{form}")(table)
    return table.getvalue()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = [("chr1 first", CHR), ("empty", ""), ("a(2)", "GGGG")]
    (tmp_path / "genome.fa").write_bytes(fasta(records))
    return tmp_path


def test_selections_say_whether_they_are_sorted(tmp_path):
    hits = call(kmatch.hamming, GENOME, "ACGTACG", 3)
    assert text_of(hits[::2], "sam").startswith("@HD\tVN:1.6\tSO:coordinate\n")
    assert text_of(hits[::-1], "sam").startswith("@HD\tVN:1.6\tSO:unknown\n")
    hits.to_sam(tmp_path / "hits.sam")
    assert (tmp_path / "hits.sam").read_text() == text_of(hits, "sam")
    with pytest.raises(kmatch.InputError, match="give it to Hits"):
        kmatch.Hits(hits.batches, hits.patterns).to_sam(io.StringIO())


def searched(genome="genome.fa", form="sam"):
    """What a search writes, but for the command line, and its status."""
    result = here("hamming", genome, "-p", "TTGCAGG", "-k", 0, "--format", form)
    return result._replace(out=re.sub(rb"\tCL:.*", b"", result.out))


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


@pytest.mark.skipif(not shutil.which("samtools"), reason="samtools is not installed")
def test_samtools_takes_it(folder):
    """quickcheck, view, index without sort, sort, calmd and mpileup; samtools counts the same
    differences."""
    text = random_letters(5_000)
    near = text[900:912] + text[913:930]
    (folder / "g.fa").write_bytes(fasta([("one", text), ("two", text[::-1])]))
    search = ("-p", near, "-p", text[200:215] + "N" + text[216:225], "-p", "RACGTNGC")
    result = here("edit", "g.fa", *search, "-k", 2, "--report", "ends", "-o", "hits.sam")
    assert result == (0, b"", b"")

    def run(*words):
        done = subprocess.run(
            ["samtools", *map(str, words)], capture_output=True, text=True, check=True
        )
        assert "error" not in done.stderr.lower() and "warning" not in done.stderr.lower()
        return done.stdout

    def tags(lines):
        cells = (line.split("\t") for line in lines if not line.startswith("@"))
        return [[cell for cell in row if cell.startswith("NM")] for row in cells]

    lines = (folder / "hits.sam").read_text().splitlines()
    rows = [line for line in lines if not line.startswith("@")]
    places = [row.split("\t")[2:4] for row in rows]
    assert len(rows) > 50 and any(row.split("\t")[1] == "272" for row in rows)
    run("quickcheck", "hits.sam")
    assert run("view", "hits.sam").splitlines() == rows
    primary = [row.split("\t")[0] for row in run("view", "-F", 256, "hits.sam").splitlines()]
    assert len(primary) == len({*primary}) == 3
    run("view", "-b", "-o", "hits.bam", "hits.sam")
    run("index", "hits.bam")
    near_it = {row for row in rows if row.split("\t")[2] == "one" and "kd:i:1" in row}
    assert near_it & set(run("view", "hits.bam", "one:890-940").splitlines())
    run("sort", "-o", "sorted.bam", "hits.sam")
    again = run("view", "sorted.bam").splitlines()
    assert sorted(again) == sorted(rows) and [row.split("\t")[2:4] for row in again] == places
    piled = [
        line.split("\t")
        for line in run("mpileup", "--ff", 4, "-f", "g.fa", "hits.bam").splitlines()
    ]
    begun = {int(start) for record, start in places if record == "one"}
    assert {int(line[1]) for line in piled if line[0] == "one"} >= begun
    assert tags(run("calmd", "hits.bam", "g.fa").splitlines()) == tags(rows)


def test_reads_have_one_primary_line_each(folder):
    """Names that SAM makes one are one read, and batches go on where others ended."""
    (folder / "panel.txt").write_text("a b\tTTGC\na-b\tTGCA\na_b\tGCAG\n")
    (folder / "many.fa").write_bytes(fasta([("c", "TTGCAGG" * 40_000)]))
    assert here("hamming", "many.fa", "panel.txt", "-k", 0, "-o", "hits.sam").status == 0
    rows = [line.split("\t")[:2] for line in (folder / "hits.sam").read_text().splitlines()[3:]]
    assert len(rows) == 120_000 + 40_000  # TGCA on both strands
    primary = [(name, row) for row, (name, flag) in enumerate(rows) if int(flag) < 256]
    assert primary == [("a_b", 0), ("a-b", 1)]


def test_the_command_line_in_sam(folder):
    """It is quoted as a shell takes it; in Python there is none."""
    name = "tab\tand blank.txt"
    (folder / name).write_text("TTGCAGG\n")
    header = here("hamming", "genome.fa", name, "-k0", "--format", "sam").out.decode()
    typed = "kmatch hamming genome.fa 'tab_and blank.txt' -k0 --format sam"
    assert (
        header.splitlines()[3] == f"@PG\tID:kmatch\tPN:kmatch\tVN:{kmatch.__version__}\tCL:{typed}"
    )
    assert "\tCL:" not in text_of(kmatch.hamming("genome.fa", ["GGGG"], k=0), "sam")


GFF3 = (
    "hamming genome.fa -p TTGCAGG -k 3",
    "hamming packed.kmatch -p GGGG -k 0",
    "hamming genome.fa -p CAATTTTT -k 0 --circular chr1",
    "hamming packed.kmatch -p CAATTTTT -k 0 --circular chr1",
    "hamming @list -p CAATTTTT -k 2",
    "hamming twice.kmatch -p TTGCAGG -k 1",
    "multi genome.fa -p ACGTTGC -k 2 --pam NGG",
    "edit genome.fa patterns.txt -k 3 --report ends",
    "best genome.fa patterns.txt",
    "best genome.fa patterns.txt --each record",
    "hamming genome.fa -p TTGCAGG -k 0 --variants snp.vcf",
    "hamming genome.fa -p ACGTACGTACGT -k 0",
)


@pytest.mark.skipif(not shutil.which("gt"), reason="genometools is not installed")
@pytest.mark.parametrize("search", GFF3)
def test_genometools_takes_gff3(folder, search):
    """Names that have to be escaped, lengths in the header or not, circles, and no hit at all."""
    (folder / "patterns.txt").write_text("a b=;%,&é\tACTTGCAGR\n>d\tTTGCAGG\n")
    (folder / "twice.fa").write_bytes(fasta([("x|y,z;1", CHR), ("x|y,z;1", CHR[:20])]))
    (folder / "list").write_text("genome.fa\ntwice.fa\n")
    (folder / "snp.vcf").write_text(
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        "chr1\t10\t.\tG\tC\t.\t.\t.\n"
    )
    for name, genome in (("packed", "genome.fa"), ("twice", "twice.fa")):
        assert here("pack", genome, "-o", f"{name}.kmatch").status == 0
    assert here(*search.split(), "-o", "hits.gff3").status == 0
    hits = (folder / "hits.gff3").read_text()
    assert ("cigar=" in hits) == ("ACGTACGTACGT" not in search)
    assert ("##sequence-region chr1 1 30\n" in hits) == ("packed" in search)
    done = subprocess.run(["gt", "gff3validator", "hits.gff3"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "input is valid GFF3\n"), done.stderr


def test_lengths_in_gff3_cost_no_reading(folder):
    """In memory as in a packed genome; records without letters have none."""
    genome = kmatch.Genome("genome.fa")
    first = text_of(kmatch.hamming(genome, ["GGGG"], k=0), "gff3").splitlines()
    lengths = ["##sequence-region chr1 1 30", "##sequence-region a%282%29 1 4"]
    assert first[:3] == ["##gff-version 3", *lengths]
    assert searched(form="gff3").out.count(b"##") == 1
