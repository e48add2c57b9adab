"""The commands for reads: `kmatch filter` and `demux`."""

from collections import deque
from functools import partial

import click

from kmatch.cli import options
from kmatch.cli.command import OUTPUT, Argument, Given, Option, command, grouped
from kmatch.cli.options import ONE
from kmatch.cli.searches import Search, check_columns, given_patterns, heard
from kmatch.errors import counted

READS = Argument("reads", "A file of FASTA or FASTQ, compressed or not; - is standard input.")
PATTERNS, PATTERN, COLUMN = options.PATTERNS[1:4]
NAME_COLUMN = options.NAME_COLUMN
EDIT = Option("--edit", bool, None, "Count insertions and deletions as differences too.")
RUN = (options.DEVICE, options.THREADS, options.QUIET, options.VERBOSE, options.DEBUG)
MATES = Option("--mates", "FILE", "none", "Take the second reads of pairs from FILE.", reads=True)


@command(
    "Write the reads that hold a pattern, or that hold none.",
    READS,
    PATTERNS,
    PATTERN,
    COLUMN,
    NAME_COLUMN,
    options.distance(
        "Allow N mismatches, or N percent of a pattern's letters; with --edit, differences."
    ),
    EDIT,
    options.UNKNOWN,
    Option("--invert", bool, None, "Write the reads that hold no pattern."),
    *grouped(
        OUTPUT,
        Option(
            "-o --output",
            "FILE",
            "standard output",
            "Write to FILE, whole or not at all. The suffixes .gz and .zst compress.",
        ),
        Option("--others", "FILE", "none", "Write also the other reads."),
        Option(
            "--hits", "FILE", "none", "Write also the hits, as TSV, or CSV or BED by FILE's suffix."
        ),
        MATES,
        Option("--mates-out", "FILE", "none", "Write the mates of the written reads to FILE."),
        options.JSON,
    ),
    *RUN,
    examples=(
        "kmatch filter reads.fq.gz -p AGATCGGAAGAGC -k 1 -o with_adapter.fq.gz",
        "kmatch filter reads.fq.gz contaminants.fa -k 2 --edit --invert -o clean.fq.gz",
    ),
    differs="filter writes whole reads. demux tells barcodes apart. hamming and edit locate hits.",
)
def filter(given: Given) -> None:
    """Write the reads of READS that hold a pattern within k, on either strand.

    Names, letters, qualities and the order of the reads stay.
    """
    if bool(given.mates) != bool(given.mates_out):
        raise click.UsageError("--mates and --mates-out go together; give both")
    # The table is that of --hits.
    form = options.format_by_name(given.hits, option="--hits")
    search = Search(Given(**vars(given) | {"output": given.hits, "form": form}), default="tsv")
    from kmatch.apps.reads import ReadFilter, ReadSearch, check_suffix
    from kmatch.results.table import Hits
    from kmatch.search.query import Query
    from kmatch.sequences.reads import opened_reads

    panel = given_patterns(given, "READS")
    problem, report = ("edit", "loci") if given.edit else ("hamming", None)
    query = Query(problem, panel, given.k, report=report, max_unknown=given.max_unknown)
    search.aligned = bool(given.hits)
    paths = (given.output or "-", given.others, given.mates_out)
    with opened_reads(given.reads, given.mates) as (reads, mates):
        check_suffix(reads, given.output, given.others)
        check_suffix(mates or reads, given.mates_out)
        search.label = reads.label
        begin = partial(ReadSearch, query, reads, mates, None)
        with search.batches(begin, *paths) as (found, (hits, *outputs)):
            handles = iter(outputs)
            taking = ReadFilter(given.invert, *(path and next(handles) for path in paths))
            batches = ((window, batch) for window in found for batch in taking.hits(window))
            if given.hits:
                table = search.writer(hits, Hits((), panel))
                table.write_all(window.named(batch) for window, batch in batches)
            else:
                deque(batches, maxlen=0)
    facts = {"kept": taking.kept, "others": search.rows - taking.kept}
    search.conclude(
        f"{taking.kept:,} of {counted(search.rows, 'read')}", hits=taking.sites, reads=facts
    )


