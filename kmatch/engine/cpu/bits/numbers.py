"""Vectors (see `vectors`) whose words are numbers from 0 on."""

from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from kmatch.engine.cpu.bits.vectors import binary

plus, minus = binary("add"), binary("sub")
up, down = binary("shl"), binary("lshr")  # shift words by fewer than 64 bits


def _chooser(sign):
    @intrinsic
    def choose(typingctx, left, right):
        def build(context, builder, signature, arguments):
            first = builder.icmp_unsigned(sign, *arguments)
            return builder.select(first, *arguments)

        return left(left, right), build

    return choose


larger, smaller = _chooser(">"), _chooser("<")


@intrinsic
def where_equal(typingctx, left, right, same, other):
    """The words of `same` where left and right are equal, elsewhere those of `other`."""

    def build(context, builder, signature, arguments):
        left, right, same, other = arguments
        return builder.select(builder.icmp_unsigned("==", left, right), same, other)

    return left(left, right, same, other), build


@intrinsic
def trailing_zeros(typingctx, value):
    """The number of the lowest set bit of each word, of which none may be zero."""

    def build(context, builder, signature, arguments):
        vector, flag = arguments[0].type, ir.IntType(1)
        kind = ir.FunctionType(vector, [vector, flag])
        name = f"llvm.cttz.v{signature.args[0].words}i64"
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(function, [arguments[0], ir.Constant(flag, 1)])

    return value(value), build
