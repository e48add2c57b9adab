"""What an engine can do: the kernels of a device as searches call them.

Both engines carry out `Engine`. What only one of them has is a protocol of its own, for which a
search asks by `isinstance`. Planes, letters and results are arrays in host memory whatever the
device. `text` is a Text, a chunk whose planes no longer change; `capacity` is how many hit codes a
scan has memory for.
"""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kmatch.engine.alignments import Columns, Ends, Traced, Windows, Written
from kmatch.engine.constraints import Constraints, Sites, View
from kmatch.engine.differences import DifferenceQuery, Profile
from kmatch.engine.geometry import Layout, Text
from kmatch.engine.hits import Found
from kmatch.engine.primers import Starts, WorkDone
from kmatch.engine.queries import QueryArrays, ReadingArrays

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
Words = NDArray[np.uint64]


class Scan(Protocol):
    """A scan of a chunk under way. Every scan ends by one of these, called once."""

    def found(self) -> Found:
        """What it found, once it is done."""

    def stop(self) -> None:
        """Give the scan up; returns when nothing of it is under way."""


class KernelTime(Protocol):
    """What the kernels of an engine do, and the time they take.

    rows: of a lane, in the chunk that was scanned last; done: of each call of `extend_primers`.
    """

    rows: int
    done: list[WorkDone]

    @property
    def seconds(self) -> float:
        """What they took so far; waits for those under way."""


class Engine(Protocol):
    """The kernels of a device.

    name: `cpu` or `cuda`; place: what runs them, `cpu` or `cuda:N`; threads: of the CPU;
    description: of the device and why it was chosen, for people; layout: the chunks that it is
    fastest with; capacity: the hit codes of a chunk that it has memory for; expected: seconds that
    the search is expected to take, or None.
    """

    name: str
    place: str
    threads: int
    description: str
    layout: Layout
    capacity: int
    expected: float | None

    def time_kernels(self) -> KernelTime:
        """Time the kernels of scans and of `extend_primers` from now on, of scans by events of a
        GPU. On the CPU scans are then waited for as they start."""

    def planes(self, size: int) -> Words:
        """uint64[size], uninitialised, for planes that do not change once they were scanned."""

    def keep(self, planes: Words) -> None:
        """Remember of planes in other memory that they do not change."""

    def fetch(self, planes: Words) -> None:
        """Begin to bring planes that will be scanned soon to the device; returns at once."""

    def pack(self, letters: Bytes, text: Text) -> None:
        """Fill the planes A, C, G and T of a chunk.

        letters: uint8[≥ 64·words·rows + halo + 64·(words + 1)], ASCII in any case, 0 beyond the
        text; text: whose planes are uint64[≥ 4·plane_words].
        """

    def unite(self, text: Text, masks: Bytes) -> Text:
        """The same chunk with planes of IUPAC letters behind A, C, G and T.

        masks: uint8[x], the bases of planes 4 … 4+x−1. The planes on the host may be without them.
        """

    def read_text(self, text: Text, letters: Bytes) -> None:
        """Fill `letters`, uint8[n], with the masks of a chunk's first n letters, at most all."""

    def start_scan(self, text: Text, query: QueryArrays, k: int, capacity: int) -> Scan:
        """A Scan for the windows within k mismatches of each query; position: where one starts."""

    def start_edit(
        self, text: Text, query: DifferenceQuery, filtering: bool | None, capacity: int
    ) -> Scan:
        """A Scan for the anchored ends of each query within its limit.

        filtering: whether to filter before the scan, None to have the engine choose. Position is
        that of the letter read last; some codes come twice. A query read upwards owns the positions
        halo … halo + 64·words·rows − 1: what lies before warms up the recurrence, so a genome
        begins with `halo` empty positions. One read downwards owns 0 … 64·words·rows − 1. The halo
        is at least m + k of every query.
        """

    def smallest_edit(self, text: Text, reading: ReadingArrays, bounds: Numbers) -> Numbers:
        """The smallest distance of each query in a chunk, int64[Q], or bound + 1 if it is larger.

        bounds: int64[Q], smaller than m, −1 where nothing is sought.
        """

    def profiles(self, reading: ReadingArrays) -> Profile:
        """The Profile of all queries, which `trace` reads."""

    def trace(
        self,
        text: Text,
        letters: Bytes,
        query: DifferenceQuery,
        ends: Ends,
        traced: Traced,
        columns: Columns,
    ) -> None:
        """Find the other end of anchored ends, and write their alignments where they are wanted.

        letters: the chunk's letters as masks, or none where they are to be read from the planes;
        traced, columns: filled here; op_ends is empty where alignments are not wanted.
        """

    def read_stretch(self, view: View, position: int, letters: Bytes) -> None:
        """Fill `letters` with the masks of a View's letters from a position on."""

    def stand_beside(
        self,
        view: View,
        query: DifferenceQuery,
        constraints: Constraints,
        ends: tuple[Numbers, Numbers],
        beside: Numbers,
    ) -> None:
        """Tell of anchored ends, (position, query), how many letters the PAM beside them has: fills
        `beside`, −1 where none stands there or a letter does not match that has to."""

    def constrained_distances(
        self, view: View, query: DifferenceQuery, constraints: Constraints, ends: Ends
    ) -> None:
        """Replace the distances of anchored ends by those of alignments that keep to constraints,
        −1 where none does within the query's limit."""

    def trace_constrained(
        self,
        view: View,
        query: DifferenceQuery,
        constraints: Constraints,
        ends: Ends,
        traced: tuple[Numbers, Numbers, Numbers],
        columns: Columns,
    ) -> None:
        """As `trace`, for alignments that keep to constraints, with the PAM among the columns.

        traced: (other, size, letters of the PAM), int64[n] each.
        """

    def align_gapless(
        self, text: Text, windows: Windows, written: Written, columns: Columns
    ) -> None:
        """Write the alignments of windows with the patterns that they match; fills columns."""

    def read_sites(
        self,
        text: Text,
        letters: Bytes,
        positions: Numbers,
        minus: Bytes,
        length: int,
        windows: Bytes,
    ) -> None:
        """Write windows of a chunk one after another, each in the direction of its strand.

        letters: as for `trace`; positions: int64[n], where the windows start; minus: uint8[n];
        length: letters of a window; windows: uint8[≥ n·length], ASCII, filled here.
        """

    def extend_primers(
        self,
        starts: Starts,
        columns: Bytes,
        k: int,
        on_progress: Callable[[float], object] | None = None,
        sizes: Any = None,
    ) -> WorkDone:
        """Raise the bounds of starts to what a background asks for, in place.

        Afterwards each is the largest of what it was and the smallest length up to the limit with k
        differences from every substring of the columns, or limit + 1 where there is none, raised so
        that start + bound never falls within a record. columns: uint8, background letters (see
        `kmatch.engine.columns`); k: 1 or more; on_progress(share) hears how much is done; sizes:
        how the engine cuts the work, which tests make tiny.
        """


