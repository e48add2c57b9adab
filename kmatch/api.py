"""The public functions that search for patterns, and `pack`; `primers` and `reads` have the others.

A sequence has IUPAC letters in any case, U being T. Positions are 0-based and half-open, on the
forward strand. A wrong argument or file raises InputError, a device that cannot be used
DeviceError, an output that cannot be written OutputError, a cluster that cannot be used or that
failed ClusterError; all are KmatchError.
"""

from collections.abc import Sequence

import kmatch.published.registry  # noqa: F401  offers its algorithms to searches
from kmatch.arguments import APART, check_choice, check_threads
from kmatch.calls import (
    Each,
    Globs,
    How,
    Pams,
    Path,
    Report,
    Scheduler,
    Score,
    Searched,
    Side,
    Strand,
    Where,
    hits_of,
)
from kmatch.engine.workers import Workers, cores
from kmatch.genome import Genome, as_genome
from kmatch.nucleases import pam_of
from kmatch.packed.writer import write_packed
from kmatch.results.output import open_output
from kmatch.results.table import Hits
from kmatch.search.query import Query
from kmatch.search.regions import RegionsGiven
from kmatch.sequences.patterns import Patterns, load_patterns
from kmatch.sequences.records import Progress
from kmatch.variants.vcf import Variants


def hamming(
    genome: Searched,
    patterns: Patterns,
    k: int | str,
    *,
    strand: Strand = "both",
    exact_5p: int = 0,
    exact_3p: int = 0,
    max_unknown: int | None = None,
    circular: bool | Sequence[str] = False,
    regions: RegionsGiven | None = None,
    records: Globs | None = None,
    skip_records: Globs | None = None,
    limit: int | None = None,
    annotate: Path | Sequence[Path] | None = None,
    variants: Variants | Path | Sequence[Path] | None = None,
    device: str = "auto",
    threads: int | None = None,
    algorithm: str = "bitplane",
    scheduler: Scheduler | None = None,
    on_progress: Progress | None = None,
) -> Hits:
    """Find every window of a genome with at most k mismatches to a pattern.

    Args:
        genome: a Genome, or the path of FASTA, FASTQ, 2bit, GenBank or a packed genome. A list of
            these, or `@` and the path of a file that names one a line, is searched genome by
            genome, and the hits have a column `genome`.
        patterns: a sequence, a list of sequences, a dict name → sequence, or the path of FASTA, of
            lines, or of BED with sequences in column 7. A str is a path where such a file exists.
        k: most mismatches of a hit, 0 ≤ k < letters of the pattern; or a share of its letters, such
            as `"10%"`, and the hits have a column `k`.
        strand: `+` finds a pattern as written, `-` its reverse complement.
        exact_5p: first letters of a pattern that have to match.
        exact_3p: last letters of a pattern that have to match.
        max_unknown: most letters of a hit that are no A, C, G or T. They match the bases that they
            may stand for, N any base. None lets them match nothing. With k it is smaller than every
            pattern.
        circular: True, or the names of records: they are circles, and hits run over the origin.
            Such a hit has start < n < end in a record of n letters.
        regions: path of BED, or rows (record, start, end). Only hits inside a region are found.
        records: globs, such as `chr[0-9]*,chrX` or a list. Only records whose names fit, in their
            case, are searched.
        skip_records: globs. Records whose names fit are not searched.
        limit: most hits of a pattern in a genome, the closest first. A warning counts the others.
        annotate: path, or paths, of GFF3, GTF, GenBank or BED. The hits have columns `gene` and
            `region`.
        variants: path of VCF, or Variants. Hits of haplotypes are found too, and the hits have
            columns `variants`, `af`, `samples` and `reference_distance`.
        device: `cpu`, `cuda`, `cuda:0`, `cuda:0,1` or `cuda:all`. `auto` takes a GPU where it is
            expected to be faster.
        threads: threads of the CPU; None for one a core.
        algorithm: `bitplane`, or the name of a published algorithm.
        scheduler: address, scheduler file or Client of a Dask cluster that searches in place of
            this machine.
        on_progress: function (consumed, size), called with bytes read, genomes of a list done or
            tasks of a cluster done. The size is None where it is unknown.

    Returns:
        Hits, a table with a row a hit, in the order of the genome.

    Raises:
        InputError: a file, a pattern or an argument cannot be used.
        DeviceError: the device cannot be used.
        ClusterError: the cluster cannot be used, or failed.

    Example:
            hits = kmatch.hamming("genome.fa", {"OR1": "TATCACCGCCAGAGGTA"}, k=3)
            near = hits[hits.distance <= 1]
    """
    query = Query(
        "hamming",
        load_patterns(patterns),
        k,
        strand,
        exact_5p,
        exact_3p,
        max_unknown=max_unknown,
    )
    where = Where(genome, circular, regions, records, skip_records, variants)
    how = How(device, threads, algorithm, scheduler, on_progress)
    return hits_of(query, where, how, limit, annotate)


