"""The searches that show what the constants of each cost model are, and how long they take."""

import time
from functools import partial
from itertools import product
from typing import NamedTuple
from unittest import mock

import numpy as np

import kmatch
from harness.fitting import Cell
from harness.timing import timed
from harness.workloads import TooFew, cut_panel, guide_panel
from kmatch.engine import costs
from kmatch.engine.choice import SiteWork
from kmatch.engine.costs import CPU
from kmatch.engine.cpu.edit import beside
from kmatch.engine.cpu.edit import filter as edit_filter
from kmatch.engine.cpu.edit.anchors import anchored_masks
from kmatch.engine.cpu.edit.scan import stretches
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.cpu.hamming.seeds import seed_factors
from kmatch.engine.differences import difference_query
from kmatch.engine.geometry import base_pairs, likeness
from kmatch.engine.host.sites import site_factors
from kmatch.search.edit import edit_batches
from kmatch.search.hamming import hamming_batches
from kmatch.search.mismatches.seeds import some_codes
from kmatch.search.multi import multi_batches
from kmatch.search.panels.pam import Pam
from kmatch.search.panels.panel import build_reading_panel
from kmatch.search.running import by_name
from kmatch.search.scanning.chunks import packed_chunks, plan_reading
from kmatch.sequences.patterns import load_patterns

STRANDS = 2
CAPACITY = 1 << 22  # hits of a chunk, so that none is scanned twice
LITTLE = 1_000
MISMATCHES = [(12, 1), (12, 3), (20, 1), (20, 3), (20, 5), (32, 2), (32, 4), (32, 6)]
DIFFERENCES = [(12, 1), (20, 1), (20, 2), (20, 3), (32, 1), (32, 2), (32, 4)]
DIFFERENCES += [(64, 1), (64, 4), (64, 6), (100, 4), (100, 8)]
PARTS, MOST_SOUGHT = (1, 16, 64), 100  # one of them is searched for differences; patterns then
SCANNED, LOOKED_UP, SOUGHT = (10, 30, 100, 300), (300, 1_000, 5_000, 20_000), 8  # patterns
SUMMED = 110  # queries from which on a scan is by sums of triplets
BESIDE, PAM = (10, 100, 300, 1_000), "NGG"  # patterns beside a PAM
ANCHORED = [(20, 2), (20, 3), (20, 4), (24, 4)]
DENSE = [(20, 5), (20, 6), (24, 7)]  # many ends are within k
DEEPER = range(0, 17, 2)
NEVER = 1e12  # ns of a way that is not to be chosen
SHORT, MOST_REPEATS = 3e6, 20  # ns of a call that is repeated more often, and how often at most


class Model(NamedTuple):
    """units: of its constants, by name; cells: cells(text, options) yields Cells."""

    units: dict
    cells: object


def kernels(batches, text, patterns, k, options, **more):
    """(nanoseconds of a search's kernels, its hits) a letter."""
    genome = kmatch.Genome.from_records([("text", text.letters)])
    panel, least = load_patterns(patterns), float("inf")
    for _ in range(1 + options.repeat):  # the first one compiles and packs
        watches = []
        search = {"device": "cpu", "threads": 1, "capacity": CAPACITY, **more}
        search["on_engine"] = lambda engine, watches=watches: watches.append(engine.time_kernels())
        hits = sum(map(len, by_name(batches, genome, panel, k, **search)))
        least = min(least, watches[0].seconds)
    return least / len(text.letters) * 1e9, hits / len(text.letters)


def panels(cut, text, settings, counts):
    """Yield (patterns, m, k) of every panel that a text has."""
    for length, k in settings:
        for count in counts:
            try:
                yield cut(text, count, length), length, k
            except TooFew as error:
                print(error)


def scan_cells(text, options):
    for patterns, _, k in panels(cut_panel, text, MISMATCHES, SCANNED):
        ns, hits = kernels(hamming_batches, text, patterns, k, options)
        queries = len(patterns) * STRANDS
        ways = (0, 1, queries) if queries >= SUMMED else (queries, 0, 0)
        yield Cell([*ways, k * queries, hits], ns)


def seed_cells(text, options):
    for patterns, _, k in panels(cut_panel, text, MISMATCHES, LOOKED_UP):
        ns, _ = kernels(multi_batches, text, patterns, k, options, filtering=True)
        codes = some_codes(load_patterns(patterns))
        factors = seed_factors(codes, k, len(patterns) * STRANDS, positions=0)
        yield Cell([*factors[:-1]], ns)  # tables are made beforehand


