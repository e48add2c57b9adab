"""The table of options that commands share, their types, and the formats of tables."""

import math
import os
import re
from itertools import chain
from typing import Any

import click

import kmatch.published.registry  # noqa: F401  offers its algorithms to searches
from kmatch.arguments import APART, GAP_READINGS, PAM_SIDES, STRANDS, checked_count, checked_share
from kmatch.cli.command import OUTPUT, RUNNING, WHERE, Argument, Given, Option, grouped
from kmatch.errors import InputError
from kmatch.results.output import COMPRESSED, is_special
from kmatch.search.algorithms import ENGINE, names

TABLES = ("bed", "tsv", "csv")
FORMATS = (*TABLES, "sam", "gff3", "view")
_SUFFIXES = {"": None, ".bed": "bed", ".tsv": "tsv", ".csv": "csv", ".txt": None}
_OF_HITS = {".sam": "sam", ".gff3": "gff3", ".gff": "gff3"}
_DIGITS = re.compile(r"[+-]?\d{1,99}", re.ASCII)  # int() takes 1_0 too
_DEVICES = ("auto", "cpu", "cuda")  # that shells complete, of which some part words at colons


class Count(click.types.IntParamType):
    """An integer that counts letters, differences or threads, from `least` on."""

    name = "whole number"
    metavar = "N"

    def __init__(self, least: int = 0) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and _DIGITS.fullmatch(value):
            value = int(value)
        return checked_count("it", value, self.least)


class Distance(Count):
    """A count of differences, or a share of a pattern's length such as `10%`, as text."""

    metavar = "N|N%"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not _DIGITS.fullmatch(value):
            checked_share("it", value)
            return value
        return super().convert(value, param, ctx)


class Number(click.types.FloatParamType):
    """A finite number, from `least` to `most`."""

    metavar = "X"

    def __init__(self, least: float = -math.inf, most: float = math.inf) -> None:
        self.least = least
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number: float = super().convert(value, param, ctx)
        if not (math.isfinite(number) and self.least <= number <= self.most):
            self.fail(f"{value} is not a number from {self.least:g} to {self.most:g}.", param, ctx)
        return number


# or more
NONE = Count()
ONE = Count(1)


def sizes(context: click.Context, option: click.Parameter, value: str) -> tuple[int, int]:
    """The callback of an option that holds two counts, the least and the most: MIN-MAX."""
    found = re.fullmatch(r"(\d{1,9})-(\d{1,9})", value, re.ASCII)
    if not found or int(found[1]) > int(found[2]):
        raise InputError(f"{value!r} is not MIN-MAX, as in 300-500")
    return int(found[1]), int(found[2])


def _known_device(context: click.Context, option: click.Parameter, device: str) -> str:
    from kmatch.engine.devices import DEVICE, KNOWN

    if not DEVICE.fullmatch(device):
        raise InputError(f"{device!r} is not {KNOWN}")
    return device


def _circular(context: click.Context, option: click.Parameter, given: str | None) -> Any:
    """Which records are circular, as `Genomes.with_circular` takes it."""
    if given and os.path.exists(given):
        raise InputError(
            f"{given} is a file; give names of records, or the files first and --circular last"
        )
    return given.split(",") if given else given is not None


READ = "FASTA, FASTQ, 2bit or GenBank, compressed or not, or - for standard input."
GENOME = Argument(
    "genome",
    "FASTA, FASTQ, 2bit or GenBank, compressed or not, a genome packed by kmatch pack, @LIST for "
    "the genomes that the file LIST names, one a line, or - for standard input.",
)


def regions(what: str) -> Option:
    """The option --regions; what: the name of what lies inside."""
    text = f"Find only the {what} that lie inside a region of BED."
    return Option("--regions", "BED", "everywhere", text, group=WHERE)


GAPS = Option(
    "--gaps",
    GAP_READINGS,
    "an error",
    "What - and . are in the sequences of FASTA and GenBank: left out, or unknown letters.",
    group=WHERE,
)
PATTERNS = (
    GENOME,
    Argument(
        "patterns",
        "FASTA; text with one pattern a line, SEQUENCE, or NAME, a tab and SEQUENCE; BED with the "
        "sequence in column 7; by --column a table with a header line; or - for standard input.",
        required=False,
    ),
    Option(
        "-p --pattern sequences",
        "SEQ",
        "PATTERNS",
        "A pattern, in place of PATTERNS; can be repeated.",
        multiple=True,
    ),
    Option(
        "--column",
        "NAME",
        "no header line",
        "PATTERNS is CSV or TSV with a header line: the column of the sequences.",
    ),
    regions("hits"),
    GAPS,
)


