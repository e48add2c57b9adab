"""What users of other tools type is met by what to type here."""

import re

import click
import pytest
from support.commands import failed, here, misused

from kmatch.cli import advice as near_misses
from kmatch.cli.command import kmatch as group

FILES = {
    "g.fa": ">chr1\nACGTTGCAACGTACGGTTACCAGTAGGCATTAGGCATCGATCGATTTACG\n",
    "p.txt": "a\tACGTTG\nb\tTTGACC\n",
    "pairs.tsv": "a\tACGTTG\tTTGACC\n",
}
ROWS = [*near_misses._COMMANDS.values()] + [
    text for advice in near_misses._OPTIONS.values() for _, text in advice
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def said(*words):
    result = here(*words)
    misused(result)
    return " ".join(result.err.decode().rpartition("Error: ")[2].split())


@pytest.mark.parametrize("name", " ".join(near_misses._COMMANDS).split())
def test_commands_of_other_tools(name):
    if name in group.commands:
        return
    begin, advice = said(name, "g.fa", "p.txt").split("; ", 1)
    assert begin == f"No such command '{name}'" and advice


@pytest.mark.parametrize("option", " ".join(near_misses._OPTIONS).split())
def test_options_of_other_tools(option):
    for name in ("hamming", "edit", "best", "pcr", "primer"):
        files = {"pcr": "pairs.tsv", "primer": "g.fa"}.get(name, "p.txt")
        known = {each for parameter in group.commands[name].params for each in parameter.opts}
        if option not in known:
            line = said(name, "g.fa", files, *(("-k", "1") if name != "best" else ()), option, "2")
            assert line.startswith(f"No such option '{option}'")
            if name == "edit":
                assert "; " in line and "Did you mean" not in line


@pytest.mark.parametrize("text", ROWS)
def test_what_is_advised_exists(text):
    assert set(re.findall(r"kmatch ([a-z]+)", text)) - {"aligns", "needs", "changes"} <= {
        *group.commands,
        "bash",
    }
    known = {
        option
        for command in (group, *group.commands.values())
        for parameter in command.get_params(click.Context(command))
        for option in parameter.opts
    }
    assert set(re.findall(r"(?<!\w)--?[a-z][a-z0-9-]*", text)) <= known


def test_no_name_has_two_rows():
    for table in (near_misses._COMMANDS, near_misses._OPTIONS):
        names = " ".join(table).split()
        assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "option, value",
    [
        (option, value)
        for option, rows in near_misses._VALUES.items()
        for values in rows
        for value in values.split()
    ],
)
def test_values_of_other_tools(option, value):
    command = next(name for name in ("edit", "pcr") if option in options(name))
    files = {"pcr": "pairs.tsv"}.get(command, "p.txt")
    line = said(command, "g.fa", files, "-k", "1", option, value)
    advised = line.rpartition(f"; type {option} ")[2]
    words = (command, "g.fa", files, "-k", "1", option, advised)
    assert group.commands[command].make_context(command, list(words[1:])).params
    assert repr(value)[1:-1] in line


def options(name):
    return [option for parameter in group.commands[name].params for option in parameter.opts]


