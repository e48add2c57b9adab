"""Wrong usage, most of it habits from other tools, is met by what to type here."""

import re

import click
import pytest
from support.commands import failed, fasta, here, misused, random_letters

from kmatch.cli.advice import COMMANDS, OPTIONS, VALUES
from kmatch.cli.command import kmatch as group

FILES = {
    "g.fa": ">chr1\nACGTTGCAACGTACGGTTACCAGTAGGCATTAGGCATCGATCGATTTACG\n",
    "p.txt": "a\tACGTTG\nb\tTTGACC\n",
    "pairs.tsv": "a\tACGTTG\tTTGACC\n",
}
# Command lines, and what is said of them.
USAGE = """
hammming g.fa                             | Did you mean 'hamming'?
HAMMING g.fa                              | type kmatch hamming
--hamming g.fa                            | type kmatch hamming
--search                                  | kmatch hamming counts mismatches
-k 1 g.fa                                 | the command comes first: kmatch hamming GENOME
hamming g.fa p.txt -k1 --lim 1            | type --limit
hamming g.fa p.txt -k1 --LIMIT 1          | type --limit
hamming g.fa p.txt -k1 --pam NGG          | kmatch multi, kmatch edit and kmatch guides have --pam
hamming g.fa p.txt -k1 --report ends      | kmatch edit has --report
hamming g.fa p.txt -k1 -i x               | files need no option: kmatch hamming GENOME [PATTERNS]
hamming g.fa p.txt –k 1                   | '–k' begins with a dash, not with a hyphen; type -k
hamming g.fa p.txt -k1 —limit 1           | type --limit
best g.fa p.txt -k 1                      | kmatch edit -k N finds all within N
best g.fa p.txt --pam NGG                 | kmatch multi, kmatch edit and kmatch guides have --pam
best                                      | as in: kmatch best genome.fa.gz -p
hamming g.fa p.txt                        | as in: kmatch hamming genome.fa.gz -p
hamming g.fa p.txt -k 3,5                 | a search has one k, the largest
hamming g.fa p.txt -k 3-5                 | a search has one k, the largest
hamming g.fa p.txt -k 0.1                 | a share has a percent sign: -k 10%
hamming g.fa p.txt -k .125                | -k 12.5%
hamming g.fa p.txt -k two                 | type -k 2, or as a share -k 10%
hamming g.fa p.txt -k 1_0                 | '1_0' is not a valid number of differences
hamming g.fa p.txt -k -1                  | -1 is not in the range x>=0
hamming g.fa p.txt -k 10 %                | write -k 10% without a blank
hamming g.fa p.txt -k1 --format TSV       | type --format tsv
hamming g.fa p.txt -k1 --strand x         | 'x' is not one of 'both', '+', '-'
hamming g.fa p.txt -k1 --device gpu       | type --device cuda
hamming g.fa p.txt -k1 -t all             | without -t all cores are used
hamming g.fa p.txt -k1 -t 0               | 0 is not in the range x>=1
hamming g.fa p.txt -k1 -o h.vcf           | '.vcf' names no format; .bed, .tsv, .csv, .txt, .sam
hamming g.fa p.txt -k1 -o p.txt           | the same file as p.txt, which is read
hamming g.fa p.txt -k1 -o x --summary ./x | -o and --summary cannot be the same file
hamming g.fa p.txt -k1 --summary-only --limit 1 | leave --limit out
hamming g.fa p.txt -k1 --limit x          | limit
hamming g.fa p.txt -k1 --limit 0          | limit
multi g.fa p.txt -k1 --summary -          | summary
multi g.fa p.txt -k1 --summary-only --summary s.tsv | summary
multi g.fa p.txt -k1 --summary-only --format tsv | format
multi g.fa p.txt -k1 --pam NGG --pam-side left | left
edit g.fa p.txt -k 100%                   | %
edit g.fa p.txt -k x%                     | %
edit g.fa p.txt -k -5%                    | %
hamming g.fa p.txt -k1 --exact-3p -1      | -1 is not in the range x>=0
hamming g.fa p.txt -k1 --algorithm magic  | magic
hamming g.fa p.txt -k1 --device cuda:first | cuda:first
hamming g.fa p.txt -k1 --circular g.fa    | g.fa is a file; give names of records
hamming g.fa p.txt -k1 --regions chr1:1,001-2000 | a BED file, and there is none named chr1:1,001
hamming g.fa p.txt ACGTTG -k1             | patterns on the command line are -p
hamming g.fa p.txt 4 -k1                  | threads -t N
hamming g.fa p.txt h.fa -k1               | type kmatch hamming GENOME [PATTERNS]; several genomes
hamming g.fa p.txt -p 4 -k1               | threads are -t N
hamming g.fa h.fa -p ACGTTG -k1           | one of the two; several genomes are one @LIST
hamming g.fa -k1                          | give the patterns as a file or with -p, one of the two
hamming g.fa -p ACGT --column x -k1       | --column is one of a file of patterns
hamming - - -k1                           | only one of GENOME and PATTERNS can be standard input
hamming g.fa - -k1 --regions -            | only one of PATTERNS and --regions can be
hamming - -pA -k0 --variants -            | only one of GENOME and --variants can be
hamming g.fa ACGTTG -k1                   | PATTERNS is a file, and there is none named ACGTTG
hamming g.fa -p p.txt -k1                 | give the file as PATTERNS, without -p
hamming g.fa -p ACGTTG,TTGACC -k1         | repeat -p for each
edit ACGTTG g.fa -k1                      | GENOME is a file, and there is none named ACGTTG
edit g.fa p.txt -k1 --report all          | 'all' is not one of 'minima', 'ends', 'loci'
edit g.fa p.txt -k1 --max-mismatches -1   | -1 is not in the range x>=0
pcr g.fa h.fa -p A C -k1                  | several genomes are one @LIST
pcr g.fa ACGTTG -k1                       | PRIMERS is a file
pcr g.fa -k1 -p ACGTTG                    | type -p FORWARD REVERSE
pcr g.fa -p ACGTTG TTGACC                 | as in: kmatch pcr genome.fa
pcr g.fa -k 1                             | give the primers as a file or with -p, one of the two
pcr - - -k 1                              | only one of GENOME and PRIMERS can be standard input
pcr g.fa pairs.tsv -k1 --product 300      | '300' is not MIN-MAX
pcr g.fa pairs.tsv -k1 --product 90-9     | the least, 90, is more than the most, 9
pcr g.fa pairs.tsv -k1 --product 1-9999999999 | more than kmatch counts to
pcr g.fa pairs.tsv -k1 --sequence         | --sequence adds a column to TSV; give --format tsv
pcr g.fa pairs.tsv -k1 -o pairs.tsv       | which is read
primer g.fa g.fa -k 0                     | 0 is not in the range x>=1
primer g.fa g.fa                          | as in: kmatch primer virus.fa
primer g.fa -k3                           | Missing argument 'BACKGROUND'
primer - - -k3                            | only one of TARGET and BACKGROUND can be standard input
primer g.fa g.fa -k3 --regions -          | -o and --regions cannot be the same file
primer g.fa g.fa -k2 --gc 40 60           | GC is two shares of 1: type --gc 0.4 0.6
primer g.fa g.fa -k2 --gc 0.4-0.6         | type --gc 0.4 0.6
primer g.fa g.fa -k2 --tm 60              | type --tm 57 63
primer g.fa g.fa -k2 --strand +           | kmatch hamming, kmatch multi, kmatch edit and
primer g.fa @list -k 2                    | BACKGROUND is one file, and not a list
primer @list g.fa -k 2                    | TARGET is one file, and not a list
pack -                                    | standard input has no name
pack g.fa -o ./g.fa                       | the same file as g.fa
plot hits.tsv -o hits.txt                 | '.txt' names no format; end the name with .png
bench hamming --size 12                   | 12 is not in the range
bench hamming --paper liu2012             | type kmatch bench --paper liu2012
model -n 1_0                              | '1_0' is not a valid whole number
model -n 4 -m 8                           | -m is at most -n
info gpu                                  | type kmatch info
info --short --compile                    | leave one of them out
completion tcsh                           | 'bash', 'zsh', 'fish'
completion                                | as in: eval
"""
LINES = [tuple(map(str.strip, line.split("|", 1))) for line in USAGE.strip().splitlines()]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("line, advice", LINES, ids=[line for line, _ in LINES])
def test_usage(folder, line, advice):
    result = here(*line.split())
    misused(result)
    assert advice in " ".join(result.err.decode().split())
    assert {path.name for path in folder.iterdir()} == set(FILES)


