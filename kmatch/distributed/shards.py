"""What goes to workers and comes back: jobs, shards, letters and answers."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Longs
from kmatch.distributed.files import SharedFile
from kmatch.engine.host.letters import LETTERS
from kmatch.engine.primers import Starts
from kmatch.genome import Genome
from kmatch.packed.part import Margins, PackedPart
from kmatch.search.running import Running
from kmatch.search.shards.extents import Extent
from kmatch.search.shards.found import Found, FoundEdges
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.circles import Circular


class Job(NamedTuple):
    """What all shards of a search have in common.

    version: of kmatch; search(genome=…, running=…): gives HitBatches, or an array; on_circles: the
    same for shards of circular records; running: without those who hear of it; aligned: whether
    alignments are wanted.
    """

    version: str
    search: Callable[..., Any]
    on_circles: Callable[..., Any]
    running: Running
    aligned: bool


class FilesJob(NamedTuple):
    """The same where shards are GenomeFiles.

    view(genome): how each is searched; circular: which records are, or None.
    """

    version: str
    search: Callable[..., Any]
    view: Callable[[Genome], Genome]
    circular: Circular | None
    running: Running
    aligned: bool


class Shard(NamedTuple):
    """A part of a genome that is searched by itself.

    number: counted from 0; label: of the genome; margins: that its search needs; file: the packed
    genome that has it, or None; part: its planes, letters: those of circular records, as
    `pack_letters` gives them; both None where the file has them.
    """

    number: int
    label: str
    extent: Extent
    margins: Margins
    file: SharedFile | None
    part: PackedPart | None = None
    letters: Bytes | None = None

    @property
    def sent(self) -> bool:
        """Whether workers need no file for it."""
        return self.part is not None or self.letters is not None

    def __str__(self) -> str:
        first, last = self.extent.names[0], self.extent.names[-1]
        records = f"record '{first}'" if first == last else f"records '{first}' to '{last}'"
        return f"shard {self.number + 1} of {self.label} ({records})"


class GenomeFiles(NamedTuple):
    """Small genomes that are searched as wholes, one after another.

    number: of the shard; first: the number of the first genome; labels, files: of each; data: what
    is in each file, or None where workers read them.
    """

    number: int
    first: int
    labels: list[str]
    files: list[SharedFile]
    data: list[bytes] | None = None

    @property
    def sent(self) -> bool:
        """Whether workers need no file for it."""
        return self.data is not None

    def __str__(self) -> str:
        return f"shard {self.number + 1} (genomes {self.labels[0]} to {self.labels[-1]})"


class Background(NamedTuple):
    """A whole genome: by its file, or by its letters as for a Shard."""

    label: str
    file: SharedFile | None
    extent: Extent | None
    letters: Bytes | None


class PrimerJob(NamedTuple):
    """What all shards of a search for primers have in common.

    search(starts, background, running=…): gives bounds; the others are those of Job.
    """

    version: str
    search: Callable[..., Longs]
    running: Running
    background: Background


class PrimerShard(NamedTuple):
    """Starts of primers, the first of which is start `begin` of all; sent: whether workers need no
    file of the background."""

    number: int
    begin: int
    starts: Starts
    sent: bool

    def __str__(self) -> str:
        return f"shard {self.number + 1} of the target (starts from {self.begin + 1:,} on)"


class Unseen(NamedTuple):
    """The answer of a worker that has not got the file of a shard."""

    worker: str


class FoundInFiles(NamedTuple):
    """The hits of several genomes, one after another in one set of columns: many small arrays take
    Dask longer than a few large ones.

    numbers: in the shard, of the genomes that have hits; counts: how many each has; names: of its
    records that have hits, by number; circles: letters of those of them that are circular, by
    number, None where none can be.
    """

    hits: Found
    numbers: list[int]
    counts: list[int]
    names: list[dict[int, str]]
    circles: list[dict[int, int] | None]


class Answer(NamedTuple):
    """What a shard's search found: hits with edges, or a value.

    device: that it ran on; warnings: what users should hear.
    """

    hits: Found | None
    edges: FoundEdges | None
    value: Any
    device: str
    warnings: list[str]


def pack_letters(letters: Any) -> Bytes:
    """Letters, ASCII, as masks of four bits, two to a byte."""
    letters = np.ascontiguousarray(letters)
    if len(letters) % 2:
        letters = np.append(letters, np.uint8(ord("N")))
    packed: Bytes = _packed_pairs()[letters.view("<u2")]
    return packed


def unpack_letters(packed: Bytes, count: int) -> Bytes:
    """The letters A, C, G, T and N that `pack_letters` packed; count: how many there are."""
    letters: Bytes = _letter_pairs()[packed].view(np.uint8)
    return letters[:count]


@cache
def _packed_pairs() -> Bytes:
    """The byte of two letters, by both in one number, uint8[65536]."""
    masks = encode_text(np.arange(256, dtype=np.uint8))
    pairs: Bytes = (masks[:, None] << 4 | masks).astype(np.uint8)
    return pairs.reshape(-1)


@cache
def _letter_pairs() -> NDArray[np.uint16]:
    """The two letters of a byte in one number, uint16[256]."""
    codes = np.arange(256)
    return (LETTERS[codes & 15] | LETTERS[codes >> 4].astype(np.uint16) << 8).astype("<u2")
