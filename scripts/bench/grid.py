#!/usr/bin/env python
"""Compare the way that kmatch chooses with all others, over a grid of searches.

    scripts/bench/grid.py [--genome FASTA] [--at-rich FASTA] [--at-rich-record NAME]
        [--length BASES] [--shortest BASES] [--m M,…] [--k K,…] [--patterns N,…]
        [--searches NAME,…] [--device DEVICE] [--sample N] [--threads N] [--jobs N] [--cpu-time]
        [--seconds S] [--repeat N] [--only WORD] [--json FILE] [--resume]

A cell is a text (random letters, the beginning of a genome, or four fifths A and T), a panel cut
out of it, a search (`multi` or `edit`, also beside NGG) and k below m/3; --sample draws N of them.
Its ways are the one that the engine chooses, filtering (pieces looked up, sites of the PAM found
first, pieces of a pattern sought), scanning without a filter, and for `multi` also `hamming`. All
have to find as many hits.
They are called on a slice of the text, --shortest at first, that grows until the fastest way takes
long enough to be timed, or another would take more than --seconds; a way far slower than the
fastest is then left behind. Seconds are the least of the repeats, in turn, each behind one that is
not timed, less those of a text of 1,000 letters, the cost of the patterns before the text is read,
in the way where that is least. A cell is too slow where the chosen way takes 1.3 times as long as
the fastest and more than 2 ms longer, also after as many repeats again; then the exit status is 1.
Where the text takes less than a quarter of the patterns' cost, whole calls are compared (column
`of`). --cpu-time is the better measure where other programs run, and with --jobs, the cells that
are measured side by side. The record is kept after every cell; --resume leaves out the cells that
it has.
"""

import json
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from itertools import product
from multiprocessing import get_context
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from harness.compare import Search, described
from harness.options import is_wanted, text_parser, texts
from harness.records import Table, write_results
from harness.timing import take_turns, timed
from harness.workloads import SEED, TooFew, cut_panel, guide_panel

import kmatch
from kmatch.search.edit import edit_batches
from kmatch.search.hamming import hamming_batches
from kmatch.search.multi import multi_batches
from kmatch.search.running import by_name
from kmatch.sequences.patterns import load_patterns

LENGTHS, LIMITS, COUNTS = (12, 20, 32, 64), (1, 2, 3, 4, 5, 6), (1, 10, 100, 1_000, 10_000, 100_000)
SEARCHES = {
    "multi": ("multi", None),
    "multi NGG": ("multi", "NGG"),
    "edit": ("edit", None),
    "edit NGG": ("edit", "NGG"),
}
BATCHES = {"multi": multi_batches, "edit": edit_batches}
CHOSEN = "chosen"
WAYS = {CHOSEN: None, "filtering": True, "scanning": False}
LITTLE, SHORTEST, GROWTH = 1_000, 1 << 14, 4  # letters, and how a slice grows
ENOUGH = 0.1  # seconds of the fastest way, and no less than the cost of the patterns
HOPELESS = 3  # times as slow as the fastest way, from which on a way is left behind
TOLERANCE, NOISE = 1.3, 0.002  # the second in seconds
KNOWN = 0.25  # of the patterns' cost: the least share of the text's seconds that can be measured
WHOLE = attrgetter("whole")
KINDS = "random", "real", "at-rich"  # of texts
DIGITS = 6  # of seconds in the record
COLUMNS = (
    ("text", "text", "<26s"),
    ("search", "search", "<16s"),
    ("panel", "panel", "<18s"),
    ("letters", "letters", ">11,d"),
    (CHOSEN, "chosen s", ">9.4f"),
    ("filtering", "filtering", ">9.4f"),
    ("scanning", "scanning", ">9.4f"),
    ("hamming", "hamming", ">9.4f"),
    ("ratio", "÷ fastest", ">9.2f"),
    ("basis", "of", "<4s"),
    ("hits", "hits", ">11,d"),
    ("verdict", "", "<10s"),
)


class Run(NamedTuple):
    """The hits of a call, its seconds, and the part of them that the text took."""

    hits: int
    whole: float
    seconds: float


