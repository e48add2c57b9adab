#!/usr/bin/env python3
"""Tell where the time of primers on a GPU goes.

    scripts/bench/gpu_primer_stages.py [--genomes FOLDER] [--cases N …] [--ncu] [--json FILE]

A row for each launch of the kernel: what it was given, its milliseconds by CUDA events, those that
the host took before it, and cells in tiles, warm-up and second sweeps included. Cases and FOLDER
are those of gpu_primer.py. With --ncu Nsight Compute runs this again without times and counts what
multiprocessors do in each launch; cases with few launches suit that.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gpu_primer
from harness.options import plain_parser
from harness.records import Table, write_results

from kmatch.engine.cuda.bits.distances import counter_bits
from kmatch.engine.cuda.gpu import driver
from kmatch.engine.cuda.primer import extend
from kmatch.engine.devices import choose_engine

PLACES = ("/usr/local/cuda/bin", "/opt/nvidia/nsight-compute")
STALLS = ("barrier", "long_scoreboard", "short_scoreboard", "math_pipe_throttle", "mio_throttle",
          "not_selected", "wait", "dispatch_stall", "no_instruction", "lg_throttle")  # fmt: skip
METRICS = {
    "gpu__time_duration.sum": "ns",
    "sm__cycles_active.avg.pct_of_peak_sustained_elapsed": "SMs active %",
    "sm__warps_active.avg.per_cycle_active": "warps",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue %",
    "smsp__inst_executed.sum": "instructions",
    "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active": "ALU %",
    "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active": "LSU %",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": "bank conflicts",
    "lts__t_bytes.sum": "L2 bytes",
    "dram__bytes.sum": "DRAM bytes",
    "launch__registers_per_thread": "registers",
} | {f"smsp__average_warps_issue_stalled_{stall}_per_issue_active.ratio": stall for stall in STALLS}
COLUMNS = (
    ("case", "case", "<22"), ("columns", "columns", ">9"), ("rows", "rows", ">6"),
    ("units", "units", ">7"), ("blocks", "blocks", ">6"), ("stretch", "stretch", ">7"),
    ("warm", "warm", ">6"), ("strips", "strips", ">6"), ("bits", "bits", ">4"),
    ("host_ms", "host ms", ">9.3f"), ("ms", "ms", ">10.3f"), ("tcups", "TCUPS", ">7.2f"),
    ("again", "again", ">6.2f"), ("given_up", "given up", ">8.2f"), ("waiting", "waiting", ">7"),
)  # fmt: skip


class Watched(extend.Extension):
    """An Extension that notes its launches."""

    table, case = None, ""
    timing = True

    def __init__(self, *given):
        self._ended = time.perf_counter()
        super().__init__(*given)

    def _launch(self, height, most_rows, rows, passed, units, bounds):
        if not len(units):
            return units
        before, host = self.work, time.perf_counter() - self._ended
        self._gpu.stream.synchronize()
        begin = driver.mark(self._gpu.stream, timing=True)
        waiting = super()._launch(height, most_rows, rows, passed, units, bounds)
        end = driver.mark(self._gpu.stream, timing=True)
        end.synchronize()
        seconds = float(driver.cuda.event_elapsed_time(begin, end)) / 1e3
        work = [after - since for after, since in zip(self.work, before, strict=True)]
        cells, taken, given_up, again = work
        warm = self._warm(rows)
        self.table.add(
            {
                "case": self.case,
                "columns": int((units[:, 2] - units[:, 1]).max()),
                "rows": rows,
                "units": taken,
                "blocks": min(len(units), self._resident),
                "stretch": extend.stretch_of(int((units[:, 2] - units[:, 1]).max())),
                "warm": warm,
                "strips": rows // height,
                "bits": counter_bits(most_rows, self._k - 1, self._k - 1),
                "host_ms": 1e3 * host,
                "ms": 1e3 * seconds,
                "tcups": cells / seconds / 1e12,
                "again": again / max(cells, 1),
                "given_up": given_up / taken,
                "waiting": len(waiting),
            }
        )
        self._ended = time.perf_counter()
        return waiting


def main():
    parser = plain_parser(__doc__)
    parser.add_argument("--genomes", metavar="FOLDER", default=os.environ.get("KMATCH_TEST_DATA"))
    parser.add_argument("--cases", type=int, nargs="+", default=[0])
    parser.add_argument("--ncu", action="store_true", help="count with Nsight Compute too")
    parser.add_argument("--plain", action="store_true", help="no times: what --ncu runs")
    options = parser.parse_args()
    engine, table = choose_engine("cuda"), Table(COLUMNS)
    rows = [run(engine, gpu_primer.CASES[number], table, options) for number in options.cases]
    if options.plain:
        return
    counted = count(options) if options.ncu else []
    write_results(options.json, rows, launches=table.rows, counters=counted)


def run(engine, case, table, options):
    given, real = gpu_primer.arguments(case, options.genomes)
    gpu_primer.run(engine, gpu_primer.head(given, gpu_primer.WARM))
    if options.plain:
        gpu_primer.run(engine, given)
        return {}
    seconds, work, _ = gpu_primer.run(engine, given)  # without events between
    Watched.table, Watched.case, first = table, case.name[:22], len(table.rows)
    plain, extend.Extension = extend.Extension, Watched
    try:
        gpu_primer.run(engine, given)
    finally:
        extend.Extension = plain
    kernels = sum(row["ms"] for row in table.rows[first:]) / 1e3
    row = {
        "case": case.name,
        "real_genomes": real,
        "seconds": seconds,
        "kernels_s": kernels,
        "tcups": work.cells / seconds / 1e12,
        "tcups_of_kernels": work.cells / kernels / 1e12,
    }
    print(*(f"{name}={value}" for name, value in row.items()), flush=True)
    return row


def count(options):
    """What Nsight Compute counts in each launch."""
    places = [os.environ["PATH"], *PLACES, *map(str, Path(PLACES[-1]).glob("*"))]
    ncu = shutil.which("ncu", path=os.pathsep.join(places))
    if not ncu:
        print("ncu was not found")
        return []
    command = [ncu, "--clock-control", "none", "--csv", "--page", "raw", "--kernel-name"]
    command += [
        "regex:make_extend",
        "--kernel-name-base",
        "mangled",
        "--metrics",
        ",".join(METRICS),
    ]
    cases = map(str, options.cases)
    command += [sys.executable, __file__, "--plain", "--cases", *cases]
    command += ["--genomes", options.genomes] if options.genomes else []
    with tempfile.TemporaryFile("w+") as written:
        subprocess.run(command, stdout=written, check=False)
        written.seek(0)
        lines = written.read().splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        print(*lines[-15:], sep="\n")
        return []
    header, units, *rows = csv.reader(lines[begin:])
    counted = []
    for row in rows:
        named = dict(zip(header, zip(row, units, strict=True), strict=True))
        counted.append(
            {short: _number(*named[name]) for name, short in METRICS.items() if name in named}
        )
        print(json.dumps(counted[-1]))
    return counted


def _number(value, unit):
    try:
        return f"{float(value.replace(',', '')):g} {unit}".strip()
    except ValueError:
        return value


if __name__ == "__main__":
    main()
