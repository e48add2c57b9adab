"""Every kernel for CUDA compiles, for old and new GPUs; no GPU is needed, but the toolkit is."""

import re
import shutil
import subprocess
from functools import cache
from importlib import import_module
from types import SimpleNamespace

import pytest
from numba import types

from kmatch.engine.cuda import driver, edit, hamming, primer_tile, text, words
from kmatch.engine.geometry import Text
from kmatch.published.cuda import pmasm2017

OLDEST = "the oldest"
CAPABILITIES = [OLDEST, (9, 0)]  # what kernels do differently begins between them, at (8, 0)
OLD = [driver.OLDEST, (6, 0), (7, 0), (7, 5)]  # CUDA 13 compiles for none below (7, 5)
BYTES, INTS, NUMBERS, WORDS = (
    kind[::1] for kind in (types.uint8, types.int32, types.int64, types.uint64)
)
INT, WORD, SHORT, SMALL = types.int64, types.uint64, types.uint32[::1], types.int8[::1]
TABLE, UNITS, PATTERNS = types.int32[:, ::1], types.int64[:, ::1], types.uint8[:, ::1]


def bundle(kind, *fields):
    """The type of a NamedTuple whose fields have these types, or are int64 where none are given."""
    return types.BaseTuple.from_types(fields or [INT] * len(kind._fields), kind)


BUFFER = bundle(words.HitBuffer, NUMBERS, NUMBERS)
LETTERS = bundle(hamming.Groups, SMALL, INTS, WORDS)
CHUNK = (bundle(Text, WORDS, INT, INT, INT), INT)
HAMMING = (*CHUNK, bundle(text.Size), INT, INT, LETTERS, TABLE, BUFFER)
EDIT = (WORDS, bundle(edit.Shape), types.int8[:, ::1], TABLE, BUFFER)
STRIPS = (*EDIT, INT, bundle(edit.Kept, WORDS, WORDS, WORDS))
OUTCOME = bundle(primer_tile.Outcome, INTS, UNITS, NUMBERS)
PRIMER = (WORDS, SHORT, INTS, INTS, UNITS, bundle(primer_tile.Shape), WORDS, OUTCOME)
PANEL = (BYTES, SHORT, INT, INT, INT, INT, TABLE)
STATE = (BYTES, WORDS, bundle(pmasm2017.ShiftAdd, WORD, WORD, WORD, INT, INT, INT), INTS)
ROWS = (BYTES, BYTES, INTS, TABLE, INT, INT)
ENGINE, PUBLISHED = "engine.cuda", "published.cuda"
FEUSER, LIU, NAKANO, PMASM, WSPASM = (
    f"{PUBLISHED}.{paper}"
    for paper in ("feuser2018", "liu2012", "nakano2012", "pmasm2017", "wspasm2017")
)
KERNELS = {  # module, function or maker of one, its constants, signature
    "hamming, k = 1": (f"{ENGINE}.hamming", "make_scan", (1, 16, 14, True), HAMMING),
    "hamming, k = 3": (f"{ENGINE}.hamming", "make_scan", (2, 16, 14, True), HAMMING),
    "hamming, k = 7": (f"{ENGINE}.hamming", "make_scan", (3, 8, 8, True), HAMMING),
    "hamming, many mismatches": (f"{ENGINE}.hamming", "make_scan", (5, 8, 8, True), HAMMING),
    **{
        f"edit, m = {m}": (f"{ENGINE}.edit", "make_scan", (m, bits, False), EDIT)
        for m, bits in ((16, 4), (20, 6), (24, 6), (32, 6))
    },
    "best": (f"{ENGINE}.edit", "make_scan", (20, 6, True), EDIT),
    "edit in strips": (f"{ENGINE}.edit", "make_strips", (28, 12, False), STRIPS),
    "best in strips": (f"{ENGINE}.edit", "make_strips", (24, 8, True), STRIPS),
    "more lanes": (f"{ENGINE}.text", "_fill", None, (WORDS, INT, INT, INT, INT, BYTES, WORDS)),
    "primer, k = 6": (f"{ENGINE}.primer_tile", "make_extend", (16, 6, 32), PRIMER),
    "primer, k = 100": (f"{ENGINE}.primer_tile", "make_extend", (16, 12, 32), PRIMER),
    "listing hits": (PUBLISHED, "_list_hits", None, (INTS, NUMBERS, NUMBERS, NUMBERS)),
    "thread": (LIU, "_thread", None, (BYTES, BYTES, INT, INTS)),
    "block-thread": (LIU, "_block_thread", None, (BYTES, BYTES, INT, INT, INTS)),
    "opt-block-thread": (LIU, "_opt_block_thread", None, (BYTES, BYTES, INT, INTS)),
    "naive": (PMASM, "_naive", None, (BYTES, PATTERNS, INT, TABLE)),
    "shift-add": (PMASM, "make_shift_add", (1,), STATE),
    "shift-add, several words": (PMASM, "make_shift_add", (16,), STATE),
    "pmasm-thread": (PMASM, "make_thread", (1, False), PANEL),
    "pmasm-thread, several words": (PMASM, "make_thread", (8, False), PANEL),
    "pmasm-block-thread": (PMASM, "_block_thread", None, PANEL),
    "pmasm-shared": (PMASM, "make_thread", (8, True), PANEL),
    "the matrix X": (WSPASM, "_find_matches", None, (BYTES, BYTES, INT, TABLE)),
    "row 0": (WSPASM, "_first_row", None, (TABLE,)),
    "row": (WSPASM, "_row", None, (TABLE, INT, INT, TABLE)),
    "the last row": (WSPASM, "_report", None, (TABLE, INT, INT, INTS)),
    "row-shuffle": (WSPASM, "_shuffle", None, (*ROWS, INTS, types.int32[:, :, ::1])),
    "row-shuffle-shared": (WSPASM, "_shuffle_shared", None, (*ROWS, INTS)),
    "diagonal": (NAKANO, "_diagonals", None, (BYTES, BYTES, INT, INT, INTS)),
    "slid": (NAKANO, "_slide", None, (BYTES, BYTES, INT, INTS, INTS)),
    "partition": (NAKANO, "_windows", None, (BYTES, BYTES, INT, INT, INTS)),
    "conventional-fine": (
        *(FEUSER, "_conventional", None),
        (BYTES, BYTES, INT, INT, TABLE, NUMBERS, INTS),
    ),
    "alternative-fine": (
        *(FEUSER, "_alternative", None),
        (BYTES, BYTES, INT, INT, INT, NUMBERS, INTS),
    ),
}
# Sizes meant for speed, which have to stay in registers; of primers what is spilled lies outside
# the loops over columns.
FAST = [name for name in KERNELS if re.match(r"hamming, k|edit, m|primer", name)]


