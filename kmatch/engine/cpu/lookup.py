"""Look-ups, beside a PAM or everywhere, and the tables that they read.

Letters of a block of text become words, a bit a position, in which PAMs are found 64 positions at a
time. The windows beside them, or all windows where there is no PAM, are looked up (see
`kmatch.engine.cpu.tables`), and what is found is compared: letter by letter for mismatches, and for
differences anchored at their first letters, a vector of candidates at a time.

A word says for each diagonal of the matrix where window and pattern differ. The row that a diagonal
reaches with e differences follows from those that its neighbours reach with e − 1, and goes on to
the next such bit (Landau and Vishkin). `state` is a flat uint64 array of vectors: the rows named
below, 2·k + 1 that say where window and pattern differ, and 2·k + 3 how far each diagonal reaches.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Ints, Longs, Words
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
from kmatch.engine.cpu.vectors import (
    NONE,
    ONE,
    aligned,
    bits_alike,
    fill,
    load,
    lowest,
    popcount,
    reverse_bits,
    store,
    trailing_zeros,
    where_equal,
    word_at,
)
from kmatch.engine.geometry import WORDS
from kmatch.engine.letters import step_of
from kmatch.engine.workers import SPAN
from kmatch.jit.kernels import inlined, kernel

# The letters of the window and of the pattern, bit m alone, and m + SHIFT.
LOW, HIGH, OTHER, PATTERN_LOW, PATTERN_HIGH, STOP, END, FIRST = (WORDS * i for i in range(8))

SHIFT = 2  # is added to rows, so that 0 is a diagonal that was not reached


@kernel
def new_state(k):
    """A state for distances up to k."""
    return aligned(FIRST + (4 * k + 4) * WORDS)


@kernel
def _differ(state, k):
    """Note where window and pattern differ on each diagonal."""
    low, high, other = load(state, LOW), load(state, HIGH), load(state, OTHER)
    ours, theirs = load(state, PATTERN_LOW), load(state, PATTERN_HIGH)
    stop, middle = load(state, STOP), FIRST + k * WORDS
    for d in range(k + 1):
        by = fill(np.uint64(d))
        wrong = (low >> by ^ ours) | (high >> by ^ theirs) | other >> by | stop
        store(state, middle + d * WORDS, wrong)
        wrong = (low << by ^ ours) | (high << by ^ theirs) | other << by | stop
        store(state, middle - d * WORDS, wrong)


@kernel
def distances(state, k):
    """Put the distances at 0, k + 1 where they are more; pattern and window are in the state."""
    _differ(state, k)
    end, most = load(state, END), fill(np.uint64(k + 1))
    one, shift = fill(ONE), fill(np.uint64(SHIFT))
    wrong, far = FIRST + k * WORDS, FIRST + (3 * k + 2) * WORDS  # of the main diagonal
    for at in range(far - (k + 1) * WORDS, far + (k + 2) * WORDS, WORDS):
        store(state, at, fill(NONE))
    row = trailing_zeros(load(state, wrong)) + shift
    store(state, far, row)
    best = where_equal(row, end, fill(NONE), most)
    for e in range(1, k + 1):
        before, here = fill(NONE), fill(NONE)
        for d in range(-e * WORDS, (e + 1) * WORDS, WORDS):
            after = load(state, far + d + WORDS)
            row = min(max(max(here + one, before), after + one), end)
            row = row + trailing_zeros(load(state, wrong + d) >> row - shift)
            store(state, far + d, row)
            before, here = here, after
            best = min(best, where_equal(row, end, fill(np.uint64(e)), most))
    store(state, 0, best)


MARGIN = 128  # letters before and after them: a window of 64, and a PAM

CANDIDATES = 1 << 12  # that wait to be compared, and as many more as there are patterns

MOST_WINDOWS = 4 * SPAN  # of a block and a strand


class Windows(NamedTuple):
    """Windows beside the sites of a block, uint64 each: their letters, and where they begin."""

    low: Words
    high: Words
    other: Words
    position: Longs


class Candidates(NamedTuple):
    """Windows and patterns to compare.

    window, pattern: int32; seen: int64[P], the last window for which a pattern was a candidate;
    serial: int64[1], the number of the first window of the block.
    """

    window: Ints
    pattern: Ints
    seen: Longs
    serial: Longs


@kernel
def _new_windows():
    words = np.empty((3, MOST_WINDOWS), np.uint64)
    return Windows(words[0], words[1], words[2], np.empty(MOST_WINDOWS, np.int64))


@kernel
def _new_candidates(patterns):
    both = np.empty((2, CANDIDATES + patterns), np.int32)
    return Candidates(both[0], both[1], np.zeros(patterns, np.int64), np.ones(1, np.int64))


# Bits of letters: which may be each base (A, C, G, T), the low and the high bits of those of one
# base, and which are none and several of these.
LOWS, HIGHS, OTHERS, SEVERAL = range(4, 8)
BASES = np.repeat(np.array([1, 2, 4, 8], np.uint8), 64)


@kernel
def _fill_bits(letters, first, bits):
    """Fill bits, uint64[8, w], with 64·w letters from a position on."""
    edge = np.empty(64, np.uint8)
    for w in range(bits.shape[1]):
        source, at = letters, first + 64 * w
        if at < 0 or at + 64 > len(letters):
            edge[:] = 0
            for i in range(max(-at, 0), min(len(letters) - at, 64)):
                edge[i] = letters[at + i]
            source, at = edge, 0
        for base in range(4):
            bits[base, w] = bits_alike(source, at, BASES, 64 * base)
        a, c, g, t = bits[0, w], bits[1, w], bits[2, w], bits[3, w]
        bits[LOWS, w], bits[HIGHS, w], bits[OTHERS, w] = c | t, g | t, ~(a | c | g | t)
        bits[SEVERAL, w] = a & c | g & t | (a | c) & (g | t)


@inlined
def _matching(bits, at, mask):
    """Which of 64 letters from bit `at` on are one of the bases of a mask."""
    found = NONE
    for base in range(4):
        if mask >> base & 1:
            found |= word_at(bits[base], at)
    return found


@kernel
def _beside(bits, at, step, pams, sizes):
    """Which of 64 positions from bit `at` on have a PAM beside them, all where there is none to
    have. step: see `step_of`; pams: uint8[X, w]."""
    found = NONE if len(sizes) else ~NONE
    for number in range(len(sizes)):
        here = ~NONE
        i = 0
        while i < sizes[number] and here != NONE:
            here &= _matching(bits, at + step * (i + 1), pams[number, i])
            i += 1
        found |= here
    return found


@inlined
def _between(first, last):
    """The bits first … last − 1 of a word, as far as there are such."""
    first, last = min(max(first, 0), 64), min(max(last, 0), 64)
    below = ~NONE if last == 64 else (ONE << np.uint64(last)) - ONE
    return below & (NONE if first == 64 else ~NONE << np.uint64(first))


@inlined
def _reading(bits, row, at, backward):
    """A row of 64 letters from bit `at` on, as they are read from there."""
    return word_at(bits[row], at) if backward else reverse_bits(word_at(bits[row], at - 63))


@inlined
def _window(bits, at, backward):
    """(low, high, neither) of 64 letters from bit `at` on, as they are read from there."""
    low, high = _reading(bits, LOWS, at, backward), _reading(bits, HIGHS, at, backward)
    other = _reading(bits, OTHERS, at, backward)
    return (low, high, other) if backward else (~low, ~high, other)


@kernel
def _spell(bits, at, backward, used, windows, count):
    """Replace the last of `count` windows by all that letters of several bases, where used, stand
    for; returns how many windows there are then, MOST_WINDOWS if they do not fit.
    """
    first, several = count - 1, _reading(bits, SEVERAL, at, backward) & used
    while several != NONE:
        bit = several & (~several + ONE)
        several ^= bit
        stop, begun = count, False
        for base in range(4):
            if _reading(bits, base if backward else 3 - base, at, backward) & bit == NONE:
                continue
            for i in range(first, stop):
                to = count if begun else i
                if to == MOST_WINDOWS:
                    return MOST_WINDOWS
                windows.low[to] = windows.low[i] & ~bit | (bit if base & 1 else NONE)
                windows.high[to] = windows.high[i] & ~bit | (bit if base & 2 else NONE)
                windows.other[to], windows.position[to] = windows.other[i], windows.position[i]
                count += begun
            begun = True
    return count


@inlined
def _hidden(position, shown, wide, backward):
    """Which of 64 positions are so near to the end of a View that their PAM is not shown."""
    if backward:
        return _between(0, wide - position)
    return _between(shown - wide - position, 64)


@kernel
def _read_windows(bits, span, strand, pams, sizes, used, windows):
    """Read the windows beside the sites of a strand; returns how many, MOST_WINDOWS if they do not
    fit.

    bits begin MARGIN letters before the block's first one; span: (first, last, shown): positions
    that are searched, and of the View; strand: (minus, backward); pams, sizes: see Tables; used: a
    bit for each letter that is compared.
    """
    first, last, shown = span
    minus, backward = strand
    pams = pams[minus]
    step = step_of(backward)
    wide = pams.shape[1]
    block, count = first // SPAN * SPAN - MARGIN, 0
    varied = bits[SEVERAL].any()
    for position in range(first // 64 * 64, last, 64):
        found = _beside(bits, position - block, step, pams, sizes)
        found |= _hidden(position, shown, wide, backward)
        found &= _between(first - position, last - position)
        while found != NONE:
            at = position + lowest(found)
            found &= found - ONE
            window = _window(bits, at - block, backward)
            windows.low[count], windows.high[count], windows.other[count] = window
            windows.position[count] = at
            count += 1
            if varied:
                count = _spell(bits, at - block, backward, used, windows, count)
                if count == MOST_WINDOWS:
                    return count
    return count


@inlined
def _code(windows, window, lookups, number):
    """The code that a look-up reads in a window, from the beginning of its table on."""
    at, size = np.uint64(lookups[number, 0]), np.uint64(lookups[number, 1])
    mask = (ONE << size) - ONE
    low, high = windows.low[window] >> at & mask, windows.high[window] >> at & mask
    return np.int64(low | high << size) + lookups[number, 2]


@kernel
def _find_hot(windows, count, seeds, hot):
    """Note for each window which look-ups find something."""
    hot[:count] = NONE
    lookups, present = seeds.lookups, seeds.present
    for number in range(len(lookups)):
        for window in range(count):
            code = _code(windows, window, lookups, number)
            hot[window] |= (present[code >> 6] >> np.uint64(code & 63) & ONE) << np.uint64(number)


@inlined
def _look_up(windows, window, hot, seeds, candidates, count):
    """Add the patterns that a window may hold to the candidates; returns (how many there are then,
    entries that were read)."""
    lookups, starts, entries = seeds.lookups, seeds.starts, seeds.entries
    to_window, to_pattern, seen, serials = candidates
    serial, read = serials[0] + window, 0
    while hot != NONE:
        number = lowest(hot)
        hot &= hot - ONE
        code, left = _code(windows, window, lookups, number), lookups[number, 3]
        for i in range(starts[code], starts[code + 1]):
            pattern = entries[i] >> TAG_BITS
            if entries[i] & MOST_ERRORS <= left and seen[pattern] != serial:
                seen[pattern] = serial
                to_window[count], to_pattern[count] = window, pattern
                count += 1
        read += starts[code + 1] - starts[code]
    return count, read


@kernel
def _compare(windows, seeds, candidates, count, query, state, writer):
    """Compare candidates for differences, and write those within their limits; query: of the
    strand's first pattern; state: see `distances`."""
    k = seeds.k
    for first in range(0, count, WORDS):
        many = min(WORDS, count - first)
        for c in range(many):
            window, pattern = candidates.window[first + c], candidates.pattern[first + c]
            length = np.uint64(seeds.lengths[pattern])
            state[LOW + c], state[HIGH + c] = windows.low[window], windows.high[window]
            state[OTHER + c] = windows.other[window]
            state[PATTERN_LOW + c] = seeds.low[pattern]
            state[PATTERN_HIGH + c] = seeds.high[pattern]
            state[STOP + c], state[END + c] = ONE << length, length + np.uint64(SHIFT)
        distances(state, k)
        for c in range(many):
            window, pattern = candidates.window[first + c], candidates.pattern[first + c]
            distance = np.int64(state[c])
            if distance <= seeds.limits[pattern]:
                put(writer, windows.position[window], query + pattern, distance)


