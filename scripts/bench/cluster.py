#!/usr/bin/env python
"""What a Dask cluster on this machine costs, and what more workers gain.

    scripts/bench/cluster.py [--genome FASTA] [--genomes N] [--patterns N] [--workers N] [--gpus]
        [--calls] [--plain] [--repeat N] [--only WORD] [--folder DIR] [--json FILE]
    scripts/bench/cluster.py --memory [--genomes N] [--folder DIR] [--json FILE]

Whole processes `kmatch edit -k 3` for 64 patterns: by themselves on one thread, on a cluster of one
worker with one thread, and on one of --workers such workers (2). They search FASTA, packed if
--genome is given, and a list of 2,000 random genomes of 50,000 letters unless --genomes says
otherwise. With --gpus each worker has a GPU of its own, and a process by itself the first. A run
takes turns, after one that is not counted. `overhead` is the seconds on one worker ÷ those without
Dask, `gain` those on one worker ÷ those on all: medians of the ratios of each turn. CPU seconds are
those of the client and of the workers; where other work shares the machine, `cpu overhead` says
more than `overhead` does. The scheduler lives in this script, and Dask is set as docs/clusters.md
says; with --plain it has its defaults. A second or so of a process is
its start, and two on a cluster: with --calls it is calls of `kmatch.edit` that are timed, from
paths to a table, in this process and with a Client that is connected. Then `machine` is what as
many processes as there are workers gain without Dask, each with a whole search of its own: cores
that share a clock or a cache gain less than their number.

With --memory it compares the peak memory of clients, and of workers, that search --genomes (10,000)
genomes of 50,000 letters, and a tenth of them, with a panel that has hits in all of them; exit
status 1 where the client of the larger search needed 1.2 times as much and more.
"""

import logging
import statistics
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import dask
import psutil
from distributed import Client, Nanny, Scheduler, SpecCluster
from harness.options import is_wanted, plain_parser
from harness.processes import Usage, kmatch_command, usage, write_panel
from harness.records import Table, write_results
from harness.workloads import cut_panel, file_text, random_panel, write_fasta

import kmatch

LETTERS = 50_000  # of each genome of a list
K = 3
SETTINGS = {
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.profile.enabled": False,
}  # for the scheduler here, and for workers, which take them over
GROWTH = 1.2  # of a client's memory, at the most, over ten times as many genomes
COLUMNS = (
    ("input", "input", "<22s"),
    ("alone_s", "alone s", ">8.2f"),
    ("one_s", "1 worker", ">8.2f"),
    ("all_s", "all", ">8.2f"),
    ("workers", "workers", ">7d"),
    ("overhead", "overhead", ">8.2f"),
    ("cpu_overhead", "cpu overhead", ">12.2f"),
    ("gain", "gain", ">6.2f"),
    ("machine", "machine", ">7.2f"),
    ("equal", "same bytes", "<10s"),
)
MEMORY = (
    ("genomes", "genomes", ">8,d"),
    ("seconds", "s", ">7.1f"),
    ("client_mb", "client MB", ">9,.0f"),
    ("worker_mb", "worker MB", ">9,.0f"),
    ("hits", "hits", ">11,d"),
)


class Workers(NamedTuple):
    """A running cluster: its address, the processes of its workers, and a Client of it."""

    address: str
    processes: list
    client: object = None


