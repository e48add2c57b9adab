"""Hit codes (see `kmatch.engine.hits`) encoded and decoded on the CPU."""

from typing import Any, NamedTuple

from kmatch.arrays import Longs
from kmatch.jit import inlined


@inlined
def encode(position, query, distance, queries, factor):
    """The code of a hit of one of `queries` queries; factor: k + 1."""
    return (position * queries + query) * factor + distance


@inlined
def decode(code, queries, factor):
    """(position, query, distance) of a hit code; other arguments as for `encode`."""
    rest = code // factor
    position = rest // queries
    return position, rest - position * queries, code - rest * factor


# The same for arrays, outside of kernels.
_encode: Any = getattr(encode, "py_func", encode)
_decode: Any = getattr(decode, "py_func", decode)


class Coding(NamedTuple):
    """How hits of `queries` queries within k are encoded, for arrays of codes."""

    queries: int
    k: int

    def encode(self, position: Longs, query: Longs | int, distance: Longs) -> Longs:
        """Hit codes, int64[n]."""
        codes: Longs = _encode(position, query, distance, self.queries, self.k + 1)
        return codes

    def decode(self, codes: Longs) -> tuple[Longs, Longs, Longs]:
        """(position, query, distance) of hit codes, int64[n] each."""
        decoded: tuple[Longs, Longs, Longs] = _decode(codes, self.queries, self.k + 1)
        return decoded
