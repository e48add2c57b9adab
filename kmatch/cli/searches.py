"""The commands that search for patterns, `kmatch hamming`, `multi`, `edit` and `best`.

`Search` serves the commands of other modules too.
"""

import os
import re
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from kmatch.arguments import REPORTS
from kmatch.cli import options
from kmatch.cli.command import Given, Option, check_files, command
from kmatch.cli.messages import Messages
from kmatch.errors import InputError, counted, listed, warn
from kmatch.search.algorithms import ENGINE
from kmatch.search.query import RUN, Query, Run

if TYPE_CHECKING:
    from kmatch.arrays import Longs
    from kmatch.pictures.report import Page
    from kmatch.results.columns import Table
    from kmatch.results.limit import Counts
    from kmatch.results.table import Hits
    from kmatch.search.regions import Regions
    from kmatch.sequences.patterns import PatternSet

_SEQUENCE = re.compile(r"[ACGTURYSWKMBDHVN]{4,}", re.IGNORECASE)
DIFFERS = (
    "hamming counts mismatches. multi counts mismatches for many patterns of one length, beside a "
    "PAM too. edit also counts insertions and deletions. best finds the closest sites and takes no "
    "-k."
)


class Search:
    """A search of a command: its run and its messages.

    of_hits, default: see `format_of`. form: of its table; on_screen: whether its rows go to a
    terminal; aligned: whether they need alignments; label: of the genome whose reading is the
    progress; rows: how many there were so far; begun: the search itself, once it has begun. Raises
    UsageError for a format that does not fit.
    """

    def __init__(self, given: Given, of_hits: bool = False, default: str = "bed") -> None:
        _check_unknown(given)
        self.given = given
        self.messages = Messages(given.quiet, given.verbose)
        self.form = options.format_of(given, of_hits, default)
        standard = sys.stdout if given.output in (None, "-") else None
        self.on_screen = standard is not None and standard.isatty()
        self.rows = 0
        self.label = ""
        self.aligned = False
        self._began = time.perf_counter()
        self._panel: PatternSet | None = None
        self.genomes: Any = None
        self.run = RUN
        self.begun: Any = None
        self.regions: Regions | None = None
        self.page: Page | None = None
        if given.html:
            from kmatch.pictures import report

            self.page = report.Page(of_guides=given.command == "guides")
        self.has_alleles = False  # whether hits tell the alleles under them

    def open_genomes(self, rereads: bool, panel: "PatternSet | None" = None) -> None:
        """Open GENOME, and have the device woken meanwhile.

        rereads: whether the search reads it twice; panel: the patterns, looked for in its
        --regions.
        """
        from kmatch.engine.devices import wake
        from kmatch.genome import as_genomes
        from kmatch.search.regions import load_regions

        if panel is not None:
            self._panel, self.regions = panel, load_regions(self.given.regions)
        given = self.given
        genomes = as_genomes(given.genome, rereads, given.gaps).with_circular(given.circular)
        self.genomes = genomes.with_records(given.records, given.skip_records)
        self.label = self.genomes.label
        if self.genomes.named and any(map(os.path.exists, self.given.outputs.values())):
            check_files([("GENOME", path) for path in self.genomes.paths], self.given.outputs)
        wake(self.given.device)  # the search, not imported yet, takes as long

    def _warn_of_long_patterns(self, panel: "PatternSet", longest: int) -> None:
        """Warn of patterns that are longer than every record; longest: letters of the longest."""
        long = (panel.lengths > longest).nonzero()[0].tolist()
        if not long or not longest:
            return
        others = f", and {len(long) - 1:,} more, are" if len(long) > 1 else " is"
        warn(
            f"pattern '{panel.names[long[0]]}' of {panel.lengths[long[0]]:,} letters{others} "
            f"longer than every record of {self.genomes.label}, at most {longest:,}; are genome "
            "and patterns exchanged?"
        )

    @contextmanager
    def batches(
        self, begin: Callable[[Run], Any], *more: str | None
    ) -> Iterator[tuple[Iterator[Any], list[Any]]]:
        """Give the batches of the search begin(run), with messages and progress, and handles of -o
        and of more outputs that are not None; the search ends with the block."""
        from kmatch.apps.searches import on_cluster
        from kmatch.engine.workers import share_arenas
        from kmatch.results.output import open_outputs

        share_arenas()
        messages = self.messages
        given = self.given
        several = self.genomes is not None and self.genomes.named
        run = given.made(Run)._replace(aligned=self.aligned)
        if given.vcf:
            from kmatch.variants.vcf import Variants

            variants = given.made(Variants)._replace(alleles=self.has_alleles)
            run = run._replace(variants=variants)
        with (
            open_outputs(given.output, *more) as handles,
            messages.announcing_compiling(),
            messages.progress(self.label, bool(given.scheduler or several)) as advance,
            on_cluster(run, given.scheduler) as where,
        ):
            self.run = where
            self.begun = search = begin(where)
            messages.detail(f"device: {search.engine.description}")
            search.progress.tell = advance
            with closing(iter(search)) as found:  # a cluster may be at work for it
                yield self._each(found), handles

    def _each(self, found: Iterable[Any]) -> Iterator[Any]:
        make_way = self.messages.make_way if self.on_screen else lambda: None
        for batch in found:
            make_way()
            self.rows += len(batch)
            yield batch
        make_way()

    def writer(self, handle: Any, table: "Table[Any, Any]", form: str | None = None) -> Any:
        """Return a writer of a table to a handle, in the format that is asked for, or another."""
        from kmatch.results.formats import FORMATS

        return FORMATS[form or self.form](handle, table)

    def dress(self, table: "Table[Any, Any]", more: Sequence[str] = ()) -> None:
        """Give a table the columns that are asked for, and more."""
        if self.given.annotate:
            table.annotate(self.given.annotate)
        table.add(more)
        if self.given.columns:
            names = self.given.columns.split(",")
            try:
                table.tsv = tuple(table.known(name.strip()) for name in names)
            except InputError as error:
                raise click.UsageError(f"--columns: {error}") from error
        self.aligned = self.form != "bed" and (self.form not in options.TABLES or table.aligned)
        self.aligned = self.aligned or bool(self.given.html)

    def conclude(
        self,
        found: str,
        counts: "Counts | None" = None,
        tables: "Sequence[Table[Any, Any]]" = (),
        **more: Any,
    ) -> None:
        """Print a summary, and warn of patterns that are longer than every record.

        counts: of the hits; tables: of a page, the rows and of guides their sites; more: other
        facts, for --json and a page.
        """
        progress = self.begun.progress
        several = ""
        if self._panel is not None:
            if self.regions is None:  # of regions only records with any are met
                self._warn_of_long_patterns(self._panel, progress.longest)
            if self.genomes.named:
                several = f"{counted(len(self.genomes), 'genome')}, "
        records = counted(progress.records, "record")
        letters = f"{progress.letters:,} bp"
        seconds = time.perf_counter() - self._began
        device = self.begun.engine.description.partition(" (")[0].partition(", ")[0]
        if self.given.json or self.page:
            from kmatch.results.limit import report_of, write_report

            facts = {"device": device, "seconds": round(seconds, 3), "records": progress.records}
            facts |= {"letters": progress.letters, "hits": self.rows}
            facts["lengths"] = progress.lengths
            facts["command_line"] = self.given.command_line
            facts["inputs"] = [path for _, path in self.given.inputs]
            facts |= more
            if not facts["lengths"]:
                del facts["lengths"]
            if self.given.json:
                write_report(self.given.json, self.given.command, counts, **facts)
            if self.page:
                self._write_page(report_of(counts, **facts), *tables)
        searched = f"{several}{records}, {letters} in {seconds:.1f} s on {device}"
        self.messages.conclude(f"{found}; {searched}")

    def _write_page(self, facts: dict[str, Any], table: Any, sites: Any = None) -> None:
        """Write the page of --html; facts: as in --json."""
        from kmatch.results.output import open_output

        assert self.page is not None
        command = self.given.command
        with open_output(self.given.html) as handle:
            if sites is None:
                self.page.write(handle, command, facts, table)
            else:
                self.page.write_guides(handle, command, facts, table, sites)

    def shown(self, batches: Iterable[Any]) -> Iterable[Any]:
        """Return batches. The page, if there is one, keeps the closest rows."""
        return heard(batches, self.page.add) if self.page else batches