@runtime_checkable
class SeedLookup(Protocol):
    """An engine that can look up the exact pieces of patterns of A, C, G and T."""

    def seeds_pay(self, codes: Bytes, k: int, queries: int) -> bool:
        """Whether looking up is faster than comparing every position with every query.

        codes: uint8[n, m], letters 0 to 3 of some of the patterns, m at most 64.
        """

    def seed_tables(self, codes: Bytes, ranks: NDArray[Any], exact: NDArray[Any], k: int) -> Any:
        """The tables of queries as they are read along the forward text, for `start_seeds`.

        codes: uint8[Q, m]; ranks: int[Q], those of the queries among R; exact: bool[R, m], letters
        that must match, by rank.
        """

    def start_seeds(self, text: Text, tables: Any, k: int, capacity: int) -> Scan:
        """A Scan for the windows within k mismatches of the queries of some tables, by rank."""


@runtime_checkable
class AnchorScan(Protocol):
    """An engine that can search for differences beside the sites of a PAM alone."""

    def anchors_pay(self, query: DifferenceQuery, share: float) -> bool:
        """Whether that is faster than a scan; share: of positions that are sites, on a strand."""

    def find_anchors(self, view: View, query: DifferenceQuery, constraints: Constraints) -> Sites:
        """The Sites in the letters of a View, and positions whose PAM it does not show."""

    def start_anchors(
        self, view: View, query: DifferenceQuery, sites: Sites, capacity: int
    ) -> Scan:
        """A Scan for the ends at sites within the limits of their queries, as `start_edit`."""


@runtime_checkable
class SiteChoice(Protocol):
    """An engine that may be faster when the sites of a PAM are found first."""

    def sites_pay(self, queries: int, strands: int, share: float) -> bool:
        """Whether to find the sites before patterns are compared there.

        queries: patterns times strands; share: of the positions that are sites, on each strand.
        """
