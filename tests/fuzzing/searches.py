"""A search, the files and words that it is asked for with, and whether it finds what it should."""

import gzip
import io
import re
import warnings
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from unittest import mock

from support.commands import compressed, fasta, fastq, genbank, here, twobit

import kmatch
from kmatch import arrays
from kmatch.apps import joins, primer
from kmatch.engine import ways
from kmatch.engine.cpu import engine
from kmatch.engine.cpu import primer as cpu_primer
from kmatch.engine.geometry import Layout
from kmatch.packed.writer import write_packed
from kmatch.results import formats, limit
from kmatch.search import chunks, edit
from kmatch.search import scan as dense
from kmatch.sequences import fasta as fasta_reader

COMPRESSED = ("gz", "bgzf", "bz2", "xz", "zst")
GENOMES = ("fasta", "stdin", "packed", "chunks", "2bit", "genbank", "fastq", "fastq.gz")
# Constants, made so small that tiny cases meet what only large ones would: where they stand, and
# what they may be.
PATCHES = {
    "batch": (((dense, "BATCH"),), (1, 2, 10)),
    "unpacked": (((edit, "UNPACKED"),), (0, 1, 1 << 40)),
    "key bits": (((arrays, "KEY_BITS"),), (0, 12)),
    "few": (((limit, "FEW"),), (1, 7)),
    "lines": (((formats, "ROWS"),), (1, 2, 5)),
    "strip": (((cpu_primer, "HEIGHT"),), (8, 16)),
    "columns": (((cpu_primer, "BLOCK"),), (1, 7, 30)),
    "part": (((primer, "PART"),), (1, 30)),
    "products": (((joins, "PRODUCTS"),), (1, 3)),
    "block": (((fasta_reader, "BLOCK"),), (1, 7, 64)),
    "capacity": (((engine, "CAPACITY"), (dense, "CAPACITY")), (1, 20, 50, 200)),
    "chunk": (((chunks, "LENGTH"),), (7, 60, 333)),
    "tried": (((ways, "TRIED"), (ways, "TRIED_BESIDE"), (ways, "TRIAL")), (1,)),
    "candidates": (((ways, "SHARE"),), (1 << 40,)),
    "filtered": (((ways, "FEW_SURVIVORS"),), (1e9,)),
    "survivors": (((ways, "RARE"),), (1, 1 << 40)),
    "layout": (
        ((engine, "LAYOUT"),),
        (
            {"length": 5, "reading_length": 13, "reading_halos": 0, "words": 1},
            {"length": 64, "reading_length": 65, "reading_halos": 0, "words": 2},
            {"length": 100, "reading_length": 100, "reading_halos": 1},
            {"length": 333, "reading_length": 400},
        ),
    ),
}


class Wrong(Exception):
    """A search did not do what it has to do."""


