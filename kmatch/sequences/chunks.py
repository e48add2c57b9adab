"""Records joined to chunks of letters, so that short ones share a chunk and long ones are cut."""

from typing import NamedTuple

import numpy as np

from kmatch.sequences.records import gathered


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


def join_records(parts, plan, spare):
    """Yield the LetterChunks of an iterable of Records and Stretches, with `spare` zeros after the
    halo.

    Records follow one another with `plan.gap` empty letters between them; every chunk but the last
    owns `plan.length` letters.
    """
    room = plan.length + plan.halo
    letters = np.zeros(room + spare, np.uint8)
    places, filled = _Places(plan), plan.lead
    for stretch in gathered(parts):
        text, gap = _laid_out(stretch, plan.gap if filled else 0, plan.gap)
        places.add(stretch, filled + gap, plan.gap)
        filled, done, size = filled + gap, 0, len(text)
        while done < size:
            while filled >= room:
                yield places.chunk(letters, plan.length)
                filled = _move_on(letters, filled, places, plan)
            step = min(size - done, room - filled)
            letters[filled : filled + step] = text[done : done + step]
            done, filled = done + step, filled + step
    while places.names and filled > 0:
        yield places.chunk(letters, min(filled, plan.length))
        filled = _move_on(letters, filled, places, plan)


def _laid_out(stretch, before, gap):
    """The letters of a Stretch with `gap` zeros between records, and the empty letters before them.

    before: how many of these there are, unless the first letters go on with a record.
    """
    lengths = stretch.lengths
    if stretch.goes_on or not len(stretch.letters):
        before = 0
    if len(lengths) == 1:
        return stretch.letters, before
    gaps = _gaps(lengths, gap)
    runs = np.stack([gaps, lengths], axis=1).reshape(-1)
    text = np.zeros(runs.sum(), np.uint8)
    text[np.repeat(np.tile([False, True], len(lengths)), runs)] = stretch.letters
    return text, before


def _gaps(lengths, gap):
    """Empty letters before each record: none before an empty one, and before the first letters."""
    gaps = np.where(lengths > 0, gap, 0)
    gaps[: np.argmax(lengths > 0) + 1] = 0
    return gaps


def _move_on(letters, filled, places, plan):
    """Forget the owned letters: what the halo showed comes first in the next chunk."""
    letters[: plan.halo] = letters[plan.length : plan.length + plan.halo]
    letters[plan.halo :] = 0
    places.base += plan.length
    return filled - plan.length


class _Places:
    """Where the records lie that the chunks to come may show.

    base: the place of the next chunk's first letter; names: of these records, the first of which
    has the number `first`.
    """

    def __init__(self, plan):
        self.base = self.first = 0
        self.names = []
        self._room = plan.length + plan.halo
        self._begins, self._lengths = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        self._shown = 0  # how many of them chunks have shown

    def add(self, stretch, at, gap):
        """Take the records of a Stretch, laid out from the letter `at` of the chunk on."""
        names, lengths, _, goes_on = stretch
        begins = self.base + at + np.cumsum(lengths + _gaps(lengths, gap)) - lengths
        if goes_on:
            self._lengths[-1][-1] += lengths[0]
        if len(lengths) > goes_on:
            self.names += names[goes_on:]
            self._begins.append(begins[goes_on:])
            self._lengths.append(lengths[goes_on:].copy())

    def chunk(self, letters, length):
        """The LetterChunk of the letters from `base` on, of which it owns so many."""
        begins, lengths = np.concatenate(self._begins), np.concatenate(self._lengths)
        gone = self._gone(begins + lengths)
        begins, lengths = begins[gone:], lengths[gone:]
        self._begins, self._lengths = [begins], [lengths]
        del self.names[:gone]
        self.first += gone
        # An empty record may lie right behind the last letter.
        high = int(np.searchsorted(begins, self.base + self._room, side="right"))
        self._shown = high = max(high, 1)
        places = begins[:high] - self.base, lengths[:high].copy()
        return LetterChunk(
            self.base, letters, length, Spans(self.first, self.names[:high], *places)
        )

    def _gone(self, ends):
        """How many records ended before the chunk. The last one stays, since it may go on, and none
        goes that no chunk has shown."""
        ended = int(np.searchsorted(ends, self.base, side="right")) if self.base else 0
        return max(min(ended, self._shown, len(ends) - 1), 0)