def distance(text: str) -> Option:
    """The option -k of the searches for patterns."""
    return Option("-k", Distance(), None, text, required=True)


MISMATCHES = distance("Mismatches allowed: N, or N% of a pattern.")
EXACT = (
    Option("--exact-5p", NONE, None, "The first N letters must match.", default=0),
    Option("--exact-3p", NONE, None, "The last N letters must match.", default=0),
)
UNKNOWN = Option(
    "--max-unknown",
    NONE,
    "unknown letters match nothing",
    "A hit may have N letters that are no A, C, G or T, which match what they may stand for.",
)
BOUNDS = tuple(
    Option(f"--max-{kind}", NONE, "k", f"At most N {what} among the k differences.")
    for kind, what in (
        ("mismatches", "mismatches"),
        ("insertions", "pattern letters that are skipped"),
        ("deletions", "text letters that are skipped"),
    )
)
PAMS = (
    Option(
        "--pam",
        "SEQ",
        "none",
        "What must stand, without a difference, beside a pattern; NGG,NAG, or the option repeated, "
        "for one of several.",
        multiple=True,
        callback=lambda context, option, pams: pams or None,
    ),
    Option(
        "--pam-side",
        PAM_SIDES,
        None,
        "The PAM follows the pattern (3p: NGG) or comes before it (5p: TTTV).",
    ),
)
OLIGOS = (
    "A pair a line, NAME, FORWARD, REVERSE and PROBE if there is one, or as a header line says, "
    "parted by tabs, commas or semicolons; or FASTA, NAME and SEQUENCE alone, or BED with the "
    "sequence in column 7, where names end in _F and _R, _1 and _2 or _LEFT and _RIGHT, those of "
    "probes in _P or _PROBE, and numbers or _alt1 behind that tell alternates, all of which are "
    "joined."
)
PRODUCT = Option(
    "--product",
    "MIN-MAX",
    None,
    "Letters of a product, primers included.",
    default="50-5000",
    callback=sizes,
)
EDIT = Option("--edit", bool, None, "Primers bind with insertions and deletions too.")
EACH = Option(
    "--each",
    APART,
    None,
    "What is asked apart: each file, or each record of it.",
    group=WHERE,
)
SCORE = Option(
    "--score",
    ("cfd", "mit"),
    "none",
    "Add the column of a score of Cas9's sites, and to --summary the specificity; can be repeated.",
    multiple=True,
    group=OUTPUT,
)


def _sample_names(context: click.Context, option: click.Parameter, given: str) -> Any:
    """Names of samples, or those that a file lists, one a line."""
    if given and os.path.isfile(given):
        from kmatch.sequences.files import read_names

        return read_names(given, "samples")
    return given.split(",") if given else None


VARIANTS = grouped(
    WHERE,
    Option(
        "--variants vcf",
        "VCF",
        "none",
        "Also find what haplotypes of these variants make and GENOME lacks; adds columns variants, "
        "af, samples and reference_distance.",
    ),
    Option(
        "--samples",
        "NAME,...|FILE",
        "all",
        "Only the genotypes of these samples.",
        callback=_sample_names,
    ),
    Option(
        "--min-af",
        Number(0, 1),
        None,
        "Only alleles of this frequency, 0 to 1, or more.",
        default=0.0,
    ),
    Option(
        "--max-haplotypes",
        ONE,
        None,
        "Combinations of alleles without phase around one; beyond it, pairs alone.",
        default=1024,
    ),
    Option("--dense-groups", "FILE", "none", "List the alleles that have more combinations."),
)


def algorithm(*commands: str) -> Option:
    """The option --algorithm with the names that commands have."""
    known = tuple(dict.fromkeys((ENGINE, *chain(*map(names, commands)))))
    text = "Search by a published algorithm, which gives the same hits: "
    text += f"{', '.join(known[1:])}."
    return Option("--algorithm", known, None, text, metavar="NAME", group=RUNNING)