@dataclass(frozen=True)
class Search:
    """A search for patterns in records, or for primers in records that `patterns` do not hold.

    options: those of the public function; way: `command` or `api`; source: what the genome is read
    from; panel: what the patterns are read from by a command; roles: of primers, (pair, "F" or "R")
    each; output: the suffix of a file, or None; summary: `beside` the table, `only`, or None;
    files: of a list of genomes, the records in each and what it is; patches: of PATCHES.
    """

    problem: str
    records: list
    patterns: list
    k: int | str = 0
    options: dict = field(default_factory=dict)
    patches: dict = field(default_factory=dict)
    way: str = "command"
    source: str = "fasta"
    panel: str = "text"
    roles: list = field(default_factory=list)
    threads: int = 1
    device: str = "cpu"
    form: str = "tsv"
    output: str | None = None
    summary: str | None = None
    files: tuple = ()

    @property
    def named(self):
        """The records as (name, sequence) pairs."""
        return [(f"r{number}", text) for number, text in enumerate(self.records)]

    @property
    def background(self):
        return [(f"b{number}", text) for number, text in enumerate(self.patterns)]

    @property
    def names(self):
        """Names of the patterns, of which two may be the same."""
        if self.way == "api" or self.panel == "words":
            return self.patterns
        return [f"p{number % 3}" for number in range(len(self.patterns))]

    @property
    def pair_names(self):
        pairs = 1 + max((pair for pair, _ in self.roles), default=-1)
        first = "pair_{}" if self.panel == "words" and self.way == "command" else "q{}"
        return [first.format(number + (first != "q{}")) for number in range(pairs)]

    @property
    def primer_names(self):
        """Names of the primers; alternates are numbered."""
        counts, found = {}, []
        for pair, role in self.roles:
            before = counts[pair, role] = counts.get((pair, role), -1) + 1
            found.append(f"{self.pair_names[pair]}_{role}" + f"_alt{before}" * (before > 0))
        return found

    @property
    def genomes(self):
        """The search in each genome of a list."""
        first = 0
        for many, source in self.files:
            records = self.records[first : first + many]
            yield replace(self, records=records, source=source, files=())
            first += many

    def check(self, folder):
        """Raise Wrong where the search does not find what the oracle does; folder: for files."""
        with ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            for name, value in self.patches.items():
                value = Layout(**value) if name == "layout" else value
                for home, constant in PATCHES[name][0]:
                    stack.enter_context(mock.patch.object(home, constant, value))
            ask = {"command": by_command, "api": by_function}[self.way]
            for found, wanted in ask(self, folder):
                compare(found, wanted)

    def command(self, folder):
        """(arguments, standard input) of the command line; writes its input files."""
        stdin = b""
        path = f"@{write_list(self, folder)}" if self.files else write_genome(self, folder)
        if self.source == "stdin":
            path, stdin = "-", path.read_bytes()
        words = [self.problem, path, *self._panel_words(folder)]
        if self.problem != "best":
            words += ["-k", self.k]
        for name, value in self.options.items():
            words += option_words(name, value, folder)
        words += ["--device", self.device, "-t", self.threads]
        words += [] if self.summary == "only" else ["--format", self.form]
        words += ["-o", folder / self.output] if self.output else []
        if self.summary == "only":
            words.append("--summary-only")
        elif self.summary:
            words += ["--summary", folder / "summary"]
        return words, stdin

    def _panel_words(self, folder):
        if self.panel == "words" and self.problem == "pcr":
            pairs = zip(self.patterns[::2], self.patterns[1::2], strict=True)
            return [word for pair in pairs for word in ("-p", *pair)]
        if self.panel == "words":
            return [word for pattern in self.patterns for word in ("-p", pattern)]
        path = folder / "patterns"
        path.write_bytes(panel_data(self))
        return [path]


def most(k, written):
    """The most differences that any pattern may have."""
    return max(distances(k, written))


def distances(k, written):
    """How many differences each pattern may have."""
    if isinstance(k, int):
        return [k] * len(written)
    share = Fraction(k.rstrip("%")) / 100
    return [int(len(pattern) * share) for pattern in written]


def compare(found, wanted):
    if found == wanted:
        return
    found, wanted = (set(table.decode().splitlines()) for table in (found, wanted))
    lines = ["the table is not what the oracle says"]
    lines += [f"  lost: {line}" for line in sorted(wanted - found)[:5]]
    lines += [f"  made up: {line}" for line in sorted(found - wanted)[:5]]
    if found == wanted:
        lines.append("  the order of the rows, or how often they stand there")
    raise Wrong("\n".join(lines))


