"""Kernels compiled to objects, by what Numba and llvmlite document.

`cfunc` compiles a function that makes a kernel's arguments out of words and calls it; its LLVM code
becomes an object, together with the two functions of Numba's runtime that arrays in kernels need.
"""

import re
from importlib import import_module
from typing import Any

import numba
import numpy as np
from llvmlite import binding
from numba import carray, types
from numba.extending import overload

from kmatch.jit.entries import FAILED, LACKING, NOTHING, NUMBER, TRUTH, Unfit, machine

KNOWN = (0, 60), (0, 69)  # Numba's versions whose arrays are those of RUNTIME

# What an object may ask of the process that loads it.
SYMBOLS = {"malloc", "free", "memcpy", "memset", "memmove", "memcmp"}

# Memory of an array: its count of references, three words, and where its letters begin; and what an
# object defines, which tells whether a kernel failed for want of memory.
RUNTIME = """
@lacks = internal global i64 {failed}

declare {p} @malloc(i64)
declare void @free({p})
declare i64 @"{entry}"({pp}, {w})

define i64 @{symbol}({pp} %pointers, {w} %words) {{
  %status = call i64 @"{entry}"({pp} %pointers, {w} %words)
  %failed = icmp eq i64 %status, {failed}
  %why = load i64, {w} @lacks
  %told = select i1 %failed, i64 %why, i64 %status
  ret i64 %told
}}

define {p} @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {{
  %whole = add i64 %size, 128
  %memory = call {p} @malloc(i64 %whole)
  %at = ptrtoint {p} %memory to i64
  %none = icmp eq i64 %at, 0
  br i1 %none, label %lack, label %fill
lack:
  store i64 {lacking}, {w} @lacks
  br label %out
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


def compile_object(module: str, name: str, arguments: tuple[Any, ...], symbol: str) -> bytes:
    """The object of a kernel for the types of some arguments.

    It defines symbol(words, words), which leaves the kernel's result in the first of them. Raises
    Unfit where Numba is one that kmatch does not know, and for a kernel that needs more of its
    runtime.
    """
    if not KNOWN[0] <= tuple(map(int, numba.__version__.split(".")[:2])) < KNOWN[1]:
        raise Unfit(f"Numba {numba.__version__} is not known")
    names = {"carray": carray, "leave": leave, "np": np}
    names["kernel"] = getattr(import_module(module), name)
    given, _ = _spell(arguments, 1, names)
    source = f"""
def call(pointers, words):
    try:
        return leave(words, kernel{given})
    except Exception:
        return {FAILED}
"""
    exec(source, names)
    pointers, words = types.CPointer(types.voidptr), types.CPointer(types.int64)
    compiled = numba.cfunc(types.int64(pointers, words))(names["call"])
    return _emit(compiled.inspect_llvm(), compiled.native_name, symbol)


def _spell(value: Any, at: int, names: dict[str, Any]) -> tuple[str, int]:
    """An argument as Python makes it of the words from `at` on, and where the next one begins."""
    number = f"words[{at}]"
    if isinstance(value, np.ndarray):
        kind = f"of{len(names)}"
        names[kind] = value.dtype
        end = at + 1 + value.ndim
        shape = "".join(f"words[{i}]," for i in range(at + 1, end))
        return f"carray(pointers[{at}], ({shape}), {kind})", end
    if isinstance(value, tuple):
        items = []
        for each in value:
            item, at = _spell(each, at, names)
            items.append(item)
        kind = ""
        if type(value) is not tuple:
            kind = f"of{len(names)}"
            names[kind] = type(value)
        return f"{kind}({', '.join(items)}{'' if kind else ','})", at
    if isinstance(value, bool | np.bool_):
        return f"({number} != 0)", at + 1
    whole = type(value) in (int, np.int64)
    return number if whole else f"np.{type(value).__name__}({number})", at + 1


def leave(words: Any, result: Any) -> Any:
    """In a kernel: leave its result in the first word; returns of what kind it is."""


@overload(leave)
def _leave(words, result):
    if isinstance(result, types.NoneType):
        return lambda words, result: NOTHING
    kind = TRUTH if isinstance(result, types.Boolean) else NUMBER

    def write(words, result):
        words[0] = np.int64(result)
        return kind

    return write if isinstance(result, types.Boolean | types.Integer) else None


def _emit(code: str, entry: str, symbol: str) -> bytes:
    """The object of LLVM's code, in which a function is called `symbol`."""
    module = binding.parse_assembly(code)
    typed = {"p": "i8*", "w": "i64*", "pp": "i8**"}
    pointers = dict.fromkeys(typed, "ptr") if re.search(r"\bptr\b", code) else typed
    runtime = RUNTIME.format(**pointers, entry=entry, symbol=symbol, failed=FAILED, lacking=LACKING)
    module.link_in(binding.parse_assembly(runtime))
    for defined in (*module.functions, *module.global_variables):
        if not defined.is_declaration and defined.name != symbol:
            defined.linkage = "internal"
        known = defined.name in SYMBOLS or defined.name.startswith("llvm.")
        if defined.is_declaration and not known:
            raise Unfit(f"it asks for {defined.name}")
    module.verify()
    found: bytes = machine().emit_object(module)
    return found
