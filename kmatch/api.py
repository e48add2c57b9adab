"""What kmatch offers to Python: a function a search, and `pack`.

A sequence has IUPAC letters in any case, U being T. Positions are 0-based and half-open, on the
forward strand. A wrong argument or file raises InputError, a device that cannot be used
DeviceError, an output that cannot be written OutputError, a cluster that cannot be used or that
failed ClusterError; all are KmatchError.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import kmatch.published.registry  # noqa: F401  offers its algorithms to searches
from kmatch.apps.assay import AssayOptions, AssaySearch
from kmatch.apps.guides import GuideOptions, GuideSearch
from kmatch.apps.pcr import PRODUCT, PcrOptions, PcrSearch
from kmatch.apps.primer import PrimerOptions, PrimerSearch
from kmatch.apps.searches import begin_search, make_scorer, on_cluster
from kmatch.arguments import APART, check_choice, check_threads, checked_count
from kmatch.engine.workers import Workers, cores
from kmatch.genome import Genome, as_genome, as_genomes
from kmatch.nucleases import CAS9, NUCLEASES, guide_length_of, pam_of
from kmatch.packed.writer import write_packed
from kmatch.results.assays import Assays
from kmatch.results.guides import VARIED, Guides
from kmatch.results.limit import limited
from kmatch.results.melting import SALTS, Salts
from kmatch.results.output import open_output
from kmatch.results.scores import SCORES
from kmatch.results.table import VARIANTS, Hits, Primers, Products
from kmatch.search.alignments import BESIDE, GenomeTexts, with_alignments
from kmatch.search.panel import pattern_distances
from kmatch.search.query import Query, Run
from kmatch.search.regions import RegionsGiven, load_regions
from kmatch.search.rules import beside_pams
from kmatch.sequences.oligos import PairsGiven, load_pairs
from kmatch.sequences.patterns import Patterns, load_patterns
from kmatch.sequences.records import Progress
from kmatch.sequences.selection import load_selection
from kmatch.variants.vcf import Variants, load_variants

Path = str | os.PathLike[str]
Searched = Genome | Path | Sequence[Genome | Path]
Strand = Literal["both", "+", "-"]
Report = Literal["minima", "ends", "loci", "sites"]
Side = Literal["3p", "5p"]
Pams = str | Sequence[str]
Globs = str | Sequence[str]
Score = Literal["cfd", "mit"]
Pairing = Literal["own", "any"]
Each = Literal["file", "record"]
Limits = tuple[float, float]
Scheduler = Any  # an address, a scheduler file, or a distributed.Client


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

    genome: a Genome, or a path to FASTA, FASTQ, 2bit, GenBank or a packed genome; or a list of
        these, or `@` and the path of a file that names one a line: each is searched as if alone, in
        their order, and the hits have a column `genome`.
    patterns: a list of sequences, which name themselves; a dict, name → sequence; a path to FASTA,
        to text with one pattern a line or to BED with sequences in column 7, `-` being standard
        input; or one sequence. A str is a path where a file of that name exists, and otherwise a
        sequence where it has IUPAC letters only.
    k: mismatches, 0 ≤ k < m for a pattern of m letters; or a share of each pattern's letters such
        as `"10%"`, rounded down; the hits have a column `k` then.
    strand: `+` finds a pattern as written, `-` its reverse complement.
    exact_5p, exact_3p: how many of a pattern's first and last letters must match.
    max_unknown: letters of a hit that are no A, C, G or T, at the most: they match whatever they
        may stand for, N any base and R an A or a G; None where they match nothing. With k it is
        smaller than every pattern.
    circular: True where every record is a circle, or the names of those that are: windows run over
        the origin, and a hit that does has start < n < end in a record of n letters.
    regions: only the hits inside one of them: a path of BED, or rows (name of the record,
        start, end).
    records, skip_records: globs of names of records, such as `chr[0-9]*,chrX` or a list: only
        records whose names fit, in their case, and none that fits the latter, are searched.
    limit: hits of a pattern in a genome at the most, those with the smallest distances, the first
        in the genome of these; a UserWarning tells how many there were. None for all.
    annotate: GFF3, GTF, GenBank or BED, or a list of such files. The hits have columns `gene`, the
        names of what they overlap, and `region`, `exon`, `intron` or `intergenic`.
    variants: a path of VCF, a list of such paths, each of other records, or Variants: also the hits
        that haplotypes make and the reference does not have there at an equal or smaller distance.
        The hits have columns `variants`, `af`, `samples` and `reference_distance`.
    device: `cpu`, `cuda`, `cuda:N`, or `auto`, the one that is expected to finish first.
    threads: of the CPU, None for one a core.
    algorithm: `bitplane`, or the name of a published one.
    scheduler: of a Dask cluster that searches in place of this machine: its address, the path of
        its scheduler file, or a distributed.Client.
    on_progress(consumed, size): hears of the genome's bytes read, of a list of genomes done, and on
        a cluster of tasks; size is None where it is unknown.

    Raises InputError for a file, a pattern or an option that cannot be used, and DeviceError for a
    device that cannot.

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
    where = _Where(genome, circular, regions, records, skip_records, variants)
    how = _How(device, threads, algorithm, scheduler, on_progress)
    return _hits(query, where, how, limit, annotate)


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
    """Find every window of a genome with at most k mismatches to a pattern of a panel.

    The patterns, up to hundreds of thousands, have one length. pam: IUPAC letters that must stand,
    without mismatch, beside a pattern: after it (pam_side `3p`, the default, as NGG) or before it
    (`5p`, as TTTV). Of several, a list or `NGG,NAG`, the first that stands beside a pattern is its
    PAM. nuclease: a name such as `cas12a`, which sets both. A hit spans the pattern and the PAM;
    its distance counts the pattern alone. score: `cfd`, `mit` or both, columns of hits of guides
    beside SpCas9's PAMs, NaN where a score is undefined. The other arguments are those of
    `hamming`.

    Patterns that all have as many N on the side of the PAM as it has letters are searched without
    these, and a UserWarning says so. It is a UserWarning too that all patterns contain the PAM.

    Raises InputError and DeviceError as `hamming` does, and InputError for patterns of unequal
    length.

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
    where = _Where(genome, circular, regions, records, skip_records, variants)
    how = _How(device, threads, algorithm, scheduler, on_progress)
    return _hits(query, where, how, limit, annotate, score, nuclease)


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

    Differences are mismatches, insertions and deletions; 0 ≤ k < m for a pattern of m letters.
    report: `ends` gives an occurrence for every position where one ends, `minima` the best of
    neighbouring ends, `loci` the best of overlapping minima, and `sites`, beside a PAM, the best of
    the ends that reach one place; by default it is `ends` beside a PAM and `minima` elsewhere.
    pam, pam_side, nuclease, score: as for `multi`. exact_5p, exact_3p: how many of a pattern's
    first and last letters must match, with nothing skipped in them or beside them.
    max_mismatches, max_insertions (of pattern letters that are skipped), max_deletions (of text
    letters): the most of each kind among the k differences; None is k. The other arguments, and
    what is raised, are those of `hamming`.

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
    where = _Where(genome, circular, regions, records, skip_records, variants)
    how = _How(device, threads, algorithm, scheduler, on_progress)
    return _hits(query, where, how, limit, annotate, score, nuclease)


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

    They are the minima at the smallest distance that a pattern has anywhere in the genome, with
    regions too: of these, those inside are given. each: `record` for those at the smallest distance
    that it has in each record, where `limit` counts those of a record. A pattern that
    matches nowhere has none, and a UserWarning names it. The arguments, and what is raised, are
    those of `hamming`.

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
    where = _Where(genome, circular, regions, records, skip_records)
    how = _How(device, threads, algorithm, scheduler, on_progress)
    return _hits(query, where, how, limit, annotate)


