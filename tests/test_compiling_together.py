"""Kernels compiled in several processes: each once, whoever fails, and none waits for ever."""

import os
import subprocess
import sys
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pytest
from support.package_copy import copy_package

from kmatch.engine import devices
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.cuda import driver
from kmatch.engine.geometry import LANES_PER_WORD, SPARE, Layout, geometry_for
from kmatch.jit import folders, rehearsal

# In place of the searches: tasks that need four small kernels, two of them the same.
KERNELS = """
from kmatch.jit.kernels import kernel

@kernel
def shared(x):
    return x + 1

@kernel
def one(x):
    return 2 * shared(x)

@kernel
def two(x):
    return 3 * shared(x)

@kernel
def three(x):
    return 4 * x
"""
TASKS = """
import os
from kmatch.engine import small

FILES = "files"

def run(kernel, expected, device):
    assert device == "cpu"
    if os.environ.get("WORKERS_FAIL") and "kmatch.cli" not in __import__("sys").modules:
        raise SystemExit(3)
    assert kernel(1) == expected

TASKS = {
    "edit": lambda device: run(small.one, 4, device),
    "filter": lambda device: run(small.two, 6, device),
    FILES: lambda device: run(small.three, 4, device),
}

def rehearse(device, names=tuple(TASKS)):
    for name in names:
        TASKS[name](device=device)
"""


@pytest.fixture
def site(tmp_path):
    """A folder with a kmatch that has few kernels to compile."""
    package = copy_package(tmp_path)
    (package / "engine" / "small.py").write_text(KERNELS)
    with (package / "jit" / "rehearsal.py").open("a") as handle:
        handle.write(TASKS)
    return tmp_path


