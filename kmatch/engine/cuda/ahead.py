"""The engine's kernels in all their specialisations, and the types that they are launched with.

What is compiled before it is needed: on a GPU by `kmatch info --compile`, without one by tests.
"""

from collections.abc import Iterable
from itertools import product
from typing import Any

from numba import types

from kmatch.engine.cuda import edit, hamming, primer, primer_tile, text
from kmatch.engine.cuda.driver import copies_in_background

BYTES, INTS, NUMBERS, WORDS = (
    kind[::1] for kind in (types.uint8, types.int32, types.int64, types.uint64)
)
INT, SHORTS, PLANES = types.int64, types.uint32[::1], types.int8
TABLE, UNITS = types.int32[:, ::1], types.int64[:, ::1]


def bundle(kind: Any, *fields: Any) -> Any:
    """The type of a NamedTuple whose fields have these types, or are int64 where none are given."""
    return types.BaseTuple.from_types(fields or [INT] * len(kind._fields), kind)


SHAPE, LETTERS = bundle(hamming.Shape), PLANES[::1]
HAMMING = (WORDS, SHAPE, LETTERS, INTS, WORDS, TABLE, NUMBERS, NUMBERS)
EDIT = (WORDS, bundle(edit.Shape), PLANES[:, ::1], TABLE, NUMBERS, NUMBERS)
STRIPS = (*EDIT, INT, WORDS, WORDS, WORDS)
TARGET = (WORDS, SHORTS, INTS, INTS, UNITS, bundle(primer_tile.Shape), WORDS)
PRIMER = (*TARGET, INTS, UNITS, NUMBERS)
FILL = (WORDS, INT, INT, INT, INT, BYTES, WORDS)


def kernels(pairs: bool = True) -> dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]]:
    """What searches launch, by name, those that compile longest first.

    The function that makes a kernel, what it is called with, and the types of the kernel's
    arguments. pairs: whether the GPU copies in the background.
    """
    strips = product(edit.STRIP_ROWS, edit.STRIP_BITS)
    short = product(range(edit.STEP, edit.SHORT + 1, edit.STEP), (edit.SHORT_BITS,))
    primers = product((primer.HEIGHT,), primer.BITS, (primer_tile.WIDTH,))
    tiles = [(bits, hamming.DEEP) for bits in hamming.BITS]
    tiles += [(bits, hamming.BROAD) for bits in hamming.BITS if bits <= hamming.BROAD_BITS]
    makers: list[tuple[str, Any, Iterable[tuple[Any, ...]], tuple[Any, ...]]] = [
        ("primer", primer_tile.make_extend, primers, PRIMER),
        ("strips", edit.make_strips, strips, STRIPS),
        ("edit", edit.make_scan, short, EDIT),
        ("hamming", hamming.make_scan, [(bits, *tile, pairs) for bits, tile in tiles], HAMMING),
        ("fill", lambda: text.fill, [()], FILL),
    ]
    return {
        " ".join(map(str, (name, *kind))): (make, kind, arguments)
        for name, make, kinds, arguments in makers
        for kind in kinds
    }


def compile_kernel(name: str) -> None:
    """Compile one of the `kernels` for the current GPU, or load it where that has been done."""
    make, kind, arguments = kernels(copies_in_background())[name]
    make(*kind).compile(arguments)
