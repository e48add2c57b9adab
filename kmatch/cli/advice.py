"""The usual mistakes, most of them habits from other tools, and what to type here."""

import re
from collections.abc import Iterable

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
    "index build faidx": "kmatch needs no index; kmatch pack writes a genome that is read faster",
    "count counts summary": "hits by pattern and distance are a search's --summary FILE",
    "view show": "give a search --format view",
}
# Options, and what to use where the command has the option before it, or any command where it is
# empty.
_FILES = ("", "files need no option: {usage}")
OPTIONS = {
    "--mismatches --mismatch --max-mismatch --mm -m --substitutions --max-mismatches": [
        ("--max-mismatches", "differences are -k N, the mismatches among them --max-mismatches N"),
        ("-k", "the mismatches allowed are -k N"),
    ],
    "-e --errors --error-rate --max-errors --distance --edit-distance --differences -n": [
        ("-k", "the differences allowed are -k N, or as a share -k 10%"),
    ],
    "-k": [("", "it finds the closest at any distance; kmatch edit -k N finds all within N")],
    "--identity --similarity": [("-k", "-k 10% allows what an identity of 90% does")],
    "--bulge --bulges --bulge-size --dna-bulge --rna-bulge --indels --gaps --no-indels": [
        ("", "kmatch edit finds bulges: of DNA --max-deletions N, of RNA --max-insertions N"),
    ],
    "--rc --revcomp --reverse-complement --no-rc --both --both-strands --forward -s -r": [
        ("--strand", "both strands are searched unless --strand + or --strand - says which"),
        ("--product", "products are found both ways round"),
    ],
    "-j --jobs --cores --cpus -T --parallel": [("--threads", "threads are -t N")],
    "--gpu --cuda --cpu": [("--device", "devices are --device cuda and --device cpu")],
    "--out --outfile --force --overwrite": [("--output", "-o FILE writes over a file that exists")],
    "--bed --tsv --sam --gff3 --view --csv --json --outfmt": [
        ("--limit", "formats are --format bed, tsv, csv, sam, gff3 or view"),
        ("--format", "formats are --format bed, tsv or csv"),
    ],
    "-f --file --pattern-file --patterns --query --fasta --input -i -g --genome --db --target": [
        _FILES
    ],
    "--sequence --seq --guide --motif -a": [("--pattern", "a pattern is -p SEQ"), _FILES],
    "--all --overlapping --best --top --first --max-hits -M": [
        ("--limit", "every hit is written unless --limit N asks for the N closest of a pattern"),
    ],
    "--region --bed-file": [("--regions", "regions are --regions BED")],
    "--seed --anchor --3p": [
        ("--exact-3p", "--exact-3p N lets the last N letters match alone, --exact-5p N the first"),
    ],
    "--count --counts -c": [("--summary-only", "hits by pattern and distance: --summary-only")],
}
# Values of options, and what to use.
VALUES = {
    "--strand": {"plus forward fwd f sense 1": "+", "minus reverse rev r antisense -1": "-"},
    "--device": {"gpu nvidia 0": "cuda"},
    "--format": {"table text txt": "tsv", "bam": "sam", "gff gtf": "gff3", "pretty": "view"},
    "--pam-side": {"right 3 end after": "3p", "left 5 start before": "5p"},
}
# Options whose values are often wrong, and what is right.
_RIGHT = {
    "-k": "type -k 2, or as a share -k 10%",
    "--gc": "GC is two shares of 1: type --gc 0.4 0.6",
    "--tm": "type --tm 57 63",
    "--pair": "type -p FORWARD REVERSE",
    "--product": "type --product 50-5000",
    "--threads": "without -t all cores are used",
}
_NO_HYPHEN = "‐‑‒–—−"  # dashes that editors make of a hyphen


def advised(error: click.UsageError, arguments: Iterable[str]) -> str:
    """What was wrong with the arguments, and what to type instead where that is known."""
    found = _advice(error, arguments)
    if not found:
        return error.format_message()
    if hasattr(error, "possibilities"):  # that begin alike, and mean something else
        error.possibilities = None
    return f"{error.format_message().rstrip('.')}; {found}"


