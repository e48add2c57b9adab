"""Wrong usage, most of it habits from other tools, is met by what to type here."""

import re

import click
import pytest
from support.commands import fasta, here, random_letters

import kmatch
from kmatch.cli.advice import COMMANDS, OPTIONS
from kmatch.cli.command import kmatch as group

FILES = {
    "g.fa": ">chr1\nACGTTGCAACGTACGGTTACCAGTAGGCATTAGGCATCGATCGATTTACG\n",
    "p.txt": "a\tACGTTG\nb\tTTGACC\n",
    "pairs.tsv": "a\tACGTTG\tTTGACC\n",
    "pairs.csv": "a,ACGTTGCAAC,TAATGCCTAC\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_names_of_other_tools(folder):
    """Each gets a row of the tables, or else is known."""
    for name in " ".join(COMMANDS).split():
        assert f"No such command '{name}'; " in here(name).err.decode()
    known = {option for each in group.commands["edit"].params for option in each.opts}
    for option in " ".join(OPTIONS).split():
        if option not in known:
            said = here("edit", "g.fa", "p.txt", "-k", 1, option, "2").err.decode()
            assert f"No such option '{option}'; " in said and "Did you mean" not in said


def test_what_is_advised_exists():
    commands = (group, *group.commands.values())
    known = {
        option
        for command in commands
        for parameter in command.get_params(click.Context(command))
        for option in parameter.opts
    }
    rows = [*COMMANDS.values(), *(text for _, text in OPTIONS.values())]
    for text in rows:
        assert set(re.findall(r"kmatch ([a-z]+)", text)) - {"needs"} <= set(group.commands)
        assert set(re.findall(r"(?<!\w)--?[a-z][a-z0-9-]*", text)) <= known
    for table in (COMMANDS, OPTIONS):
        names = " ".join(table).split()
        assert len(names) == len(set(names))


def test_exchanged_files(folder):
    """Of patterns longer than every record each is told; long ones are fine."""
    letters = random_letters(3_000)
    (folder / "chr.fa").write_bytes(fasta([("chr1", letters), ("chr2", random_letters(400_000))]))
    said = here("hamming", "-", "chr.fa", "-k", 1, stdin=b">guide\nACGTTACGTTACGTTACGTT\n").err
    assert b"'chr1' of 3,000 letters" in said and said.count(b"exchanged?") == 1
    assert here("hamming", "chr.fa", "-p", letters * 2, "-k", 1).err == b""  # in many chunks


ALONE = {  # an option without the one that it is beside, and a word of the message
    "hamming g.fa p.txt -k 1 --samples S1": b"--samples has no effect without --variants",
    "multi g.fa p.txt -k 1 --min-af 0": b"--min-af has no effect without --variants",
    "edit g.fa p.txt -k 1 --max-haplotypes 9": b"--max-haplotypes has no effect without",
    "edit g.fa p.txt -k 1 --dense-groups d.tsv": b"--dense-groups has no effect without",
    "guides g.fa g.fa -k 1 --af-key AF": b"--af-key has no effect without --variants",
    "multi g.fa p.txt -k 1 --pam-side 5p": b"--pam-side has no effect without --pam",
    "multi g.fa p.txt -k 1 --nuclease cas9 --pam-side 5p": b"--nuclease sets --pam-side",
    "multi g.fa p.txt -k 1 --summary-only --columns pattern": b"leave --columns out",
    "multi g.fa p.txt -k 1 --summary-only --annotate a.gff": b"leave --annotate out",
    "demux g.fa p.txt -k 1 --split d --columns read": b"--columns is for the table",
    "demux g.fa p.txt -k 1 --split d --format csv": b"--format is for the table",
    "filter g.fa -p ACGTTG -k 1 --column seq": b"--column is one of a file of patterns",
    "filter g.fa -p p.txt -k 1": b"-p p.txt is a path",
    "filter g.fa p.txt -k 1 --hits h.sam": b"--hits h.sam: '.sam' names no format",
}


@pytest.mark.parametrize("typed", ALONE)
def test_options_that_would_have_no_effect(folder, typed):
    done = here(*typed.split())
    assert done.status == 2 and ALONE[typed] in done.err and done.out == b""


def test_options_that_have_an_effect(folder):
    """A side without --pam is that of the default PAM in guides, and of --pam in multi."""
    assert here("multi", "g.fa", "p.txt", "-k", 0, "--pam", "N", "--pam-side", "5p").status == 0
    guides = here("guides", "g.fa", "g.fa", "-k", 0, "--pam-side", "5p").out
    assert b"chr1\t13\t36\tTTACCAGTAGGCATTAGGCA\tCGG\t+" in guides
    with pytest.raises(kmatch.InputError, match="pam_side has no effect without pam"):
        kmatch.multi("g.fa", ["ACGTTG"], 1, pam_side="5p")


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("guides @list g.fa -k 1", "TARGET"),
        ("primer @list g.fa -k 1", "TARGET"),
        ("primer g.fa @list -k 1", "BACKGROUND"),
        ("filter @list p.txt -k 1", "READS"),
        ("demux @list p.txt -k 1", "READS"),
        ("demux g.fa @list -k 1", "BARCODES"),
        ("hamming g.fa @list -k 1", "PATTERNS"),
        ("pcr g.fa @list -k 1", "PRIMERS"),
        ("assay @list g.fa -k 1", "ASSAYS"),
        ("pack @list -o g.kmatch", "GENOME"),
    ],
)
def test_a_list_in_place_of_one_file(folder, typed, name):
    (folder / "list").write_text("g.fa\n")
    done = here(*typed.split())
    assert done.status == 2 and done.out == b""
    assert f"{name} is one file, and not a list of files as @list is".encode() in done.err


