"""Compiling by several processes: all kernels, or those that a running search will need.

Each process runs other searches on a tiny genome, and so compiles other kernels; a kernel that
several need is compiled by the first, and the others wait for it (see the claims of
`kmatch.jit.folders`). The processes are started, not forked, which threads and CUDA would not
survive.
"""

import io
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kmatch.api import hamming, pcr, primer
from kmatch.arrays import Bytes
from kmatch.engine.devices import choose_engine
from kmatch.engine.engine import Engine
from kmatch.engine.geometry import LANES_PER_WORD, Text
from kmatch.engine.host import packing_by
from kmatch.errors import DeviceError, KmatchWarning
from kmatch.genome import Genome, as_genomes
from kmatch.jit.folders import open_folder, own_folder, sharing, take
from kmatch.jit.numba_parts import on_compile
from kmatch.packed.writer import HALO_STEP, PackedLayout, write_packed
from kmatch.results.table import Hits
from kmatch.search.query import Query, Run
from kmatch.search.search import begin_search
from kmatch.sequences.patterns import load_patterns
from kmatch.threads import cores

KERNEL, TASK = "kernel", "task"  # what a process reports as done
CUDA_MEMORY = 1 << 30  # bytes of a GPU's free memory for each process, which takes half of them

# The tasks that compile what a first search needs while it runs. Searches for mismatches need few
# kernels, one after another: on two busy cores two processes took longer than one.
NEEDED = {"edit": ("edit", "filter"), "best": ("best", "filter")}

Process = subprocess.Popen[bytes]
Start = Callable[..., Process | None]
OnCompiling = Callable[[int, int, int], object]


def compile_all(
    on_progress: OnCompiling | None = None, workers: int | None = None
) -> tuple[int, list[str]]:
    """Compile all kernels, for the CPU and for CUDA where there is a GPU.

    on_progress(functions, done, tasks) is called with the number of functions compiled, and of
    tasks done and in all; workers: processes at once, by default one a core. Returns the number of
    functions compiled and the devices.
    """
    workers = min(workers or cores(), len(TASKS))
    shares = {"cpu": workers}
    with suppress(DeviceError):
        shares["cuda"] = _cuda_workers(workers)
    counts = [0, 0, len(TASKS) * len(shares)]

    def report(what: str) -> None:
        counts[0] += what == KERNEL
        counts[1] += what == TASK
        if on_progress:
            on_progress(*counts)

    with _claims() as claims:
        for device in _run_workers(shares, claims, report) if claims and workers > 1 else shares:
            # Here, where a failure shows its error; what was compiled is only loaded.
            with on_compile(lambda name: report(KERNEL)):
                for name in TASKS:
                    rehearse(device, [name])
                    report(TASK)
    return counts[0], [*shares]


