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

# A worker's search takes longer, or fails, as its environment says.
PRELOAD = """
import os, time
from kmatch.distributed import worker

inner = worker.open_shard


def open_shard(shard):
    if (mark := os.environ.get("KMATCH_TEST_BEGUN")):
        open(mark, "a").write(f"{shard.number}\\n")
    time.sleep(float(os.environ.get("KMATCH_TEST_SLOW", 0)))
    if shard.number == int(os.environ.get("KMATCH_TEST_FAILS", -1)):
        raise RuntimeError("the disk is on fire")
    return inner(shard)


worker.open_shard = open_shard
if "KMATCH_TEST_VERSION" in os.environ:
    worker.__version__ = os.environ["KMATCH_TEST_VERSION"]
    import kmatch
    kmatch.__version__ = os.environ["KMATCH_TEST_VERSION"]
"""


class Processes:
    """A scheduler and its workers.

    folder: for their files; security: options of the programs for TLS.
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

    def add_worker(self, name, **environment):
        """Start a worker of one thread, with settings in its environment; returns its process."""
        words = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name)
        more = ("--death-timeout", str(LIMIT), "--local-directory", str(self.folder / name))
        preload = ("--preload", str(self.folder / "preload.py"))
        process = self._start("worker", *words, *more, *preload, **environment)
        self.workers[name] = process
        log = self.folder / f"{name}.log"
        self._await(lambda: b"Starting established connection" in log.read_bytes())
        return process

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
