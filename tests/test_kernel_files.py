"""Files of compiled kernels that are damaged or cannot be written: one warning, and no harm."""

import errno
import os
import random
import shutil
import subprocess
import sys
import warnings
from functools import cache
from unittest import mock

import pytest
from support.commands import process, unprivileged

from kmatch.errors import KmatchWarning
from kmatch.jit import folders, numba_parts
from kmatch.jit.folders import CHECK, MARK, PACKAGE, DamagedFile, KernelFiles
from kmatch.jit.kernels import kernel
from kmatch.jit.numba_parts import on_compile

PHIX = PACKAGE.parent / "examples" / "data" / "phix174.fa.gz"
SEARCH = ("hamming", PHIX, "-p", "GAGTTTTATCGCTTCCATGACG", "-k", "1")
FOUND = b"NC_001422.1\t0\t22\tGAGTTTTATCGCTTCCATGACG\t1000\t+\t0\n"


def double(x):
    return 2 * x


@pytest.fixture
def folder(tmp_path):
    """The folder of kernels, empty, while a test runs."""
    with mock.patch.object(folders, "_base", lambda: tmp_path):
        yield folders.own_folder()


def call():
    """Make a kernel, call it, and return the functions compiled and the warnings."""
    numba_parts._warned.clear()
    compiled = []
    with on_compile(compiled.append), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert kernel(double)(21) == 42
    assert all(warning.category is KmatchWarning for warning in caught)
    return compiled, [str(warning.message) for warning in caught]