@contextmanager
def _claims() -> Iterator[str | None]:
    """Yield a folder for claims; None where no temporary file can be written."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="kmatch-claims-")
    except OSError:
        yield None
        return
    with folder as path:
        yield path


def _cuda_workers(workers: int) -> int:
    """How many processes compile for CUDA beside those for the CPU: as many where the GPU's memory
    suffices, since most of them wait for kernels that another one compiles. Raises DeviceError
    where no GPU can be used."""
    from kmatch.engine.devices import choose_engine

    choose_engine("cuda")
    from kmatch.engine.cuda.driver import memory

    return max(min(workers, memory()[0] // CUDA_MEMORY), 1)


def _run_workers(
    shares: dict[str, int], claims: str, report: Callable[[str], None]
) -> Iterable[str]:
    """Have processes do all tasks of all devices at once; the devices for which one of them failed.

    shares: how many processes a device gets.
    """
    read, write = os.pipe()
    with open(read) as lines, _processes() as start:
        running = {
            device: [start(write, claims, device, *TASKS) for _ in range(many)]
            for device, many in shares.items()
        }
        os.close(write)
        for line in lines:
            report(line.strip())
        return [device for device, processes in running.items() if not all(map(_did, processes))]


def _did(process: Process | None) -> bool:
    """Whether a process was started and did its tasks; waits for its end."""
    return process is not None and process.wait() == 0


@contextmanager
def _processes() -> Iterator[Start]:
    """Yield a function that starts work(*arguments) in a process; all end with the block.

    Its first argument is where the process writes to. It returns None if it can start none.
    """
    program = (
        f"import sys; sys.path[:] = {sys.path}; from {__name__} import work; work(*sys.argv[1:])"
    )
    running: list[Process] = []
    none = subprocess.DEVNULL

    def start(output: int, *arguments: str) -> Process | None:
        command = [sys.executable or "python", "-c", program, *arguments]
        try:
            running.append(subprocess.Popen(command, stdin=none, stdout=output, stderr=none))
        except OSError:
            return None
        return running[-1]

    try:
        yield start
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def work(claims: str, device: str, *tasks: str) -> None:
    """Run the tasks that no other process took; write a line for each thing done.

    Fails where kernels cannot be kept, since it would then be of no use.
    """
    warnings.simplefilter("error", KmatchWarning)
    with sharing(claims), on_compile(lambda name: _say(KERNEL)):
        for name in tasks:
            if take(f"{device} {name}"):
                with nullcontext() if name == FILES else packing_by(_pack):
                    rehearse(device, [name])
                _say(TASK)


def _say(what: str) -> None:
    """Write a line at once, which `print` may write in two pieces."""
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def _pack(letters: Bytes, text: Text) -> None:
    """Pack by NumPy, slowly: all searches would wait for the kernel `pack` to be compiled."""
    planes, words, rows, plane_words = text
    lanes = rows * np.arange(LANES_PER_WORD * words)
    upper = letters[np.arange(plane_words // words)[:, None] + lanes] & 0xDF
    upper[upper == ord("U")] = ord("T")
    for plane, base in enumerate(b"ACGT"):
        bits = np.packbits(upper == base, axis=1, bitorder="little").view(np.uint64)
        planes[plane * bits.size : (plane + 1) * bits.size] = bits.ravel()


@contextmanager
def compiling_beside(command: str) -> Iterator[Callable[[Engine], None]]:
    """While a first search runs on the CPU, have other processes compile what it will need.

    command: that of the search. Yields a function to call with the engine once it is known.
    """
    with (
        _claims() as claims,
        sharing(claims) if claims else nullcontext(),
        _processes() as start,
    ):

        def begin(engine: Engine) -> None:
            if claims is None:
                return
            with suppress(OSError):
                open_folder(own_folder())  # other processes help only where kernels can be kept
                for name in NEEDED.get(command, ())[: cores() - 1] if engine.name == "cpu" else ():
                    start(subprocess.DEVNULL, claims, "cpu", name)

        yield begin


# Every search once, on a tiny genome, so that all kernels get compiled and kept.


UNIT = "ACGTTGCATTAGCCAGTACTGAACCGGTT"
LETTERS = UNIT * 20
PATTERNS = {"plain": UNIT[:20], "letters": "N" + UNIT[21:]}
PAIR = {"plain": (UNIT[:20], "AACCGGTTCAGTACTGGCTA")}
PANEL = {"plain": UNIT[:20], "letters": "N" + UNIT[1:20]}
PAM = UNIT[20:23]  # stands beside them: without hits the kernels for hits are not compiled

# Of primers: a GPU's kernels differ by the bits that count so many, 8, 10, 12 and 14, which are
# those of every K from 2 on and of all lengths beyond 32.
LENGTHS = (128, 512, 2048, 8192)


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


def _primers_of(length: int, device: str) -> None:
    choose_engine(device).compile_primers(length)


def _pcr(device: str) -> None:
    tiny = Genome.from_records([("tiny", LETTERS)])
    _write(pcr(tiny, PAIR, 2, device=device))


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
            write_packed(Genome(path).parts(), handle, layout=PackedLayout(halo=HALO_STEP))
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
    **{f"primers of {length}": partial(_primers_of, length) for length in LENGTHS},
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
    "pam": partial(_search, "multi", PANEL, 2, pam=PAM, way="scan"),
}


def rehearse(device: str, names: Iterable[str] = tuple(TASKS)) -> None:
    """Run tasks on a device, `cpu` or `cuda`, and write what they find in every format.

    Raises DeviceError where the device cannot be used.
    """
    for name in names:
        TASKS[name](device=device)
