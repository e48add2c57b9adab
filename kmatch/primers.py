"""The public functions for primers, guides and assays; `kmatch.api` has the others."""

from collections.abc import Sequence
from typing import Literal

import kmatch.published.registry  # noqa: F401  offers its algorithms to searches
from kmatch.apps.assay import AssayOptions, AssaySearch
from kmatch.apps.guides import GuideOptions, GuideSearch
from kmatch.apps.pcr import PRODUCT, PcrOptions, PcrSearch
from kmatch.apps.primer import PrimerOptions, PrimerSearch
from kmatch.apps.searches import on_cluster
from kmatch.arguments import checked_count
from kmatch.calls import (
    Each,
    Globs,
    Limits,
    Pairing,
    Pams,
    Path,
    Scheduler,
    Score,
    Searched,
    Side,
    known_scores,
)
from kmatch.errors import InputError
from kmatch.genome import Genome, as_genome, as_genomes
from kmatch.nucleases import CAS9, NUCLEASES, guide_length_of, pam_of
from kmatch.results.assays import Assays
from kmatch.results.guides import VARIED, Guides
from kmatch.results.melting import SALTS, Salts
from kmatch.results.table import Primers, Products
from kmatch.search.query import Run
from kmatch.search.regions import RegionsGiven, load_regions
from kmatch.sequences.oligos import PairsGiven, load_pairs
from kmatch.sequences.records import Progress
from kmatch.sequences.selection import load_selection
from kmatch.variants.vcf import Variants, load_variants


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

    A product reaches from a site of a primer on `+` to a site of its partner on `-` that faces it.
    A product of a pair with probes holds one of them, within k on either strand.

    Args:
        genome: a Genome, or the path of FASTA, FASTQ, 2bit, GenBank or a packed genome. A list of
            these, or `@` and the path of a file that names one a line, is searched genome by
            genome, and the hits have a column `genome`.
        primers: a dict name → (forward, reverse) or (forward, reverse, probe), each a sequence, a
            SeqRecord or a list of alternates; or the path of a table of pairs, or of FASTA or BED
            whose names end in `_F` and `_R`, `_1` and `_2` or `_LEFT` and `_RIGHT`.
        k: most mismatches of a primer, or differences with edit=True, 0 ≤ k < its letters; or a
            share of its letters, such as `"10%"`.
        product: (least, most) letters of a product, primers included.
        pairs: `own` joins the partners of a pair, `any` joins every two primers, one with itself
            too.
        edit: True for sites with insertions and deletions.
        exact_3p: last letters of a primer that have to match, with nothing skipped in or beside
            them.
        max_unknown: most letters of a hit that are no A, C, G or T. They match the bases that they
            may stand for, N any base. None lets them match nothing. With k it is smaller than every
            pattern.
        sequence: True for a column with the letters of each product.
        circular: True, or the names of records: they are circles, and hits run over the origin.
            Such a hit has start < n < end in a record of n letters.
        regions: path of BED, or rows (record, start, end). Only products inside a region are found.
        records: globs, such as `chr[0-9]*,chrX` or a list. Only records whose names fit, in their
            case, are searched.
        skip_records: globs. Records whose names fit are not searched.
        device: `cpu`, `cuda`, `cuda:0`, `cuda:0,1` or `cuda:all`. `auto` takes a GPU where it is
            expected to be faster.
        threads: threads of the CPU; None for one a core.
        algorithm: `bitplane`, or the name of a published algorithm of `hamming`, or with edit=True
            of `edit`.
        scheduler: address, scheduler file or Client of a Dask cluster that searches in place of
            this machine.
        on_progress: function (consumed, size), called with bytes read, genomes of a list done or
            tasks of a cluster done. The size is None where it is unknown.

    Returns:
        Products, a table with a row a product.

    Raises:
        InputError: a file, a pattern or an argument cannot be used.
        DeviceError: the device cannot be used.
        ClusterError: the cluster cannot be used, or failed.

    Example:
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

    The substring has at least k differences from every substring of the background.

    Args:
        target: a Genome, or the path of one: the sequences that primers bind.
        background: a Genome, or the path of one: the sequences that primers do not bind.
        k: fewest differences from the background, 1 or more.
        min_length: letters to which shorter primers are lengthened; None lengthens none.
        max_length: letters of the longest primer to look for; None for no limit.
        gc: (least, most) share of G and C, from 0 to 1.
        tm: (least, most) melting temperature, °C.
        both_strands: True to find also primers of the target's reverse complement.
        background_strand: `both`, or `+` to compare with the background as written alone.
        regions: path of BED, or rows (record, start, end). Only primers of the target inside a
            region are looked for.
        records: globs, such as `chr[0-9]*,chrX` or a list. Only records of the background whose
            names fit are searched.
        skip_records: globs. Records of the background whose names fit are not searched.
        device: `cpu`, `cuda`, `cuda:0`, `cuda:0,1` or `cuda:all`. `auto` takes a GPU where it is
            expected to be faster.
        threads: threads of the CPU; None for one a core.
        algorithm: `bitplane`, or the name of a published algorithm.
        scheduler: address, scheduler file or Client of a Dask cluster that searches in place of
            this machine.
        on_progress: function (consumed, size), called with bytes of the background searched.

    Returns:
        Primers, a table with a row a primer.

    Raises:
        InputError: a file, a pattern or an argument cannot be used.
        DeviceError: the device cannot be used.
        ClusterError: the cluster cannot be used, or failed.

    Example:
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
    """Find the guides of a target, and count the sites of each in a genome.

    A guide is every window of `length` letters A, C, G and T beside a PAM, on both strands of the
    target. The specificity of a guide is 1 / (1 + the sum of CFD of its sites), where the sum
    leaves one perfect site out. It depends on k, bulges and PAMs.

    Args:
        target: a Genome, or the path of one: the sequences that guides cut. It may be the genome
            itself.
        genome: a Genome, or the path of FASTA, FASTQ, 2bit, GenBank or a packed genome. A list of
            these, or `@` and the path of a file that names one a line, is searched genome by
            genome, and the hits have a column `genome`.
        k: most mismatches of a site, 0 ≤ k < length; with bulges, most differences.
        pam: IUPAC letters that have to stand beside a guide and its sites; of several, a list or
            `NGG,NAG`, the first that stands there is the PAM.
        pam_side: `3p` for a PAM behind the guide (NGG), `5p` for a PAM before it (TTTV).
        length: letters of a guide.
        nuclease: name of a nuclease, such as `cas12a`, which sets pam, pam_side and length; `kmatch
            info --nucleases` lists them. SpCas9 is the default: 20 letters before NGG.
        max_insertions: most letters of the guide that a site lacks.
        max_deletions: most letters of a site that the guide lacks.
        report: `sites` counts each place once, `ends` every end beside a PAM.
        score: `mit` adds a column `specificity_mit`.
        best: most guides to return, the most specific first; None for all.
        regions: path of BED, or rows (record, start, end). Only guides of the target inside a
            region are found.
        annotate: path, or paths, of GFF3, GTF, GenBank or BED. The guides have columns `gene` and
            `region`, by their place in the target.
        variants: path of VCF, or Variants. Sites that haplotypes make are counted too.
        circular: True, or the names of records: they are circles, and hits run over the origin.
            Such a hit has start < n < end in a record of n letters.
        records: globs, such as `chr[0-9]*,chrX` or a list. Only records of the genome whose names
            fit are searched.
        skip_records: globs. Records of the genome whose names fit are not searched.
        device: `cpu`, `cuda`, `cuda:0`, `cuda:0,1` or `cuda:all`. `auto` takes a GPU where it is
            expected to be faster.
        threads: threads of the CPU; None for one a core.
        scheduler: address, scheduler file or Client of a Dask cluster that searches in place of
            this machine.
        on_progress: function (consumed, size), called with bytes read, genomes of a list done or
            tasks of a cluster done. The size is None where it is unknown.

    Returns:
        Guides, a table with a row a guide.

    Raises:
        InputError: the target has no guide, or a file or an argument cannot be used.
        DeviceError: the device cannot be used.
        ClusterError: the cluster cannot be used, or failed.

    Example:
            guides = kmatch.guides("gene.fa", "genome.fa", k=3)
            guides[guides.d0 == 1].to_tsv("guides.tsv")
    """
    names = known_scores(score)
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
    """Find which assays amplify which genomes, and where oligos and genomes differ.

    An assay amplifies a genome that has a product of its primers within k. A probe has to lie
    inside the product, within k, on either strand. Of several products the first with the fewest
    differences counts.

    Where there is no product, `amplifies` is `unknown` if there would be one with other letters in
    place of unknown letters or behind the end of a record, and otherwise `no`; `reason` says why.

    Args:
        assays: a dict name → (forward, reverse) or (forward, reverse, probe), each a sequence, a
            SeqRecord or a list of alternates; or the path of a table of assays, or of FASTA or BED
            whose names end in `_F`, `_R` and `_P`.
        genome: a Genome, or the path of FASTA, FASTQ, 2bit, GenBank or a packed genome. A list of
            these, or `@` and the path of a file that names one a line, is searched genome by
            genome, and the hits have a column `genome`.
        k: most mismatches of an oligo, or differences with edit=True, 0 ≤ k < its letters; or a
            share of its letters, such as `"10%"`.
        edit: True for sites with insertions and deletions.
        exact_3p: last letters of a primer that have to match.
        product: (least, most) letters of a product, primers included.
        each: `file` asks about each genome, `record` about each record of it.
        targets: names of the genomes that assays should find.
        monovalent: Na⁺ and K⁺ for melting temperatures, mM.
        magnesium: Mg²⁺ for melting temperatures, mM.
        dntps: dNTPs for melting temperatures, mM.
        oligos: both strands of a duplex together, for melting temperatures, nM.
        circular: True, or the names of records: they are circles, and hits run over the origin.
            Such a hit has start < n < end in a record of n letters.
        records: globs, such as `chr[0-9]*,chrX` or a list. Only records whose names fit, in their
            case, are searched.
        skip_records: globs. Records whose names fit are not searched.
        device: `cpu`, `cuda`, `cuda:0`, `cuda:0,1` or `cuda:all`. `auto` takes a GPU where it is
            expected to be faster.
        threads: threads of the CPU; None for one a core.
        scheduler: address, scheduler file or Client of a Dask cluster that searches in place of
            this machine.
        on_progress: function (consumed, size), called with bytes read, genomes of a list done or
            tasks of a cluster done. The size is None where it is unknown.

    Returns:
        Assays, a table with a row an assay and genome.

    Raises:
        InputError: an assay lacks a primer, or a file or an argument cannot be used.
        DeviceError: the device cannot be used.
        ClusterError: the cluster cannot be used, or failed.

    Example:
            found = kmatch.assay("assays.tsv", ["a.fa", "b.fa"], k=3)
            found[found.amplifies == "no"].to_tsv("missed.tsv")
    """
    if isinstance(targets, str):
        raise InputError(f"targets is {targets!r}; give a list of names of genomes")
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
