"""Look-up beside a PAM, or everywhere: the tables, what they find, and when it is chosen."""

from itertools import pairwise, product
from unittest import mock

import naive
import numpy as np
import pytest
from support.commands import random_letters
from support.differences import edit, edited, rows
from support.packing import one_chunk

from kmatch.engine.constraints import AnchoredQuery
from kmatch.engine.costs import CPU
from kmatch.engine.cpu.edit import beside, seeds
from kmatch.engine.cpu.edit.filter import Extent, Shares, expected_ends
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.differences import difference_query
from kmatch.genome import Genome
from kmatch.search.differences import anchored
from kmatch.search.differences.rules import NO_RULES, Rules, make_constraints
from kmatch.search.panels.pam import Pam
from kmatch.search.panels.panel import build_reading_panel
from kmatch.sequences.patterns import load_patterns

NEVER = 1e12
PAMS = Rules((Pam("NGG", "3p"),))


def words_of(letters):
    """(low, high): a bit a letter."""
    codes = ["ACGT".index(letter) for letter in letters]
    return tuple(
        np.uint64(sum((code >> bit & 1) << i for i, code in enumerate(codes))) for bit in (0, 1)
    )


def distance(piece, text):
    """The least differences of a piece and the beginning of a text that any letters follow."""
    row = list(range(len(text) + 1))
    least = row[-1]
    for letter in piece:
        above, row = row, [row[0] + 1]
        for j, other in enumerate(text):
            row.append(min(above[j] + (letter != other), above[j + 1] + 1, row[j] + 1))
        least = min(least, row[-1])
    return min(least, *row)


@pytest.mark.parametrize("piece", ["ACGTA", "AAAAA", "TGTGT"])
@pytest.mark.parametrize("errors", [0, 1, 2, 3])
def test_neighbours_are_all_texts_within_the_errors(piece, errors):
    found = np.empty(1 << 14, np.int32)
    memory = seeds._memory(5, errors)
    count = seeds._walk(words_of(piece), 5, errors, memory, found)
    least = {}
    for entry in found[:count].tolist():
        code, differences = divmod(entry, 1 << seeds.TAG_BITS)
        least[code] = min(differences, least.get(code, errors))
    expected = {}
    for letters in map("".join, product("ACGT", repeat=5)):
        low, high = words_of(letters)
        if distance(piece, letters) <= errors:
            expected[int(low) | int(high) << 5] = distance(piece, letters)
    assert least == expected


@pytest.mark.parametrize(("m", "k"), [(4, 3), (12, 1), (20, 4), (20, 6), (32, 5), (58, 6)])
def test_a_hit_has_a_piece_within_its_errors(m, k):
    pieces = seeds.find_pieces(m, k, 100, 0.25)
    assert sum(piece.errors + 1 for piece in pieces) == k + 1
    ends = [piece.offset + piece.size for piece in pieces]
    assert all(end <= piece.offset for end, piece in zip(ends, pieces[1:], strict=False))
    assert ends[-1] <= m
    assert seeds.site_factors(pieces, k, 100, 0.25).lookup <= seeds.MOST_LOOKUPS


def test_panels_too_large_for_the_tables_are_not_looked_up():
    assert seeds.find_pieces(20, 4, 1_000, 0.25) is not None
    assert seeds.find_pieces(20, 4, 100_000_000, 0.25) is None


def test_ways_to_cut_do_not_grow_beyond_bounds_with_k():
    """There are 2^k ways to share k + 1 out, of which few keep to the bounds."""
    assert sum(len(list(seeds._cuts(100, k))) for k in range(100)) < 5_000
    assert all(seeds.find_pieces(100, k, 1, 0.25) is None for k in range(24, 100))


def forced(way):
    """While it lasts, differences beside a PAM are searched for in one way."""
    other = {"anchors": "anchor_seeds", "anchor_seeds": "anchors"}[way]
    dear = getattr(beside.CPU, other)._replace(position=NEVER)
    return mock.patch.object(beside, "CPU", beside.CPU._replace(**{other: dear}))


