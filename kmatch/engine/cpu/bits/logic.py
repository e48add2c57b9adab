"""Logic of three vectors, in one instruction where the processor has it."""

from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from kmatch.engine.cpu.bits.vectors import AVX512, WIDE, WORDS


def _ternary(table, plain):
    """A function of three bits, given by its truth table and, for other processors, by operations.

    Bit 4a + 2b + c of the table is the function of a, b and c. AVX-512 has one instruction for
    any such function, which LLVM rarely finds by itself.
    """

    @intrinsic
    def operate(typingctx, a, b, c):
        def build(context, builder, signature, arguments):
            if not AVX512:
                return plain(builder, *arguments)
            parts = range(signature.return_type.words // WORDS)
            halves = [[_part(builder, x, i) for x in arguments] for i in parts]
            done = [_ternlog(builder, half, table) for half in halves]
            return done[0] if len(done) == 1 else _joined(builder, done)

        return a(a, b, c), build

    return operate


def _indices(numbers):
    return ir.Constant(ir.VectorType(ir.IntType(32), len(numbers)), numbers)


def _part(builder, value, i):
    if value.type.count == WORDS:
        return value
    return builder.shuffle_vector(value, value, _indices([WORDS * i + j for j in range(WORDS)]))


def _joined(builder, parts):
    return builder.shuffle_vector(*parts, _indices(list(range(WIDE))))


def _ternlog(builder, operands, table):
    vector = ir.VectorType(ir.IntType(64), WORDS)
    kind = ir.FunctionType(vector, [vector] * 3 + [ir.IntType(32)])
    name = f"llvm.x86.avx512.pternlog.q.{64 * WORDS}"
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, [*operands, ir.Constant(ir.IntType(32), table)])


def _any_of(builder, a, b, c):
    return builder.or_(builder.or_(a, b), c)


def _parity(builder, a, b, c):
    return builder.xor(builder.xor(a, b), c)


def _carry(builder, a, b, total):
    other = builder.and_(builder.xor(a, b), builder.not_(total))
    return builder.or_(builder.and_(a, b), other)


def _or_without(builder, a, b, c):
    return builder.or_(a, builder.and_(builder.not_(b), c))


def _or_both(builder, a, b, c):
    return builder.or_(a, builder.and_(b, c))


def _without(builder, a, b, c):
    return builder.and_(builder.not_(a), builder.or_(b, c))


any_of = _ternary(0xFE, _any_of)  # a | b | c
parity = _ternary(0x96, _parity)  # a ^ b ^ c
carry_of = _ternary(0xD4, _carry)  # of a, b and a third bit, c being the parity of the three
or_without = _ternary(0xF2, _or_without)  # a | ~b & c
or_both = _ternary(0xF8, _or_both)  # a | b & c
without = _ternary(0x0E, _without)  # ~a & (b | c)