def test_names_of_other_tools(folder):
    """Each gets a row of the tables, or else is known."""
    for name in " ".join(COMMANDS).split():
        assert f"No such command '{name}'; " in here(name).err.decode()
    known = {option for each in group.commands["edit"].params for option in each.opts}
    for option in " ".join(OPTIONS).split():
        if option not in known:
            said = here("edit", "g.fa", "p.txt", "-k", 1, option, "2").err.decode()
            assert f"No such option '{option}'; " in said and "Did you mean" not in said
    for option, rows in VALUES.items():
        for values, right in rows.items():
            for value in values.split():
                said = here("edit", "g.fa", "p.txt", "-k", 1, option, value).err.decode()
                assert f"; type {option} {right}" in " ".join(said.split())


def test_what_is_advised_exists():
    commands = (group, *group.commands.values())
    known = {
        option
        for command in commands
        for parameter in command.get_params(click.Context(command))
        for option in parameter.opts
    }
    rows = [*COMMANDS.values(), *(text for rows in OPTIONS.values() for _, text in rows)]
    for text in rows:
        assert set(re.findall(r"kmatch ([a-z]+)", text)) - {"needs"} <= set(group.commands)
        assert set(re.findall(r"(?<!\w)--?[a-z][a-z0-9-]*", text)) <= known
    for table in (COMMANDS, OPTIONS):
        names = " ".join(table).split()
        assert len(names) == len(set(names))


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