FILE, FORM, FORM_OF_HITS, COLUMNS, ANNOTATE, JSON, *COUNTS = grouped(
    OUTPUT,
    Option(
        "-o --output",
        "FILE",
        "standard output",
        "Write to FILE, whole or not at all; .gz and .zst compress.",
    ),
    *(
        Option(
            "--format form",
            formats,
            "what FILE's suffix says, otherwise bed",
            "Output format.",
        )
        for formats in (TABLES, FORMATS)
    ),
    Option(
        "--columns",
        "LIST",
        "those of the table",
        "The columns of TSV or CSV and their order, parted by commas; a wrong name lists them all.",
    ),
    Option(
        "--annotate",
        "FILE",
        "none",
        "Add columns gene and region, by features of GFF3, GTF, GenBank or BED; can be repeated.",
        multiple=True,
        reads=True,
    ),
    Option("--json", "FILE", "none", "Also write what was searched and found as JSON."),
    Option("--limit", ONE, "all", "Write only the N closest hits of a pattern."),
    Option("--summary", "FILE", "none", "Also write how many hits each pattern has by distance."),
    Option("--summary-only", bool, None, "Write that table, to -o if given, in place of the hits."),
)
STRAND, CIRCULAR = grouped(
    WHERE,
    Option("--strand", STRANDS, None, "+ finds the pattern as written, - its reverse complement."),
    Option(
        "--circular",
        "[NAME,...]",
        "linear",
        "Records are circles, all or those named; hits run over their origin.",
        is_flag=False,
        flag_value="",
        callback=_circular,
    ),
)
RUN = DEVICE, THREADS, SCHEDULER, QUIET, VERBOSE, DEBUG = grouped(
    RUNNING,
    Option(
        "--device",
        "auto|cpu|cuda|cuda:N,…|cuda:all",
        None,
        "Where to search; auto is where it will be done first.",
        default="auto",
        callback=_known_device,
        shell_complete=lambda context, option, begun: [
            device for device in _DEVICES if device.startswith(begun)
        ],
    ),
    Option("-t --threads", ONE, "all cores", "CPU threads, at most one a core."),
    Option(
        "--scheduler",
        "ADDRESS|FILE",
        "none",
        "Search on the Dask cluster of this scheduler, each of its workers on --device.",
    ),
    Option("-q --quiet", bool, None, "No warnings, progress or summary."),
    Option("-v --verbose", bool, None, "Say what is done, on standard error."),
    # Commands do not take it: `kmatch.cli.main`, which shows errors, looks for it itself.
    Option("--debug", bool, None, "Show a traceback when something fails.", expose_value=False),
)
# Where the table of products, of primers or of hits goes, and how the search for them runs.
MORE = (COLUMNS, ANNOTATE, JSON)
TABLE = (FILE, FORM, *MORE, *RUN)
HITS = (FILE, FORM_OF_HITS, *MORE, *COUNTS, STRAND, CIRCULAR, *RUN)


def format_of(given: Given, of_hits: bool = False, default: str = "bed") -> str:
    """The format of a table: the one asked for, else by the file's suffix, else the default, or tsv
    where columns are asked for.

    of_hits: whether the formats of hits are known too. Raises UsageError for a file whose suffix
    names no format, and for columns that a format has not.
    """
    vcf = of_hits and given.vcf
    asked = (name for name in ("columns", "annotate", "score") if getattr(given, name))
    option = next(asked, None)
    default = "tsv" if option or vcf else default
    form = given.form or format_by_name(given.output, of_hits) or default
    if option and form not in ("tsv", "csv") and not getattr(given, "summary_only", False):
        raise click.UsageError(
            f"--{option} is for columns of TSV and CSV, and this is {form}; give --format tsv"
        )
    if vcf and form == "sam":
        raise click.UsageError("SAM aligns to GENOME, not to its --variants; give --format tsv")
    return form


def format_by_name(output: str | None, of_hits: bool = False, option: str = "-o") -> str | None:
    """The format that a file's suffix names."""
    if output is None or output == "-" or is_special(output):
        return None
    name = os.path.basename(output).lower()
    for ending in COMPRESSED:
        name = name.removesuffix(f".{ending}")
    suffix = os.path.splitext(name)[1]
    suffixes = _SUFFIXES | (_OF_HITS if of_hits else {})
    if suffix not in suffixes:
        known = " and ".join(", ".join(filter(None, suffixes)).rsplit(", ", 1))
        raise click.UsageError(
            f"{option} {output}: '{suffix}' names no format; {known} do, and these with .gz or .zst"
            + "; or give --format" * (option == "-o")
        )
    return suffixes[suffix]
