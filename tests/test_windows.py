"""k mismatches against the oracle: agreed cases, then whatever Hypothesis thinks of."""

import naive
import numpy as np
import pytest
from support.commands import fasta, here, random_letters
from support.hooks import multi_batches
from support.mismatches import check_off_targets, rows, search, search_panel

import kmatch
from kmatch.results.table import Hits
from kmatch.search import chunks
from kmatch.sequences.patterns import load_patterns


def test_a_tile_has_borders_too():
    # Long enough for many tiles, with hits everywhere and at their borders.
    rng = np.random.default_rng(5)
    text = "".join(rng.choice(list("ACGT"), 70_000))
    pattern = text[40_000:40_009]
    expected = naive.hamming([("r", text)], [pattern], 4)
    for words in (1, 2, 16):
        assert rows(search([("r", text)], [pattern], 4, words=words)) == expected


def test_a_genome_packs_itself_once(monkeypatch):
    genome = kmatch.Genome.from_records([("r", "ACGTACGTTT")])
    first = kmatch.hamming(genome, ["ACGT"], 1)
    monkeypatch.setattr(chunks, "join_records", None)
    again = kmatch.hamming(genome, ["ACGR", "CGT"], 1)
    assert rows(first) == naive.hamming([("r", "ACGTACGTTT")], ["ACGT"], 1)
    assert rows(again) == naive.hamming([("r", "ACGTACGTTT")], ["ACGR", "CGT"], 1)


@pytest.mark.parametrize("length", [10_000, 12_345])
def test_very_long_patterns(length):
    rng = np.random.default_rng(7)
    text = "".join(rng.choice(list("ACGT"), 30_000))
    changed = list(text[5_000 : 5_000 + length])
    for at in rng.choice(length, 300, replace=False):
        changed[at] = "ACGT"["TGCA".index(changed[at])]
    found = search([("r", text)], ["".join(changed)], 300)
    assert rows(found) == [(0, 5_000, 5_000 + length, 0, 300, "+")]
    assert len(search([("r", text)], ["".join(changed)], 299)) == 0


# Panels of one length, with and without a PAM: the oracle, the tables, and known off-targets.


@pytest.mark.parametrize("geometry", [{}, {"chunk_length": 7}])
def test_pams_of_several_lengths(geometry):
    records = [("r", "ACGTTAGGGACGTTGGCACGTGG"), ("s", "CCGACGT")]
    options = {"pam": ["NGGG", "GG", "NGG"], "device": "cpu"}
    found = rows(search_panel(records, ["ACGTT"], 1, **options, **geometry))
    assert found == naive.multi(records, ["ACGTT"], 1, options["pam"])
    assert {end - start for _, start, end, *_ in found} == {7, 9}
    with pytest.raises(kmatch.InputError, match="NGGG, GG and NGG have different lengths"):
        search_panel(records, ["ACGTT"], 1, algorithm="sequential", **options)


def test_two_thousand_patterns():
    rng = np.random.default_rng(3)
    text = random_letters(1_000_000)
    patterns = [random_letters(20, seed) for seed in range(1000)]
    for start in rng.integers(len(text) - 20, size=999).tolist():
        piece = list(text[start : start + 20])
        for at in rng.integers(20, size=3):
            piece[at] = "ACGT"[rng.integers(4)]
        patterns.append("".join(piece))
    patterns.append(patterns[-1][:7] + "NR" + patterns[-1][9:])
    genome = kmatch.Genome.from_records([("r", text[:400_000]), ("s", text[400_000:])])
    panel = load_patterns(patterns)
    expected = kmatch.hamming(genome, patterns, 3)
    assert 1000 < len(expected) < 5000
    for way in ("lookup", "scan", None):
        assert rows(Hits(multi_batches(genome, panel, 3, way=way), panel)) == rows(expected)


