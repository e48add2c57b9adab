"""Hit codes (see `kmatch.engine.hits`) encoded and decoded, for kernels of the CPU."""

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
