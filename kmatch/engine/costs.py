"""What the ways of a search cost, by which kmatch chooses one; a choice never changes the output.

Times are nanoseconds, of one core on the CPU and of a whole GPU. Only their ratios matter, except
where `--device auto` compares both. `scripts/bench/calibrate.py --write` measures those of the CPU
on random letters, real DNA and an AT-rich text, and writes them here.
"""

from collections.abc import Iterable
from typing import NamedTuple


def total(costs: Iterable[float], factors: Iterable[float]) -> float:
    """What costs amount to; factors: how often each is paid, as a NamedTuple of the same class."""
    return sum(cost * factor for cost, factor in zip(costs, factors, strict=True))


class Scan(NamedTuple):
    """Every window compared with every pattern. pair: a window and a pattern, letter by letter;
    sums: a window, the sums of all triplets; summed: a window and a pattern, by these; mismatch:
    each that a pattern may have, which takes more letters; stop: for a pattern and
    LANES windows, of which one is within k but not beside the PAM; hit: to note one, which an exact
    piece or a PAM that leads to it makes cheaper."""

    pair: float
    sums: float
    summed: float
    mismatch: float
    stop: float
    hit: float


LANES = 1024  # that a CPU looks at together


def compared(
    scan: Scan, queries: float, k: int, hits: float, live: float = 0.0, sums: bool = True
) -> float:
    """What a scan costs at a window, by the cheaper way.

    queries: to compare; hits: that a window has; live: how likely one is within k, beside a PAM;
    sums: whether triplets serve.
    """
    least = scan.pair * queries
    if sums:
        least = min(least, scan.sums + scan.summed * queries)
    stops = queries / LANES * (1 - (1 - live) ** LANES)
    return least + scan.mismatch * k * queries + scan.stop * stops + scan.hit * hits


class Seeds(NamedTuple):
    """Pieces of patterns looked up. position: to read a text position; lookup: to look a piece up;
    branch: for a piece that is found, which the processor mispredicts; candidate: to compare what
    was found; entry: of the tables, a piece of a pattern."""

    position: float
    lookup: float
    branch: float
    candidate: float
    entry: float


class Sites(NamedTuple):
    """Windows beside a PAM. position: to look for PAMs at a text position, and to unpack it; site:
    to sort a site; letter: to read one of its window and to pack it; pair: to compare it with a
    pattern."""

    position: float
    site: float
    letter: float
    pair: float


class Recurrence(NamedTuple):
    """Differences at every position. cell: of the matrix; column: counters and border of a column;
    query: to begin with one, in each part of a chunk; deeper: rows below the first group that are
    computed on average."""

    cell: float
    column: float
    query: float
    deeper: int


class Pieces(NamedTuple):
    """Differences where a piece of the pattern stands. stage: to copy a text position, for all
    queries; query, piece: to begin with one, in each part of a chunk; letter: of a piece, a text
    position; look: a piece, a text position; stop: to look through words with survivors; window,
    column, block: to verify a survivor, a column there, and 64 pattern letters of a column."""

    stage: float
    query: float
    piece: float
    letter: float
    look: float
    stop: float
    window: float
    column: float
    block: float


class Anchors(NamedTuple):
    """Differences beside a PAM, all patterns compared. position: as for Sites; letter: of a site,
    to read and to pack it; cell: of the band; pair: counters of a site and a pattern."""

    position: float
    letter: float
    cell: float
    pair: float


class AnchorSeeds(NamedTuple):
    """Differences beside a PAM, pieces looked up. position: as for Sites; site: to read a window;
    lookup: to see whether a piece is there; branch: for a piece that is; candidate: to compare what
    was found; entry: of the tables."""

    position: float
    site: float
    lookup: float
    branch: float
    candidate: float
    entry: float


class Beside(NamedTuple):
    """Differences at every position, of which those beside a PAM are kept. end: that is within k,
    to find out what is beside it."""

    end: float


class CpuCosts(NamedTuple):
    """pack: to pack a letter."""

    pack: float
    scan: Scan
    seeds: Seeds
    sites: Sites
    recurrence: Recurrence
    pieces: Pieces
    anchors: Anchors
    anchor_seeds: AnchorSeeds
    beside: Beside


class CudaCosts(NamedTuple):
    """start: until the context is open and the first kernels are loaded; query: to plan one for
    mismatches, on the host; copy: to copy the planes of a letter; full: letters that keep a GPU
    busy in a search for mismatches."""

    start: float
    query: float
    copy: float
    full: float
    scan: Scan
    sites: Sites
    recurrence: Recurrence
    pieces: Pieces


FIRST_ROWS = 24  # and twice k: about the first group of rows, which a scan always computes

# An AMD EPYC with AVX-512.
CPU = CpuCosts(
    pack=0.5,
    scan=Scan(pair=0.017, sums=0.8, summed=0.0053, mismatch=0.002, stop=100.0, hit=35.0),
    seeds=Seeds(position=6.0, lookup=6.0, branch=6.0, candidate=2.0, entry=110.0),
    sites=Sites(position=1.0, site=70.0, letter=2.0, pair=0.025),
    recurrence=Recurrence(cell=0.002, column=0.0186, query=450.0, deeper=6),
    # From here on between it, one without AVX-512 and an Intel Xeon, on which they take up to twice
    # as long.
    pieces=Pieces(
        stage=0.0,
        query=166.0,
        piece=55.8,
        letter=0.0,
        look=0.011,
        stop=166.0,
        window=90.3,
        column=1.51,
        block=4.66,
    ),
    anchors=Anchors(position=20.0, letter=0.0, cell=0.003, pair=1.5),
    anchor_seeds=AnchorSeeds(
        position=1.0, site=20.0, lookup=3.0, branch=50.0, candidate=18.0, entry=70.0
    ),
    beside=Beside(end=250.0),
)

# An H200, fitted to filters and scans of 1 and 64 patterns; pairs and sites to those of up to
# 100,000, within k of 1 to 6.
CUDA = CudaCosts(
    start=0.25e9,
    query=0.6e3,
    copy=0.1,
    full=45e6,
    scan=Scan(pair=0.2e-3, sums=0.0, summed=0.2e-3, mismatch=0.0, stop=0.0, hit=0.0),
    sites=Sites(position=0.8, site=10.0, letter=1.3, pair=0.9e-3),
    recurrence=Recurrence(cell=0.0145e-3, column=0.0, query=100.0, deeper=0),
    pieces=Pieces(
        stage=0.1e-3,
        query=80.0,
        piece=45.0,
        letter=0.004e-3,
        look=0.005e-3,
        stop=0.0,
        window=0.0,
        column=0.05,
        block=0.005,
    ),
)
