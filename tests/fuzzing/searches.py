"""A search, how it is asked for, and what the oracles say that it finds."""

import gzip
import io
import multiprocessing
import os
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import naive
from support.commands import compressed, fasta, genbank, here, process, twobit
from support.hooks import best_batches, edit_batches, hamming_batches, multi_batches, primer_batches
from support.packing import packed

import kmatch
from fuzzing.patches import patching
from kmatch.engine.cpu.primer.extend import Sizes
from kmatch.results.hits import Hits
from kmatch.results.primers import Primers
from kmatch.sequences.patterns import make_pattern

BATCHES = {
    "hamming": hamming_batches,
    "multi": multi_batches,
    "edit": edit_batches,
    "best": best_batches,
    "primer": primer_batches,
}
ROOT = Path(kmatch.__file__).parents[1]
PATIENCE = 300  # seconds for a process


class Wrong(Exception):
    """A search did not do what it has to do."""


@dataclass(frozen=True)
class Search:
    """A search for patterns in records, or for primers in records that `patterns` do not hold.

    way: how it is asked for, by `batches`, `api`, `command`, `process`, `together` with the
    searches `beside` it, or `fork`; source: what the genome is read from; layout: of a packed one;
    options: those of the public function; hooks: those that only tests set; patches: see
    `patching`; output: the suffix of a file, or None.
    """

    problem: str
    records: list
    patterns: list
    k: int = 0
    options: dict = field(default_factory=dict)
    hooks: dict = field(default_factory=dict)
    patches: dict = field(default_factory=dict)
    way: str = "batches"
    source: str = "memory"
    layout: dict = field(default_factory=dict)
    threads: int = 1
    device: str = "cpu"
    form: str = "tsv"
    output: str | None = None
    beside: tuple = ()

    def __repr__(self):
        """Only what differs from the defaults."""
        blank = Search(self.problem, [], [])
        shown = [repr(self.problem)]
        for part in fields(self)[1:]:
            value = getattr(self, part.name)
            if part.name in ("records", "patterns") or value != getattr(blank, part.name):
                shown.append(f"{part.name}={value!r}")
        return f"Search({', '.join(shown)})"

    def check(self, folder):
        """Raise Wrong where the search does not find what the oracle does; folder: for files."""
        with ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            for patch in patching(self.patches):
                stack.enter_context(patch)
            for found, search in WAYS[self.way](self, folder):
                _compare(found, expected(search), search)


def _compare(found, wanted, search):
    if found == wanted:
        return
    found, wanted = (set(table.decode().splitlines()) for table in (found, wanted))
    lines = [f"{search.problem}: the table is not what the oracle says"]
    lines += [f"  lost: {line}" for line in sorted(wanted - found)[:5]]
    lines += [f"  made up: {line}" for line in sorted(found - wanted)[:5]]
    if found == wanted:
        lines.append("  the order of the rows, or how often they stand there")
    raise Wrong("\n".join(lines))


def named(search):
    """The records as (name, sequence) pairs."""
    return [(f"r{number}", text) for number, text in enumerate(search.records)]


def background(search):
    return [(f"b{number}", text) for number, text in enumerate(search.patterns)]


def names(search):
    """Names of the patterns, of which two may be the same."""
    if search.way == "api":
        return search.patterns
    return [f"p{number % 3}" for number in range(len(search.patterns))]


def expected(search):
    """The table that the search has to write, as bytes."""
    records, patterns, options = named(search), search.patterns, search.options
    if search.problem == "primer":
        rows = naive.primers(records, background(search), search.k, **options)
        return naive.primers_bed(records, search.k, rows).encode()
    if search.problem == "best":
        found = naive.best(records, patterns, **options)
    elif search.problem == "edit":
        found = naive.edit(records, patterns, search.k, **options)
    elif options.get("pam"):
        found = naive.multi(records, patterns, search.k, **options)
    else:
        plain = {name: value for name, value in options.items() if not name.startswith("pam")}
        found = naive.hamming(records, patterns, search.k, **plain)
    if search.form == "bed":
        table = naive.bed(records, names(search), patterns, [hit[:6] for hit in found])
    elif search.problem in ("edit", "best"):
        table = naive.edit_tsv(records, names(search), found)
    else:
        pam = options.get("pam") or ""
        leads = options.get("pam_side") == "5p"
        whole = [pam + pattern if leads else pattern + pam for pattern in patterns]
        table = naive.tsv(records, names(search), whole, found)
    return table.encode()


def as_table(found, form):
    out = io.BytesIO()
    getattr(found, f"to_{form}")(out)
    return out.getvalue()


def genome_of(search, folder):
    """The Genome of a search, out of memory or out of a file."""
    if search.source == "memory":
        return kmatch.Genome.from_records(named(search))
    if search.source == "packed":
        return packed(named(search), **search.layout)
    return kmatch.Genome(str(write_genome(search, folder)))


