"""The benchmarks of GPUs, in the CUDA simulator as far as it goes, and the check of a machine."""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).parents[1] / "scripts"
BENCH = SCRIPTS / "bench"
SIMULATED = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from kmatch.engine.cuda import driver
from kmatch.engine.cuda import primer
from kmatch.published import cuda as on_cuda
from kmatch.published.cuda import liu2012, pmasm2017, wspasm2017

class Stopwatch(driver.Stopwatch):
    seconds = 1e-3  # the simulator keeps no time

driver.Stopwatch = Stopwatch
wspasm2017.BLOCK = on_cuda.THREADS = wspasm2017.THREADS = liu2012.THREADS = pmasm2017.THREADS = 4
"""
GPU = """
import gpu as bench
bench.CAPACITY = 1 << 12
bench.REPEAT = bench.TURNS = 1
bench.HAMMING, bench.EDIT = (8, 1, (1, 2)), ("8,1,1",)
bench.DENSE, bench.DENSE_PANELS = (4, 1, 40), ((2, 5, 3),)
bench.PUBLISHED["edit"] = "row"  # the simulator has no warps
primer.WIDTH, primer.HEIGHT, primer.ROWS, primer.MORE, primer.DEEPEST = 1, 4, 1, 4, 64
bench.WARM = bench.SAMPLE = 4
bench.CASES = (bench.Primers("tiny", ("", 0, 12), ("", 0, 20), 2, 8, True, 1),)

def start_up(bench_):
    exec(bench.BEGIN.format(call="hamming").replace("* 100", ""), {})

bench.start_up = start_up
raise SystemExit(bench.main())
"""


def test_searches_and_primers_on_a_gpu(tmp_path):
    path, words = tmp_path / "r.json", ("--length", 60, "--repeat", 1, "--samples", 1)
    command = (sys.executable, "-c", SIMULATED + GPU, BENCH, *words, "--json", path)
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr[-3_000:]
    rows = {row["name"]: row for row in json.loads(path.read_text())["rows"]}
    assert len(rows) == 9 and all(row.get("equal", True) for row in rows.values())
    dense = rows["dense, 2 patterns of 5, k=3, beside pmasm-thread"]
    assert dense["hits"] > 30 and dense["mbp_s"] > 0 and dense["published_mbp_s"] > 0
    assert rows["edit m=4 k=1 patterns=1"]["kernel_hits"] > 0
    primers = rows["primers tiny, k = 2"]
    assert primers["cells"] > 0 and primers["seconds"] > 0
