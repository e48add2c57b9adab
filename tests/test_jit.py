"""Compiled kernels are kept, whole and never older than their sources, for whoever may use them."""

import errno
import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from support.commands import process, unprivileged
from support.package_copy import copy_package, end, install, make_wheel, run, start

from kmatch import ahead
from kmatch.engine.cuda import driver
from kmatch.errors import DeviceError, KmatchWarning
from kmatch.jit import compiling, entries, entry, folders
from kmatch.jit.entries import Entry, Unfit, spell, take
from kmatch.jit.folders import CHECK, PACKAGE

COMPILED = "['work']"
PHIX = "examples/data/phix174.fa.gz"
GUIDE = "ACGTTGACCAGGATTACGTT"


@pytest.fixture
def site(tmp_path):
    copy_package(tmp_path / "site")
    return tmp_path / "site"


@contextmanager
def read_only(site):
    """Nobody without privileges can write below a folder while the block runs."""
    paths = [Path(folder) for folder, _, _ in os.walk(site)]
    for path in paths:
        path.chmod(0o555)
    try:
        yield
    finally:
        for path in paths:
            path.chmod(0o755)


def test_no_kernel_is_older_than_its_sources(site):
    """Not where a helper changes that kernels inline, nor where a version is put over another."""
    first, second = run(site), run(site)
    assert (first.result, first.compiled, first.warnings) == (21, COMPILED, "")
    assert (second.result, second.compiled, second.warnings) == (21, "[]", "")
    assert Path(first.folder).parent == site / "kmatch" / "__pycache__"
    copy_package(site, factor=3)
    after = run(site)
    assert (after.result, after.compiled) == (31, COMPILED) and after.folder != first.folder
    copy_package(site, factor=5, version="99.0")
    assert run(site).result == 51
    copy_package(site, factor=2)
    assert run(site)[:2] == (21, "[]")


def test_an_upgrade_through_pip_leaves_no_old_kernel(tmp_path):
    venv = tmp_path / "venv"
    for factor, version in ((2, "98.0"), (5, "99.0")):
        install(venv, make_wheel(tmp_path / version, factor, version))
        (site,) = venv.glob("lib/python*/site-packages")
        for compiled in (COMPILED, "[]"):
            assert run(site)[:2] == (10 * factor + 1, compiled)


def test_a_read_only_installation_serves_until_it_is_upgraded(site, tmp_path):
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home")}
    (tmp_path / "home").mkdir()
    assert run(site).compiled == COMPILED
    with read_only(site):
        found = run(site, unprivileged=True, **home)
    assert (found.result, found.compiled) == (21, "[]")
    assert found.folder.startswith(home["HOME"])
    copy_package(site, factor=7)
    with read_only(site):
        assert run(site, unprivileged=True, **home)[:2] == (71, COMPILED)
        assert run(site, unprivileged=True, **home)[:2] == (71, "[]")


def test_an_upgrade_while_a_process_runs_is_seen(site):
    """What it compiles of the old sources is neither kept for the new ones nor for the old."""
    helper = site / "kmatch" / "engine" / "helper.py"
    change = f"""
import kmatch.engine.tiny
with open({str(helper)!r}) as file:
    text = file.read()
with open({str(helper)!r}, "w") as file:
    file.write(text.replace("2", "3"))
"""
    assert run(site, before=change)[:2] == (21, COMPILED)
    assert run(site)[:2] == (31, COMPILED)
    copy_package(site)
    assert run(site)[:2] == (21, COMPILED)


def test_where_nothing_can_be_written_searches_go_on(site):
    """With one warning, which names the folder and the variable that helps."""
    homes = {"HOME": "/proc/nothing", "XDG_CACHE_HOME": "/proc/nothing"}
    with read_only(site):
        said = run(site, unprivileged=True, **homes)
        told = unprivileged("info", cwd=site, env=os.environ | homes | {"PYTHONPATH": str(site)})
    for each in (said, run(site, NUMBA_CACHE_DIR="/proc/nothing")):
        assert (each.result, each.compiled) == (21, COMPILED)
        assert each.warnings.count("Warning") == 1 and each.folder in each.warnings
        assert "each process compiles them again" in each.warnings
        assert "NUMBA_CACHE_DIR" in each.warnings
    assert (told.status, told.err) == (0, b"")


