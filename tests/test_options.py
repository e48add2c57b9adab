"""Every option of every command, found through Click's own objects, under values of all kinds."""

import os
import re
from pathlib import Path

import click
import pytest
from support.commands import here
from support.commands import process as kmatch_process

from kmatch.cli.command import Command
from kmatch.cli.command import kmatch as group

GENOME = b">chr1\nACGTTGCAACGTACGGTTACCAGTAGGCATTA\n>chr2\nTTGACCATTA\n"
FILES = {
    "genome.fa": GENOME,
    "patterns.txt": b"a\tACGTT\nb\tTTGAC\n",
    "primers.txt": b"a\tACGTT\tTTGAC\n",
}
ARGUMENTS = {
    "patterns": "patterns.txt",
    "commands": "hamming",
    "primers": "primers.txt",
}  # the others are genomes
QUICK = {
    "bench": {"--size": "1000", "--seconds": "0.001", "--device": "cpu"},
    "model": {"-n": "16", "-m": "4", "-w": "4", "-l": "2", "-p": "4"},
}
VALUES = {
    "negative": "-1",
    "nothing": "0",
    "huge": "1" + 23 * "0",
    "more than 32 bits": "4294967296",
    "not a number": "nan",
    "infinite": "inf",
    "empty": "",
    "blank": " ",
    "long": "x" * 100_000,
    "many digits": "9" * 5_000,
    "control characters": "p\x1b]0;owned\x07\t\r\n\x9b2J\u202e",
    "not Unicode": "p\udcff",
    "markup": "[red]%s{}",
}


def parameters(kind):
    return [
        pytest.param(command, parameter, id=f"{name} {parameter.opts[-1]}")
        for name, command in group.commands.items()
        for parameter in command.params
        if isinstance(parameter, kind)
    ]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)


def usual(command, but):
    """A small, right command line without the parameter that is looked at."""
    words = []
    for parameter in command.params:
        if parameter is but:
            continue
        if isinstance(parameter, click.Argument):
            words.append(ARGUMENTS.get(parameter.name, "genome.fa"))
        elif parameter.required:
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


@pytest.mark.parametrize("command, parameter", parameters((click.Option, click.Argument)))
def test_no_value_is_met_by_a_traceback(command, parameter):
    for kind, value in VALUES.items():
        result = here(command.name, *usual(command, parameter), *given(parameter, value))
        said = result.err.decode()
        assert result.status in (0, 1, 2), (kind, said)
        assert "Traceback" not in said and "defect" not in said, (kind, said)
        assert "".join({c for c in said if not c.isprintable()} or "\n") == "\n", (kind, said)
        assert len(said) < 2_000, kind


@pytest.mark.parametrize("command, parameter", parameters(click.Option))
def test_numbers_beyond_what_is_computed_are_wrong_usage(command, parameter):
    kinds = ()
    if isinstance(parameter.type, click.types.IntParamType):
        kinds = ("huge", "more than 32 bits", "not a number", "infinite", "many digits")
    elif isinstance(parameter.type, click.types.FloatParamType):
        kinds = ("not a number", "infinite", "many digits")
    for kind in kinds:
        result = here(command.name, *usual(command, parameter), *given(parameter, VALUES[kind]))
        assert result.status == 2, (kind, result.err)


def valid(parameter):
    if isinstance(parameter.type, click.Choice):
        return parameter.type.choices[0]
    if parameter.opts[-1] == "--device":
        return "cpu"
    if parameter.opts[-1] == "--product":
        return "50-500"
    if isinstance(parameter.type, click.FloatRange):
        return "0.5"
    return "1000"


@pytest.mark.parametrize("command, parameter", parameters(click.Option))
def test_an_option_that_holds_one_value_is_given_once(command, parameter):
    if parameter.is_flag or parameter.multiple:
        return
    once = given(parameter, valid(parameter))
    result = here(command.name, *usual(command, parameter), *once, *once)
    assert result.status == 2
    assert f"{parameter.opts[-1]} is given 2 times" in result.err.decode()


@pytest.mark.parametrize("name", group.commands)
def test_help_shows_no_limit_where_there_is_none(name):
    assert "None" not in here(name, "--help").out.decode()


def test_all_commands_know_of_options_given_twice():
    assert all(isinstance(command, Command) for command in group.commands.values())


def test_the_last_of_two_values_does_not_win():
    search = ("hamming", "genome.fa", "-p", "ACGTT", "-p", "TTGAC")
    assert here(*search, "-k", 1).status == 0
    for twice in (("-k", 1, "-k", 3), ("-k1", "-k1"), ("-k", 1, "--strand=+", "--strand", "-")):
        assert here(*search, *twice).status == 2
    for name in ("multi", "edit"):
        panel = (name, "genome.fa", "-p", "ACGTT", "-k", 1)
        both = {here(*panel, "--pam", pam).out for pam in ("NAG,NGG", "NGG,NAG")}
        assert {here(*panel, "--pam", "NAG", "--pam", "NGG").out} == both
        assert here(*panel, "--pam-side", "3p", "--pam-side", "5p").status == 2


def test_help_comes_before_what_is_given_twice():
    assert here("hamming", "-k", 1, "-k", 2, "--help").status == 0


def test_a_setting_that_numba_refuses_is_named():
    environment = os.environ | {"NUMBA_NUM_THREADS": "0"}
    done = kmatch_process("hamming", "genome.fa", "patterns.txt", "-k", "1", env=environment)
    assert done.status == 1 and b"error: NUMBA_NUM_THREADS is 0; set it to 1" in done.err


def test_nothing_advises_a_package_of_another_project():
    """What is named kmatch on PyPI is none of ours."""
    root = Path(__file__).parents[1]
    advice = re.compile(r"pip install [^\n`#&]*?['\" ]?kmatch\b")
    texts = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("packaging/**/*")]
    for folder, suffixes in (("kmatch", ("*.py",)), ("examples", ("*.py", "*.md", "*.ipynb"))):
        texts += [path for suffix in suffixes for path in (root / folder).rglob(suffix)]
    read = {path: path.read_text() for path in texts if path.is_file()}
    assert len(read) > 50
    assert [str(path) for path, text in read.items() if advice.search(text)] == []