class Way(NamedTuple):
    """One way of searching a panel; call(genome) returns the number of hits."""

    call: object
    clock: object
    setup: float  # seconds with a text of LITTLE letters

    @classmethod
    def measure(cls, call, clock, little, repeat):
        call(little)  # compiles
        times = [timed(partial(call, little), clock)[1] for _ in range(repeat)]
        return cls(call, clock, min(times))

    def run(self, genome, calls=1):
        """The Run of the last of some calls; those before bring back what other ways displaced."""
        for _ in range(calls - 1):
            self.call(genome)
        hits, seconds = timed(partial(self.call, genome), self.clock)
        return Run(hits, seconds, seconds - self.setup)


def numbers(words):
    return tuple(int(word) for word in words.split(","))


def main():
    parser = text_parser(__doc__, length=1 << 24, seconds=20, repeat=3)
    parser.add_argument("--m", type=numbers, default=LENGTHS)
    parser.add_argument("--k", type=numbers, default=LIMITS)
    parser.add_argument("--patterns", type=numbers, default=COUNTS)
    parser.add_argument("--searches", type=lambda words: words.split(","), default=[*SEARCHES])
    parser.add_argument("--shortest", type=int, default=SHORTEST, help="letters of a slice")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sample", type=int, metavar="N", help="cells drawn from the grid")
    parser.add_argument("--cpu-time", action="store_true", help="of all threads together")
    parser.add_argument("--jobs", type=int, default=1, help="cells that are measured side by side")
    parser.add_argument("--resume", action="store_true", help="leave out what --json has")
    options = parser.parse_args()
    shown, skipped = Table(COLUMNS), []
    known = json.loads(Path(options.json).read_text()) if options.resume else {"rows": []}
    for row in known["rows"]:
        shown.add(row)
    done = {tuple(row["cell"]) for row in shown.rows}
    wanted = [cell for cell in cells(options) if cell not in done]
    for row in measured(wanted, options):
        if isinstance(row, str):
            skipped.append(row)
            continue
        shown.add(row)
        write_results(options.json, shown.rows, skipped=skipped, device=options.device)
    slow = sum(row["verdict"] != "" for row in shown.rows)
    print(f"{slow} of {len(shown.rows)} cells are not right; {len(skipped)} have no panel")
    write_results(options.json, shown.rows, skipped=skipped, device=options.device)
    sys.exit(slow > 0)


class Cell(NamedTuple):
    """kind: of text; m: letters of a pattern; count: patterns; name: of one of SEARCHES."""

    kind: str
    m: int
    count: int
    name: str
    k: int


def cells(options):
    """The Cells that are wanted."""
    kinds = [kind for kind in KINDS if kind != "real" or options.genome]
    axes = kinds, options.m, options.patterns, options.searches, options.k
    every = [cell for cell in map(Cell._make, product(*axes)) if 3 * cell.k < cell.m]
    if options.sample:
        every = random.Random(SEED).sample(every, min(options.sample, len(every)))
    return [cell for cell in every if is_wanted(options, *words_of(cell))]


def words_of(cell):
    command, pam = SEARCHES[cell.name]
    return f"{command} {cell.m},{cell.k}", pam or "", cell.kind


def measured(wanted, options):
    """Yield the row of each Cell, or why it has none."""
    if options.jobs == 1:
        measurer = Measurer(options)
        yield from map(measurer.row, wanted)
        return
    spawning = get_context("spawn")  # a fork would copy threads that hold locks
    with ProcessPoolExecutor(options.jobs, spawning, _begin, (options,)) as pool:
        for done in as_completed([pool.submit(_row, cell) for cell in wanted]):
            yield done.result()


class Measurer:
    """Measures Cells of the texts that options name."""

    def __init__(self, options):
        self._options, self._texts = options, texts(options)

    def row(self, cell):
        """The row of a Cell, or why it has none."""
        (command, pam), text = SEARCHES[cell.name], self._texts[cell.kind]
        try:
            patterns = panel_of(text, cell.count, cell.m, pam)
        except TooFew as error:
            return str(error)
        search = Search(command, patterns, cell.k, pam)
        row = measure(text, "before NGG" if pam else "cut", search, self._options)
        return row | {"cell": list(cell)}


_measurer: Measurer  # of a process of --jobs


def _begin(options):
    global _measurer
    _measurer = Measurer(options)


def _row(cell):
    return _measurer.row(cell)


def panel_of(text, count, length, pam):
    """A panel cut out of a text, before a PAM where there is one."""
    return (guide_panel if pam else cut_panel)(text, count, length)


