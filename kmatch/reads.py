"""The public functions for reads; `kmatch.api` has the searches for patterns."""

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
    """Write the reads of a file that hold a pattern, and count them.

    Names, letters, qualities and the order of the reads stay.

    Args:
        reads: path of FASTA or FASTQ, compressed or not; `-` is standard input.
        patterns: a sequence, a list of sequences, a dict name → sequence, or the path of FASTA, of
            lines, or of BED with sequences in column 7. A str is a path where such a file exists.
        k: most mismatches of a site on either strand, or differences with edit=True; or a share of
            the pattern's letters, such as `"10%"`.
        output: path for the reads, whole or absent; `.gz` and `.zst` compress.
        edit: True for sites with insertions and deletions.
        max_unknown: most letters of a hit that are no A, C, G or T. They match the bases that they
            may stand for, N any base. None lets them match nothing. With k it is smaller than every
            pattern.
        invert: True to write the reads that hold no pattern.
        others: path for the other reads.
        hits: path for a TSV of the sites.
        mates: path of the second reads of pairs.
        mates_output: path for the mates of the reads in output.
        device: `cpu`, `cuda`, `cuda:0`, `cuda:0,1` or `cuda:all`. `auto` takes a GPU where it is
            expected to be faster.
        threads: threads of the CPU; None for one a core.
        on_progress: function (consumed, size), called with bytes read. The size is None where it is
            unknown.

    Returns:
        The numbers of reads written and of reads in the file.

    Raises:
        InputError: a file, a pattern or an argument cannot be used.
        DeviceError: the device cannot be used.

    Example:
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
    """Find the barcode of each read of a file, and write the reads by barcode.

    The barcode of a read is the one whose best site has the fewest differences, at most k. Of equal
    sites of a barcode the outermost counts: the first on `+`, otherwise the last on `-`.

    Args:
        reads: path of FASTA or FASTQ, compressed or not; `-` is standard input.
        barcodes: a dict name → sequence, or the path of FASTA or of lines. Sequences of one name
            are one barcode.
        k: most mismatches of a site, or differences with edit=True; or a share of the barcode's
            letters, such as `"10%"`.
        edit: True for sites with insertions and deletions.
        max_unknown: most letters of a hit that are no A, C, G or T. They match the bases that they
            may stand for, N any base. None lets them match nothing. With k it is smaller than every
            pattern.
        within: letters at the beginning of a read that may hold a barcode, and letters at its end
            that may hold a reverse complement; None for the whole read on both strands.
        margin: how many more differences every other barcode has. A read with a closer second
            barcode is ambiguous. Second barcodes are looked for within k + margin - 1 differences.
        trim: True to leave out the barcode of an assigned read and the letters outside it.
        split: new or empty folder for the reads: a file for each barcode, one for ambiguous and one
            for unassigned reads. None writes no reads.
        mates: path of the second reads of pairs, which go where the first ones go.
        device: `cpu`, `cuda`, `cuda:0`, `cuda:0,1` or `cuda:all`. `auto` takes a GPU where it is
            expected to be faster.
        threads: threads of the CPU; None for one a core.
        on_progress: function (consumed, size), called with bytes read. The size is None where it is
            unknown.

    Returns:
        Reads, a table with a row a read.

    Raises:
        InputError: a file, a barcode or an argument cannot be used.
        DeviceError: the device cannot be used.

    Example:
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
