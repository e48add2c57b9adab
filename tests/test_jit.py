"""Compiled kernels are kept, whole and never older than their sources, for whoever may use them."""

import errno
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from graphlib import TopologicalSorter
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from support.commands import here, process, unprivileged
from support.package_copy import copy_package, end, run, start
from test_imports import imports

from kmatch import ahead
from kmatch.arrays import Bytes, Longs
from kmatch.engine.cuda import driver
from kmatch.errors import DeviceError, KmatchError, KmatchWarning
from kmatch.jit import entries, folders, kernels
from kmatch.jit.arguments import ArrayOf, NumberOf, TupleOf, Unfit, described, lay_out, lay_out_all
from kmatch.jit.entries import Entry, hosted
from kmatch.jit.folders import CHECK, PACKAGE

COMPILED = "['work']"
PHIX = "examples/data/phix174.fa.gz"
GUIDE = "ACGTTGACCAGGATTACGTT"


@pytest.fixture
def site(tmp_path):
    copy_package(tmp_path / "site")
    return tmp_path / "site"


@pytest.fixture
def reported(monkeypatch):
    """(name, reason) of the kernels compiled while a test runs."""
    told = []
    monkeypatch.setattr(entries, "listeners", [lambda *report: told.append(report)])
    return told


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
    assert Path(first.folder).parent == site / "caches" / "kmatch"
    assert not list(site.glob("kmatch/**/*.kernel"))
    copy_package(site, factor=3)
    after = run(site)
    assert (after.result, after.compiled) == (31, COMPILED) and after.folder != first.folder
    copy_package(site, factor=5, version="99.0")
    assert run(site).result == 51
    copy_package(site, factor=2)
    assert run(site)[:2] == (21, "[]")


def test_an_upgrade_while_a_process_runs_is_seen(site):
    """What it compiles of the old sources is neither kept for the new ones nor for the old."""
    helper = site / "kmatch" / "engine" / "helper.py"
    new = helper.read_text().replace("2", "3")
    change = f"import kmatch.engine.tiny\nopen({str(helper)!r}, 'w').write({new!r})\n"
    assert run(site, before=change)[:2] == (21, COMPILED)
    assert run(site)[:2] == (31, COMPILED)
    copy_package(site)
    assert run(site)[:2] == (21, COMPILED)


def test_a_read_only_installation_serves_until_it_is_upgraded(site, tmp_path):
    """Whose installer has compiled kernels beside the package."""
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home")}
    (tmp_path / "home").mkdir()
    beside = str(site / "kmatch" / "__pycache__")
    assert run(site, NUMBA_CACHE_DIR=beside).compiled == COMPILED
    with read_only(site):
        found = run(site, unprivileged=True, **home)
    assert found[:2] == (21, "[]") and found.folder.startswith(home["HOME"])
    copy_package(site, factor=7)
    with read_only(site):
        assert run(site, unprivileged=True, **home)[:2] == (71, COMPILED)
        assert run(site, unprivileged=True, **home)[:2] == (71, "[]")


def test_where_nothing_can_be_written_searches_go_on(site, tmp_path):
    """With one warning, which names the folder and the variable that helps."""
    closed, said = tmp_path / "closed", [run(site, NUMBA_CACHE_DIR="/proc/nothing")]
    closed.mkdir(mode=0)
    for home in ("/proc/nothing", str(closed)):
        homes = {"HOME": home, "XDG_CACHE_HOME": home}
        environment = os.environ | homes | {"PYTHONPATH": str(site)}
        with read_only(site):
            said.append(run(site, unprivileged=True, **homes))
            told = unprivileged("info", cwd=site, env=environment)
        assert (told.status, told.err) == (0, b"")
    for each in said:
        assert each[:2] == (21, COMPILED)
        assert each.warnings.count("Warning") == 1 and each.folder in each.warnings
        assert "each process compiles them again" in each.warnings
        assert "NUMBA_CACHE_DIR" in each.warnings


def test_a_user_needs_no_home(monkeypatch):
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", mock.Mock(side_effect=RuntimeError("no home")))
    assert folders.kernel_folders.__wrapped__() == [folders.BESIDE / folders.folder_name()]


