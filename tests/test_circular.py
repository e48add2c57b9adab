"""Circular records: hits over the origin, each once, as if the record had no ends."""

from random import Random

import naive
import naive_circles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.commands import failed, fasta, here, misused, random_letters
from support.constraints import constrained_cases
from support.differences import rows as aligned_rows
from support.hooks import edit_batches, hamming_batches, hooked, multi_batches, pcr_batches
from support.mismatches import rows
from support.packing import packed
from support.pcr import cases as pcr_cases
from support.pcr import numbered, plain
from support.pcr import rows as product_rows

import kmatch
from kmatch.genome import as_genomes
from kmatch.results.table import Hits, Products
from kmatch.search.circles import Arc, loci_on_circle
from kmatch.sequences.patterns import load_patterns
from kmatch.sequences.primer_pairs import load_pairs

units = st.builds(lambda unit, times: unit * times, st.text("ACGT", min_size=1, max_size=4),
                  st.integers(1, 9))  # fmt: skip
texts = st.text("ACGTN", max_size=40) | units | st.builds(str.__add__, st.text("ACGT"), units)
tiny = st.fixed_dictionaries({"chunk_length": st.integers(1, 99)})
strands = st.sampled_from(["both", "+", "-"])


def circles(records, pack=False, names=True):
    genome = packed(records) if pack else kmatch.Genome.from_records(records)
    return as_genomes(genome).with_circular(names)


def text_of(records, row):
    """The text of a hit, as its strand is read."""
    text = (2 * naive.known(records[row[0]][1]))[row[1] : row[2]]
    return text if row[5] == "+" else naive.reverse_complement(text)


@st.composite
def cases(draw):
    """(records, patterns): patterns random, or cut out over an origin and changed."""
    found = draw(st.lists(texts, min_size=1, max_size=4))
    patterns = draw(st.lists(st.text("ACGTRN", min_size=1, max_size=9), min_size=1, max_size=2))
    for text in found:
        if text and draw(st.booleans()):
            size = draw(st.integers(1, min(9, len(text))))
            at = draw(st.integers(0, len(text) - 1))
            patterns.append((2 * text)[at : at + size])
    return [(f"r{n}", text) for n, text in enumerate(found)], patterns


@st.composite
def searches(draw, problem):
    """(records, patterns, k, options) of a problem on circles."""
    if problem == "rules":
        records, patterns, k, options = draw(constrained_cases(longest=6))
        options["report"] = options["report"] or ("ends" if options.get("pam") else "minima")
        return [(name, text[:30]) for name, text in records], patterns, k, options
    records, patterns = draw(cases())
    shortest, options = min(map(len, patterns)), {}
    k = min(draw(st.integers(0, 4)), shortest - 1)
    if problem == "multi":
        patterns, k = [(pattern * 5)[:5] for pattern in patterns], 1
        options["pam"] = draw(st.sampled_from(["NGG", "TN", "R"]))
        options["pam_side"] = draw(st.sampled_from(["3p", "5p"]))
    elif problem == "best":
        options["exact_3p"] = min(draw(st.integers(0, 2)), shortest)
    else:
        options["strand"] = draw(strands)
    if problem == "edit":
        options["report"] = draw(st.sampled_from(["ends", "minima", "loci"]))
    return records, patterns, k, options


WAYS = {"multi": ["sites", "scan"], "rules": ["lookup", "scan"]}


@pytest.mark.filterwarnings("ignore:pattern .* matches nowhere")
@pytest.mark.parametrize("problem", ["hamming", "multi", "edit", "rules", "best"])
@given(data=st.data())
def test_as_the_oracle(problem, data):
    records, patterns, k, options = data.draw(searches(problem))
    how = data.draw(tiny) | {"way": data.draw(st.sampled_from(WAYS.get(problem, [None])))}
    genome, name = circles(records, data.draw(st.booleans())), problem.replace("rules", "edit")
    k = () if name == "best" else (k,)
    hits = hooked(name, genome, patterns, *k, device="cpu", **options, **how)
    expected = getattr(naive_circles, name)(records, patterns, *k, **options)
    assert (aligned_rows if name in ("edit", "best") else rows)(hits) == expected


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
    found = aligned_rows(Hits(edit_batches(circles(records), panel, 1, **rules), panel))
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
def test_a_hit_takes_the_first_pam_with_which_it_fits_its_record(report):
    for number in range(40):
        random = Random(f"{report} {number}")
        records, patterns, options = beside_unequal_pams(random)
        k, chunk = random.randint(0, len(patterns[0]) - 1), random.randint(9, 99)
        panel, genome = load_patterns(patterns), circles(records)
        given = {"device": "cpu", "chunk_length": chunk, **options}
        expected = naive_circles.edit(records, patterns, k, report, **options)
        hits = Hits(edit_batches(genome, panel, k, report=report, **given), panel)
        assert aligned_rows(hits) == expected
        assert hits.match.tolist() == [text_of(records, row) for row in expected]
        windows = Hits(multi_batches(genome, panel, k, **given), panel)
        assert rows(windows) == naive_circles.multi(records, patterns, k, **options)


