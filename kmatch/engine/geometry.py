"""How a chunk of text is laid out in bit planes.

A chunk is S = 64·W lanes of B consecutive positions: lane s covers [s·B, (s+1)·B). Row t of a plane
holds one bit a lane, the base at s·B + t, in W words of 64 lanes. Rows B … B+halo−1 repeat the
beginning of the next lane, so a window that starts in a lane can be read to its end in that lane.
Shifting the text by j positions is reading row t + j: no bit ever moves.

`planes` is one flat array, uint64[planes·R·W + SPARE] with R = B + halo: plane p, row t, word w at
(p·R + t)·W + w. Planes 0 to 3 are A, C, G and T; further ones are unions of these for IUPAC
letters. Kernels may read the SPARE words at the end; their values change no result.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from llvmlite.binding import get_host_cpu_features

from kmatch.arrays import Words

AVX512 = get_host_cpu_features().get("avx512f", False)
WORDS = 8 if AVX512 else 4  # of a vector of the CPU
WIDE = 2 * WORDS  # two chains of vectors hide each other's latency
LANES = 64 * WORDS  # of a vector
LANES_PER_WORD = 64
SPARE = 64
CACHE_LINE = 8  # words
MOST_WORDS = 16  # in a row where the text decides
FEW_THREADS = 4
HALO_SHARE = 4  # a lane is at least this many halos long, where the text allows


class Text(NamedTuple):
    """A chunk as kernels take it: its planes, words in a row (W), rows that a lane owns (B), and
    words of a plane, halo included."""

    planes: Words
    words: int
    rows: int
    plane_words: int


def text_of(planes: Words, words: int, rows: int, halo: int) -> Text:
    """Return the Text of planes with so many words in a row, rows that a lane owns, and repeated
    ones."""
    return Text(planes, words, rows, (rows + halo) * words)


def halo_of(text: Text) -> int:
    """Rows of the next lane that a lane of a Text repeats."""
    return text.plane_words // text.words - text.rows


@dataclass(frozen=True)
class Layout:
    """The chunks that an engine is fastest with; the defaults are the CPU's.

    length: positions that a chunk owns in a search for mismatches; reading_length: in one for
    differences; reading_halos: the least of these in halos, unless that is more than `most`; words:
    in every row of a search for mismatches, None to suit the text; reading_words: for
    differences.
    """

    length: int = 1 << 23
    reading_length: int = 1 << 24
    reading_halos: int = 1 << 11
    most: int = 1 << 62
    words: int | None = None
    reading_words: int = 8  # one vector of the recurrence, whatever the processor's are

    def shared_by(self, threads: int) -> "Layout":
        """Return the same with longer chunks for many threads, which all wait for Python once a
        chunk."""
        many = max(threads // FEW_THREADS, 1)
        return replace(
            self,
            length=self.length * many,
            reading_length=self.reading_length * max(many // 2, 1),
        )

    def within(self, positions: int) -> "Layout":
        """Return the same with chunks of at most so many positions."""
        return replace(
            self,
            length=min(self.length, positions),
            reading_length=min(self.reading_length, positions),
            most=min(self.most, positions),
        )


def rows_for(length: int, halo: int, words: int | None) -> tuple[int, int]:
    """Return (words in a row, rows that a lane owns) of a chunk that owns `length` positions.

    Where `words` is None, they follow from the length. Long patterns get fewer, longer lanes, since
    repeated rows cost memory and packing.
    """
    if words is None:
        wanted = length // (LANES_PER_WORD * HALO_SHARE * max(halo, 1))
        words = min(max(wanted, 1), MOST_WORDS)
    return words, max(-(-length // (LANES_PER_WORD * words)), 1)
