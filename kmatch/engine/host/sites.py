"""Windows beside the sites of a PAM, read out of a chunk's planes."""

from kmatch.engine.choice import SiteWork
from kmatch.engine.costs import Scan, Sites, compared, total
from kmatch.engine.host.letters import COMPLEMENT, LETTERS, read_window
from kmatch.engine.host.sharing import SLAB, next_item
from kmatch.jit import kernel


def pays(work: SiteWork, scan: Scan, sites: Sites, query: float = 0.0) -> bool:
    """Whether it is faster to find the sites of a PAM first and to compare patterns only there.

    query: nanoseconds to begin with a pattern, in a scan on each strand.
    """
    queries = work.patterns * work.strands
    everywhere = compared(scan, queries, work.k, work.hits, work.live)
    found = total(sites, site_factors(work))
    if work.positions:
        everywhere += query * queries / work.positions
        found += query * work.patterns / work.positions
    return found < everywhere


def site_factors(work: SiteWork) -> Sites:
    """What is paid at a text position where the sites are found."""
    sites = work.strands * work.share
    return Sites(1, sites, sites * work.length, sites * work.patterns)


@kernel
def _copy_window(letters, position, minus, window):
    """Fill a window from the letters of a chunk, as `read_window` does from the planes."""
    last = len(window) - 1
    for j in range(len(window)):
        letter = letters[position + (last - j if minus else j)]
        window[j] = COMPLEMENT[letter] if minus else letter


@kernel
def read_sites(work, text, letters, positions, minus, length, windows):
    """Write windows of a chunk one after another, each in the direction of its strand.

    work: see `slabs`; text: Text of a chunk whose halo is at least `length`; letters: uint8, its
    letters as masks, empty to read them from the planes; positions: int64[n], where the windows
    start; minus: uint8[n], 1 reads the reverse complement; length: letters of a window; windows:
    uint8[≥ n·length], ACGT and N, filled here.
    """
    slab = next_item(work)
    while slab >= 0:
        for i in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            window = windows[i * length : (i + 1) * length]
            if len(letters) > 0:
                _copy_window(letters, positions[i], minus[i], window)
            else:
                read_window(text, positions[i], minus[i], window)
            for j in range(length):
                window[j] = LETTERS[window[j]]
        slab = next_item(work)
