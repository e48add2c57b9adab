"""Pages for browsers: the question, the results in numbers and pictures, and the rows.

A page is one file that loads nothing. Jinja2 makes it of `report.html`, and escapes all words that
come from files. A search gives its rows as they come; the closest are kept.
"""

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from kmatch import __version__
from kmatch.arrays import Ints, Longs, bounds_of, order_of
from kmatch.errors import counted, needed
from kmatch.pictures import load_figure, saved
from kmatch.pictures.assays import genomes_of
from kmatch.pictures.meanings import meaning_of
from kmatch.pictures.tables import rank_of_guides, table_of
from kmatch.results.batches import Batch, HitBatch, ProductBatch
from kmatch.results.lines import heading_of

ROWS = 10_000  # of a page's table at the most
SITES = 100  # of a guide
KEPT = 1 << 19  # sites of all guides; where there are more, each guide keeps half as many
WAITING = 1 << 16  # rows that may wait until the farther ones are dropped
# What --json has of each pattern, pair and assay, and the title of its table.
TITLES = {
    "patterns": "Hits by pattern",
    "pairs": "Products by pair",
    "assays": "Genomes by assay",
}
_RUN = re.compile(r"(\d+)([=XID])")  # of columns of an alignment, in a CIGAR


class Column(NamedTuple):
    """A column of a page: its name, and whether it holds numbers."""

    name: str
    is_number: bool

    @property
    def meaning(self) -> str:
        """Return the meaning of the column."""
        return meaning_of(self.name)


class Cell(NamedTuple):
    """A cell of a page: its words, and the kind by which it is coloured, if any."""

    words: str
    kind: str = ""


class Site(NamedTuple):
    """A site of a guide: cells, and the three lines of its alignment.

    above     ACGTACGTACGTACGTACGTTGG
    marks     ||||||||| |||||||||||||
    below     ACGTACGTAGGTACGTACGTTGG
    """

    cells: Sequence[str]
    above: str
    marks: str
    below: str


class Opened(NamedTuple):
    """The part that a click on a guide opens: a note, and a table of Sites with these names of
    columns."""

    note: str
    names: Sequence[str]
    rows: Sequence[Site]


class Section(NamedTuple):
    """A table of a page.

    key: its name in HTML; rows: of Cells; opened: the parts that the button in the column number
    `opener` opens below each row, if there are any.
    """

    key: str
    title: str
    note: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    opened: Sequence[Opened] = ()
    opener: int = 0


class Lines(NamedTuple):
    """The rows of a table as TSV has them: its columns, and the words of each row."""

    columns: list[Column]
    rows: list[list[str]]

    @classmethod
    def of(cls, table: Any) -> "Lines":
        """Return the Lines of a table."""
        written = io.BytesIO()
        table.to_tsv(written)
        text = written.getvalue().decode("utf-8", "surrogateescape")
        rows = [line.split("\t") for line in text.split("\n")[1:-1]]
        columns = []
        for name in table.tsv:
            kind = np.dtype(table.columns[name].kind).kind
            columns.append(Column(heading_of(name), kind in "if"))
        return cls(columns, rows)


