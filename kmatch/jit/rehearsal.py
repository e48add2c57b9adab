"""All kernels compiled ahead, by several processes.

For the CPU each runs other searches on a tiny genome, for a GPU each compiles other kernels. What
several need is compiled by one, and the others wait for it (`kmatch.jit.folders`). The processes
are started, not forked, which threads and CUDA would not survive.
"""

import io
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from kmatch.api import guides, hamming, pcr, primer
from kmatch.engine.devices import choose_engine
from kmatch.errors import DeviceError, KmatchWarning
from kmatch.genome import Genome, as_genomes
from kmatch.jit.entries import on_compile
from kmatch.packed.writer import HALO_STEP, write_packed
from kmatch.results.table import Hits
from kmatch.search.query import Query, Run
from kmatch.search.search import begin_search
from kmatch.sequences.patterns import load_patterns
from kmatch.sequences.records import Progress
from kmatch.threads import cores

KERNEL, TASK = "kernel", "task"  # what a process reports as done
CUDA_MEMORY = 1 << 30  # bytes of a GPU's free memory for each process, which takes half of them


def compile_all(
    on_progress: Progress | None = None, workers: int | None = None
) -> tuple[int, list[str]]:
    """Compile all kernels, for the CPU and for CUDA where there is a GPU.

    on_progress(done, tasks) hears of tasks done and in all; workers: processes at once, by default
    one a core. Returns the number of functions compiled and the devices.
    """
    workers = workers or cores()
    shares = {"cpu": min(workers, len(TASKS))}
    with suppress(DeviceError):
        shares["cuda"] = _cuda_workers(workers)
    functions, done, tasks = 0, 0, sum(len(tasks_of(device)) for device in shares)

    def report(what: str) -> None:
        nonlocal functions, done
        functions, done = functions + (what == KERNEL), done + (what == TASK)
        if on_progress:
            on_progress(done, tasks)

    for device in _run_workers(shares, report) if workers > 1 else shares:
        # Here, where a failure shows its error; what was compiled is only loaded.
        with on_compile(lambda name: report(KERNEL)):
            for task in tasks_of(device).values():
                task()
                report(TASK)
    return functions, [*shares]


