"""Every kernel for CUDA compiles, for old and new GPUs; no GPU is needed, but the toolkit is."""

import re
import shutil
import subprocess
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from unittest import mock

import pytest
from numba import types

from kmatch.engine.cuda import driver, edit, hamming, primer, recurrence
from kmatch.engine.cuda.engine import cuda_kernels
from kmatch.jit import folders

OLDEST = "the oldest"
CAPABILITIES = [OLDEST, (9, 0)]  # what kernels do differently begins between them, at (8, 0)
OLD = [driver.OLDEST, (6, 0), (7, 0), (7, 5)]  # CUDA 13 compiles for none below (7, 5)
INT, WORD, TABLE = types.int64, types.uint64, types.int32[:, ::1]
BYTES, SHORTS, INTS, NUMBERS, WORDS = (
    kind[::1] for kind in (types.uint8, types.uint32, types.int32, INT, WORD)
)
PANEL = (BYTES, SHORTS, INT, INT, INT, INT, TABLE)
SHIFT_ADD = types.BaseTuple.from_types([WORD] * 3 + [INT] * 3)
STATE = (BYTES, WORDS, SHIFT_ADD, INTS)
SHUFFLE = (BYTES, BYTES, INTS, TABLE, INT, INT, types.int32[:, :, ::1], INTS)
PUBLISHED = "published.cuda"
FEUSER, LIU, NAKANO, PMASM, WSPASM = (
    f"{PUBLISHED}.{paper}"
    for paper in ("feuser2018", "liu2012", "nakano2012", "pmasm2017", "wspasm2017")
)
PUBLISHED_KERNELS = {  # module, function or maker of one, its constants, signature
    "thread": (LIU, "each_thread", None, (BYTES, BYTES, INT, INTS)),
    "block-thread": (LIU, "_block_thread", None, (BYTES, BYTES, INT, INT, INTS)),
    "opt-block-thread": (LIU, "_opt_block_thread", None, (BYTES, BYTES, INT, INTS)),
    "shift-add": (PMASM, "make_shift_add", (1,), STATE),
    "shift-add, several words": (PMASM, "make_shift_add", (16,), STATE),
    "pmasm-thread": (PMASM, "make_thread", (1, False), PANEL),
    "pmasm-thread, several words": (PMASM, "make_thread", (8, False), PANEL),
    "pmasm-block-thread": (PMASM, "_block_thread", None, PANEL),
    "pmasm-shared": (PMASM, "make_thread", (8, True), PANEL),
    "the matrix X": (WSPASM, "_find_matches", None, (BYTES, BYTES, INT, TABLE)),
    "row": (WSPASM, "_row", None, (TABLE, INT, INT, TABLE, INT, INT, INTS)),
    "row-shuffle": (WSPASM, "make_shuffle", (False,), SHUFFLE),
    "row-shuffle-shared": (WSPASM, "make_shuffle", (True,), SHUFFLE),
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
# Of those of searches, sizes meant for speed, which have to stay in registers, and some others; of
# primers what is spilled lies outside the loops over columns.
FAST = ("hamming 1 8 13", "hamming 2 8 13", "hamming 3 8 8", "primer 16 8 32", "primer 16 14 32")
FAST += tuple(f"edit {rows} 6" for rows in (16, 20, 24, 32))
KERNELS = (*FAST, "hamming 5 8 8", "strips 28 12", "strips 24 8", "fill", *PUBLISHED_KERNELS)


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

    if name in PUBLISHED_KERNELS:
        module, function, constants, signature = PUBLISHED_KERNELS[name]
        make = getattr(import_module(f"kmatch.{module}"), function)
    else:
        pairs = capability >= driver.BACKGROUND
        name = f"{name} {pairs}" if name.startswith("hamming") else name
        make, constants, signature = cuda_kernels(pairs)[name]
    if hasattr(make, "cache_clear"):
        make.cache_clear()  # what its kernel calls was typed for another GPU
    kernel = make if constants is None else make(*constants)
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
    assert "lop3.b32" in ptx or not re.match("hamming|edit|strips|primer", name)


def test_kernels_are_kept(tmp_path, monkeypatch):
    """What Numba compiles for a GPU goes to the cache of kernels, and comes back from there."""
    gpu = SimpleNamespace(compute_capability=(9, 0))
    compiler = import_module("numba.cuda.dispatcher")
    monkeypatch.setattr(folders, "kernel_folders", lambda: [tmp_path / "kernels"])
    monkeypatch.setattr(compiler, "get_current_device", lambda: gpu)
    monkeypatch.setattr(
        "numba.cuda.cudadrv.devices.get_context", lambda: SimpleNamespace(device=gpu)
    )
    monkeypatch.setattr("numba.cuda.codegen.JITCUDACodegen.magic_tuple", lambda self: ("a GPU",))
    bind = mock.Mock(side_effect=lambda: None)
    monkeypatch.setattr(
        compiler._Kernel,
        "bind",
        lambda self: bind() or vars(self._codelibrary).update(_finalized=True),
    )
    kernels = []
    for rows in (8, 8, 12):
        edit.make_scan.cache_clear()
        make, constants, types = cuda_kernels(True)[f"edit {rows} 6"]
        kernels.append(make(*constants).compile(types).inspect_asm((9, 0)))
    assert bind.call_count == 2 and kernels[0] == kernels[1] != kernels[2]
    assert len(list(tmp_path.glob("*/engine.cuda.edit.kernel.*.kernel"))) == 2


@pytest.mark.parametrize("length", [1, 7, 8, 20, 32, 33, 57, 100, 300, 2000])
def test_kernels_of_all_sizes_are_compiled_ahead(length):
    names = cuda_kernels(True)
    for k in {0, 3, length // 2, length - 1} & set(range(length)):
        rows, strips = edit.strips_of(length)
        for least in (0, k) if strips > 1 else ():
            bits = edit.counter_bits(edit.STRIP_BITS, rows * strips, least, k)
            assert f"strips {rows} {bits}" in names
        assert strips > 1 or f"edit {rows} {edit.SHORT_BITS}" in names


def test_counters_of_all_lengths_are_compiled_ahead():
    """Those of the kernels for primers, for the rows taken first and for those below."""
    needed = set()
    for k in (2, 6, 30, 100, 300):
        for limit in (9, 30, 60, 100, 300, 1000, 3000, 10000):
            for most in (primer.ROWS * k + primer.MORE, primer.DEEPEST):
                rows = primer._up(min(most, limit), primer.HEIGHT)
                needed.add(primer.counter_bits(primer.BITS, rows, k - 1, k - 1))
    assert needed == set(primer.BITS)


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
    # Six blocks have room: as in shared memory, where some copy meanwhile, and for guides.
    if name in ("hamming 2 8 13", "edit 16 6", "edit 20 6"):
        assert hamming.THREADS == recurrence.THREADS
        assert 6 * hamming.THREADS * int(registers) <= 1 << 16
