"""The constant rules by which a way and a device are chosen, and where they are overridden."""

from threading import Event, Timer
from unittest import mock

import naive
import numpy as np
import pytest
from support.commands import random_letters
from support.differences import edited
from support.searches import aligned, edit, search, search_panel

import kmatch
from kmatch.apps.searches import begin_search
from kmatch.engine import devices, ways
from kmatch.engine.cpu import tables
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.errors import DeviceError
from kmatch.genome import as_genomes
from kmatch.search.chunks import Chunking, plan_chunks
from kmatch.search.panel import each_strand
from kmatch.search.query import Query
from kmatch.search.rules import rules_of, sought_of
from kmatch.search.scan import Scanner
from kmatch.search.trial import Scans
from kmatch.sequences.patterns import load_patterns

HUMAN, COLI = 3_100_000_000, 4_600_000


def test_rules():
    def device(letters, patterns):
        return ways.device_for(ways.work_of(letters, np.full(patterns, 20), "both"))[0]

    assert [device(COLI, 1), device(HUMAN, 1), device(HUMAN, 64)] == ["cpu", "cpu", "cuda"]
    assert device(None, 1) == "cuda" and ways.work_of(9, np.array([3, 4]), "-") == 63
    lengths, limits = np.array([20, 20, 100, 100]), np.array([1, 2, 5, 10])
    assert ways.filter_pays(lengths, limits).tolist() == [True, False, True, False]
    assert ways.try_lookup(50, 4, 1, False) and not ways.try_lookup(50, 4, 0, True)
    assert ways.try_lookup(1_000, 3, 0, True) and not ways.try_lookup(1_000, 3, 0, False)


@pytest.fixture
def with_gpu(monkeypatch):
    """A driver that is there; who asks for a GPU is told that it was."""

    def cuda(number, threads, reason):
        raise DeviceError(f"asked for: {reason}")

    monkeypatch.setattr(devices, "_has_driver", lambda: True)
    monkeypatch.setattr(devices, "_cuda_engine", cuda)


@pytest.mark.usefixtures("with_gpu")
@pytest.mark.parametrize("command", ["hamming", "multi", "edit", "best"])
def test_searches_say_how_much_they_have_to_do(command, tmp_path, monkeypatch):
    path = tmp_path / "r.fa"
    path.write_text(">r\n" + "ACGT" * 5000 + "\n")
    for least, said in ((1 << 60, "too few"), (0, "asked for")):
        monkeypatch.setattr(ways, "GPU_PAYS", least)
        for genome in (kmatch.Genome(path), kmatch.Genome.from_records([("r", "ACGT" * 5000)])):
            k = 0 if command == "best" else 1
            query = Query(command, load_patterns(["ACGTT"]), k)
            search = begin_search(query, as_genomes(genome))
            assert list(search) and said in search.engine.description


@pytest.mark.parametrize(
    ("device", "numbers"), [("cpu", []), ("auto", []), ("cuda", [0]), ("cuda:2,0", [2])]
)
def test_a_gpu_that_is_named_is_opened_at_once(device, numbers, monkeypatch):
    opened = []
    driver = mock.Mock(
        cuInit=lambda flags: 0, cuDeviceGet=lambda gpu, number: opened.append(number)
    )
    monkeypatch.setattr(devices, "_driver", lambda: driver)
    monkeypatch.setattr(devices, "Thread", lambda target: mock.Mock(start=target))
    devices.wake.__wrapped__(device)
    assert opened == numbers


def test_letters_are_expected_by_the_file(tmp_path):
    plain, packed = tmp_path / "r.fa", tmp_path / "r.fa.gz"
    plain.write_text(">r\n" + "ACGT" * 500 + "\n")
    packed.write_bytes(b"\x1f\x8b" + bytes(98))
    assert kmatch.Genome(plain).expected_letters == 2004
    assert kmatch.Genome(packed).expected_letters == 400
    assert kmatch.Genome("-").expected_letters is None
    assert kmatch.Genome.from_records([("r", "ACGT")]).expected_letters == 4


@pytest.fixture
def unscanned(monkeypatch):
    """Nothing is scanned, however many candidates there are."""
    monkeypatch.setattr(ways, "SHARE", 1e-9)
    monkeypatch.setattr(CpuEngine, "start_edit", None)
    monkeypatch.setattr(CpuEngine, "start_scan", None)


CASES = [
    ([20], 4, {"pam": "NGG"}),
    ([18, 20, 24], 3, {"pam": "TTTV", "pam_side": "5p"}),
    ([12], 2, {"pam": ["NGG", "NAG"], "strand": "-"}),
    ([20], 5, {"pam": "NGG", "max_deletions": 1, "exact_3p": 2}),
    ([58], 6, {"pam": "GG", "report": "minima"}),
    ([11], 1, {}),
    ([9, 12], 2, {"report": "ends"}),
    ([14], 3, {"report": "loci", "strand": "-"}),
    ([13], 0, {"strand": "+"}),
    ([16], 3, {"exact_3p": 4}),
    ([16], 3, {"max_insertions": 0, "strand": "+"}),
    ([20], 4, {"find": search_panel, "pam": "NGG"}),
    ([64], 3, {"find": search_panel, "pam": ["NGG", "NAG"], "exact_3p": 1}),
    ([24], 6, {"find": search_panel, "pam": "TTTV", "pam_side": "5p"}),
    ([13], 1, {"find": search_panel, "exact_5p": 5}),
]