def multi(
    genome: Searched,
    patterns: Patterns,
    k: int | str,
    *,
    pam: Pams | None = None,
    pam_side: Side | None = None,
    nuclease: str | None = None,
    strand: Strand = "both",
    exact_5p: int = 0,
    exact_3p: int = 0,
    max_unknown: int | None = None,
    circular: bool | Sequence[str] = False,
    regions: RegionsGiven | None = None,
    records: Globs | None = None,
    skip_records: Globs | None = None,
    limit: int | None = None,
    score: Score | Sequence[Score] = (),
    annotate: Path | Sequence[Path] | None = None,
    variants: Variants | Path | Sequence[Path] | None = None,
    device: str = "auto",
    threads: int | None = None,
    algorithm: str = "bitplane",
    scheduler: Scheduler | None = None,
    on_progress: Progress | None = None,
) -> Hits:
    """Find every window of a genome with at most k mismatches to one of many patterns.

    The patterns, up to hundreds of thousands, have one length. A hit spans the pattern and the PAM.
    The distance counts the pattern alone.

    Args:
        genome: a Genome, or the path of FASTA, FASTQ, 2bit, GenBank or a packed genome. A list of
            these, or `@` and the path of a file that names one a line, is searched genome by
            genome, and the hits have a column `genome`.
        patterns: a sequence, a list of sequences, a dict name → sequence, or the path of FASTA, of
            lines, or of BED with sequences in column 7. A str is a path where such a file exists.
        k: most mismatches of a hit, 0 ≤ k < letters of the pattern; or a share of its letters, such
            as `"10%"`, and the hits have a column `k`.
        pam: IUPAC letters that have to stand beside a pattern without a mismatch; of several, a
            list or `NGG,NAG`, the first that stands there is the PAM.
        pam_side: `3p` for a PAM behind the pattern (NGG), `5p` for a PAM before it (TTTV).
        nuclease: name of a nuclease, such as `cas12a`, which sets pam and pam_side; `kmatch info
            --nucleases` lists them.
        strand: `+` finds a pattern as written, `-` its reverse complement.
        exact_5p: first letters of a pattern that have to match.
        exact_3p: last letters of a pattern that have to match.
        max_unknown: most letters of a hit that are no A, C, G or T. They match the bases that they
            may stand for, N any base. None lets them match nothing. With k it is smaller than every
            pattern.
        circular: True, or the names of records: they are circles, and hits run over the origin.
            Such a hit has start < n < end in a record of n letters.
        regions: path of BED, or rows (record, start, end). Only hits inside a region are found.
        records: globs, such as `chr[0-9]*,chrX` or a list. Only records whose names fit, in their
            case, are searched.
        skip_records: globs. Records whose names fit are not searched.
        limit: most hits of a pattern in a genome, the closest first. A warning counts the others.
        score: `cfd`, `mit` or both: columns with the scores of guides beside PAMs of Cas9. NaN
            where a score is undefined.
        annotate: path, or paths, of GFF3, GTF, GenBank or BED. The hits have columns `gene` and
            `region`.
        variants: path of VCF, or Variants. Hits of haplotypes are found too, and the hits have
            columns `variants`, `af`, `samples` and `reference_distance`.
        device: `cpu`, `cuda`, `cuda:0`, `cuda:0,1` or `cuda:all`. `auto` takes a GPU where it is
            expected to be faster.
        threads: threads of the CPU; None for one a core.
        algorithm: `bitplane`, or the name of a published algorithm.
        scheduler: address, scheduler file or Client of a Dask cluster that searches in place of
            this machine.
        on_progress: function (consumed, size), called with bytes read, genomes of a list done or
            tasks of a cluster done. The size is None where it is unknown.

    Returns:
        Hits, a table with a row a hit, in the order of the genome.

    Raises:
        InputError: patterns have unequal lengths, all hold the PAM themselves, or a file, a pattern
            or an argument cannot be used.
        DeviceError: the device cannot be used.
        ClusterError: the cluster cannot be used, or failed.

    Example:
            hits = kmatch.multi("genome.fa", "guides.txt", k=4, pam="NGG")
            hits.to_tsv("hits.tsv.gz")
    """
    pam, side = pam_of(nuclease, pam, pam_side)
    query = Query(
        "multi",
        load_patterns(patterns),
        k,
        strand,
        exact_5p,
        exact_3p,
        pam=pam,
        pam_side=side,
        max_unknown=max_unknown,
    )
    where = Where(genome, circular, regions, records, skip_records, variants)
    how = How(device, threads, algorithm, scheduler, on_progress)
    return hits_of(query, where, how, limit, annotate, score, nuclease)


