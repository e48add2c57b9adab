"""A Dask cluster as users start one: `dask scheduler` and `dask worker`, a process each."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMIT = 60  # seconds that anything may take

# A worker notes what it begins; files in the cluster's folder make it slow or have it fail.
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
    time.sleep(float(setting("slow", 0)))
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
        self._await(lambda: b"Starting established connection" in log.read_bytes())
        return process

    @contextmanager
    def having(self, **settings):
        """Let workers be `slow` for seconds, or have a shard that `fails`, in the block."""
        for name, value in settings.items():
            (self.folder / name).write_text(str(value))
        try:
            yield
        finally:
            for name in settings:
                (self.folder / name).unlink()

    def begun(self, name):
        """The numbers of the shards that a worker has begun."""
        notes = self.folder / f"begun-{name}"
        return [int(line) for line in notes.read_text().split()] if notes.exists() else []

    def await_begun(self, name):
        """Wait until a worker has begun a shard."""
        self._await(lambda: self.begun(name))

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

    def _await(self, happened):
        end = time.monotonic() + LIMIT
        while not happened():
            assert self.scheduler.poll() is None, (self.folder / "scheduler.log").read_text()
            assert time.monotonic() < end, "the cluster does not start"
            time.sleep(0.05)


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
