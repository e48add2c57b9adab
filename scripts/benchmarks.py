"""What the benchmarks have in common: options, timing, results."""

import argparse
import json
import platform
import time


def parse_options(doc, length, patterns, repeat=5):
    """The options --length, --patterns, --repeat and --json with these defaults."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--length", type=int, default=length)
    parser.add_argument("--patterns", type=int, default=patterns)
    parser.add_argument("--repeat", type=int, default=repeat)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def random_text(rng, length):
    return bytearray("".join(rng.choices("ACGT", k=length)), "ascii")


def timed(call):
    """(result, seconds) of a call."""
    began = time.perf_counter()
    result = call()
    return result, time.perf_counter() - began


def write_results(path, rows):
    if path:
        with open(path, "w") as handle:
            json.dump({"machine": platform.platform(), "rows": rows}, handle, indent=1)