def test_a_user_needs_no_home(monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(folders, "_writable", lambda folder: False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", mock.Mock(side_effect=RuntimeError("no home")))
    assert folders._base.__wrapped__() == folders.BESIDE


def test_folders_long_out_of_use_are_removed(tmp_path):
    now = time.time()

    def make(name, days, file="a.kernel"):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_bytes(b"")
        os.utime(tmp_path / name, (now - days * 86400,) * 2)
        return name

    make(f"kmatch-{1:024x}", 31)
    kept = [make(f"kmatch-{2:024x}", 29), make("kmatch-mine", 90), make("other", 90)]
    kept.append(make(f"kmatch-{3:024x}", 41, "note.txt"))
    link = tmp_path / f"kmatch-{4:024x}"
    link.symlink_to(tmp_path / "other")
    folders.open_folder(tmp_path / "new")
    assert {path.name for path in tmp_path.iterdir()} == {"new", *kept, link.name}
    assert (tmp_path / "other" / "a.kernel").exists()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of kernels, empty, while a test runs."""
    monkeypatch.setattr(folders, "_base", lambda: tmp_path)
    monkeypatch.setattr(folders, "_warned", set())
    return folders.own_folder()


def damages(content):
    """Contents that a file may have in place of its own."""
    for length in (0, 1, CHECK, CHECK + 1, len(content) // 2, len(content) - 1):
        yield content[:length]
    yield random.Random(1).randbytes(len(content))
    yield content[:CHECK] + b"\0" + content[CHECK + 1 :]
    yield content + b"\0"


def make(content=b"code"):
    made = []
    found = folders.find_or_make("a.kernel", "key", lambda: made.append(1) or content)
    assert found == content
    return len(made)


def test_a_damaged_file_is_replaced(folder):
    assert (make(), make()) == (1, 0)
    path = folder / "a.kernel"
    content = path.read_bytes()
    folders.write(folder / "other", "other key", b"code")
    for damaged in (*damages(content), (folder / "other").read_bytes()):
        path.write_bytes(damaged)
        assert (make(), make()) == (1, 0)


def test_a_full_disk_leaves_nothing_and_gives_one_warning(folder, monkeypatch):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(folders.Path, "replace", mock.Mock(side_effect=full))
    with pytest.warns(KmatchWarning, match="No space left") as warned:
        assert (make(), make()) == (1, 1)
    assert len(warned) == 1 and list(folder.glob("a.kernel*")) == []


def test_processes_that_begin_together_share_the_work(site):
    said = [end(running) for running in [start(site) for _ in range(4)]]
    assert {(each.result, each.warnings) for each in said} == {(21, "")}
    assert sorted(each.compiled for each in said) == [COMPILED, "[]", "[]", "[]"]


HOLD = """
import sys
from pathlib import Path
from kmatch.jit import folders
with folders._claim(Path(sys.argv[1])) as is_ours:
    print(is_ours(), flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_dies_or_stops_does_not_hold_others_up(folder, sent):
    folder.mkdir()
    command = [sys.executable, "-c", HOLD, str(folder / "a.kernel")]
    holding = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holding.stdout.readline() == b"True\n"
    with folders._claim(folder / "a.kernel") as is_ours:
        assert not is_ours()  # it lives
    holding.send_signal(sent)
    began = time.monotonic()
    assert make() == 1 and time.monotonic() - began < 2
    holding.kill()
    holding.communicate()


def test_arguments_are_told_apart():
    """By the types that kernels are compiled for; what an object cannot take is refused."""
    numbers = np.arange(4)
    kinds = [
        *(1, True, np.uint64(2**63), np.int32(-1), (1, 2), (1, (2, True)), numbers),
        *(numbers.astype(np.uint8), numbers.reshape(2, 2), np.zeros(2, [("a", int)])),
    ]
    seen, words = [], []
    for value in kinds:
        seen.append([])
        take(value, seen[-1], words)
    assert len({tuple(kind) for kind in seen}) == len({spell(kind) for kind in kinds}) == len(kinds)
    assert words[:4] == [1, 1, -(2**63), -1]
    for value in (numbers[::2], numbers.reshape(2, 2).T, 0.5, None, "text"):
        with pytest.raises(Unfit):
            take(value, [], [])


def test_a_kernel_that_does_not_fit_runs_as_numba_compiles_it(monkeypatch):
    """Where Numba is a new one, where arguments are strided, and where bounds are checked."""
    begins = np.array([0, 5, 9])
    monkeypatch.setattr(compiling, "KNOWN", ((99, 0), (99, 1)))
    monkeypatch.setattr(folders, "find_or_make", lambda file, key, make: make())
    fresh = entry("kmatch.search.kernels", "last_at")
    monkeypatch.setattr(entries, "unfit", [])
    assert fresh(begins, 6) == 1 and set(fresh._calls.values()) == {None}
    assert (
        f"{entries.unfit}"
        == f"['last_at: Unfit: Numba {compiling.numba.__version__} is not known']"
    )
    entries.unfit.clear()
    assert entry("kmatch.search.kernels", "last_at")(np.repeat(begins, 2)[::2], 9) == 2
    assert "not side by side" in entries.unfit[0]
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert entry("kmatch.search.kernels", "last_at")(begins, -1) == -1


def test_a_damaged_object_never_runs(monkeypatch):
    """One that LLVM refuses is compiled by Numba."""
    monkeypatch.setattr(folders, "find_or_make", lambda file, key, make: b"no object")
    broken = Entry("kmatch.search.kernels", "last_at")
    monkeypatch.setattr(
        "kmatch.jit.entries.load", mock.Mock(side_effect=RuntimeError("no object file"))
    )
    assert broken(np.array([0, 5]), 7) == 1


def test_kernels_of_published_algorithms_are_kept():
    """Those that are loaded find what those that are compiled found."""
    words = ("hamming", PHIX, "-p", GUIDE, "-k", "9", "--algorithm", "naive", "--device", "cpu")
    first, second = (process(*words, cwd=PACKAGE.parent, timeout=300) for _ in range(2))
    assert first.out == second.out and first.out.count(b"\n") > 10
    assert (first.status, second.status) == (0, 0)
    assert list(folders.own_folder().glob("published*.kernel"))


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
(file,) = own_folder().glob("*.kernel")
print(file.name)
file.write_bytes(file.read_bytes()[:50])
assert cache.load_overload("(int64)", context) is None
"""


def test_kernels_for_cuda_are_kept_alike(tmp_path):
    """Those of kmatch in its folder, checked; a script's where Numba keeps them."""
    (tmp_path / "script.py").write_text(CUDA)
    paths = {"PYTHONPATH": str(PACKAGE.parent), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment = os.environ | paths | {"NUMBA_ENABLE_CUDASIM": "0"}
    command = [sys.executable, tmp_path / "script.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("engine.cuda.driver._try-") and ".cuda" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    "workers, gigabytes, expected", [(15, 139, 15), (15, 3, 3), (15, 0, 1), (2, 8, 2), (1, 8, 1)]
)
def test_processes_for_cuda_fit_into_its_memory(workers, gigabytes, expected, monkeypatch):
    monkeypatch.setattr(ahead, "choose_engine", lambda device: None)
    monkeypatch.setattr(driver, "memory", lambda: (gigabytes << 30, 1 << 40))
    assert ahead._cuda_workers(workers) == expected


def test_what_processes_fail_to_compile_is_compiled_all_the_same(monkeypatch):
    compiled = []
    monkeypatch.setattr(ahead, "compile_kernel", lambda *kernel: compiled.append(kernel))
    monkeypatch.setattr(ahead, "_cuda_workers", mock.Mock(side_effect=DeviceError("none")))
    monkeypatch.setattr(ahead, "ProcessPoolExecutor", mock.Mock(side_effect=OSError))
    assert ahead.compile_all(workers=2) == ["cpu"]
    assert compiled == [("cpu", name) for name in ahead.KERNELS]


def test_every_kernel_that_host_code_calls_is_compiled_ahead():
    named = {
        " ".join(found)
        for path in PACKAGE.rglob("*.py")
        for found in re.findall(r'= entry\("([\w.]+)", "(\w+)"\)', path.read_text())
    }
    assert named == set(ahead.KERNELS)


FAILING = """
import numpy as np
from kmatch.jit.kernels import kernel

@kernel
def fail(count, zero):
    return 1 // zero + len(np.empty(count, np.uint8))
"""


def test_errors_of_kernels_are_told_apart(tmp_path, monkeypatch):
    (tmp_path / "failing.py").write_text(FAILING)
    monkeypatch.syspath_prepend(tmp_path)
    content = compiling.compile_object("failing", "fail", (1, 1), "kmatch_fail")
    failing = Entry("failing", "fail")
    monkeypatch.setattr(failing, "open", lambda arguments: entries.load(content, "kmatch_fail"))
    assert failing(7, 1) == 8
    with pytest.raises(RuntimeError, match="kernel fail failed"):
        failing(7, 0)
    with pytest.raises(MemoryError):
        failing(1 << 60, 1)


MITO, LAMBDA = "examples/data/human_mito_rcrs.fa.gz", "examples/data/lambda_phage.fa.gz"
COMMANDS = f"""
hamming {LAMBDA} -p {GUIDE} -k 9 --exact-3p 3
hamming {LAMBDA} examples/data/lambda_patterns.txt -k 0 --format tsv
hamming {LAMBDA} -p {GUIDE} -k 9 --format sam --limit 3 -q
edit {LAMBDA} -p {GUIDE} -k 5 --format gff3
multi {LAMBDA} -p {GUIDE} -p {GUIDE[::-1]} -k 3 --summary-only
multi {LAMBDA} -p {GUIDE} -k 6 --pam TTTV --pam-side 5p
edit {LAMBDA} -p {GUIDE} -k 1 --report ends
edit {LAMBDA} -p {GUIDE} -p {GUIDE}{"N" * 60}{GUIDE} -k 7 --report loci -t 1
edit {LAMBDA} -p {GUIDE} -k 4 --pam NGG,NAG --format tsv
edit {LAMBDA} -p {GUIDE} -k 4 --pam NNGRRT --max-mismatches 3
edit {MITO} examples/data/mito_guides.txt -k 5 --max-insertions 0 --pam NGG
edit {MITO} examples/data/mito_guides.txt -k 5 --max-deletions 1
multi {MITO} examples/data/mito_guides.txt -k 6 --pam NGG,NAG --format tsv
edit examples/data/phix_reads.fq -p AGATCGGAAGAGC -k 2 --exact-3p 3
best {LAMBDA} -p {GUIDE} -p {GUIDE}{"N" * 60}{GUIDE} --format tsv
multi {MITO} examples/data/mito_guides.txt -k 5 --pam NGG --score cfd --score mit --format tsv
edit {MITO} examples/data/mito_guides.txt -k 3 --pam NGG --score cfd --format tsv
guides {PHIX} {PHIX} -k 2
primer {PHIX} {LAMBDA} -k 3 --max-length 12
pcr {PHIX} -p {GUIDE} {GUIDE[::-1]} -k 6
pcr {LAMBDA} examples/data/lambda_primers.txt -k 2 --edit --format tsv
assay examples/data/lambda_primers.txt {LAMBDA} {PHIX} -k 2
best {LAMBDA} -p {GUIDE} --each record
multi {MITO} examples/data/mito_guides.txt -k 2 --pam NGG --variants examples/data/mito_variants.vcf
"""
AHEAD = """
import sys
from kmatch.cli.main import run
from kmatch.jit.entries import on_compile, unfit
compiled = []
with on_compile(compiled.append):
    for line in sys.stdin:
        assert run([*line.split(), "--device", "cpu", "-o", "/dev/null"]) == 0, line
print(compiled, unfit)
"""


def test_all_kernels_are_compiled_ahead():
    """And then no search imports what compiles, or what draws."""
    told = process("info", "--compile", timeout=900, cwd=PACKAGE.parent)
    assert told.status == 0 and b"kernels     compiled for the CPU" in told.out
    command = [sys.executable, "-X", "importtime", "-c", AHEAD]
    words = {"cwd": PACKAGE.parent, "capture_output": True, "text": True, "timeout": 600}
    done = subprocess.run(command, input=COMMANDS.strip(), **words)
    imports, others = [], []
    for line in done.stderr.splitlines():
        (imports if line.startswith("import time:") else others).append(line)
    roots = {line.rpartition("|")[2].strip().partition(".")[0] for line in imports}
    assert (done.stdout, others) == ("[] []\n", []) and "numpy" in roots
    assert not roots & {"numba", "dask", "matplotlib", "rich"}