def by_batches(search, genome):
    """The table of a search by the generator behind the public function."""
    options = search.options | search.hooks
    options |= {"device": search.device, "threads": search.threads}
    batches = BATCHES[search.problem]
    if search.problem == "primer":
        if "sizes" in options:
            options["sizes"] = Sizes(*options["sizes"])
        other = kmatch.Genome.from_records(background(search))
        found = Primers(batches(genome, other, search.k, **options), search.k)
        return as_table(found, "bed")
    panel = [make_pattern(*pair) for pair in zip(search.patterns, names(search), strict=True)]
    arguments = (panel,) if search.problem == "best" else (panel, search.k)
    return as_table(Hits(batches(genome, *arguments, **options), panel), search.form)


def in_batches(search, folder):
    genome = genome_of(search, folder)
    yield by_batches(search, genome), search
    yield by_batches(search, genome), search  # a genome can be searched again


def by_function(search, folder):
    options = search.options | {"device": search.device, "threads": search.threads}
    genome, function = genome_of(search, folder), getattr(kmatch, search.problem)
    if search.problem == "primer":
        other = kmatch.Genome.from_records(background(search))
        yield as_table(function(genome, other, search.k, **options), "bed"), search
        return
    arguments = () if search.problem == "best" else (search.k,)
    found = function(genome, search.patterns, *arguments, **options)
    yield as_table(found, search.form), search


def by_command(search, folder):
    arguments, stdin = command(search, folder)
    if search.way == "process":
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {"PYTHONPATH": path}
        result = process(*arguments, stdin=stdin, env=environment, timeout=PATIENCE)
    else:
        result = here(*arguments, stdin=stdin)
    if result.status or b"Traceback" in result.err:
        raise Wrong(f"exit status {result.status}: {result.err.decode()}")
    table = result.out
    if search.output:
        table = (folder / search.output).read_bytes()
        table = gzip.decompress(table) if search.output.endswith(".gz") else table
    yield table, search


def side_by_side(search, folder):
    """The search and those beside it, each in a thread of its own, in one Genome."""
    genome = genome_of(search, folder)
    searches = [search, *search.beside]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns all the time
    try:
        with ThreadPoolExecutor(len(searches)) as pool:
            jobs = [(pool.submit(by_batches, one, genome), one) for one in 4 * searches]
            found = [(job.result(), one) for job, one in jobs]
    finally:
        sys.setswitchinterval(before)
    yield from found


def in_a_child(search, folder):
    """The search in a child of fork, after this process has used its threads."""
    genome = genome_of(search, folder)
    yield by_batches(search, genome), search
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work():
        sender.send(by_batches(search, genome))

    child = context.Process(target=work)
    child.start()
    sender.close()
    try:
        if not receiver.poll(PATIENCE):
            raise Wrong("a child of fork does not come back")
        yield receiver.recv(), search
    except EOFError:
        raise Wrong("a child of fork died") from None
    finally:
        child.kill()
        child.join()


WAYS = {
    "batches": in_batches,
    "api": by_function,
    "command": by_command,
    "process": by_command,
    "together": side_by_side,
    "fork": in_a_child,
}


def write_genome(search, folder):
    """Write the genome as its source says; returns the path."""
    records, kind = named(search), search.source
    path = folder / "genome"
    if kind in ("2bit", "genbank"):
        path.write_bytes({"2bit": twobit, "genbank": genbank}[kind](records))
        return path
    data = fasta([(f"{name} a title", text) for name, text in records])
    path.write_bytes(compressed(kind, data) if kind in ("gz", "bgzf", "bz2", "xz", "zst") else data)
    if kind == "packed":
        whole = folder / "genome.kmatch"
        result = here("pack", path, "-o", whole)
        if result.status:
            raise Wrong(f"pack: exit status {result.status}: {result.err.decode()}")
        return whole
    return path


def command(search, folder):
    """(arguments, standard input) of the command line; writes its input files."""
    path, stdin = write_genome(search, folder), b""
    if search.source == "stdin":
        path, stdin = "-", path.read_bytes()
    other = folder / "patterns"
    if search.problem == "primer":
        other.write_bytes(fasta(background(search)) or b">b\n")
    else:
        pairs = zip(names(search), search.patterns, strict=True)
        other.write_text("".join(f"{name}\t{written}\n" for name, written in pairs))
    arguments = [search.problem, path, other]
    if search.problem != "best":
        arguments += ["-k", search.k]
    for name, value in search.options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(option)
        elif value not in (None, False):
            arguments += [option, value]
    form = "bed" if search.problem == "primer" else search.form
    arguments += ["--device", search.device, "-t", search.threads, "--format", form]
    if search.output:
        arguments += ["-o", folder / search.output]
    return arguments, stdin


def as_command(search):
    """The same search as a command line, which knows no hooks."""
    return replace(search, way="command", hooks={}, patches={}, beside=())
