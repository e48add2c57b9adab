"""k-difference primers: agreed cases against the oracle, tiles against rows of NumPy, tables."""

import io

import naive
import numpy as np
import pytest
from Bio.SeqUtils import MeltingTemp, gc_fraction
from support.cases import named
from support.commands import fasta, here, random_letters
from support.differences import related
from support.searches import primer, settings
from support.searches import primer_rows as rows

import kmatch
from kmatch.apps import primer as primers
from kmatch.engine.cpu.primer import Extension, extend_primers
from kmatch.engine.types import Starts
from kmatch.search.query import Run
from kmatch.sequences.alphabet import encode_text


def columns_of(*texts):
    """Background texts as an engine takes them."""
    codes = {letter: code for code, letter in enumerate("ACGT")}
    return np.array([x for text in texts for x in (5, *(codes.get(c, 4) for c in text))], np.uint8)


def extended(texts, background, k, longest=None, bounds=None, **geometry):
    """The bounds of all starts after `extend_primers`, and their limits."""
    return worked(texts, background, k, longest, bounds, **geometry)[:2]


def worked(texts, background, k, longest=None, bounds=None, **geometry):
    """The bounds of all starts after `extend_primers`, their limits, and the cells computed."""
    masks = encode_text(np.frombuffer("".join(texts).encode(), np.uint8))
    begins = np.cumsum([0, *map(len, texts)])
    limits = np.concatenate([np.arange(len(text), 0, -1) for text in texts])
    limits = np.minimum(limits, longest or len(masks))
    bounds = np.minimum(k, limits + 1) if bounds is None else bounds.copy()
    threads = geometry.pop("threads", 2)
    starts, columns = Starts(masks, begins, limits, bounds), columns_of(*background)
    with settings(geometry):
        return bounds, limits, extend_primers(starts, columns, k, threads=threads)


def far_lengths(texts, background, k, starts, longest=None):
    """The bounds of some starts by a matrix whose rows are NumPy's; background as texts."""
    columns = columns_of(*background)
    fresh, place = columns == 5, np.arange(len(columns))
    apart = place + np.cumsum(fresh) * 10 * len(columns)
    whole, ends = "".join(texts), np.cumsum([len(text) for text in texts])
    found = []
    for r in starts:
        end = int(ends[np.searchsorted(ends, r, side="right")])
        rows = min(end - r, longest or end - r)
        row = np.zeros(len(columns), np.int64)
        for length in range(1, rows + 2):
            if length > rows:  # there is none
                break
            wrong = columns != "ACGT".find(whole[r + length - 1])
            row[1:] = np.minimum(row[:-1] + wrong[1:], row[1:] + 1)
            row[fresh] = length
            row = np.minimum.accumulate(row - apart) + apart
            if row.min() >= k:
                break
        found.append(length)
    return found


TALL = [
    ("random", 10, None, {"height": 8, "block": 64}),
    ("random", 33, None, {}),
    ("random", 33, 60, {"block": 100}),
    ("random", 200, None, {"height": 32}),
    ("a relative", 20, None, {"height": 8, "block": 32}),
    ("a relative", 20, None, {"height": 32, "block": 16}),
    ("a relative", 45, None, {}),
    ("a far relative", 40, None, {"height": 16, "block": 100}),
    ("the target", 40, None, {"height": 8, "block": 10}),
    ("the target", 40, 200, {}),
    ("a repeat", 12, None, {"height": 8, "block": 50}),
    ("a repeat", 12, 70, {}),
]


@pytest.mark.parametrize("kind, k, longest, geometry", TALL)
def test_tiles_of_many_strips(kind, k, longest, geometry):
    rng = np.random.default_rng(k)
    texts = [random_letters(1300, k), random_letters(500, k + 1)]
    if kind == "a repeat":
        texts = [random_letters(7, 5) * 180, random_letters(500, k + 1)]
    share = {"a relative": 0.1, "a far relative": 0.3, "a repeat": 0.05, "the target": 0}
    copy = related(rng, texts[0][100:1100], share[kind]) if kind in share else ""
    if kind == "the target":
        copy = texts[0]
    background = [random_letters(500, 7) + copy + random_letters(300, 8), random_letters(700, 9)]
    bounds, limits = extended(texts, background, k, longest, **geometry)
    starts = [*range(0, 1800, 90), 511, 512, 1023, 1024, 1299, 1300]
    lengths = far_lengths(texts, background, k, starts, longest)
    # Above its limit a bound says only that there is no primer.
    assert [min(bounds[r], limits[r] + 1) for r in starts] == lengths
    if kind == "the target":
        assert (bounds[:1300] > limits[:1300]).all()


