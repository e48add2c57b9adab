"""k mismatches of a panel of equal-length patterns, anywhere or beside a PAM."""

import numpy as np

from kmatch.engine.protocol import SeedLookup, SiteChoice
from kmatch.errors import InputError
from kmatch.genome import as_genome
from kmatch.published.run import choose_algorithm
from kmatch.results.hits import Hits
from kmatch.search.chunks import packed_chunks, plan_chunks
from kmatch.search.hamming import WindowSearch
from kmatch.search.mismatches.seeds import LONGEST, SeedSearch, some_codes
from kmatch.search.mismatches.sites import Pam, SiteSearch
from kmatch.search.panel import check_distance, wanted_strands
from kmatch.search.published import PublishedWindows
from kmatch.search.repeats import distinct_patterns, with_copies
from kmatch.search.work import window_work
from kmatch.sequences.names import shown
from kmatch.sequences.patterns import load_patterns


def multi(genome, patterns, k, **options):
    """Find every window of a genome with at most k mismatches to a pattern of a panel.

    genome: a Genome or a path; patterns: a list of sequences of one length, a dict name →
    sequence, or a path; options: those of `multi_batches`. Returns Hits.
    Raises InputError for an unusable file, pattern or PAM, patterns of unequal length, or k ≥ m,
    and DeviceError for the device.
    """
    panel = load_patterns(patterns)
    return Hits(multi_batches(as_genome(genome), panel, k, **options), panel)


def multi_batches(
    genome,
    patterns,
    k,
    *,
    pam=None,
    pam_side="3p",
    strand="both",
    exact_5p=0,
    exact_3p=0,
    device="auto",
    threads=None,
    algorithm="bitplane",
    on_progress=None,
    on_engine=None,
    chunk_length=None,
    words=None,
    capacity=None,
    filtering=None,
):
    """Yield the hits as HitBatches, in order, while the genome is read.

    genome: a Genome; patterns: a list of Pattern of one length m; k: int, 0 ≤ k < m; pam: IUPAC
    letters that must stand beside a pattern, after it (pam_side `3p`) or before it (`5p`): a hit
    spans both, its distance counts the pattern alone; filtering: whether to look up pieces of the
    patterns, or find the sites of the PAM, instead of comparing all, which tests set and the engine
    chooses otherwise. The other options are those of `hamming_batches`.
    """
    patterns, copies = distinct_patterns(patterns)
    _check_lengths(patterns)
    check_distance(patterns, k)
    pam = Pam(pam, pam_side) if pam is not None else None
    work = window_work(genome, patterns, k, strand)
    engine, run = choose_algorithm("multi", algorithm, patterns, device, threads, work)
    if on_engine:
        on_engine(engine)
    length, ends = len(patterns[0]), (exact_5p, exact_3p)
    strands = len(wanted_strands(strand))
    queries = len(patterns) * strands
    looks_up = isinstance(engine, SeedLookup) and length <= LONGEST
    if filtering is None:
        if pam:
            filtering = isinstance(engine, SiteChoice) and engine.sites_pay(
                queries, strands, pam.share
            )
        elif looks_up:
            filtering = engine.seeds_pay(some_codes(patterns), k, queries)
    if run:
        search = PublishedWindows(engine, run, patterns, k, strand, ends, pam)
        whole = int(search.panel.lengths.max())
        plan = plan_chunks(whole, k, queries, chunk_length, run.layout)
    elif filtering and pam:
        search = SiteSearch(engine, patterns, k, pam, strand, ends, capacity)
        plan = plan_chunks(length + len(pam), k, 1, chunk_length, engine.layout)
    else:
        if filtering and looks_up:
            search = SeedSearch(engine, patterns, k, strand, ends, capacity)
        else:
            search = WindowSearch(engine, patterns, k, strand, ends, capacity, pam)
        longest = length + len(pam) if pam else length
        plan = plan_chunks(longest, k, queries, chunk_length, engine.layout)
    chunks = packed_chunks(genome, plan, engine, words, on_progress)
    yield from with_copies(search.run(chunks), copies)


def _check_lengths(patterns):
    if len(others := np.flatnonzero(patterns.lengths != patterns.lengths[0])):
        first, pattern = patterns[0], patterns[others[0]]
        raise InputError(
            f"pattern '{shown(pattern.name)}' has {len(pattern)} letters and the first one, "
            f"'{shown(first.name)}', {len(first)}: a panel has one length; "
            "search others with kmatch hamming"
        )
