"""What help shows: an example first, then what a command reads, and its options in groups."""

import re
from collections.abc import Iterable, Sequence

import click

SEARCHES = ("hamming", "multi", "edit", "best", "pcr", "primer")
# The commands by what they are for, in the order in which `kmatch --help` lists them.
COMMANDS = {
    "Searches": SEARCHES,
    "Files": ("pack", "plot"),
    "Studies": ("bench", "model", "info"),
    "Shell": ("completion",),
}
_PATTERNS = (
    "hamming counts mismatches; multi does so for a panel of one length, beside a PAM too; edit "
    "counts insertions and deletions as well; best finds the closest and takes no k."
)
# How the searches differ, for the help of each.
DIFFERENCES = {
    **dict.fromkeys(("hamming", "multi", "edit", "best"), _PATTERNS),
    "pcr": "pcr joins sites to products: those that hamming finds, or with --edit those of edit.",
    "primer": "primer looks for what a background lacks; hamming, edit and pcr find where known "
    "primers bind.",
}

_GENOME = (
    "FASTA, FASTQ, 2bit or GenBank, compressed or not, a genome packed by kmatch pack, @LIST for "
    "the genomes that the file LIST names, one a line, or - for standard input."
)
_READ = "FASTA, FASTQ, 2bit or GenBank, compressed or not, or - for standard input."
# What the arguments of commands are.
ARGUMENTS = {
    "genome": _GENOME,
    "patterns": (
        "FASTA; text with one pattern a line, SEQUENCE, or NAME, a tab and SEQUENCE; BED with the "
        "sequence in column 7; by --column a table with a header line; or - for standard input."
    ),
    "primers": (
        "A pair a line, NAME, a tab, FORWARD, a tab and REVERSE; or FASTA, or BED with the "
        "sequence in column 7, where the names of a pair end in _F and _R, /1 and /2 or _LEFT "
        "and _RIGHT, with _alt1 and the like behind it for alternates, all of which are joined."
    ),
    "target": f"What primers are to bind: {_READ}",
    "background": "What they are not to bind, in the same formats.",
    "pack genome": _READ,
    "table": "TSV or BED of kmatch, compressed or not, or - for standard input.",
    "commands": "hamming, multi, edit, best, primer, or all, which is the default.",
    "shell": "bash, zsh or fish.",
}

# What the options of a command are grouped by. An option that is not listed is in the first group.
_WHERE = ("--regions", "--strand", "--circular", "--both-strands", "--background-strand")
_OUTPUT = (
    *("--output", "--format", "--limit", "--summary", "--summary-only", "--sequence"),
    *("primer --regions", "--json", "bench --plot"),
)
_RUNNING = (
    *("--algorithm", "--device", "--threads", "--scheduler", "--seconds"),
    *("--quiet", "--verbose", "--debug", "--help", "--version"),
)
_FIRST = {
    "bench": "What to measure",
    "model": "What to simulate",
    "info": "What to show",
    "plot": "What to draw",
}


def write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    """Write examples under their heading."""
    if not examples:
        return
    with formatter.section("Example" if len(examples) == 1 else "Examples"):
        for example in examples:
            formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


def write_difference(formatter: click.HelpFormatter, command: str) -> None:
    """Write how a search differs from the others."""
    if text := DIFFERENCES.get(command):
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)


def write_arguments(
    context: click.Context, formatter: click.HelpFormatter, arguments: Iterable[click.Parameter]
) -> None:
    """Write what each argument is."""
    rows = [
        (str(argument.name).upper(), text)
        for argument in arguments
        if (text := _argument(context, str(argument.name)))
    ]
    if rows:
        with formatter.section(
            "Reads" if context.info_name in (*SEARCHES, *COMMANDS["Files"]) else "Takes"
        ):
            formatter.write_dl(rows)


def _argument(context: click.Context, name: str) -> str | None:
    return ARGUMENTS.get(f"{context.info_name} {name}", ARGUMENTS.get(name))


def write_options(
    context: click.Context, formatter: click.HelpFormatter, options: Iterable[click.Parameter]
) -> None:
    """Write the options in their groups, each with its default."""
    command = str(context.info_name)
    groups: dict[str, list[tuple[str, str]]] = {
        title: [] for title in (_FIRST.get(command, "What to find"), "Where", "Output", "Running")
    }
    for option in options:
        if record := option.get_help_record(context):
            groups[group_of(command, option)].append(_plain(record))
    for title, rows in groups.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def group_of(command: str, option: click.Parameter) -> str:
    """The title of the group in which a command's help shows an option."""
    name = option.opts[-1]
    for key in (f"{command} {name}", name):
        for title, names in (("Where", _WHERE), ("Output", _OUTPUT), ("Running", _RUNNING)):
            if key in names:
                return title
    return _FIRST.get(command, "What to find")


def _plain(record: tuple[str, str]) -> tuple[str, str]:
    """A row of help without the least value of a count, or parentheses around a default."""
    option, text = record
    text = re.sub(r"; x>=[01]\]$|(?<=\[)x>=[01]; ", lambda it: "]" if it[0][0] == ";" else "", text)
    return option, re.sub(r"\[default: \((.*)\)(?=[;\]])", r"[default: \1", text)


def write_commands(formatter: click.HelpFormatter, group: click.Group) -> None:
    """Write the commands of a group by what they are for."""
    limit = formatter.width - 6 - max(map(len, group.commands))
    for title, names in COMMANDS.items():
        with formatter.section(title):
            formatter.write_dl(
                [(name, group.commands[name].get_short_help_str(limit)) for name in names]
            )
