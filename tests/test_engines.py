"""Both engines carry out the protocol."""

from inspect import signature
from time import perf_counter

import numpy as np
import pytest

import kmatch
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.cuda.engine import CudaEngine
from kmatch.engine.cuda.primer import all_units, cut_units
from kmatch.engine.cuda.recurrence import COLUMNS
from kmatch.engine.engine import Engine
from kmatch.engine.geometry import SPARE, Geometry
from kmatch.engine.queries import window_arrays
from kmatch.genome import as_genomes
from kmatch.search import query
from kmatch.search.primer import PrimerOptions, PrimerSearch
from kmatch.search.query import Run
from kmatch.search.search import begin_search
from kmatch.sequences.patterns import load_patterns

ENGINES = (CpuEngine, CudaEngine)


def methods(protocol):
    return {name: f for name, f in vars(protocol).items() if callable(f) and name[0] != "_"}


def parameters(function):
    return [(p.name, p.kind, p.default) for p in signature(function).parameters.values()]


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_take_the_arguments_of_the_protocol(engine):
    wanted = methods(Engine)
    assert len(wanted) > 10
    for name, method in wanted.items():
        assert parameters(getattr(engine, name)) == parameters(method), name


def test_an_engine_has_what_the_protocol_names():
    engine = CpuEngine(1)
    assert {name for name in Engine.__annotations__ if not hasattr(engine, name)} == set()


@pytest.mark.parametrize("most", [4, 12, 400])
@pytest.mark.parametrize("fewest", [1, 7, 1000])
def test_units_of_primers_are_cut_without_a_gap(most, fewest):
    random = np.random.default_rng(most + fewest)
    begins = np.cumsum(random.integers(1, 9, 20)) * 100
    units = np.stack([np.arange(20) % 3, begins, begins + 4 * random.integers(1, 25, 20)], axis=1)
    cut = cut_units(units, most, fewest)
    sizes, columns = cut[:, 2] - cut[:, 1], int((units[:, 2] - units[:, 1]).sum())
    assert sizes.min() > 0 and not (sizes % 4).any() and sizes.max() <= most
    assert len(cut) >= min(fewest, columns // 4) and (np.diff(cut[:, 1]) >= 0).all()
    covered = {(tile, x) for tile, first, end in cut.tolist() for x in range(first, end)}
    assert len(covered) == sizes.sum() == columns
    assert covered == {(t, x) for t, first, end in units.tolist() for x in range(first, end)}
    assert len(cut_units(units[:0], most, fewest)) == 0


@pytest.mark.parametrize("parts", [0.1, 1.5, 40])
@pytest.mark.parametrize("length", [4, 80, 1004])
def test_units_shrink_towards_the_end(length, parts):
    tiles, begin, span, least = np.array([3, 5]), 12, 96, 24
    units = all_units(tiles, begin, begin + length, span, least, parts)
    sizes = units[:, 2] - units[:, 1]
    for tile in tiles:
        own = units[units[:, 0] == tile]
        assert own[0, 1] == begin and own[-1, 2] == begin + length
        assert (own[1:, 1] == own[:-1, 2]).all()
        assert (np.diff(own[:, 2] - own[:, 1]) <= 0).all()
    assert sizes.max() <= span and (sizes[: -len(tiles)] >= least).all()
    assert (units[:, 1:] % COLUMNS == 0).all() and (np.diff(units[:, 1]) >= 0).all()
    assert (sizes[0] < span) == (length < span or length < span * parts)


def test_kernels_are_timed():
    text = "ACGTTGCATTAGCCAGTACTGAACCGGTT" * 200
    genome, panel = kmatch.Genome.from_records([("r", text)]), load_patterns([text[3:23]])
    run = Run("cpu", threads=1)
    searches = [
        begin_search(query.Query(problem, panel, k), as_genomes(genome), run)
        for problem, k in (("hamming", 2), ("edit", 2), ("best", 0))
    ]
    searches.append(PrimerSearch(genome, genome, 2, PrimerOptions(max_length=12), run))
    for search in searches:
        time, began = search.engine.time_kernels(), perf_counter()
        list(search)
        assert 0 < time.seconds < perf_counter() - began


def test_scans_can_be_given_up():
    engine = CpuEngine(2)
    geometry = Geometry(2, 64, 8)
    text = geometry.text(engine.planes(4 * geometry.plane_words + SPARE))
    letters = np.zeros(geometry.letters + 64 * 3, np.uint8)
    letters[: geometry.letters] = ord("A")
    engine.pack(letters, text)
    query = window_arrays(np.ones(8, np.uint8), np.array([0, 8]), np.zeros(8, bool), 0)
    scan = engine.start_scan(text, query, 0, 1 << 14)
    assert len(scan.found().codes) == geometry.positions
    engine.start_scan(text, query, 0, 1 << 14).stop()
