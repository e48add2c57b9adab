"""Hit codes in order, by either sort and by several threads; a sample where hits were lost."""

import numpy as np
import pytest

from kmatch.engine.hits import NO_CODE
from kmatch.engine.host import sorting
from kmatch.engine.host.sorting import FEW, SAMPLE, found_in, in_order


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("numpy_is_faster", [False, True])
@pytest.mark.parametrize("top", [3, 5_000, 1 << 45])
def test_codes_are_put_in_order(top, numpy_is_faster, threads, monkeypatch):
    monkeypatch.setattr(sorting, "_numpy_is_faster", lambda: numpy_is_faster)
    monkeypatch.setattr(sorting, "TRIAL", 2)
    monkeypatch.setattr(sorting, "SHARED", 2)
    for size in (0, 1, 5, 2 * FEW, 20_000):
        codes = np.random.default_rng(size).integers(0, top, size)
        codes[::5] = NO_CODE
        kept = np.sort(codes[codes != NO_CODE])
        assert in_order(codes, threads).tolist() == kept.tolist()


def test_no_codes_at_all(monkeypatch):
    monkeypatch.setattr(sorting, "SHARED", 2)
    assert not len(in_order(np.full(50, NO_CODE), 3))


def test_the_faster_sort_is_found_once():
    assert sorting._numpy_is_faster() in (False, True)
    before = sorting._numpy_is_faster.cache_info().misses
    in_order(np.arange(sorting.TRIAL)[::-1].copy())
    assert sorting._numpy_is_faster.cache_info().misses == before


def test_where_hits_were_lost_a_sample_is_kept():
    size = 5 * SAMPLE + 3
    codes = np.random.default_rng(1).permutation(size)
    found = found_in(codes.copy(), 1000, 0.5)
    assert SAMPLE <= len(found.codes) <= 1.3 * SAMPLE
    assert len(found.codes) + found.lost == size + 1000 and found.share == 0.5
    middle = np.median(found.codes) / size
    assert 0.48 < middle < 0.52 and (np.diff(found.codes) > 0).all()
    whole = found_in(codes, 0, 1.0)
    assert len(whole.codes) == size and not whole.lost


def test_empty_entries_of_a_sample_are_no_hits():
    codes = np.arange(4 * SAMPLE)
    codes[1 * SAMPLE : 2 * SAMPLE] = NO_CODE
    found = found_in(codes, 10, 1.0)
    assert len(found.codes) + found.lost == pytest.approx(3 * SAMPLE + 10, rel=1e-3)
