"""k differences over striped bit planes: every anchored end within k, or the smallest distance."""

import numpy as np

from kmatch.engine.codes import HitBuffer
from kmatch.engine.cpu.hits import give_up, leave, new_writer
from kmatch.engine.cpu.items import WORDS
from kmatch.engine.cpu.pieces import filter_rows, new_memory
from kmatch.engine.cpu.tile import Tile, Way, search_tile
from kmatch.engine.workers_kernels import next_item
from kmatch.jit.kernels import kernel


@kernel
def _search_rows(text, reading, query, rows, limit, lowering, writer):
    """Search rows first … last−1, (first, last), of all tiles for one query."""
    _, words, lane_rows, plane_words = text
    letters, begins, backward, _ = reading
    halo = plane_words // words - lane_rows
    first, last = rows
    pattern = letters[begins[query] : begins[query + 1]] * plane_words
    warm = min(halo, len(pattern) + limit[0])
    if backward[query]:
        way = Way(last - 1 + warm, -1, warm, warm + last - first)
    else:
        way = Way(first + halo - warm, 1, warm, warm + last - first)
    for number in range(words // WORDS):
        tile = Tile(64 * WORDS * number, lane_rows, query)
        search_tile(text, pattern + number * WORDS, way, tile, limit, lowering, writer)


@kernel
def _around(text, reading, query, rows, limit):
    """The rows in which all hits end that hold a piece which begins in some rows of any lane.

    The filter of other rows does not find these. They may end in neighbouring rows, in the lane
    before or after and, if the rows are the last of a lane, in the halo. Returns the first row, and
    the last of the rows from there and of those from row 0.
    """
    _, words, lane_rows, plane_words = text
    first, last = rows
    reach = reading.begins[query + 1] - reading.begins[query] + limit[0]
    shift = 0 if reading.backward[query] else plane_words // words - lane_rows
    low = first - shift - reach
    high = (lane_rows if last == lane_rows else last - shift) + reach
    if high - low >= lane_rows:
        return 0, lane_rows, 0
    begin = low % lane_rows
    end = begin + high - low
    return begin, min(end, lane_rows), end - lane_rows


@kernel
def _most(budget, k, text, rows):
    """Survivors among so many rows with which a filter pays; a lone hit has k + 1 at the most."""
    return k + 1 + budget * rows // text.rows


@kernel
def scan_edit(work, text, search, budgets, parts, buffer):
    """Find every anchored end of each query within its limit.

    work: parts × queries; text: Text, words a multiple of WORDS; search: DifferenceQuery; budgets:
    int64[Q], the most survivors of the whole chunk with which a filter pays, 0 to scan at once;
    parts: see `stretches`; buffer: HitBuffer, receives the codes, some of them twice where there is
    a filter. See `Engine.start_edit` for the positions that a query owns.
    """
    rows, queries = text.rows, len(search.limits)
    writer, limit = new_writer(buffer, queries, search.k), np.zeros(1, np.int64)
    longest = most = 0
    for query in range(queries):
        longest = max(longest, search.reading.begins[query + 1] - search.reading.begins[query])
        most = max(most, _most(budgets[query], search.k, text, rows // parts + 1))
    memory = new_memory(longest, most)
    item = next_item(work)
    while item >= 0:
        part, query = item // queries, item % queries
        first, last = rows * part // parts, rows * (part + 1) // parts
        beyond = 0
        limit[0] = search.limits[query]
        if budgets[query] > 0:
            most, here = _most(budgets[query], limit[0], text, last - first), (first, last)
            if filter_rows(text, here, search, query, most, memory, writer):
                last = first
            else:
                first, last, beyond = _around(text, search.reading, query, here, limit)
        while first < last:
            _search_rows(text, search.reading, query, (first, last), limit, False, writer)
            first, last, beyond = 0, beyond, 0
        give_up(work, writer)
        item = next_item(work)
    leave(writer)


@kernel
def smallest_edit(work, text, reading, bounds, parts, lowest):
    """Find the smallest distance of each query in a chunk, where it is at most its bound.

    work: parts × queries; bounds: int64[Q], each smaller than m, −1 to leave a query out; lowest:
    int64[parts, Q], receives the smallest distance in each part, or bound + 1. The halo is at least
    m + bound. Other arguments as for `scan_edit`.
    """
    rows, queries = text.rows, len(bounds)
    nowhere = new_writer(HitBuffer(np.empty(0, np.int64), np.zeros(3, np.int64)), queries, 0)
    limit = np.zeros(1, np.int64)
    item = next_item(work)
    while item >= 0:
        part, query = item // queries, item % queries
        limit[0] = bounds[query]
        if bounds[query] >= 0:
            here = (rows * part // parts, rows * (part + 1) // parts)
            _search_rows(text, reading, query, here, limit, True, nowhere)
        lowest[part, query] = limit[0] + 1
        item = next_item(work)