@pytest.mark.parametrize(
    ("system", "variables", "caches"),
    [
        ("linux", {}, "/home/me/.cache/kmatch"),
        ("linux", {"XDG_CACHE_HOME": "/scratch/me"}, "/scratch/me/kmatch"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/me/.cache/kmatch"),
        ("darwin", {"XDG_CACHE_HOME": "/scratch/me"}, "/home/me/Library/Caches/kmatch"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/kmatch"),
        ("win32", {}, "/home/me/AppData/Local/kmatch"),
        ("linux", {"NUMBA_CACHE_DIR": "/kernels"}, "/kernels"),
    ],
)
def test_where_systems_keep_caches(system, variables, caches, monkeypatch):
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(folders.sys, "platform", system)
    own, beside = folders.kernel_folders.__wrapped__()
    assert (str(own.parent), beside.parent) == (caches, folders.BESIDE)


def test_the_folder_of_a_user_is_private(site, tmp_path):
    caches = site / "caches" / "kmatch"
    assert run(site).compiled == COMPILED
    assert oct(caches.stat().st_mode)[-3:] == "700"
    # one that others could look into goes on serving, and what others could write does not
    caches.chmod(0o755)
    assert run(site).compiled == "[]"
    assert oct(caches.stat().st_mode)[-3:] == "700"
    caches.chmod(0o775)
    assert run(site).compiled == COMPILED
    assert oct(caches.stat().st_mode)[-3:] == "700"
    # another user's is neither read nor written to
    before = "import os\nmine = os.geteuid()\nos.geteuid = lambda: mine + 1\n"
    said = run(site, before=before)
    assert said[:2] == (21, COMPILED)
    assert said.warnings.count("Warning") == 1 and "belongs to another user" in said.warnings
    assert run(site).compiled == "[]"


def test_kernels_are_removed(tmp_path, monkeypatch):
    for name in (f"kmatch-{1:024x}", f"kmatch-{2:024x}", "kmatch-mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.kernel").write_bytes(bytes(200_000))
    own = tmp_path / f"kmatch-{1:024x}"
    monkeypatch.setattr(folders, "kernel_folders", lambda: [own, Path("/proc/nothing/kmatch-1")])
    result = here("info", "--clear")
    assert result.status == 0
    assert result.out.decode().splitlines() == [
        f"removed     {tmp_path}/kmatch-{number:024x} (1 kernel, 0.2 MB)" for number in (1, 2)
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["kmatch-mine"]
    assert here("info", "--clear").out.decode() == (
        f"removed     nothing, as there are no kernels in {tmp_path}\n"
    )
    for other in ("--short", "--compile"):
        assert here("info", "--clear", other).status == 2


def test_folders_long_out_of_use_are_removed(tmp_path, monkeypatch):
    ages = {f"kmatch-{1:024x}": 31, f"kmatch-{2:024x}": 29, "kmatch-mine": 90, "other": 90}
    for name, days in ages.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.kernel").write_bytes(b"")
        os.utime(tmp_path / name, (time.time() - days * 86400,) * 2)
    (tmp_path / f"kmatch-{4:024x}").symlink_to(tmp_path / "other")
    monkeypatch.setattr(folders, "kernel_folders", lambda: [tmp_path / "new"])
    folders._open_folder()
    kept = {"new", *ages, f"kmatch-{4:024x}"} - {f"kmatch-{1:024x}"}
    assert {path.name for path in tmp_path.iterdir()} == kept
    assert (tmp_path / "other" / "a.kernel").exists()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of kernels, empty, while a test runs."""
    own = tmp_path / folders.folder_name()
    monkeypatch.setattr(folders, "kernel_folders", lambda: [own])
    return own


def make(content=b"code"):
    made = []
    found = folders.find_or_make("a.kernel", lambda: made.append(1) or content)
    assert found == content
    return len(made)


def test_a_damaged_file_is_replaced(folder):
    assert (make(), make()) == (1, 0)
    path = folder / "a.kernel"
    whole = path.read_bytes()
    folders.keep("other", b"code")
    damages = [whole[:n] for n in (0, 1, CHECK, CHECK + 1, len(whole) - 1)]
    damages += [random.Random(1).randbytes(len(whole)), b"\0" + whole[1:], whole + b"\0"]
    for damaged in (*damages, (folder / "other").read_bytes()):
        path.write_bytes(damaged)
        assert (make(), make()) == (1, 0)


def test_a_full_disk_gives_one_warning_and_nothing_that_is_used(folder, monkeypatch):
    def cut(path, content):
        with path.open("wb") as handle:
            handle.write(content[:-1])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(folders.Path, "write_bytes", cut)
    with pytest.warns(KmatchWarning, match="No space left") as warned:
        assert (make(), make()) == (1, 1)
    assert len({str(each.message) for each in warned}) == 1


def test_processes_that_begin_together_share_the_work(site):
    said = [end(running) for running in [start(site) for _ in range(4)]]
    assert {(each.result, each.warnings) for each in said} == {(21, "")}
    assert sorted(each.compiled for each in said) == [COMPILED, "[]", "[]", "[]"]


HOLD = """
import sys
from kmatch.jit import folders
lock = open(sys.argv[1], "a+")
print(folders._is_ours(lock), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_dies_or_stops_does_not_hold_others_up(folder, sent):
    folder.mkdir()
    lock = folder / "a.kernel.lock"
    command = [sys.executable, "-c", HOLD, lock]
    holding = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holding.stdout.readline() == b"True\n"
    with lock.open("a+") as other:
        assert not folders._is_ours(other)  # it lives
    holding.send_signal(sent)
    began = time.monotonic()
    assert make() == 1 and time.monotonic() - began < 2
    holding.kill()
    holding.communicate()


def test_arguments_are_told_apart():
    """By the types that kernels are compiled for; what an object cannot take is refused."""
    numbers = np.arange(4)
    seen, words = [], []
    for value in (
        *(1, True, np.uint64(2**63), np.int32(-1), (1, 2), (1, (2, True)), numbers),
        *(numbers.astype(np.uint8), numbers.reshape(2, 2), np.zeros(2, [("a", int)])),
    ):
        seen.append(lay_out(value, words))
    assert len(set(seen)) == len({described(each) for each in seen}) == len(seen)
    assert words[:4] == [1, 1, -(2**63), -1]
    for value in (numbers[::2], numbers.reshape(2, 2).T, 0.5, None, "text"):
        with pytest.raises(Unfit):
            lay_out(value, [])


def test_compiling_has_no_circle():
    """Imports inside of functions count: entries → kernels → objects, arguments, folders."""
    inside = imports()
    jit = {module: set(others) for module, others in inside.items() if module[1:2] == ("jit",)}
    order = list(TopologicalSorter(jit).static_order())  # CycleError names a circle
    assert order.index(("kmatch", "jit", "entries")) > order.index(("kmatch", "jit", "kernels"))


def test_words_of_arguments():
    """All in a row, those of an array with its address, shape and strides in bytes.

    (7, [[0, 0, 0],    word    0 │ 1 2 3 4 5       6 7 8 9
         [0, 0, 0]])           7 │ 0 0 6 1 ADDRESS 2 3 3 1
    """
    numbers, words = np.zeros((2, 3), np.uint8), []
    kind = lay_out((7, numbers), words)
    assert kind == TupleOf(tuple, (NumberOf(int), ArrayOf(np.dtype(np.uint8), 2)))
    assert words == [7, 0, 0, 6, 1, numbers.ctypes.data, 2, 3, 3, 1]


@pytest.mark.parametrize("case", ["new", "strided", "NUMBA_BOUNDSCHECK", "damaged"])
def test_a_kernel_that_does_not_fit_runs_as_numba_compiles_it(case, reported, monkeypatch):
    """Where Numba is a new one, arguments are strided, kernels of another kind are asked for, and
    where LLVM refuses an object."""
    letters, said = np.arange(9, dtype=np.uint8), "Unfit: an array whose items are not side by side"
    if case == "new":
        monkeypatch.setattr(kernels, "KNOWN", ((99, 0), (99, 1)))
        monkeypatch.setattr(folders, "find_or_make", lambda file, make: make())
        said = f"Unfit: Numba {kernels.numba.__version__} is not known"
    elif case == "strided":
        letters = np.repeat(letters, 2)[::2]
    elif case == "damaged":
        monkeypatch.setattr(folders, "find_or_make", lambda file, make: b"no object")
        monkeypatch.setattr(entries, "load", mock.Mock(side_effect=RuntimeError("no object")))
        said = "RuntimeError: no object"
    else:
        monkeypatch.setenv(case, "1")
        said = f"Unfit: {case} is set"
    fresh, row = Entry("kmatch.engine.letters", "copy_rows"), np.zeros(2, np.uint8)
    fresh(letters, np.array([6]), np.array([0, 2]), row)
    assert row.tolist() == [6, 7] and {why for _, why in reported if why} == {said}
    assert {name for name, _ in reported} == {"copy_rows"}


UNKNOWN = """
import atexit
from kmatch.cli.messages import Messages
from kmatch.jit import kernels
kernels.KNOWN = (99, 0), (99, 1)
noting = Messages(verbose=True).announcing_compiling()
noting.__enter__()
atexit.register(noting.__exit__, None, None, None)
"""


def test_an_unknown_numba_finds_the_same_with_a_single_note(site):
    said = run(site, before=UNKNOWN)
    assert said.result == 21 and not list(Path(said.folder).glob("*.kernel"))
    said_once, why = said.warnings.splitlines()
    assert "compiling kernels" in said_once
    assert re.search("compiled by each process: work: Unfit: Numba [0-9.]+ is not known", why)


def test_errors_of_kernels_are_told():
    def fail(count):
        return len(np.empty(count, np.uint8))

    failing = hosted(kernels.kernel(fail))
    content = kernels.compile_object(failing.kernel, lay_out_all((7,), []), "kmatch_fail")
    loaded = entries.load(content, "kmatch_fail")
    failing.open = lambda kinds: loaded
    assert failing(7) == 7
    with pytest.raises(MemoryError, match="the kernel fail got no memory"):
        failing(1 << 60)


class Compiled:
    """As a kernel for a GPU is: it can be pickled, and knows its compiler."""

    codegen = SimpleNamespace(magic_tuple=lambda: ("a GPU",))


def made(number):
    def kernel():
        return number

    return kernel


def test_kernels_for_cuda_are_kept_alike(folder, reported, monkeypatch):
    """By what they are made of; where Numba is not as expected, each process compiles."""
    context = SimpleNamespace(codegen=lambda: Compiled.codegen)
    one, two = (driver.Cache(made(number)) for number in (1, 2))
    for compiler in ("numba 1", "numba 2"):
        monkeypatch.setattr(driver, "target", lambda compiler=compiler: compiler)
        assert one.load_overload("(int64)", context) is None
        one.save_overload("(int64)", Compiled())
    assert isinstance(one.load_overload("(int64)", context), Compiled)
    assert two.load_overload("(int64)", context) is None is one.load_overload("(int8)", context)
    for file in folder.glob("*.kernel"):
        file.write_bytes(file.read_bytes()[:50])
    assert one.load_overload("(int64)", context) is None and set(reported) == {("kernel", "")}
    assert one.load_overload("(int64)", None) is None and "NoneType" in reported[-1][1]
    monkeypatch.setattr(pickle, "dumps", mock.Mock(side_effect=TypeError))
    two.save_overload("(int64)", Compiled())
    assert two.load_overload("(int64)", context) is None
    monkeypatch.setattr(driver, "cuda", SimpleNamespace(jit=lambda: lambda function: function))
    assert driver.kept()(made) is made  # as in the simulator, which asks no cache


def test_what_processes_fail_to_compile_is_compiled_all_the_same(monkeypatch):
    compiled = []
    monkeypatch.setattr(ahead, "compile_kernel", lambda *kernel: compiled.append(kernel))
    monkeypatch.setattr(ahead, "choose_engine", mock.Mock(side_effect=DeviceError("none")))
    monkeypatch.setattr(ahead, "ProcessPoolExecutor", mock.Mock(side_effect=OSError))
    assert ahead.compile_all() == ["cpu"]
    assert sorted(compiled) == [("cpu", name) for name in sorted(entries.ahead)]


def test_kernels_that_cannot_be_kept_end_compiling_ahead(monkeypatch):
    tiny = Entry("kmatch.engine.letters", "copy_rows"), tuple[Bytes, Longs, Longs, Bytes]
    monkeypatch.setitem(entries.ahead, "tiny", tiny)
    monkeypatch.setattr(folders, "kernel_folders", lambda: [Path("/proc/nothing")])
    with pytest.raises(KmatchError, match="tiny: /proc/nothing: compiled kernels cannot be kept"):
        ahead.compile_kernel("cpu", "tiny")


def test_every_kernel_that_host_code_calls_is_compiled_ahead():
    """As a process knows them that compiles ahead and has imported nothing else."""
    listing = "import kmatch.ahead as made; print(*made.ahead, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True)
    named = {
        found
        for path in PACKAGE.rglob("*.py")
        for found in re.findall(r'= entry\(\s*"([\w.:]+)"', path.read_text())
    }
    assert named == set(done.stdout.split()) and len(named) > 10


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
pcr {PHIX} -p {GUIDE} {GUIDE[::-1]} -k 6 -q
pcr {LAMBDA} examples/data/lambda_primers.txt -k 2 --edit --format tsv
assay examples/data/lambda_primers.txt {LAMBDA} {PHIX} -k 2
best {LAMBDA} -p {GUIDE} --each record
multi {MITO} examples/data/mito_guides.txt -k 2 --pam NGG --variants examples/data/mito_variants.vcf
"""
AHEAD = """
import sys
from kmatch.cli.main import run
from kmatch.jit.entries import listeners
compiled = []
listeners.append(lambda *told: compiled.append(told))
for line in sys.stdin:
    assert run([*line.split(), "--device", "cpu", "-o", "/dev/null"]) == 0, line
print(compiled)
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
    assert (done.stdout, others) == ("[]\n", []) and "numpy" in roots
    assert not roots & {"numba", "dask", "matplotlib", "rich"}