def _advice(error: click.UsageError, arguments: Iterable[str]) -> str | None:
    context = error.ctx
    if dashed := next((word for word in arguments if word and word[0] in _NO_HYPHEN), None):
        bare = dashed.lstrip(_NO_HYPHEN)
        hyphened = f"-{bare}" if len(bare) == 1 else f"--{bare}"
        return f"{dashed!r} begins with a dash, not with a hyphen; type {hyphened}"
    if isinstance(error, click.BadOptionUsage) and "requires 2" in error.message:
        return _RIGHT.get("--pair" if error.option_name == "-p" else str(error.option_name))
    if context is None:
        return None
    if isinstance(error, click.NoSuchOption):
        return _of_option(error.option_name, context)
    if isinstance(error, click.MissingParameter):
        examples = getattr(context.command, "examples", ())
        return f"as in: {examples[0]}" if examples else None
    if isinstance(error, click.BadParameter) and error.param is not None:
        return _of_value(error.param, error.message)
    if found := re.match(r"No such command '(.*)'", error.message):
        name = found[1].lower()
        return f"type kmatch {name}" if name in _commands(context) else _row(COMMANDS, name)
    if found := re.match(r"Got unexpected extra arguments? \(([^ )]*)", error.message):
        return _of_extra(found[1], context)
    return None


def _row(table: dict[str, str], word: str) -> str | None:
    """What a table, whose keys are words parted by blanks, has for a word."""
    return next((text for words, text in table.items() if word in words.split()), None)


def _commands(context: click.Context) -> dict[str, click.Command]:
    group = context.find_root().command
    return dict(group.commands) if isinstance(group, click.Group) else {}


def _options(command: click.Command) -> list[str]:
    return [name for each in command.params if isinstance(each, click.Option) for name in each.opts]


def _usage(context: click.Context) -> str:
    """How a command is used, without its options."""
    pieces = context.command.collect_usage_pieces(context)
    return " ".join((context.command_path, *(each for each in pieces if "OPTIONS" not in each)))


def _of_option(option: str, context: click.Context) -> str | None:
    commands = _commands(context)
    if context.parent is None:
        name = option.lstrip("-")
        known = f"type kmatch {name}" if name in commands else _row(COMMANDS, name)
        return known or "the command comes first: kmatch hamming GENOME PATTERNS -k N"
    known_here = _options(context.command)
    low = option if len(option) == 2 else option.lower()  # the case of a short one matters
    if low in known_here:
        return f"type {low}"
    for words, rows in OPTIONS.items():
        for needed, text in rows if low in words.split() else ():
            if not needed or needed in known_here:
                return text.format(usage=_usage(context))
    having = [name for name, command in commands.items() if low in _options(command)]
    if not having:
        begun = [each for each in known_here if each.startswith(option)]
        return f"type {begun[0]}" if len(begun) == 1 else None
    named = " and ".join(", ".join(f"kmatch {name}" for name in having).rsplit(", ", 1))
    return f"{named} {'have' if having[1:] else 'has'} {low}"


def _of_value(parameter: click.Parameter, message: str) -> str | None:
    option = parameter.opts[-1]
    value = (re.search(r"'(.*?)'", message) or ("", ""))[1].lower()
    choices = getattr(parameter.type, "choices", ())
    right = value if value in choices else _row(VALUES.get(option, {}), value)
    if right:
        return f"type {option} {right}"
    if option == "-k" and re.fullmatch(r"0?\.\d{1,9}", value):
        return f"a share has a percent sign: -k {100 * float(value):g}%"
    if option == "-k" and re.fullmatch(r"\d+\D+\d+", value):
        return "a search has one k, the largest: rows have their distance"
    if option == "-k" and parameter.type.name == "whole number":
        return "type -k 2"
    return _RIGHT.get(option)


def _of_extra(word: str, context: click.Context) -> str:
    known = _options(context.command)
    if word == "%":
        return "write -k 10% without a blank"
    if "--pattern" in known and re.fullmatch(r"[ACGTURYSWKMBDHVN]{4,}", word, re.IGNORECASE):
        return "patterns on the command line are -p SEQ, which can be repeated"
    if "-k" in known and word.isdecimal():
        return "a number needs its option: differences are -k N, threads -t N"
    several = "several genomes are one @LIST, and " if "--circular" in known else ""
    return f"type {_usage(context)}; {several}names with blanks need quotes"
