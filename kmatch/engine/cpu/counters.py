"""Bit-sliced mismatch counters: carry-save adders over tiles of TILE words.

`state` is uint64[(2 + max(bits, 4))·TILE] in sections of TILE words: the live plane, carries, then
a plane for each bit of the counters. Everything is kept complemented, because the text planes say
where a letter *matches*: both outputs of a full adder complement when all its inputs do. A
counter starts at 2^bits − (k + 1), so that its overflow means more than k mismatches; a lane that
overflows leaves the live plane for good.

The adders are made for 1, 2, 3 and 4 counter bits; those for 4 hand what they carry beyond to
`_ripple`. `first_sixteen` begins a tile without reading `state`.
"""

import numpy as np
from numba import njit

from kmatch.engine.geometry import TILE

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = np.uint64(0)
ADDED_BITS = 4  # counter bits that the adders themselves keep


@njit(cache=True, nogil=True)
def new_state(bits):
    """An uninitialised state for counters of `bits` bits."""
    return np.empty((2 + max(bits, ADDED_BITS)) * TILE, np.uint64)


@njit(cache=True, nogil=True)
def clear(state, bits, first_count):
    """Begin a tile: every lane is live, every counter at its start."""
    state[:TILE] = ALL
    for b in range(bits):
        state[(2 + b) * TILE :][:TILE] = _start(first_count, b)


@njit(cache=True, nogil=True)
def mismatches(state, bits, first_count, word, bit):
    """The count of a live lane."""
    count = 0
    for b in range(bits):
        complemented = state[(2 + b) * TILE + word] >> np.uint64(bit)
        count |= (1 - np.int64(complemented & np.uint64(1))) << b
    return count - first_count


@njit(cache=True, nogil=True)
def require(text, at, state):
    """Keep lanes live where four letters, at words at[0] … at[3] of `text`, all match."""
    a, b, c, d = _four(text, at)
    some = NONE
    for w in range(TILE):
        live = state[w] & a[w] & b[w] & c[w] & d[w]
        state[w] = live
        some |= live
    return some != NONE


@njit(cache=True, nogil=True)
def _four(text, at):
    return text[at[0] :][:TILE], text[at[1] :][:TILE], text[at[2] :][:TILE], text[at[3] :][:TILE]


@njit(cache=True, nogil=True)
def _add(a, b, c):
    """A full adder: sum and carry. Two three-input operations where the processor has them."""
    return a ^ b ^ c, (a & b) | (c & (a ^ b))


@njit(cache=True, nogil=True)
def _count(kept, counters, a, b, c, d):
    """Count four letters in (out, ones, twos, fours, eights), of which `kept` bits are in use."""
    out, ones, twos, fours, eights = counters
    ones, first = _add(ones, a, b)
    ones, second = _add(ones, c, d)
    if kept == 1:
        return out & first & second, ones, twos, fours, eights
    twos, carry = _add(twos, first, second)
    if kept == 2:
        return out & carry, ones, twos, fours, eights
    # Half adders, complemented: the sum is an XNOR, the carry an OR.
    fours, carry = ~(fours ^ carry), fours | carry
    if kept == 3:
        return out & carry, ones, twos, fours, eights
    eights, carry = ~(eights ^ carry), eights | carry
    return out & carry, ones, twos, fours, eights


@njit(cache=True, nogil=True)
def _start(first_count, bit):
    return NONE if first_count >> bit & 1 else ALL


@njit(cache=True, nogil=True)
def _load(kept, state, w):
    # Beyond 3 bits the adders do not touch the live plane: a carry out goes to `_ripple`.
    out = state[w] if kept < 4 else ALL
    ones = state[2 * TILE + w]
    twos = state[3 * TILE + w] if kept > 1 else ALL
    fours = state[4 * TILE + w] if kept > 2 else ALL
    eights = state[5 * TILE + w] if kept > 3 else ALL
    return out, ones, twos, fours, eights