def pcr(
    genome: Searched,
    primers: PairsGiven,
    k: int | str,
    *,
    product: tuple[int, int] = PRODUCT,
    pairs: Pairing = "own",
    edit: bool = False,
    exact_3p: int = 0,
    max_unknown: int | None = None,
    sequence: bool = False,
    circular: bool | Sequence[str] = False,
    regions: RegionsGiven | None = None,
    records: Globs | None = None,
    skip_records: Globs | None = None,
    device: str = "auto",
    threads: int | None = None,
    algorithm: str = "bitplane",
    scheduler: Scheduler | None = None,
    on_progress: Progress | None = None,
) -> Products:
    """Find the products that pairs of primers make in a genome, in both directions.

    A product reaches from a site of a primer on `+` to a site of another on `-` that faces it.
    primers: a dict, name → (forward, reverse) or (forward, reverse, probe), of which each is a
    sequence, a SeqRecord or a list of alternates; or a path of a table of pairs, whose columns are
    name, forward, reverse and maybe probe or what a header line says, of FASTA or of BED with
    sequences in column 7, whose names end in `_F` and `_R`, `_1` and `_2` or `_LEFT` and `_RIGHT`,
    and of probes in `_P` or `_PROBE`. A product of a pair
    with probes holds one of them, within k on either strand. k: mismatches of a
    primer, or differences with edit=True, 0 ≤ k < m. product: (least, most) letters, primers
    included. pairs: `own` joins partners, `any` every two primers, one with itself too. exact_3p:
    how many of a primer's last letters must match, with nothing skipped in them or beside them.
    max_unknown: as for `hamming`, of each site. sequence: whether products have their text too.
    regions: only the products inside one of them.
    algorithm: of the search for the primers, `hamming` or, with edit=True, `edit`.
    The other arguments, and what is raised, are those of `hamming`.

        pair = ("AGAGTTTGATCMTGGCTCAG", "GWATTACCGCGGCKGCTG")
        products = kmatch.pcr("genome.fa", {"16S": pair}, k=2)
        products[products.length < 600].to_bed("16S.bed")
    """
    panel = load_pairs(primers)
    options = PcrOptions(product, pairs, edit, exact_3p, sequence, max_unknown)
    with on_cluster(Run(device, threads, algorithm), scheduler) as run:
        genomes = as_genomes(genome).with_circular(circular).with_records(records, skip_records)
        search = PcrSearch(panel, genomes, k, options, run, load_regions(regions))
        search.progress.tell = on_progress
        return Products(search, panel, sequence, genomes.named)


