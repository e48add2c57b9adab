"""Circular records: hits over the origin, each once, as if the record had no ends."""

from random import Random

import naive
import naive_circles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.commands import failed, fasta, here, misused, random_letters
from support.searches import aligned, batches, rows

import kmatch
from kmatch.genome import as_genomes
from kmatch.results.table import Hits
from kmatch.search.circles import Arc, loci_on_circle
from kmatch.sequences.patterns import load_patterns


def circles(records):
    genome = kmatch.Genome.from_records(records)
    return as_genomes(genome).with_circular(True)


def text_of(records, row):
    """The text of a hit, as its strand is read."""
    text = (2 * naive.known(records[row[0]][1]))[row[1] : row[2]]
    return text if row[5] == "+" else naive.reverse_complement(text)


@st.composite
def arcs_of_circles(draw):
    """(size, arcs): of each arc its start, its length, the letters before its anchor and the
    distance of a hit there."""
    size = draw(st.integers(1, 12))
    arc = st.tuples(
        st.integers(0, size - 1), st.integers(1, size), st.integers(0, 1), st.integers(0, 2)
    )
    return size, draw(st.lists(arc, min_size=1, max_size=5))


@settings(max_examples=300)
@given(arcs_of_circles())
def test_loci_of_arcs(case):
    size, arcs = case
    rows = loci_on_circle([Arc(*arc[:3]) for arc in arcs], [arc[3] for arc in arcs], size)
    expected = naive_circles.loci([(*arc, "") for arc in arcs], size)
    assert sorted(arcs[row] for row in rows) == sorted(hit[:4] for hit in expected)


@pytest.mark.parametrize("side", ["3p", "5p"])
def test_a_plateau_all_round_beside_pams_of_several_lengths(side):
    rules = {"pam": "NN,NAN", "pam_side": side, "report": "loci"}
    records, panel = [("r", "A" * 9)], load_patterns(["AAA"])
    found = aligned(Hits(batches("edit", circles(records), panel, 1, **rules), panel))
    assert found == naive_circles.edit(records, ["AAA"], 1, **rules) != []


def beside_unequal_pams(random):
    """(records, patterns, options): circles that are shorter than patterns with some PAMs."""
    texts = ["".join(random.choices("ACGTN", [4, 4, 4, 4, 1], k=random.randint(2, 8)))
             for _ in range(random.randint(1, 3))]  # fmt: skip
    length = random.randint(1, 3)
    patterns = [naive.known(2 * text)[:length] for text in texts]
    pams = random.sample(["NNNNNN", "NNNR", "YNNN", "NNA", "TN", "RN", "NY", "A", "N"], 4)
    options = {"pam": pams, "pam_side": random.choice(["3p", "5p"])}
    options["strand"] = random.choice(["both", "both", "+", "-"])
    return [(f"r{n}", text) for n, text in enumerate(texts)], patterns, options


@pytest.mark.parametrize("report", ["ends", "minima", "loci"])
def test_beside_pams_of_several_lengths_in_short_records(report):
    for number in range(40):
        random = Random(f"{report} {number}")
        records, patterns, options = beside_unequal_pams(random)
        k, chunk = random.randint(0, len(patterns[0]) - 1), random.randint(9, 99)
        panel, genome = load_patterns(patterns), circles(records)
        given = {"device": "cpu", "chunk_length": chunk, **options}
        expected = naive_circles.edit(records, patterns, k, report, **options)
        hits = Hits(batches("edit", genome, panel, k, report=report, **given), panel)
        assert aligned(hits) == expected
        assert hits.match.tolist() == [text_of(records, row) for row in expected]
        windows = Hits(batches("multi", genome, panel, k, **given), panel)
        assert rows(windows) == naive_circles.multi(records, patterns, k, **options)


