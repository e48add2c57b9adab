from dataclasses import replace

import pytest
from support.turns import take_turns

from kmatch.engine.cuda import engine, text

take_turns()


@pytest.fixture(autouse=True)
def small_grids(monkeypatch):
    monkeypatch.setattr(text, "BLOCKS", 1)
    monkeypatch.setattr(text, "THREADS", 3)


@pytest.fixture(autouse=True)
def narrow_rows(monkeypatch):
    """Few threads of a block with lanes: the simulator runs one after another."""
    monkeypatch.setattr(engine, "LAYOUT", replace(engine.LAYOUT, least_words=1))


@pytest.fixture
def cpu_packs(monkeypatch):
    """Have the CPU pack texts for kernels: that is faster than the simulator."""
    monkeypatch.setattr(engine, "PACKERS", 0)
