"""What an engine can do: the kernels of a device as searches call them.

All engines carry out `Engine`; that of the CPU can look pieces up besides. Planes, letters and
results are arrays in host memory whatever the device. `text` is a chunk whose planes no longer
change; `capacity` is the most hit codes that a scan keeps.
"""

from collections.abc import Callable
from typing import Any, Protocol

from kmatch.arrays import Bytes, Longs, Words
from kmatch.engine.codes import Found
from kmatch.engine.geometry import Layout, Text
from kmatch.engine.queries import QueryArrays, ReadingArrays
from kmatch.engine.types import (
    Columns,
    Constraints,
    DifferenceQuery,
    Ends,
    Profile,
    Starts,
    Traced,
    View,
    Windows,
    WorkDone,
    Written,
)


class Scan(Protocol):
    """A scan of a chunk under way. Its caller ends it by calling one of these, once."""

    def found(self) -> Found:
        """What the scan found; waits until it is done."""

    def stop(self) -> None:
        """Give the scan up, and wait until it no longer runs."""


class Smallest(Protocol):
    """A search for smallest distances under way. Its caller ends it by calling one of these."""

    def found(self) -> Longs:
        """The smallest distance of each query, int64[Q], or its bound + 1 if that is smaller."""

    def stop(self) -> None:
        """Give it up; returns when none of it is running any more."""


class KernelTime(Protocol):
    """The time that the kernels of an engine took."""

    @property
    def seconds(self) -> float:
        """Seconds that they took so far; waits for those under way."""


class Engine(Protocol):
    """The kernels of a device.

    name: `cpu` or `cuda`; device: itself, `cpu` or `cuda:N`; threads: of the CPU; description:
    of the device and why it was chosen, for people; layout: the chunks that it is fastest with;
    capacity: the hit codes of a chunk that it has memory for; queues: how many chunks it works on
    side by side.
    """

    name: str
    device: str
    threads: int
    description: str
    layout: Layout
    capacity: int
    queues: int

    def time_kernels(self) -> KernelTime:
        """Time the kernels of scans and of `extend_primers` from now on.

        A GPU times scans by its events; on the CPU a scan is then done when it has been started.
        """

    def planes(self, size: int) -> Words:
        """uint64[size], uninitialised, for planes that do not change once they are scanned."""

    def keep(self, planes: Words) -> None:
        """Note that planes from elsewhere do not change any more."""

    def fetch(self, planes: Words) -> None:
        """Begin to copy planes that will be scanned soon to the device; returns at once."""

    def pack(self, letters: Bytes, text: Text) -> None:
        """Fill the planes A, C, G and T of a chunk.

        letters: uint8[≥ 64·words·rows + halo + 64·(words + 1)], ASCII in any case, 0 beyond the
        text; text: with planes of at least 4·plane_words words, filled here.
        """

    def unite(self, text: Text, masks: Bytes) -> Text:
        """The same chunk with planes of IUPAC letters behind A, C, G and T.

        masks: uint8[x], the bases of planes 4 … 4+x−1. On the host they may be missing.
        """

    def read_text(self, text: Text, letters: Bytes) -> None:
        """Fill `letters`, uint8[n], with the masks of a chunk's first n letters."""

    def spell(self, masks: Bytes, letters: Bytes) -> None:
        """Fill `letters`, uint8[≥ n], with A, C, G, T or N for masks, uint8[n]."""

    def start_scan(self, text: Text, query: QueryArrays, k: int, capacity: int) -> Scan:
        """A Scan for the windows within k mismatches of each query, by where they start."""

    def start_edit(
        self, text: Text, query: DifferenceQuery, way: str | None, capacity: int
    ) -> Scan:
        """A Scan for the anchored ends of each query within its limit.

        way: `filter` or `scan` (see `kmatch.engine.ways`), None to choose. The position of a hit
        is that of the letter read last; some codes come twice. A query that is read upwards owns
        the positions halo … halo + 64·words·rows − 1: those before warm up the recurrence, so a
        genome begins with `halo` empty positions. One that is read downwards owns
        0 … 64·words·rows − 1. The halo is at least m + k of every query.
        """

    def start_smallest(self, text: Text, reading: ReadingArrays, bounds: Longs) -> "Smallest":
        """Start to look for the smallest distance of each query in a chunk.

        bounds: int64[Q], each smaller than m, −1 to leave a query out.
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
        """Find the other end of each anchored end, and write the alignments if asked for.

        letters: the chunk's letters as masks, empty to read them from the planes; traced, columns:
        filled here; an empty op_ends asks for no alignments.
        """

    def read_stretch(self, view: View, position: int, letters: Bytes) -> None:
        """Fill `letters` with the masks of a View's letters from a position on."""

    def stand_beside(
        self,
        view: View,
        query: DifferenceQuery,
        constraints: Constraints,
        ends: tuple[Longs, Longs],
        beside: Longs,
    ) -> None:
        """Fill `beside` with the letters of the PAM beside each anchored end, (position, query); −1
        where there is no PAM, or a required letter does not match."""

    def constrained_distances(
        self, view: View, query: DifferenceQuery, constraints: Constraints, ends: Ends
    ) -> None:
        """Replace the distances of anchored ends by those of alignments within constraints, −1
        where none is within the query's limit."""

    def trace_constrained(
        self,
        view: View,
        query: DifferenceQuery,
        constraints: Constraints,
        ends: Ends,
        traced: tuple[Longs, Longs, Longs],
        columns: Columns,
    ) -> None:
        """As `trace`, for alignments within constraints, with the PAM among the columns.

        traced: (other, size, letters of the PAM), int64[n] each.
        """

    def align_gapless(
        self, text: Text, windows: Windows, written: Written, columns: Columns
    ) -> None:
        """Write the alignments of windows with the patterns that they match into `columns`."""

    def read_sites(
        self,
        text: Text,
        letters: Bytes,
        positions: Longs,
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
        """Raise the bounds of starts to what a background requires.

        A bound becomes the smallest length up to the limit that has k differences from every
        substring of the columns, or limit + 1 where there is none; no bound becomes smaller, and
        start + bound never decreases within a record. columns: uint8, letters of the background
        (see `kmatch.engine.types`); k: 1 or more; on_progress(share) is called with the share of
        the work that is done; sizes: how the engine cuts the work, which tests make tiny.
        """

    def compile_primers(self, length: int) -> None:
        """Have compiled what `extend_primers` takes for primers of up to so many letters."""
