"""Batches, cells and the lines that they make, by hand."""

import io

import numpy as np
import pytest

import kmatch
from kmatch.arrays import bounds_of
from kmatch.engine.types import Columns, Texts
from kmatch.results.batches import Batch, HitBatch, Origin, cut_at_origin, joined, taken
from kmatch.results.formats import LEAST, Drawn, SamWriter, ViewWriter
from kmatch.results.limit import _first
from kmatch.results.lines import (
    CarrierNames,
    Carriers,
    Edits,
    Named,
    Names,
    TextCells,
    lines_of,
    shared,
)
from kmatch.results.sites import cuts, differences, flanks


def texts(*words):
    """Texts of words, of which blanks are left out."""
    words = [word.replace(" ", "").encode() for word in words]
    return Texts(bounds_of([len(word) for word in words]), np.frombuffer(b"".join(words), np.uint8))


def hits(ops, text, pattern, start, end, strands, **more):
    """Aligned hits in record 0, of rows of each of these."""
    number = np.array(pattern, np.int32)
    minus = np.array([strand == "-" for strand in strands], np.uint8)
    distance = np.array([sum(op in "XID" for op in each) for each in ops], np.int32)
    place = (np.zeros(len(ops), np.int64), np.array(start), np.array(end), {0: "r"})
    return HitBatch(*place, number, distance, minus, Columns(texts(*ops), texts(*text)), **more)


def test_lines():
    fields = [
        ("", Named(Names(["chr1", "é"]), np.array([0, 1, 0]))),
        ("\t", np.array([7, 100, 0])),
        (" | ", TextCells(texts("==X", "=", "DD===="), runs=True)),
        (":", TextCells(texts("ACG", "T", ""))),
    ]
    expected = "chr1\t7 | 2=1X:ACG\né\t100 | 1=:T\nchr1\t0 | 2D4=:\n"
    assert bytes(lines_of(fields)).decode() == expected


def test_an_alignment_that_is_a_number():
    """Its columns, and of each difference which column it is and its kind: 1 X, 2 I, 3 D."""
    whole = 20
    one = 20 | (5 << 2 | 1) << 7  # 5=1X14=
    run = 9 | (3 << 2 | 3) << 7 | (4 << 2 | 3) << 16 | (8 << 2 | 2) << 25  # 3=2D3=1I
    lines = bytes(lines_of([("", Edits(np.array([whole, one, run])))])).decode()
    assert lines.split() == ["20=", "5=1X14=", "3=2D3=1I"]


def test_names_of_carriers():
    r"""Of three samples, the two copies of each:

    sample      a  b  c
    carriers 0  10 00 11  a,c
    carriers 1  00 00 00
    carriers 2  00 01 01  b,c
    """
    names = Names([",a", ",b", ",c"])
    bits = [[1, 0, 0, 0, 1, 1], [0] * 6, [0, 0, 0, 1, 0, 1]]
    carriers = [Carriers(names, np.packbits(each, bitorder="little")) for each in bits]
    assert CarrierNames(carriers).words == ["", "a,c", "", "b,c"]
    assert CarrierNames([]).words == [""]


def test_objects_that_rows_share():
    objects = np.array([None, "x", None, "y", "x"], object)
    cells = shared(objects, lambda words: Names(["none", *words]))
    assert cells.names.words == ["none", "x", "y"]
    assert cells.which.tolist() == [0, 1, 0, 2, 1]


@pytest.mark.parametrize(
    ("pam_first", "ops", "text", "expected"),
    [
        # pattern   A C G T - A C    the next: a letter of the text before the pattern's first
        # text      A G G T A A -
        (False, "= X = = D = I", "A G G T A A", [2, 4, 6]),
        (False, "D = = X = = =", "A A C A T A C", [0, 3]),
        # a PAM of two letters, and behind it the pattern
        (True, "= = = X = = D = I", "T T A G G T A A", [2, 4, 6]),
    ],
)
def test_positions_of_differences(pam_first, ops, text, expected):
    batch = hits([ops, "======"], [text, "ACGTAC"], [0, 0], [9, 30], [15, 36], "++")
    if pam_first:
        batch = hits([ops, "========"], [text, "TTACGTAC"], [0, 0], [9, 30], [15, 36], "++")
    rows, positions = differences(batch, np.array([6]), pam_first)
    assert rows.tolist() == [0] * len(expected)
    assert positions.tolist() == expected


def test_cuts():
    """Three letters from the PAM, here of two letters.

    + at 10   A C G T A|C G T G G         - at 40   C C A C G|T A C G T
    """
    ops, text = "=" * 10, "ACGTACGTGG"
    more = {"origin": Origin(circles={0: 60})}
    batch = hits([ops] * 3, [text] * 3, [0] * 3, [10, 40, 57], [20, 50, 67], "+-+", **more)
    # The last one is cut behind position 60, where its circle begins again.
    assert cuts(batch, np.array([8]), False).tolist() == [15, 45, 2]
    assert np.isnan(cuts(batch, np.array([8]), True)).all()
    assert np.isnan(cuts(batch, np.array([10]), False)).all()  # there is no PAM


def test_flanks():
    """T T G C [ A C G T ] g a a: fewer letters than asked for where the record ends."""
    record = np.frombuffer(b"TTGCACGTgaa", np.uint8)

    def letters(genome, number, start, end):
        assert (genome, number) == (0, 0)
        return record[start:end]

    batch = hits(["===="] * 2, ["ACGT"] * 2, [0, 0], [4, 4], [8, 8], "+-")
    assert list(flanks(batch, letters, 3)) == [("TGC", "GAA"), ("TTC", "GCA")]
    assert list(flanks(batch, letters, 9)) == [("TTGC", "GAA"), ("TTC", "GCAA")]
    assert list(flanks(batch, None, 9)) == [("", ""), ("", "")]


