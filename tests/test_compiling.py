"""Compiled kernels are never older than their sources, and found by whoever may use them."""

import importlib.util
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numba
import pytest
from numba.core import caching, codegen, compiler, dispatcher
from numba.core.runtime import _nrt_python
from support.package_copy import copy_package, end, install, make_wheel, run, start

from kmatch.errors import DeviceError
from kmatch.jit import folders, numba_parts, rehearsal

COMPILED = "['work']"


@pytest.fixture
def site(tmp_path):
    copy_package(tmp_path / "site")
    return tmp_path / "site"


def test_a_kernel_is_compiled_once(site):
    first, second = run(site), run(site)
    assert (first.result, first.compiled, first.warnings) == (21, COMPILED, "")
    assert (second.result, second.compiled, second.warnings) == (21, "[]", "")
    assert Path(first.folder).parent == site / "kmatch" / "__pycache__"


def test_a_changed_helper_that_kernels_inline_is_seen(site):
    """The kernel's own file stays as it was, to the second and the byte."""
    before = run(site)
    copy_package(site, factor=3)
    after = run(site)
    assert (before.result, after.result, after.compiled) == (21, 31, COMPILED)
    assert before.folder != after.folder


def test_an_upgrade_in_place_leaves_no_old_kernel(site):
    """The files of a version take the place of another's, and caches stay."""
    run(site)
    copy_package(site, factor=5, version="99.0")
    assert run(site).result == 51
    copy_package(site, factor=2)
    assert run(site)[:2] == (21, "[]")


def test_an_upgrade_through_pip_leaves_no_old_kernel(tmp_path):
    venv = tmp_path / "venv"
    for factor, version in ((2, "98.0"), (5, "99.0"), (3, "98.1")):
        install(venv, make_wheel(tmp_path / version, factor, version))
        (site,) = venv.glob("lib/python*/site-packages")
        for compiled in (COMPILED, "[]"):
            assert run(site)[:2] == (10 * factor + 1, compiled)


def test_an_upgrade_of_a_read_only_installation_leaves_no_old_kernel(site, tmp_path):
    """Neither the kernels beside the package nor those in the user's own cache serve on."""
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


def test_a_changed_kernel_outside_the_package_is_seen(site):
    """Scripts make kernels too; numbers in them are no part of the bytecode that Numba compares."""
    text = (site / "kmatch" / "engine" / "tiny.py").read_text()
    for number in (1, 14):  # Python keeps bytecode by size and second
        (site / "own.py").write_text(text.replace("+ 1", f"+ {number}"))
        run(site, before=f"import own\nassert own.work(1) == 2 + {number}, own.work(1)\n")


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


def test_processes_compile_into_one_empty_folder_at_once(site):
    for said in [end(running) for running in [start(site) for _ in range(3)]]:
        assert (said.result, said.warnings) == (21, "")
    assert run(site).compiled == "[]"


def test_where_nothing_can_be_written_searches_go_on(site):
    """With one warning, which names the folder."""
    nowhere = {"NUMBA_CACHE_DIR": "/proc/nothing"}
    said = run(site, **nowhere)
    assert (said.result, said.compiled) == (21, COMPILED)
    assert said.warnings.count("Warning") == 1 and said.folder in said.warnings


def test_without_a_folder_for_temporary_files_searches_go_on(site):
    """On a machine where nothing can be written; with one note of what it costs and what helps."""
    nothing = "import tempfile\ntempfile._candidate_tempdir_list = lambda: ['/proc/nothing']\n"
    homes = {"HOME": "/proc/nothing", "XDG_CACHE_HOME": "/proc/nothing"}
    with read_only(site):
        said = run(site, before=nothing, unprivileged=True, **homes)
    assert (said.result, said.compiled) == (21, COMPILED)
    assert said.warnings.count("Warning") == 1
    assert "each process compiles them again" in said.warnings
    assert "NUMBA_CACHE_DIR" in said.warnings