class Closest:
    """The closest rows of batches, of equally close ones the first.

    Memory goes by the rows that are kept, and as many again that wait.
    """

    def __init__(self, most: int = ROWS, by_pattern: bool = False) -> None:
        """most: rows that are kept; by_pattern: whether of each pattern, of hits."""
        self.rows = 0  # that came
        self._most = most
        self._by_pattern = by_pattern
        self._batches: list[Any] = []
        self._waiting = 0

    def add(self, batch: Batch) -> None:
        """Take a batch."""
        self.rows += len(batch)
        self._waiting += len(batch)
        self._batches.append(batch)
        if self._waiting > WAITING:
            self._drop()

    def batches(self) -> list[Any]:
        """Return batches of the closest rows, in the order in which they came."""
        self._drop()
        return self._batches

    def _drop(self) -> None:
        """Drop all rows but the closest.

        distance    2 0 | 1 1 2        most = 3
        kept          0 | 1 1
        """
        batches = self._batches
        distance = distances_of(batches)
        group = np.zeros(len(distance), np.int64)
        if self._by_pattern and batches:
            group = np.concatenate([batch.pattern for batch in batches])
        order = order_of(group, distance)
        group_bounds = bounds_of(np.bincount(group))
        rank = np.arange(len(order)) - group_bounds[group[order]]
        while self._most > 1 and np.count_nonzero(rank < self._most) > KEPT:
            self._most //= 2
        rows = np.sort(order[rank < self._most])

        # Which of the rows are of each batch, and where they are in it.
        batch_bounds = bounds_of([len(batch) for batch in batches])
        parts = np.split(rows, np.searchsorted(rows, batch_bounds[1:-1]))
        self._batches = []
        for batch, first, part in zip(batches, batch_bounds.tolist(), parts, strict=False):
            if len(part):
                self._batches.append(batch.picked(part - first))
        self._waiting = 0


def distances_of(batches: Iterable[Batch]) -> Longs:
    """Return each row's distance, int64[n], 0 for rows that have no distance."""
    parts: list[Longs | Ints] = [np.zeros(0, np.int64)]
    for batch in batches:
        if isinstance(batch, HitBatch):
            parts.append(batch.distance)
        elif isinstance(batch, ProductBatch):
            parts.append(batch.forward.distance + batch.reverse.distance)
        else:
            parts.append(np.zeros(len(batch), np.int64))
    return np.concatenate(parts).astype(np.int64)


class Page:
    """A page of the results of a search. The closest rows are kept as they come.

    Raises OutputError where Jinja2 or Matplotlib is missing.
    """

    def __init__(self, of_guides: bool = False) -> None:
        """of_guides: whether rows are the sites of guides; some sites of each guide are kept
        then."""
        needed("jinja2", "a page", "Jinja2")
        load_figure("a page")
        self._closest = Closest(SITES, by_pattern=True) if of_guides else Closest()

    def add(self, batch: Batch) -> None:
        """Keep the closest rows of a batch."""
        self._closest.add(batch)

    def write(self, target: Any, command: str, facts: Mapping[str, Any], table: Any) -> None:
        """Write the page of a table to a binary handle; facts: as --json has them."""
        batches = self._closest.batches()
        rows = self._closest.rows
        kept = _with_batches(table, batches)
        sections = [*_facts_sections(facts), _closest_section(kept, rows)]
        if table.noun == "row":
            sections.insert(1, _matrix_section(kept, rows))
        _write(target, command, facts, kept, rows, sections)

    def write_guides(
        self, target: Any, command: str, facts: Mapping[str, Any], table: Any, sites: Any
    ) -> None:
        """Write the page of a table of guides; sites: the table of the rows that were kept."""
        order = rank_of_guides(
            table.specificity, np.concatenate([each.counts for each in table.batches]), table.gc
        )
        best = table[order[:ROWS]]
        kept = _with_batches(sites, self._closest.batches())
        section = _guides_section(best, len(table), kept)
        _write(target, command, facts, best, len(table), [section])


def write_page(target: Any, table: Any) -> None:
    """Write a page of a table that Python has to a binary handle.

    Raises OutputError where Jinja2 or Matplotlib is missing.
    """
    page = Page()
    for batch in table.batches:
        page.add(batch)
    page.write(target, f"{table.noun}s", {}, table)


def _with_batches(table: Any, batches: Sequence[Any]) -> Any:
    """Return a table like another, with the rows of batches."""
    found = copy(table)
    found.take(batches)
    return found


def _closest_section(table: Any, row_count: int) -> Section:
    """Return the rows of a table, the closest first; row_count: how many there were."""
    columns, lines = Lines.of(table)
    order = np.argsort(distances_of(table.batches), kind="stable")
    rows = [[Cell(word) for word in lines[row]] for row in order.tolist()]
    title = "Assays and genomes" if table.noun == "row" else f"{table.noun}s".capitalize()
    return Section("rows", title, _part(len(rows), row_count, _noun(table)), columns, rows)


