"""Parts of genomes in planes of their own: they show the right letters, and searches take them."""

from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.commands import random_letters
from support.packing import packed
from support.shards import by_shards

import kmatch
from kmatch.distributed import memory
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.packed.part import Margins, PackedPart, PartRecords, pack_part, part_of
from kmatch.packed.reader import PackedRecords
from kmatch.search.edit import edit_batches
from kmatch.search.hamming import hamming_batches
from kmatch.search.shards.extents import Cutter, stretches_of
from kmatch.search.shards.packed import shown_of
from kmatch.sequences.patterns import load_patterns

MARGINS = Margins(64, 16)
TEXTS = st.lists(st.text("ACGTN", max_size=60), min_size=1, max_size=5)
NAMES = [f"r{number}" for number in range(9)]


def genome_of(texts, **geometry):
    return packed(list(zip(NAMES, texts, strict=False)), **geometry)


def extents_of(lengths, letters, context):
    cutter = Cutter(letters, context)
    return [*cutter.add(NAMES[: len(lengths)], np.array(lengths)), *cutter.finish()]


def texts_of(records):
    return [bytes(np.asarray(record.letters)).decode() for record in records.records()]


def shown_by(extent, texts):
    """The letters that an Extent shows of each record."""
    begins = [extent.offset, *[0] * (len(extent.lengths) - 1)]
    ends = [begin + length for begin, length in zip(begins, extent.lengths.tolist(), strict=True)]
    several = texts[extent.first :][: len(ends)]
    return [text[a:b] for text, a, b in zip(several, begins, ends, strict=True)]


@settings(max_examples=60)
@given(TEXTS, st.integers(1, 80), st.integers(0, 30), st.sampled_from([1, 8]), st.integers(1, 90))
@example(["", "ACGT" * 40, "", "", "NNACGTNNT", ""], 30, 9, 1, 64)
def test_parts_of_a_packed_genome(texts, letters, context, words, length):
    """Over the borders of its chunks."""
    file = genome_of(texts, words=words, length=length, halo=64, gap=16).file
    for extent in extents_of(list(map(len, texts)), letters, context):
        found = shown_of(file, extent, MARGINS)
        expected = shown_by(extent, texts)
        if not extent.letters:
            assert len(found) == 0
            continue
        records = PartRecords("a part", extent.names, extent.lengths, found)
        assert texts_of(records) == expected
        assert records.begins.min() >= MARGINS.halo


@settings(max_examples=60)
@given(TEXTS, st.integers(1, 80), st.integers(0, 30))
@example(["", "ACGT" * 15, "", "", "NNACGTNNT", ""], 30, 9)
def test_parts_of_letters(texts, letters, context):
    for extent in extents_of(list(map(len, texts)), letters, context):
        expected = shown_by(extent, texts)
        shown = np.frombuffer("".join(expected).encode(), np.uint8)
        stretches = stretches_of(extent, shown)
        part = pack_part(stretches, extent.letters, MARGINS, CpuEngine(1))
        records = PartRecords("a part", extent.names, extent.lengths, part)
        assert texts_of(records) == expected
        assert records.begins.min() >= MARGINS.halo


@pytest.mark.parametrize(
    "first, last", [(64, 90_000), (777, 778), (5_000, 70_001), (63_999, 88_887)]
)
def test_planes_are_those_that_packing_makes(first, last):
    """Whatever the positions are, which begin and end anywhere in lanes of several tiles."""
    text = random_letters(90_000)
    file = genome_of([text], words=2, length=64_000, halo=64, gap=16).file
    part = part_of(file, range(first, last), np.zeros(1, np.int64), MARGINS)
    geometry = part.geometry
    letters = np.zeros(geometry.letters + 64 * 9, np.uint8)
    stored = np.frombuffer((" " * int(file.begins[0]) + text).encode(), np.uint8)
    letters[64 : 64 + last - first] = stored[first:last]
    planes = np.empty_like(part.planes)
    CpuEngine(1).pack(letters, geometry.text(planes))
    shown = 4 * geometry.plane_words
    assert (part.planes[:shown] == planes[:shown]).all()


def test_records_left_out_between_others_are_not_shown():
    genome = genome_of(["ACGT" * 5, "TTTT", "GATTACA"])
    lengths = np.array([20, 0, 7])
    for left_out, kind in (([20, 0, 7], np.ndarray), ([0, 4, 7], PackedPart)):
        (extent,) = extents_of(left_out, 100, 5)
        assert isinstance(shown_of(genome.file, extent, MARGINS), kind)
    (extent,) = extents_of(lengths, 100, 5)
    assert shown_of(genome.file, extent, MARGINS).tobytes() == b"ACGT" * 5 + b"GATTACA"


@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize("batches", [edit_batches, hamming_batches])
def test_shards_are_searched_in_their_planes(tmp_path, monkeypatch, pack, batches):
    """Letters are never read from them."""
    genome = kmatch.Genome.from_records([("a", random_letters(3_000)), ("b", "ACGT" * 9)])
    if pack:
        kmatch.pack(genome, tmp_path / "g.kmatch")
        genome = kmatch.Genome(tmp_path / "g.kmatch")

    def unused(self, begin, end):
        raise AssertionError("letters were unpacked")

    monkeypatch.setattr(PackedRecords, "letters", unused)
    search = partial(batches, genome, load_patterns(["ACGTACGT", random_letters(40)[:25]]), 2)
    assert sum(map(len, by_shards(search, 700))) > 5


@pytest.mark.parametrize("fixed", [False, True])
def test_workers_keep_memory_where_dask_gives_it_back(monkeypatch, fixed):
    called = []

    class Library:
        def __init__(self, name):
            self.mallopt = lambda *given: called.append(given)

    monkeypatch.setattr(memory.ctypes, "CDLL", Library)
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    if fixed:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    memory.keep_memory.__wrapped__()
    assert called == ([(-1, 64 << 20), (-3, 32 << 20)] if fixed else [])
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())  # without mallopt
    memory.keep_memory.__wrapped__()