def test_a_user_without_a_home_gets_a_folder(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    nowhere = OSError("No usable temporary directory found")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(folders, "_writable", lambda folder: False)
    monkeypatch.setattr(folders, "_user_cache", homeless)
    monkeypatch.setattr("tempfile.gettempdir", mock.Mock(side_effect=nowhere))
    assert folders._base.__wrapped__() == folders.BESIDE


def test_without_a_folder_for_claims_one_process_compiles_all(monkeypatch):
    nowhere = OSError("No usable temporary directory found")
    monkeypatch.setattr("tempfile.mkdtemp", mock.Mock(side_effect=nowhere))
    rehearsed = []
    monkeypatch.setattr(
        rehearsal, "rehearse", lambda device, names: rehearsed.append((device, *names))
    )
    monkeypatch.setattr(rehearsal, "_cuda_workers", mock.Mock(side_effect=DeviceError("none")))
    assert rehearsal.compile_all(workers=2) == (0, ["cpu"])
    assert rehearsed == [("cpu", name) for name in rehearsal.TASKS]
    with rehearsal.compiling_beside("edit") as begin:
        begin(mock.Mock(name="cpu"))


def test_without_the_parts_of_numba_its_own_cache_serves(site):
    """In folders named alike, so that no kernel is older than its sources there either."""
    script = """
import sys
import numba.core.runtime
del numba.core.runtime._nrt_python
sys.modules["numba.core.runtime._nrt_python"] = None
before = numba.config.CACHE_DIR
from kmatch.engine.tiny import work
assert numba.config.CACHE_DIR == before
print(work(10), sum(work.stats.cache_hits.values()), work.stats.cache_path)
"""
    printed = []
    for factor, base in ((2, ""), (2, ""), (3, ""), (4, "/proc/nothing")):
        copy_package(site, factor)
        command = [sys.executable, "-c", script]
        environment = os.environ | {"PYTHONPATH": str(site), "NUMBA_CACHE_DIR": base}
        options = {"cwd": site, "env": environment, "capture_output": True, "text": True}
        done = subprocess.run(command, timeout=60, **options)
        assert done.stderr == ""
        printed.append(done.stdout.split())
    assert [(result, loaded) for result, loaded, _ in printed] == [
        ("21", "0"),
        ("21", "1"),
        ("31", "0"),
        ("41", "0"),
    ]
    *kept, nowhere = (folder for *_, folder in printed)
    assert all(folders.NAME.fullmatch(Path(folder).parent.name) for folder in kept)
    assert nowhere == "None"


def fresh_numba_parts():
    """The module, executed again apart from the one that kernels use."""
    spec = importlib.util.spec_from_file_location("fresh_numba_parts", numba_parts.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PRIVATE = [
    *((caching, name) for name in ("FunctionCache", "IndexDataCacheFile", "NullCache")),
    (caching.FunctionCache, "_impl_class"),
    *((caching.FunctionCache, name) for name in numba_parts._CACHE[0]),
    *((caching.CompileResultCacheImpl, name) for name in numba_parts._CACHE[1]),
    (caching.IndexDataCacheFile, "_dump"),
    *((codegen.JITCodeLibrary, name) for name in numba_parts._LIBRARY),
    *((compiler.Compiler, name) for name in numba_parts._COMPILER),
    *((dispatcher.Dispatcher, name) for name in numba_parts._DISPATCHER),
    (_nrt_python, "c_helpers"),
]


@pytest.mark.parametrize(("owner", "name"), PRIVATE)
def test_a_part_of_numba_that_is_missing_is_noticed(monkeypatch, owner, name):
    assert fresh_numba_parts().AS_EXPECTED
    for each in getattr(owner, "__mro__", [owner]):
        if name in vars(each):
            monkeypatch.delattr(each, name)
    assert not fresh_numba_parts().AS_EXPECTED


def test_folders_long_out_of_use_are_removed(tmp_path):
    now = time.time()

    def make(name, days):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.kernel").write_bytes(b"")
        os.utime(tmp_path / name, (now - days * folders.DAY,) * 2)
        return name

    few = [make(f"kmatch-{days:024x}", days) for days in range(2, 2 + folders.FEW)]
    make(f"kmatch-{9:024x}", 9)
    make(f"kmatch-{40:024x}", 40)
    strange = [make("kmatch-mine", 90), make("other", 90), make(f"kmatch-{41:024x}", 41)]
    (tmp_path / strange[-1] / "note.txt").write_text("not kmatch's")
    os.utime(tmp_path / strange[-1], (now - 41 * folders.DAY,) * 2)
    link = tmp_path / f"kmatch-{42:024x}"
    link.symlink_to(tmp_path / "other")
    folders.open_folder(tmp_path / "new")
    assert {path.name for path in tmp_path.iterdir()} == {"new", *few, *strange, link.name}
    assert (tmp_path / "other" / "a.kernel").exists()


def test_a_folder_in_a_place_for_all_has_to_be_ours(tmp_path):
    user = os.getuid()
    private = tmp_path / "private"
    assert folders._private_folder(private, user) == str(private)
    assert private.stat().st_mode & 0o777 == 0o700
    assert folders._private_folder(private, user) == str(private)
    private.chmod(0o777)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    with mock.patch("tempfile.mkdtemp", return_value="fresh"):
        assert folders._private_folder(private, user) == "fresh"
        assert folders._private_folder(link, user) == "fresh"
        assert folders._private_folder(tmp_path / "private", user + 1) == "fresh"


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
