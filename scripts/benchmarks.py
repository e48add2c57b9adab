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


def write_fasta(path, length, records=1, width=60, newline=b"\n", lower=False, seed=1):
    """Write random records of one length, `length` letters in all, as FASTA."""
    import numpy as np

    rng = np.random.default_rng(seed)
    bases = np.frombuffer(b"acgt" if lower else b"ACGT", np.uint8)
    each = length // records
    with open(path, "wb") as handle:
        for number in range(records):
            handle.write(b">random%d of one length" % number + newline)
            for first in range(0, each, step := width * max(1, (1 << 22) // width)):
                letters = bases[rng.integers(0, 4, min(step, each - first), np.uint8)]
                whole = len(letters) - len(letters) % width
                lines = np.empty((whole // width, width + len(newline)), np.uint8)
                lines[:, :width] = letters[:whole].reshape(-1, width)
                lines[:, width:] = np.frombuffer(newline, np.uint8)
                handle.write(lines.tobytes())
                if whole < len(letters):
                    handle.write(letters[whole:].tobytes() + newline)