def _noun(table: Any) -> str:
    """Return the word for a row of a table on a page."""
    return "pairing" if table.noun == "row" else table.noun


def _part(shown: int, row_count: int, noun: str) -> str:
    """Return which of the rows are shown, in words."""
    if shown == row_count:
        return f"All {row_count:,} {noun}s." if row_count > 1 else f"{counted(row_count, noun)}."
    return f"The closest {shown:,} of {row_count:,} {noun}s; the table of the search has all."


def _matrix_section(table: Any, row_count: int) -> Section:
    """Return the verdicts of assays in genomes, a line a genome.

    genome   a          b
    g1       yes, 0     no: forward
    g2       unknown: probe   yes, 2
    """
    genomes, which = genomes_of(table.genome, table.assay)
    verdicts: list[dict[str, Cell]] = [{} for _ in genomes]
    for number, assay, cell in zip(which, table.assay, _verdicts(table), strict=True):
        verdicts[number][assay] = cell
    assays = table.labels.words
    rows = []
    for genome, of_genome in zip(genomes, verdicts, strict=True):
        rows.append([Cell(genome), *(of_genome.get(assay, Cell("")) for assay in assays)])
    columns = [Column("genome", False), *(Column(assay, False) for assay in assays)]
    note = "Whether each assay amplifies each genome: yes with the differences of its oligos in "
    note += "all, or why not."
    if len(table) < row_count:
        note += f" Of {row_count:,} pairs the first {len(table):,}."
    return Section("matrix", "Verdicts", note, columns, rows)


def _verdicts(table: Any) -> Iterator[Cell]:
    """Yield whether each assay amplifies each genome, with its differences in all, or why not."""
    reasons = np.full(len(table), "", object)
    if "reason" in table.columns:
        reasons = table.reason
    oligos = (table.forward, table.reverse, table.probe)
    differences = np.nan_to_num(oligos).sum(axis=0).astype(np.int64)
    for verdict, reason, count in zip(table.amplifies, reasons, differences.tolist(), strict=True):
        words = f"{verdict}: {reason}" if reason else str(verdict)
        yield Cell(f"yes, {count}" if verdict == "yes" else words, verdict)


def _guides_section(table: Any, guide_count: int, sites: Any) -> Section:
    """Return guides by rank, each with the sites that are kept; guide_count: of all guides."""
    columns, lines = Lines.of(table)
    columns = [Column("rank", True), *columns]
    rows = []
    for rank, line in enumerate(lines, 1):
        rows.append([Cell(str(rank)), *map(Cell, line)])
    names = [column.name for column in columns]
    opener = names.index("guide") if "guide" in names else 0
    note = "A button opens the closest sites of its guide."
    if len(table) < guide_count:
        note += f" The best {len(table):,} of {guide_count:,} guides."
    opened = _opened(table, sites)
    return Section("guides", "Guides by rank", note, columns, rows, opened, opener)