def start(site, *words, **environment):
    """Start Python on the copy, with two cores wherever there are more or fewer."""
    cores = "from kmatch.jit import rehearsal; rehearsal.cores = lambda: 2\n"
    known = environment_of(site) | environment
    run = [sys.executable, "-c", cores + "from kmatch.cli.main import main\nmain()\n", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(run, cwd=site, env=known, stdout=pipe, stderr=pipe, text=True)


def environment_of(site):
    """Of a process that finds the copy first, keeps kernels beside it, and sees no GPU."""
    set_elsewhere = ("NUMBA_CACHE_DIR", "NUMBA_ENABLE_CUDASIM")
    known = {name: value for name, value in os.environ.items() if name not in set_elsewhere}
    return known | {"PYTHONPATH": str(site), "CUDA_VISIBLE_DEVICES": "-1"}


def compiled(running):
    """The number of functions that `kmatch info --compile` says were compiled."""
    out, err = running.communicate(timeout=120)
    assert (running.returncode, err) == (0, "")
    (line,) = [line for line in out.splitlines() if line.startswith("kernels")]
    assert "compiled for the CPU: " in line
    return int(line.split(": ")[1].split()[0])


def files(site):
    return sorted(path.name for path in site.rglob("*.kernel"))


def test_each_kernel_is_compiled_by_one_process(site):
    assert compiled(start(site, "info", "--compile")) == 4
    assert len(files(site)) == 4
    assert compiled(start(site, "info", "--compile")) == 0


def test_two_commands_at_once_do_no_harm(site):
    counts = [compiled(one) for one in [start(site, "info", "--compile") for _ in range(2)]]
    assert all(count <= 4 for count in counts) and sum(counts) >= 4
    assert len(files(site)) == 4
    assert compiled(start(site, "info", "--compile")) == 0


def test_what_processes_fail_to_compile_is_compiled_all_the_same(site):
    assert compiled(start(site, "info", "--compile", WORKERS_FAIL="1")) == 4


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no terminals to open")
def test_progress_on_a_terminal(site):
    main, terminal = os.openpty()
    environment = environment_of(site) | {"TERM": "xterm"}
    command = [sys.executable, "-m", "kmatch", "info", "--compile"]
    done = subprocess.Popen(
        command, cwd=site, env=environment, stdout=subprocess.PIPE, stderr=terminal
    )
    os.close(terminal)
    shown = b""
    while chunk := read(main):
        shown += chunk
    assert b"4 functions in" in done.communicate()[0]
    assert b"compiling: " in shown and b"4 functions" in shown


def read(terminal):
    """What a terminal shows; nothing once nobody has it open, which Linux calls an error."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def test_lines_of_processes_do_not_mix():
    """Also where Python keeps nothing back, as with PYTHONUNBUFFERED."""
    say = "from kmatch.jit.rehearsal import _say\nfor i in range(3000): _say('kernel')"
    read_end, write_end = os.pipe()
    running = [subprocess.Popen([sys.executable, "-uc", say], stdout=write_end) for _ in range(3)]
    os.close(write_end)
    with open(read_end) as lines:
        assert [line for line in lines if line != "kernel\n"] == []
    assert [process.wait() for process in running] == [0, 0, 0]


@pytest.mark.parametrize("failing", [[], ["cuda"], ["cpu", "cuda"]])
def test_devices_are_compiled_for_at_once(failing, tmp_path, monkeypatch):
    """Those for which a process failed are named."""

    running = []

    @contextmanager
    def processes():
        def start(output, claims, device, *tasks):
            """A process that ends once all those of both devices have begun."""
            (tmp_path / str(len(list(tmp_path.iterdir())))).touch()
            wait = f"while len(os.listdir({str(tmp_path)!r})) < 3: pass"
            say = f"rehearsal._say('task')\nsys.exit({int(device in failing)})"
            script = f"import os, sys\nfrom kmatch.jit import rehearsal\n{wait}\n{say}"
            running.append(subprocess.Popen([sys.executable, "-uc", script], stdout=output))
            return running[-1]

        yield start
        for process in running:
            process.wait()

    monkeypatch.setattr(rehearsal, "_processes", processes)
    told = []
    left = rehearsal._run_workers({"cpu": 2, "cuda": 1}, "", told.append)
    assert left == failing and told == 3 * ["task"]


@pytest.mark.parametrize(
    "workers, gigabytes, expected", [(15, 139, 15), (15, 3, 3), (15, 0, 1), (2, 8, 2), (1, 8, 1)]
)
def test_processes_for_cuda_fit_into_its_memory(workers, gigabytes, expected, monkeypatch):
    monkeypatch.setattr(devices, "choose_engine", lambda device: None)
    monkeypatch.setattr(driver, "memory", lambda: (gigabytes << 30, 1 << 40))
    assert rehearsal._cuda_workers(workers) == expected


BESIDE = """
import time
from types import SimpleNamespace
from kmatch.engine import small
from kmatch.jit.numba_parts import on_compile
from kmatch.jit.folders import kernel_folders, nothing_compiled
from kmatch.jit import rehearsal

rehearsal.cores = lambda: 3
compiled, deadline = [], time.monotonic() + 60
assert nothing_compiled()
with on_compile(compiled.append), rehearsal.compiling_beside("edit") as begin:
    begin(SimpleNamespace(name=DEVICE))
    while DEVICE == "cpu" and time.monotonic() < deadline:
        if len(list(kernel_folders()[0].glob("*.kernel"))) == 3:
            break
        time.sleep(0.01)
    print(small.one(1), small.two(1), small.three(1), len(compiled))
assert not nothing_compiled()
"""


@pytest.mark.parametrize("device, by_itself", [("cpu", 1), ("cuda", 4)])
def test_other_processes_compile_what_a_first_search_needs(site, device, by_itself):
    """Those of `edit` compile three kernels of four; where the search runs on a GPU, none."""
    script = BESIDE.replace("DEVICE", repr(device))
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=site,
        env=environment_of(site),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["4", "6", "4", str(by_itself)]


HOLD = """
import sys
from kmatch.jit import folders
with folders.sharing(sys.argv[1]):
    assert folders.take("b")
    print("taken", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """Another process, which has taken `b` in a folder of claims."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    holding = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holding.stdout.readline() == b"taken\n"
    with folders.sharing(str(tmp_path)):
        yield holding
    holding.communicate()


def test_a_claim_is_one_process_s(other):
    assert folders.take("a") and folders.take("a")
    assert not folders.take("b")
    looks = iter([None, None, "done"])
    assert folders.await_other("b", lambda: next(looks)) == "done"


def test_a_kernel_that_another_gives_up_is_taken(other, tmp_path):
    def look():
        (tmp_path / "b").unlink()

    assert folders.await_other("b", look) is None
    assert (tmp_path / "b").exists()
    folders.give_up("b")
    assert not (tmp_path / "b").exists()


def test_a_process_that_died_is_not_waited_for(other):
    """Also while nobody has taken notice of its end."""
    looks = []

    def look():
        other.kill() if not looks else None
        looks.append(1)

    assert folders.await_other("b", look) is None


def test_without_locks_patience_ends(other, tmp_path):
    with mock.patch.object(folders, "fcntl", None):
        looks = iter([None, None])
        assert folders.await_other("b", lambda: next(looks, "done")) == "done"
        os.utime(tmp_path / "b", (0, 0))
        assert folders.await_other("b", lambda: None) is None


def test_alone_all_is_to_do():
    assert folders.take("b") and folders.await_other("b", lambda: "done") is None


def test_packing_without_a_kernel_packs_alike():
    rng = np.random.default_rng(1)
    geometry = geometry_for(700, 64, Layout(), 8)
    letters = np.zeros(geometry.letters + LANES_PER_WORD, np.uint8)
    letters[:700] = rng.choice(np.frombuffer(b"ACGTUNacgtun", np.uint8), 700)
    planes = np.zeros((2, 4 * geometry.plane_words + SPARE), np.uint64)
    CpuEngine().pack(letters, geometry.text(planes[0]))
    rehearsal._pack(letters, geometry.text(planes[1]))
    assert planes[0].any() and np.array_equal(*planes)


def test_every_command_that_is_helped_names_tasks():
    assert {name for names in rehearsal.NEEDED.values() for name in names} <= set(rehearsal.TASKS)
