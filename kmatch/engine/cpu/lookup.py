"""Look-ups, beside a PAM or everywhere: windows of text are looked up in tables of patterns.

The windows of a block (see `kmatch.engine.cpu.windows`) are looked up in tables of pieces (see
`kmatch.engine.cpu.tables`). Patterns that are found are candidates, and are compared whole: letter
by letter for mismatches, and for differences anchored at their first letters, a vector of
candidates at a time (see `kmatch.engine.cpu.diagonals`).
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Ints, Longs, Words
from kmatch.engine.cpu.diagonals import (
    END,
    HIGH,
    LOW,
    OTHER,
    PATTERN_HIGH,
    PATTERN_LOW,
    SHIFT,
    STOP,
    distances,
    new_state,
)
from kmatch.engine.cpu.hits import (
    fetch_add,
    give_up,
    leave,
    marked,
    new_slot,
    new_writer,
    next_item,
    put,
)
from kmatch.engine.cpu.tables import MOST_ERRORS, TAG_BITS
from kmatch.engine.cpu.vectors import NONE, ONE, lowest, popcount
from kmatch.engine.cpu.windows import (
    MARGIN,
    MOST_WINDOWS,
    Windows,
    fill_bits,
    new_windows,
    read_windows,
)
from kmatch.engine.geometry import WORDS
from kmatch.engine.workers import SPAN
from kmatch.jit.kernels import inlined, kernel

CANDIDATES = 1 << 12  # that wait to be compared, and as many more as there are patterns


class Candidates(NamedTuple):
    """Windows and patterns to compare.

    window, pattern: int32; seen: int64[P], the last window for which a pattern was a candidate;
    serial: int64[1], the number of the first window of the block.
    """

    window: Ints
    pattern: Ints
    seen: Longs
    serial: Longs


class Memory(NamedTuple):
    """The memory with which a thread looks up and compares.

    hot: uint64, for each window the look-ups that find something, a bit each; state: see
    `distances`.
    """

    windows: Windows
    hot: Words
    candidates: Candidates
    state: Words


@kernel
def _new_memory(patterns, k):
    """Return the Memory for so many patterns within k."""
    pairs = np.empty((2, CANDIDATES + patterns), np.int32)
    seen = np.zeros(patterns, np.int64)
    candidates = Candidates(pairs[0], pairs[1], seen, np.ones(1, np.int64))
    hot = np.empty(MOST_WINDOWS, np.uint64)
    return Memory(new_windows(), hot, candidates, new_state(k))


@inlined
def _code(low, high, lookups, number):
    """Return the code that a look-up reads in a window's letters, from its table's beginning on.

    low, high: the letters; lookups: see Seeds. With 3 letters from letter 2 on:

        letter   … 6 5 4 3 2 1 0          code   h4 h3 h2 l4 l3 l2
        low, high      ─────
    """
    offset = np.uint64(lookups[number, 0])
    size = np.uint64(lookups[number, 1])
    mask = (ONE << size) - ONE
    return np.int64((low >> offset & mask) | (high >> offset & mask) << size) + lookups[number, 2]


@kernel
def _find_hot(windows, count, seeds, hot):
    """Note for each of `count` windows which look-ups find something."""
    hot[:count] = NONE
    lookups = seeds.lookups
    present = seeds.present
    for number in range(len(lookups)):
        bit = np.uint64(number)
        for window in range(count):
            code = _code(windows.low[window], windows.high[window], lookups, number)
            hot[window] |= (present[code >> 6] >> np.uint64(code & 63) & ONE) << bit


@inlined
def _look_up(windows, window, hot, seeds, candidates, count):
    """Add the patterns that a window may hold to `count` candidates.

    hot: the look-ups that find something. Returns how many candidates there are then, and how many
    entries were read.
    """
    lookups, starts, entries = seeds.lookups, seeds.starts, seeds.entries
    to_window, to_pattern, seen, serials = candidates
    serial = serials[0] + window
    read = 0
    while hot != NONE:
        number = lowest(hot)
        hot &= hot - ONE
        code = _code(windows.low[window], windows.high[window], lookups, number)
        most_errors = lookups[number, 3]
        for i in range(starts[code], starts[code + 1]):
            pattern = entries[i] >> TAG_BITS
            if entries[i] & MOST_ERRORS <= most_errors and seen[pattern] != serial:
                seen[pattern] = serial
                to_window[count] = window
                to_pattern[count] = pattern
                count += 1
        read += starts[code + 1] - starts[code]
    return count, read


@kernel
def _compare(memory, seeds, count, query, writer):
    """Compare `count` candidates for differences, and write those within their limits.

    query: the number of the strand's first pattern.
    """
    windows, _, candidates, state = memory
    for first in range(0, count, WORDS):
        many = min(WORDS, count - first)
        for c in range(many):
            window = candidates.window[first + c]
            pattern = candidates.pattern[first + c]
            length = np.uint64(seeds.lengths[pattern])
            state[LOW + c] = windows.low[window]
            state[HIGH + c] = windows.high[window]
            state[OTHER + c] = windows.other[window]
            state[PATTERN_LOW + c] = seeds.low[pattern]
            state[PATTERN_HIGH + c] = seeds.high[pattern]
            state[STOP + c] = ONE << length
            state[END + c] = length + np.uint64(SHIFT)
        distances(state, seeds.k)
        for c in range(many):
            window = candidates.window[first + c]
            pattern = candidates.pattern[first + c]
            distance = np.int64(state[c])
            if distance <= seeds.limits[pattern]:
                put(writer, windows.position[window], query + pattern, distance)


@kernel
def _compare_gapless(memory, seeds, count, query, shift, writer):
    """The same for mismatches; shift: of the window's start from its position."""
    windows, _, candidates, _ = memory
    used = ~NONE >> np.uint64(64 - seeds.window_length)
    for c in range(count):
        window = candidates.window[c]
        pattern = candidates.pattern[c]
        low = windows.low[window] ^ seeds.low[pattern]
        high = windows.high[window] ^ seeds.high[pattern]
        differ = (low | high | windows.other[window]) & used
        distance = popcount(differ)
        if distance <= seeds.k and differ & seeds.exact == NONE:
            put(writer, windows.position[window] - shift, query + pattern, distance)