def edit_cells(name, text, options):
    """Yield the Cells of a part of `estimate`, which is linear in its constants."""
    for parts, (length, k) in product(PARTS, DIFFERENCES):
        many = min(SOUGHT * parts, MOST_SOUGHT)
        for patterns, _, _ in panels(cut_panel, text, [(length, k)], (many,)):
            engine = CpuEngine(1)
            letters, query = planned(patterns, k, engine)
            chunk = one_chunk(text.letters[: len(text.letters) // parts], length, k, engine)
            planes = chunk.text(letters.masks, engine)
            ns = scan_ns(partial(scan, engine, planes, query, name == "pieces"), options)
            queries = [*estimated_queries(planes, query)]
            ns /= 64 * planes.words * planes.rows
            now, deeper = estimated(name, queries, CPU.recurrence.deeper), None
            if name == "recurrence":
                deeper = {value: estimated(name, queries, value) for value in DEEPER}
            yield Cell(now, ns, deeper)


def planned(patterns, k, engine):
    """(letters of a panel on both strands, its DifferenceQuery)."""
    panel = build_reading_panel(load_patterns(patterns), "both")
    limits = np.full(len(panel.pattern), k)
    return panel.letters, difference_query(panel.letters, limits, engine)


def one_chunk(letters, length, k, engine):
    """Letters as one chunk for a search for differences."""
    genome = kmatch.Genome.from_records([("text", letters)])
    genome.keep = False
    plan = plan_reading(length, k, k + 1, len(letters), engine.layout)
    return next(packed_chunks(genome, plan, engine, engine.layout.reading_words))


def scan(engine, text, query, filtering):
    """Nanoseconds of the kernels of a search for differences."""
    watch = engine.time_kernels()
    engine.start_edit(text, query, filtering, CAPACITY).wait()
    return watch.seconds * 1e9


def scan_ns(call, options):
    """The least of the repeats of a call, which are more where it is short; the first compiles."""
    longest = max(call(), call(), 1.0)
    return min(call() for _ in range(options.repeat * int(min(1 + SHORT / longest, MOST_REPEATS))))


def estimated_queries(text, query):
    """Yield the arguments of `estimate` for each query but for the costs."""
    letters, begins, backward, bases = query.reading
    shares = edit_filter.letter_shares(text, len(bases))
    extent = edit_filter.extent_of(text, stretches(len(query.limits), query.reach, text.rows, 1))
    for q, k in enumerate(query.limits):
        yield letters[begins[q] : begins[q + 1]], k, backward[q], shares, extent


def estimated(name, queries, deeper):
    """The factor of each constant: `estimate` with that constant 1 and all others 0."""
    none = costs.Recurrence(0.0, 0.0, 0.0, deeper), costs.Pieces(*[0.0] * len(CPU.pieces))
    both, factors = dict(zip(("recurrence", "pieces"), none, strict=True)), []
    for one in MODELS[name].units:
        values = both | {name: both[name]._replace(**{one: 1.0})}
        times = [edit_filter.estimate(*query, tuple(values.values())) for query in queries]
        parts = [time[0] if name == "recurrence" else time[1] + time[2] for time in times]
        factors.append(sum(parts))
    return factors


def site_cells(text, options):
    """Yield the Cells of finding the sites, and comparing patterns there."""
    share = Pam(PAM, "3p").share_among(pairs_of(text))
    for patterns, length, k in panels(guide_panel, text, [(20, 3), (48, 3)], BESIDE):
        ns = whole_ns(multi_batches, text, patterns, k, options)
        work = SiteWork(len(patterns), length, k, STRANDS, positions=0, share=share)
        yield Cell([*site_factors(work)], ns)


def pairs_of(text):
    return base_pairs(one_chunk(text.letters, 20, 4, CpuEngine(1)).plain)


def anchor_cells(name, text, options):
    """Yield the Cells of one of both ways to search for differences at the sites of a PAM."""
    other = {"anchors": "anchor_seeds", "anchor_seeds": "anchors"}[name]
    never = getattr(CPU, other)._replace(position=NEVER)
    pairs = pairs_of(text)
    alike, share = likeness(pairs.sum(axis=1)), Pam(PAM, "3p").share_among(pairs)
    for patterns, _, k in panels(guide_panel, text, ANCHORED, BESIDE):
        with mock.patch.object(beside, "CPU", CPU._replace(**{other: never})):
            ns = whole_ns(edit_batches, text, patterns, k, options)
        _, query = planned(patterns, k, CpuEngine(1))
        if name == "anchors":
            yield Cell([*beside.anchor_factors(query, share, alike)], ns)
        else:
            pieces = beside.anchor_pieces(*anchored_masks(query), query.k, alike)
            positions = len(text.letters)
            yield Cell([*beside.anchor_seed_factors(query, pieces, share, alike, positions)], ns)


def beside_cells(text, options):
    """Yield the Cells of what is done with the ends that a scan beside a PAM finds."""
    for patterns, _, k in panels(guide_panel, text, DENSE, (100, 300)):
        engine = CpuEngine(1)
        _, query = planned(patterns, k, engine)
        planes = one_chunk(text.letters, 20, k, engine).plain
        shares, extent = edit_filter.letter_shares(planes, 4), edit_filter.extent_of(planes, 1)
        spent = edit_filter.expected_time(query, shares, extent, (CPU.recurrence, CPU.pieces))
        ns = whole_ns(edit_batches, text, patterns, k, options, filtering=False)
        yield Cell([edit_filter.expected_ends(query, shares)], max(ns - spent, 1e-3))


def whole_ns(batches, text, patterns, k, options, filtering=True):
    """Nanoseconds a letter of a search beside a PAM, without what any search of the panel costs
    beforehand; filtering: whether the sites are found first."""
    genome, little = (
        kmatch.Genome.from_records([("text", letters)])
        for letters in (text.letters, text.letters[:LITTLE])
    )
    panel = load_patterns(patterns)
    search = {"pam": PAM, "threads": 1, "device": "cpu"}

    def run(genome):
        at_sites = filtering and genome is not little  # tables are part of the search
        return sum(map(len, by_name(batches, genome, panel, k, **search, filtering=at_sites)))

    seconds = least_seconds(run, genome, options) - least_seconds(run, little, options)
    return max(seconds, 1e-6) / len(text.letters) * 1e9


def least_seconds(run, genome, options):
    """The least seconds of a search's thread, after a run that is not counted."""
    run(genome)
    return min(timed(partial(run, genome), time.process_time)[1] for _ in range(options.repeat))


MODELS = {
    "scan": Model(
        {
            "pair": "ns a position and query",
            "sums": "ns a position",
            "summed": "ns a position and query, by sums",
            "mismatch": "ns a mismatch, position and query",
            "hit": "ns a hit",
        },
        scan_cells,
    ),
    "seeds": Model(
        {
            "position": "ns a position",
            "lookup": "ns a piece and position",
            "branch": "ns a look-up that finds something",
            "candidate": "ns a candidate",
        },
        seed_cells,
    ),
    "sites": Model(
        {
            "position": "ns a position",
            "site": "ns a site",
            "letter": "ns a letter of a site",
            "pair": "ns a site and pattern",
        },
        site_cells,
    ),
    "recurrence": Model(
        {
            "cell": "ns a cell",
            "column": "ns a position and query",
            "query": "ns a query and part of a chunk",
        },
        partial(edit_cells, "recurrence"),
    ),
    "pieces": Model(
        {
            "query": "ns a query and part of a chunk",
            "piece": "ns a piece and part of a chunk",
            "letter": "ns a letter and position",
            "look": "ns a piece and position",
            "stop": "ns for words with survivors",
            "window": "ns a window",
            "column": "ns a column",
            "block": "ns a block of a column",
        },
        partial(edit_cells, "pieces"),
    ),
    "anchors": Model(
        {
            "position": "ns a position",
            "letter": "ns a letter of a site",
            "cell": "ns a cell",
            "pair": "ns a site and pattern",
        },
        partial(anchor_cells, "anchors"),
    ),
    "anchor_seeds": Model(
        {
            "position": "ns a position",
            "site": "ns a site",
            "lookup": "ns a piece and site",
            "branch": "ns a look-up that finds something",
            "candidate": "ns a candidate",
            "entry": "ns an entry of the tables",
        },
        partial(anchor_cells, "anchor_seeds"),
    ),
    "beside": Model({"end": "ns an end"}, beside_cells),
}
