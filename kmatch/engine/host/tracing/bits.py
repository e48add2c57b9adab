"""Letters of a text as words, a bit a letter."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

SEEN = 64  # letters in a word


def _matcher(backward):
    @intrinsic
    def matching(typingctx, letters, at, mask):
        """Which of letters[at] … letters[at + SEEN − 1], uint8, have a bit of a mask: a uint64.

        Bit 0 is the first of them, or the last where they are read backward.
        """

        def build(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            at = context.cast(builder, arguments[1], signature.args[1], types.int64)
            mask = context.cast(builder, arguments[2], signature.args[2], types.uint8)
            octets = ir.VectorType(ir.IntType(8), SEEN)
            numbers = ir.VectorType(ir.IntType(32), SEEN)
            empty = ir.Constant(octets, ir.Undefined)
            address = builder.bitcast(builder.gep(data, [at]), octets.as_pointer())
            order = range(SEEN)[::-1] if backward else range(SEEN)
            read = builder.load(address, align=1)
            read = builder.shuffle_vector(read, empty, ir.Constant(numbers, list(order)))
            one = builder.insert_element(empty, mask, ir.Constant(ir.IntType(32), 0))
            every = builder.shuffle_vector(one, empty, ir.Constant(numbers, [0] * SEEN))
            bits = builder.icmp_unsigned("!=", builder.and_(read, every), ir.Constant(octets, None))
            return builder.bitcast(bits, ir.IntType(SEEN))

        return types.uint64(letters, at, mask), build

    return matching


matching, matching_backward = _matcher(False), _matcher(True)


@intrinsic
def width(typingctx, word):
    """Bits of a word up to its highest one, 0 where none is set (int64)."""

    def build(context, builder, signature, arguments):
        unsigned = context.cast(builder, arguments[0], signature.args[0], types.uint64)
        zeros = builder.ctlz(unsigned, ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.Constant(ir.IntType(64), 64), zeros)

    return types.int64(word), build
