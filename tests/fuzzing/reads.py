"""Reads with barcodes, as files and words of `demux` and `filter`, against an oracle's sites."""

import shutil
import warnings
from contextlib import ExitStack
from dataclasses import dataclass, field
from unittest import mock

import naive
import naive_reads
from hypothesis import strategies as st
from support.commands import compressed, fasta, here

from fuzzing.searches import PATCHES, Wrong, compare
from kmatch.apps import reads as searching
from kmatch.engine.geometry import Layout
from kmatch.sequences import reads as reading

SMALL = {
    "block": (((reading, "BLOCK"),), (1, 7, 64, 500)),
    "many": (((searching, "MANY"),), (0, 3)),
    **{name: PATCHES[name] for name in ("batch", "capacity", "chunk", "layout", "lines")},
}
LETTERS = "ACGTACGTACGTACGTNacgtnRU"


def record(form, title, letters, width=0, newline="\n"):
    """The bytes of a read in a file; width: of lines of FASTA, 0 for one."""
    lines = [f">{title}"] if form == "fa" else [f"@{title}", letters, "+", quality(letters)]
    if form == "fa" and letters:
        width = width or len(letters)
        lines += [letters[i : i + width] for i in range(0, len(letters), width)]
    return "".join(line + newline for line in lines).encode()


def quality(letters):
    """Qualities that tell each letter's place, some of which are @ and +."""
    return "".join(chr(33 + place * 7 % 60) for place in range(len(letters)))


