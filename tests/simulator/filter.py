"""The filter for differences in the CUDA simulator, and memory for its survivors."""

import naive
import numpy as np
import pytest
from support.differences import edit
from support.differences import rows as rows_of

from kmatch.engine.cuda.edit import filter as edit_filter
from kmatch.engine.cuda.edit import pieces
from kmatch.engine.cuda.edit import scan as edit_scan
from kmatch.engine.cuda.gpu import scans
from kmatch.errors import DeviceError

pytestmark = [
    # The recurrence adds to carry; what runs over the end of a word concerns nobody.
    pytest.mark.filterwarnings("ignore:.*overflow encountered in scalar add"),
    pytest.mark.usefixtures("cpu_packs"),
]


def test_all_survivors_of_the_filter_are_kept(monkeypatch):
    monkeypatch.setattr(edit_filter, "FEWEST_SURVIVORS", 1)
    monkeypatch.setattr(edit_filter, "MARGIN", 0)
    records, patterns = [("r", "ACGTACGTTTACGAACGT")], ["ACGTAC", "TTRC"]
    found = rows_of(edit(records, patterns, 1, device="cuda", filtering=True, report="ends"))
    assert found == naive.edit(records, patterns, 1, report="ends")


def none_expected(patterns, *_):
    return np.zeros(len(patterns))


@pytest.fixture
def runs(monkeypatch):
    """A list that gets (planes of the chunk, queries) of every run of the filter."""
    found, run = [], edit_filter.Sought.run

    def spy(self, text, chosen, survivors, buffer):
        found.append((text.planes, chosen.tolist()))
        run(self, text, chosen, survivors, buffer)

    monkeypatch.setattr(edit_filter.Sought, "run", spy)
    return found


def test_later_chunks_have_memory_for_the_survivors(monkeypatch, runs):
    monkeypatch.setattr(edit_filter, "FEWEST_SURVIVORS", 1)
    monkeypatch.setattr(edit_filter, "expected_survivors", none_expected)
    records, patterns = [("r", "ACGTACGT" * 15)], ["ACGTAC"]
    options = {"filtering": True, "report": "ends", "chunk_length": 20, "strand": "+"}
    found = rows_of(edit(records, patterns, 1, device="cuda", **options))
    assert found == naive.edit(records, patterns, 1, report="ends", strand="+")
    chunks = [planes for planes, _ in runs]
    times = [sum(other is each for other in chunks) for each in chunks]
    assert max(times) == 2 and times[-4:] == [1, 1, 1, 1]


def test_the_filter_leaves_what_survives_too_often_to_the_scan(monkeypatch):
    monkeypatch.setattr(edit_filter, "FEWEST_SURVIVORS", 1)
    monkeypatch.setattr(edit_filter, "MARGIN", 0)
    monkeypatch.setattr(edit_filter, "MOST_SURVIVORS", 3)
    records, patterns = [("r", "ACACACACACACAC" + "GTTGCA")], ["GTTGC", "ACACA"]
    scanned = []
    begin = edit_scan.Searches.__init__

    def spy(self, halo, reading, limits, chosen, *arguments, **options):
        scanned.append(chosen.tolist())
        begin(self, halo, reading, limits, chosen, *arguments, **options)

    monkeypatch.setattr(edit_scan.Searches, "__init__", spy)
    found = rows_of(edit(records, patterns, 1, device="cuda", filtering=True, strand="+"))
    assert found == naive.edit(records, patterns, 1, strand="+")
    assert scanned == [[1]]


def test_what_survived_too_often_is_scanned_for_in_later_chunks(monkeypatch, runs):
    monkeypatch.setattr(edit_filter, "FEWEST_SURVIVORS", 1)
    monkeypatch.setattr(edit_filter, "MARGIN", 0)
    monkeypatch.setattr(edit_filter, "MOST_SURVIVORS", 3)
    records, patterns = [("r", "ACACACACACACAC" + "GTTGCATC" * 9)], ["TTTTT", "ACACA"]
    options = {"filtering": True, "chunk_length": 14, "strand": "+"}
    found = rows_of(edit(records, patterns, 1, device="cuda", **options))
    assert found == naive.edit(records, patterns, 1, strand="+")
    filtered = [chosen for _, chosen in runs]
    assert filtered[0] == [0, 1] and filtered[-1] == [0]


def test_a_filter_without_memory_leaves_all_to_the_scan(monkeypatch):
    asked = []
    take = scans.Arrays.take

    def without_survivors(self, size):
        asked.append(size)
        if size == edit_filter.FEWEST_SURVIVORS:
            raise DeviceError("device cuda:0: out of memory")
        return take(self, size)

    monkeypatch.setattr(scans.Arrays, "take", without_survivors)
    records = [("r", "GATTACATTGATTACC")]
    found = rows_of(edit(records, ["GATTAC"], 1, device="cuda", filtering=True))
    assert found == naive.edit(records, ["GATTAC"], 1)
    assert edit_filter.FEWEST_SURVIVORS in asked


