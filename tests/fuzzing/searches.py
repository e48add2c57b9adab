"""A search, how it is asked for, and whether it finds what the oracles say."""

import gzip
import io
import multiprocessing
import os
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path

from support import hooks
from support.commands import here, process
from support.packing import packed

import kmatch
from fuzzing import inputs, oracles
from fuzzing.oracles import background, named, names
from fuzzing.patches import patching
from kmatch.engine.cpu.primer.extend import Sizes
from kmatch.genome import as_genomes
from kmatch.results.hits import Hits
from kmatch.results.limit import limited
from kmatch.results.primers import Primers
from kmatch.results.products import Products
from kmatch.search.panels.distances import pattern_distances
from kmatch.search.regions import load_regions, narrow, search_inside
from kmatch.search.running import Running
from kmatch.sequences.patterns import checked_patterns
from kmatch.sequences.primer_pairs import load_pairs

BATCHES = {
    "hamming": hooks.hamming_batches,
    "multi": hooks.multi_batches,
    "edit": hooks.edit_batches,
    "best": hooks.best_batches,
    "primer": hooks.primer_batches,
    "pcr": hooks.pcr_batches,
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
    panel: what the patterns are read from by a command; roles: of primers, (pair, "F" or "R") each;
    options: those of the public function; hooks: those that only tests set; patches: see
    `patching`; output: the suffix of a file, or None; summary: `beside` the table, `only`, or None;
    files: of a list of genomes, the records in each and what it is.
    """

    problem: str
    records: list
    patterns: list
    k: int | str = 0
    options: dict = field(default_factory=dict)
    hooks: dict = field(default_factory=dict)
    patches: dict = field(default_factory=dict)
    way: str = "batches"
    source: str = "memory"
    layout: dict = field(default_factory=dict)
    panel: str = "text"
    roles: list = field(default_factory=list)
    threads: int = 1
    device: str = "cpu"
    form: str = "tsv"
    output: str | None = None
    summary: str | None = None
    beside: tuple = ()
    files: tuple = ()

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
            try:
                for found, wanted, search in WAYS[self.way](self, folder):
                    _compare(found, wanted, search)
            except inputs.Refused as refused:
                raise Wrong(str(refused)) from None


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
    return kmatch.Genome(str(inputs.write_genome(search, folder)))


def by_batches(search, genome):
    """The table of a search by the generator behind the public function."""
    options = search.options | search.hooks
    regions, limit = load_regions(options.pop("regions", None)), options.pop("limit", None)
    given = {"device": search.device, "threads": search.threads}
    batches = BATCHES[search.problem]
    if search.problem == "primer":
        if "sizes" in options:
            options["sizes"] = Sizes(*options["sizes"])
        other = kmatch.Genome.from_records(background(search))
        found = Primers(batches(genome, other, search.k, **options, **given), search.k)
        return as_table(found, "bed")
    if search.problem == "pcr":
        panel = load_pairs(pairs_of(search))
        genomes = as_genomes(genome).with_circular(options.pop("circular", False))
        found = batches(genomes, panel, search.k, **options, **given)
        return as_table(Products(found, panel, options.get("sequence", False)), search.form)
    panel = checked_patterns(names(search), search.patterns, lambda message: None)
    arguments = () if search.problem == "best" else (search.k,)
    genomes = as_genomes(genome).with_circular(options.pop("circular", False))
    if search.problem != "best":
        narrow(genomes, regions)
    algorithm = options.pop("algorithm", "bitplane")
    running = Running(algorithm=algorithm, on_warning=lambda message: None, **given)
    call = partial(_with_running, partial(batches, genomes, panel, *arguments, **options))
    found = limited(
        search_inside(regions, genomes, call, running), panel, limit, running.on_warning
    )
    pam_first = options.get("pam_side") == "5p"
    share = arguments and isinstance(search.k, str)
    k_each = pattern_distances(panel, search.k) if share else None
    return as_table(Hits(found, panel, genomes, pam_first, k_each), search.form)


def _with_running(batches, running):
    return batches(**running._asdict())


def pairs_of(search):
    """The primers of a search as a dict, name → (forwards, reverses)."""
    given = {name: ([], []) for name in oracles.pair_names(search)}
    for (pair, role), written in zip(search.roles, search.patterns, strict=True):
        given[oracles.pair_names(search)[pair]][role == "R"].append(written)
    return given


def in_batches(search, folder):
    genome, wanted = genome_of(search, folder), oracles.table(search)
    yield by_batches(search, genome), wanted, search
    yield by_batches(search, genome), wanted, search  # a genome can be searched again


def by_function(search, folder):
    options = search.options | {"device": search.device, "threads": search.threads}
    genome, function = genome_of(search, folder), getattr(kmatch, search.problem)
    form = search.form
    if search.problem == "primer":
        other, form = kmatch.Genome.from_records(background(search)), "bed"
    else:
        other = pairs_of(search) if search.problem == "pcr" else search.patterns
    arguments = () if search.problem == "best" else (search.k,)
    found = function(genome, other, *arguments, **options)
    yield as_table(found, form), oracles.table(search), search


def by_command(search, folder):
    arguments, stdin = inputs.command(search, folder)
    if search.way == "process":
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {"PYTHONPATH": path}
        result = process(*arguments, stdin=stdin, env=environment, timeout=PATIENCE)
    else:
        result = here(*arguments, stdin=stdin)
    if result.status or b"Traceback" in result.err:
        raise Wrong(f"exit status {result.status}: {result.err.decode()}")
    written = result.out
    if search.output:
        written = (folder / search.output).read_bytes()
        written = gzip.decompress(written) if search.output.endswith(".gz") else written
    if search.summary == "only":
        yield written, oracles.summary(search), search
        return
    if search.form == "view":
        written = oracles.viewed(written)
    if search.files:
        paths = (folder / "list").read_text().splitlines()
        yield written, oracles.listed(search, paths), search
        return
    yield written, oracles.table(search), search
    if search.summary:
        yield (folder / "summary").read_bytes(), oracles.summary(search), search


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
    for table, one in found:
        yield table, oracles.table(one), one


def in_a_child(search, folder):
    """The search in a child of fork, after this process has used its threads."""
    genome, wanted = genome_of(search, folder), oracles.table(search)
    yield by_batches(search, genome), wanted, search
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
        yield receiver.recv(), wanted, search
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
