"""Packed genomes: the same bytes out as from letters, whatever the layout, or a clear error."""

import base64
import io
import os
import struct
import warnings
import zlib
from array import array
from functools import partial
from zlib import crc32

import numpy as np
import pytest
from support.commands import failed, here, random_letters
from support.devices import PROBLEMS
from support.searches import hooked, packed, rows

import kmatch
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.geometry import text_of
from kmatch.packed import writer
from kmatch.packed.reader import PackedFile
from kmatch.packed.writer import HEADER, MAGIC, SPARE, TAIL, VERSION, WORDS, write_packed
from kmatch.search import chunks
from kmatch.sequences.chunks import ChunkPlan
from kmatch.sequences.records import RecordNames, stretch_of
from kmatch.sequences.unknown import unknown_letters

TINY = {"length": 100, "halo": 128}
hamming, multi, edit, best = (
    partial(hooked, command) for command in ("hamming", "multi", "edit", "best")
)


def table(search, genome, *arguments, **options):
    """A search as TSV."""
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search(genome, *arguments, **options).to_tsv(out)
    return out.getvalue()


def same(search, records, layout, *arguments, **options):
    expected = table(search, kmatch.Genome.from_records(records), *arguments, **options)
    assert table(search, packed(records, **layout), *arguments, **options) == expected


@pytest.mark.parametrize("problem", ["hamming", "edit"])
def test_records_end_where_chunks_do(problem):
    for records, patterns, k, options in PROBLEMS[problem].cases.values():
        expected = [row[:6] for row in PROBLEMS[problem].expect(records, patterns, k, **options)]
        for length in (60, 64, 100):
            genome = packed(records, length=length, halo=128)
            assert rows(getattr(kmatch, problem)(genome, patterns, k, **options)) == expected


@pytest.mark.parametrize("length", range(96, 104))
def test_chunks_without_regions_are_left_out(length):
    records = [(f"r{number}", 4 * "ACGTTGCA") for number in range(60)]
    layout, at = TINY | {"length": length}, [("r1", 0, 32), ("r2", 9, 32), ("r40", 0, 32)]
    for report in ("minima", "loci"):
        same(kmatch.edit, records, layout, ["TTGCA"], 1, regions=at, report=report)


def test_parts_of_a_record():
    text = random_letters(1000)
    ((_, letters),) = packed([("b", text)], **TINY).records()
    whole = np.frombuffer(text.encode(), np.uint8)
    assert len(letters) == 1000
    for part in (slice(0, 0), slice(5, 5), slice(90, 210), slice(-7, None), slice(3, 900, 7)):
        assert np.array_equal(letters[part], whole[part])
    assert np.array_equal(np.asarray(letters), whole)


ODD = [
    ("a", "ACgtnnNNnNACGTRYKMacgtu*uNN"),
    ("b", "NN"),
    ("", ""),
    ("c", 70 * "acgNN" + 300 * "N" + "RRRACGTX*"),
]


