"""The closest occurrences against the oracle."""

import naive
import numpy as np
import pytest
from hypothesis import given
from support.cases import edit_cases, edit_geometries
from support.commands import fasta, here, random_letters, shell
from support.differences import best, check_alignments, edit, edited, last_row, planted, rows

import kmatch


@given(edit_cases(), edit_geometries)
def test_the_best_are_the_minima_at_the_smallest_distance(case, geometry):
    records, patterns, _, options = case
    found = rows(best(records, patterns, **options, **geometry))
    for number, pattern in enumerate(patterns):
        mine = [row for row in found if row[3] == number]
        k = mine[0][4] if mine else len(pattern) - 1
        minima = rows(edit(records, [pattern], k, **options))
        assert [(*row[:3], 0, *row[4:]) for row in mine] == minima


def test_ties_on_both_strands_and_in_several_records():
    site, other = "ACGTTGCATTAG", naive.reverse_complement("ACGTTGCATTAG")
    records = [("a", f"GG{site}GG{other}"), ("b", "GGGGGG"), ("c", f"{other}TTT{site}")]
    expected = [(0, 2, 14, "+"), (0, 16, 28, "-"), (2, 0, 12, "-"), (2, 15, 27, "+")]
    for chunk_length in (None, 10, 29):
        found = rows(best(records, [site], chunk_length=chunk_length))
        assert [(row[0], row[1], row[2], row[5]) for row in found] == expected
        assert {(row[4], row[6]) for row in found} == {(0, "12=")}


@pytest.mark.parametrize("chunk_length", [300, None])
@pytest.mark.parametrize("order", [1, -1])
def test_the_best_may_be_first_or_last(order, chunk_length):
    pattern = "ACGTTGCATTAGCCAGTACT"
    rng = np.random.default_rng(4)
    copies = [edited(rng, pattern, edits) for edits in (6, 4, 2, 1, 0)][::order]
    records = [(f"r{i}", random_letters(500, i) + copy) for i, copy in enumerate(copies)]
    found = rows(best(records, [pattern], chunk_length=chunk_length))
    assert [row[0] for row in found if row[4] == 0] == [copies.index(pattern)] and len(found) == 1


@pytest.mark.parametrize("options", [{}, {"chunk_length": 3_000}, {"threads": 2}, {"threads": 1}])
def test_a_larger_text(options):
    rng = np.random.default_rng(6)
    patterns = ["".join(rng.choice(list("ACGT"), m)) for m in (5, 12, 20, 33, 64, 150)]
    text = planted(rng, 30_000, patterns[2:5], 9)
    found = rows(best([("r", text)], patterns, **options))
    check_alignments([("r", text)], patterns, found)
    for number, pattern in enumerate(patterns):
        last = {s: last_row(pattern, t) for s, t in strands(text).items()}
        smallest = min(row.min() for row in last.values())
        expected = []
        for sign, row in last.items():
            ends = [i for i in np.flatnonzero(row == smallest) if row[i + 1 : i + 2] != smallest]
            expected += [(sign, i + 1 if sign == "+" else len(text) - i - 1) for i in ends]
        mine = [row for row in found if row[3] == number]
        assert {row[4] for row in mine} == {smallest}
        places = [(row[5], row[2] if row[5] == "+" else row[1]) for row in mine]
        assert sorted(places) == sorted(expected)


def strands(text):
    return {"+": text, "-": naive.reverse_complement(text)}


@pytest.mark.parametrize("sign", "+-")
def test_long_patterns(sign):
    rng = np.random.default_rng(9)
    text = random_letters(9_000, 9)
    near, far = edited(rng, text[2_000:5_000], 90), random_letters(1_500, 10)
    read = strands(text)[sign]
    found = rows(best([("r", read)], [near, far]))
    check_alignments([("r", read)], [near, far], found)
    (mine,) = [row for row in found if row[3] == 0]
    assert (mine[4], mine[5]) == (last_row(near, text).min(), sign)
    # No better than chance: more than a third of its letters differ.
    smallest = min(last_row(far, piece).min() for piece in strands(text).values())
    assert {row[4] for row in found if row[3] == 1} == {smallest} and smallest > 500