@command(
    "Find the barcode of each read, and split reads by barcode.",
    READS,
    Argument(
        "barcodes",
        "A file of FASTA, of lines NAME, a tab and SEQUENCE, or with --column a table with a "
        "header line. Sequences of one name are one barcode.",
    ),
    Option(
        "--column",
        "NAME",
        "no header line",
        "Read BARCODES as CSV or TSV with a header line; NAME is the column of sequences.",
    ),
    NAME_COLUMN,
    options.distance(
        "Allow N mismatches, or N percent of a barcode's letters; with --edit, differences."
    ),
    EDIT,
    options.UNKNOWN,
    Option(
        "--within",
        ONE,
        "the whole read",
        "Look in the first N letters of a read, and for reverse complements in the last N.",
    ),
    Option(
        "--margin", ONE, None, "Require N more differences of the second-best barcode.", default=1
    ),
    *grouped(
        OUTPUT,
        Option(
            "--split",
            "DIR",
            "none",
            "Write the reads to the folder DIR, one file for each barcode.",
            type=str,
        ),
        Option("--trim", bool, None, "Cut off the barcode and the letters outside it."),
        MATES,
        options.FILE,
        Option(
            "--format form",
            ("tsv", "csv"),
            "FILE's suffix, otherwise tsv",
            "Write this format.",
        ),
        options.COLUMNS,
        options.JSON,
        Option("--summary", "FILE", "none", "Write also the number of reads of each barcode."),
    ),
    *RUN,
    examples=(
        "kmatch demux reads.fq.gz barcodes.fa -k 4 --edit --split by_barcode --trim",
        "kmatch demux reads.fq.gz barcodes.fa -k 1 -o barcodes.tsv --summary counts.tsv",
    ),
    differs="demux gives each read at most one barcode. filter writes the reads with any pattern.",
)
def demux(given: Given) -> None:
    """Find the barcode of each read of READS: the barcode with the fewest differences, at most k.

    A read is ambiguous if a second barcode has fewer than --margin more differences. With --split
    the table is written only if -o is given.
    """
    _check_split(given)
    check_columns(given)
    search = Search(given, default="tsv")
    if search.form == "bed":
        raise click.UsageError("demux writes TSV and CSV, as not every row has a place")
    from kmatch.apps.reads import Barcodes, Demultiplexer, ReadSearch, split_folder
    from kmatch.results.demux import Reads
    from kmatch.sequences.patterns import read_patterns
    from kmatch.sequences.reads import opened_reads

    panel = read_patterns(given.barcodes, given.column, given.name_column, joins_names=True)
    barcodes = Barcodes(panel, given.k, given.edit, given.margin, given.within, given.max_unknown)
    table = Reads((), barcodes.names, barcodes.most)
    search.dress(table)
    with (
        opened_reads(given.reads, given.mates) as (reads, mates),
        split_folder(given.split, barcodes, reads, mates, given.threads) as folder,
    ):
        search.label = reads.label
        begin = partial(ReadSearch, barcodes.query, reads, mates, given.within)
        with search.batches(begin, given.summary) as (found, handles):
            demultiplexer = Demultiplexer(barcodes, folder, given.trim)
            batches = heard(map(demultiplexer.batch, found), table.count)
            if given.split and not given.output:
                deque(batches, maxlen=0)
            else:
                search.writer(handles[0], table).write_all(batches)
            if given.summary:
                table.to_summary(handles[1])
    counts = table.statuses
    search.conclude(
        f"{counted(search.rows, 'read')}, {counted(len(barcodes.names), 'barcode')}",
        hits=counts["assigned"],
        reads=counts,
        barcodes=table.facts,
    )
    said = ", ".join(f"{number:,} {status}" for status, number in counts.items())
    search.messages.answer(f"{said} of {counted(search.rows, 'read')}")


def _check_split(given: Given) -> None:
    """Raise UsageError for options of files of reads that are not written, and of a table that is
    not."""
    for option in ("trim", "mates"):
        if getattr(given, option) and not given.split:
            raise click.UsageError(f"--{option} is for the files of --split; give --split DIR too")
    for option, value in (("--columns", given.columns), ("--format", given.form)):
        if value and given.split and not given.output:
            raise click.UsageError(
                f"{option} is for the table, which beside --split is written only where -o says; "
                "give -o FILE too"
            )