@pytest.mark.parametrize("layout", [{}, {"length": 64, "halo": 64}, {"length": 100, "halo": 128}])
def test_other_letters(layout):
    """
    a     ACgtnnNNnNACGTRYKMacgtu*uNN      as read, in upper case, T for U
              └N──┘    RYKM     * NN       in no plane, a stretch of each
    """
    genome = packed(ODD, **layout)
    plain = kmatch.Genome.from_records(ODD)
    for name, text in ODD:
        expected = text.upper().replace("U", "T")
        assert genome.letters(name) == plain.letters(name) == expected
        assert (
            genome.letters(name, len(text) // 3, len(text) // 2)
            == (expected[len(text) // 3 : len(text) // 2])
        )
    columns = "match", "unknown", "flank_5p", "flank_3p", "cigar"
    hits = [kmatch.edit(each, ["ACGTACG", "TNNACGT"], 4, device="cpu") for each in (plain, genome)]
    for name in columns:
        assert hits[0].column(name).tolist() == hits[1].column(name).tolist()
    assert any("R" in each for each in hits[1].column("flank_3p").tolist()) and len(hits[0])
    again = packed([(name, genome.letters(name)) for name, _ in ODD], **layout)
    assert bytes(again.file._data) == bytes(genome.file._data)


def test_stretches_of_other_letters():
    file = packed(ODD, length=32, halo=64).file
    found = list(zip(*(c.tolist() for c in vars(file.unknown).values()), strict=True))
    assert found[:3] == [(84, 90, ord("N")), (94, 95, ord("R")), (95, 96, ord("Y"))]
    assert all(begin // 32 == (end - 1) // 32 for begin, end, _ in found)
    longest = unknown_letters(np.frombuffer(b"ACGTNRACGTR" * 3_000, np.uint8))
    assert len(longest) == 9_000 and longest.letter[:4].tobytes() == b"NRRN"
    assert longest.between(4, 9).end.tolist() == [5, 6]


VERSION_1 = zlib.decompress(
    base64.b85decode(
        "c-rgq_H_(#_Tc4`;$mQAARUmShnj$mVH6ByFq(cw!D#v!x`1Oe{S0XOVHqs~M#137|4hi@0%-Y*37aAy"
        "aDdXfXyz%q-+qg%P8!WTZ5-w%COJTjnA^)c8Kk-ssf7ywi=PV#"
    )
)


def test_version_1(tmp_path):
    """Of kmatch 1.1, which lists no other letters: all are N."""
    path = tmp_path / "genome"
    path.write_bytes(VERSION_1)
    genome = kmatch.Genome(path)
    assert genome.letters("a") == "ACGTNNNNNNACGTNNNNACGTTNTNN" and genome.letters("b") == "NN"
    assert genome.names == ["a", "b"] and len(kmatch.hamming(genome, ["ACGT"], 0, strand="+")) == 3
    for place in (12, len(VERSION_1) - 16):
        refused(path, changed(VERSION_1, place, 3), "damaged")


FIVE = [("a", "AAA"), ("b", "CCCC"), ("c", "G"), ("d", "TTTTT"), ("e", "AC")]


@pytest.mark.parametrize(
    ("stretch", "most", "expected"),
    [
        (1_000, 9, ["abc", "d", "e"]),
        (25, 9, ["ab", "c", "d", "e"]),
        (1_000, 2, ["ab", "c", "d", "e"]),
    ],
)
def test_short_records_come_together(monkeypatch, stretch, most, expected):
    """
    record     a         b          c       d (long)      e
    position   80-83     99-103     119     136-141       157-159
    """
    file = packed(FIVE, length=100, halo=64).file
    assert file.begins.tolist() == [80, 99, 119, 136, 157]
    for name, value in (("SHORT", 4), ("STRETCH", stretch), ("MOST", most)):
        monkeypatch.setattr(f"kmatch.packed.reader.{name}", value)
    stretches = list(file.stretches())
    assert ["".join(each.names) for each in stretches] == expected
    read = {r.name: r.letters[:].tobytes().decode() for each in stretches for r in each.each()}
    assert read == dict(FIVE)
    assert ["".join(each.names) for each in file.stretches(None, 1, 2)] == ["b"]


@pytest.mark.parametrize("length", [7, 20, 40])
def test_what_a_chunk_shows(length):
    """
    chunk            base |==== length ====|~~ halo ~~| end
    records      |--a--|    |-b-|        |--c--|   |--d--|  |--e--|
    shown            a        b             c         d
    """
    file = packed(FIVE, length=length, halo=64).file
    places = list(zip("abcde", file.begins, file.begins + file.sizes, strict=True))
    for number in range(len(file.chunks)):
        base = number * length
        behind = [each for each in places if each[2] >= base] or places[-1:]
        inside = [each for each in behind if each[1] < base + length + 64]
        shown = [name for name, _, _ in inside or behind[:1]]
        first, names, begins, _ = file.spans(number)
        assert list(names) == shown and first == "abcde".index(shown[0])
        assert (begins + base).tolist() == [begin for name, begin, _ in places if name in shown]


def unused(*_):
    raise AssertionError("not the way to search this")


def test_a_genome_is_searched_where_it_lies_and_often(monkeypatch):
    records = [("r", random_letters(9000))]
    genome, whole = packed(records, length=4096, halo=64), kmatch.Genome.from_records(records)
    searches = [(kmatch.edit, [pattern], 1) for pattern in ("ACGTAC", "NRYAC", "ACGTAC")]
    searches += [(kmatch.hamming, ["ACGTAC"], 1), (kmatch.best, ["ACGTA"])]
    searches += [(partial(kmatch.multi, pam="NGG"), ["ACG"], 0)]
    for search, *arguments in searches:
        assert table(search, genome, *arguments) == table(search, whole, *arguments)
    monkeypatch.setattr(PackedFile, "letters", unused)
    assert all(len(search(genome, *arguments)) for search, *arguments in searches)


@pytest.mark.parametrize(("length", "k"), [(65, 2), (60, 5), (20, 16)])
def test_a_search_that_needs_more_unpacks(length, k, monkeypatch):
    records = [("r", random_letters(900)), ("s", random_letters(900, 2))]
    monkeypatch.setattr(chunks, "stored_chunks", unused)
    layout = {"length": 500, "halo": 64}  # and gaps are those of short records
    same(edit, records, layout, [records[0][1][50 : 50 + length]], k)


def test_chunks_outside_of_regions_are_left_out(monkeypatch):
    length = 40_000
    records = [(f"r{number}", random_letters(length, number)) for number in range(12)]
    records.insert(5, ("repeat", "AC" * (length // 2)))
    genome = kmatch.Genome.from_records(records)
    stored = packed(records, length=3 * length // 2, halo=64)
    checked = set()
    monkeypatch.setattr(stored.file, "check", checked.add)
    regions = [("r2", 10_000, length), ("repeat", 0, length), ("r11", 0, 30_000)]
    for search in (kmatch.hamming, kmatch.edit):
        checked.clear()
        pattern = ["ACACACACAC", records[2][1][20_000:20_020]]
        expected = rows(search(genome, pattern, 1, device="cpu", regions=regions))
        assert rows(search(stored, pattern, 1, device="cpu", regions=regions)) == expected
        assert len({hit[0] for hit in expected}) > 1
        assert 0 < len(checked) < len(stored.file.lengths)


@pytest.mark.parametrize(
    ("records", "length", "most"),
    [
        (1, 200_000, 0.55),
        (1, 1_500_000, 0.55),
        (1, 4_200_000, 0.55),
        (200, 20_000, 0.55),
        (2000, 1000, 0.58),
    ],
)
def test_size(records, length, most, tmp_path):
    letters = np.frombuffer(b"ACGT", np.uint8)[np.arange(length) % 4]
    genome = [(f"record{i}", letters) for i in range(records)]
    kmatch.pack(kmatch.Genome.from_records(genome), tmp_path / "genome")
    assert os.path.getsize(tmp_path / "genome") <= most * records * length


# Places beyond 2^32


def test_coordinates_beyond_four_billion(tmp_path):
    """Of a record whose chunks, but for the last one, are the same in the file."""
    empty, last, owned, halo = 130, random_letters(1000), 1 << 25, 64
    letters = np.frombuffer(bytearray(last.encode()), np.uint8)
    rows, planes = 8, np.empty(4 * 72 * WORDS, np.uint64)
    CpuEngine().pack(letters, text_of(planes, WORDS, rows, halo))
    nothing = np.zeros(4 * ((1 << 16) + halo) * WORDS, np.uint64)
    at, place = len(HEADER) + nothing.nbytes, empty * owned
    tables = writer._Tables()
    tables.chunks = empty * [(len(HEADER), owned, 1 << 16, crc32(nothing))]
    tables.chunks.append((at, len(last), rows, crc32(planes)))
    tables.names = [RecordNames.of(["long"])]
    tables.places = array("q", [halo, place + len(last) - halo])
    index = tables.index(WORDS, ChunkPlan(owned, halo, halo, halo))
    tail = TAIL.pack(at + planes.nbytes, crc32(index), VERSION, MAGIC)
    whole = b"".join((HEADER, nothing.tobytes(), planes.tobytes(), index, tail))
    (tmp_path / "genome").write_bytes(whole)
    begin = place - halo
    assert begin > 1 << 32
    genome = kmatch.Genome(tmp_path / "genome")
    for search in (kmatch.hamming, kmatch.edit):
        hits = search(genome, [last[100:120], last[979:]], 1, strand="+")
        assert hits.start.tolist() == [begin + 100, begin + 979]
        assert hits.end.tolist() == [begin + 120, begin + 1000]
    (record,) = genome.records()
    assert record.letters[begin + 300 : begin + 400].tobytes().decode() == last[300:400]


# The command


def test_records_that_come_in_parts(tmp_path):
    text = random_letters(5000)
    parts = [("a", text[:7], False), ("a", text[7:2000], True), ("b", "ACG", False)]
    parts += [
        ("c", text[:1], False),
        *(("c", text[i : i + 900], True) for i in range(1, 5000, 900)),
    ]
    parts = [stretch_of(name, np.frombuffer(t.encode(), np.uint8), more) for name, t, more in parts]
    with open(tmp_path / "genome", "wb") as handle:
        assert write_packed(parts, handle, length=600, halo=64) == (3, 7003)
    whole = [
        (r.name, r.letters[:].tobytes().decode()) for r in kmatch.Genome(handle.name).records()
    ]
    assert whole == [("a", text[:2000]), ("b", "ACG"), ("c", text)]


# Files that are cut, changed or of a newer version

TEXT = [("first", random_letters(5000)), ("second", "ACGTN" * 30)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a packed genome of three chunks."""
    path = tmp_path_factory.mktemp("whole") / "genome"
    file = packed(TEXT, length=2000, halo=64).file
    assert len(file.lengths) == 3
    path.write_bytes(file._data)
    assert found(path).status == 0
    return path.read_bytes()


def found(path):
    return here("hamming", path, "-p", "ACGTNACGTN", "-k", 2)


def refused(path, data, *words):
    """A search of a file with this content ends with an error."""
    path.write_bytes(data)
    failed(found(path), f"{path}: ", *words)


def changed(data, place, by=255):
    return data[:place] + bytes([data[place] ^ by]) + data[place + 1 :]


def test_damage(whole, tmp_path):
    path, index = tmp_path / "changed", len(whole) - 900
    for place in sorted({len(HEADER) - 1, len(HEADER), len(whole) - 1, *range(20, index, 2999)}):
        refused(path, whole[:place], "is cut")
    refused(path, whole + b"\n", "is cut or damaged")
    places = {*range(len(HEADER)), *range(len(HEADER), index, 997), *range(index, len(whole), 7)}
    for place in sorted(places):
        refused(path, changed(whole, place, 1 << place % 8))
    newer = changed(whole, whole.index(bytes([VERSION, 0, 0, 0])), VERSION ^ (VERSION + 1))
    newest = f"of version {VERSION + 1}, and this kmatch reads version {VERSION}; use a newer"
    refused(path, newer, newest)
    refused(path, changed(whole, len(HEADER) + 5), "in its chunk")


def test_damage_is_found_without_hits_and_in_every_command(whole, tmp_path):
    path = tmp_path / "changed"
    path.write_bytes(changed(whole, len(whole) // 2))
    for command in ("hamming", "multi", "edit", "best"):
        k = () if command == "best" else ("-k", 0)
        failed(here(command, path, "-p", "A" * 40, *k), "is damaged in its chunk 1")
    failed(here("pack", path, "-o", tmp_path / "again"))
    assert not (tmp_path / "again").exists()


NO_PLACE = (3,)  # numbers of the index that lead nowhere: the gap


@pytest.mark.parametrize("number", [-1, 1, 1 << 31, 1 << 61, -(1 << 62)])
def test_an_index_with_a_right_checksum_is_not_believed(whole, tmp_path, number):
    end = len(whole) - TAIL.size
    begin, _, version, magic = TAIL.unpack(whole[end:])
    path = tmp_path / "forged"
    for place in range(begin + SPARE, end - 11, 8):
        field = (place - begin - SPARE) // 8
        changed = whole[:place] + struct.pack("<q", number) + whole[place + 8 : end]
        tail = TAIL.pack(begin, crc32(changed[begin:]), version, magic)
        path.write_bytes(changed + tail)
        result = found(path)
        if result.status:
            failed(result, f"{path}: ")
        else:
            assert number == 1 or field in NO_PLACE or changed == whole[:end]