def _check_unknown(given: Given) -> None:
    """Raise UsageError for options that do not go with --max-unknown."""
    if getattr(given, "max_unknown", None) is None:
        return
    if getattr(given, "algorithm", ENGINE) != ENGINE:
        raise click.UsageError(
            f"--max-unknown is not for --algorithm {given.algorithm}; leave one of them out"
        )
    if given.vcf:
        raise click.UsageError(
            "--max-unknown is not for --variants, beside which unknown letters match nothing; "
            "leave one of them out"
        )


def check_inputs(given: Given, argument: str, searched: str = "GENOME") -> None:
    """Raise UsageError for patterns given both as a file and with `-p`, or not at all, and for a
    sequence in place of a file.

    argument: the name of the argument for the file, as `PATTERNS`; searched: of the one for what is
    searched.
    """
    what = argument.lower()
    path = getattr(given, what)
    for name, file in ((searched, getattr(given, searched.lower())), (argument, path)):
        if file and _SEQUENCE.fullmatch(file) and not os.path.exists(file):
            raise click.UsageError(
                f"{name} is a file, and there is none named {file}; sequences are given with -p"
            )
    if bool(path) == bool(given.sequences):
        several = "; several genomes are one @LIST" if path and searched == "GENOME" else ""
        raise click.UsageError(f"give the {what} as a file or with -p, one of the two{several}")