@kernel
def _compare_gapless(windows, seeds, candidates, count, query, shift, writer):
    """The same for mismatches; shift: of the window's start from its position."""
    used = ~NONE >> np.uint64(64 - seeds.gapless)
    for c in range(count):
        window, pattern = candidates.window[c], candidates.pattern[c]
        wrong = windows.low[window] ^ seeds.low[pattern] | windows.other[window]
        wrong = (wrong | windows.high[window] ^ seeds.high[pattern]) & used
        distance = popcount(wrong)
        if distance <= seeds.k and wrong & seeds.exact == NONE:
            put(writer, windows.position[window] - shift, query + pattern, distance)


@kernel
def _search(windows, many, hot, seeds, candidates, query, shift, state, left, writer):
    """Look `many` windows up and compare them; returns whether neither these nor candidates were
    too many; hot: memory for which look-ups of each find something."""
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
            if seeds.gapless:
                _compare_gapless(windows, seeds, candidates, count, query, shift, writer)
            else:
                _compare(windows, seeds, candidates, count, query, state, writer)
            count = read = 0
    return True


@kernel
def scan_lookup(work, view, pams, sizes, strands, seeds, left, buffer):
    """Find the patterns of Seeds within their limits.

    work: see `spans`; view: View of a chunk with its letters; pams, sizes, strands, seeds: Tables;
    left: int64[1], candidates that there may still be: below 0 all is given up; buffer: HitBuffer,
    receives the codes.
    """
    halo = view.text.plane_words // view.text.words - view.text.rows
    patterns, shown = len(seeds.low), view.shown
    slot = new_slot()
    most = seeds.k if seeds.gapless else marked(seeds.k)
    writer = new_writer(buffer, slot, len(strands) * patterns, most)
    bits = np.empty((8, (SPAN + 2 * MARGIN) // 64 + 1), np.uint64)
    hot = np.empty(MOST_WINDOWS, np.uint64)
    used = ~NONE >> np.uint64(64 - (seeds.gapless or max(seeds.lengths) + seeds.k))
    windows, candidates, state = _new_windows(), _new_candidates(patterns), new_state(seeds.k)
    item = next_item(work)
    while item >= 0:
        first = item * SPAN
        _fill_bits(view.letters[:shown], first - MARGIN, bits)
        for number in range(len(strands)):
            strand = strands[number, 0], strands[number, 1]
            # Positions that are not owned, as the window or an alignment would begin before them.
            before = 0 if strand[1] else halo
            if seeds.gapless:
                before = pams.shape[2] if strand[1] else seeds.gapless - 1
            last = min(first + SPAN, before + shown - halo)
            span = (max(first, before), last, shown)
            count = _read_windows(bits, span, strand, pams, sizes, used, windows)
            given = seeds, candidates, number * patterns, before, state, left, writer
            if not _search(windows, count, hot, *given):
                fetch_add(work, 0, work[1])
                break
            candidates.serial[0] += count
        give_up(work, writer)
        item = next_item(work)
    leave(buffer, slot)
