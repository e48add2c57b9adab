"""Tables of pieces of patterns and their neighbours (see `kmatch.engine.cpu.tables`), filled."""

import numpy as np

from kmatch.engine.cpu.tables import MOST_ERRORS, TAG_BITS
from kmatch.engine.cpu.vectors import NONE, ONE, lowest
from kmatch.jit.kernels import inlined, kernel


@kernel
def fill_words(codes, begins, low, high):
    for p in range(len(low)):
        last = begins[p + 1] - 1
        for i in range(begins[p + 1] - begins[p]):
            code = np.uint64(codes[last - i])
            low[p] |= (code & ONE) << np.uint64(i)
            high[p] |= (code >> ONE) << np.uint64(i)


@inlined
def _ones(count):
    return (ONE << np.uint64(count)) - ONE


@kernel
def _continue(words, state, code, depth, size, differences, found, count):
    """Note the texts that match a piece from letter `state` on; code: (low, high) of the letters
    up to `depth`. Letters behind the piece may be any. Returns the count."""
    left = np.int64(min(size - depth, size - state))
    low = code[0] | ((words[0] >> np.uint64(state)) & _ones(left)) << np.uint64(depth)
    high = code[1] | ((words[1] >> np.uint64(state)) & _ones(left)) << np.uint64(depth)
    free = np.uint64(size - depth - left)
    behind = np.uint64(depth + left)
    for filling in range(np.int64(ONE << (free + free))):
        rest = np.uint64(filling)
        lows, highs = low | (rest & _ones(free)) << behind, high | (rest >> free) << behind
        count = _note(lows, highs, size, differences, found, count)
    return count


@inlined
def _note(low, high, size, differences, found, count):
    if count < len(found):
        found[count] = np.int64(low | high << np.uint64(size)) << TAG_BITS | differences
    return count + 1


@inlined
def _step(rows, depth, letters, end):
    """The states after one more text letter; letters: where the piece has it; returns the fewest
    differences of any, and the states with the most."""
    errors = rows.shape[1] - 3
    fewest = errors + 1
    above = new = NONE
    for t in range(errors + 1):
        here = rows[depth, t]
        new = (here & letters) << ONE | here & end | above | above << ONE | new << ONE
        new &= end | (end - ONE)
        rows[depth + 1, t] = new
        if new != NONE and t < fewest:
            fewest = t
        above = here
    return fewest, new


@kernel
def walk(words, size, errors, memory, found):
    """Note all texts of `size` letters that begin with a piece within some differences.

    words: (low, high) of the piece. Some come twice. A letter more in `rows` are the code's two
    words; returns how many there are, of which `found` holds code·2^TAG_BITS + differences.
    """
    rows, tried = memory
    end, count = ONE << np.uint64(size), 0
    low, high = words
    start = (NONE, NONE)
    for t in range(errors + 1):
        rows[0, t] = _ones(min(t, size) + 1)
    rows[0, errors + 1] = rows[0, errors + 2] = NONE
    if errors == 0:
        return _continue(words, 0, start, 0, size, 0, found, count)
    depth = tried[0] = 0
    while depth >= 0:
        letter = tried[depth]
        tried[depth] += 1
        if letter == 4:
            depth -= 1
            continue
        one, two = np.uint64(letter & 1), np.uint64(letter >> 1)
        same = ~(low ^ (NONE - one)) & ~(high ^ (NONE - two)) & (end - ONE)
        fewest, states = _step(rows, depth, same, end)
        lows = rows[depth, errors + 1] | one << np.uint64(depth)
        highs = rows[depth, errors + 2] | two << np.uint64(depth)
        depth += 1
        rows[depth, errors + 1], rows[depth, errors + 2] = lows, highs
        tried[depth] = 0
        if fewest < errors and depth < size:
            continue
        if depth == size:
            if fewest <= errors:
                count = _note(lows, highs, size, fewest, found, count)
        else:
            while states != NONE:
                state = lowest(states)
                states &= states - ONE
                count = _continue(words, state, (lows, highs), depth, size, errors, found, count)
        depth -= 1
    return count


@inlined
def _piece(words, p, piece):
    mask = _ones(piece[1])
    offset = np.uint64(piece[0])
    return (words[0][p] >> offset) & mask, (words[1][p] >> offset) & mask


@kernel
def list_codes(words, piece, memory, every, bounds):
    """List what `walk` notes of each pattern; returns how much. bounds: int64[P+1], filled."""
    for p in range(len(words[0])):
        here = _piece(words, p, piece)
        beyond = every[min(bounds[p], len(every)) :]
        bounds[p + 1] = bounds[p] + walk(here, piece[1], piece[2], memory, beyond)
    return bounds[-1]


@kernel
def sort_entries(every, bounds, starts, entries):
    """Write the entries in the order of their codes.

    every, bounds: from `list_codes`; starts: zeros, then where the entries of each code begin.
    """
    for i in range(len(entries)):
        starts[(every[i] >> TAG_BITS) + 2] += 1
    for code in range(2, len(starts)):
        starts[code] += starts[code - 1]
    for p in range(len(bounds) - 1):
        for i in range(bounds[p], bounds[p + 1]):
            code = (every[i] >> TAG_BITS) + 1
            entries[starts[code]] = (p << TAG_BITS) | (every[i] & MOST_ERRORS)
            starts[code] += 1