@pytest.mark.parametrize("letters", ["", "NNNNNNNNNNNN", "-*.", "TTTTTTT"])
def test_patterns_that_match_nowhere_are_absent(letters):
    records = [("a", letters), ("b", "")]
    assert rows(best(records, ["CCC", "C", "SSS"])) == []
    found = rows(best([*records, ("c", "ACCA")], ["CCC", "RRR", "YYYYYYYY"], strand="+"))
    assert found == naive.best([*records, ("c", "ACCA")], ["CCC", "RRR", "YYYYYYYY"], "+")
    assert {row[3] for row in found} == {0, 1, 2}


def test_patterns_that_match_nowhere_are_reported():
    genome = kmatch.Genome.from_records([("r", "ATATTATA"), ("s", "NNNN")])
    with pytest.warns(UserWarning) as told:
        hits = kmatch.best(genome, {"nowhere": "CCCC", "here": "ATTA", "neither": "SS"})
    assert set(hits.pattern) == {"here"}
    said = " ".join(str(warning.message) for warning in told)
    assert "nowhere" in said and "neither" in said and "'here'" not in said


class TestCommand:
    PANEL = b"first\tACGTTGCATT\nnowhere\tCCCC\nlast\tTTTT\nneither\tSSSSSS\n"

    @pytest.fixture
    def genome(self, tmp_path):
        path = tmp_path / "genome.fa"
        path.write_bytes(fasta([("a", "TTAATTATATTAAT"), ("b", "AAATTTTA")]))
        (tmp_path / "panel.txt").write_bytes(self.PANEL)
        return path

    def table(self, form="bed"):
        records = [("a", "TTAATTATATTAAT"), ("b", "AAATTTTA")]
        patterns = ["ACGTTGCATT", "CCCC", "TTTT", "SSSSSS"]
        names = ["first", "nowhere", "last", "neither"]
        found = naive.best(records, patterns)
        assert {row[3] for row in found} == {0, 2}
        if form == "bed":
            return naive.edit_bed(records, names, patterns, found).encode()
        return naive.edit_tsv(records, names, found).encode()

    @pytest.mark.parametrize("form", ["bed", "tsv"])
    def test_the_patterns_without_a_hit_are_named(self, genome, form):
        result = here("best", genome, genome.with_name("panel.txt"), "--format", form)
        assert (result.status, result.out) == (0, self.table(form))
        lines = result.err.decode().splitlines()
        assert lines and all(line.startswith("kmatch: warning: ") for line in lines)
        said = "\n".join(lines)
        assert "nowhere" in said and "neither" in said
        assert "first" not in said and "last" not in said

    def test_quiet(self, genome):
        result = here("best", genome, genome.with_name("panel.txt"), "-q")
        assert result == (0, self.table(), b"")

    def test_no_warning_where_every_pattern_is_found(self, genome):
        result = here("best", genome, "-p", "TTTT", "-p", "AATT")
        assert (result.status, result.err) == (0, b"") and result.out.count(b"\n") >= 2

    def test_standard_input(self, genome):
        result = here("best", "-", genome.with_name("panel.txt"), "-q", stdin=genome.read_bytes())
        assert result == (0, self.table(), b"")
        result = here("best", genome, "-", "-q", stdin=self.PANEL)
        assert result == (0, self.table(), b"")

    @pytest.mark.parametrize("place", ["/dev/stdin", "<(cat genome.fa)"])
    def test_a_pipe_cannot_be_read_twice(self, genome, place):
        script = f'cat genome.fa | "$@" {place} panel.txt -q'
        result = shell(script, "best", cwd=genome.parent)
        assert result == (0, self.table(), b"")

    def test_a_text_without_letters(self, tmp_path):
        (tmp_path / "n.fa").write_bytes(b">a\nNNNNNNNN\n>b\n")
        result = here("best", tmp_path / "n.fa", "-p", "ACGT")
        assert (result.status, result.out) == (0, b"")
        assert result.err.startswith(b"kmatch: warning: ") and b"ACGT" in result.err


def test_long_patterns_whose_ends_do_not_match_are_said_to_take_time():
    pattern = "ACGT" * 70
    genome = kmatch.Genome.from_records([("r", "T" * 20 + pattern[1:] + "T" * 20)])
    with pytest.warns(UserWarning, match="280 letters is not found with its ends"):
        (hit,) = kmatch.best(genome, [pattern], exact_5p=4, strand="+", device="cpu")
    assert (hit.start, hit.distance) == (23, 3)  # without its first four, and A, C and G beyond