def ways(search, options):
    """The ways of a Search by name: call(genome) returns the number of hits."""
    panel = load_patterns(search.patterns)
    more = {"device": options.device, "threads": options.threads}
    found = {}

    def add(name, batches, **others):
        def call(genome):
            return sum(map(len, by_name(batches, genome, panel, search.k, **more, **others)))

        found[name] = call

    pam = {"pam": search.pam} if search.pam else {}
    for name, filtering in WAYS.items():
        add(name, BATCHES[search.command], filtering=filtering, **pam)
    if search.command == "multi" and not pam:
        add("hamming", hamming_batches)
    return found


def measure(text, panel, search, options):
    """The row of a cell."""
    little = genome_of(text.letters[:LITTLE])
    clock = time.process_time if options.cpu_time else time.perf_counter
    them = {
        name: Way.measure(call, clock, little, options.repeat)
        for name, call in ways(search, options).items()
    }
    common = min(way.setup for way in them.values())
    them = {name: way._replace(setup=common) for name, way in them.items()}
    genome, size, turns, left = grown(text.letters, them, options)
    them = {name: them[name] for name in turns[-1]}
    equal = all(len({run.hits for run in runs.values()}) == 1 for runs in turns)
    turns = turns[-1:]
    if max(run.whole for run in turns[0].values()) < options.seconds:
        turns += take_turns(options.repeat, lambda: run_all(them, genome, calls=2))[0]
    if judged(least(turns), equal)["verdict"]:  # other programs may have disturbed
        turns += take_turns(options.repeat, lambda: run_all(them, genome, calls=2))[0]
    best = least(turns)
    row = described(text, panel, search) | {"letters": size, "hits": best[CHOSEN].hits}
    row |= {"left": left, "setup": {name: round(way.setup, DIGITS) for name, way in them.items()}}
    row |= {name: round(run.seconds, DIGITS) for name, run in best.items()}
    return row | judged(best, equal)


def grown(letters, them, options):
    """(Genome of a slice of the text, its letters, the Runs on all slices, ways left behind)."""
    size, seconds, turns, left = options.shortest, options.seconds, [], {}
    enough = max(ENOUGH, *(way.setup for way in them.values()))
    while True:
        genome, size = genome_of(letters[:size]), min(size, len(letters))
        turns.append(runs := run_all(them, genome))
        fastest = min(run.seconds for run in runs.values())
        late = {name for name, run in runs.items() if is_late(run, seconds)}
        far = {name for name in late if runs[name].seconds > HOPELESS * fastest} - {CHOSEN}
        if fastest > enough or size == len(letters) or late - far:
            return genome, size, turns, left
        left |= {name: {"letters": size, "seconds": runs[name].seconds} for name in far}
        them = {name: way for name, way in them.items() if name not in far}
        slowest = max(run.seconds for run in runs.values())
        size *= GROWTH
        if GROWTH * fastest < enough and GROWTH**2 * slowest < seconds:
            size *= GROWTH


def is_late(run, seconds):
    """Whether a search takes too long, or would on the next slice."""
    return run.whole > seconds or GROWTH * run.seconds > seconds


def run_all(them, genome, calls=1):
    """The Run of each Way by name."""
    return {name: way.run(genome, calls) for name, way in them.items()}


def least(turns):
    """The fastest Run of each way that is in the last turn."""
    return {name: min((turn[name] for turn in turns), key=WHOLE) for name in turns[-1]}


def judged(runs, equal):
    """Columns of a row: the ratio to the fastest way, the seconds it is of, and what is wrong.

    Where the text takes little of a call, its part is not known well and whole calls are compared.
    """
    fastest = min(run.seconds for run in runs.values())
    known = all(fastest > KNOWN * (run.whole - run.seconds) for run in runs.values())
    seconds = {name: run.seconds if known else run.whole for name, run in runs.items()}
    chosen, fastest = seconds[CHOSEN], min(seconds.values())
    verdict = "" if equal else "HITS"
    ratio = chosen / fastest
    if ratio > TOLERANCE and chosen - fastest > NOISE:
        verdict = "SLOW" if equal else "HITS, SLOW"
    return {"ratio": ratio, "basis": "text" if known else "call", "verdict": verdict}


def genome_of(letters):
    return kmatch.Genome.from_records([("text", letters)])


if __name__ == "__main__":
    main()