@pytest.fixture
def sampling(monkeypatch):
    """A filter that pays in short texts where little survives; every other tile, of four rows, is a
    sample."""
    monkeypatch.setattr(edit_filter, "SAMPLED", 2)
    monkeypatch.setattr(edit_filter, "START", 0.0)
    free = edit_filter.CUDA.pieces._replace(query=0.0, piece=0.0, stage=0.0, column=1.0)
    monkeypatch.setattr(edit_filter, "CUDA", edit_filter.CUDA._replace(pieces=free))
    monkeypatch.setattr(pieces, "DEPTH", 1)
    monkeypatch.setattr(pieces, "BAND", pieces.APART)


@pytest.mark.usefixtures("sampling")
def test_queries_that_survive_too_often_in_a_sample_are_scanned_for(monkeypatch, runs):
    """Letters do not foretell that most of the text repeats one stretch."""
    rng = np.random.default_rng(7)
    first, often = ("".join(rng.choice([*"ACGT"], size)) for size in (500, 12))
    rare = "".join(rng.choice([*"ACGT"], 24))
    records = [("r", first + often * 100 + rare)]
    patterns = [rare, often + often]
    parts, launch = [], edit_filter.launch_pieces

    def spy(text, plan, arrays, survivors, stream, step=1):
        parts.append(step)
        launch(text, plan, arrays, survivors, stream, step)

    monkeypatch.setattr(edit_filter, "launch_pieces", spy)
    found = rows_of(edit(records, patterns, 1, device="cuda", strand="+", report="ends"))
    assert found == naive.edit(records, patterns, 1, strand="+", report="ends")
    assert [chosen for _, chosen in runs] == [[0]] and parts == [2, 1]


@pytest.mark.usefixtures("sampling")
def test_a_sample_may_leave_nothing_to_the_filter(monkeypatch):
    monkeypatch.setattr(edit_filter, "worthwhile", lambda chosen, *_: chosen[:0])
    monkeypatch.setattr(edit_filter.Sought, "run", None)
    records, patterns = [("r", "ACGTTGCATTAGACCAGGAT" * 40)], ["ACGTTGCATTAGACCAGGAT"]
    found = rows_of(edit(records, patterns, 1, device="cuda", strand="+"))
    assert found == naive.edit(records, patterns, 1, strand="+")


@pytest.mark.parametrize("filtering", [True, False])
def test_queries_are_planned_once_for_chunks_of_any_length(monkeypatch, filtering):
    planned, layouts = [], set()

    def spy(cls):
        begin, run = cls.__init__, cls.run

        def spy_begin(self, *arguments, **options):
            planned.append(cls)
            begin(self, *arguments, **options)

        def spy_run(self, text, *arguments):
            layouts.add(text[1:])
            run(self, text, *arguments)

        monkeypatch.setattr(cls, "__init__", spy_begin)
        monkeypatch.setattr(cls, "run", spy_run)

    spy(edit_filter.Sought)
    spy(edit_scan.Searches)
    long = "ACGTTGCATTAGACCAGGATACGTTGCATTAGACCAG"  # goes in strips, whose memory grows
    records = [("long", long * 9), ("longer", "T" + long * 14), ("short", long)]
    options = {"filtering": filtering, "chunk_length": 400, "strand": "+", "report": "ends"}
    found = rows_of(edit(records, [long, long[:12]], 1, device="cuda", **options))
    assert found == naive.edit(records, [long, long[:12]], 1, strand="+", report="ends")
    assert planned == [edit_filter.Sought if filtering else edit_scan.Searches]
    assert len(layouts) > 1


@pytest.mark.parametrize("backward", [False, True])
def test_survivors_of_one_diagonal_report_its_ends_once(monkeypatch, backward):
    """All pieces of a pattern match where it occurs without a difference."""
    written, verify = [], edit_filter.verify

    def spy(*arguments):
        verify(*arguments)
        *_, survivors, _, buffer, _ = arguments
        written.append((int(survivors.count[0]), int(buffer.count[0])))

    monkeypatch.setattr(edit_filter, "verify", spy)
    rng = np.random.default_rng(3)
    around, pattern = ("".join(rng.choice([*"ACGT"], size)) for size in (70, 23))
    records, strand = [("r", around + pattern + around[::-1])], "-" if backward else "+"
    patterns = [naive.reverse_complement(pattern) if backward else pattern]
    options = {"strand": strand, "report": "ends"}
    found = rows_of(edit(records, patterns, 3, device="cuda", filtering=True, **options))
    assert found == naive.edit(records, patterns, 3, **options)
    assert [(survivors >= 4, codes) for survivors, codes in written] == [(True, len(found))]
