"""The table of options that commands share, their types, and the formats of tables."""

import math
import os
import re
from itertools import chain
from typing import Any

import click
from click.core import ParameterSource

import kmatch.published.registry  # noqa: F401  offers its algorithms to searches
from kmatch.arguments import APART, GAP_READINGS, PAM_SIDES, STRANDS, checked_count, checked_share
from kmatch.cli.command import OUTPUT, RUNNING, WHERE, Argument, Given, Option, grouped
from kmatch.errors import InputError
from kmatch.nucleases import NUCLEASES
from kmatch.results.output import COMPRESSED, is_special
from kmatch.search.algorithms import ENGINE, names

TABLES = ("bed", "tsv", "csv")
FORMATS = (*TABLES, "sam", "gff3", "view")
_SUFFIXES = {"": None, ".bed": "bed", ".tsv": "tsv", ".csv": "csv", ".txt": None}
_OF_HITS = {".sam": "sam", ".gff3": "gff3", ".gff": "gff3"}
_DIGITS = re.compile(r"[+-]?\d{1,99}", re.ASCII)  # int() takes 1_0 too
_ALL = "*"  # what --circular holds without names
_DEVICES = ("auto", "cpu", "cuda")  # that shells complete, of which some part words at colons


class Count(click.types.IntParamType):
    """An integer that counts letters, differences or threads, from `least` on, to `most` if that is
    given."""

    name = "whole number"
    metavar = "N"

    def __init__(self, least: int = 0, most: int | None = None) -> None:
        self.least = least
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and _DIGITS.fullmatch(value):
            value = int(value)
        count = checked_count("it", value, self.least)
        if self.most is not None and count > self.most:
            self.fail(f"it is {count}; it must be {self.most:,} or less", param, ctx)
        return count


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
ZERO = Count()
ONE = Count(1)


def sizes(context: click.Context, option: click.Parameter, value: str) -> tuple[int, int]:
    """Return the least and the most count out of MIN-MAX."""
    found = re.fullmatch(r"(\d{1,9})-(\d{1,9})", value, re.ASCII)
    if not found or int(found[1]) > int(found[2]):
        raise InputError(f"{value!r} is not MIN-MAX, as in 300-500")
    return int(found[1]), int(found[2])


def _known_device(context: click.Context, option: click.Parameter, device: str) -> str:
    from kmatch.engine.devices import DEVICE, KNOWN

    if not DEVICE.fullmatch(device):
        raise InputError(f"{device!r} is not {KNOWN}")
    return device


def _parts_of(given: str) -> list[str]:
    """Return what stands between commas, without blanks around it."""
    return [part.strip() for part in given.split(",")]


def _circular(context: click.Context, option: click.Parameter, given: str | None) -> Any:
    """Return which records are circular, as `Genomes.with_circular` takes it."""
    if given and os.path.exists(given):
        raise InputError(
            f"{given} is a file; give names of records, or the files first and --circular last"
        )
    if given in (None, _ALL):
        return given is not None
    return _parts_of(given)


def _globs(context: click.Context, option: click.Parameter, given: str | None) -> Any:
    """Return the globs that are parted by commas."""
    if given is None:
        return None
    globs = _parts_of(given)
    if not all(globs):
        raise InputError(f"{given!r} has an empty part; give globs of names, as in chr[0-9]*,chrX")
    return globs


READ = "A file of FASTA, FASTQ, 2bit or GenBank, compressed or not; - is standard input."
PACKED = (
    "A file of FASTA, FASTQ, 2bit or GenBank, compressed or not, or packed by kmatch pack; - is "
    "standard input."
)
GENOME = Argument(
    "genome",
    f"{PACKED} @LIST is a file that names one genome a line; each is searched.",
    takes_list=True,
)


def regions(what: str) -> Option:
    """Return the option --regions; what: the word for the things that lie inside."""
    text = f"Find only the {what} that lie inside a region of this BED file."
    return Option("--regions", "BED", "everywhere", text, group=WHERE)


GAPS = Option(
    "--gaps",
    GAP_READINGS,
    "an error",
    "Leave gaps, - and ., out of FASTA and GenBank (drop), or read them as unknown letters.",
    group=WHERE,
)
NAME_COLUMN = Option(
    "--name-column",
    "NAME",
    "name, id or the first",
    "Take names from this column, beside --column.",
)
PATTERNS = (
    GENOME,
    Argument(
        "patterns",
        "A file of FASTA, of lines SEQUENCE or NAME, a tab and SEQUENCE, of BED with sequences in "
        "column 7, or with --column a table with a header line; - is standard input.",
        required=False,
    ),
    Option(
        "-p --pattern sequences",
        "SEQ",
        "PATTERNS",
        "Search for this pattern, without PATTERNS. Can be repeated.",
        multiple=True,
    ),
    Option(
        "--column",
        "NAME",
        "no header line",
        "Read PATTERNS as CSV or TSV with a header line; NAME is the column of sequences.",
    ),
    NAME_COLUMN,
    regions("hits"),
    GAPS,
)


