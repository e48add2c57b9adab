"""Searches on a GPU that go wrong half way, and chunks that are unlike any others."""

import naive
import numpy as np
import pytest
from support.commands import fasta, here, random_letters
from support.differences import best, edit
from support.differences import rows as rows_of
from support.mismatches import rows, search
from support.primers import primer
from support.primers import rows as rows_of_primers

from kmatch.engine.cuda import driver
from kmatch.engine.cuda.device import open_gpu
from kmatch.engine.cuda.driver import find_devices
from kmatch.errors import DeviceError

FOUND, REASON = find_devices()
pytestmark = pytest.mark.gpu
PATTERNS = ["ACGTTGACCA", "GGATCCATTA", "AATGGAATGG"]
REPEATS = 20_000  # of AATGG, in nothing but which hits are dense
FEW = 1_024  # hit codes of a buffer


@pytest.fixture(scope="module", autouse=True)
def gpu():
    if not FOUND:
        pytest.skip(f"no usable GPU: {REASON}")
    return open_gpu(FOUND[0].number)


class Budget:
    """Memory of a GPU for so many arrays; what is asked for beyond is refused."""

    def __init__(self, arrays, monkeypatch):
        self.left, self._empty = arrays, driver.empty
        monkeypatch.setattr(driver, "empty", self.take)

    def take(self, *given):
        if not self.left:
            raise DeviceError("the GPU is out of memory")
        self.left -= 1
        return self._empty(*given)


SEARCHES = {
    "hamming": ("hamming", "-k", 1),
    "edit": ("edit", "-k", 1),
    "best": ("best",),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_memory_that_runs_out_half_way_leaves_no_file(name, gpu, tmp_path, monkeypatch):
    command, *options = SEARCHES[name]
    genome = tmp_path / "r.fa"
    genome.write_bytes(fasta([("r", random_letters(600, seed=1))]))
    words = (command, genome, "-p", PATTERNS[0], *options, "-o", tmp_path / "hits.bed")
    assert here(*words, "--device", "cuda").status == 0
    whole = (tmp_path / "hits.bed").read_bytes()
    for arrays in range(3):
        (tmp_path / "hits.bed").unlink(missing_ok=True)
        while gpu._release():
            pass
        with monkeypatch.context() as patch:
            budget = Budget(arrays, patch)
            done = here(*words, "--device", "cuda")
        if budget.left or done.status == 0:  # all the arrays that it takes
            break
        assert b"out of memory" in done.err and done.err.count(b"\n") == 1
        assert [path.name for path in tmp_path.iterdir()] == ["r.fa"]
    assert arrays > 0
    # The next search finds the GPU in order.
    assert here(*words, "--device", "cuda").status == 0
    assert (tmp_path / "hits.bed").read_bytes() == whole


@pytest.mark.parametrize("find", [search, edit])
def test_hits_far_beyond_the_buffer(find):
    records = [("r", "AATGG" * REPEATS), ("s", "ACGTTGACCA")]
    found, expected = (
        find(records, PATTERNS, 2, device=device, **options)
        for device, options in (("cuda", {"capacity": FEW}), ("cpu", {}))
    )
    assert len(found) > 5 * FEW
    for column in ("start", "end", "distance", "pattern_number", "record_number"):
        assert np.array_equal(getattr(found, column), getattr(expected, column))


def test_chunks_of_nothing_but_n():
    desert = "N" * 100_000
    records = [("n", desert), ("r", desert + PATTERNS[0] + desert), ("m", "N")]
    geometry = {"device": "cuda", "chunk_length": 4_096}
    assert len(rows(search(records, PATTERNS, 1, **geometry))) == 1
    assert rows(search(records, PATTERNS, 1, **geometry)) == rows(search(records, PATTERNS, 1))
    assert rows_of(edit(records, PATTERNS, 1, **geometry)) == rows_of(edit(records, PATTERNS, 1))
    found = rows_of(best(records, PATTERNS[:1], **geometry))
    assert found == rows_of(best(records, PATTERNS[:1])) != []


def test_primers_beside_nothing_but_n():
    target = [("t", random_letters(60, seed=2)), ("n", "N" * 40)]
    background = [("b", "N" * 200)]
    found = rows_of_primers(primer(target, background, 3, device="cuda"))
    assert found == rows_of_primers(primer(target, background, 3)) != []


@pytest.mark.parametrize("chunk_length", [13, 100, None])
def test_counters_hold_all_distances_where_limits_differ(chunk_length):
    near, far = "TTCGGGCCC", "GATTACAGATTACAGATTACAGATTACAGATTACAGA"  # 9 and 37 letters
    records = [("a", near[:8]), ("b", "CAACCGGGGT"), ("c", far), ("d", "ACGGT" * 60 + far)]
    patterns = [near, "CAACCGGGGT", far, far[:32], far[18:] + far[:18], "AC" * 18, "CT" * 30]
    found = rows_of(best(records, patterns, device="cuda", chunk_length=chunk_length))
    assert found == naive.best(records, patterns)
