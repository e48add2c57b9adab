"""Kernels of published algorithms for CUDA compile, without a GPU, as the engine's do."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from numba import types
from support.capabilities import CAPABILITIES, bundle, check_toolkit, known, label, target

from kmatch.published.cuda import pmasm2017

TEXT, PATTERNS = types.uint8[::1], types.uint8[:, ::1]
RESULT, TABLE, NUMBERS = types.int32[::1], types.int32[:, ::1], types.int64[::1]
INT, WORD, SHORT, LONG = types.int64, types.uint64, types.uint32[::1], types.uint64[::1]
PANEL = (TEXT, SHORT, INT, INT, INT, INT, TABLE)
STATE = (TEXT, LONG, bundle(pmasm2017.ShiftAdd, WORD, WORD, WORD, INT, INT, INT), RESULT)
ROWS = (TEXT, TEXT, RESULT, TABLE, INT, INT)

KERNELS = {  # module, function or maker of one, its constants, signature
    "listing hits": ("", "_list_hits", None, (RESULT, NUMBERS, NUMBERS, NUMBERS)),
    "the smallest": ("", "_least", None, (RESULT, NUMBERS)),
    "thread": ("liu2012", "_thread", None, (TEXT, TEXT, INT, RESULT)),
    "block-thread": ("liu2012", "_block_thread", None, (TEXT, TEXT, INT, INT, RESULT)),
    "opt-block-thread": ("liu2012", "_opt_block_thread", None, (TEXT, TEXT, INT, RESULT)),
    "naive": ("pmasm2017", "_naive", None, (TEXT, PATTERNS, INT, TABLE)),
    "shift-add": ("pmasm2017", "make_shift_add", (1,), STATE),
    "shift-add, several words": ("pmasm2017", "make_shift_add", (16,), STATE),
    "pmasm-thread": ("pmasm2017", "make_thread", (1, False), PANEL),
    "pmasm-thread, several words": ("pmasm2017", "make_thread", (8, False), PANEL),
    "pmasm-block-thread": ("pmasm2017", "_block_thread", None, PANEL),
    "pmasm-shared": ("pmasm2017", "make_thread", (8, True), PANEL),
    "X in blocks": ("wspasm2017", "_scan_blocks", None, (TEXT, TEXT, TABLE, TABLE)),
    "X between blocks": ("wspasm2017", "_scan_lasts", None, (TABLE,)),
    "X as a whole": ("wspasm2017", "_join_scans", None, (TABLE, TABLE)),
    "row 0": ("wspasm2017", "_first_row", None, (TABLE,)),
    "row": ("wspasm2017", "_row", None, (TABLE, INT, INT, TABLE)),
    "the last row": ("wspasm2017", "_report", None, (TABLE, INT, INT, RESULT)),
    "row-shuffle": ("wspasm2017", "_shuffle", None, (*ROWS, RESULT, types.int32[:, :, ::1])),
    "row-shuffle-shared": ("wspasm2017", "_shuffle_shared", None, (*ROWS, RESULT)),
    "diagonal": ("nakano2012", "_diagonals", None, (TEXT, TEXT, INT, INT, RESULT)),
    "slid": ("nakano2012", "_slide", None, (TEXT, TEXT, INT, RESULT, RESULT)),
    "conventional-fine": (
        *("feuser2018", "_conventional", None),
        (TEXT, TEXT, INT, INT, TABLE, NUMBERS, RESULT),
    ),
    "alternative-fine": (
        *("feuser2018", "_alternative", None),
        (TEXT, TEXT, INT, INT, INT, NUMBERS, RESULT),
    ),
    "partition": ("nakano2012", "_windows", None, (TEXT, TEXT, INT, INT, RESULT)),
}


@pytest.mark.parametrize("capability", CAPABILITIES, ids=label)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_compile(monkeypatch, name, capability):
    dispatcher = pytest.importorskip("numba.cuda.dispatcher")
    from numba import cuda

    check_toolkit()
    capability = known(capability)
    module, function, constants, signature = KERNELS[name]
    device = SimpleNamespace(compute_capability=capability)
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: device)
    kernel = getattr(import_module(f"kmatch.published.cuda.{module}".rstrip(".")), function)
    if constants:
        kernel.cache_clear()
        kernel = kernel(*constants)
    ptx = cuda.compile_ptx(kernel.py_func, signature, cc=capability)[0]
    assert target(capability) in ptx
