"""Sassy beside kmatch: the package sassy-rs, and a program that links another build of it.

Sassy finds the minima of the edit distance, and `kmatch edit` has to find the same ones. Version 2
of its search looks on the reverse strand for minima in the direction of the text, kmatch and
version 1 in that of the pattern: of a program, the hits on the forward strand are counted.
"""

import json
import subprocess
from functools import cache
from importlib.metadata import version

import numpy as np

from harness.common import least

MODES = (("dna", "single"), ("iupac", "batch_patterns"))
PROBE = 1 << 21  # letters of the searches that compare modes


def hits_of(hits):
    """Of a kmatch.Hits: pattern, whether on the strand -, end in the pattern's direction and
    distance, int64[4, n], equal for equal sets."""
    minus = hits.strand == "-"
    position = np.where(minus, hits.start, hits.end)
    return _sorted(np.array((hits.pattern_number, minus, position, hits.distance), np.int64))


def _matches_of(matches):
    """The same of Sassy's matches."""
    rows = [
        (m.pattern_idx, minus, m.text_start if minus else m.text_end, m.cost)
        for m in matches
        for minus in (m.strand == "-",)
    ]
    return _sorted(np.array(rows, np.int64).reshape(-1, 4).T)


def _sorted(columns):
    return columns[:, np.lexsort(columns)]


@cache
def _sassy():
    try:
        import sassy
    except ImportError:
        return None
    return sassy


def package(search, letters, threads, options, found):
    """Columns of a row: what sassy-rs takes in its faster mode, and whether its hits are `found`,
    as of hits_of; nothing without the package."""
    if not _sassy():
        return {}

    def call(mode, text, repeat=1):
        alphabet, way = mode
        searcher = _sassy().Searcher(alphabet, rc=True)
        given = (patterns, [text], search.k, threads, way)
        return least(lambda: searcher.search_many(*given), repeat, options.patience)

    patterns, text = [pattern.encode() for pattern in search.patterns], letters.tobytes()
    mode = min(MODES, key=lambda mode: call(mode, text[:PROBE])[1].cpu)
    matches, spent = call(mode, text, options.repeat)
    return {
        "package_s": spent.seconds,
        "package_cpu": spent.cpu,
        "package": f"sassy-rs {version('sassy-rs')}, {mode[1]}",
        "package_equal": np.array_equal(_matches_of(matches), found),
    }


def program(search, fasta, panel, threads, options, found):
    """The same of the program options.sassy, in the faster version of the search."""
    if not options.sassy:
        return {}

    def call(version, repeat):
        words = (fasta, panel, search.k, version, threads, repeat, "both")
        command = [options.sassy, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    tried = [call(version, 1) for version in ("v1", "v2")]  # v2 has no patterns beyond 64 letters
    best = min(filter(None, tried), key=lambda said: said["cpu_seconds"])
    if best["seconds"] < options.patience:
        best = call(best["version"], options.repeat)
    return {
        "program_s": best["seconds"],
        "program_cpu": best["cpu_seconds"],
        "program": " ".join(best[key] for key in ("program", "version", "build", "simd")),
        "program_hits": best["hits"],
        "program_equal": best["forward"] == int((found[1] == 0).sum()),
    }