@command(
    "Find every window within k mismatches of a pattern.",
    *options.PATTERNS,
    options.MISMATCHES,
    *options.EXACT,
    options.UNKNOWN,
    *options.VARIANTS,
    options.algorithm("hamming"),
    *options.HITS,
    examples=(
        "kmatch hamming genome.fa.gz -p TATCACCGATTGACCTGAAT -k 3",
        "kmatch hamming genome.fa.gz primers.fa -k 10% -o hits.tsv",
    ),
    differs=DIFFERS,
)
def hamming(given: Given) -> None:
    """Find every window of GENOME with at most k mismatches to a pattern, on both strands."""
    _search(given, "hamming")


@command(
    "Find the windows of many patterns in one pass, beside a PAM too.",
    *options.PATTERNS,
    options.MISMATCHES,
    *options.PAMS,
    options.NUCLEASE,
    options.SCORE,
    *options.EXACT,
    options.UNKNOWN,
    *options.VARIANTS,
    options.algorithm("multi"),
    options.HTML,
    *options.HITS,
    examples=(
        "kmatch multi genome.fa.gz guides.txt -k 4",
        "kmatch multi genome.fa.gz guides.txt -k 4 --pam NGG -o hits.tsv",
    ),
    differs=DIFFERS,
)
def multi(given: Given) -> None:
    """Find every window of GENOME with at most k mismatches to one of many patterns.

    All patterns have one length. A hit spans the pattern and the PAM. The distance counts the
    pattern alone.
    """
    _search(given, "multi")


@command(
    "Find every occurrence within k differences of a pattern.",
    *options.PATTERNS,
    options.distance(
        "Allow N differences, or N percent of a pattern's letters. A mismatch, an inserted letter "
        "and a deleted letter are one difference each."
    ),
    Option(
        "--report",
        REPORTS,
        "minima, beside a PAM ends",
        "Report every position where an occurrence ends (ends), the best of neighbouring ends "
        "(minima), the best of overlapping minima (loci), or beside a PAM the best of the ends "
        "that reach one place (sites).",
    ),
    *options.PAMS,
    options.NUCLEASE,
    options.SCORE,
    *options.EXACT,
    *options.BOUNDS,
    options.UNKNOWN,
    *options.VARIANTS,
    options.algorithm("edit"),
    options.HTML,
    *options.HITS,
    examples=(
        "kmatch edit genome.fa.gz -p TATCACCGATTGACCTGAAT -k 2 --format view",
        "kmatch edit genome.fa.gz guides.txt -k 4 --pam NGG -o hits.tsv",
    ),
    differs=DIFFERS,
)
def edit(given: Given) -> None:
    """Find the occurrences of patterns in GENOME with at most k differences, on both strands.

    A mismatch, an inserted letter and a deleted letter are one difference each. Guides with up to 4
    mismatches and one bulge of the DNA need -k 5 --max-mismatches 4 --max-insertions 0
    --max-deletions 1. A hit spans the pattern and the PAM. The distance counts the pattern alone.
    """
    _search(given, "edit")


