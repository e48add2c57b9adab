"""Every kernel for CUDA compiles, for old and new GPUs; no GPU is needed, but the toolkit is."""

import re
import shutil
import subprocess
from functools import partial
from importlib import import_module
from types import SimpleNamespace

import pytest
from numba import types
from support.capabilities import CAPABILITIES, bundle, check_toolkit, known, label, target

from kmatch.engine.cuda import driver, edit, hamming, primer_tile, strips
from kmatch.published.cuda import pmasm2017

WORDS, NUMBERS, INTS = types.uint64[::1], types.int64[::1], types.int32[::1]
TABLE = types.int32[:, ::1]

HAMMING = (
    *(WORDS, bundle(hamming.Shape), NUMBERS, NUMBERS, WORDS, TABLE),
    *(NUMBERS, NUMBERS),
)
EDIT = (WORDS, bundle(edit.Shape), types.int8[:, ::1], TABLE, NUMBERS, NUMBERS)
STRIPS = (*EDIT, types.int64, bundle(strips.Kept, *3 * [WORDS]))
PRIMER = (
    *(WORDS, types.uint32[::1], INTS, INTS, types.int64[:, ::1]),
    *(
        bundle(primer_tile.Shape),
        WORDS,
        bundle(primer_tile.Outcome, INTS, types.int64[:, ::1], NUMBERS),
    ),
)

TEXT, PATTERNS = types.uint8[::1], types.uint8[:, ::1]
RESULT, TABLE, NUMBERS = types.int32[::1], types.int32[:, ::1], types.int64[::1]
INT, WORD, SHORT, LONG = types.int64, types.uint64, types.uint32[::1], types.uint64[::1]
PANEL = (TEXT, SHORT, INT, INT, INT, INT, TABLE)
STATE = (TEXT, LONG, bundle(pmasm2017.ShiftAdd, WORD, WORD, WORD, INT, INT, INT), RESULT)
ROWS = (TEXT, TEXT, RESULT, TABLE, INT, INT)

MAKERS = {
    "hamming": ("hamming", "make_scan"),
    "edit": ("edit", "make_scan"),
    "strips": ("strips", "make_scan"),
    "unite": ("text", "make_unite"),
    "primer": ("primer_tile", "make_extend"),
    "spread": ("text", "make_spread"),
}
KERNELS = {
    "hamming, few mismatches": ("hamming", (2, 16, 14), HAMMING),
    "hamming, many mismatches": ("hamming", (5, 8, 8), HAMMING),
    "edit": ("edit", (20, 6, False), EDIT),
    "best": ("edit", (20, 6, True), EDIT),
    "edit in strips": ("strips", (28, 12, False), STRIPS),
    "best in strips": ("strips", (24, 8, True), STRIPS),
    "more lanes": ("spread", (), (WORDS, *4 * (types.int64,), WORDS)),
    "union": ("unite", (), (WORDS, types.int64, types.uint8[::1], WORDS)),
    "primer": ("primer", (16, 6, 32), PRIMER),
}
FAST = {  # sizes meant for speed, which have to stay in registers
    "hamming, k = 1": ("hamming", (1, 16, 14), HAMMING),
    "hamming, k = 3": ("hamming", (2, 16, 14), HAMMING),
    "hamming, k = 7": ("hamming", (3, 8, 8), HAMMING),
    "edit, m = 16": ("edit", (16, 4, False), EDIT),
    "edit, m = 20": ("edit", (20, 6, False), EDIT),
    "edit, m = 24": ("edit", (24, 6, False), EDIT),
    "edit, m = 32": ("edit", (32, 6, False), EDIT),
}
PRIMERS = {  # what they spill lies outside the loops over columns
    "primer, k = 6": ("primer", (16, 6, 32), PRIMER),
    "primer, k = 100": ("primer", (16, 12, 32), PRIMER),
}