def test_only_what_is_alike_goes_deeper():
    rng = np.random.default_rng(6)
    text, other = random_letters(12_000), random_letters(60_000, 2)
    copy = related(rng, text, 0.08)
    _, _, cells = worked([text], [other], 20)
    bounds, limits, more = worked([text], [other[:20_000] + copy + other[32_000:]], 20)
    assert np.median(bounds - 20) > 100 and (bounds <= limits).any()
    assert more < 2.5 * cells


@pytest.mark.parametrize("group_starts", [1, 300, 600])
def test_groups_of_starts(group_starts):
    """As in one group; with blocks of 16 columns there are columns enough for all groups."""
    rng = np.random.default_rng(3)
    texts = [random_letters(900, 3), "ACGTN" * 5, random_letters(400, 4)]
    copy = related(rng, texts[0][200:600], 0.1)
    background = [random_letters(300_000, 5) + copy, "", texts[2][:50] + random_letters(90_000, 6)]
    geometry = {"block": 16, "group_starts": group_starts}
    bounds, limits = extended(texts, background, 3, 15, **geometry)
    alone, _ = extended(texts, background, 3, 15, group_starts=10_000)
    assert (bounds == alone).all()
    assert 0 < (bounds <= limits).sum() < len(bounds)
    starts = [*range(0, 1300, 50), 899, 904, 925, 1324]
    lengths = far_lengths(texts, background, 3, starts, 15)
    assert [min(bounds[r], limits[r] + 1) for r in starts] == lengths


def test_neighbours_save_work():
    texts, background = [random_letters(12_000, 3)], [random_letters(300_000, 5)]
    bounds, _, cells = worked(texts, background, 3, 15, block=16, group_starts=2_000)
    alone, _, alone_cells = worked(texts, background, 3, 15, block=16, group_starts=20_000)
    assert (bounds == alone).all()
    assert cells < 0.95 * alone_cells


def extension(bounds, limits, **geometry):
    """The Extension of starts of 6 letters each, three groups of them where there is space."""
    count = len(bounds)
    starts = Starts(np.ones(count, np.uint8), np.array([0, count]), limits, bounds)
    with settings(geometry):
        return Extension(starts, np.zeros(200_000, np.uint8), 2, None, 1, None)


def test_limits_of_a_group():
    """
    start                0 1 2 3 4 5 6 7
    limit                6 6 6 6 6 3 2 1
    bound                2 2 4 2 2 6 2 2      6, and 2 of the last start: there is no primer
    of the first group       *     *
    of the second          4     2     1      not longer than the primer to the right, if any
    """
    limits = np.array([6, 6, 6, 6, 6, 3, 2, 1])
    bounds = np.array([2, 2, 4, 2, 2, 6, 2, 2])
    one = extension(bounds, limits, group_starts=2, block=16)
    assert one._group_count == 3
    assert one._limits(2).tolist() == [0, 0, 6, 0, 0, 3, 0, 0]
    assert one._limits(1).tolist() == [0, 4, 0, 0, 6, 0, 0, 1]
    assert one._limits(0).tolist() == [2, 0, 0, 2, 0, 0, 2, 0]


def test_columns_near_neighbours():
    """
    start            0 1 2      3
    limit            6 6 6      6
    raised at                   40 and 1,000: of the starts 1 and 2
    windows of 0 … 1            32-296, 992-1,256, a warm-up of 8 and a block
    """
    one = extension(np.full(4, 2), np.full(4, 6))
    one._places[[1, 2]] = [40, 1000]
    (part,) = one._parts_near_neighbours(np.array([6, 6, 0, 0]))
    assert part.positions.tolist() == [0, 1]
    assert part.windows.tolist() == [[32, 296], [992, 1256]]
    assert part.column_count == 528
    assert one._parts_near_neighbours(np.array([0, 0, 6, 6])) == []


