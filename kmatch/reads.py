"""What kmatch offers to Python for reads; `kmatch.api` has the rest."""

from collections import deque

from kmatch.apps.reads import (
    Barcodes,
    Demultiplexer,
    ReadFilter,
    ReadSearch,
    check_suffix,
    split_folder,
)
from kmatch.errors import InputError
from kmatch.results.demux import Reads
from kmatch.results.formats import FORMATS
from kmatch.results.output import Path, open_outputs
from kmatch.results.table import Hits
from kmatch.search.query import Query, Run
from kmatch.sequences.patterns import Patterns, load_patterns
from kmatch.sequences.reads import opened_reads
from kmatch.sequences.records import Progress


def filter_reads(
    reads: Path,
    patterns: Patterns,
    k: int | str,
    output: Path,
    *,
    edit: bool = False,
    max_unknown: int | None = None,
    invert: bool = False,
    others: Path | None = None,
    hits: Path | None = None,
    mates: Path | None = None,
    mates_output: Path | None = None,
    device: str = "auto",
    threads: int | None = None,
    on_progress: Progress | None = None,
) -> tuple[int, int]:
    """Write the reads of a file that hold a pattern, and return how many these are, of how many.

    reads: a path of FASTA or FASTQ, compressed or not; `-` is standard input.
    patterns, device, threads: as for `hamming`.
    k: mismatches, or differences with edit=True, that a pattern has at most on either strand.
    max_unknown: as for `hamming`.
    output: the path for the reads, as they stand and in their order; `.gz` and `.zst` compress. It
        is whole or absent, as the others are.
    invert: whether the reads are written that hold no pattern.
    others: a path for the rest.
    hits: a path for the TSV of the sites that were found.
    mates: the second file of pairs, of which mates_output takes those of the reads in output.
    on_progress(consumed, size): hears of bytes read.

    Raises InputError for a file, a pattern or an option that cannot be used.

        kept, of = kmatch.filter_reads("reads.fq.gz", ["AGATCGGAAGAGC"], 1, "adapters.fq.gz")
    """
    if (mates is None) != (mates_output is None):
        raise InputError("mates and mates_output go together; give both")
    panel = load_patterns(patterns)
    problem, report = ("edit", "loci") if edit else ("hamming", None)
    query = Query(problem, panel, k, report=report, max_unknown=max_unknown)
    run = Run(device, threads, aligned=hits is not None)
    paths = (others, mates_output, hits)
    with opened_reads(reads, mates) as (first, second):
        check_suffix(first, output, others)
        check_suffix(second or first, mates_output)
        search = ReadSearch(query, first, second, run=run)
        search.progress.tell = on_progress
        with open_outputs(output, *paths) as (kept, *more):
            handles = iter(more)
            others_to, mates_to, hits_to = (path and next(handles) for path in paths)
            taking = ReadFilter(invert, kept, others_to, mates_to)
            batches = ((window, batch) for window in search for batch in taking.hits(window))
            if hits_to:
                table = FORMATS["tsv"](hits_to, Hits((), panel))
                table.write_all(window.named(batch) for window, batch in batches)
            else:
                deque(batches, maxlen=0)
    return taking.kept, search.progress.records


def demux(
    reads: Path,
    barcodes: Patterns,
    k: int | str,
    *,
    edit: bool = False,
    max_unknown: int | None = None,
    within: int | None = None,
    margin: int = 1,
    trim: bool = False,
    split: Path | None = None,
    mates: Path | None = None,
    device: str = "auto",
    threads: int | None = None,
    on_progress: Progress | None = None,
) -> Reads:
    """Find the barcode of each read of a file, and write the reads by barcode if asked for.

    It is the one whose best site has the fewest differences, at most k. Of equal sites of a barcode
    the outermost counts: the first on `+`, otherwise the last on `-`.

    reads: a path of FASTA or FASTQ, compressed or not; `-` is standard input.
    barcodes: as the patterns of `hamming`; those of one name are one barcode.
    k: mismatches, or differences with edit=True.
    max_unknown: as for `hamming`.
    within: how many letters at the beginning of a read may hold a barcode, and at its end a reverse
        complement; None for the whole read on both strands.
    margin: by how many differences the best site of every other barcode is farther; otherwise the
        read is ambiguous. Others are looked for within k + margin - 1 differences.
    split: a new or empty folder for the reads as they stand, a file a barcode, and for those that
        are ambiguous or unassigned.
    trim: whether the barcode of an assigned read is left out there, with what is on its outer side.
    mates: the second file of pairs, whose reads go where the first ones go.
    device, threads: as for `hamming`. on_progress(consumed, size): hears of bytes read.

    Raises InputError for a file, a barcode or an option that cannot be used.

        found = kmatch.demux("reads.fq.gz", "barcodes.fa", 4, edit=True, within=150)
        found[found.status == "ambiguous"].to_tsv("ambiguous.tsv")
    """
    if split is None and (trim or mates is not None):
        raise InputError("trim and mates are for the files of split; give a folder")
    panel = Barcodes(load_patterns(barcodes), k, edit, margin, within, max_unknown)
    run = Run(device, threads, aligned=False)
    with opened_reads(reads, mates) as (first, second):
        search = ReadSearch(panel.query, first, second, within, run)
        search.progress.tell = on_progress
        with split_folder(split, panel, first, second, threads) as folder:
            demultiplexer = Demultiplexer(panel, folder, trim)
            return Reads(map(demultiplexer.batch, search), panel.names, panel.most)