def test_a_list_of_genomes_and_a_name_that_begins_with_at(folder):
    (folder / "list").write_text("g.fa\n")
    (folder / "@p").write_text("ACGTTG\n")
    found = here("hamming", "@list", "@p", "-k", 0)
    assert found.status == 0 and found.out.endswith(b"\tg.fa\n")
    assert here("guides", "g.fa", "@list", "-k", 0).status == 0


def test_a_genome_that_is_given_twice(folder):
    (folder / "list").write_text("g.fa\ng.fa\n")
    said = b"'g.fa': the genome is given more than once"
    assert said in here("hamming", "@list", "p.txt", "-k", 0).err
    assert said in here("assay", "pairs.csv", "g.fa", "g.fa", "-k", 0).err


def test_targets_of_assays(folder):
    """Without one all products would be false; a str in Python would be names of a letter."""
    (folder / "none").write_text("# no target\n")
    done = here("assay", "pairs.csv", "g.fa", "-k", 0, "--targets", "none")
    assert done.status == 1 and b"none: no targets; write the name" in done.err and done.out == b""
    with pytest.raises(kmatch.InputError, match=r"targets is 'g\.fa'; give a list"):
        kmatch.assay("pairs.csv", "g.fa", 0, targets="g.fa")


def test_the_letters_of_products_and_columns(folder):
    chosen = ("pcr", "g.fa", "pairs.csv", "-k", 0, "--product", "20-50", "--columns")
    assert here(*chosen, "name,product", "--sequence").out.count(b"\n") == 2
    without = here(*chosen, "name", "--sequence")
    assert without.status == 2 and b"--sequence adds the column product" in without.err
    assert b"ask for it by --sequence (in" in here(*chosen, "name,product").err


def test_a_packed_genome_does_not_say_what_is_a_circle(folder):
    text = "LOCUS       X   20 bp    DNA     {} BCT 01-JAN-2026\nORIGIN\n        1 {}\n//\n"
    (folder / "c.gb").write_text(text.format("circular", "acgttgcaacgtacggttac"))
    said = here("pack", "c.gb").err
    assert b"c.gb: circular by the file: 'X'; the packed genome does not say so" in said
    (folder / "l.gb").write_text(text.format("linear  ", "acgttgcaacgtacggttac"))
    assert here("pack", "l.gb").err == b""


def test_the_closest_sites_outside_of_regions(folder):
    """best compares the whole genome: a closer site outside leaves nothing inside."""
    (folder / "r.bed").write_text("chr1\t10\t50\n")
    (folder / "o.bed").write_text("chr1\t0\t9\n")
    inside = here("best", "g.fa", "-p", "ACGTTGCAA", "--regions", "o.bed")
    assert (inside.out.count(b"\n"), inside.err) == (1, b"")
    outside = here("best", "g.fa", "-p", "ACGTTGCAA", "-p", "TTACCAGTAGG", "--regions", "r.bed")
    assert b"no hit of 'ACGTTGCAA' inside the regions" in outside.err
    assert b"TTACCAGTAGG" not in outside.err and b"TTACCAGTAGG" in outside.out
    assert here("best", "g.fa", "-p", "ACGTTGCAA", "--regions", "r.bed", "-q").err == b""


@pytest.mark.parametrize(
    "typed",
    [
        "multi g.fa p.txt -k 0 --columns",
        "multi g.fa p.txt -k 0 --json",
        "multi g.fa p.txt -k 0 --html",
        "hamming g.fa p.txt -k 0 --circular",
        "hamming g.fa p.txt -k 0 --regions",
        "hamming g.fa p.txt -k 0 -o",
        "hamming g.fa p.txt -k 0 --variants v.vcf --samples",
        "demux g.fa p.txt -k 0 --mates",
        "filter g.fa p.txt -k 0 --mates",
        "assay pairs.csv g.fa -k 0 --targets",
    ],
)
def test_values_that_are_empty(folder, typed):
    """A variable of the shell that is not set is no option that was left out."""
    done = here(*typed.split(), "")
    assert (done.status, done.out) == (2, b"")
    assert b"it is empty; give a value, or leave the option out" in done.err


def test_circular_without_names_is_all_records(folder):
    over = ("hamming", "g.fa", "-p", "TACGACGT", "-k", 0, "--circular")
    assert here(*over).out == here(*over, "chr1").out != b""