def distance(text: str) -> Option:
    """Return the option -k of a search for patterns."""
    return Option("-k", Distance(), None, text, required=True)


MISMATCHES = distance("Allow N mismatches, or N percent of a pattern's letters.")
EXACT = (
    Option("--exact-5p", ZERO, None, "Match a pattern's first N letters exactly.", default=0),
    Option("--exact-3p", ZERO, None, "Match a pattern's last N letters exactly.", default=0),
)
UNKNOWN = Option(
    "--max-unknown",
    ZERO,
    "unknown letters match nothing",
    "Allow N letters of a hit that are no A, C, G or T; they match any base that they may be.",
)
BOUNDS = tuple(
    Option(f"--max-{kind}", ZERO, "k", f"Allow N {what} among the k differences.")
    for kind, what in (
        ("mismatches", "mismatches"),
        ("insertions", "letters of the pattern that the genome lacks (RNA bulges)"),
        ("deletions", "letters of the genome that the pattern lacks (DNA bulges)"),
    )
)
PAMS = (
    Option(
        "--pam",
        "SEQ",
        "none",
        "Require this PAM, without a difference, beside a pattern. NGG,NAG takes either, as does "
        "--pam NGG --pam NAG.",
        multiple=True,
        callback=lambda context, option, pams: pams or None,
    ),
    Option(
        "--pam-side",
        PAM_SIDES,
        None,
        "Expect the PAM behind the pattern (3p: NGG) or before it (5p: TTTV).",
        beside=("--pam", "--nuclease"),
    ),
)
NUCLEASE = Option(
    "--nuclease",
    tuple(NUCLEASES),
    "none",
    "Set the PAM and its side, for guides the length too, by a nuclease. kmatch info --nucleases "
    "lists them.",
    metavar="NAME",
)
OLIGOS = (
    "A table of tabs, commas or semicolons with a pair a line: NAME, FORWARD, REVERSE and maybe "
    "PROBE, or the columns of a header line. Or an oligo a line: FASTA, NAME and SEQUENCE, or BED "
    "with sequences in column 7. Names then end in _F and _R, _1 and _2 or _LEFT and _RIGHT, and "
    "names of probes in _P or _PROBE. A number or _alt1 behind the ending tells alternates of a "
    "pair."
)
PRODUCT = Option(
    "--product",
    "MIN-MAX",
    None,
    "Allow products of MIN to MAX letters, primers included.",
    default="50-5000",
    callback=sizes,
)
EDIT = Option("--edit", bool, None, "Count insertions and deletions as differences too.")
EACH = Option(
    "--each",
    APART,
    None,
    "Ask about each file as a whole, or about each record of it.",
    group=WHERE,
)
SCORE = Option(
    "--score",
    ("cfd", "mit"),
    "none",
    "Add a column with this score of SpCas9's sites, and the specificity to --summary. Can be "
    "repeated.",
    multiple=True,
    group=OUTPUT,
)