def _opened(table: Any, sites: Any) -> list[Opened]:
    """Return the part that opens below each guide: the closest of its kept sites."""
    counts = [each.counts.sum(axis=1) for each in table.batches]
    site_counts = np.concatenate([np.zeros(0, np.int64), *counts])
    names, by_guide = _sites_by_guide(sites, max(1, ROWS // max(len(table), 1)))
    opened = []
    for guide, count in zip(table.guide, site_counts.tolist(), strict=True):
        shown = by_guide.get(guide, [])
        note = f"{guide}: {_part(len(shown), count, 'site')}"
        opened.append(Opened(note, names, shown))
    return opened


def _sites_by_guide(sites: Any, most: int) -> tuple[list[str], dict[str, list[Site]]]:
    """Return the names of the columns of sites, and the sites of each guide, at most so many, the
    closest first."""
    columns, lines = Lines.of(sites)
    drawn = ("pattern", "cigar", "match")
    chosen = [number for number, column in enumerate(columns) if column.name not in drawn]
    queries = sites.query.tolist()
    cigars = sites.cigar.tolist()
    texts = sites.match.tolist()
    found: dict[str, list[Site]] = {}
    for row in np.argsort(distances_of(sites.batches), kind="stable").tolist():
        of_guide = found.setdefault(queries[row], [])
        if len(of_guide) < most:
            cells = [lines[row][number] for number in chosen]
            alignment = aligned(queries[row], cigars[row], texts[row], sites.pam_first)
            of_guide.append(Site(cells, *alignment))
    return [columns[number].name for number in chosen], found


def aligned(pattern: str, cigar: str, text: str, pam_first: bool) -> tuple[str, str, str]:
    """Return the three lines of an alignment of a pattern and a PAM, which is as the text has it.

    pam_first: whether the PAM stands before the pattern.

        ACGT, `2=1D2=3=`, ACTGTAGG  ->  AC-GTAGG
                                        || |||||
                                        ACTGTAGG
    """
    ops = "".join(int(length) * op for length, op in _RUN.findall(cigar))
    pam_length = len(ops) - ops.count("D") - len(pattern)
    if pam_first:
        above = iter(text[:pam_length] + pattern)
    else:
        above = iter(pattern + text[len(text) - pam_length :])
    below = iter(text)
    return (
        "".join(["-" if op == "D" else next(above) for op in ops]),
        "".join(["|" if op == "=" else " " for op in ops]).rstrip(),
        "".join(["-" if op == "I" else next(below) for op in ops]),
    )


def _facts_sections(facts: Mapping[str, Any]) -> Iterator[Section]:
    """Yield a table with the facts of each pattern, pair or assay."""
    for key, title in TITLES.items():
        if not facts.get(key):
            continue
        names: list[str] = []
        rows = []
        for fact in facts[key][:ROWS]:
            flat: dict[str, Any] = {}
            for name, value in fact.items():
                values = enumerate(value) if isinstance(value, list) else ()
                flat |= {f"d{distance}": count for distance, count in values} or {name: value}
            names = list(flat)
            rows.append([Cell(str(value)) for value in flat.values()])
        columns = [Column(name, number > 0) for number, name in enumerate(names)]
        yield Section(key, title, "", columns, rows)


def _write(
    target: Any,
    command: str,
    facts: Mapping[str, Any],
    table: Any,
    row_count: int,
    sections: Sequence[Section],
) -> None:
    """Write a page of sections and of a picture of a table to a binary handle.

    row_count: how many rows there were.
    """
    import jinja2

    found = counted(row_count, _noun(table))
    columns = {column.name: column for section in sections for column in section.columns}
    source = files("kmatch.pictures").joinpath("report.html").read_text("utf-8")
    template = jinja2.Environment(autoescape=True).from_string(source)
    pieces = template.generate(
        version=__version__,
        title=f"kmatch {command}: {found}",
        facts=_asked(facts),
        picture=_picture(table, row_count, facts),
        sections=sections,
        meanings=[column for column in columns.values() if column.meaning],
    )
    for piece in pieces:
        target.write(piece.encode("utf-8", "replace"))


def _asked(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the question and the files, in words, as (name, words)."""
    asked = [("kmatch", __version__)]
    if "command_line" in facts:
        asked.append(("Command", facts["command_line"]))
    if "inputs" in facts:
        asked.append(("Files", ", ".join(facts["inputs"])))
    if "records" in facts:
        searched = f"{counted(facts['records'], 'record')}, {facts['letters']:,} letters"
        asked.append(("Searched", f"{searched}, in {facts['seconds']} s on {facts['device']}"))
    return asked


def _picture(table: Any, row_count: int, facts: Mapping[str, Any]) -> Any:
    """Return a picture of a table as SVG for HTML; row_count: how many rows there were."""
    from markupsafe import Markup

    drawn = table_of(table, facts.get("lengths"))
    if len(table) < row_count:
        heading = f"the {len(table):,} closest of {counted(row_count, table.noun)}"
        drawn = replace(drawn, heading=heading)
    svg = saved(drawn.draw(), "svg").decode()
    return Markup(svg[svg.index("<svg") :])
