"""What an Engine can do beside searches: time its kernels, lay out planes."""

from pathlib import Path
from time import perf_counter

import pytest

import kmatch
from kmatch.apps.primer import PrimerOptions, PrimerSearch
from kmatch.apps.searches import begin_search
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.geometry import CACHE_LINE, LANES_PER_WORD, rows_for
from kmatch.genome import as_genomes
from kmatch.search.query import Query, Run
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
        search.engine.time_kernels()
        began = perf_counter()
        list(search)
        assert 0 < search.engine.kernel_seconds < perf_counter() - began


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