@pytest.mark.parametrize("length", [1, 2, 31, 32, 33, 63, 64, 65])
def test_every_word_length(length):
    text = random_letters(900, length)
    patterns = [text[at : at + length] for at in (0, 7, 450, 900 - length)]
    text = text[:453] + "TNNA" + text[457:]
    options = {"exact_5p": length // 9, "exact_3p": length // 7}
    for k in {0, min(2, length - 1), length // 8}:
        expected = naive.hamming([("r", text)], patterns, k, **options)
        for geometry in ({}, {"words": 1}, {"chunk_length": 210, "words": 3}):
            found = search_panel([("r", text)], patterns, k, way="lookup", **options, **geometry)
            assert rows(found) == expected


def test_very_long_panels():
    text = random_letters(20_000)
    pattern = "".join("ACGT"["TGCA".index(x)] if i % 30 == 0 else x for i, x in enumerate(text))
    for pam, end in ((None, 15_000), ("N" + text[15_001:15_003], 15_003)):
        found = search_panel([("r", text)], [pattern[5_000:15_000]], 350, pam=pam)
        assert [row[1:4] for row in rows(found)] == [(5_000, end, 0)]


def test_known_off_targets(real):
    check_off_targets(real, "cpu")


BAD = {
    "unequal": (["ACGT", "ACGT", "ACGTA"], 1, {}, "pattern 'ACGTA' has 5 letters"),
    "pam letter": (["ACGT"], 1, {"pam": "NXG"}, "PAM 'NXG': 'X' at position 2"),
    "empty pam": (["ACGT"], 1, {"pam": ""}, "the PAM is empty"),
    "side": (["ACGT"], 1, {"pam": "NGG", "pam_side": "left"}, "left"),
    "k = m": ({"guide": "ACGT"}, 4, {}, "'guide'.* k = 4"),
    "k = m and a pam": ({"guide": "ACGT"}, 4, {"pam": "NGG"}, "'guide'.* k = 4"),
    "strand": (["ACGT"], 1, {"pam": "NGG", "strand": "x"}, "strand 'x'"),
    "nothing": ([], 1, {}, "no patterns"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    patterns, k, options, message = BAD[name]
    with pytest.raises(kmatch.InputError, match=message):
        kmatch.multi(kmatch.Genome.from_records([("r", "ACGT")]), patterns, k, **options)


@pytest.fixture
def inputs(tmp_path):
    genome, panel = tmp_path / "genome.fa", tmp_path / "panel.txt"
    text = random_letters(3_000)
    genome.write_bytes(fasta([("chr1", text)]))
    patterns = [text[i : i + 8] for i in (5, 900, 2_500)] + ["ACNRYTGA", text[5:13]]
    names = ["one", "two", "three", "four", "twice"]
    panel.write_text("".join(f"{n}\t{p}\n" for n, p in zip(names, patterns, strict=True)))
    return genome, panel, [("chr1", text)], names, patterns


def test_summary_beside_the_hits(inputs, tmp_path):
    genome, panel, records, names, patterns = inputs
    hits = naive.hamming(records, patterns, 2)
    result = here("multi", genome, panel, "-k", 2, "--summary", tmp_path / "summary.tsv")
    assert result == (0, naive.bed(records, names, patterns, hits).encode(), b"")
    assert (tmp_path / "summary.tsv").read_text() == naive.summary(names, 2, hits)


def test_summary_only(inputs, tmp_path):
    genome, panel, records, names, patterns = inputs
    pam = ("--pam", "TTN", "--pam-side", "5p")
    expected = naive.summary(names, 3, naive.multi(records, patterns, 3, "TTN", "5p"))
    command = ("multi", genome, panel, "-k", 3, *pam, "--summary-only")
    assert here(*command) == (0, expected.encode(), b"")
    assert here(*command, "-o", tmp_path / "summary") == (0, b"", b"")
    assert (tmp_path / "summary").read_text() == expected


def test_nothing_is_left_of_a_failure(inputs, tmp_path):
    genome, panel, *_ = inputs
    before = sorted(tmp_path.iterdir())
    out = ("-o", tmp_path / "hits.bed", "--summary", tmp_path / "summary.tsv")
    failed = here("multi", tmp_path / "none.fa", panel, "-k", 2, *out)
    assert failed.status == 1 and failed.err.count(b"\n") == 1
    failed = here("multi", genome, panel, "-k", 2, "-o", tmp_path / "h", "--summary", "/none/s")
    assert failed.status == 1 and b"/none/s: cannot be written" in failed.err
    failed = here("multi", genome, panel, "-k", 2, "--pam", "NG!", *out)
    assert failed.status == 1 and b"PAM 'NG!': '!' at position 3" in failed.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "options",
    [
        ("--summary-only", "--summary", "s.tsv"),
        ("--summary-only", "--format", "tsv"),
        ("--summary", "-"),
        ("--summary", "same.tsv", "-o", "./same.tsv"),
        ("--pam-side", "left"),
    ],
)
def test_wrong_usage(options):
    result = here("multi", "g.fa", "-p", "ACGT", "-k", 1, *options)
    assert result.status == 2 and b"Error:" in result.err