def set_nuclease(given: Given) -> None:
    """Set PAM, side and length, where a command has these, by the nuclease that is asked for.

    Raises UsageError where one of them is given beside it.
    """
    if given.nuclease is None:
        return
    context = click.get_current_context()
    for name in ("pam", "pam_side", "length"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = name.replace("_", "-")
            raise click.UsageError(f"--nuclease sets --{option}; leave one of them out")
    nuclease = NUCLEASES[given.nuclease]
    given.pam = nuclease.pam
    given.pam_side = nuclease.side
    given.length = nuclease.length


def check_scores(given: Given) -> None:
    """Raise UsageError for a score that is not for sites beside the PAM that is asked for."""
    if not given.score:
        return
    from kmatch.results.scores import check_scores
    from kmatch.search.rules import load_pams

    pams = [pam.sequence for pam in load_pams(given.pam, given.pam_side)]
    try:
        check_scores(given.score, pams, given.pam_side == "5p", given.nuclease)
    except InputError as error:
        raise click.UsageError(f"--score: {error}") from error


def _sample_names(context: click.Context, option: click.Parameter, given: str) -> Any:
    """Return names of samples, given with commas or by the first words of a file's lines."""
    if os.path.exists(given or "") and not os.path.isdir(given):
        from kmatch.sequences.files import read_names

        return [line.split()[0] for line in read_names(given, "samples")]
    return _parts_of(given) if given else None


_BESIDE_VARIANTS = ("--variants",)
VARIANTS = grouped(
    WHERE,
    Option(
        "--variants vcf",
        "VCF",
        "none",
        "Find also the hits that haplotypes of these variants make. Adds the columns variants, af, "
        "samples and reference_distance. Can be repeated, for records in files of their own.",
        multiple=True,
    ),
    Option(
        "--samples",
        "NAME,...|FILE",
        "all",
        "Take only the genotypes of these samples; of FILE the first word of each line.",
        callback=_sample_names,
        beside=_BESIDE_VARIANTS,
    ),
    Option(
        "--min-af",
        Number(0, 1),
        None,
        "Take only alleles of this frequency or more, from 0 to 1.",
        default=0.0,
        beside=_BESIDE_VARIANTS,
    ),
    Option(
        "--af-key",
        "KEY",
        None,
        "Read frequencies from this key of INFO.",
        default="AF",
        beside=_BESIDE_VARIANTS,
    ),
    Option(
        "--max-haplotypes",
        ONE,
        None,
        "Try N combinations of unphased alleles around an allele. Where there are more, only pairs "
        "are tried, and hits of three alleles or more can be missed.",
        default=1024,
        beside=_BESIDE_VARIANTS,
    ),
    Option(
        "--dense-groups",
        "FILE",
        "none",
        "List the alleles with more combinations in FILE.",
        beside=_BESIDE_VARIANTS,
    ),
)


def algorithm(*commands: str) -> Option:
    """Return the option --algorithm with the names that commands have."""
    known = tuple(dict.fromkeys((ENGINE, *chain(*map(names, commands)))))
    text = "Search by a published algorithm, which gives the same hits more slowly: "
    text += f"{', '.join(known[1:])}."
    return Option("--algorithm", known, None, text, metavar="NAME", group=RUNNING)


FILE, FORM, FORM_OF_HITS, COLUMNS, ANNOTATE, JSON, HTML, *COUNTS = grouped(
    OUTPUT,
    Option(
        "-o --output",
        "FILE",
        "standard output",
        "Write to FILE, whole or not at all. The suffixes .gz and .zst compress.",
    ),
    *(
        Option(
            "--format form",
            formats,
            "FILE's suffix, otherwise bed",
            "Write this format.",
        )
        for formats in (TABLES, FORMATS)
    ),
    Option(
        "--columns",
        "LIST",
        "the table's",
        "Write these columns of TSV or CSV, with commas between. A wrong name lists all columns.",
    ),
    Option(
        "--annotate",
        "FILE",
        "none",
        "Add the columns gene and region from this GFF3, GTF, GenBank or BED. Can be repeated.",
        multiple=True,
        reads=True,
    ),
    Option("--json", "FILE", "none", "Write also a report of the search as JSON."),
    Option(
        "--html",
        "FILE",
        "none",
        "Write also a page for browsers, with counts, a picture and the 10,000 closest rows. It "
        "needs Jinja2 and Matplotlib.",
    ),
    Option(
        "--limit",
        ONE,
        "all",
        "Write only the N closest hits of each pattern; with --each record, in each record.",
    ),
    Option("--summary", "FILE", "none", "Write also each pattern's number of hits by distance."),
    Option("--summary-only", bool, None, "Write the table of --summary in place of the hits."),
)
STRAND, CIRCULAR = grouped(
    WHERE,
    Option(
        "--strand",
        STRANDS,
        None,
        "Find the pattern as written (+), reverse-complemented (-), or both.",
    ),
    Option(
        "--circular",
        "[NAME,...]",
        "linear",
        "Treat all records, or the named ones, as circles; hits may run over the origin.",
        is_flag=False,
        flag_value=_ALL,
        callback=_circular,
    ),
)
RECORDS = grouped(
    WHERE,
    Option(
        "--records",
        "GLOB,...",
        "all",
        "Search only records whose names fit a glob: chr[0-9]*,chrX. Case matters.",
        callback=_globs,
    ),
    Option(
        "--skip-records",
        "GLOB,...",
        "none",
        "Leave out records whose names fit a glob: *_alt.",
        callback=_globs,
    ),
)
RUN = DEVICE, THREADS, SCHEDULER, QUIET, VERBOSE, DEBUG = grouped(
    RUNNING,
    Option(
        "--device",
        "auto|cpu|cuda|cuda:N,…|cuda:all",
        None,
        "Search on this device; auto takes a GPU where that is expected to be faster.",
        default="auto",
        callback=_known_device,
        shell_complete=lambda context, option, begun: [
            device for device in _DEVICES if device.startswith(begun)
        ],
    ),
    Option("-t --threads", ONE, "all cores", "Use N threads of the CPU, at most one a core."),
    Option(
        "--scheduler",
        "ADDRESS|FILE",
        "none",
        "Search on the Dask cluster of this scheduler; each worker uses --device.",
    ),
    Option("-q --quiet", bool, None, "Print no warnings, progress or summary."),
    Option("-v --verbose", bool, None, "Print each step on standard error."),
    # Commands do not take it: `kmatch.cli.main`, which shows errors, looks for it itself.
    Option("--debug", bool, None, "Show a traceback when something fails.", expose_value=False),
)
# Where the table of products, of primers or of hits goes, and how the search for them runs.
MORE = (COLUMNS, ANNOTATE, JSON)
TABLE = (FILE, FORM, *MORE, *RUN)
HITS = (FILE, FORM_OF_HITS, *MORE, *COUNTS, STRAND, CIRCULAR, *RECORDS, *RUN)


def format_of(given: Given, of_hits: bool = False, default: str = "bed") -> str:
    """Return the format of a table: the one asked for, else by the file's suffix, else the default,
    or tsv where columns are asked for.

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
    """Return the format that a file's suffix names."""
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