def damages(content):
    """Contents that a file may have in place of its own."""
    begin = len(MARK) + CHECK
    for length in (0, 1, len(MARK), begin, begin + 1, len(content) // 2, len(content) - 1):
        yield content[:length]
    yield random.Random(1).randbytes(len(content))
    yield content[:begin] + b"\0" + content[begin + 1 :]
    yield content + b"\0"


def test_a_damaged_file_is_replaced_with_one_warning(folder):
    assert call() == (["double"], [])
    (path,) = folder.iterdir()
    content = path.read_bytes()
    for damaged in damages(content):
        path.write_bytes(damaged)
        compiled, warned = call()
        assert compiled == ["double"] and len(warned) == 1 and str(path) in warned[0]
        assert call() == ([], [])
        assert list(folder.iterdir()) == [path]


def test_several_damaged_files_give_one_warning(folder):
    call()
    (path,) = folder.iterdir()
    path.write_bytes(b"")
    compiled = []
    numba_parts._warned.clear()
    with on_compile(compiled.append), pytest.warns(KmatchWarning) as warned:
        kernel(double)(21)
        path.write_bytes(b"")
        kernel(double)(21)
    assert compiled == ["double", "double"] and len(warned) == 1


def test_what_pickle_cannot_read_is_damaged(tmp_path):
    """The bytes are those written, and another version's."""
    some = KernelFiles(str(tmp_path), "some", lambda pair: b"cno_such_module\nname\n.")
    some.save("key", "data")
    with pytest.raises(DamagedFile):
        some.load("key")


@pytest.mark.parametrize("call_that_fails", ["open", "os.replace"])
def test_a_full_disk_leaves_nothing_and_gives_one_warning(folder, call_that_fails):
    def fail(*arguments, **options):
        if options:  # sources are read without a buffer
            return open(*arguments, **options)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    place, _, name = call_that_fails.rpartition(".")
    owner = folders.os if place else folders
    with mock.patch.object(owner, name, fail, create=not place):
        compiled, warned = call()
    assert compiled == ["double"]
    assert len(warned) == 1 and str(folder) in warned[0] and "No space left" in warned[0]
    assert list(folder.iterdir()) == []
    assert call() == (["double"], [])


FULL = """
import errno, os, sys
import kmatch.jit.folders as files
def fail(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
files.os.replace = fail
from kmatch.cli.main import main
main(sys.argv[4:])
"""


@pytest.mark.parametrize("quiet", [False, True])
def test_a_search_on_a_full_disk_finds_its_hits(tmp_path, quiet):
    """One kernel is missing: a warning names its folder, not the genome; -q says nothing."""
    place = install_warm(tmp_path, missing="fill_lines")
    before = sorted(place.iterdir())
    words = [*SEARCH, *(["-q"] if quiet else [])]
    result = process(*words, prefix=(sys.executable, "-c", FULL), **installed(tmp_path))
    assert (result.status, result.out) == (0, FOUND)
    assert sorted(place.iterdir()) == before
    lines = result.err.decode().splitlines()
    assert len(lines) == (0 if quiet else 1)
    assert all(line.startswith(f"kmatch: warning: {place}: ") for line in lines)


def test_a_search_with_damaged_kernels_finds_its_hits(tmp_path):
    place = install_warm(tmp_path)
    before = sorted(place.iterdir())
    for name in ("fill_lines", "split_lines"):
        for path in place.glob(f"*.{name}-*"):
            path.write_bytes(path.read_bytes()[:-9])
    first, second = (process(*SEARCH, **installed(tmp_path)) for _ in range(2))
    assert (first.status, first.out) == (second.status, second.out) == (0, FOUND)
    (line,) = first.err.decode().splitlines()
    assert line.startswith(f"kmatch: warning: {place}") and "damaged" in line
    assert second.err == b"" and sorted(place.iterdir()) == before


@cache
def compile_for_search():
    assert process(*SEARCH, timeout=300).out == FOUND


def install_warm(site, missing=None):
    """Copy kmatch to a folder with the kernels that the search needs, but for one."""
    compile_for_search()
    ignored = shutil.ignore_patterns("__pycache__")
    package = shutil.copytree(PACKAGE, site / "kmatch", ignore=ignored)
    place = package / "__pycache__" / folders.own_folder().name
    shutil.copytree(folders.own_folder(), place, ignore=shutil.ignore_patterns(f"*.{missing}-*"))
    return place


def installed(site):
    """How to run what lies in a folder."""
    known = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    return {"cwd": site, "env": known | {"PYTHONPATH": str(site)}}


CUDA = """
from types import SimpleNamespace
from numba import cuda
from numba.cuda.dispatcher import CUDACache
from kmatch.engine.cuda import driver
from kmatch.jit.folders import own_folder

@cuda.jit(cache=True)
def other(numbers):
    numbers[0] = 1

assert type(other._cache) is CUDACache
cache = driver._try._cache
assert isinstance(cache, CUDACache) and cache.cache_path == str(own_folder())

compiler = SimpleNamespace(magic_tuple=lambda: ("a GPU",))
context = SimpleNamespace(codegen=lambda: compiler)  # which cannot be set up to compile
cache._impl.rebuild = lambda context, payload: payload
made = SimpleNamespace(codegen=compiler, _reduce_states=lambda: {"code": 1})
assert cache.load_overload("(int64)", context) is None
cache.save_overload("(int64)", made)
assert cache.load_overload("(int64)", context) == {"code": 1}
assert cache.load_overload("(int32)", context) is None
(file,) = own_folder().iterdir()
print(file.name)
file.write_bytes(file.read_bytes()[:50])
assert cache.load_overload("(int64)", context) is None
"""


CUDA_FALLBACK = """
from kmatch.jit import numba_parts
numba_parts._CACHE = ("missing",), ()
import numba
from numba.cuda.dispatcher import CUDACache
before = numba.config.CACHE_DIR
from kmatch.engine.cuda import driver
from kmatch.jit.folders import own_folder

cache = driver._try._cache
assert type(cache) is CUDACache and cache.cache_path.startswith(str(own_folder()))
assert numba.config.CACHE_DIR == before
"""


def run_script(folder, text):
    """Run a script that imports the CUDA engine, with a folder of kernels of its own."""
    (folder / "script.py").write_text(text)
    paths = {"PYTHONPATH": str(PACKAGE.parent), "NUMBA_CACHE_DIR": str(folder / "cache")}
    environment = os.environ | paths | {"NUMBA_ENABLE_CUDASIM": "0"}
    command = [sys.executable, folder / "script.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def test_kernels_for_cuda_use_numbas_cache_where_its_parts_are_missing(tmp_path):
    run_script(tmp_path, CUDA_FALLBACK)


def test_kernels_for_cuda_are_kept_alike(tmp_path):
    """Those of kmatch in its folder, checked; a script's where Numba keeps them."""
    done = run_script(tmp_path, CUDA)
    assert done.stdout.startswith("engine.cuda.driver._try-") and ".cuda" in done.stdout
    assert done.stderr.count("KmatchWarning") == 1 and "damaged" in done.stderr


BEYOND = """
import numpy as np
from kmatch.jit.kernels import kernel

@kernel
def third(values):
    return values[2]

try:
    third(np.arange(3)[:2])
except IndexError:
    print("beyond")
"""


def test_kernels_that_check_bounds_are_apart(tmp_path):
    """NUMBA_BOUNDSCHECK=1 would otherwise run the kernels that are there already."""
    (tmp_path / "beyond.py").write_text(BEYOND)
    printed = []
    for check in ("0", "1"):
        env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_BOUNDSCHECK": check}
        command = (sys.executable, tmp_path / "beyond.py")
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        printed.append(done.stdout)
    assert printed == ["", "beyond\n"]
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 2


def test_a_machine_where_kernels_have_no_folder(tmp_path):
    """Neither beside the package nor in a home; a temporary one may serve."""
    copy = tmp_path / "kmatch"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    folders_of_copy = [folder for folder, _, _ in os.walk(copy)]
    for folder in folders_of_copy:
        os.chmod(folder, 0o555)
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME"), "/proc/nothing")
    env = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    env |= nowhere | {"PYTHONPATH": str(tmp_path)}
    told = unprivileged("info", cwd=tmp_path, env=env)
    genome = shutil.copy(PHIX, tmp_path)
    found = unprivileged("hamming", genome, *SEARCH[2:], cwd=tmp_path, env=env)
    for folder in folders_of_copy:
        os.chmod(folder, 0o755)
    assert (told.status, told.err) == (0, b"")
    assert (found.status, found.out) == (0, FOUND)