def primer(
    target: Genome | Path,
    background: Genome | Path,
    k: int,
    *,
    min_length: int | None = None,
    max_length: int | None = None,
    gc: Limits | None = None,
    tm: Limits | None = None,
    both_strands: bool = False,
    background_strand: Literal["both", "+"] = "both",
    regions: RegionsGiven | None = None,
    records: Globs | None = None,
    skip_records: Globs | None = None,
    device: str = "auto",
    threads: int | None = None,
    algorithm: str = "bitplane",
    scheduler: Scheduler | None = None,
    on_progress: Progress | None = None,
) -> Primers:
    """Find, for each position of a target, the shortest substring unlike all of a background.

    It holds A, C, G and T alone, and has at least k differences, 1 or more, from every substring of
    the background. min_length: letters that shorter primers are lengthened to. max_length: letters
    of the longest primer to look for. gc: (least, most) share of G and C, 0 to 1. tm: (least,
    most) melting temperature in °C. both_strands: also the primers of the target's reverse
    complement. background_strand: the strands of the background that count, `both` or `+`. regions:
    of the target, as `hamming` takes them: only the primers inside one of them are looked for.
    records, skip_records: of the background; these, device, threads, algorithm: as for `hamming`.
    on_progress(consumed, size) hears of bytes of the background that have been searched.

    Raises InputError for a file that cannot be used and for numbers that do not fit, and
    DeviceError for a device that cannot be used.

        primers = kmatch.primer("virus.fa", "host.fa.gz", k=10, max_length=30)
        primers[primers.tm > 55].to_bed("primers.bed")
    """
    options = PrimerOptions(min_length, max_length, gc, tm, both_strands, background_strand)
    with on_cluster(Run(device, threads, algorithm), scheduler) as run:
        selection = load_selection(records, skip_records)
        searched = as_genome(background).only(selection)
        where = load_regions(regions)
        search = PrimerSearch(as_genome(target), searched, k, options, run, where)
        search.progress.tell = on_progress
        return Primers(search, k, both_strands)