def main():
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("--genome", type=Path)
    parser.add_argument("--genomes", type=int, help="of the list")
    parser.add_argument("--patterns", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--gpus", action="store_true", help="one a worker")
    parser.add_argument("--calls", action="store_true", help="of kmatch.edit, not processes")
    parser.add_argument("--plain", action="store_true", help="Dask with its defaults")
    parser.add_argument("--memory", action="store_true", help="peak memory in place of seconds")
    parser.add_argument("--only", metavar="WORD", help="inputs with WORD in their names")
    parser.add_argument("--folder", help="for files")
    options = parser.parse_args()
    logging.getLogger("distributed").setLevel(logging.ERROR)
    if not options.plain:
        dask.config.set(SETTINGS)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        rows = (memory if options.memory else seconds)(options, Path(name))
    write_results(options.json, rows, letters=LETTERS, k=K)
    if options.memory:
        sys.exit(rows[1]["client_mb"] > GROWTH * rows[0]["client_mb"])
    sys.exit(any(row["equal"] == "NO" for row in rows))


def seconds(options, folder):
    """Rows of what each input takes."""
    table, timed = Table(COLUMNS), call if options.calls else search
    for name, genome, patterns in inputs(options, folder):
        write_panel(folder / "panel.txt", patterns)
        turns, apart = [], []
        with (
            workers(1, options.gpus) as one,
            workers(options.workers, options.gpus) as everyone,
            ProcessPoolExecutor(options.workers, get_context("spawn")) as pool,
        ):
            ways = {"alone": None, "one": one, "all": everyone}
            for _ in range(options.repeat + 1):
                turns.append({way: timed(genome, folder, way, ways[way]) for way in ways})
                if options.calls and not options.gpus:
                    apart.append(seconds_apart(pool, genome, folder, options.workers))
        row = row_of(name, options, turns[1:], folder)
        if apart:
            alone = (turn["alone"].seconds for turn in turns)
            gains = [options.workers * a / b for a, b in zip(alone, apart, strict=True)]
            row["machine"] = statistics.median(gains[1:])
        table.add(row)
    return table.rows


def seconds_apart(pool, genome, folder, count):
    """The seconds of `count` processes that each search all by themselves, at once."""
    began = time.perf_counter()
    names = [f"apart{number}" for number in range(count)]
    for done in [pool.submit(call, genome, folder, name, None) for name in names]:
        done.result()
    return time.perf_counter() - began


def row_of(name, options, turns, folder):
    def median(figure):
        return statistics.median(map(figure, turns))

    tables = {(folder / f"{way}.tsv").read_bytes() for way in turns[0]}
    return {
        "input": name,
        "patterns": options.patterns,
        "workers": options.workers,
        "repeat": options.repeat,
        **{f"{way}_s": median(lambda turn, way=way: turn[way].seconds) for way in turns[0]},
        **{f"{way}_cpu_s": median(lambda turn, way=way: turn[way].cpu) for way in turns[0]},
        "overhead": median(lambda turn: turn["one"].seconds / turn["alone"].seconds),
        "cpu_overhead": median(lambda turn: turn["one"].cpu / turn["alone"].cpu),
        "gain": median(lambda turn: turn["one"].seconds / turn["all"].seconds),
        "equal": "yes" if len(tables) == 1 else "NO",
    }


def inputs(options, folder):
    """Yield (name, GENOME, patterns)."""
    if options.genome:
        patterns = cut_panel(file_text(options.genome), options.patterns)
        kmatch.pack(options.genome, packed := folder / "genome.kmatch")
        for name, path in (("FASTA", options.genome), ("packed", packed)):
            if is_wanted(options, f"{options.genome.name}, {name}"):
                yield f"{options.genome.name[:13]}, {name}", path, patterns
    count = options.genomes or 2_000
    if is_wanted(options, f"{count:,} genomes"):
        yield f"{count:,} genomes", genome_list(folder, count), random_panel(options.patterns)


def genome_list(folder, count):
    """The @LIST of so many genomes, made."""
    (folder / "genomes").mkdir(exist_ok=True)
    paths = [folder / "genomes" / f"{number}.fa" for number in range(count)]
    for number, path in enumerate(paths):
        if not path.exists():
            write_fasta(path, LETTERS, seed=number)
    found = folder / f"{count}.txt"
    found.write_text("".join(f"{path}\n" for path in paths))
    return f"@{found}"


def search(genome, folder, way, cluster):
    """The Usage of a search, the seconds of workers among those of the CPU."""
    words = ["edit", genome, folder / "panel.txt", "-k", K, "-q", "-o", folder / f"{way}.tsv"]
    words += ["--threads", 1] if cluster is None else ["--scheduler", cluster.address]
    before = worker_cpu(cluster)
    taken = usage(kmatch_command(*words))
    return taken._replace(cpu=taken.cpu + worker_cpu(cluster) - before)


def call(genome, folder, way, cluster):
    """The same of a call in this process."""
    there = {"threads": 1} if cluster is None else {"scheduler": cluster.client}
    (folder / f"{way}.tsv").unlink(missing_ok=True)  # to take its place takes ext4 milliseconds
    began, before = time.perf_counter(), time.process_time() + worker_cpu(cluster)
    hits = kmatch.edit(str(genome), folder / "panel.txt", K, **there)
    hits.to_tsv(folder / f"{way}.tsv")
    spent = time.process_time() + worker_cpu(cluster) - before
    return Usage(time.perf_counter() - began, cpu=spent, user=0, peak=0)


def worker_cpu(cluster):
    """Seconds of the CPU that workers took so far."""
    times = [process.cpu_times() for process in cluster.processes] if cluster else []
    return sum(each.user + each.system for each in times)


@contextmanager
def workers(count, gpus=False):
    """Give Workers of one thread each."""

    def options(number):
        more = {"env": {"CUDA_VISIBLE_DEVICES": str(number)}} if gpus else {}
        return {
            "nthreads": 1,
            "dashboard": False,
            "memory_limit": 0,
            "silence_logs": logging.ERROR,
            **more,
        }

    scheduler = {"cls": Scheduler, "options": {"dashboard": False, "host": "127.0.0.1"}}
    specs = {number: {"cls": Nanny, "options": options(number)} for number in range(count)}
    with SpecCluster(specs, scheduler) as cluster:
        pids = [nanny.pid for nanny in cluster.workers.values()]
        with Client(cluster, set_as_default=False) as client:
            processes = [psutil.Process(pid) for pid in pids]
            yield Workers(cluster.scheduler_address, processes, client)


def memory(options, folder):
    """Rows of what clients and workers need for many genomes, and for a tenth of these."""
    table, most = Table(MEMORY), options.genomes or 10_000
    # Each has some hits in every genome, strands and ends taken together.
    write_panel(folder / "panel.txt", random_panel(options.patterns, 14))
    for count in (most // 10, most):
        genome = genome_list(folder, count)
        with workers(options.workers) as cluster:
            taken = search(genome, folder, "all", cluster)
            peak = max(map(peak_of, cluster.processes), default=0)
        lines = (folder / "all.tsv").read_bytes().count(b"\n") - 1
        table.add(
            {
                "genomes": count,
                "seconds": taken.seconds,
                "client_mb": taken.peak / 1e6,
                "worker_mb": peak / 1e6,
                "hits": lines,
            }
        )
    return table.rows


def peak_of(process):
    """The most bytes that a process had resident."""
    with open(f"/proc/{process.pid}/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
