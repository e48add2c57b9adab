"""Three-input logic on words of 64 lanes, two LOP3 instructions each.

The assembler finds most of them by itself, but splits some of them again. Written out, the adders
and the recurrence keep the number of operations that they are counted to have.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kmatch.engine.cuda.gpu.driver import SIMULATED

_A, _B, _C = 0xF0, 0xCC, 0xAA  # truth tables of the three inputs


def _lop3(table):
    """An operation uint64 × uint64 × uint64 → uint64 with a truth table of 8 bits."""
    code = (
        "{ .reg .b32 a, b, c, d, e, f; "
        "mov.b64 {a, b}, $1; mov.b64 {c, d}, $2; mov.b64 {e, f}, $3; "
        f"lop3.b32 a, a, c, e, {table}; lop3.b32 b, b, d, f, {table}; "
        "mov.b64 $0, {a, b}; }"
    )

    @intrinsic
    def operation(typing, a, b, c):
        def generate(context, builder, signature, arguments):
            word = ir.IntType(64)
            kind = ir.FunctionType(word, [word] * 3)
            return builder.call(ir.InlineAsm(kind, code, "=l,l,l,l"), arguments)

        return types.uint64(types.uint64, types.uint64, types.uint64), generate

    return operation


if SIMULATED:

    def parity(a, b, c):
        """a ^ b ^ c"""
        return a ^ b ^ c

    def majority(a, b, c):
        """Bits set in at least two of three words."""
        return (a & b) | (c & (a | b))

    def any_of(a, b, c):
        """a | b | c"""
        return a | b | c

    def all_of(a, b, c):
        """a & b & c"""
        return a & b & c

    def or_neither(a, b, c):
        """a | ~(b | c)"""
        return a | ~(b | c)

    def and_alike(a, b, c):
        """a & ~(b ^ c)"""
        return a & ~(b ^ c)

    def or_both(a, b, c):
        """a | (b & c)"""
        return a | (b & c)

else:
    parity = _lop3(_A ^ _B ^ _C)
    majority = _lop3((_A & _B) | (_C & (_A | _B)))
    any_of = _lop3(_A | _B | _C)
    all_of = _lop3(_A & _B & _C)
    or_neither = _lop3(_A | (~(_B | _C) & 0xFF))
    and_alike = _lop3(_A & (~(_B ^ _C) & 0xFF))
    or_both = _lop3(_A | (_B & _C))