def by_function(search, folder):
    """Yield (found, wanted) of the public function, twice in one Genome."""
    from fuzzing import oracles

    options = search.options | {"device": search.device, "threads": search.threads}
    if search.source == "memory":
        genome = kmatch.Genome.from_records(search.named)
    else:
        genome = kmatch.Genome(str(write_genome(search, folder)))
    other = search.patterns
    if search.problem == "primer":
        other = kmatch.Genome.from_records(search.background)
    if search.problem == "pcr":
        other = {name: ([], []) for name in search.pair_names}
        for (pair, role), written in zip(search.roles, search.patterns, strict=True):
            other[search.pair_names[pair]][role == "R"].append(written)
    arguments, wanted = () if search.problem == "best" else (search.k,), oracles.table(search)
    for _ in range(2):
        found, out = (
            getattr(kmatch, search.problem)(genome, other, *arguments, **options),
            io.BytesIO(),
        )
        getattr(found, f"to_{search.form}")(out)
        yield out.getvalue(), wanted


def by_command(search, folder):
    """Yield (found, wanted) of the command line."""
    from fuzzing import oracles

    arguments, stdin = search.command(folder)
    result = here(*arguments, stdin=stdin)
    if result.status or b"Traceback" in result.err:
        raise Wrong(f"exit status {result.status}: {result.err.decode()}")
    written = (folder / search.output).read_bytes() if search.output else result.out
    if search.output == "out.gz":
        written = gzip.decompress(written)
    if search.form == "sam":
        written = re.sub(rb"\tCL:kmatch .*", b"", written)
    if search.summary == "only":
        yield written, oracles.summary(search)
        return
    if search.files:
        paths = (folder / "list").read_text().splitlines()
        yield written, oracles.listed(search, paths)
    else:
        yield written, oracles.table(search)
    if search.summary:
        yield (folder / "summary").read_bytes(), oracles.summary(search)


def write_genome(search, folder):
    """Write the genome as its source says; returns the path."""
    kind, path = search.source, folder / "genome"
    if kind in ("2bit", "genbank"):
        path.write_bytes({"2bit": twobit, "genbank": genbank}[kind](search.named))
        return path
    write = fastq if kind.startswith("fastq") else fasta
    data = write([(f"{name} a title", text) for name, text in search.named])
    kind = kind.removeprefix("fastq.")
    path.write_bytes(compressed(kind, data) if kind in COMPRESSED else data)
    if kind == "chunks":  # a packed genome of many
        with open(folder / "genome.kmatch", "wb") as handle, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of records without letters
            write_packed(kmatch.Genome(path).parts(), handle, length=100, halo=64)
        return folder / "genome.kmatch"
    if kind == "packed":
        result = here("pack", path, "-o", folder / "genome.kmatch")
        if result.status:
            raise Wrong(f"pack: exit status {result.status}: {result.err.decode()}")
        return folder / "genome.kmatch"
    return path


def write_list(search, folder):
    """Write the genomes of a list, and the list; returns its path."""
    paths = []
    for number, part in enumerate(search.genomes):
        home = folder / f"genome{number}"
        home.mkdir(exist_ok=True)
        paths.append(write_genome(part, home))
    (folder / "list").write_text("".join(f"{path}\n" for path in paths))
    return folder / "list"


def panel_data(search):
    """The file of the patterns, or of the primers, as bytes."""
    if search.problem == "primer":
        return fasta(search.background) or b">b\n"
    found = search.primer_names if search.problem == "pcr" else search.names
    rows = list(zip(found, search.patterns, strict=True))
    if search.panel == "fasta":
        return fasta([(f"{name} a title", written) for name, written in rows], 50)
    return lines(rows)


def lines(rows):
    return "".join("\t".join(map(str, row)) + "\n" for row in rows).encode()


def option_words(name, value, folder):
    option = "--" + name.replace("_", "-")
    if name == "regions":
        (folder / "regions").write_bytes(lines(value))
        return [option, folder / "regions"]
    if name == "product":
        return [option, "{}-{}".format(*value)]
    if name == "circular":
        return [option] if value is True else [option, ",".join(value)]
    if isinstance(value, list):  # PAMs: some in one word, some in their own
        return [word for pam in [",".join(value[:2]), *value[2:]] for word in (option, pam)]
    if value is True:
        return [option]
    return [] if value is None or value is False else [option, value]