@dataclass(frozen=True)
class ReadCase:
    """reads: (title, letters); barcodes: (name, letters); options: margin, within, trim, invert;
    form: `fa` or `fq`; kind: of compression; mates: letters of the second reads, None without."""

    command_name: str
    reads: list
    barcodes: list
    k: int | str
    edit: bool
    options: dict
    form: str = "fq"
    width: int = 0
    newline: str = "\n"
    kind: str = ""
    suffix: str = ""
    mates: list | None = None
    threads: int = 1
    device: str = "cpu"
    patches: dict = field(default_factory=dict)

    @property
    def limits(self):
        """The k of each barcode."""
        if isinstance(self.k, int):
            return [self.k] * len(self.barcodes)
        return [len(letters) * int(self.k[:-1]) // 100 for _, letters in self.barcodes]

    def records(self, mates=False):
        """The bytes of each read, or of its mate."""
        texts = self.mates if mates else [letters for _, letters in self.reads]
        titles = [title for title, _ in self.reads]
        if mates:
            titles = [f"{title.split()[0]} of a pair" for title in titles]
        rows = zip(titles, texts, strict=True)
        return [record(self.form, *row, self.width, self.newline) for row in rows]

    def command(self, folder):
        """(arguments, standard input) of the command line; writes its files."""
        data = b"".join(self.records())
        path = "-"
        if self.kind != "stdin":
            path = folder / f"reads.{self.form}{self.suffix}"
            path.write_bytes(compressed(self.kind, data) if self.kind else data)
        (folder / "barcodes.fa").write_bytes(fasta(self.barcodes))
        words = [self.command_name, path, folder / "barcodes.fa", "-k", self.k]
        words += ["--edit"] * self.edit + ["--threads", self.threads, "--device", self.device]
        if self.mates is not None:
            mates = folder / f"mates.{self.form}"
            mates.write_bytes(b"".join(self.records(mates=True)))
            words += ["--mates", mates]
        for name, value in self.options.items():
            if value:
                words += [f"--{name}"] if value is True else [f"--{name}", value]
        if self.command_name == "demux":
            shutil.rmtree(folder / "split", ignore_errors=True)
            words += ["--split", folder / "split", "--summary", folder / "summary"]
            words += ["-o", folder / "table.tsv"]
        else:
            words += ["--others", folder / f"others.{self.form}", "--hits", folder / "hits.bed"]
            words += ["-o", folder / f"kept.{self.form}{self.suffix}"]
            words += ["--mates-out", folder / f"kept2.{self.form}"] * (self.mates is not None)
        return words, b"" if self.kind != "stdin" else data

    def check(self, folder):
        """Raise Wrong where the command does not write what the oracle does; folder: for files."""
        arguments, stdin = self.command(folder)
        with ExitStack() as stack, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, value in self.patches.items():
                value = Layout(**value) if name == "layout" else value
                for module, constant in SMALL[name][0]:
                    stack.enter_context(mock.patch.object(module, constant, value))
            result = here(*arguments, stdin=stdin)
        if result.status or b"Traceback" in result.err:
            raise Wrong(f"exit status {result.status}: {result.err.decode()}")
        check = self._check_demux if self.command_name == "demux" else self._check_filter
        check(folder, result)

    def _check_demux(self, folder, result):
        how = {name: self.options[name] for name in ("within", "margin")}
        found = [
            naive_reads.demux(letters, self.barcodes, self.limits, self.edit, **how)
            for _, letters in self.reads
        ]
        names = [title.split()[0] for title, _ in self.reads]
        lengths = [len(letters) for _, letters in self.reads]
        compare(
            (folder / "table.tsv").read_bytes(), naive_reads.table(names, lengths, found).encode()
        )
        summary = naive_reads.summary(self.barcodes, max(self.limits), found)
        compare((folder / "summary").read_bytes(), summary.encode())
        counts = [sum(read.status == status for read in found) for status in STATUSES]
        said = ", ".join(f"{n} {status}" for n, status in zip(counts, STATUSES, strict=True))
        last = result.err.decode().splitlines()[-1]
        if not last.startswith(f"kmatch: {said} of "):
            raise Wrong(f"{last!r}, and not {said!r}")
        self._check_split(folder, found)

    def _check_split(self, folder, found):
        written, mates = self.records(), self.records(mates=True) if self.mates is not None else []
        if self.options["trim"]:
            for row, read in enumerate(found):
                title, letters = self.reads[row]
                first, last = naive_reads.kept(read, len(letters))
                if read.status == "assigned":
                    whole = record(self.form, title, letters, newline=self.newline)
                    written[row] = cut(whole, self.form, first, last, self.newline)
        known = [*dict.fromkeys(name for name, _ in self.barcodes), *STATUSES[1:]]
        goes = [read.barcode if read.status == "assigned" else read.status for read in found]
        first = {"fa": ".fasta.gz", "fq": ".fastq.gz"}[self.form]
        if self.kind != "stdin":
            first = f".{self.form}{self.suffix}"
        files = {first: written}
        if self.mates is not None:
            files = {f"_1{first}": written, f"_2.{self.form}": mates}
        wanted = {}
        for ending, rows in files.items():
            for name in known:
                mine = [row for row, to in zip(rows, goes, strict=True) if to == name]
                wanted[name + ending] = b"".join(mine)
        paths = {path.name: path for path in (folder / "split").iterdir()}
        if paths.keys() != wanted.keys():
            raise Wrong(f"files {sorted(paths)}, and not {sorted(wanted)}")
        for name, data in wanted.items():
            compare(plain(paths[name]), data)

    def _check_filter(self, folder, result):
        patterns = [letters for _, letters in self.barcodes]
        hits, kept = [], []
        for row, (_, letters) in enumerate(self.reads):
            found = []
            for number, (pattern, k) in enumerate(zip(patterns, self.limits, strict=True)):
                for start, end, _, distance, strand in naive_reads.sites(
                    letters, [pattern], k, self.edit
                ):
                    found.append((row, start, end, number, distance, strand))
            hits += naive.in_order(found)
            kept.append(bool(found) != bool(self.options["invert"]))
        names = [(title.split()[0], letters) for title, letters in self.reads]
        lines = naive.bed(names, [name for name, _ in self.barcodes], patterns, hits)
        compare((folder / "hits.bed").read_bytes(), lines.encode())
        outputs = {f"kept.{self.form}{self.suffix}": True, f"others.{self.form}": False}
        for name, which in outputs.items():
            rows = zip(self.records(), kept, strict=True)
            compare(
                plain(folder / name), b"".join(row for row, is_kept in rows if is_kept == which)
            )
        if self.mates is not None:
            rows = zip(self.records(mates=True), kept, strict=True)
            data = b"".join(row for row, is_kept in rows if is_kept)
            compare(plain(folder / f"kept2.{self.form}"), data)


STATUSES = ("assigned", "ambiguous", "unassigned")


def cut(whole, form, first, last, newline):
    """A record of one line of letters with a part of them."""
    lines = whole.decode().split(newline)
    for line in (1, 3) if form == "fq" else (1,):
        lines[line] = lines[line][first:last]
    return newline.join(lines).encode()


def plain(path):
    """The bytes of a file that may be compressed."""
    from xopen import xopen

    with xopen(path, "rb", threads=0) as handle:
        return handle.read()


@st.composite
def read_cases(draw, name, device):
    """Reads that hold barcodes with errors, on both strands, and some that hold none."""
    rng = draw(st.randoms(use_true_random=False))
    least = rng.choice([2, 4, 8, 8, 22])
    barcodes, letters = [], set()
    for number in range(rng.randint(1, 5)):
        written = "".join(rng.choice(LETTERS[:-6]) for _ in range(rng.randint(least, least + 8)))
        if number and rng.random() < 0.2:
            written = naive.reverse_complement(barcodes[0][1])
        if written.upper().replace("U", "T") not in letters:
            letters.add(written.upper().replace("U", "T"))
            barcodes.append((f"b{number % 4}", written))
    shortest = min(len(written) for _, written in barcodes)
    margin = rng.randint(1, min(shortest - 1, 3)) if name == "demux" else 1
    k = rng.randint(0, max(shortest - margin - 1, 0)) if shortest < 5 else rng.choice([0, 1, 2])
    k = min(k, shortest - margin)
    if rng.random() < 0.2 and margin < shortest // 2:
        k = rng.choice(["10%", "25%"])
    near = [written.upper().replace("U", "T") for _, written in barcodes]
    near += [naive.reverse_complement(written) for written in near]

    def text():
        parts = []
        for _ in range(rng.choice([0, 1, 1, 2, 3])):
            part = list(rng.choice(near))
            for _ in range(rng.choice([0, 0, 1, 2])):
                place = rng.randrange(len(part) + 1)
                part[place : place + rng.randint(0, 1)] = rng.choices("ACGTN", k=rng.randint(0, 1))
            parts += ["".join(rng.choices(LETTERS, k=rng.choice([0, 1, 5, 20, 80]))), "".join(part)]
        parts.append("".join(rng.choices(LETTERS, k=rng.choice([0, 0, 3, 30, 150]))))
        whole = "".join(parts)
        return whole[:300] if rng.random() < 0.9 else whole[: rng.randint(0, least + 8)]

    titles = [
        f"r{row}{rng.choice(['', ' of x', chr(9) + 'y'])}" for row in range(rng.randint(1, 9))
    ]
    reads = [(title, text()) for title in titles]
    within = None
    if name == "demux" and rng.random() < 0.4:
        within = max(len(written) for _, written in barcodes) + rng.choice([0, 1, 6])
    options = {"invert": rng.random() < 0.3}
    if name == "demux":
        options = {"margin": margin, "within": within, "trim": rng.random() < 0.6}
    kind = rng.choice(["", "", "stdin", "gz", "bgzf", "zst"])
    suffix = {"gz": ".gz", "bgzf": ".gz", "zst": ".zst"}.get(kind, "")
    form = rng.choice(["fa", "fq"])
    if kind == "stdin":
        suffix = ""
    patches = {each: rng.choice(SMALL[each][1]) for each in rng.sample(sorted(SMALL), 3)}
    mates = [text() for _ in reads] if rng.random() < 0.3 else None
    return ReadCase(
        name, reads, barcodes, k, rng.random() < 0.6, options, form, rng.choice([0, 0, 3, 60]),
        rng.choice(["\n", "\n", "\r\n"]), kind, suffix, mates, rng.randint(1, 3), device, patches,
    )  # fmt: skip
