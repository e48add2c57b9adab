"""Vectors of 64-bit words as Numba values, so that kernels decide what is vectorised.

`load`, `store`, `fill`, `nonzero` and the operators `& | ^ ~` work on 64 lanes of one bit a word;
others take words as numbers from 0 on, which `<<` and `>>` shift by fewer than 64 bits. LLVM keeps
vectors in registers and lowers them to registers that the processor has: an AVX-512 or AVX2
register, or several NEON or SSE ones. A vector from `load` and `fill` has WORDS words, one from
`load_wide` and `fill_wide` twice as many: two chains hide each other's latency.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from kmatch.engine.geometry import WIDE, WORDS
from kmatch.jit.kernels import inlined, kernel

ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = np.uint64(0)
ONE = np.uint64(1)


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
def pointer(typingctx, array, index):
    """Return where the items from array[index] on begin, to be indexed like a flat array; it must
    outlive the pointer.

    A function that takes arrays counts references to them, which takes longer than a short one.
    """

    def build(context, builder, signature, arguments):
        offset = context.cast(builder, arguments[1], signature.args[1], types.int64)
        return builder.gep(_data(context, builder, signature.args[0], arguments[0]), [offset])

    return types.CPointer(array.dtype)(array, index), build


def _address(context, builder, kind, array, index, words):
    data = _data(context, builder, kind, array)
    vector = ir.VectorType(ir.IntType(64), words)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _loader(words):
    @intrinsic
    def load(typingctx, array, index):
        """Return the vector that begins at array[index] of a flat uint64 array, or of a pointer to
        one."""

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
        """Return the vector whose words are all one uint64."""

        def build(context, builder, signature, arguments):
            empty = ir.Constant(ir.VectorType(ir.IntType(64), words), ir.Undefined)
            one = builder.insert_element(empty, arguments[0], ir.Constant(ir.IntType(32), 0))
            first = ir.Constant(ir.VectorType(ir.IntType(32), words), [0] * words)
            return builder.shuffle_vector(one, empty, first)

        return Vector(words)(types.uint64), build

    return fill


load = _loader(WORDS)
load_wide = _loader(WIDE)
fill = _filler(WORDS)
fill_wide = _filler(WIDE)


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
def nonzero(typingctx, value):
    """Return a bit for each word of a vector, set where the word is not zero (int64)."""

    def build(context, builder, signature, arguments):
        bits = builder.icmp_unsigned("!=", arguments[0], ir.Constant(arguments[0].type, None))
        mask = builder.bitcast(bits, ir.IntType(signature.args[0].words))
        return builder.zext(mask, ir.IntType(64))

    return types.int64(value), build


def _of_word(operation, kind):
    """Return a function of a word: operation(builder, word) gives a `kind`."""

    @intrinsic
    def operate(typingctx, word):
        def build(context, builder, signature, arguments):
            unsigned = context.cast(builder, arguments[0], signature.args[0], types.uint64)
            return operation(builder, unsigned)

        return kind(word), build

    return operate


_UNDEFINED = ir.Constant(ir.IntType(1), 1)  # what counts zeros may give anything where all are

lowest = _of_word(  # number of the lowest set bit, of which there is one
    lambda builder, word: builder.cttz(word, _UNDEFINED), types.int64
)
highest = _of_word(
    lambda builder, word: builder.sub(ir.Constant(word.type, 63), builder.ctlz(word, _UNDEFINED)),
    types.int64,
)
popcount = _of_word(ir.IRBuilder.ctpop, types.int64)
reverse_bits = _of_word(ir.IRBuilder.bitreverse, types.uint64)


@intrinsic
def bits_alike(typingctx, array, index, other, at):
    """Return a bit for each of 64 items from array[index] on of a flat uint8 array, set where it
    has one of the bits of that from other[at] on."""

    def build(context, builder, signature, arguments):
        kind = ir.VectorType(ir.IntType(8), 64)
        items = []
        for i in (0, 2):
            offset = context.cast(builder, arguments[i + 1], signature.args[i + 1], types.int64)
            data = _data(context, builder, signature.args[i], arguments[i])
            address = builder.bitcast(builder.gep(data, [offset]), kind.as_pointer())
            items.append(builder.load(address, align=1))
        bits = builder.icmp_unsigned("!=", builder.and_(*items), ir.Constant(kind, None))
        return builder.bitcast(bits, ir.IntType(64))

    return types.uint64(array, index, other, at), build


@inlined
def word_at(row, at):
    """64 bits of a row of words from bit `at` on; the next word is read too."""
    word = at >> 6
    shift = np.uint64(at & 63)
    return row[word] >> shift | row[word + 1] << ONE << (np.uint64(63) - shift)


def _define(operation, build, *vectors):
    """Make an operator one of vectors, which is built where it stands: a function would be compiled
    for it. build(builder, *vectors) gives another vector."""

    @type_callable(operation)
    def choose(context):
        return lambda left, right=None: (
            left if isinstance(left, Vector) and right in (None, left) else None
        )

    @lower_builtin(operation, *vectors)
    def lower(context, builder, signature, arguments):
        return build(builder, *arguments)


def _chosen(sign):
    return lambda builder, left, right: builder.select(
        builder.icmp_unsigned(sign, left, right), left, right
    )


_define(operator.invert, ir.IRBuilder.not_, Vector)
for each, build in {
    operator.and_: ir.IRBuilder.and_,
    operator.or_: ir.IRBuilder.or_,
    operator.xor: ir.IRBuilder.xor,
    operator.add: ir.IRBuilder.add,
    operator.sub: ir.IRBuilder.sub,
    operator.lshift: ir.IRBuilder.shl,
    operator.rshift: ir.IRBuilder.lshr,
    max: _chosen(">"),
    min: _chosen("<"),
}.items():
    _define(each, build, Vector, Vector)


@kernel
def aligned(words):
    """Return a flat uint64 array of zeros that begins on a cache line."""
    array = np.zeros(words + 7, np.uint64)
    skip = -(array.ctypes.data // 8) % 8
    return array[skip : skip + words]


@intrinsic
def trailing_zeros(typingctx, value):
    """Return the trailing zeros of each word of a vector; no word may be zero."""

    def build(context, builder, signature, arguments):
        vector = arguments[0].type
        kind = ir.FunctionType(vector, [vector, _UNDEFINED.type])
        name = f"llvm.cttz.v{vector.count}i64"
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(function, [arguments[0], _UNDEFINED])

    return value(value), build


@intrinsic
def where_equal(typingctx, left, right, same, other):
    """Return the words of `same` where left and right are equal, and of `other` elsewhere."""

    def build(context, builder, signature, arguments):
        left, right, same, other = arguments
        return builder.select(builder.icmp_unsigned("==", left, right), same, other)

    return left(left, right, same, other), build
