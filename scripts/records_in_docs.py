"""The tables of the README and of docs/ that are made of records in scripts/results.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`; `with_tables` writes those of a
text anew, and a test holds every document against it.
"""

import json
import re
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
    if number < 0.1:
        return f"{number:.2g}"
    return f"{number:.2f}" if number < 1 else f"{number:.1f}"


TEXTS = {"20": "human chromosome 20", "K-12-MG1655": "*E. coli*"}
SASSY = "0.3.0"
PEERS = {"package": "of PyPI", "program": "native"}
UNITS = {1: "cpu", 2: "s"}  # by threads: seconds of the CPU, and seconds


def searched(row):
    """A search as it is asked for: the command, k and the PAM."""
    command, sizes, *pam = row["search"].split()
    _, k = sizes.split(",")
    return f"`{command} -k {k}{' --pam ' + pam[0] if pam else ''}`"


def letters(row):
    return row["search"].split()[1].split(",")[0]


def text_of(row):
    return f"{TEXTS[row['text']]}, {figure(row['letters'] / 1e6)} Mbp"


def in_memory(count):
    """`edit` on so many threads beside Sassy; hits equal."""

    def table():
        unit = UNITS[count]
        ours = ["search", "letters", "patterns", "hits", "kmatch, s", "with CIGARs, s"]
        theirs = [f"Sassy {build}, s" for build in PEERS.values()]
        yield [*ours, *theirs, *(f"faster than {build}" for build in PEERS.values())]
        for row in rows_of("cpu"):
            if "program_s" in row and row["threads"] == count:
                assert row["equal"] == "yes"
                assert all(SASSY in row[peer] for peer in PEERS)
                theirs = [row[f"{peer}_{unit}"] for peer in PEERS]
                yield [
                    searched(row),
                    letters(row),
                    row["panel"],
                    f"{row['hits']:,}",
                    figure(row[f"kmatch_{unit}"]),
                    figure(row[f"cigars_{unit}"]),
                    figure(theirs[0]),
                    f"{figure(theirs[1])} ({row['program'].split()[2]})",
                    *(times(seconds / row[f"cigars_{unit}"]) for seconds in theirs),
                ]

    return table


def panels():
    """Searches for mismatches and beside a PAM, in memory, on one thread and two."""
    yield ["search", "letters", "patterns", "hits", "1 thread, s", "2 threads, s", "Gbp·pattern/s"]
    rows = [row for row in rows_of("cpu") if "program_s" not in row]
    for one in (row for row in rows if row["threads"] == 1):
        asked = {key: one[key] for key in ("search", "panel")}
        (two,) = [row for row in rows if is_of(row, threads=2, **asked)]
        seconds = [figure(row["kmatch_s"]) for row in (one, two)]
        cells = (searched(one), letters(one), one["panel"], f"{one['hits']:,}")
        yield [*cells, *seconds, figure(one["rate"])]


WHOLE = {"edit": "edit -k 3", "hamming": "hamming -k 3", "multi": "multi -k 4 --pam NGG",
         "pcr": "pcr -k 2"}  # fmt: skip


def processes(name="cpu-whole"):
    """Pairs of rows of whole processes: kmatch's, and that of each tool beside it."""
    for row in rows_of(name):
        if row["tool"].startswith("kmatch "):
            ours = row
        else:
            assert row["equal"] == "yes"
            yield ours, row


def asked(ours):
    return f"`{WHOLE[ours['tool'].split()[1]]}`"


def whole(name, unit):
    """Whole processes beside those of other tools; seconds, or those of the CPU."""

    def table():
        yield ["text", "search", "patterns", "hits", "kmatch, s", "beside", "s", "kmatch is faster"]
        for ours, row in processes(name):
            cells = (text_of(ours), asked(ours), ours["panel"], f"{ours['hits']:,}")
            seconds = (figure(ours[unit]), row["tool"], figure(row[unit]))
            yield [*cells, *seconds, times(row[unit] / ours[unit])]

    return table


TASKS = {
    "beside NGG": ("312 guides cut before NGG, both strands", "edit -k {} --pam NGG --report ends"),
    "forward": ("the same guides with NGG behind, strand `+`", "edit -k {} --strand +"),
    "reads": ("96 barcodes of 24 letters, 100,000 reads", "demux -k {} --edit"),
}


def library():
    """Whole processes beside a program that links Sassy's library, seconds of the CPU."""
    yield ["task", "kmatch", "found", "kmatch, s", "Sassy's library, s", "kmatch is faster"]
    rows = rows_of("cpu-library")
    for ours, theirs in zip(rows[::2], rows[1::2], strict=True):
        assert theirs["equal"] == "yes"
        task, command = TASKS[ours["task"]]
        asked = f"`{command.format(ours['k'])}`"
        seconds = [figure(row["cpu"]) for row in (ours, theirs)]
        faster = times(theirs["cpu"] / ours["cpu"])
        yield [task, asked, f"{ours['hits']:,}", *seconds, faster]


def sizes():
    yield ["search", "seconds", "MB", "hits"]
    for row in rows_of("cpu-scale"):
        yield [row["case"], figure(row["seconds"]), figure(row["mb"]), f"{row['hits']:,}"]


def human():
    """Whole processes on a genome as large as a human one, on two threads; a row of another
    program has its name."""
    yield ["job", "command", "CPU, s", "memory, MB", "rows", "MB written"]
    for row in rows_of("cpu-human"):
        asked = row["program"] if "program" in row else f"`kmatch {row['command']}`"
        cells = [row["job"], asked, figure(row["cpu"]), figure(row["mb"])]
        rows = "" if row["hits"] is None else f"{row['hits']:,}"
        yield [*cells, rows, f"{row['mb_written']:,}"]


