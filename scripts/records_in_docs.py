"""The tables of the README and of docs/ that are made of records in scripts/results.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`; `with_tables` writes those of a
text anew, and a test holds every document against it.
"""

import json
import re
import statistics
from functools import cache
from pathlib import Path

RECORDS = Path(__file__).parent / "results"
TABLE = re.compile(r"^<!-- table: ([\w-]+) -->\n.*?^<!-- end -->$", re.M | re.S)


@cache
def record(name):
    return json.loads((RECORDS / f"{name}.json").read_text())


def rows_of(name, part=None):
    found = record(name)
    return (found[part] if part else found)["rows"]


def with_tables(text):
    """The text with its tables as the records have them now."""

    def table(match):
        header, *rows = TABLES[match[1]]()
        lines = [header, ["---"] * len(header), *rows]
        body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        return f"<!-- table: {match[1]} -->\n{body}<!-- end -->"

    return TABLE.sub(table, text)


def figure(number):
    """A number in two or three digits."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.2f}" if number < 1 else f"{number:.1f}"


def searched(row):
    """A search as it is asked for: the command, k and the PAM."""
    command, sizes, *pam = row["search"].split()
    _, k = sizes.split(",")
    return f"`{command} -k {k}{' --pam ' + pam[0] if pam else ''}`"


def whole():
    """Whole processes on real DNA: those rows in which Sassy has searched as much."""
    yield ["search", "patterns", "Mbp", "hits", "kmatch, s", "Sassy, s", "kmatch is faster"]
    for row in rows_of("cpu-whole"):
        if "cpu_ratio" in row:
            assert row["equal"] == "yes"
            rich = ", four fifths A and T" if row["text"].startswith("Markov") else ""
            yield [
                searched(row),
                row["panel"] + rich,
                figure(row["letters"] / 1e6),
                f"{row['hits']:,}",
                figure(row["kmatch_cpu_s"]),
                figure(row["sassy_cpu_s"]),
                f"{figure(row['cpu_ratio'])} times",
            ]


TOOLS = ("kmatch hamming", "kmatch edit", "Sassy", "seqkit locate")
GENOMES = {"ecoli.fa": "*E. coli*, 4.6 Mbp", "chr20.fa": "human chromosome 20, 63 Mbp"}


def tool_seconds(text, panel):
    """Seconds of the CPU by tool, of those that were not stopped."""
    return {
        row["tool"]: row["cpu_s"]
        for row in rows_of("cpu-tools")
        if (row["text"], row["panel"]) == (text, panel) and row.get("seconds")
    }


def tools():
    """Whole processes of several tools; seconds of the CPU."""
    yield ["genome", "patterns", *TOOLS]
    for text, genome in GENOMES.items():
        for count in (1, 64):
            seconds = tool_seconds(text, f"{count} cut")
            cells = [figure(seconds[tool]) if tool in seconds else "–" for tool in TOOLS]
            yield [genome, str(count), *cells]


def in_memory(name):
    """Searches in memory on one thread, real DNA."""

    def table():
        yield ["search", "patterns", "Mbp", "hits", "kmatch", "Sassy", "kmatch is faster"]
        for row in rows_of(name):
            if row.get("ratio"):
                assert row["equal"] == "yes"
                command, sizes, *pam = row["search"].split()
                yield [
                    f"`{command}` {' '.join([sizes, *pam])}",
                    row["panel"],
                    figure(row["letters"] / 1e6),
                    f"{row['hits']:,}",
                    figure(row["rate"]),
                    figure(row["sassy_rate"]),
                    f"{figure(row['ratio'])} times",
                ]

    return table


def sizes():
    yield ["search", "seconds", "MB", "hits"]
    for row in rows_of("cpu-scale"):
        yield [row["case"], figure(row["seconds"]), figure(row["mb"]), f"{row['hits']:,}"]


def threads():
    """Rates of calls on more and more threads, and what a loop that only computes makes of them."""
    yield ["threads", "`edit` 23,3", "share", "`hamming` 20,3", "share", "the loop's share"]
    for row in rows_of("xeon-threads"):
        cells = [str(row["threads"])]
        for search in ("edit", "hamming"):
            cells += [figure(row[search]), f"{row[f'{search}_share']:.2f}"]
        yield [*cells, f"{row['machine']:.2f}"]


def gpu_kernels():
    """Kernels with the text of 2.1 Gbp on the device."""
    yield ["search", "m, k", "patterns", "Tbp·pattern/s", "TCUPS", "hits"]
    for row in rows_of("nvidia-h200-kernels", "benchmark"):
        asked = re.fullmatch(r"(\w+) m=(\d+) k=(\d+) patterns=(\d+)", row["name"])
        if asked and row["text"] > 2e9:
            assert row["equal"]
            command, m, k, count = asked.groups()
            rates = (figure(row["tbp_pattern_s"]), figure(row["tcups"]))
            yield [f"`{command}`", f"{m}, {k}", count, *rates, f"{row['hits']:,}"]


def gpu_primers():
    yield ["target × background, K", "seconds", "TCUPS"]
    for row in rows_of("nvidia-h200-primer"):
        assert row["equal"]
        yield [row["name"].removeprefix("primers "), figure(row["seconds"]), figure(row["tcups"])]


def packed():
    """A packed genome of 3.1 Gbp, whole processes on an H200."""
    yield ["search", "patterns", "seconds", "MB"]
    for row in rows_of("nvidia-h200-packed"):
        if row["strands"] == 2:
            seconds = statistics.median(row["seconds"])
            cells = (figure(seconds), figure(row["own_memory_mb"]))
            yield [f"`{row['search']}`", str(row["patterns"]), *cells]


def published():
    """kmatch beside published algorithms on one GPU."""
    yield ["command", "algorithm", "paper", "Gbp·pattern/s", "kmatch is faster"]
    for row in rows_of("nvidia-h200-bench"):
        whole_text = row["size"] == row["asked"] and row["command"] != "primer"
        if row["device"] == "cuda" and whole_text:
            assert row["equal"]
            times = "" if row["of_engine"] == 1 else f"{figure(1 / row['of_engine'])} times"
            names = (f"`{row['command']}`", f"`{row['algorithm']}`", row["paper"] or "kmatch")
            yield [*names, figure(row["bp_pattern_s"] / 1e9), times]


def losses():
    """Rows of the papers' sizes in which a published kernel is the faster one."""
    yield ["sizes of", "rows", "a published kernel is faster in", "with patterns of"]
    for paper in ("liu2012", "pmasm2017", "wspasm2017", "nakano2012", "feuser2018"):
        rows = [row for row in rows_of(f"nvidia-h200-{paper}") if row["paper"]]
        lost = [row for row in rows if (row["of_engine"] or 0) > 1]
        lengths = ", ".join(str(m) for m in sorted({row["m"] for row in lost}))
        all_rows = len(rows_of(f"nvidia-h200-{paper}"))
        yield [paper, str(all_rows), str(len(lost)), f"{lengths} letters" if lost else "–"]