def test_over_the_origin_of_a_long_record():
    text = random_letters(70_000)
    pattern = text[-11:] + text[:12]
    genome = kmatch.Genome.from_records([("r", text)])
    for function in (kmatch.hamming, kmatch.multi, kmatch.edit):
        hits = function(genome, pattern, 2, circular=True, device="cpu")
        assert [tuple(row)[1:] for row in hits] == [(69_989, 70_012, pattern, 0, "+")]
        assert hits.match.tolist() == [pattern] and hits.cigar.tolist() == ["23="]
        assert len(function(genome, pattern, 2, device="cpu")) == 0
    turned = naive.reverse_complement(pattern)
    hits = kmatch.best(genome, turned, circular=["r"], device="cpu")
    assert [tuple(row)[1:] for row in hits] == [(69_989, 70_012, turned, 0, "-")]


class TestCommands:
    PATTERN = "GATTACAGCC"
    TEXT = PATTERN[4:] + random_letters(90, 3) + PATTERN[:4]

    @pytest.fixture
    def genome(self, tmp_path):
        path = tmp_path / "g.fa"
        path.write_bytes(fasta([("c", self.TEXT), ("d", self.TEXT)]))
        return path

    def test_gff3_has_each_record_before_its_hits(self, genome):
        search = ("hamming", genome, "-p", self.PATTERN, "-k", 0, "--circular", "d")
        lines = here(*search, "--format", "gff3").out.decode().splitlines()[1:]
        cells = [line.split("\t") for line in lines]
        assert [cell[:1] + cell[2:5] for cell in cells] == [
            ["d", "region", "1", "100"], ["d", "nucleotide_match", "97", "106"]
        ]  # fmt: skip
        assert cells[0][-1] == "Is_circular=true"
        genome.write_bytes(fasta([("a", self.PATTERN * 2), ("b", self.PATTERN)]))
        found = here(*search[:-1], "--strand", "+", "--format", "gff3").out.decode().splitlines()
        kinds = [(cell[0], cell[2]) for cell in (line.split("\t") for line in found[1:])]
        hit = "nucleotide_match"
        expected = [("a", "region"), ("a", hit), ("a", hit), ("b", "region"), ("b", hit)]
        assert kinds == expected

    def test_a_view_goes_on_behind_the_origin(self, genome):
        search = ("hamming", genome, "-p", self.PATTERN, "-k", 0, "--circular", "d")
        lines = here(*search, "--format", "view", "--strand", "+").out.decode().splitlines()
        around = self.TEXT[91:96].lower(), self.TEXT[6:11].lower()
        assert lines[0].startswith("d:96-106 +")
        assert lines[3].split()[1] == around[0] + self.PATTERN + around[1]

    def test_a_limit_and_regions(self, genome):
        (genome.parent / "r.bed").write_text("d\t0\t100\nc\t0\t100\n")
        search = ("edit", genome, "-p", self.PATTERN, "-k", 3, "--circular", "--format", "tsv")
        found = here(*search, "--limit", 1).out.decode().splitlines()[1:]
        assert [line.split("\t")[:3] for line in found] == [["c", "96", "106"]]
        inside = here(*search, "--regions", genome.parent / "r.bed").out.decode().splitlines()
        lines = here(*search).out.decode().splitlines()
        kept = [line for line in lines if line.startswith("s") or int(line.split("\t")[2]) <= 100]
        assert inside == kept != lines

    def test_mistakes(self, genome):
        search = ("hamming", genome, "-p", self.PATTERN, "-k", 1)
        table = genome.with_name("table.bed")
        failed(here(*search, "-o", table, "--circular", "d,chrM"), "no record is named 'chrM'")
        assert not table.exists()
        misused(here("hamming", "--circular", genome, "-p", "ACG", "-k", 1), "--circular last")
        sam = here(*search, "--format", "sam", "--circular")
        failed(sam, "none that is a circle; write bed, tsv, gff3 or view")
        with pytest.raises(kmatch.InputError, match="a list of names"):
            kmatch.hamming(genome, self.PATTERN, 1, circular="d")