@command(
    "Find the closest occurrences of each pattern.",
    *options.PATTERNS,
    *options.EXACT,
    options.EACH,
    options.algorithm("best"),
    *options.HITS,
    examples=(
        "kmatch best genome.fa.gz -p TATCACCGATTGACCTGAAT",
        "kmatch best genome.fa.gz primers.fa --limit 1 -o closest.tsv",
    ),
    differs=DIFFERS,
)
def best(given: Given) -> None:
    """Find the sites in GENOME with the fewest differences to each pattern, on both strands.

    With --each record, find the closest sites in each record.
    """
    _search(given, "best", rereads=given.each == "file")


def _search(given: Given, problem: str, *, rereads: bool = False) -> None:
    """Search for the hits of a problem, and write their tables: files are whole or absent.

    rereads: whether the search reads the genome twice.
    """
    _check_summary_only(given)
    options.set_nuclease(given)
    options.check_scores(given)
    search = Search(given, of_hits=True)
    panel = _panel(given)
    are_sites_apart = _are_sites_apart(given)
    if are_sites_apart:
        _check_variants_reread(given)
    search.open_genomes(rereads or are_sites_apart or bool(given.vcf), panel)
    from kmatch.apps.searches import add_sites, begin_search, make_scorer
    from kmatch.results.limit import Counts, limited
    from kmatch.search.panel import pattern_distances

    query = Query(problem, panel, **given.values(Query._fields[2:]))
    if query.report == "sites" and query.pam is None:
        raise click.UsageError("--report sites is of hits beside a PAM; give --pam or --nuclease")
    k_each = None if problem == "best" else pattern_distances(panel, query.k)

    # The table of hits, without rows, and that of their counts.
    table = _table_of_hits(given, search, query, k_each)
    counts = Counts(panel, None if k_each is None else int(k_each.max()))
    scorer = make_scorer(query, given.score, threads=given.threads) if given.score else None
    is_summed = given.summary or given.summary_only
    if scorer and is_summed and not are_sites_apart:
        counts.scores = scorer.specificities()

    begin = partial(begin_search, query, search.genomes, regions=search.regions, scorer=scorer)
    with search.batches(begin, given.summary) as (found, handles):
        _look_around(table, search)
        hits = heard(found, counts.add)
        if given.summary_only:
            deque(hits, maxlen=0)
        else:
            closest = search.shown(limited(hits, panel, given.limit, query.each))
            search.writer(handles[0], table).write_all(closest)
        if scorer and are_sites_apart:
            counts.scores = scorer.specificities()
            add_sites(counts, query, search.genomes, search.run, search.regions, scorer)
        if is_summed:
            counts.write(handles[-1])
    search.conclude(_found(search.rows, counts), counts, [table])
    if problem == "best" and search.regions is not None:
        _say_what_lies_outside(search, panel, counts)


def _table_of_hits(given: Given, search: Search, query: Query, k_each: "Longs | None") -> "Hits":
    """Return the table of a Query's hits, without rows, and have the search give its columns.

    k_each: int64[P], the k of each pattern, None where none is given.
    """
    from kmatch.results.table import ALLELES, VARIANTS, Hits

    shares = k_each if isinstance(query.k, str) else None
    table = Hits((), query.patterns, search.genomes, query.pam_side == "5p", shares)
    table.threads = given.threads
    table.command_line = given.command_line
    table.add_scores(given.score)
    table.has_alleles = bool(given.vcf)
    search.dress(table, VARIANTS if given.vcf else ())
    search.has_alleles = ALLELES in table.tsv
    search.aligned = (search.aligned and not given.summary_only) or bool(given.score)
    return table


def _say_what_lies_outside(search: Search, panel: "PatternSet", counts: "Counts") -> None:
    """Say which patterns have no hit, as their closest sites lie outside the regions."""
    names = []
    for name, hit_count in zip(panel.names, counts.hits.sum(axis=1), strict=True):
        if not hit_count:
            names.append(name)
    if names:
        search.messages.answer(
            f"no hit of {listed(names)} inside the regions: best finds the closest sites of the "
            "whole genome, and of these the ones inside; give the regions' letters as GENOME for "
            "the closest sites there"
        )


