"""What primers are told with: GC content, melting temperature, tables, regions and errors."""

import io

import naive
import numpy as np
import pytest
from Bio.SeqUtils import MeltingTemp, gc_fraction
from support.commands import random_letters
from support.hooks import hooked_primer
from support.primers import CASES, primer, records, rows

import kmatch


@pytest.fixture(scope="module")
def many():
    """Primers of both strands, some with an N, without any limit."""
    text = random_letters(700, 2)
    target = records(text[:300] + "N" + text[300:], "ACGTN" * 9)
    return (
        target,
        records(random_letters(900, 3)),
        primer(target, records(random_letters(900, 3)), 6, both_strands=True),
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
    longer = primer(target, background, 6, both_strands=True, min_length=16)
    expected = []
    for record, start, end, sign in rows(found):
        missing = max(16 - (end - start), 0)
        start, end = (start, end + missing) if sign == "+" else (start - missing, end)
        if start >= 0 and end <= len(target[record][1]):
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
    assert {line.split("\t")[5] == "NA" for line in lines} == {True, False}
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


BAD = {
    "k = 0": ((0,), {}, "k is 0"),
    "max length below k": ((9,), {"max_length": 8}, "less than k"),
    "max length of 0": ((9,), {"max_length": 0}, "1 or more"),
    "min length above max": ((2,), {"min_length": 9, "max_length": 8}, "more than the maximum"),
    "gc upside down": ((2,), {"gc": (0.6, 0.4)}, "GC content"),
    "gc in percent": ((2,), {"gc": (40, 60)}, "share"),
    "tm upside down": ((2,), {"tm": (60, 40)}, "melting"),
    "a strand": ((2,), {"background_strand": "-"}, "strand"),
    "an algorithm": ((2,), {"algorithm": "guess"}, "guess"),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_arguments(name):
    (k,), options, word = BAD[name]
    with pytest.raises(kmatch.InputError, match=word):
        primer(records("ACGT"), records("ACGT"), k, **options)


def test_paths_and_columns(tmp_path):
    for name in ("t", "b"):
        (tmp_path / f"{name}.fa").write_text(
            f">{name} a title\n{CASES['as published'][name == 'b'][0][1]}\n"
        )
    found = kmatch.primer(tmp_path / "t.fa", tmp_path / "b.fa", 2, background_strand="+")
    assert found.record.tolist() == ["t", "t"]
    assert (found.start.dtype, found.end.dtype, found.gc.dtype) == (np.int64, np.int64, np.float64)
    assert (found.length.tolist(), found.gc.tolist()) == ([3, 3], [1 / 3, 2 / 3])


def test_progress_goes_up_to_the_size(tmp_path):
    path = tmp_path / "b.fa"
    path.write_text("".join(f">b{i}\n{random_letters(4_000, i)}\n" for i in range(5)))
    told = []
    hooked_primer(
        kmatch.Genome.from_records(records(random_letters(600))),
        kmatch.Genome(path, keep=False),
        8,
        part=3_000,
        on_progress=lambda consumed, size: told.append((consumed, size)),
    )
    assert told == sorted(told) and len(told) >= 10
    assert told[-1] == (path.stat().st_size, path.stat().st_size)