def test_files_that_are_something_else(folder):
    (folder / "list.txt").write_text("g.fa\nchr1\t0\t10\n")
    (folder / "r.bed").write_text("chrom\tstart\tend\nchr1\t0\t10\n")
    sought = ("hamming", "g.fa", "p.txt", "-k", 1)
    failed(here("hamming", folder, "p.txt", "-k", 1), "Is a directory; give one of its files")
    failed(here(*sought, "-o", folder), "Is a directory; give a file in it")
    failed(here(*sought, "-o", "new/"), "new/: this names a folder")
    failed(here("pack", "g.fa", "-o", "new/"), "new/: this names a folder")
    failed(here("hamming", "@list.txt", "p.txt", "-k", 1), "@list.txt: chr1 0 10: cannot be read")
    failed(here(*sought, "--regions", "r.bed"), "r.bed: line 1: 'start' is no position", "'#'")
    failed(here("hamming", "p.txt", "g.fa", "-k", 1), "p.txt: ", "The genome comes first")
    for url in ("https://a.b/c.fa", "ftp://a.b/c.fa.gz", "s3://a/b.fa"):
        failed(here("hamming", url, "p.txt", "-k", 1), url, "download it first")
        failed(here("hamming", "g.fa", url, "-k", 1), url, "download it first")
    swapped = here("hamming", "g.fa", "-p", "ACGT" * 60, "-k", 0)
    assert b"are genome and patterns exchanged?" in swapped.err


# Searches that are likely not what was meant.

LETTERS = random_letters(3_000)
GUIDES = ("ACGTTACGTTACGTTACGTT", "GGATCCTTAACGATCGATTA")


def panel(*patterns):
    return [word for pattern in patterns for word in ("-p", pattern)]