def table(sequences, pam_first=False):
    genome = kmatch.Genome.from_records([("r", "ACGT" * 30)])
    patterns = kmatch.hamming(genome, sequences, 0, device="cpu").patterns
    return kmatch.Hits((), patterns, genome, pam_first)


def test_reads_of_sam():
    r"""They are on the forward strand, and have the text's letter where one matches.

    pattern    A R C - T      on -, turned round and complemented
    text       A G G T -
    columns    = = X D I      I D X = =
    read       A G C   T      A   G C T
    """
    writer = SamWriter(io.BytesIO(), table(["GG", "ARCT"]))
    batch = hits(["= = X D I"] * 2, ["A G G T"] * 2, [1, 1], [9, 9], [13, 13], "+-")
    ops, reads = writer._forward(batch)
    assert ops.letters.tobytes() == b"==XDI" + b"IDX=="
    assert reads.letters.tobytes() == b"AGCT" + b"AGCT"
    assert reads.bounds.tolist() == [0, 4, 8]
    # Behind a PAM, which is the text's, and before the next pattern.
    writer = SamWriter(io.BytesIO(), table(["GG", "ARCT"], pam_first=True))
    batch = hits(["= = = = X D I"], ["T C A G G T"], [1], [9], [15], "+")
    assert writer._forward(batch)[1].letters.tobytes() == b"TCAGCT"


def test_a_hit_for_eyes():
    """Of the pattern ACGT beside the PAM NGG, and with letters of the text around it.

    above         A C G T - A G G
    ops       _ _ = = X I D = = =
    below     g a A C T - A A G G
    """
    writer = ViewWriter(io.BytesIO(), table(["ACGT"]))
    drawn = writer._drawn("ACGT", "==XID===", "ACTAAGG")
    assert drawn == ("ACGT-AGG", "==XID===", "ACT-AAGG")
    assert drawn.beside("ga", "") == ("  ACGT-AGG", "  ==XID===", "gaACT-AAGG")
    lines = ["pattern ACGT-AGG", "        ||   |||", "text    ACT-AAGG"]
    assert list(writer._lines(drawn)) == lines
    writer.table.width = len("pattern ") + LEAST  # of which the next lines have the rest
    above, _, below, rest, _, _ = writer._lines(drawn.beside("gatt", ""))
    assert (above, below, rest) == ("pattern     ACGT-A", "text    gattACT-AA", "pattern GG")
    writer.table.colour = True
    above, _, below = writer._lines(Drawn("T-", "ID", "-A"))
    assert above == "pattern \x1b[1;31mT\x1b[0m\x1b[1;31m-\x1b[0m"
    assert below == "text    \x1b[1;31m-\x1b[0m\x1b[1;31mA\x1b[0m"


def test_a_hit_for_eyes_behind_its_pam():
    writer = ViewWriter(io.BytesIO(), table(["ACGT"], pam_first=True))
    drawn = writer._drawn("ACGT", "=====XID", "AGGACTA")
    assert drawn == ("AGGACGT-", "=====XID", "AGGACT-A")


def places(*intervals, circles=None):
    """A batch of intervals in record 0."""
    start, end = np.array(intervals, np.int64).T
    return Batch(
        np.zeros(len(start), np.int64), start, end, {0: "r"}, origin=Origin(circles=circles)
    )


def test_rows_of_several_batches():
    """
    rows of batches    0 1 2 | 3 4 | 5 6 7        asked for: 6 0 7
    """
    batches = [
        places((0, 9), (1, 9), (2, 9)),
        places((3, 9), (4, 9)),
        places((5, 9), (6, 9), (7, 9)),
    ]
    found = taken(batches, np.array([6, 0, 7]))
    assert found.start.tolist() == [6, 0, 7] and found.names == {0: "r"}


def test_rows_over_the_origin_are_two():
    """
    record              0 |------------ … ------------| 100
    a hit, 97 to 104                                |===|====|
    its rows              |====| 0 to 4             |===| 97 to 100
    """
    batch = places((1, 5), (97, 104), (50, 100), circles={0: 100})
    cut = cut_at_origin(batch)
    intervals = list(zip(cut.start.tolist(), cut.end.tolist(), strict=True))
    assert intervals == [(1, 5), (97, 100), (0, 4), (50, 100)]
    assert cut_at_origin(places((97, 104))).end.tolist() == [104]


def test_the_closest_hits_of_each_pattern():
    """
    pattern     1 0 1 1 0          most = 1
    distance    2 1 0 0 3
    rows            1   2          1 of pattern 0, 2 of pattern 1, before 3
    """
    ops = ["XX", "X=", "==", "==", "XXX"]
    batch = hits(ops, ops, [1, 0, 1, 1, 0], range(5), range(2, 7), "+++++")
    assert _first(batch, 1).start.tolist() == [1, 2]
    assert _first(batch, 2).start.tolist() == [1, 2, 3, 4]


def test_scores_are_joined_where_all_have_them():
    one = hits(["=="], ["AC"], [0], [1], [3], "+", scores={"cfd": np.ones(1), "mit": np.ones(1)})
    other = hits(["=="] * 2, ["AC"] * 2, [0] * 2, [4, 6], [6, 8], "++", scores={"mit": np.zeros(2)})
    both = joined([one, other])
    assert {name: each.tolist() for name, each in both.scores.items()} == {"mit": [1, 0, 0]}
    assert both.picked(np.array([2, 0])).scores["mit"].tolist() == [0, 1]
    assert joined([one, hits(["=="], ["AC"], [0], [4], [6], "+")]).scores is None