@pytest.mark.parametrize(
    ("lengths", "k", "options"),
    [
        ([20], 4, {"pam": "NGG"}),
        ([18, 20, 24], 3, {"pam": "TTTV", "pam_side": "5p"}),
        ([12], 2, {"pam": ["NGG", "NAG"], "strand": "-"}),
        ([20], 5, {"pam": "NGG", "max_deletions": 1, "exact_3p": 2}),
        ([58], 6, {"pam": "GG", "report": "minima"}),
    ],
)
def test_all_ways_beside_a_pam_find_the_same(lengths, k, options):
    rng, panel, parts = np.random.default_rng(k), [], ["N" * 9 + "NACNGGT"]
    for number in range(60):
        panel.append(random_letters(lengths[number % len(lengths)], seed=number))
        site = "TTTC" + edited(rng, panel[-1], number % (k + 1)) + "CGG"
        site = naive.reverse_complement(site) if number % 2 else site
        parts += [random_letters(300, seed=100 + number), site]
    records = [("one", "".join(parts[:70])), ("two", "".join([*parts[70:], "ACCN" * 9]))]
    expected = rows(edit(records, panel, k, **options, filtering=False))
    assert len(expected) > 20
    for way in ("anchors", "anchor_seeds"):
        for more in ({}, {"chunk_length": 3_000, "threads": 2}):
            with forced(way):
                found = rows(edit(records, panel, k, **options, **more, filtering=True))
            assert found == expected


@pytest.fixture
def everywhere(monkeypatch):
    """Panels of any size are looked up at every position."""
    monkeypatch.setattr(anchored, "LARGE", 0)
    monkeypatch.setattr(anchored, "LONG", 0)
    monkeypatch.setattr(beside, "SURE", 1e-12)
    monkeypatch.setattr(CpuEngine, "start_edit", None)


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize(
    ("lengths", "k", "options"),
    [
        ([11], 1, {}),
        ([9, 12], 2, {"report": "ends"}),
        ([14], 3, {"report": "loci", "strand": "-"}),
        ([13], 0, {"strand": "+"}),
    ],
)
def test_looked_up_everywhere(lengths, k, options):
    rng, panel, parts = np.random.default_rng(k), [], ["N" * 9]
    for number in range(8):
        panel.append(random_letters(lengths[number % len(lengths)], seed=number))
        parts += [edited(rng, panel[-1], number % (k + 1)), random_letters(10, seed=50 + number)]
    text = "".join(parts)
    records = [("one", text), ("none", ""), ("two", naive.reverse_complement(text[5:]) + "NNA")]
    expected = naive.edit(records, panel, k, **options)
    assert len(expected) >= 8
    for more in ({}, {"chunk_length": 50, "threads": 2}):
        assert rows(edit(records, panel, k, **options, **more)) == expected


@pytest.mark.parametrize("options", [{"exact_3p": 4}, {"max_insertions": 0, "strand": "+"}])
def test_looked_up_everywhere_within_rules(options, request):
    panel = [random_letters(16, seed=number) for number in range(30)]
    records = [("one", random_letters(9, seed=40).join(panel))]
    expected = rows(edit(records, panel, 3, **options))
    request.getfixturevalue("everywhere")
    found = rows(edit(records, panel, 3, **options, chunk_length=100))
    assert found == expected and len(found) > 10


def test_large_panels_are_looked_up_everywhere_where_that_is_faster():
    """Not if letters let expect more, nor where repeats have more candidates than they do."""
    engine, text = CpuEngine(1), random_letters(1 << 17, seed=9)
    panel = [random_letters(20, seed=number) for number in range(5_000)]

    def tables(k, text=text, guides=panel, positions=1 << 24):
        panel, query = panel_and_query(guides, k)
        chunk = one_chunk(text, 20, k, engine)
        chunk.unpack(engine)
        search = AnchoredQuery(query, make_constraints(NO_RULES, panel, k), 1.0)
        seen = chunk.plain, lambda: anchored.view_of(chunk)
        return engine.anchor_tables(search, *seen, positions)[0]

    assert tables(1).seeds and tables(1).lasts
    assert tables(1, positions=1_000) is None  # of which each would pay for much of the tables
    assert tables(4) is None
    assert tables(1, guides=[*panel, "ACGTN"]) is None  # N stands for four bases
    assert tables(1, "".join(panel[0] + guide[:10] for guide in panel)).seeds
    alike = [panel[0][:10] + guide[10:] for guide in panel]
    assert tables(1, guides=alike).seeds and tables(1, panel[0] * 6_000, alike) is None


