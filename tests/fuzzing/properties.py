"""The tests' properties, which CI runs with fixed examples, with fresh ones."""

import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).parents[1]


def run(seed, seconds, only=""):
    """Run all properties, at least once and until a time is over; the number of rounds that failed.

    only: a word in the names of those that are run. Each round has examples of its own; Hypothesis
    keeps those that failed and begins with them the next time.
    """
    until, failed = time.monotonic() + seconds, 0
    while True:
        command = (sys.executable, "-m", "pytest", "-m", "hypothesis", "-k", only)
        command += ("--hypothesis-profile", "fresh", "--hypothesis-seed", str(seed))
        print(f"properties with seed {seed}", flush=True)
        failed += subprocess.run((*command, TESTS), cwd=TESTS.parent).returncode != 0
        if time.monotonic() > until:
            return failed
        seed += 1