SOUGHT = ("g.fa", "p.txt", "-k", 1)
HAMMING = ("hamming", "g.fa", "p.txt")
USAGE = {
    "a misspelt command": (("hammming", "g.fa"), "Did you mean 'hamming'?"),
    "a command in capitals": (("HAMMING", "g.fa"), "type kmatch hamming"),
    "a command as an option": (("--hamming", "g.fa"), "type kmatch hamming"),
    "another's as an option": (("--search",), "kmatch hamming counts mismatches"),
    "no command": (("-k", "1", "g.fa"), "the command comes first: kmatch hamming GENOME"),
    "a misspelt option": ((*HAMMING, "-k1", "--lim", "1"), "type --limit"),
    "an option in capitals": ((*HAMMING, "-k1", "--LIMIT", "1"), "type --limit"),
    "an option of others": ((*HAMMING, "-k1", "--pam", "NGG"), "kmatch multi and kmatch edit have"),
    "an option of one other": ((*HAMMING, "-k1", "--report", "ends"), "kmatch edit has --report"),
    "another's in capitals": ((*HAMMING, "-k1", "--PAM", "NGG"), "kmatch edit have --pam"),
    "files by options": ((*HAMMING, "-k1", "-i", "x"), "kmatch hamming GENOME [PATTERNS]"),
    "a dash of an editor": ((*HAMMING, "–k", "1"), "'–k' begins with a dash, not with a hyphen"),
    "a long dash": ((*HAMMING, "-k1", "—limit", "1"), "type --limit"),
    "k of best": (("best", "g.fa", "p.txt", "-k", "1"), "kmatch edit -k N finds all"),
    "two k": ((*HAMMING, "-k", "3,5"), "a search has one k, the largest"),
    "a range of k": ((*HAMMING, "-k", "3-5"), "a search has one k, the largest"),
    "a fraction": ((*HAMMING, "-k", "0.1"), "a share has a percent sign: -k 10%"),
    "a finer fraction": ((*HAMMING, "-k", ".125"), "-k 12.5%"),
    "k in words": ((*HAMMING, "-k", "two"), "type -k 2, or as a share -k 10%"),
    "k after =": ((*HAMMING, "-k=1"), "type -k 1"),
    "a blank before %": ((*HAMMING, "-k", "10", "%"), "write -k 10% without a blank"),
    "no k": (HAMMING, "as in: kmatch hamming genome.fa.gz -p "),
    "no genome": (("best",), "as in: kmatch best genome.fa.gz -p "),
    "percent of GC": (("primer", "g.fa", "g.fa", "-k2", "--gc", "40", "60"), "--gc 0.4 0.6"),
    "% of GC": (("primer", "g.fa", "g.fa", "-k2", "--gc", "40%", "62.5%"), "--gc 0.4 0.625"),
    "one GC": (("primer", "g.fa", "g.fa", "-k2", "--gc", "0.4-0.6"), "type --gc 0.4 0.6"),
    "one Tm": (("primer", "g.fa", "g.fa", "-k2", "--tm", "60"), "type --tm 57 63"),
    "one primer": (("pcr", "g.fa", "-k1", "-p", "ACGTTG"), "type -p FORWARD REVERSE"),
    "one size": (("pcr", "g.fa", "pairs.tsv", "-k1", "--product", "300"), "--product 50-300"),
    "sizes": (("pcr", "g.fa", "pairs.tsv", "-k1", "--product", "80..300"), "--product 80-300"),
    "sizes exchanged": (("pcr", "g.fa", "pairs.tsv", "-k1", "--product", "90-9"), "--product 9-90"),
    "a primer too few": (("pcr", "g.fa", "-p", "ACGTTG", "-k", "1"), "type -p FORWARD REVERSE"),
    "no k of primers": (("pcr", "g.fa", "-p", "ACGTTG", "TTGACC"), "as in: kmatch pcr genome.fa"),
    "one GC, then k": (("primer", "g.fa", "g.fa", "--gc", "0.4", "-k", "2"), "type --gc 0.4 0.6"),
    "two genomes": (("hamming", "g.fa", "h.fa", "-p", "ACGTTG", "-k1"), "genomes are one @LIST"),
    "two genomes of pcr": (("pcr", "g.fa", "h.fa", "-pA", "C", "-k1"), "genomes are one @LIST"),
    "three genomes": ((*HAMMING, "h.fa", "-p", "ACGTTG", "-k1"), "several genomes are one @LIST"),
    "a sequence as a genome": (("edit", "ACGTTG", "g.fa", "-k1"), "GENOME is a file, and there is"),
    "a format in capitals": ((*HAMMING, "-k1", "--format", "TSV"), "type --format tsv"),
    "all threads": ((*HAMMING, "-k1", "-t", "all"), "without -t all cores are used"),
    "a pattern too many": ((*HAMMING, "ACGTTG", "-k1"), "patterns on the command line are -p"),
    "a number too many": ((*HAMMING, "4", "-k1"), "threads -t N"),
    "a file too many": ((*HAMMING, "h.fa", "-k1"), "type kmatch hamming GENOME [PATTERNS]"),
    "words for info": (("info", "gpu"), "type kmatch info"),
    "a sequence as a file": (("hamming", "g.fa", "ACGTTG", "-k1"), "sequences are given with -p"),
    "a file as a sequence": (("hamming", "g.fa", "-p", "p.txt", "-k1"), "the file as PATTERNS"),
    "two sequences": (("hamming", "g.fa", "-p", "ACGTTG,TTGACC", "-k1"), "repeat -p for each"),
    "threads of Bowtie": ((*HAMMING, "-p", "4", "-k1"), "threads are -t N"),
    "a region": ((*HAMMING, "-k1", "--regions", "chr1:1,001-2000"), "chr1, a tab, 1000, a tab"),
    "a region of pcr": (("pcr", "g.fa", "ACGTTG", "-k1"), "PRIMERS is a file"),
}  # fmt: skip


