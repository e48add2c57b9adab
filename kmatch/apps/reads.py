"""Decisions about reads: the reads that hold a pattern, and the barcode of each read.

Reads are searched in windows of whole records, in the order of their file.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kmatch.arguments import checked_count
from kmatch.arrays import Bools, Longs, bounds_of, first_of_each, gather, order_of, run_starts
from kmatch.engine.types import Texts
from kmatch.errors import InputError, NameWarning, listed, shown, warn
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import HitBatch, no_hits
from kmatch.results.demux import AMBIGUOUS, ASSIGNED, NO_BARCODE, UNASSIGNED, ReadBatch, TextNames
from kmatch.results.folder import Folder
from kmatch.results.lines import Names
from kmatch.results.output import is_special
from kmatch.search.begin import begin_here
from kmatch.search.panel import pattern_distances
from kmatch.search.query import RUN, Query, Run
from kmatch.search.search import Progress
from kmatch.sequences.alphabet import reverse_complement
from kmatch.sequences.patterns import PatternSet
from kmatch.sequences.reads import SUFFIXES, RawReads, ReadFile, Spans, check_mates, suffix_of
from kmatch.sequences.records import Ahead, RecordNames, Stretch, clean_names, in_turn
from kmatch.sequences.records import Progress as Tell

MANY = 1 << 16  # sites that wait until all but the closest are dropped


@dataclass(frozen=True)
class Window:
    """Reads that are searched together, their mates, if there are, and the sites in them.

    first: the number of the first one in its file; batches: of sites, whose records count from it,
    to be iterated once, before the next Window is asked for.
    """

    first: int
    reads: RawReads
    mates: RawReads | None
    batches: Iterator[HitBatch]

    def __len__(self) -> int:
        return len(self.reads)

    def named(self, batch: HitBatch) -> HitBatch:
        """Return sites with the names of their records, which are numbered over the file."""
        names = {self.first + row: self.reads.name_of(row) for row in batch.names}
        return replace(batch, record=self.first + batch.record, names=names)


class _End(Genome):
    """A stretch of each read of the window at hand, which is searched window by window.

    strand: `both` of whole reads, `+` of their first letters, `-` of their last ones.
    """

    strand = "both"
    stretch = Stretch(RecordNames.of([]), np.zeros(0, np.int64), np.zeros(0, np.uint8))

    def parts(self, on_progress: Tell | None = None, ahead: Ahead = in_turn) -> Iterator[Stretch]:
        return iter([self.stretch])


class ReadSearch:
    """The search for patterns in the reads of a file: iterated once, it gives Windows.

    query: `hamming` or `edit`; within: how many letters at the beginning of a read are searched
    for patterns, and at its end for their reverse complements, None for the whole read. Warns of
    patterns that are longer than every read. Raises InputError for arguments that do not fit.
    """

    def __init__(
        self,
        query: Query,
        reads: ReadFile,
        mates: ReadFile | None = None,
        within: int | None = None,
        run: Run = RUN,
    ) -> None:
        self._reads = reads
        self._mates = mates
        self._patterns = query.patterns
        self._within = within
        self._ends: list[tuple[_End, Any]] = []
        for strand in ("both",) if within is None else ("+", "-"):
            end = _End(reads.path, keep=False)
            end.strand = strand
            search = begin_here(query._replace(strand=strand), Genomes(end), run)
            self._ends.append((end, search))
            self.engine = search.engine
        self.progress = Progress()

    def __iter__(self) -> Iterator[Window]:
        with self._reads, self._mates or nullcontext():
            while len(reads := self._reads.read()):
                self.progress.hear(*self._reads.progress)
                self.progress.add(reads.lengths)
                first = self._reads.count - len(reads)
                yield Window(first, reads, self._mates_of(reads), self._batches(reads))
            self._mates_of(reads)
        self._warn_of_long_patterns()

    def _mates_of(self, reads: RawReads) -> RawReads | None:
        """Return the mates of reads that were just taken, none behind the last ones."""
        if self._mates is None:
            return None
        mates = self._mates.read(max(len(reads), 1))
        check_mates((self._reads, self._mates), reads, mates)
        return mates

    def _batches(self, reads: RawReads) -> Iterator[HitBatch]:
        """Yield the sites in reads."""
        for end, search in self._ends:
            letters = reads.letters
            sizes = reads.lengths
            begins = reads.bounds[:-1]
            if self._within is not None:
                sizes = np.minimum(sizes, self._within)
                if end.strand == "-":
                    begins = reads.bounds[1:] - sizes
                letters = gather(letters, begins, bounds_of(sizes))
            end.stretch = Stretch(RecordNames.of([""] * len(reads)), sizes, letters)
            for batch in search.everywhere():
                moved = (begins - reads.bounds[:-1])[batch.record]
                yield replace(batch, start=batch.start + moved, end=batch.end + moved)

    def _warn_of_long_patterns(self) -> None:
        is_long = self._patterns.lengths > self.progress.longest
        if is_long.any():
            warn(
                f"{self._patterns.told(int(np.argmax(is_long)))}, and every read of "
                f"{self._reads.label} fewer, at most {self.progress.longest:,}; are the files "
                "exchanged?"
            )


class ReadFilter:
    """Writes reads that hold a pattern, or with `invert` reads that hold none, to a binary handle.

    others: takes the rest, None for nothing; mates: takes the mates of the reads that are kept;
    kept, sites: their numbers so far.
    """

    def __init__(self, invert: bool, output: Any, others: Any = None, mates: Any = None) -> None:
        self._invert = invert
        self._output = output
        self._others = others
        self._mates = mates
        self.kept = 0
        self.sites = 0

    def hits(self, window: Window) -> Iterator[HitBatch]:
        """Yield the sites in the reads of a Window, and write the reads."""
        is_kept = np.full(len(window), self._invert)
        for batch in window.batches:
            is_kept[batch.record] = not self._invert
            self.sites += len(batch)
            yield batch
        rows = np.flatnonzero(is_kept)
        self.kept += len(rows)
        self._output.write(window.reads.written(rows)[1])
        if self._others:
            self._others.write(window.reads.written(np.flatnonzero(~is_kept))[1])
        if self._mates and window.mates:
            self._mates.write(window.mates.written(rows)[1])


class Sites(NamedTuple):
    """Sites of barcodes, columns of n rows: as in HitBatch, and with the number of the barcode.

    is_far: 1 where there are more differences than k, so that a site counts as a second one alone.
    """

    record: Longs
    start: Longs
    end: Longs
    minus: Longs
    distance: Longs
    barcode: Longs
    is_far: Longs

    def take(self, rows: Longs | Bools) -> "Sites":
        """Return some of them."""
        return Sites(*(column[rows] for column in self))

    def best(self) -> Longs:
        """Return the row of the best site in each record, int64[r].

        Sites are compared by differences, then by barcode. Of one barcode `+` is before `-`, and
        the outermost before others: the first on `+`, the last on `-`.
        """
        is_minus = self.minus == 1
        order = order_of(
            self.record,
            self.distance,
            self.barcode,
            self.minus,
            np.where(is_minus, -self.end, self.start),
            np.where(is_minus, -self.start, self.end),
        )
        return first_of_each(order, self.record)

    def apart_from(self, best: "Sites") -> "Sites":
        """Return the sites of other barcodes than the best one of the same record."""
        barcode = best.by_record(best.barcode, int(self.record.max(initial=0)) + 1)
        return self.take(self.barcode != barcode[self.record])

    def by_record(self, values: Longs, count: int) -> Longs:
        """Return values of sites by record, int64[count], -1 for records without a site."""
        found = np.full(count, -1)
        found[self.record] = values
        return found

    def closest(self) -> "Sites":
        """Return the sites that may be the best one of a record, or its second: three at the most.

        These are the best one, the best one of another barcode, and the best one that is not far.
        """
        best = self.take(self.best())
        others = self.apart_from(best)
        near = self.take(self.is_far == 0)
        return joined_sites([best, others.take(others.best()), near.take(near.best())])


def joined_sites(parts: Sequence[Sites]) -> Sites:
    """Return the rows of all parts."""
    return Sites(*map(np.concatenate, zip(*parts, strict=True)))


class Barcodes:
    """Barcodes, each of one pattern or of several that share its name.

    names: of the barcodes; most: the differences that their sites have at the most; query: the
    search for sites, of second barcodes too. Warns of barcodes that are each other's reverse
    complement, if the whole read is searched. Raises InputError for barcodes that cannot be told
    apart, and for numbers that do not fit.
    """

    def __init__(
        self,
        patterns: PatternSet,
        k: int | str,
        edit: bool = False,
        margin: int = 1,
        within: int | None = None,
        max_unknown: int | None = None,
    ) -> None:
        self.names = list(dict.fromkeys(patterns.names))
        numbers = {name: number for number, name in enumerate(self.names)}
        self._number = np.array([numbers[name] for name in patterns.names], np.int64)
        self._limits = pattern_distances(patterns, k)
        self._margin = checked_count("margin", margin, 1)
        self.most = int(self._limits.max())
        farthest = self.most + margin - 1
        _check_lengths(patterns, farthest, within)
        _check_letters(patterns, within is None)
        problem, report = ("edit", "loci") if edit else ("hamming", None)
        self.query = Query(problem, patterns, farthest, report=report, max_unknown=max_unknown)

    def assigned(self, window: Window) -> ReadBatch:
        """Return the rows of the reads of a Window."""
        sites = self._sites(window.batches)
        near = sites.take(sites.is_far == 0)
        best = near.take(near.best())
        barcode = best.by_record(best.barcode, len(window))
        distance = best.by_record(best.distance, len(window))

        # The best sites of other barcodes in the reads that have one.
        others = sites.apart_from(best)
        second = others.take(others.best())
        second = second.take(barcode[second.record] >= 0)
        second_distance = second.by_record(second.distance, len(window))

        is_near = (second_distance >= 0) & (second_distance - distance < self._margin)
        status = np.where(is_near, AMBIGUOUS, ASSIGNED)
        status[barcode < 0] = UNASSIGNED
        return ReadBatch(
            window.first + np.arange(len(window)),
            best.by_record(best.start, len(window)),
            best.by_record(best.end, len(window)),
            {},
            read=_clean_names(window.reads),
            length=window.reads.lengths,
            status=status,
            barcode=barcode,
            distance=distance,
            minus=best.by_record(best.minus, len(window)),
            second=second.by_record(second.barcode, len(window)),
            second_distance=second_distance,
        )

    def _sites(self, batches: Iterable[HitBatch]) -> Sites:
        """Return the closest sites in the reads of some batches."""
        parts = [self._sites_of(no_hits())]
        waiting = 0
        for batch in batches:
            parts.append(self._sites_of(batch))
            waiting += len(batch)
            if waiting > MANY:
                parts = [joined_sites(parts).closest()]
                waiting = 0
        return joined_sites(parts)

    def _sites_of(self, batch: HitBatch) -> Sites:
        return Sites(
            batch.record,
            batch.start,
            batch.end,
            batch.minus.astype(np.int64),
            batch.distance.astype(np.int64),
            self._number[batch.pattern],
            (batch.distance > self._limits[batch.pattern]).astype(np.int64),
        )


def _check_lengths(patterns: PatternSet, farthest: int, within: int | None) -> None:
    """Raise InputError for barcodes that are too short or too long for the arguments.

    farthest: the differences within which second barcodes are looked for.
    """
    lengths = patterns.lengths
    shortest = int(np.argmin(lengths))
    if farthest >= lengths[shortest]:
        raise InputError(
            f"{_told(patterns, shortest)}, and second barcodes would be looked for within "
            f"{farthest} differences, k + margin - 1, which has to be less"
        )
    longest = int(np.argmax(lengths))
    if within is not None and checked_count("within", within) < lengths[longest]:
        raise InputError(
            f"{_told(patterns, longest)}, and within is {within}; give as many or more"
        )


def _check_letters(patterns: PatternSet, is_whole: bool) -> None:
    """Raise InputError for names and letters that do not tell barcodes apart.

    Warns of barcodes that are each other's reverse complement, if whole reads are searched.
    """
    names: dict[bytes, str] = {}  # by letters
    for row, name in enumerate(patterns.names):
        if name in NO_BARCODE:
            raise InputError(f"a barcode is named '{name}', as reads without one are; rename it")
        letters = patterns.masks[patterns.begins[row] : patterns.begins[row + 1]]
        other = names.setdefault(letters.tobytes(), name)
        if other != name:
            raise InputError(
                f"barcodes {listed([other, name])} have the same letters; leave one of them out"
            )
    for known, name in names.items() if is_whole else ():
        letters = reverse_complement(np.frombuffer(known, np.uint8))
        other = names.get(letters.tobytes(), name)
        if other != name:
            warn(
                f"barcodes {listed([name, other])} are each other's reverse complement, so that "
                "reads with either are ambiguous; a search within the ends of reads tells them "
                "apart"
            )
            return


def _told(patterns: PatternSet, row: int) -> str:
    """Return how messages begin that name a barcode and its letters."""
    return f"barcode '{shown(patterns.names[row])}' has {patterns.lengths[row]} letters"


def _clean_names(reads: RawReads) -> Texts:
    """Return the names of reads without control characters; warns of these."""
    names = Texts(*reads.name.read(reads.data))
    if ((names.letters < ord(" ")) | (names.letters > ord("~"))).any():
        words, control = clean_names(TextNames(names).words)
        if control is not None:
            warn("names of reads hold control characters; '_' stands for each", NameWarning)
        names = Names(words).texts
    return names


class Demultiplexer:
    """Gives reads their barcodes, and writes them to the files of a Folder, if there is one.

    trim: whether assigned reads lose their barcode and the letters outside it.
    """

    def __init__(
        self, barcodes: Barcodes, folder: Folder | None = None, trim: bool = False
    ) -> None:
        self._barcodes = barcodes
        self._folder = folder
        self._trim = trim

    def batch(self, window: Window) -> ReadBatch:
        """Return the rows of the reads of a Window."""
        batch = self._barcodes.assigned(window)
        if self._folder:
            self._split(window, batch, self._folder)
        return batch

    def _split(self, window: Window, batch: ReadBatch, folder: Folder) -> None:
        """Add the reads of a Window, and their mates, to the files of their barcodes."""
        groups = batch.groups(len(self._barcodes.names))
        order = np.argsort(groups, kind="stable")
        firsts = run_starts(groups[order])
        written = [window.reads.written(order)]
        if self._trim:
            written = [window.reads.trimmed(order, _outside(batch).take(order))]
        if window.mates:
            written.append(window.mates.written(order))
        for ending, (bounds, data) in enumerate(written):
            pieces = np.split(data, bounds[firsts[1:]])
            folder.add(ending, zip(groups[order[firsts]].tolist(), pieces, strict=True))


def _outside(batch: ReadBatch) -> Spans:
    """Return the part of each read that is left without its barcode and the letters outside it.

    +  ····[barcode]■■■■■■■■■      -  ■■■■■■■■■[barcode]····
    """
    is_assigned = batch.status == ASSIGNED
    is_minus = batch.minus == 1
    begin = np.where(is_assigned & ~is_minus, batch.end, 0)
    end = np.where(is_assigned & is_minus, batch.start, batch.length)
    return Spans(begin, end)


def split_folder(
    path: Any, barcodes: Barcodes, reads: ReadFile, mates: ReadFile | None, threads: int | None
) -> AbstractContextManager[Folder | None]:
    """Return the Folder of files for reads by their barcodes and for mates, None for no path."""
    if path is None:
        return nullcontext()
    files = [file for file in (reads, mates) if file]
    endings = [suffix_of(file.path, file.form) or f".{file.form.lower()}.gz" for file in files]
    if mates:
        endings = [f"_{number}{ending}" for number, ending in enumerate(endings, 1)]
    return Folder(path, [*barcodes.names, *NO_BARCODE], endings, threads)


def check_suffix(reads: ReadFile, *paths: Any) -> None:
    """Raise InputError for a path that reads are to be written to, with a suffix of another form.

    paths: None and `-` are standard output; devices and pipes have any name.
    """
    for path in paths:
        if path in (None, "-") or is_special(path) or suffix_of(path, reads.form):
            continue
        known = " or ".join(suffix for suffix in SUFFIXES if suffix_of(suffix, reads.form))
        raise InputError(
            f"{path}: {reads.label} is {reads.form}, which is written as it stands; name the file "
            f"{known}, or these with .gz or .zst"
        )
