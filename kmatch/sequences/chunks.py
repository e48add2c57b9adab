"""Records joined to chunks of letters, so that short ones share a chunk and long ones are cut."""

from typing import NamedTuple

import numpy as np


class ChunkPlan(NamedTuple):
    """How a genome is cut: the positions a chunk owns, the letters it shows beyond them, the empty
    letters between records, and those before the first one."""

    length: int
    halo: int
    gap: int
    lead: int = 0


class Spans(NamedTuple):
    """Where records lie in a chunk.

    names[i] is the record with number first + i; its letter 0 is at begins[i], int64 (negative if
    it began in an earlier chunk), and it has lengths[i] letters, of which none beyond what the
    chunk shows need be counted.
    """

    first: int
    names: list
    begins: np.ndarray
    lengths: np.ndarray


class LetterChunk(NamedTuple):
    """`length` letters that this chunk owns, what follows them, and the records they belong to.

    base: the place of the chunk's first letter in the genome as it is laid out; letters: uint8,
    ASCII codes, 0 where there is no text. The array is used again for the next chunk.
    """

    base: int
    letters: np.ndarray
    length: int
    spans: Spans


def join_records(records, plan, spare):
    """Yield the LetterChunks of an iterable of Records, with `spare` zeros after the halo.

    Records, whole or in parts, follow one another with `plan.gap` empty letters between them; every
    chunk but the last owns `plan.length` letters.
    """
    room = plan.length + plan.halo
    letters = np.zeros(room + spare, np.uint8)
    base, filled, spans, number = 0, plan.lead, [], 0
    for record in records:
        size, done = len(record.letters), 0
        if record.goes_on:
            *place, known = spans.pop()
            spans.append((*place, known + size))
        else:
            if size and filled:
                filled += plan.gap
            spans.append((number, record.name, filled, size))
            number += 1
        while done < size:
            while filled >= room:
                yield _chunk(base, letters, plan.length, spans)
                filled, spans = _advance(letters, filled, spans, plan)
                base += plan.length
            step = min(size - done, room - filled)
            letters[filled : filled + step] = record.letters[done : done + step]
            done, filled = done + step, filled + step
    while spans and filled > 0:
        yield _chunk(base, letters, min(filled, plan.length), spans)
        filled, spans = _advance(letters, filled, spans, plan)
        base += plan.length


def _chunk(base, letters, length, spans):
    numbers, names, begins, sizes = zip(*spans, strict=True)
    places = Spans(numbers[0], list(names), np.array(begins, np.int64), np.array(sizes, np.int64))
    return LetterChunk(base, letters, length, places)


def _advance(letters, filled, spans, plan):
    """Move on by the owned letters: what the halo showed comes first in the next chunk.

    The last record stays, since it may go on.
    """
    letters[: plan.halo] = letters[plan.length : plan.length + plan.halo]
    letters[plan.halo :] = 0
    moved = [(n, name, begin - plan.length, size) for n, name, begin, size in spans]
    ended = 0
    while ended < len(moved) - 1 and moved[ended][2] + moved[ended][3] <= 0:
        ended += 1
    return filled - plan.length, moved[ended:]