@kernel
def _search(memory, many, seeds, query, shift, left, writer):
    """Look `many` windows up and compare them; returns whether all of them were.

    They are not where they, or their candidates, are too many. query, shift: see above; left:
    int64[1], candidates that there may still be.
    """
    windows, hot, candidates, _ = memory
    if many == MOST_WINDOWS:
        fetch_add(left, 0, -left[0] - 1)
        return False
    _find_hot(windows, many, seeds, hot)
    count = read = 0
    for window in range(many):
        if hot[window] != NONE:
            count, more = _look_up(windows, window, hot[window], seeds, candidates, count)
            read += more
        if read >= CANDIDATES or window == many - 1:
            if fetch_add(left, 0, -read) < read:
                return False
            if seeds.window_length:
                _compare_gapless(memory, seeds, count, query, shift, writer)
            else:
                _compare(memory, seeds, count, query, writer)
            count = read = 0
    return True


@inlined
def _first_owned(seeds, backward, pam_size, halo):
    """Return the first position that a strand owns: no window or alignment begins before it."""
    if seeds.window_length:
        return pam_size if backward else seeds.window_length - 1
    return 0 if backward else halo


@kernel
def scan_lookup(work, view, pams, sizes, strands, seeds, left, buffer):
    """Find the patterns of Seeds within their limits.

    work: see `spans`; view: View of a chunk with its letters; pams, sizes, strands, seeds: Tables;
    left: int64[1], candidates that there may still be: below 0 all is given up; buffer: HitBuffer,
    receives the codes.
    """
    shown = view.shown
    halo = view.text.plane_words // view.text.words - view.text.rows
    patterns = len(seeds.low)
    slot = new_slot()
    most = seeds.k if seeds.window_length else marked(seeds.k)
    writer = new_writer(buffer, slot, len(strands) * patterns, most)
    bits = np.empty((8, (SPAN + 2 * MARGIN) // 64 + 1), np.uint64)
    used = ~NONE >> np.uint64(64 - (seeds.window_length or max(seeds.lengths) + seeds.k))
    memory = _new_memory(patterns, seeds.k)
    item = next_item(work)
    while item >= 0:
        start = item * SPAN
        fill_bits(view.letters[:shown], start - MARGIN, bits)
        for number in range(len(strands)):
            strand = strands[number, 0], strands[number, 1]
            owned = _first_owned(seeds, strand[1], pams.shape[2], halo)
            span = (max(start, owned), min(start + SPAN, owned + shown - halo), shown)
            count = read_windows(bits, span, strand, pams, sizes, used, memory.windows)
            query = number * patterns
            if not _search(memory, count, seeds, query, owned, left, writer):
                fetch_add(work, 0, work[1])
                break
            memory.candidates.serial[0] += count
        give_up(work, writer)
        item = next_item(work)
    leave(buffer, slot)
