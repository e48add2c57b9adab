"""Both engines carry out what an Engine can do, and functions that both have are alike."""

import ast
from inspect import signature
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

import kmatch
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.cuda.engine import LAYOUT, CudaEngine
from kmatch.engine.engine import Engine
from kmatch.engine.geometry import CACHE_LINE, SPARE, Geometry, geometry_for
from kmatch.engine.queries import window_arrays
from kmatch.genome import as_genomes
from kmatch.search.primer import PrimerOptions, PrimerSearch
from kmatch.search.query import Query, Run
from kmatch.search.search import begin_search
from kmatch.sequences.patterns import load_patterns

PACKAGE = Path(kmatch.__file__).parent


def parameters(function):
    return [(p.name, p.kind, p.default) for p in signature(function).parameters.values()]


@pytest.mark.parametrize("engine", [CpuEngine, CudaEngine])
def test_engines_take_the_arguments_of_the_protocol(engine):
    wanted = {name: f for name, f in vars(Engine).items() if callable(f) and name[0] != "_"}
    assert len(wanted) > 8 and not engine.__abstractmethods__
    for name, method in wanted.items():
        assert parameters(getattr(engine, name)) == parameters(method), name
    assert all(hasattr(CpuEngine(1), name) for name in Engine.__annotations__)


def public(folder):
    """By name the arguments of a folder's public functions, and the fields of its classes."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        for node in ast.parse(path.read_bytes()).body:
            names = []
            if isinstance(node, ast.FunctionDef):
                names = [argument.arg for argument in node.args.args + node.args.kwonlyargs]
            elif isinstance(node, ast.ClassDef):
                fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
                names = [field.target.id for field in fields]
            if names and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(names)
    return found


def alike(cpu, cuda):
    """Whether two functions have shared arguments, and these in the same order."""
    both = set(cpu) & set(cuda)
    orders = [[word for word in side if word in both] for side in (cpu, cuda)]
    return orders[0] == orders[1] and bool(both)


@pytest.mark.parametrize("folder", ["engine", "published"])
def test_twins_are_alike(folder):
    """A name on both sides is that of functions, or of types, that are alike on each."""
    cpu, cuda = (public(PACKAGE / folder / side) for side in ("cpu", "cuda"))
    shared = cpu.keys() & cuda.keys()
    unlike = {
        name for name in shared if not any(alike(a, b) for a in cpu[name] for b in cuda[name])
    }
    assert not unlike and len(shared) > 8
    assert not alike(["text", "buffer"], ["buffer", "text"]) and not alike(["text"], ["planes"])


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


@pytest.mark.parametrize("words", [1, 3, 999, 100_000])
def test_planes_begin_on_a_cache_line(words):
    planes = CpuEngine(1).planes(words)
    assert len(planes) == words and planes.ctypes.data % (8 * CACHE_LINE) == 0


@pytest.mark.parametrize(
    ("length", "halo", "words"),
    [(50, 128, 1), (1_000, 128, 15), (60_000, 128, 64), (1 << 24, 128, 512), (60_000, 10_048, 6)],
)
def test_a_gpu_has_broad_rows_in_short_texts_too(length, halo, words):
    geometry = geometry_for(length, halo, LAYOUT)
    assert geometry.words == words and geometry.positions >= length
    assert geometry_for(length, halo, LAYOUT, 8).words == 8