@pytest.mark.parametrize("name", USAGE)
def test_usage(name):
    words, advice = USAGE[name]
    assert advice in said(*words)


TEXTS = {
    "a space for the tab": ("a\tACGTTG\nb TTGACC\n", "line 2", "write a tab between a name and"),
    "columns exchanged": ("ACGTTG\tguide1\n", "line 1", "The name comes first"),
    "a header line": ("name\tsequence\na\tACGTTG\n", "line 1", "starts with '#'"),
    "commas": ("a\tACGTTG\nb,TTGACC\n", "line 2", "name the column by --column"),
    "FASTQ": ("@r1\nACGTT\n+\nIIIII\n", "looks like FASTQ", "seqkit fq2fa"),
    "a header line of a table": ("id\tguide\na\tACGTTG\n", "line 1", "--column names the sequen"),
    "protein": (">p\nMKLVEEFL\n", "'p'", "if this is a protein: kmatch searches DNA and RNA\n"),
    "protein, a line each": ("MKLVEEFL\n", "line 1", "if this is a protein"),
    "gaps": ("a\tACG-TT\n", "line 1", "leave gaps out"),
    "dots": ("a\tACG..TT\n", "line 1", "N stands for any base"),
    "a regular expression": ("a\tAC[GT]TT\n", "line 1", "R stands for [AG]"),
    "quotes": ('a\t"ACGTTG"\n', "line 1", "leave the quotes out"),
    "pairs of primers": ("a\tACGTTG\tTTGACC\n", "line 1", "3 columns"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_files_of_patterns(folder, name):
    text, *words = TEXTS[name]
    (folder / "q.txt").write_text(text)
    failed(here("hamming", "g.fa", "q.txt", "-k", 1), "q.txt: ", *words)


def test_exchanged_columns_of_letters(folder):
    (folder / "q.txt").write_text("ACGTTGCA\tGAT\nTTGACCAT\tTAG\n")
    result = here("hamming", "g.fa", "q.txt", "-k", 0)
    assert result.status == 0
    assert "q.txt: line 1: names are letters of bases" in result.err.decode()
    (folder / "q.txt").write_text("ACGTTGCA\tGAT\nTTGACCAT\tTAGTAGTAGTAG\n")
    assert here("hamming", "g.fa", "q.txt", "-k", 0).err == b""
    (folder / "pairs.tsv").write_text("ACGTTGCA\tGAT\tTAG\n")
    result = here("pcr", "g.fa", "pairs.tsv", "-k", 0)
    assert "The name comes first" in result.err.decode()


def test_a_folder_and_a_list_of_none(folder):
    failed(here("hamming", folder, "p.txt", "-k", 1), "Is a directory; give one of its files")
    failed(here("hamming", *SOUGHT, "-o", folder), "Is a directory; give a file in it")
    (folder / "list.txt").write_text("g.fa\nchr1\t0\t10\n")
    failed(here("hamming", "@list.txt", "p.txt", "-k", 1), "@list.txt: chr1 0 10: cannot be read")


def test_a_header_of_regions(folder):
    (folder / "r.bed").write_text("chrom\tstart\tend\nchr1\t0\t10\n")
    result = here("hamming", "g.fa", "p.txt", "-k", 1, "--regions", "r.bed")
    failed(result, "r.bed: line 1: 'start' is no position", "no region starts with '#'")


def test_exchanged_files():
    failed(here("hamming", "p.txt", "g.fa", "-k", 1), "p.txt: ", "The genome comes first")


@pytest.mark.parametrize("url", ["https://a.b/c.fa", "ftp://a.b/c.fa.gz", "s3://a/b.fa"])
def test_urls(url):
    failed(here("hamming", url, "p.txt", "-k", 1), url, "download it first")
    failed(here("hamming", "g.fa", url, "-k", 1), url, "download it first")