def cpu_primers():
    """Whole processes of `primer` on two threads, both strands of the background."""
    yield ["target", "background", "k", "CPU, s", "memory, MB", "primers"]
    for row in rows_of("cpu-primers"):
        numbers = (str(row["k"]), figure(row["cpu"]), figure(row["mb"]), f"{row['primers']:,}")
        yield [row["target"], row["background"], *numbers]


def gpu_human():
    """Whole processes on a genome as large as a human one, on 16 cores and a GPU; a row of another
    program has its name."""
    yield ["job", "search", "genome", "device", "s", "CPU, s", "MB", "MB written", "1.1.0, s"]
    for row in rows_of("gpu-human"):
        asked = row.get("program", f"`{row['search']}`")
        cells = (row["job"], asked, row["genome"], row["device"])
        spent = (figure(row["seconds"]), figure(row["cpu"]), f"{row['mb']:,}")
        before = "" if row["before"] is None else figure(row["before"])
        yield [*cells, *spent, f"{row['mb_written']:,.0f}", before]


def gpu_kernels():
    """Kernels with the text of 2.1 Gbp on the device."""
    yield ["search", "m, k", "patterns", "Tbp·pattern/s", "TCUPS", "hits"]
    for row in rows_of("gpu", "benchmark"):
        asked = re.fullmatch(r"(\w+) m=(\d+) k=(\d+) patterns=(\d+)", row["name"])
        if asked and row["text"] > 2e9:
            assert row["equal"]
            command, m, k, count = asked.groups()
            rates = (figure(row["tbp_pattern_s"]), figure(row["tcups"]))
            yield [f"`{command}`", f"{m}, {k}", count, *rates, f"{row['hits']:,}"]


def gpu_primers():
    yield ["target × background, K", "seconds", "TCUPS"]
    for row in rows_of("gpu", "benchmark_primers"):
        assert row["equal"]
        yield [row["name"].removeprefix("primers "), figure(row["seconds"]), figure(row["tcups"])]


def published():
    """kmatch beside published algorithms on one GPU."""
    yield ["command", "algorithm", "paper", "Gbp·pattern/s", "kmatch is faster"]
    for row in rows_of("gpu-bench"):
        if row["device"] == "cuda" and row["size"] >= 1 << 22:
            assert row["equal"]
            times = "" if row["of_engine"] == 1 else f"{figure(1 / row['of_engine'])} times"
            names = (f"`{row['command']}`", f"`{row['algorithm']}`", row["paper"] or "kmatch")
            yield [*names, figure(row["bp_pattern_s"] / 1e9), times]


def losses():
    """Rows of the papers' sizes in which a published kernel is the faster one."""
    yield ["sizes of", "rows", "a published kernel is faster in", "with patterns of"]
    for paper in ("liu2012", "pmasm2017", "wspasm2017", "nakano2012", "feuser2018"):
        rows = [row for row in rows_of(f"gpu-{paper}") if row["paper"]]
        lost = [row for row in rows if (row["of_engine"] or 0) > 1]
        lengths = ", ".join(str(m) for m in sorted({row["m"] for row in lost}))
        all_rows = len(rows_of(f"gpu-{paper}"))
        yield [paper, str(all_rows), str(len(lost)), f"{lengths} letters" if lost else "–"]


def speed():
    """The README's: real DNA, losses included."""
    yield ["", "search", "patterns", "text", "beside", "kmatch is faster"]
    text = text_of(record("cpu") | {"search": ""})
    for count, search, panel in (
        (1, "edit 20,3", "100 cut"),
        (1, "edit 20,3", "1 cut"),
        (1, "edit 20,4", "300 repeats"),
        (2, "edit 20,4", "300 repeats"),
    ):
        row = only("cpu", search=search, panel=panel, threads=count)
        ratio = row[f"program_{UNITS[count]}"] / row[f"cigars_{UNITS[count]}"]
        place = f"in memory, {count} thread{'s' * (count > 1)}"
        yield [place, searched(row), panel, text, "Sassy", times(ratio)]
    wanted = {"20": ("100 before NGG", "300 repeats"), "K-12-MG1655": ("1 cut", "20 pairs")}
    for ours, row in processes():
        if ours["panel"] in wanted[ours["text"]] and ours["tool"] != "kmatch hamming":
            ratio = times(row["cpu"] / ours["cpu"])
            yield ["process", asked(ours), ours["panel"], text_of(ours), row["tool"], ratio]


def is_of(row, **values):
    return all(row[key] == value for key, value in values.items())


def only(name, **values):
    """The row of a record that has these values."""
    (row,) = [row for row in rows_of(name) if is_of(row, **values)]
    return row


def times(ratio):
    """How many times as fast; bold where kmatch loses."""
    return f"{figure(ratio)} times" if ratio >= 1 else f"**{figure(ratio)} times**"


TABLES = {
    "speed": speed,
    "whole": whole("cpu-whole", "cpu"),
    "gpu-whole": whole("gpu-whole", "seconds"),
    "one-thread": in_memory(1),
    "two-threads": in_memory(2),
    "panels": panels,
    "library": library,
    "sizes": sizes,
    "human": human,
    "gpu-human": gpu_human,
    "cpu-primers": cpu_primers,
    "gpu-kernels": gpu_kernels,
    "gpu-primers": gpu_primers,
    "published": published,
    "losses": losses,
}
