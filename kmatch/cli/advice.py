"""The usual mistakes, most of them habits from other tools, and what to type here."""

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
    "index build faidx": "kmatch needs no index; kmatch pack writes a genome that is read faster",
    "count counts summary": "hits by pattern and distance are a search's --summary FILE",
    "view show": "give a search --format view",
}
# Options, and what to use where the command has the option before it, if there is one.
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
# What other messages hold, and what to use, as for OPTIONS.
_EXTRA = r"extra arguments? \("
MESSAGES = (
    ("'-p' requires 2", "", "type -p FORWARD REVERSE"),
    ("'--gc'", "", "GC is two shares of 1: type --gc 0.4 0.6"),
    ("'--tm'", "", "type --tm 57 63"),
    ("'--product'", "", "type --product 50-5000"),
    ("'--threads'", "", "without -t all cores are used"),
    (r"'-k': '\d+[^\d.]+\d+'", "", "a search has one k, the largest: rows have their distance"),
    ("'-k': .*(whole number|x>=1)", "", "type -k 2"),
    ("'-k': ", "", "type -k 2, or as a share -k 10%"),
    (f"{_EXTRA}%", "", "write -k 10% without a blank"),
    (
        f"{_EXTRA}[ACGTURYSWKMBDHVN]{{4,}}[ )]",
        "--pattern",
        "patterns on the command line are -p SEQ, which can be repeated",
    ),
    (rf"{_EXTRA}\d+[ )]", "-k", "a number needs its option: differences are -k N, threads -t N"),
    (
        _EXTRA,
        "--circular",
        "type {usage}; several genomes are one @LIST, and names with blanks need quotes",
    ),
    (_EXTRA, "", "type {usage}; names with blanks need quotes"),
)
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
    context, message = error.ctx, error.format_message()
    if dashed := next((word for word in arguments if word and word[0] in _NO_HYPHEN), None):
        bare = dashed.lstrip(_NO_HYPHEN)
        hyphened = f"-{bare}" if len(bare) == 1 else f"--{bare}"
        return f"{dashed!r} begins with a dash, not with a hyphen; type {hyphened}"
    if context is None:  # of an option's number of values
        return next((text for pattern, _, text in MESSAGES if re.search(pattern, message)), None)
    commands = getattr(context.find_root().command, "commands", {})
    if isinstance(error, click.NoSuchOption) and context.parent:
        return _of_option(error.option_name, context, commands)
    if named := re.match("No such (?:command|option) '-*([^']*)'", message):
        name = named[1].lower()
        known = f"type kmatch {name}" if name in commands else _row(COMMANDS, name)
        first = "the command comes first: kmatch hamming GENOME PATTERNS -k N"
        return known or (first if isinstance(error, click.NoSuchOption) else None)
    if isinstance(error, click.MissingParameter):
        examples = getattr(context.command, "examples", ())
        return f"as in: {examples[0]}" if examples else None
    if isinstance(error, click.BadParameter) and error.param:
        option, value = error.param.opts[-1], (re.search("'([^']*)' is not", message) or "  ")[1]
        if right := _row(VALUES.get(option, {}), value.lower()):
            return f"type {option} {right}"
        if value.lower() in getattr(error.param.type, "choices", ()):
            return f"type {option} {value.lower()}"
        if option == "-k" and re.fullmatch(r"0?\.\d{1,9}", value):
            return f"a share has a percent sign: -k {100 * float(value):g}%"
    rows = [row[1:] for row in MESSAGES if re.search(row[0], message, re.IGNORECASE)]
    return _fitting(rows, context)


def _row(table: dict[str, str], word: str) -> str | None:
    """What a table, whose keys are words parted by blanks, has for a word."""
    return next((text for words, text in table.items() if word in words.split()), None)


def _fitting(rows: Iterable[tuple[str, str]], context: click.Context) -> str | None:
    """The first text whose option the command has."""
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
    known = _options(context.command)
    low = option if len(option) == 2 else option.lower()  # the case of a short one matters
    if low in known:
        return f"type {low}"
    rows = [row for words, each in OPTIONS.items() if low in words.split() for row in each]
    if found := _fitting(rows, context):
        return found
    having = [f"kmatch {name}" for name, command in commands.items() if low in _options(command)]
    if having:
        named = " and ".join(", ".join(having).rsplit(", ", 1))
        return f"{named} {'have' if having[1:] else 'has'} {low}"
    begun = [each for each in known if each.startswith(option)]
    return f"type {begun[0]}" if len(begun) == 1 else None
