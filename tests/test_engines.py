"""What an Engine can do beside searches: time its kernels, lay out planes."""

from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

import kmatch
from kmatch.apps.primer import PrimerOptions, PrimerSearch
from kmatch.apps.searches import begin_search
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.geometry import CACHE_LINE, LANES_PER_WORD, SPARE, rows_for, text_of
from kmatch.engine.workers import Workers
from kmatch.genome import as_genomes
from kmatch.search.query import Query, Run
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.patterns import load_patterns

PACKAGE = Path(kmatch.__file__).parent


def test_published_algorithms_have_twins():
    cpu, cuda = ((PACKAGE / "published" / side).glob("*.py") for side in ("cpu", "cuda"))
    assert {path.name for path in cpu} == {path.name for path in cuda}


def test_kernels_are_timed():
    text = "ACGTTGCATTAGCCAGTACTGAACCGGTT" * 200
    genome, panel = kmatch.Genome.from_records([("r", text)]), load_patterns([text[3:23]])
    run = Run("cpu", threads=1)
    searches = [
        begin_search(Query(problem, panel, k), as_genomes(genome), run)
        for problem, k in (("hamming", 2), ("edit", 2), ("best", 0))
    ]
    searches.append(PrimerSearch(genome, genome, 2, PrimerOptions(max_length=12), run))
    for search in searches:
        began = perf_counter()
        with search.engine.timing_kernels() as kernel_seconds:
            list(search)
            assert 0 < kernel_seconds() < perf_counter() - began


@pytest.mark.parametrize("words", [1, 3, 999, 100_000])
def test_planes_begin_on_a_cache_line(words):
    planes = CpuEngine(1).planes(words)
    assert len(planes) == words and planes.ctypes.data % (8 * CACHE_LINE) == 0


@pytest.mark.parametrize(
    ("length", "halo", "words"), [(50, 128, 1), (1 << 18, 128, 8), (1 << 24, 128, 16)]
)
def test_short_texts_have_narrow_rows(length, halo, words):
    width, rows = rows_for(length, halo, None)
    assert width == words and LANES_PER_WORD * width * rows >= length


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("words", [1, 3])
@pytest.mark.parametrize("length", [1, 63, 64, 700, 6_399, 6_400, 6_407, 19_200, 19_300])
def test_letters_and_masks_are_packed_alike(length, words, threads):
    """Lane s of the planes has the letters from s·rows on, and none behind the last letter.

    letters   A C G T N a c g   rows 3, halo 1
    lane 0    A C G T
    lane 1    T N a c
    lane 2    c g . .
    """
    rows, halo = 100, 7
    size = 4 * (rows + halo) * words
    letters = np.random.default_rng(length).choice(np.frombuffer(b"ACGTUNacgt", np.uint8), length)
    masks = encode_text(letters)
    engine = CpuEngine(1)
    engine.workers = Workers(threads)
    for fill, values in ((engine.pack, letters), (engine.pack_masks, masks)):
        planes = np.full(size + SPARE, 7, np.uint64)
        fill(values, text_of(planes, words, rows, halo))
        assert (planes[size:] == 7).all()
        found = planes[:size].reshape(4, rows + halo, words)
        for lane in range(LANES_PER_WORD * words):
            shown = masks[lane * rows : lane * rows + rows + halo]
            expected = np.zeros(rows + halo, np.uint8)
            expected[: len(shown)] = shown
            for plane in range(4):
                word = found[plane, :, lane // LANES_PER_WORD]
                bits = word >> np.uint64(lane % LANES_PER_WORD) & np.uint64(1)
                assert np.array_equal(bits, expected >> plane & 1)
