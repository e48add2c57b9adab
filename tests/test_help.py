"""Help: an example first, options in groups with their defaults, commands by what they are for."""

import gzip
import re
import shlex

import click
import pytest
from support.commands import fasta, here, random_letters

from kmatch.cli.command import COMMANDS
from kmatch.cli.command import kmatch as group

GROUPS = ("Where", "Output", "Running")
GENOME = random_letters(3_000)
GUIDES = [GENOME[start : start + 20] for start in (40, 700)]
PAIR = (GENOME[100:120], "CAAAGACCAATCCTACCATGAG")
FILES = {
    "genome.fa.gz": gzip.compress(fasta([("chr1", GENOME)])),
    "virus.fa": fasta([("virus", random_letters(200, 2))]),
    "guides.txt": "".join(f"{guide}\n" for guide in GUIDES).encode(),
    "primers.fa": fasta([("one", GUIDES[0]), ("two", GUIDES[1])]),
    "pairs.tsv": "\t".join(("pair", *PAIR)).encode(),
}
EXAMPLES = dict.fromkeys(
    example
    for command in (group, *group.commands.values())
    for example in command.examples
    if example.startswith("kmatch") and command.name != "completion"  # which shells run
)
SLOW = ("kmatch bench", "kmatch info", "kmatch model", "kmatch plot")  # which other tests run


def help_of(*words):
    result = here(*words, "--help")
    assert (result.status, result.err) == (0, b"")
    return result.out.decode()


def sections(text):
    """The rows of help by their headings."""
    parts = re.split(r"^(\S[^\n]*):\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("words", [(), *((name,) for name in group.commands)])
def test_help_begins_with_an_example(words):
    usage, blank, heading, example, *_ = help_of(*words).splitlines()
    assert usage.startswith("Usage: kmatch ") and not blank
    assert heading in ("Example:", "Examples:")
    assert " ".join(("kmatch", *words)) in example


@pytest.mark.parametrize("words", [(), *((name,) for name in group.commands)])
def test_help_fits_80_columns(words):
    assert max(map(len, help_of(*words).splitlines())) <= 80


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_are_true(tmp_path, monkeypatch, example):
    monkeypatch.chdir(tmp_path)
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    _, name, *words = shlex.split(example)
    if example.startswith(SLOW):
        assert group.commands[name].make_context(name, words).params
        return
    if ".kmatch" in example:
        assert here("pack", "genome.fa.gz").status == 0
    result = here(name, *words)
    assert (result.status, result.err) == (0, b"")


@pytest.mark.parametrize("name", group.commands)
def test_options_are_in_groups(name):
    command = group.commands[name]
    text = sections(help_of(name))
    context = click.Context(command, info_name=name)
    for option in command.get_params(context):
        if isinstance(option, click.Option):
            found = [title for title, rows in text.items() if _row(option) in f"\n{rows}"]
            assert len(found) == 1, option.opts
    titles = [title for title in text if title in GROUPS]
    assert titles == sorted(titles, key=GROUPS.index) and list(text)[-1] == "Running"
    assert text["Running"].rstrip().endswith("Show this message and exit.")


def _row(option):
    """How the row of an option begins."""
    return f"\n  {', '.join(option.opts)} "


@pytest.mark.parametrize("name", group.commands)
def test_defaults_are_told(name):
    command = group.commands[name]
    context = click.Context(command, info_name=name, show_default=True)
    for option in command.params:
        if isinstance(option, click.Option) and not option.is_flag:
            _, text = option.get_help_record(context)
            assert option.required or "[default: " in text, option.opts
    assert "[default: (" not in help_of(name)


@pytest.mark.parametrize("name", group.commands)
def test_arguments_are_explained(name):
    rows = sections(help_of(name))
    for argument in group.commands[name].params:
        if isinstance(argument, click.Argument):
            assert f"  {argument.name.upper()} " in rows.get("Reads", rows.get("Takes"))


def test_commands_are_listed_by_what_they_are_for():
    text = sections(help_of())
    listed = [
        row.split()[0] for title in COMMANDS for row in text.get(title, "").splitlines() if row
    ]
    assert sorted(listed) == sorted(group.commands)
    assert [title for title in text if title in ("Searches", "Files", "Studies")] == [
        "Searches",
        "Files",
        "Studies",
    ]
