"""The GPUs that kernels are compiled for in tests, and the types of what kernels take."""

from functools import cache

import pytest
from numba import types

from kmatch.engine.cuda import driver

OLDEST = "the oldest"
CAPABILITIES = [OLDEST, (9, 0)]  # what kernels do differently begins between them, at (8, 0)
OLD = [driver.OLDEST, (6, 0), (7, 0), (7, 5)]  # CUDA 13 compiles for none below (7, 5)


@cache
def _failure(capability):
    """Why the CUDA toolkit compiles nothing for a compute capability, or None."""
    from numba import cuda

    try:
        cuda.compile_ptx(lambda words: None, (types.uint64[::1],), cc=capability)
    except Exception as error:  # the toolkit's failures have many classes
        return str(error).splitlines()[0]


def check_toolkit():
    """Skip the test where there is no CUDA toolkit."""
    if failure := _failure((9, 0)):
        pytest.skip(f"no CUDA toolkit to compile with: {failure}")


def known(capability):
    """A compute capability; for OLDEST the oldest that kmatch and the toolkit both know."""
    if capability != OLDEST:
        return capability
    return next(old for old in OLD if _failure(old) is None)


def target(capability):
    """How PTX names a compute capability."""
    return ".target sm_{}{}".format(*known(capability))


def label(capability):
    """How tests name it."""
    return capability if capability == OLDEST else "sm_{}{}".format(*capability)


def bundle(kind, *fields):
    """The type of a NamedTuple whose fields have these types, or are int64 where none are given."""
    return types.BaseTuple.from_types(fields or [types.int64] * len(kind._fields), kind)