def edit(
    genome: Searched,
    patterns: Patterns,
    k: int | str,
    *,
    report: Report | None = None,
    pam: Pams | None = None,
    pam_side: Side | None = None,
    nuclease: str | None = None,
    strand: Strand = "both",
    exact_5p: int = 0,
    exact_3p: int = 0,
    max_mismatches: int | None = None,
    max_insertions: int | None = None,
    max_deletions: int | None = None,
    max_unknown: int | None = None,
    circular: bool | Sequence[str] = False,
    regions: RegionsGiven | None = None,
    records: Globs | None = None,
    skip_records: Globs | None = None,
    limit: int | None = None,
    score: Score | Sequence[Score] = (),
    annotate: Path | Sequence[Path] | None = None,
    variants: Variants | Path | Sequence[Path] | None = None,
    device: str = "auto",
    threads: int | None = None,
    algorithm: str = "bitplane",
    scheduler: Scheduler | None = None,
    on_progress: Progress | None = None,
) -> Hits:
    """Find the occurrences of patterns in a genome with at most k differences.

    Differences are mismatches, insertions and deletions. A hit spans the pattern and the PAM. The
    distance counts the pattern alone.

    Args:
        genome: a Genome, or the path of FASTA, FASTQ, 2bit, GenBank or a packed genome. A list of
            these, or `@` and the path of a file that names one a line, is searched genome by
            genome, and the hits have a column `genome`.
        patterns: a sequence, a list of sequences, a dict name → sequence, or the path of FASTA, of
            lines, or of BED with sequences in column 7. A str is a path where such a file exists.
        k: most differences of a hit, 0 ≤ k < letters of the pattern; or a share of its letters,
            such as `"10%"`, and the hits have a column `k`.
        report: `ends` gives a hit for every position where an occurrence ends, `minima` the best of
            neighbouring ends, `loci` the best of overlapping minima, and `sites`, beside a PAM, the
            best of the ends that reach one place. None is `ends` beside a PAM, otherwise `minima`.
        pam: IUPAC letters that have to stand beside a pattern without a mismatch; of several, a
            list or `NGG,NAG`, the first that stands there is the PAM.
        pam_side: `3p` for a PAM behind the pattern (NGG), `5p` for a PAM before it (TTTV).
        nuclease: name of a nuclease, such as `cas12a`, which sets pam and pam_side; `kmatch info
            --nucleases` lists them.
        strand: `+` finds a pattern as written, `-` its reverse complement.
        exact_5p: first letters of a pattern that have to match, with nothing skipped in or beside
            them.
        exact_3p: last letters of a pattern that have to match, with nothing skipped in or beside
            them.
        max_mismatches: most mismatches among the k differences; None for k.
        max_insertions: most letters of the pattern that the genome lacks; None for k.
        max_deletions: most letters of the genome that the pattern lacks; None for k.
        max_unknown: most letters of a hit that are no A, C, G or T. They match the bases that they
            may stand for, N any base. None lets them match nothing. With k it is smaller than every
            pattern.
        circular: True, or the names of records: they are circles, and hits run over the origin.
            Such a hit has start < n < end in a record of n letters.
        regions: path of BED, or rows (record, start, end). Only hits inside a region are found.
        records: globs, such as `chr[0-9]*,chrX` or a list. Only records whose names fit, in their
            case, are searched.
        skip_records: globs. Records whose names fit are not searched.
        limit: most hits of a pattern in a genome, the closest first. A warning counts the others.
        score: `cfd`, `mit` or both: columns with the scores of guides beside PAMs of Cas9. NaN
            where a score is undefined.
        annotate: path, or paths, of GFF3, GTF, GenBank or BED. The hits have columns `gene` and
            `region`.
        variants: path of VCF, or Variants. Hits of haplotypes are found too, and the hits have
            columns `variants`, `af`, `samples` and `reference_distance`.
        device: `cpu`, `cuda`, `cuda:0`, `cuda:0,1` or `cuda:all`. `auto` takes a GPU where it is
            expected to be faster.
        threads: threads of the CPU; None for one a core.
        algorithm: `bitplane`, or the name of a published algorithm.
        scheduler: address, scheduler file or Client of a Dask cluster that searches in place of
            this machine.
        on_progress: function (consumed, size), called with bytes read, genomes of a list done or
            tasks of a cluster done. The size is None where it is unknown.

    Returns:
        Hits, a table with a row a hit, in the order of the genome.

    Raises:
        InputError: a file, a pattern or an argument cannot be used.
        DeviceError: the device cannot be used.
        ClusterError: the cluster cannot be used, or failed.

    Example:
            hits = kmatch.edit("genome.fa", "ACGTTGCATTAGCCAGTACT", k=2)
            hits.cigar, hits.match
    """
    pam, side = pam_of(nuclease, pam, pam_side)
    query = Query(
        "edit",
        load_patterns(patterns),
        k,
        strand,
        exact_5p,
        exact_3p,
        pam=pam,
        pam_side=side,
        report=report,
        max_mismatches=max_mismatches,
        max_insertions=max_insertions,
        max_deletions=max_deletions,
        max_unknown=max_unknown,
    )
    where = Where(genome, circular, regions, records, skip_records, variants)
    how = How(device, threads, algorithm, scheduler, on_progress)
    return hits_of(query, where, how, limit, annotate, score, nuclease)