@pytest.mark.parametrize("pam, site", [("NGG", "TGG"), ("TTTV", "TTTA"), ("NNGRRT", "ACGRRT")])
@pytest.mark.parametrize("side, end", [("3p", "end"), ("5p", "begin")])
def test_the_pam_is_asked_for_once(pam, site, side, end):
    search = ("multi", "g.fa", "-k", 2, "--pam", pam, "--pam-side", side)
    behind, before = ([guide + site for guide in GUIDES], [site + guide for guide in GUIDES])
    twice, once = (before, behind) if side == "5p" else (behind, before)
    failed(here(*search, *panel(*twice)), f"2 patterns {end}", pam)
    single = here(*search, *panel(twice[0]))
    assert single.status == 0
    assert single.err.startswith(b"kmatch: warning: pattern ") and b"with the PAM" in single.err
    assert here(*search, *panel(twice[0]), "-q").err == b""
    for right in (GUIDES, (twice[0], once[1])):
        assert b"PAM" not in here(*search, *panel(*right)).err
    assert b"PAM" not in here("multi", "g.fa", *panel(*GUIDES), "-k", 2, "--pam", "N").err


@pytest.mark.parametrize("command", ["hamming", "multi", "edit", "best"])
@pytest.mark.parametrize("packed", [False, True])
def test_patterns_longer_than_every_record(folder, command, packed):
    texts = [("a", LETTERS[:50]), ("b", LETTERS[100:160]), ("empty", "")]
    (folder / "text.fa").write_bytes(fasta(texts))
    (folder / "longer.fa").write_bytes(fasta([*texts, ("c", LETTERS[:61])]))
    text = "text.fa.kmatch" if packed else "text.fa"
    if packed:
        assert here("pack", "text.fa").status == 0
    k = () if command == "best" else ("-k", 1)
    options = ("-p", LETTERS[:61], "-p", LETTERS[1:62], *k)
    said = here(command, text, *options).err.decode()
    assert said.startswith(f"kmatch: warning: pattern '{LETTERS[:61]}' of 61 letters, and 1 more")
    assert f"every record of {text}, at most 60; are genome and patterns exchanged?" in said
    assert said.count("exchanged?") == 1
    assert here(command, text, *options, "-q").err == b""
    assert b"exchanged" not in here(command, text, "-p", LETTERS[100:160], *k).err
    assert b"exchanged" not in here(command, "longer.fa", *options).err


def test_exchanged_files(folder, monkeypatch):
    (folder / "chr.fa").write_bytes(fasta([("chr1", LETTERS), ("chr2", random_letters(400_000))]))
    (folder / "guides.fa").write_bytes(fasta([(f"g{i}", g) for i, g in enumerate(GUIDES)]))
    for text in ("guides.fa", "-"):
        said = here("hamming", text, "chr.fa", "-k", 1, stdin=(folder / "guides.fa").read_bytes())
        assert (said.status, said.out) == (0, b"")
        assert b"'chr1' of 3,000 letters" in said.err and said.err.count(b"exchanged?") == 1
    assert here("hamming", "chr.fa", "-p", LETTERS * 2, "-k", 1).err == b""  # in many chunks
    monkeypatch.setattr("kmatch.search.best.choose_algorithm", None)
    said = here("best", "guides.fa", "chr.fa").err  # before the search
    assert said.index(b"exchanged?") < said.index(b"kmatch: error: a defect")


def test_regions_that_begin_like_a_comment(folder):
    (folder / "r.bed").write_text("#1\t0\t4\nb\t4\t8\n#b\t0\t4\n")
    search = ("hamming", "-", "-p", "ACGT", "-k", 0, "--strand", "+", "--regions", "r.bed")
    done = here(*search, stdin=b">#1\nACGTACGT\n>b\nACGTACGT\n")
    rows = [line.split("\t")[:3] for line in done.out.decode().splitlines()]
    assert rows == [["#1", "0", "4"], ["b", "4", "8"]] and done.err == b""
