"""The commands themselves: help, versions, options of all kinds, and what they load."""

import gzip
import re
import shlex
import sys
from pathlib import Path

import click
import pytest
from support.commands import HEAVY, fasta, fastq, here, loaded, random_letters

import kmatch
from kmatch.cli.command import COMMANDS, FIND, OUTPUT, RUNNING, WHERE, Argument, Option
from kmatch.cli.command import kmatch as group

NAMES = pytest.mark.parametrize("name", group.commands)
GENOME = random_letters(3_000)
GUIDES = [GENOME[start : start + 20] for start in (40, 700)]
FILES = {
    "genome.fa.gz": gzip.compress(fasta([("chr1", GENOME)])),
    "virus.fa": fasta([("virus", random_letters(200, 2))]),
    "guides.txt": "".join(f"{guide}\n" for guide in GUIDES).encode(),
    "primers.fa": fasta([("one", GUIDES[0]), ("two", GUIDES[1])]),
    "reads.fq.gz": gzip.compress(fastq([("read1", GENOME[30:400])])),
    "barcodes.fa": fasta([("one", GUIDES[0]), ("two", GUIDES[1])]),
    "contaminants.fa": fasta([("two", GUIDES[1])]),
    "pairs.tsv": f"pair\t{GENOME[100:120]}\tCAAAGACCAATCCTACCATGAG".encode(),
}
LIGHT = """
--help
--version
hammer
multi --help
edit --help
best --help
pcr --help
primer --help
hamming g.fa --mismatches 3
hamming g.fa -p ACGT
hamming g.fa -p ACGT -k -1
hamming g.fa p.txt -p ACGT -k 1
hamming - - -k 1
pcr g.fa p.txt -p ACGT ACGA -k 1
primer t.fa
pack -
info --short
bench --help
completion bash
completion zsh
completion fish
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def test_help_and_usage_errors_wait_for_nothing():
    body = "from kmatch.cli.main import run\nfor line in sys.argv[1:]: run(line.split())"
    status, modules = loaded(body, "", *LIGHT.strip().splitlines())
    assert status == 0 and "kmatch" in modules and modules & HEAVY == set()
    status, modules = loaded("import kmatch; kmatch.__version__; dir(kmatch)")
    assert status == 0 and modules & HEAVY == set()


def test_info():
    result = here("info")
    assert (result.status, result.err) == (0, b"")
    facts = dict(line.split(None, 1) for line in result.out.decode().splitlines())
    assert facts["kmatch"] == kmatch.__version__
    assert facts["python"].startswith(sys.version.split()[0])
    for package in ("numba", "numpy", "biopython", "click", "rich", "xopen"):
        assert re.search(rf"\b{package} \d", facts["packages"])
    assert facts["cpu"]
    assert re.match(r"[1-9]\d*\b", facts["threads"])
    assert facts["cuda"].startswith("cuda:") or re.match("none: .{8}", facts["cuda"])
    assert re.match("(Numba's|numba-cuda [0-9])", facts["target"])
    assert Path(facts["cache"]).is_absolute()


def help_of(*words):
    result = here(*words, "--help")
    assert (result.status, result.err) == (0, b"")
    assert here(*words, "-h") == result
    usage, blank, heading, example, *_ = lines = result.out.decode().splitlines()
    assert usage.startswith(" ".join(("Usage: kmatch", *words))) and not blank
    assert heading in ("Example:", "Examples:") and " ".join(("kmatch", *words)) in example
    assert max(map(len, lines)) <= 80
    return result.out.decode()


def sections(text):
    """The rows of help by their headings."""
    parts = re.split(r"^(\S[^\n]*):\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_help_lists_the_commands_by_what_they_are_for():
    text = sections(help_of())
    for title, names in COMMANDS.items():
        assert [row.split()[0] for row in text[title].splitlines() if row] == list(names)
    assert b"Usage: kmatch" in here().out + here().err


@NAMES
def test_help(name):
    """Options are in groups, with their defaults, and all is explained."""
    text, command = help_of(name), group.commands[name]
    groups = sections(text)
    titles = [title for title in groups if title in (WHERE, OUTPUT, RUNNING)]
    assert titles == sorted(titles, key=(WHERE, OUTPUT, RUNNING).index)
    assert list(groups)[-1] == RUNNING and text.endswith("Show this message and exit.\n")
    assert command.short_help and "None" not in text and "[default: (" not in text
    for each in command.params:
        if isinstance(each, Argument):
            assert f"  {each.name.upper()} " in groups.get("Reads", groups.get("Takes"))
            continue
        if each.hidden:  # an old name
            continue
        row = f"\n  {', '.join(each.opts)} "
        (title,) = [title for title, rows in groups.items() if row in f"\n{rows}"]
        assert (
            each.help and isinstance(each, Option) and title == each.group
        ) or each.group == FIND
        _, said = each.get_help_record(click.Context(command, show_default=True))
        assert each.is_flag or each.required or "[default: " in said, each.opts


EXAMPLES = dict.fromkeys(
    example
    for command in (group, *group.commands.values())
    for example in command.examples
    if example.startswith("kmatch") and command.name != "completion"  # which shells run
)
SLOW = ("kmatch bench", "kmatch info", "kmatch model", "kmatch plot")  # which other tests run


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_are_true(folder, example):
    _, name, *words = shlex.split(example)
    if example.startswith(SLOW):
        assert group.commands[name].make_context(name, words).params
        return
    if ".kmatch" in example:
        assert here("pack", "genome.fa.gz").status == 0
    result = here(name, *words)
    said = [line for line in result.err.splitlines() if not line.endswith(b"assigned of 1 read")]
    # No primer of the examples has a site in this genome, and the pair is named.
    said = [line for line in said if not line.startswith(b"kmatch: no product; no site within k: ")]
    assert (result.status, said) == (0, [])


PARAMETERS = [
    pytest.param(command, parameter, id=f"{name} {parameter.opts[-1]}")
    for name, command in group.commands.items()
    for parameter in command.params
]
ARGUMENTS = {
    "patterns": "guides.txt",
    "commands": "hamming",
    "primers": "pairs.tsv",
    "reads": "reads.fq.gz",
    "barcodes": "barcodes.fa",
}
QUICK = {
    "bench": {"--size": "1000", "--seconds": "0.001", "--device": "cpu"},
    "model": {"-n": "16", "-m": "4", "-w": "4", "-l": "2", "-p": "4"},
}
BEYOND = ("1" + 23 * "0", "4294967296", "nan", "inf", "9" * 5_000)  # what is computed with
VALUES = (
    *BEYOND,
    *("-1", "0", "", " ", "x" * 100_000, "p\x1b]0;owned\x07\t\r\n\x9b2J\u202e", "p\udcff"),
    "[red]%s{}",
)


def usual(command, but):
    """A small, right command line without the parameter that is looked at."""
    words = []
    for parameter in command.params:
        if parameter is not but and isinstance(parameter, click.Argument):
            words.append(ARGUMENTS.get(parameter.name, "virus.fa"))
        elif parameter is not but and parameter.required:
            words += [parameter.opts[-1], "1"]
    for option, value in QUICK.get(command.name, {}).items():
        words += [] if option in but.opts else [option, value]
    return words


def given(parameter, value):
    if isinstance(parameter, click.Argument):
        return ["--", value]
    if parameter.is_flag:
        return [f"{parameter.opts[-1]}={value}"]
    return [parameter.opts[-1], *[value] * parameter.nargs]


@pytest.mark.parametrize("command, parameter", PARAMETERS)
def test_no_value_is_met_by_a_traceback(folder, command, parameter):
    floats = isinstance(parameter.type, click.types.FloatParamType)
    for value in VALUES:
        result = here(command.name, *usual(command, parameter), *given(parameter, value))
        said = result.err.decode()
        assert result.status in (0, 1, 2), (value, said)
        assert "Traceback" not in said and "defect" not in said, (value, said)
        assert "".join({c for c in said if not c.isprintable()} or "\n") == "\n", (value, said)
        assert len(said) < 2_000, value
        if isinstance(parameter.type, click.types.IntParamType) or floats:
            is_beyond = value in (BEYOND[2:] if floats else BEYOND)
            assert result.status == 2 or not is_beyond, (value, said)