def best(
    genome: Searched,
    patterns: Patterns,
    *,
    each: Each = "file",
    strand: Strand = "both",
    exact_5p: int = 0,
    exact_3p: int = 0,
    circular: bool | Sequence[str] = False,
    regions: RegionsGiven | None = None,
    records: Globs | None = None,
    skip_records: Globs | None = None,
    limit: int | None = None,
    annotate: Path | Sequence[Path] | None = None,
    device: str = "auto",
    threads: int | None = None,
    algorithm: str = "bitplane",
    scheduler: Scheduler | None = None,
    on_progress: Progress | None = None,
) -> Hits:
    """Find the closest occurrences of patterns in a genome, by differences.

    They are the minima at the smallest distance that a pattern has in the genome. A pattern that
    matches nowhere at all has no hit, and a warning names it.

    Args:
        genome: a Genome, or the path of FASTA, FASTQ, 2bit, GenBank or a packed genome. A list of
            these, or `@` and the path of a file that names one a line, is searched genome by
            genome, and the hits have a column `genome`.
        patterns: a sequence, a list of sequences, a dict name → sequence, or the path of FASTA, of
            lines, or of BED with sequences in column 7. A str is a path where such a file exists.
        each: `file` finds the closest sites of a genome, `record` the closest sites of each record.
        strand: `+` finds a pattern as written, `-` its reverse complement.
        exact_5p: first letters of a pattern that have to match.
        exact_3p: last letters of a pattern that have to match.
        circular: True, or the names of records: they are circles, and hits run over the origin.
            Such a hit has start < n < end in a record of n letters.
        regions: path of BED, or rows (record, start, end). Of the closest sites of the genome, the
            ones inside a region are given.
        records: globs, such as `chr[0-9]*,chrX` or a list. Only records whose names fit, in their
            case, are searched.
        skip_records: globs. Records whose names fit are not searched.
        limit: most hits of a pattern in a genome, or with each="record" in a record, the first
            ones. A warning counts the others.
        annotate: path, or paths, of GFF3, GTF, GenBank or BED. The hits have columns `gene` and
            `region`.
        device: `cpu`, `cuda`, `cuda:0`, `cuda:0,1` or `cuda:all`. `auto` takes a GPU where it is
            expected to be faster.
        threads: threads of the CPU; None for one a core.
        algorithm: `bitplane`, or the name of a published algorithm.
        scheduler: address, scheduler file or Client of a Dask cluster that searches in place of
            this machine.
        on_progress: function (consumed, size), called with bytes read, genomes of a list done or
            tasks of a cluster done. The size is None where it is unknown.

    Returns:
        Hits, a table with a row a hit, in the order of the genome.

    Raises:
        InputError: a file, a pattern or an argument cannot be used.
        DeviceError: the device cannot be used.
        ClusterError: the cluster cannot be used, or failed.

    Example:
            hits = kmatch.best("genome.fa", ["ACGTTACGTAGGCATCAGT"])
            hits.distance.min()
    """
    check_choice("each", each, APART)
    query = Query(
        "best",
        load_patterns(patterns),
        strand=strand,
        exact_5p=exact_5p,
        exact_3p=exact_3p,
        each=each,
    )
    where = Where(genome, circular, regions, records, skip_records)
    how = How(device, threads, algorithm, scheduler, on_progress)
    return hits_of(query, where, how, limit, annotate)


def pack(
    genome: Genome | Path,
    path: Path,
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
) -> tuple[int, int]:
    """Write a genome to a packed file, which every search takes as a genome.

    Args:
        genome: a Genome, or the path of FASTA, FASTQ, 2bit or GenBank.
        path: path of the packed file, which is either whole or absent.
        threads: threads of the CPU; None for one a core.
        on_progress: function (consumed, size), called with bytes read. The size is None where it is
            unknown.

    Returns:
        The numbers of records and of letters written.

    Raises:
        InputError: the genome cannot be used.
        OutputError: the file cannot be written.

    Example:
            kmatch.pack("genome.fa.gz", "genome.kmatch")
            hits = kmatch.hamming("genome.kmatch", "guides.txt", k=3)
    """
    check_threads(threads)
    with open_output(path) as handle:
        given = as_genome(genome)
        parts = given.parts(on_progress, Workers(threads or cores()).ahead)
        written = write_packed(parts, handle, threads=threads)
    given.warn_of_circles()
    return written