def guides(
    target: Genome | Path,
    genome: Searched,
    k: int,
    *,
    pam: Pams | None = None,
    pam_side: Side | None = None,
    length: int | None = None,
    nuclease: str | None = None,
    max_insertions: int = 0,
    max_deletions: int = 0,
    report: Literal["sites", "ends"] = "sites",
    score: Score | Sequence[Score] = (),
    best: int | None = None,
    regions: RegionsGiven | None = None,
    annotate: Path | Sequence[Path] | None = None,
    variants: Variants | Path | Sequence[Path] | None = None,
    circular: bool | Sequence[str] = False,
    records: Globs | None = None,
    skip_records: Globs | None = None,
    device: str = "auto",
    threads: int | None = None,
    scheduler: Scheduler | None = None,
    on_progress: Progress | None = None,
) -> Guides:
    """Find the guides of a target, and how many sites each has in a genome.

    A guide is every window of `length` letters A, C, G and T beside a PAM, on both strands of the
    target; target and genome may be one. By default they are those of SpCas9: 20 letters before
    NGG. nuclease: another one by its name, which sets pam, pam_side and length. k: mismatches of a
    site, 0 ≤ k < length; where there may be bulges, max_insertions of the guide or max_deletions of
    the site, differences. report: `sites`, each place once, or `ends`, every end beside a PAM.
    score: `mit`, for a column `specificity_mit` too. best: only so many guides, the most specific
    first. regions: only the guides inside one of them. annotate: as for `hamming`, of the guides in
    the target. records, skip_records: of the genome. The other arguments are those of `multi`. The
    specificity, 1 / (1 + the sum of CFD of all sites but one that is perfect), depends on k, bulges
    and PAMs; it is NaN for guides that are not SpCas9's.

    Raises InputError for a target without guides, and otherwise what `multi` does.

        guides = kmatch.guides("gene.fa", "genome.fa", k=3)
        guides[guides.d0 == 1].to_tsv("guides.tsv")
    """
    names = _scores(score)
    k = checked_count("k", k)
    best = None if best is None else checked_count("best", best, 1)
    beside, side = pam_of(nuclease, pam, pam_side)
    options = GuideOptions(
        k,
        NUCLEASES[CAS9].pam if beside is None else beside,
        side,
        guide_length_of(nuclease, length),
        max_insertions,
        max_deletions,
        names,
        best,
        report,
        nuclease,
    )
    found = Guides((), k, names)
    if annotate is not None:
        found.annotate(annotate)
    if variants is not None:
        found.add(VARIED)
    run = Run(device, threads, aligned=False, variants=load_variants(variants))
    with on_cluster(run, scheduler) as run:
        genomes = as_genomes(genome).with_circular(circular).with_records(records, skip_records)
        search = GuideSearch(as_genome(target), genomes, options, run, load_regions(regions))
        search.progress.tell = on_progress
        for _ in search:
            pass
    found.take([search.best(found.numbered(search.guides()))])
    return found


def assay(
    assays: PairsGiven,
    genome: Searched,
    k: int | str,
    *,
    edit: bool = False,
    exact_3p: int = 0,
    product: tuple[int, int] = PRODUCT,
    each: Each = "file",
    targets: Sequence[str] | None = None,
    monovalent: float = SALTS.monovalent,
    magnesium: float = SALTS.magnesium,
    dntps: float = SALTS.dntps,
    oligos: float = SALTS.oligos,
    circular: bool | Sequence[str] = False,
    records: Globs | None = None,
    skip_records: Globs | None = None,
    device: str = "auto",
    threads: int | None = None,
    scheduler: Scheduler | None = None,
    on_progress: Progress | None = None,
) -> Assays:
    """Find which assays amplify which genomes, and what differs.

    assays: as the primers of `pcr`, with a probe or several behind them: a dict, name → (forward,
    reverse, probe), or a path. An assay amplifies a genome that has a product of its primers within
    k, product and, where the assay has one, with a probe within k inside, on either strand; of
    several products the one with the fewest differences counts, the first of these. Where there is
    none, `amplifies` is `unknown` if there would be one with other letters in place of unknown
    ones, or behind the end of a record, and otherwise `no`; `reason` says why. each: whether a
    genome is a `file` or a `record` of one. targets: names of the genomes that should amplify.
    monovalent, magnesium, dntps: mM, and oligos: nM, both strands together, that the melting
    temperatures are for. The other arguments are those of `pcr`.

    Raises InputError for assays without two primers, and otherwise what `pcr` does.

        found = kmatch.assay("assays.tsv", ["a.fa", "b.fa"], k=3)
        found[found.amplifies == "no"].to_tsv("missed.tsv")
    """
    pairs = load_pairs(assays)
    options = AssayOptions(
        product, edit, exact_3p, each, Salts(monovalent, magnesium, dntps, oligos)
    )
    with on_cluster(Run(device, threads), scheduler) as run:
        genomes = as_genomes(genome).with_circular(circular).with_records(records, skip_records)
        search = AssaySearch(pairs, genomes, k, options, run)
        search.progress.tell = on_progress
        found = Assays(search, pairs, targets)
    found.check_targets()
    return found