@cache
def failure(capability):
    """Why the CUDA toolkit compiles nothing for a compute capability, or None."""
    from numba import cuda

    try:
        cuda.compile_ptx(lambda words: None, (WORDS,), cc=capability)
    except Exception as error:  # the toolkit's failures have many classes
        return str(error).splitlines()[0]


@cache
def compiled(name, capability):
    """A kernel in PTX."""
    from numba import cuda
    from numba.cuda import dispatcher

    module, function, constants, signature = KERNELS[name]
    kernel = getattr(import_module(f"kmatch.{module}"), function)
    if constants is not None:
        if module == f"{ENGINE}.hamming":
            constants = (*constants[:-1], capability >= driver.BACKGROUND)
        kernel.cache_clear()  # what it calls was typed for another GPU
        kernel = kernel(*constants)
    # Functions that kernels call are typed for the GPU at hand; here that is none.
    device = SimpleNamespace(compute_capability=capability)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatcher, "get_current_device", lambda: device)
        return cuda.compile_ptx(kernel.py_func, signature, cc=capability)[0]


@pytest.fixture(autouse=True)
def toolkit():
    pytest.importorskip("numba.cuda.dispatcher")
    if reason := failure((9, 0)):
        pytest.skip(f"no CUDA toolkit to compile with: {reason}")


@pytest.mark.parametrize("capability", CAPABILITIES, ids=str)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_compile(name, capability):
    if capability == OLDEST:
        capability = next(old for old in OLD if failure(old) is None)
    ptx = compiled(name, capability)
    assert ".target sm_{}{}".format(*capability) in ptx
    assert "lop3.b32" in ptx or not re.match("hamming|edit|best|primer", name)


@pytest.mark.parametrize("name", FAST)
def test_fast_kernels_stay_in_registers(name, tmp_path):
    if not shutil.which("ptxas"):
        pytest.skip("ptxas of the CUDA toolkit is not on PATH")
    (tmp_path / "kernel.ptx").write_text(compiled(name, (9, 0)))
    command = ("ptxas", "-v", "-arch=sm_90", tmp_path / "kernel.ptx", "-o", tmp_path / "cubin")
    done = subprocess.run(command, capture_output=True, text=True)
    told = done.stdout + done.stderr
    if "Unsupported .version" in told:
        pytest.skip("ptxas is older than the compiler that Numba uses")
    assert done.returncode == 0, told
    (found,) = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+)", told)
    (registers,) = re.findall(r"Used (\d+) registers", told)
    most = max(map(int, found))
    if name.startswith("primer"):
        assert most < 512 and ".local" not in compiled(name, (9, 0))
    else:
        assert most == 0
    if name == "hamming, k = 3":  # six blocks have room, as in shared memory: some copy meanwhile
        assert 6 * hamming.THREADS * int(registers) <= 1 << 16