@pytest.mark.parametrize(("lengths", "k", "options"), CASES)
def test_look_ups_find_what_a_scan_finds(lengths, k, options, request):
    rng, panel, parts = np.random.default_rng(k), [], ["N" * 9 + "NACNGGT"]
    options = {"find": edit} | options
    find = options.pop("find")
    for number in range(60):
        panel.append(random_letters(lengths[number % len(lengths)], seed=number))
        site = "TTTC" + edited(rng, panel[-1], number % (k + 1)) + "CGG"
        site = naive.reverse_complement(site) if number % 2 else site
        parts += [random_letters(300, seed=100 + number), site]
    records = [("one", "".join(parts[:70])), ("none", ""), ("two", "".join([*parts[70:], "ACCN"]))]
    expected = aligned(find(records, panel, k, **options, way="scan"))
    assert len(expected) > (10 if find is search_panel else 20)
    request.getfixturevalue("unscanned")
    for more in ({}, {"chunk_length": 3_000, "threads": 2}):
        assert aligned(find(records, panel, k, **options, **more, way="lookup")) == expected


@pytest.mark.parametrize(
    "panel", [["ACGTN"], ["N" * 20, "ACGTACGTAC"], [random_letters(70)], ["ACGTACGT", "TTGCAA"]]
)
def test_patterns_that_cannot_be_looked_up_are_scanned_for(panel):
    records = [("one", random_letters(2_000) + random_letters(70) + "TGG")]
    for find, pam in ((search, {}), (edit, {}), (edit, {"pam": "NGG"})):
        found = aligned(find(records, panel, 2, way="lookup", **pam))
        assert found == aligned(find(records, panel, 2, way="scan", **pam)) != []


@pytest.mark.parametrize(
    ("problem", "options"),
    [("multi", {}), ("edit", {}), ("edit", {"pam": "NGG"})],
)
def test_a_scan_takes_over_where_repeats_have_too_many_candidates(problem, options, monkeypatch):
    """All patterns have a piece of the repeat; other chunks are looked up."""
    started = []
    core = random_letters(10, seed=1)
    panel = [random_letters(10, seed=number) + core for number in range(2, 300)]
    plain = random_letters(20_000, seed=1)
    records = [("one", plain + panel[0] + "AGG" + plain[:3_957] + (core + "TGGAAA") * 500)]
    find = edit if problem == "edit" else search_panel
    expected = aligned(find(records, panel, 2, way="scan", **options))
    for name in ("start_scan", "start_edit", "start_lookup"):
        start = getattr(CpuEngine, name)

        def spy(*arguments, name=name, start=start):
            started.append(name)
            return start(*arguments)

        monkeypatch.setattr(CpuEngine, name, spy)
    assert aligned(find(records, panel, 2, way="lookup", chunk_length=8_000, **options)) == expected
    scans = sum(name != "start_lookup" for name in started)
    assert expected and 1 <= scans <= 2 < len(started)  # of five chunks


def test_a_look_up_that_nobody_waits_for_gives_up(monkeypatch):
    """The second chunk's, whose letters come once the search was left."""
    monkeypatch.setattr("kmatch.engine.engine.cores", lambda: 2)
    genome = kmatch.Genome.from_records([("one", random_letters(100_000))])
    query = Query("multi", load_patterns([random_letters(20)]), 3)
    panel = each_strand(query.patterns, "both")
    sought = sought_of(panel, rules_of(query), np.array([3, 3]))
    engine = CpuEngine(2)
    plan = plan_chunks(20, 3, engine.layout)._replace(length=20_000)
    chunks = Chunking(plan, engine, None).fresh(genome.parts())

    is_begun = Event()
    is_left = Event()
    started, start = [], CpuEngine.start_lookup

    def waiting(self, read, *arguments):
        number = len(started)

        def letters():
            if number == 1:
                is_begun.set()
                assert is_left.wait(60)
            return read()

        started.append(start(self, letters, *arguments))
        return started[-1]

    monkeypatch.setattr(CpuEngine, "start_lookup", waiting)
    scans = Scans(engine, sought, "lookup", None, gapless=True)
    found = Scanner(engine).scan(chunks, scans.starting(mock.Mock()))
    assert len(next(found)[1])
    assert is_begun.wait(60)
    Timer(0.1, is_left.set).start()
    found.close()
    assert started[1].found().share == 0


@pytest.mark.parametrize(
    ("slow", "listing"), [("start_lookup", 0.0), ("start_edit", 0.0), ("start_edit", 3.0)]
)
def test_what_takes_longer_in_a_trial_is_not_chosen(slow, listing, monkeypatch):
    """Tables that one chunk does not pay for may be worth it for all."""
    panel = [random_letters(20, seed=number) for number in range(60)]
    text = random_letters(3_000, seed=1)
    records = [("one", text + panel[0] + "AGG" + text)]
    expected = aligned(edit(records, panel, 3, pam="NGG", way="scan"))
    clock, started = [0.0], []
    monkeypatch.setattr(ways, "TRIAL", 1_000)
    monkeypatch.setattr("kmatch.search.trial.thread_time", lambda: clock[0])
    for name in ("start_edit", "start_lookup"):
        make = getattr(CpuEngine, name)

        def spy(*arguments, name=name, make=make):
            started.append(name)
            clock[0] += name == slow
            return make(*arguments)

        monkeypatch.setattr(CpuEngine, name, spy)

    def list_pieces(*arguments, make=tables._list_pieces):
        clock[0] += listing
        return make(*arguments)

    monkeypatch.setattr(tables, "_list_pieces", list_pieces)
    assert aligned(edit(records, panel, 3, pam="NGG", chunk_length=2_000)) == expected != []
    other = "start_edit" if slow == "start_lookup" else "start_lookup"
    assert set(started[-3:]) == {other} and "start_edit" in started