@njit(cache=True, nogil=True)
def _store(kept, state, w, counters):
    out, ones, twos, fours, eights = counters
    if kept < 4:
        state[w] = out
    else:
        state[TILE + w] = out
    state[2 * TILE + w] = ones
    if kept > 1:
        state[3 * TILE + w] = twos
    if kept > 2:
        state[4 * TILE + w] = fours
    if kept > 3:
        state[5 * TILE + w] = eights


def _make_four(kept):
    @njit(cache=True, nogil=True)
    def add(text, at, state):
        a, b, c, d = _four(text, at)
        some = NONE
        for w in range(TILE):
            counters = _count(kept, _load(kept, state, w), a[w], b[w], c[w], d[w])
            _store(kept, state, w, counters)
            some |= counters[0]
        return some != NONE

    return add


def _make_sixteen(kept, fresh):
    @njit(cache=True, nogil=True)
    def add(text, at, state, first_count):
        a, b, c, d = _four(text, at)
        e, f, g, h = _four(text, at[4:])
        i, j, k, l = _four(text, at[8:])  # noqa: E741
        m, n, o, p = _four(text, at[12:])
        ones, twos = _start(first_count, 0), _start(first_count, 1)
        fours, eights = _start(first_count, 2), _start(first_count, 3)
        some = NONE
        for w in range(TILE):
            counters = (ALL, ones, twos, fours, eights) if fresh else _load(kept, state, w)
            counters = _count(kept, counters, a[w], b[w], c[w], d[w])
            counters = _count(kept, counters, e[w], f[w], g[w], h[w])
            counters = _count(kept, counters, i[w], j[w], k[w], l[w])
            counters = _count(kept, counters, m[w], n[w], o[w], p[w])
            _store(kept, state, w, counters)
            some |= counters[0]
        return some != NONE

    return add


_next_four_1, _next_four_2, _next_four_3, _next_four_4 = map(_make_four, (1, 2, 3, 4))
_first_sixteen_1, _first_sixteen_2, _first_sixteen_3 = (
    _make_sixteen(kept, True) for kept in (1, 2, 3)
)
_next_sixteen_1, _next_sixteen_2, _next_sixteen_3, _next_sixteen_4 = (
    _make_sixteen(kept, False) for kept in (1, 2, 3, 4)
)


@njit(cache=True, nogil=True)
def next_four(text, at, state, bits):
    """Count four more letters; whether any lane is still live."""
    if bits == 1:
        return _next_four_1(text, at, state)
    if bits == 2:
        return _next_four_2(text, at, state)
    if bits == 3:
        return _next_four_3(text, at, state)
    _next_four_4(text, at, state)
    return _ripple(state, bits)


@njit(cache=True, nogil=True)
def first_sixteen(text, at, state, bits, first_count):
    """Begin a tile with sixteen letters; whether any lane is live."""
    if bits == 1:
        return _first_sixteen_1(text, at, state, first_count)
    if bits == 2:
        return _first_sixteen_2(text, at, state, first_count)
    if bits == 3:
        return _first_sixteen_3(text, at, state, first_count)
    clear(state, bits, first_count)
    return next_sixteen(text, at, state, bits)


@njit(cache=True, nogil=True)
def next_sixteen(text, at, state, bits):
    """Count sixteen more letters; whether any lane is still live."""
    if bits == 1:
        return _next_sixteen_1(text, at, state, 0)
    if bits == 2:
        return _next_sixteen_2(text, at, state, 0)
    if bits == 3:
        return _next_sixteen_3(text, at, state, 0)
    _next_sixteen_4(text, at, state, 0)
    return _ripple(state, bits)


@njit(cache=True, nogil=True)
def _ripple(state, bits):
    """Carry into the counters' higher bits; what comes out of the last one ends lanes."""
    carry = state[TILE:][:TILE]
    for b in range(ADDED_BITS, bits):
        count = state[(2 + b) * TILE :][:TILE]
        for w in range(TILE):
            both = count[w] | carry[w]
            count[w] = ~(count[w] ^ carry[w])
            carry[w] = both
    some = NONE
    for w in range(TILE):
        live = state[w] & carry[w]
        state[w] = live
        some |= live
    return some != NONE