# Steps of the search.


def columns_drawn(columns):
    """Columns as words, a letter each, and `|` before each record."""
    return "".join("ACGTN|"[code] for code in columns.tolist())


def test_columns_of_records_and_of_their_reverse_complements():
    """
    records                |ACGN |TTA
    reverse complements    |TAA |NCGT
    """
    letters = np.frombuffer(b"ACGNTTA", np.uint8)
    columns = primers._columns(letters, np.array([4, 0, 3]))
    assert columns_drawn(columns) == "|ACGN|TTA"
    assert columns_drawn(primers._reversed(columns)) == "|TAA|NCGT"


def test_a_background_comes_in_parts_of_whole_records():
    """Of three letters or a little more, each strand of a record by itself where it has as many."""
    genome = kmatch.Genome.from_records(named("ACCC", "", "AG", "T", "GG"))
    with settings({"part": 3}):
        parts = list(primers.background_parts(genome, (0, 1)))
    assert "".join(columns_drawn(part.columns) for part in parts).count("|") == 8
    assert [columns_drawn(part.columns) for part in parts][:2] == ["|ACCC", "|GGGT"]
    assert all(len(part.columns) >= 3 for part in parts[:-1])


def test_strands_of_a_record_share_the_bytes_read(tmp_path):
    path = tmp_path / "b.fa"
    path.write_text(f">b\n{random_letters(4_000)}\n")
    with settings({"part": 1_000}):
        parts = list(primers.background_parts(kmatch.Genome(path, keep=False), (0, 1)))
    size = path.stat().st_size
    assert [(part.read, part.size) for part in parts] == [(size // 2, size), (size, size)]


def test_regions_are_runs_of_first_positions():
    """
    position         0 1 2 3 4 5 6 7 8 9
    first on +           > > >       > >
    first on -             < < <
    """
    plus, minus = [2, 3, 4, 8, 9], [3, 4, 5]
    start = np.array([*plus, *(position - 2 for position in minus)])
    end = np.array([*(position + 4 for position in plus), *(position + 1 for position in minus)])
    strand = np.repeat(np.array([0, 1], np.uint8), [len(plus), len(minus)])
    found = primers._regions(primers.FoundPrimers(start, end, strand))
    assert found.tolist() == [[2, 5, 0], [3, 6, 1], [8, 10, 0]]


def test_primers_of_the_other_strand_are_turned():
    """
    of the reverse complement    ---=====>-------   ==>-------------
    of the record                -------<=====---   -------------<==
    """
    start, end = np.array([0, 3]), np.array([3, 9])
    turned = primers.FoundPrimers(start, end, np.zeros(2, np.uint8)).turned(16)
    assert turned.start.tolist() == [7, 13] and turned.end.tolist() == [13, 16]
    assert turned.minus.tolist() == [1, 1]


def test_starts_of_both_strands():
    """
    codes     A C G | T T | A A | C G T
    limits    3 2 1   2 1   2 1   3 2 1        letters up to the end of the record
    """
    target = kmatch.Genome.from_records(named("ACG", "TT"))
    options = primers.PrimerOptions(both_strands=True)
    starts = primers.PrimerSearch(target, target, 2, options, Run("cpu"))._starts
    assert starts.masks.tolist() == [1, 2, 4, 8, 8, 1, 1, 2, 4, 8]
    assert starts.begins.tolist() == [0, 3, 5, 7, 10]
    assert starts.limits.tolist() == [3, 2, 1, 2, 1, 2, 1, 3, 2, 1]
    assert starts.bounds.tolist() == [2] * 10


# What primers are told with.


@pytest.fixture(scope="module")
def many():
    """Primers of both strands, some with an N, without any limit."""
    text = random_letters(700, 2)
    target = named(text[:300] + "N" + text[300:], "ACGTN" * 9)
    return (
        target,
        named(random_letters(900, 3)),
        primer(target, named(random_letters(900, 3)), 6, both_strands=True),
    )


def test_gc_and_tm_are_biopython_s(many):
    target, _, found = many
    assert len(found) > 1000
    for i in range(0, len(found), 7):
        text = target[found.record_number[i]][1][found.start[i] : found.end[i]]
        assert found.gc[i] == pytest.approx(gc_fraction(text), abs=1e-12)
        if "N" in text:
            assert np.isnan(found.tm[i])
        else:
            assert found.tm[i] == pytest.approx(MeltingTemp.Tm_NN(text), abs=1e-9)


def test_limits_on_gc_and_tm(many):
    target, background, found = many
    for limits in ({"gc": (0.4, 0.6)}, {"tm": (20, 40)}, {"gc": (0.5, 0.5), "tm": (-40, 60)}):
        some = primer(target, background, 6, both_strands=True, **limits)
        least, most = limits.get("gc", (0, 1))
        kept = (least <= found.gc) & (found.gc <= most)
        if "tm" in limits:
            kept &= (limits["tm"][0] <= found.tm) & (found.tm <= limits["tm"][1])
        expected = [row for row, keep in zip(rows(found), kept, strict=True) if keep]
        assert rows(some) == expected and 0 < len(some) < len(found)


def test_short_primers_are_lengthened(many):
    target, background, found = many
    longer = primer(target, background, 6, both_strands=True, min_length=18)
    expected = []
    for record, start, end, sign in rows(found):
        missing = max(18 - (end - start), 0)
        start, end = (start, end + missing) if sign == "+" else (start - missing, end)
        text = target[record][1]
        if start >= 0 and end <= len(text) and "N" not in naive.known(text[start:end]):
            expected.append((record, start, end, sign))
    assert rows(longer) == sorted(expected, key=lambda row: (*row[:3], "+-".index(row[3])))
    assert len({row[2] - row[1] for row in expected}) < len({r[2] - r[1] for r in rows(found)})


def test_tables(many):
    target, _, found = many
    bed, tsv, regions = io.StringIO(), io.BytesIO(), io.StringIO()
    found.to_bed(bed)
    assert bed.getvalue() == naive.primers_bed(target, 6, rows(found))
    found.to_tsv(tsv)
    header, *lines = tsv.getvalue().decode().splitlines()
    assert header.split("\t") == ["sequence", "start", "end", "length", "gc", "tm", "strand"]
    for i in (0, 1, len(found) - 1):
        tm = "NA" if np.isnan(found.tm[i]) else f"{found.tm[i]:.1f}"
        row = (found.record[i], found.start[i], found.end[i], found.length[i])
        assert lines[i].split("\t") == [*map(str, row), f"{found.gc[i]:.3f}", tm, found.strand[i]]
    found.regions_to_bed(regions)
    assert regions.getvalue() == regions_of(target, rows(found))


def regions_of(target, found):
    """The regions of primers on both strands, as BED."""
    lines = []
    for number, (name, text) in enumerate(target):
        stretches = []
        for sign in "+-":
            have = {e - 1 if sign == "-" else s for n, s, e, t in found if (n, t) == (number, sign)}
            for r in range(len(text)):
                if r in have and r - 1 not in have:
                    end = next(x for x in range(r, len(text) + 1) if x not in have)
                    stretches.append((r, end, sign))
        stretches.sort(key=lambda row: (row[0], row[1], "+-".index(row[2])))
        lines += [f"{name}\t{start}\t{end}\t.\t0\t{sign}\n" for start, end, sign in stretches]
    return "".join(lines)


def test_primers_hold_known_letters_alone():
    """
    target     A C G T N A C R T A C G
    letters    4 3 2 1 0 2 1 0 4 3 2 1      from each start on to the first that is none of ACGT
    """
    found = primer(named("ACGTNACRTACG"), named("TTTT"), 2, both_strands=True)
    assert {row[3] for row in rows(found)} == {"+", "-"}
    assert rows(found) == naive.primers(named("ACGTNACRTACG"), named("TTTT"), 2, "both", None, True)
    ends = {0: 4, 1: 4, 2: 4, 5: 7, 8: 12, 9: 12, 10: 12}
    assert all(end <= ends[start] for _, start, end, _ in rows(found))


def test_primers_inside_regions(tmp_path):
    """Those of the whole target that lie inside a region, of overlapping ones inside either.

    r0     0 . . 10 ======= 30 . . . . . 60
                      20 =========== 50 . .
    """
    target = named(random_letters(60, 3), random_letters(40, 4), "ACGT")
    background = named(random_letters(300, 5))
    genomes = [kmatch.Genome.from_records(records) for records in (target, background)]
    regions = [("r0", 10, 30), ("r0", 20, 50), ("r1", 0, 40)]
    how = {"both_strands": True, "device": "cpu"}
    whole = kmatch.primer(*genomes, 4, **how)
    found = kmatch.primer(*genomes, 4, regions=regions, **how)

    def is_inside(row):
        places = [(start, end) for name, start, end in regions if name == row.record]
        return any(start <= row.start and row.end <= end for start, end in places)

    assert list(found) == [row for row in whole if is_inside(row)]
    assert 0 < len(found) < len(whole) and {*found.strand} == {"+", "-"}
    with pytest.raises(kmatch.InputError, match="the region ends at 70"):
        kmatch.primer(*genomes, 4, regions=[("r0", 0, 70)])


def test_regions_are_read_and_what_was_written_has_another_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.fa").write_bytes(fasta(named(random_letters(50, 1))))
    (tmp_path / "b.fa").write_bytes(fasta(named(random_letters(200, 2))))
    words = ["primer", "t.fa", "b.fa", "-k", 4]
    found = here(*words, "--regions", "new.bed")
    assert found.status == 2 and b"--regions-out" in found.err
    assert not (tmp_path / "new.bed").exists()
    (tmp_path / "mine.bed").write_text("r0\t10\t40\n")
    found = here(*words, "--regions", "mine.bed")
    assert found.status == 0 and b"--regions-out" in found.err
    assert (tmp_path / "mine.bed").read_text() == "r0\t10\t40\n"
    places = [line.split(b"\t")[1:3] for line in found.out.splitlines()]
    assert places and all(int(start) >= 10 and int(end) <= 40 for start, end in places)


def test_progress_goes_up_to_the_size(tmp_path):
    path = tmp_path / "b.fa"
    path.write_text("".join(f">b{i}\n{random_letters(4_000, i)}\n" for i in range(5)))
    told = []
    primer(
        kmatch.Genome.from_records(named(random_letters(600))),
        kmatch.Genome(path, keep=False),
        8,
        part=3_000,
        on_progress=lambda consumed, size: told.append((consumed, size)),
    )
    assert told == sorted(told) and len(told) >= 10
    assert told[-1] == (path.stat().st_size, path.stat().st_size)


def test_the_command(tmp_path, monkeypatch):
    """Regions do not depend on what becomes of the primers, and each file may be piped."""
    monkeypatch.chdir(tmp_path)
    target = named(random_letters(150, 1), "GGNACC" + "AATGG" * 6, "")
    background = named(target[0][1][40:60] + random_letters(200, 2), "", "AATGG" * 9)
    for name, texts in (("target.fa", target), ("background.fa", background)):
        (tmp_path / name).write_bytes(fasta(texts))
    words = ["primer", "target.fa", "background.fa", "-k", 4]
    found = here(*words, "--regions-out", "r.bed", "--gc", 1, 1, "--tm", 20.05, 40.05)
    primer(target, background, 4).regions_to_bed("python.bed")
    assert found.status == 0
    assert (tmp_path / "r.bed").read_bytes() == (tmp_path / "python.bed").read_bytes() != b""
    whole = here(*words)
    for place in (1, 2):
        piped, data = [*words[:place], "-", *words[place + 1 :]], (tmp_path / words[place])
        assert here(*piped, stdin=data.read_bytes()) == whole
    bed = naive.primers_bed(target, 4, naive.primers(target, background, 4))
    assert whole == (0, bed.encode(), b"") and bed.count("\n") > 100
