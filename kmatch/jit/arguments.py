"""Arguments of kernels: their kinds, and the words that an object takes them from.

    argument                     kind                               words
    7                            NumberOf(int)                      7
    np.zeros((2, 3), np.uint8)   ArrayOf(uint8, 2)                  0 0 6 1 ADDRESS 2 3 3 1
    HitBuffer(codes, tally)      TupleOf(HitBuffer, (ArrayOf(int64, 1), ArrayOf(int64, 1)))
                                                                    words of codes, words of tally

An object is made for arguments of one kind. Of tuples each class is a kind, as kernels know their
items by name.
"""

from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

SIGN = 1 << 63  # of a word
NUMBERS = (int, np.bool_, np.integer)


class Unfit(Exception):
    """An argument that objects do not take, or a kernel that becomes no object."""


class NumberOf(NamedTuple):
    """The kind of whole numbers of a type."""

    type: type


class ArrayOf(NamedTuple):
    """The kind of contiguous arrays."""

    dtype: Any
    dimensions: int


class TupleOf(NamedTuple):
    """The kind of tuples of a class; items: the kind of each."""

    type: type
    items: "Kinds"


Kind = NumberOf | ArrayOf | TupleOf
Kinds = tuple[Kind, ...]


def lay_out_all(arguments: tuple[Any, ...], words: list[int]) -> Kinds:
    """Append the words of arguments to others; returns the kind of each. Raises Unfit."""
    return tuple([lay_out(argument, words) for argument in arguments])


def lay_out(value: Any, words: list[int]) -> Kind:
    """Append the words of an argument to others; returns its kind. Raises Unfit."""
    made_of = type(value)
    if made_of is np.ndarray:
        if not (value.flags.c_contiguous and value.flags.aligned):
            raise Unfit("an array whose items are not side by side")
        # Numba's array: who owns it, items, bytes of each, where they are, shape and strides.
        words += 0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides
        return ArrayOf(value.dtype, value.ndim)
    if isinstance(value, tuple):
        return TupleOf(made_of, lay_out_all(value, words))
    if isinstance(value, NUMBERS):
        number = int(value)
        words.append(number if number < SIGN else number - 2 * SIGN)  # words have a sign
        return NumberOf(int if made_of is np.int64 else made_of)  # which Numba takes alike
    raise Unfit(f"an argument of {made_of}")


def described(kind: Kind) -> str:
    """Return letters for a kind, the same in each process, and others for other kinds."""
    if isinstance(kind, ArrayOf):
        return f"{kind.dimensions} × {kind.dtype}"
    if isinstance(kind, NumberOf):
        return str(kind.type)
    names = getattr(kind.type, "_fields", ())
    return f"{kind.type}{names}({', '.join(map(described, kind.items))})"


def example(annotation: Any) -> Any:
    """Return an argument that is annotated so: an empty array, 0, or a tuple of such."""
    origin = get_origin(annotation)
    parts = get_args(annotation)
    if alias := getattr(origin, "__value__", None):  # NDArray since NumPy 2.5
        return example(alias[parts])
    if origin is Annotated:  # with an array's dimensions, or with its dtype
        array, more = parts
        if isinstance(more, np.dtype):
            return np.zeros(0, more)
        return example(array).reshape((0,) * more)
    if origin is np.ndarray:
        return np.zeros(0, get_args(parts[1])[0])
    if origin is tuple:
        return tuple(map(example, parts))
    if issubclass(annotation, tuple):
        return annotation(*map(example, get_type_hints(annotation, include_extras=True).values()))
    return annotation(0)