PUBLISHED = {  # module, function or maker of one, its constants, signature
    "listing hits": ("", "_list_hits", None, (RESULT, NUMBERS, NUMBERS, NUMBERS)),
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
    "the matrix X": ("wspasm2017", "_find_matches", None, (TEXT, TEXT, INT, TABLE)),
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


_ptx = {}


@pytest.fixture
def compiled(monkeypatch):
    """A function that compiles a kernel for a compute capability to PTX."""
    dispatcher = pytest.importorskip("numba.cuda.dispatcher")
    from numba import cuda

    check_toolkit()

    def compiled(kernel, signature, capability):
        # Functions that kernels call are typed for the GPU at hand; here that is none.
        device = SimpleNamespace(compute_capability=capability)
        monkeypatch.setattr(dispatcher, "get_current_device", lambda: device)
        return cuda.compile_ptx(kernel().py_func, signature, cc=capability)[0]

    return compiled


@pytest.fixture
def compile_ptx(compiled):
    """A function that compiles a kernel of the engine for a compute capability."""

    def compile_ptx(kind, constants, signature, capability):
        key = (kind, constants, capability)  # several tests look at one kernel
        if key not in _ptx:
            known_one = known(capability)
            if kind == "hamming":
                constants = (*constants, known_one >= driver.BACKGROUND)
            module, maker = MAKERS[kind]
            kernel = partial(make, f"engine.cuda.{module}", maker, constants)
            _ptx[key] = compiled(kernel, signature, known_one)
        return _ptx[key]

    return compile_ptx


def make(module, maker, constants):
    """The kernel of a maker, made anew."""
    make = getattr(import_module(f"kmatch.{module}"), maker)
    make.cache_clear()
    return make(*constants)


@pytest.mark.parametrize("capability", CAPABILITIES, ids=label)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_compile(compile_ptx, name, capability):
    kind, *_ = KERNELS[name]
    ptx = compile_ptx(*KERNELS[name], capability)
    assert target(capability) in ptx
    assert "lop3.b32" in ptx or kind in ("pack", "unite", "spread")


@pytest.mark.parametrize("capability", CAPABILITIES, ids=label)
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_kernels_compile(compiled, name, capability):
    module, function, constants, signature = PUBLISHED[name]
    module = f"published.cuda.{module}".rstrip(".")
    kernel = partial(make, module, function, constants)
    if constants is None:
        kernel = partial(getattr, import_module(f"kmatch.{module}"), function)
    assert target(capability) in compiled(kernel, signature, known(capability))


@pytest.fixture
def assembled(compile_ptx, tmp_path):
    """A function that gives the registers of a kernel and its bytes of stack, of spill stores and
    of spill loads."""
    if not shutil.which("ptxas"):
        pytest.skip("ptxas of the CUDA toolkit is not on PATH")

    def assembled(kernel):
        file = tmp_path / "kernel.ptx"
        file.write_text(compile_ptx(*kernel, (9, 0)))
        command = ("ptxas", "-v", "-arch=sm_90", file, "-o", tmp_path / "kernel.cubin")
        done = subprocess.run(command, capture_output=True, text=True)
        told = done.stdout + done.stderr
        if "Unsupported .version" in told:
            pytest.skip("ptxas is older than the compiler that Numba uses")
        assert done.returncode == 0, told
        (found,) = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+)", told)
        (registers,) = re.findall(r"Used (\d+) registers", told)
        return int(registers), *map(int, found)

    return assembled


@pytest.mark.parametrize("name", FAST)
def test_fast_kernels_stay_in_registers(assembled, name):
    assert assembled(FAST[name])[1:] == (0, 0, 0)


def test_registers_leave_room_for_six_blocks(assembled):
    """As many as shared memory has room for, so that some copy while others count."""
    registers, *_ = assembled(FAST["hamming, k = 3"])
    assert 6 * hamming.THREADS * registers <= 1 << 16


@pytest.mark.parametrize("name", PRIMERS)
def test_kernels_for_primers_spill_little(compile_ptx, assembled, name):
    assert max(assembled(PRIMERS[name])[1:]) < 512
    assert ".local" not in compile_ptx(*PRIMERS[name], (9, 0))