EVEN = np.full(4, 0.25)


def letters_in(positions, bases=EVEN):
    """(Shares, Extent) of independent letters in a chunk; bases: how often each stands in it."""
    alone, rows = np.array([*bases, 1.0]), max(positions // 512, 1)  # N is the fifth letter
    return Shares(alone, np.tile(alone, (5, 1))), Extent(512 * rows, rows, rows + 64, 1)


def panel_and_query(patterns, k, strand="both"):
    """(ReadingPanel, DifferenceQuery) of a search."""
    panel = build_reading_panel(load_patterns(patterns), strand)
    return panel, difference_query(panel.letters, np.full(len(panel.pattern), k), CpuEngine(1))


def tables(
    patterns, k, positions, always=False, bases=EVEN, chunk=1 << 24, found=lambda *seeds: (0, 0, 0)
):
    """As for so many positions; chunk: those of a chunk, where there are as many; found: see
    `count_candidates`."""
    panel, query = panel_and_query(patterns, k)
    search = AnchoredQuery(query, make_constraints(PAMS, panel, k), PAMS.share)
    letters = letters_in(min(positions, chunk), bases)
    sample = beside.Sample(query, *letters, lambda: None, found)
    return beside.anchor_tables(search, sample, None if always else positions)


def test_sites_come_first_where_a_scan_finds_too_much():
    """Of random letters few are ends within 6 of 20; where four fifths are A and T, many are."""
    guides = [random_letters(20, seed=number) for number in range(20)]
    assert tables(guides, 6, 1 << 24) is None
    at_rich = np.array([0.4, 0.1, 0.1, 0.4])
    assert tables(guides, 6, 1 << 24, bases=at_rich) is None  # they are not in it
    guides = [
        "".join(np.random.default_rng(n).choice(list("ACGT"), 20, p=at_rich)) for n in range(20)
    ]
    assert tables(guides, 6, 1 << 24) is None
    assert tables(guides, 6, 1 << 24, bases=at_rich) is not None


def test_candidates_in_repeats_are_counted():
    """A thousand windows of repeats, each looked up ten times, have a million candidates."""
    guides = [random_letters(20, seed=number) for number in range(300)]
    assert tables(guides, 4, 1 << 24).seeds
    assert tables(guides, 4, 1 << 24, found=lambda *seeds: (1_000, 300, 300)).seeds
    repeats = tables(guides, 4, 1 << 24, found=lambda *seeds: (1_000, 10_000, 1_000_000))
    assert repeats is None or repeats.panel


def test_tables_are_small_for_small_texts():
    def entries(sites):
        pieces = seeds.find_pieces(20, 2, 1_000, 0.25, sites)
        return seeds.site_factors(pieces, 2, 1_000, 0.25).entry

    assert entries(1_000) < entries(1_000_000)


def test_a_scan_that_finds_much_beside_pams_is_cut_beforehand(monkeypatch):
    """Its ends were counted to choose it: no chunk is begun and then given up."""
    lost, start = [], CpuEngine.start_edit

    def spy(*arguments):
        scan = start(*arguments)
        monkeypatch.setattr(scan, "found", lambda: noted(type(scan).found(scan)))
        return scan

    def noted(found):
        lost.append(found.lost)
        return found

    guides = [random_letters(12, seed=number) for number in range(3)]
    records = [("one", random_letters(400_000, seed=5))]
    expected = rows(edit(records, guides, 4, pam="NGG", filtering=False))
    dear = {name: getattr(CPU, name)._replace(position=1e9) for name in ("anchors", "anchor_seeds")}
    monkeypatch.setattr(beside, "CPU", CPU._replace(**dear))
    monkeypatch.setattr(CpuEngine, "start_edit", spy)
    assert rows(edit(records, guides, 4, pam="NGG", capacity=20_000)) == expected != []
    assert len(lost) > 3 and not any(lost)


@pytest.mark.parametrize(("m", "k", "ends"), [(12, 3, 63_214), (20, 5, 2_240), (20, 6, 25_517)])
def test_ends_of_random_letters_are_expected(m, k, ends):
    """ends: within k of 100 patterns of m on one strand of 2^18 random letters."""
    _, query = panel_and_query([random_letters(m, seed=1)] * 100, k, "+")
    found = expected_ends(query, letters_in(1 << 18)[0])
    assert found * (1 << 18) == pytest.approx(ends, rel=0.5)


def test_what_is_dear_is_not_chosen():
    guides = [random_letters(20, seed=number) for number in range(300)]
    assert tables(guides, 4, 1 << 24).seeds
    assert tables(guides[:1], 4, 1 << 24) is None
    assert tables(guides[:1], 4, 1 << 24, always=True) is not None
    assert tables(guides, 4, 1_000) is None or tables(guides, 4, 1_000).panel
    assert tables(["N" * 20, *guides], 4, 1 << 24, always=True).panel
    long = [random_letters(64, seed=number) for number in range(300)]  # sought by pieces
    assert tables(long, 2, 1 << 24) is None and tables(long, 2, 1 << 24, always=True).panel
    assert tables([random_letters(70)], 4, 1 << 24, always=True).panel


@pytest.mark.parametrize("known", [True, False])
def test_the_way_is_chosen_again_while_a_text_of_unknown_length_grows(known, monkeypatch):
    """It ends up with the tables that one of known length begins with."""
    if not known:
        monkeypatch.setattr(Genome, "expected_letters", None)
    asked, choose = [], CpuEngine.anchor_tables

    def spy(self, search, text, view, positions, before):
        found, ends = choose(self, search, text, view, positions, before)
        asked.append((positions, bool(found and found.lasts)))
        return found, ends

    monkeypatch.setattr(CpuEngine, "anchor_tables", spy)
    guides = [random_letters(20, seed=number) for number in range(300)]
    text = random_letters(300_000, seed=1)
    records = [("one", f"{text}{guides[0]}AGG{text}")]
    found = rows(edit(records, guides, 1, pam="NGG", chunk_length=5_000))
    assert found == rows(edit(records, guides, 1, pam="NGG", filtering=False)) != []
    positions, lasting = zip(*asked, strict=True)
    assert lasting == (False,) * (len(asked) - 1) + (True,)
    assert positions == (len(records[0][1]),) if known else len(asked) > 1
    assert all(b > 2 * a for a, b in pairwise(positions))


def test_ends_in_repeats_are_counted(monkeypatch):
    """A repeat that begins all patterns is an end of each, which letters do not let expect."""
    core = "ACGTTGCATTAGACCAT"
    guides = [core + tail for tail in ("AAA", "TCT", "CAC", "TTA", "CTC", "ATA", "TAC", "CAA")]
    text = "".join(core + random_letters(20, seed=n).replace("G", "A") for n in range(20_000))
    engine, k = CpuEngine(1), 4
    panel, query = panel_and_query(guides, k)
    chunk = one_chunk(text, 20, k, engine)
    chunk.unpack(engine)
    search = AnchoredQuery(query, make_constraints(PAMS, panel, k), 0.01)
    seen = search, chunk.plain, lambda: anchored.view_of(chunk), len(text)
    repeats = len(guides) / 37  # at a position; k of its ends on either side are within k too
    assert repeats < engine._count_ends(chunk.plain, query) < (2 * k + 1) * repeats
    tables, ends = engine.anchor_tables(*seen)
    assert tables is not None and ends == engine._count_ends(chunk.plain, query)
    monkeypatch.setattr(engine, "_count_ends", lambda text, query: None)
    assert engine.anchor_tables(*seen) == (None, 0)
    assert engine.anchor_tables(*seen, tables)[0] is not None  # a scan was slower before
