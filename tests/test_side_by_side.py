"""Searches side by side share the chunks of a genome, and none sees what another has half done."""

import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from support.commands import random_letters
from support.packing import packed

import kmatch
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.workers import Workers
from kmatch.search.chunks import Chunking, plan_chunks
from kmatch.sequences.alphabet import IUPAC

TEXT = random_letters(2000)


class Meanwhile(list):
    """A list that does something else before it is looked through for the second time."""

    def __init__(self, items, other):
        super().__init__(items)
        self._turns, self._other = 0, other

    def __iter__(self):
        self._turns += 1
        if self._turns == 2:
            self._other()
        return super().__iter__()


@pytest.fixture
def chunk():
    genome = kmatch.Genome.from_records([("r", TEXT)])
    engine = CpuEngine(1)
    plan = plan_chunks(20, 2, 1, engine.layout)._replace(length=4000)
    (chunk,) = Chunking(plan, engine).chunks(genome)
    return chunk


def lanes_with(planes, number, words):
    return np.bitwise_count(planes[number * words : (number + 1) * words]).sum()


def test_planes_are_those_that_were_asked_for(chunk):
    class Engine(CpuEngine):
        def unite(self, text, masks):
            return super().unite(text, np.array(masks[:], np.uint8))

    engine, words = Engine(1), chunk.geometry.plane_words

    def other():
        chunk.text([IUPAC["N"]], engine)

    planes, *_ = chunk.text(Meanwhile([IUPAC["R"]], other), engine)
    ones = [lanes_with(planes, number, words) for number in range(5)]
    assert ones[4] == ones[0] + ones[2]
    again, *_ = chunk.text([IUPAC["R"]], engine)
    assert lanes_with(again, 4, words) == ones[4]


def test_letters_are_not_seen_before_they_are_there(chunk):
    def run(kernel, items, text, letters):
        letters[:] = 0
        if not seen:
            seen.append(0)
            seen.append(chunk.unpack(engine).copy())
        Workers(1).run(kernel, items, text, letters)

    seen, engine = [], SimpleNamespace(workers=SimpleNamespace(run=run))
    letters = chunk.unpack(engine)
    assert letters.any() and np.array_equal(seen[1], letters)


@pytest.fixture
def switching():
    """Threads that take turns all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_letters_of_a_packed_genome():
    class Held(tuple):
        def __getitem__(self, index):
            file._unpacked = (3, np.zeros(500, np.uint8))
            return super().__getitem__(index)

    genome = packed([("r", TEXT)], length=500, halo=64)
    file = genome.file
    ((_, letters),) = genome.records()
    first = letters[:300]
    file._unpacked = Held(file._unpacked)
    assert np.array_equal(letters[:300], first)


def test_searches_for_different_letters(switching):
    genome = kmatch.Genome.from_records([("r", TEXT)])
    panels = [["ACRT", "YACG"], ["SSAT"], ["KTMA", "BDHV"], ["ACGT"], ["NNAN", "WWWW"]]

    def found(panel):
        hits = kmatch.hamming(genome, panel, 1, device="cpu", threads=1)
        return list(zip(hits.start.tolist(), hits.pattern.tolist(), hits.strand, strict=True))

    expected = [found(panel) for panel in panels]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(found, 60 * panels)) == 60 * expected