def speed():
    """The README's: real DNA, losses included."""
    yield ["", "search", "patterns", "text", "beside", "kmatch is faster"]
    for name, search, panel in (
        ("cpu-hamming", "hamming 20,3", "100 cut"),
        ("cpu-edit", "edit 20,3", "100 cut"),
        ("cpu-edit", "edit 20,4", "300 repeats"),
    ):
        row = only(name, search=search, panel=panel)
        yield ["in memory", searched(row), panel, chromosome(row), "Sassy", times(row["ratio"])]
    for search, panel in (
        ("edit 20,4", "300 repeats"),
        ("multi 20,4 NGG", "1,000 touching repeats"),
        ("multi 20,3 NGG", "20,000 before NGG"),
    ):
        row = next(row for row in rows_of("cpu-whole") if is_of(row, search=search, panel=panel))
        cells = (searched(row), panel, chromosome(row), "Sassy", times(row["cpu_ratio"]))
        yield ["process", *cells]
    for text, count in (("chr20.fa", "64"), ("chr20.fa", "1"), ("ecoli.fa", "1")):
        seconds = tool_seconds(text, f"{count} cut")
        ratio = times(seconds["Sassy"] / seconds["kmatch edit"])
        yield ["process", "`edit -k 3`", f"{count} cut", GENOMES[text], "Sassy", ratio]
    (dense,) = [
        row
        for row in rows_of("nvidia-h200-kernels", "benchmark")
        if row["name"].startswith("dense, 6 patterns of 7, k=6")
    ]
    text = f"random, {figure(dense['text'] / 1e6)} Mbp"
    cells = ("`multi -k 6`", "6 of 7 letters", text, "`pmasm-thread`", times(dense["ratio"]))
    yield ["GPU, call", *cells]


def is_of(row, **values):
    return all(row[key] == value for key, value in values.items())


def only(name, **values):
    """The row of a record that has these values."""
    (row,) = [row for row in rows_of(name) if is_of(row, **values)]
    return row


def chromosome(row):
    return f"human chromosome 20, {figure(row['letters'] / 1e6)} Mbp"


def times(ratio):
    """How many times as fast; bold where kmatch loses."""
    return f"{figure(ratio)} times" if ratio >= 1 else f"**{figure(ratio)} times**"


TABLES = {
    "speed": speed,
    "whole": whole,
    "tools": tools,
    "hamming": in_memory("cpu-hamming"),
    "edit": in_memory("cpu-edit"),
    "sizes": sizes,
    "threads": threads,
    "gpu-kernels": gpu_kernels,
    "gpu-primers": gpu_primers,
    "packed": packed,
    "published": published,
    "losses": losses,
}