@settings(max_examples=60)
@given(cases(), tiny, st.sampled_from(["minima", "loci"]), st.lists(st.booleans(), min_size=4))
def test_linear_and_circular_records_together(case, geometry, report, flags):
    records, patterns = case
    panel = load_patterns(patterns)
    names = [name for (name, _), flag in zip(records, flags, strict=False) if flag]
    genome = circles(records, names=names)
    batches = edit_batches(genome, panel, 0, report=report, device="cpu", **geometry)
    expected = []
    for number, record in enumerate(records):
        oracle = naive_circles.edit if record[0] in names else naive.edit
        expected += [(number, *hit[1:]) for hit in oracle([record], patterns, 0, report)]
    assert aligned_rows(Hits(batches, panel)) == expected
    found = Hits(hamming_batches(genome, panel, 0, device="cpu", **geometry), panel)
    expected = []
    for number, record in enumerate(records):
        oracle = naive_circles.hamming if record[0] in names else naive.hamming
        expected += [(number, *hit[1:]) for hit in oracle([record], patterns, 0)]
    assert rows(found) == expected


@settings(max_examples=60)
@given(pcr_cases(), st.integers(1, 60))
def test_products(case, chunk_length):
    records, given_primers, k, options = case
    pairs = load_pairs(given_primers)
    batches = pcr_batches(
        circles(records), pairs, k, device="cpu", chunk_length=chunk_length, sequence=True,
        **options,
    )  # fmt: skip
    sequences, primers = numbered(given_primers)
    exact = {"exact_3p": options["exact_3p"]} if options["exact_3p"] else {}
    if options["edit"]:
        hits = naive_circles.edit(records, sequences, k, "loci", **exact)
    else:
        hits = naive_circles.hamming(records, sequences, k, **exact)
    expected = naive_circles.pcr(records, hits, primers, options["product"], options["pairs"])
    found = Products(batches, pairs)
    assert product_rows(found) == plain(expected)
    read = [text_of(records, (*row[:3], 0, 0, row[3])) for row in expected]
    assert found.sequence.tolist() == read


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

    @pytest.mark.parametrize("name", ["hamming", "edit", "best"])
    def test_bed_has_two_rows(self, genome, name):
        k = () if name == "best" else ("-k", 1)
        found = here(name, genome, "-p", self.PATTERN, *k, "--circular", "d")
        lines = [line for line in found.out.decode().splitlines() if line.startswith("d")]
        assert lines == [
            f"d\t96\t100\t{self.PATTERN}\t1000\t+\t0", f"d\t0\t6\t{self.PATTERN}\t1000\t+\t0"
        ]  # fmt: skip
        found = here(name, genome, "-p", self.PATTERN, *k, "--circular", "-v", "--format", "tsv")
        assert b"; 2 records, 200 bp in" in found.err
        lines = found.out.decode().splitlines()[1:]
        assert [line.split("\t")[1:3] for line in lines] == [["96", "106"]] * 2
        assert all(line.endswith(f"\t10=\t{self.PATTERN}") for line in lines)

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

    def test_products_over_the_origin(self, genome):
        pair = ("-p", self.PATTERN[:6], naive.reverse_complement(self.TEXT[20:30]), "-k", 0)
        found = here("pcr", genome, *pair, "--product", "20-60", "--circular", "d")
        rest = "pair_1\t1000\t+\t0\t0"
        assert found.out.decode().splitlines() == [f"d\t96\t100\t{rest}", f"d\t0\t30\t{rest}"]

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
