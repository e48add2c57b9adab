"""Vectors of 64-bit words as Numba values, so that kernels decide what is vectorised.

`load`, `store`, `fill`, `nonzero` and the operators `& | ^ ~` work on 64 lanes of one bit a word.
LLVM keeps vectors in registers and lowers them to those that the processor has: an AVX-512 or AVX2
register, or several NEON or SSE ones. A vector from `load` and `fill` has WORDS words, one from
`load_wide` and `fill_wide` twice as many: two chains that hide each other's latency.
"""

import operator

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

from kmatch.jit import kernel

AVX512 = get_host_cpu_features().get("avx512f", False)
WORDS = 8 if AVX512 else 4
WIDE = 2 * WORDS
ALL_ONES, NONE, ONE = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0), np.uint64(1)


class Vector(types.Type):
    """Numba type of a vector of `words` uint64."""

    def __init__(self, words):
        self.words = words
        super().__init__(name=f"kmatch_vector{words}")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.VectorType(ir.IntType(64), kind.words))


def _data(context, builder, kind, array):
    if isinstance(kind, types.CPointer):
        return array
    return context.make_array(kind)(context, builder, array).data


@intrinsic
def pointer(typingctx, array):
    """Where an array's items begin, to be indexed like a flat one that must outlive the pointer.

    A function that takes arrays counts references to them, which takes longer than a short one.
    """

    def build(context, builder, signature, arguments):
        return _data(context, builder, signature.args[0], arguments[0])

    return types.CPointer(array.dtype)(array), build


def _address(context, builder, kind, array, index, words):
    data = _data(context, builder, kind, array)
    vector = ir.VectorType(ir.IntType(64), words)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _loader(words):
    @intrinsic
    def load(typingctx, array, index):
        """The vector that begins at array[index] of a flat uint64 array, or of a pointer to one."""

        def build(context, builder, signature, arguments):
            offset = context.cast(builder, arguments[1], signature.args[1], types.int64)
            kind = signature.args[0]
            address = _address(context, builder, kind, arguments[0], offset, words)
            return builder.load(address, align=8)

        return Vector(words)(array, index), build

    return load


def _filler(words):
    @intrinsic
    def fill(typingctx, word):
        """The vector whose words are all one uint64."""

        def build(context, builder, signature, arguments):
            empty = ir.Constant(ir.VectorType(ir.IntType(64), words), ir.Undefined)
            one = builder.insert_element(empty, arguments[0], ir.Constant(ir.IntType(32), 0))
            first = ir.Constant(ir.VectorType(ir.IntType(32), words), [0] * words)
            return builder.shuffle_vector(one, empty, first)

        return Vector(words)(types.uint64), build

    return fill


load, load_wide = _loader(WORDS), _loader(WIDE)
fill, fill_wide = _filler(WORDS), _filler(WIDE)


@intrinsic
def store(typingctx, array, index, value):
    """Write a vector to array[index], array[index + 1], … of a flat array or a pointer."""

    def build(context, builder, signature, arguments):
        offset = context.cast(builder, arguments[1], signature.args[1], types.int64)
        kind, words = signature.args[0], signature.args[2].words
        address = _address(context, builder, kind, arguments[0], offset, words)
        builder.store(arguments[2], address, align=8)
        return context.get_dummy_value()

    return types.void(array, index, value), build


@intrinsic
def prefetch(typingctx, array, index):
    """Have array[index] of a flat array brought into the cache."""

    def build(context, builder, signature, arguments):
        offset = context.cast(builder, arguments[1], signature.args[1], types.int64)
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        octets, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [offset]), octets)
        kind = ir.FunctionType(ir.VoidType(), [octets, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        # To read, to be kept, data.
        builder.call(function, [address, *(ir.Constant(number, value) for value in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, index), build


@intrinsic
def nonzero(typingctx, value):
    """A bit for each word of a vector, set where the word is not zero (int64)."""

    def build(context, builder, signature, arguments):
        bits = builder.icmp_unsigned("!=", arguments[0], ir.Constant(arguments[0].type, None))
        mask = builder.bitcast(bits, ir.IntType(signature.args[0].words))
        return builder.zext(mask, ir.IntType(64))

    return types.int64(value), build


@intrinsic
def lowest(typingctx, word):
    """Number of the lowest set bit of a word that is not zero (int64)."""

    def build(context, builder, signature, arguments):
        unsigned = context.cast(builder, arguments[0], signature.args[0], types.uint64)
        return builder.cttz(unsigned, ir.Constant(ir.IntType(1), 1))

    return types.int64(word), build


def binary(name):
    """A function of two vectors: an instruction of LLVM, by its name in llvmlite."""

    @intrinsic
    def operate(typingctx, left, right):
        def build(context, builder, signature, arguments):
            return getattr(builder, name)(*arguments)

        return left(left, right), build

    return operate


@intrinsic
def _not(typingctx, value):
    def build(context, builder, signature, arguments):
        return builder.not_(arguments[0])

    return value(value), build


_and, _or, _xor = binary("and_"), binary("or_"), binary("xor")


def _alike(left, right):
    return isinstance(left, Vector) and left == right


@overload(operator.and_)
def _overload_and(left, right):
    if _alike(left, right):
        return lambda left, right: _and(left, right)


@overload(operator.or_)
def _overload_or(left, right):
    if _alike(left, right):
        return lambda left, right: _or(left, right)


@overload(operator.xor)
def _overload_xor(left, right):
    if _alike(left, right):
        return lambda left, right: _xor(left, right)


@overload(operator.invert)
def _overload_invert(value):
    if isinstance(value, Vector):
        return lambda value: _not(value)


@kernel
def aligned(words):
    """A flat uint64 array of zeros that begins on a cache line."""
    array = np.zeros(words + 7, np.uint64)
    skip = -(array.ctypes.data // 8) % 8
    return array[skip : skip + words]