def pack(
    genome: Genome | Path,
    path: Path,
    *,
    threads: int | None = None,
    on_progress: Progress | None = None,
) -> tuple[int, int]:
    """Write a genome to a file as bit planes, which every search takes as a genome.

    path: of the file, which is either whole or absent. threads: of the CPU, None for one a core.
    on_progress(consumed, size) hears of bytes read. Returns the records and the letters written.

    Raises InputError for a genome that cannot be used, and OutputError where writing fails.

        kmatch.pack("genome.fa.gz", "genome.kmatch")
        hits = kmatch.hamming("genome.kmatch", "guides.txt", k=3)
    """
    check_threads(threads)
    with open_output(path) as handle:
        parts = as_genome(genome).parts(on_progress, Workers(threads or cores()).ahead)
        return write_packed(parts, handle, threads=threads)


def _scores(given: str | Sequence[str]) -> list[str]:
    """The names of scores that are asked for."""
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        check_choice("score", name, tuple(SCORES))
    return names


@dataclass(frozen=True)
class _Where:
    """Where patterns are searched for; see `hamming`."""

    genome: Searched
    circular: bool | Sequence[str]
    regions: RegionsGiven | None
    records: Globs | None
    skip_records: Globs | None
    variants: Variants | Path | Sequence[Path] | None = None


@dataclass(frozen=True)
class _How:
    """How a search runs; see `hamming`."""

    device: str
    threads: int | None
    algorithm: str
    scheduler: Scheduler | None
    on_progress: Progress | None


def _hits(
    query: Query,
    where: _Where,
    how: _How,
    limit: int | None,
    annotate: Path | Sequence[Path] | None,
    score: Score | Sequence[Score] = (),
    nuclease: str | None = None,
) -> Hits:
    """Return the Hits of a search for patterns: with alignments where a column needs them."""
    patterns = beside_pams(query.patterns, query.pam, query.pam_side)
    query = query._replace(patterns=patterns)
    variants = load_variants(where.variants)
    names = _scores(score)
    k_each = pattern_distances(patterns, query.k) if isinstance(query.k, str) else None
    run = Run(how.device, how.threads, how.algorithm, variants=variants)
    with on_cluster(run, how.scheduler) as run:
        genomes = as_genomes(where.genome).with_circular(where.circular)
        genomes = genomes.with_records(where.records, where.skip_records)

        # Alignments come with the hits where these cannot be read again, or a column needs them.
        aligned = not genomes.can_reread or bool(names or variants)
        run = run._replace(aligned=aligned)
        align = partial(with_alignments, query=query, genomes=genomes, threads=run.threads)

        # A table without rows, with all its columns.
        pam_first = query.pam_side == "5p"
        hits = Hits((), patterns, genomes, pam_first, k_each, None if aligned else align)
        hits.threads = run.threads
        hits.add_scores(names)
        if annotate is not None:
            hits.annotate(annotate)
        if variants is not None:
            hits.add(VARIANTS)
            hits.has_alleles = variants.alleles
        if genomes.can_reread:
            longest = 2 * int(patterns.lengths.max()) + BESIDE
            hits.letters = GenomeTexts(genomes, longest).letters

        # Its rows.
        scorer = make_scorer(query, names, nuclease, run.threads) if names else None
        search = begin_search(query, genomes, run, load_regions(where.regions), scorer)
        search.progress.tell = how.on_progress
        hits.take(limited(search, patterns, limit, query.each))
    return hits