def _are_sites_apart(given: Given) -> bool:
    """Return whether the sites of specificities need a search of their own, as the hits that are
    reported leave some out."""
    is_summed = given.summary or given.summary_only
    is_scored = bool(getattr(given, "score", None))
    report = getattr(given, "report", None)
    return is_summed and is_scored and report in ("minima", "loci")


def _check_variants_reread(given: Given) -> None:
    """Raise InputError for variants that cannot be read twice."""
    from kmatch.sequences.files import label_of

    for path in given.vcf:
        is_pipe = path == "-" or (os.path.exists(path) and not os.path.isfile(path))
        if is_pipe:
            raise InputError(
                f"{label_of(path)}: beside --report {given.report} variants are read again for the "
                "specificities of sites, and a pipe cannot be read twice; give a file"
            )


def _check_summary_only(given: Given) -> None:
    """Raise UsageError for options that --summary-only makes useless."""
    others = {"--summary": given.summary, "--format": given.form, "--limit": given.limit}
    others |= {"--html": given.html, "--columns": given.columns, "--annotate": given.annotate}
    for option, value in others.items():
        if given.summary_only and value:
            raise click.UsageError(
                f"--summary-only writes one table, to standard output or -o; leave {option} out"
            )


def _found(hit_count: int, counts: "Counts") -> str:
    """Return how many hits of how many patterns there were, in words."""
    pattern_count = len(counts.hits)
    with_hits = int(counts.hits.any(axis=1).sum())
    part = f"{with_hits:,} of " if 0 < with_hits < pattern_count else ""
    return f"{counted(hit_count, 'hit')} of {part}{counted(pattern_count, 'pattern')}"


def _panel(given: Given) -> "PatternSet":
    """Return the patterns of a file or of `-p`, beside a PAM as they are searched beside it."""
    panel = given_patterns(given)
    if not given.pam:
        return panel
    from kmatch.search.rules import beside_pams

    return beside_pams(panel, given.pam, given.pam_side)


def given_patterns(given: Given, searched: str = "GENOME") -> "PatternSet":
    """Return the patterns of a file or of `-p`, and warn of names that repeat.

    searched: the name of the argument for what is searched.
    """
    for text in given.sequences:
        if os.path.exists(text) and not _SEQUENCE.fullmatch(text):
            raise click.UsageError(f"-p {text} is a path; give the file as PATTERNS, without -p")
    check_inputs(given, "PATTERNS", searched)
    if given.sequences and given.column is not None:
        raise click.UsageError("--column is one of a file of patterns; leave it out beside -p")
    check_columns(given)
    from kmatch.sequences.patterns import load_patterns, read_patterns, repeated_names

    if given.patterns:
        panel = read_patterns(given.patterns, given.column, given.name_column)
    else:
        panel = load_patterns(list(given.sequences))
    if repeated := repeated_names(panel):
        warn(f"{listed(repeated)}: the name stands for more than one pattern; all are searched")
    return panel


def check_columns(given: Given) -> None:
    """Raise UsageError for a column of names without one of sequences."""
    if given.name_column is not None and given.column is None:
        raise click.UsageError(
            "--name-column is a column of a table with a header line; give the one of its "
            "sequences too, by --column"
        )


def heard(batches: Iterable[Any], hear: Callable[[Any], object]) -> Iterator[Any]:
    """Yield batches, and call hear with each one first."""
    for batch in batches:
        hear(batch)
        yield batch


def _look_around(hits: "Hits", search: Search) -> None:
    """Have a table read the letters around hits, where it shows any and the genomes can be read
    beside the search, and lines for eyes fit the screen."""
    from kmatch.results.table import FLANKS

    if search.form != "view" and set(FLANKS).isdisjoint(hits.tsv):
        return
    if search.on_screen:
        hits.width = shutil.get_terminal_size().columns
        hits.colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    if search.genomes.can_reread:
        from kmatch.search.alignments import BESIDE, GenomeTexts

        # As long as an occurrence, a PAM and letters around them can be.
        reach = 2 * int(hits.patterns.lengths.max()) + BESIDE
        hits.letters = GenomeTexts(search.genomes, reach).letters
