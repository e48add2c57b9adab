"""The engine's kernels in all their specialisations, and the types that they are launched with.

What is compiled before it is needed: on a GPU by `kmatch info --compile`, without one by tests.
"""

from collections.abc import Iterable
from itertools import product
from typing import Annotated, Any

import numpy as np
from numba import typeof
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Ints, Longs, Planes, Table, Words
from kmatch.engine.cuda import edit, hamming, primer, primer_tile, text
from kmatch.engine.cuda.driver import copies_in_background
from kmatch.jit.entries import example

Shorts = NDArray[np.uint32]
Steps = Annotated[Ints, 2]
EDIT = Words, edit.Shape, Annotated[Planes, 2], Steps, Longs, Longs
STRIPS = *EDIT, int, Words, Words, Words
HAMMING = Words, hamming.Shape, Planes, Ints, Words, Steps, Longs, Longs
PRIMER = Words, Shorts, Ints, Ints, Table, primer_tile.Shape, Words, Ints, Table, Longs
FILL = Words, int, int, int, int, Bytes, Words


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
    makers: list[tuple[str, Any, Iterable[tuple[Any, ...]], Any]] = [
        ("primer", primer_tile.make_extend, primers, PRIMER),
        ("strips", edit.make_strips, strips, STRIPS),
        ("edit", edit.make_scan, short, EDIT),
        ("hamming", hamming.make_scan, [(bits, *tile, pairs) for bits, tile in tiles], HAMMING),
        ("fill", lambda: text.fill, [()], FILL),
    ]
    return {
        " ".join(map(str, (name, *kind))): (make, kind, signature(types))
        for name, make, kinds, types in makers
        for kind in kinds
    }


def signature(types: Iterable[Any]) -> tuple[Any, ...]:
    """Numba's types of arguments that are annotated so."""
    return tuple(typeof(example(each)) for each in types)


def compile_kernel(name: str) -> None:
    """Compile one of the `kernels` for the current GPU, or load it where that has been done."""
    make, kind, types = kernels(copies_in_background())[name]
    make(*kind).compile(types)
