"""The decorators that make kernels, and objects of kernels, by documented API of Numba and
llvmlite.

`cfunc` compiles a function that makes a kernel's arguments out of words and calls it; its LLVM code
becomes an object, together with the two functions of Numba's runtime that arrays in kernels need.
"""

import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
from llvmlite import binding
from numba import from_dtype, types
from numba.extending import intrinsic

from kmatch.jit.arguments import ArrayOf, Kind, Kinds, NumberOf, Unfit
from kmatch.jit.folders import folder_name
from kmatch.jit.objects import machine

Decorator = Callable[[Callable[..., Any]], Any]  # what kernels are is typed by Numba

# A kernel that host code calls by an Entry, and other kernels by its name, but nothing from Python.
kernel: Decorator = numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)

inlined: Decorator = numba.njit(inline="always")


@cache
def plain(kernel: Any) -> Any:
    """Return the same kernel as Numba compiles it for callers in Python."""
    return numba.njit(nogil=True)(getattr(kernel, "py_func", kernel))


folder_name()  # of the sources as they are now, just before kernels are imported
# Numba 0.60 goes from block to block of a kernel by recursion.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))

KNOWN = (0, 60), (0, 69)  # Numba's versions whose arrays are those of RUNTIME

# What an object may ask of the process that loads it.
SYMBOLS = {"malloc", "free", "memcpy", "memset", "memmove", "memcmp"}

# Memory of an array: its count of references, three words, and where its letters begin.
RUNTIME = """
declare {p} @malloc(i64)
declare void @free({p})

define {p} @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {{
  %whole = add i64 %size, 128
  %memory = call {p} @malloc(i64 %whole)
  %at = ptrtoint {p} %memory to i64
  %none = icmp eq i64 %at, 0
  br i1 %none, label %out, label %fill
fill:
  %beyond = add i64 %at, 127
  %data = and i64 %beyond, -64
  %count = inttoptr i64 %at to {w}
  store i64 1, {w} %count
  %field = add i64 %at, 24
  %place = inttoptr i64 %field to {w}
  store i64 %data, {w} %place
  br label %out
out:
  ret {p} %memory
}}

define void @NRT_MemInfo_call_dtor({p} %memory) {{
  call void @free({p} %memory)
  ret void
}}
"""


def compile_object(kernel: Any, kinds: Kinds, symbol: str) -> bytes:
    """Return the object of a kernel for arguments of some kinds.

    It defines symbol(words), which leaves the kernel's number in the first of them. Raises Unfit
    where Numba is one that kmatch does not know, and for a kernel that needs more of its runtime.
    """
    if not KNOWN[0] <= tuple(map(int, numba.__version__.split(".")[:2])) < KNOWN[1]:
        raise Unfit(f"Numba {numba.__version__} is not known")
    arguments = tuple(map(_numba_type, kinds))
    kernel.compile(arguments)
    run = _caller(kernel.overloads[arguments].fndesc)
    caller = numba.cfunc(types.int64(types.CPointer(types.int64)))(lambda words: run(words))
    parts = caller.inspect_llvm(), kernel.inspect_llvm(arguments)
    return _emit(parts, caller.native_name, symbol)


def _numba_type(kind: Kind) -> Any:
    """Return Numba's type of a kind."""
    if isinstance(kind, ArrayOf):
        return types.Array(from_dtype(kind.dtype), kind.dimensions, "C")
    if isinstance(kind, NumberOf):
        return numba.typeof(kind.type(0))
    return types.BaseTuple.from_types(list(map(_numba_type, kind.items)), kind.type)


def _caller(kernel: Any) -> Any:
    """Return an intrinsic that calls a compiled kernel with the items of its arguments, a word
    each, to which it gets a pointer; it returns 0, or FAILED, which is 1, where the kernel raises
    something.

    It names the kernel only, as LLVM would take all of it once again; `numba.carray` takes longer
    than most kernels. Private to Numba are get_arg_packer, declare_function and call_conv.
    """

    @intrinsic
    def run(typingctx: Any, words: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            packer = context.get_arg_packer(kernel.argtypes)
            items = []
            for number, kind in enumerate(packer.argument_types, 1):
                place = builder.gep(given[0], [context.get_constant(types.intp, number)])
                items.append(builder.load(builder.bitcast(place, kind.as_pointer())))
            function = context.declare_function(builder.module, kernel)
            arguments = kernel.restype, kernel.argtypes, packer.from_arguments(builder, items)
            status, number = context.call_conv.call_function(builder, function, *arguments)
            if kernel.restype != types.none:
                number = context.cast(builder, number, kernel.restype, types.int64)
                builder.store(number, given[0])
            return context.cast(builder, status.is_error, types.boolean, types.int64)

        return types.int64(words), build

    return run


def _emit(parts: tuple[str, str], entry: str, symbol: str) -> bytes:
    """Return the object of LLVM's code, in which a function is called `symbol`."""
    opaque = re.search(r"\bptr\b", parts[0])
    runtime = RUNTIME.format(p="ptr" if opaque else "i8*", w="ptr" if opaque else "i64*")
    module = binding.parse_assembly(runtime)
    for part in parts:
        module.link_in(binding.parse_assembly(part))
    module.get_function(entry).name = symbol
    for defined in (*module.functions, *module.global_variables):
        if not defined.is_declaration and defined.name != symbol:
            defined.linkage = "internal"
        known = defined.name in SYMBOLS or defined.name.startswith("llvm.")
        if defined.is_declaration and not known:
            raise Unfit(f"it asks for {defined.name}")
    module.verify()
    found: bytes = machine().emit_object(module)
    return found
