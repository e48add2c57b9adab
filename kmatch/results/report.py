"""What was searched and found, as JSON for programs."""

import json
import platform
import shlex
import sys
from collections import Counter, defaultdict
from importlib.metadata import version
from typing import Any

from kmatch import __version__
from kmatch.results.limit import Counts
from kmatch.results.output import open_output

SCHEMA_VERSION = 1
PACKAGES = ("numpy", "numba", "llvmlite")


def write_report(path: str, counts: Counts | None = None, **facts: Any) -> None:
    """Write one object: the facts, versions, the command line, and hits by pattern and distance.

    docs/report.schema.json describes it. counts: of the hits of patterns, where there are any.
    """
    report = {
        "schema_version": SCHEMA_VERSION,
        "kmatch": __version__,
        "versions": {"python": platform.python_version()} | {p: version(p) for p in PACKAGES},
        "command_line": shlex.join(["kmatch", *sys.argv[1:]]),
        **facts,
    }
    if counts is not None:
        rows = zip(counts.names, counts.hits.tolist(), strict=True)
        report["patterns"] = [
            {"pattern": name, "hits": sum(row), "hits_by_distance": row} for name, row in rows
        ]
        bars: defaultdict[str, Counter[str]] = defaultdict(Counter)  # a name may be that of several
        for one in report["patterns"]:
            counted = {f"d{d}": hits for d, hits in enumerate(one["hits_by_distance"])}
            bars[one["pattern"]].update(counted)
        report |= {"plot_type": "bargraph", "data": bars}  # what MultiQC shows
    with open_output(path) as handle:
        handle.write(json.dumps(report, indent=1, ensure_ascii=False).encode("utf-8", "replace"))
        handle.write(b"\n")