def _cuda_workers(workers: int) -> int:
    """How many processes compile for CUDA beside those for the CPU: as many where the GPU's memory
    suffices, since most of them wait for kernels that another one compiles. Raises DeviceError
    where no GPU can be used."""
    choose_engine("cuda")
    from kmatch.engine.cuda.driver import memory

    return max(min(workers, memory()[0] // CUDA_MEMORY), 1)


def _run_workers(shares: dict[str, int], report: Callable[[str], None]) -> Iterable[str]:
    """Have processes do all tasks of all devices at once; the devices for which one of them failed.

    shares: how many processes a device gets, which take the numbers of their tasks from one pipe.
    """
    program = f"import sys; sys.path[:] = {sys.path}; from {__name__} import work; work()"
    read, write = os.pipe()
    running: list[tuple[str, subprocess.Popen[bytes]]] = []
    try:
        with open(read) as lines:
            for device, many in shares.items():
                tasks, fill = os.pipe()
                os.write(fill, bytes(range(len(tasks_of(device)))))
                os.close(fill)
                command = [sys.executable or "python", "-c", program, device]
                none = subprocess.DEVNULL
                with suppress(OSError):
                    for _ in range(many):
                        process = subprocess.Popen(command, stdin=tasks, stdout=write, stderr=none)
                        running.append((device, process))
                os.close(tasks)
            os.close(write)
            for line in lines:
                report(line.strip())
        started = {device for device, _ in running}
        failed = {device for device, process in running if process.wait()}
        return [device for device in shares if device in failed or device not in started]
    finally:
        for _, process in running:
            process.terminate()
            process.wait()


def work() -> None:
    """Run tasks whose numbers standard input gives; write a line for each thing done.

    Fails where kernels cannot be kept, since it would then be of no use.
    """
    warnings.simplefilter("error", KmatchWarning)
    tasks = list(tasks_of(sys.argv[1]).values())
    with on_compile(lambda name: _say(KERNEL)):
        while number := os.read(0, 1):
            tasks[number[0]]()
            _say(TASK)


def _say(what: str) -> None:
    """Write a line at once, which `print` may write in two pieces."""
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


# Every search once, on a tiny genome, so that all kernels get compiled and kept.


UNIT = "ACGTTGCATTAGCCAGTACTGAACCGGTT"
LETTERS = UNIT * 20
PATTERNS = {"plain": UNIT[:20], "letters": "N" + UNIT[21:]}
PAIR = {"plain": (UNIT[:20], "AACCGGTTCAGTACTGGCTA")}
PANEL = {"plain": UNIT[:20], "letters": "N" + UNIT[1:20]}
PAM = UNIT[20:23]  # stands beside them: without hits the kernels for hits are not compiled


def _search(
    command: str,
    patterns: dict[str, str],
    k: int = 0,
    *,
    device: str,
    way: str | None = None,
    **options: Any,
) -> None:
    genomes = as_genomes(Genome.from_records([("tiny", LETTERS)]))
    panel, run = load_patterns(patterns), Run(device, way=way)
    search = begin_search(Query(command, panel, k, **options), genomes, run)
    _write(Hits(search, panel, genomes))


def _primer(device: str) -> None:
    tiny = Genome.from_records([("tiny", LETTERS)])
    _write(primer(tiny, tiny, 2, max_length=9, device=device))


def _pcr(device: str) -> None:
    tiny = Genome.from_records([("tiny", LETTERS)])
    _write(pcr(tiny, PAIR, 2, device=device))


def _guides(device: str) -> None:
    tiny = Genome.from_records([("tiny", LETTERS)])
    _write(guides(tiny, tiny, 1, score="mit", device=device))


def _files(device: str) -> None:
    """Read files, pack one, and search the packed genome."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.fa"
        path.write_text(f">tiny\n{LETTERS}\n>short\n{UNIT}\n")
        hamming(Genome(path, keep=False), PATTERNS, 2, device=device)
        reads = Path(folder) / "tiny.fq"
        reads.write_text(f"@tiny\n{UNIT}\n+\n{UNIT}\n")
        hamming(Genome(reads, keep=False), PATTERNS, 2, device=device)
        packed = Path(folder) / "tiny.kmatch"
        with open(packed, "wb") as handle:
            write_packed(Genome(path).parts(), handle, halo=HALO_STEP)
        for record in Genome(packed).records():
            record.letters[:]  # unpacks them
        hamming(packed, PATTERNS, 2, device=device)
        hamming(Genome.from_records([("tiny", UNIT)]), PATTERNS, 2, device=device)


def _formats(device: str) -> None:
    """Write hits in the formats that only hits have."""
    genome = Genome.from_records([("tiny", LETTERS)])
    hits = hamming(genome, PATTERNS, 2, device=device)
    hits.to_sam(io.BytesIO())
    hits.to_gff3(io.BytesIO())


def _write(found: Any) -> None:
    """Write hits or primers in the formats of both."""
    found.to_bed(io.BytesIO())
    found.to_tsv(io.BytesIO())


FILES = "files"
# By name, those that compile longest first; each needs some kernels that few others need.
TASKS: dict[str, Callable[..., None]] = {
    "primer": _primer,
    "edit": partial(_search, "edit", PATTERNS, 2, way="scan", report="loci"),
    "rules": partial(_search, "edit", PANEL, 2, pam=PAM, exact_5p=1),
    "filter": partial(_search, "edit", PATTERNS, 2, way="filter"),
    "hamming": partial(_search, "hamming", PATTERNS, 2),
    "best": partial(_search, "best", PATTERNS, way="scan"),
    "bounds": partial(_search, "edit", PANEL, 2, pam=PAM, max_insertions=0),
    "look-ups": partial(_search, "edit", {"plain": UNIT[:20]}, 2, pam=PAM, way="lookup"),
    FILES: _files,
    "formats": _formats,
    "seeds": partial(_search, "multi", PANEL, 2, way="lookup"),
    "multi": partial(_search, "multi", PANEL, 2, way="scan"),
    "pam sites": partial(_search, "multi", PANEL, 2, pam=PAM, way="sites"),
    "pcr": _pcr,
    "guides": _guides,
    "pam": partial(_search, "multi", PANEL, 2, pam=PAM, way="scan"),
}


def tasks_of(device: str) -> dict[str, Callable[[], None]]:
    """What compiles all kernels of a device, `cpu` or `cuda`, by name.

    Raises DeviceError where the device cannot be used.
    """
    if device == "cpu":
        return {name: partial(task, device=device) for name, task in TASKS.items()}
    choose_engine(device)
    from kmatch.engine.cuda.ahead import compile_kernel, kernels

    return {name: partial(compile_kernel, name) for name in kernels()}
