"""The usual mistakes, most of them habits from other tools, and the correction of each."""

import re
from collections.abc import Iterable, Mapping

import click

# Names of commands, and what to use.
COMMANDS = {
    "search find locate grep agrep match scan query map align blast": (
        "kmatch hamming counts mismatches, kmatch edit insertions and deletions too, kmatch best "
        "finds the closest"
    ),
    "crispr offtarget off-target offtargets off-targets cas-offinder pam": (
        "kmatch multi --pam NGG counts mismatches, kmatch edit --pam NGG finds bulges too"
    ),
    "primers primer3 design amplicon ispcr in-silico-pcr products": (
        "kmatch primer finds where primers can lie, kmatch pcr what known primers make"
    ),
    "demultiplex barcode barcodes split trim": (
        "kmatch demux gives each read its barcode, kmatch filter keeps reads that hold a pattern"
    ),
    "index build faidx": "kmatch needs no index; kmatch pack writes a genome that is read faster",
}
# Options, and what to use where the command has the option before it, if there is one.
OPTIONS = {
    "--mismatches --mismatch --mm -m -e --errors --error-rate --max-errors --distance --identity": (
        "-k",
        "the differences allowed are -k N, or as a share -k 10%",
    ),
    "-k": ("--each", "it finds the closest at any distance; kmatch edit -k N finds all within N"),
    "--bulge --bulges --bulge-size --dna-bulge --rna-bulge --indels --gaps": (
        "",
        "kmatch edit finds bulges: of DNA --max-deletions N, of RNA --max-insertions N",
    ),
    "--rc --revcomp --reverse-complement --both --both-strands --forward": (
        "--strand",
        "both strands are searched unless --strand + or --strand - says which",
    ),
    "-j --jobs --cores --cpus": ("--threads", "threads are -t N"),
    "--gpu --cuda --cpu": ("--device", "devices are --device cuda and --device cpu"),
    "--out --outfile --force": ("--output", "-o FILE writes over a file that exists"),
    "--bed --tsv --sam --outfmt": ("--format", "formats are --format NAME; --help lists them"),
    "-f --file --query --fasta --input -i --genome": ("", "files need no option: {usage}"),
    "--sequence --seq --guide --motif": ("--pattern", "a pattern is -p SEQ"),
    "--all --best --top --max-hits": (
        "--limit",
        "every hit is written unless --limit N asks for the N closest of a pattern",
    ),
    "--count --counts -c": ("--summary-only", "hits by pattern and distance: --summary-only"),
}
# What extra arguments look like, and what to use, as for OPTIONS.
EXTRA = (
    (
        "[ACGTURYSWKMBDHVN]{4,}[ )]",
        "--pattern",
        "patterns on the command line are -p SEQ, which can be repeated",
    ),
    (r"\d+[ )]", "-k", "a number needs its option: differences are -k N, threads -t N"),
    (
        "",
        "--circular",
        "type {usage}; several genomes are one @LIST, and names with blanks need quotes",
    ),
    ("", "", "type {usage}; names with blanks need quotes"),
)
_NO_HYPHEN = "‐‑‒–—−"  # dashes that editors make of a hyphen


def advised(error: click.UsageError, arguments: Iterable[str]) -> str:
    """Return the fault in the arguments, with a correction where one is known."""
    found = _advice(error, arguments)
    if not found:
        return error.format_message()
    if hasattr(error, "possibilities"):  # that begin alike, and mean something else
        error.possibilities = None
    return f"{error.format_message().rstrip('.')}; {found}"


def _advice(error: click.UsageError, arguments: Iterable[str]) -> str | None:
    context = error.ctx
    message = error.format_message()
    if dashed := next((word for word in arguments if word and word[0] in _NO_HYPHEN), None):
        bare = dashed.lstrip(_NO_HYPHEN)
        hyphened = f"-{bare}" if len(bare) == 1 else f"--{bare}"
        return f"{dashed!r} begins with a dash, not with a hyphen; type {hyphened}"
    if context is None:  # of an option's number of values
        return None
    commands = getattr(context.find_root().command, "commands", {})
    if isinstance(error, click.NoSuchOption):
        if context.parent is None:
            return "the command comes first: kmatch hamming GENOME PATTERNS -k N"
        return _of_option(error.option_name, context, commands)
    if named := re.match("No such command '([^']*)'", message):
        return next((text for words, text in COMMANDS.items() if named[1] in words.split()), None)
    if isinstance(error, click.MissingParameter):
        examples = getattr(context.command, "examples", ())
        return f"as in: {examples[0]}" if examples else None
    extra = re.search(r"extra arguments? \((.*)", message)
    return extra and _fitting([row[1:] for row in EXTRA if re.match(row[0], extra[1])], context)


def _fitting(rows: Iterable[tuple[str, str]], context: click.Context) -> str | None:
    """Return the first text whose option the command has."""
    known = _options(context.command)
    text = next((text for needed, text in rows if not needed or needed in known), None)
    if text is None or "{usage}" not in text:
        return text
    pieces = context.command.collect_usage_pieces(context)
    usage = (context.command_path, *(each for each in pieces if "OPTIONS" not in each))
    return text.format(usage=" ".join(usage))


def _options(command: click.Command) -> list[str]:
    return [name for each in command.params if isinstance(each, click.Option) for name in each.opts]


def _of_option(
    option: str, context: click.Context, commands: Mapping[str, click.Command]
) -> str | None:
    rows = [row for words, row in OPTIONS.items() if option in words.split()]
    having = [f"kmatch {name}" for name, command in commands.items() if option in _options(command)]
    named = " and ".join(", ".join(having).rsplit(", ", 1))
    others = f"{named} {'have' if having[1:] else 'has'} {option}" if having else None
    return _fitting(rows, context) or others
