"""A Dask cluster as users start one: `dask scheduler` and `dask worker`, a process each."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMIT = 240  # seconds that anything may take

# A worker notes what it begins; files in the cluster's folder hold it up or have it fail.
PRELOAD = """
import os, pathlib, time
import kmatch
from kmatch.distributed import worker

folder = pathlib.Path(os.environ["KMATCH_TEST_FOLDER"])
name = os.environ["KMATCH_TEST_NAME"]
inner = getattr(worker, "untested", worker.open_shard)
worker.untested = inner  # Dask may load this twice


def setting(what, default):
    for path in (folder / f"{what}-{name}", folder / what):
        if path.exists():
            return path.read_text()
    return default


def open_shard(shard):
    with open(folder / f"begun-{name}", "a") as notes:
        notes.write(f"{shard.number}\\n")
    while setting("hold", None):
        time.sleep(0.02)
    if shard.number == int(setting("fails", -1)):
        raise RuntimeError("the disk is on fire")
    return inner(shard)


worker.open_shard = open_shard
if version := setting("version", None):
    worker.__version__ = kmatch.__version__ = version
"""


class Processes:
    """A scheduler and its workers.

    folder: for their files; security: options of the programs for TLS. Settings of workers are
    files in the folder, by name or by name and worker: see `having`.
    """

    def __init__(self, folder, security=()):
        self.folder, self._security = Path(folder), security
        self.file = self.folder / "scheduler.json"
        self.workers = {}
        (self.folder / "preload.py").write_text(PRELOAD)
        protocol = ("--protocol", "tls") if security else ()
        words = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-jupyter")
        self.scheduler = self._start("scheduler", *words, *protocol)
        self._await(self.file.exists)

    def add_worker(self, name):
        """Start a worker of one thread; returns its process."""
        words = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name)
        more = ("--death-timeout", str(LIMIT), "--local-directory", str(self.folder / "scratch"))
        preload = ("--preload", str(self.folder / "preload.py"))
        settings = {"KMATCH_TEST_FOLDER": str(self.folder), "KMATCH_TEST_NAME": name}
        process = self._start("worker", *words, *more, *preload, **settings)
        self.workers[name] = process
        log = self.folder / f"{name}.log"
        self._await(lambda: b"Starting established connection" in log.read_bytes(), name)
        return process

    @contextmanager
    def having(self, **settings):
        """Have workers `hold` what they begin, or a shard that `fails`, in the block."""
        for name, value in settings.items():
            (self.folder / name).write_text(str(value))
        try:
            yield
        finally:
            for name in settings:
                (self.folder / name).unlink(missing_ok=True)

    @contextmanager
    def held_until(self, happened):
        """In the block workers hold what they begin, until happened(), in a thread, returns."""

        def release():
            try:
                happened()
            finally:
                (self.folder / "hold").unlink(missing_ok=True)

        thread = threading.Thread(target=release)
        with self.having(hold=1):
            thread.start()
            yield
            thread.join(LIMIT)
            assert not thread.is_alive()

    def begun(self, *names):
        """The numbers of the shards that workers have begun, by default any of them."""
        notes = [self.folder / f"begun-{name}" for name in names] or self.folder.glob("begun-*")
        return [int(n) for each in notes if each.exists() for n in each.read_text().split()]

    def await_begun(self, *names, before=0):
        """Wait until workers have begun more shards than before."""
        self._await(lambda: len(self.begun(*names)) > before, *names)

    def stop_worker(self, name):
        """Let a worker take leave."""
        process = self.workers.pop(name)
        process.send_signal(signal.SIGINT)
        process.wait(LIMIT)

    def close(self):
        """End all of them."""
        for process in [*self.workers.values(), self.scheduler]:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait(LIMIT)

    def _start(self, program, *words, **environment):
        name = words[words.index("--name") + 1] if "--name" in words else program
        log = open(self.folder / f"{name}.log", "wb")  # noqa: SIM115 - the process has it
        module = f"distributed.cli.dask_{program}"
        command = [sys.executable, "-m", module, "--scheduler-file", str(self.file)]
        paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        env = {**os.environ, "PYTHONPATH": paths, **environment}
        command += [*self._security, *words]
        with log:
            return subprocess.Popen(command, stdout=log, stderr=log, env=env, cwd=self.folder)

    def _await(self, happened, *names):
        end = time.monotonic() + LIMIT
        processes = {"scheduler": self.scheduler, **self.workers}
        while not happened():
            for name in ("scheduler", *names):
                log = self.folder / f"{name}.log"
                assert processes[name].poll() is None, log.read_text()
            assert time.monotonic() < end, "the cluster does not do what it should"
            time.sleep(0.02)


@contextmanager
def cluster(folder, workers=2, **options):
    """Give the Processes of a cluster, which end with the block."""
    processes = Processes(folder, **options)
    try:
        for number in range(workers):
            processes.add_worker(f"w{number}")
        yield processes
    finally:
        processes.close()
