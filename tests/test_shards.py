"""Searches by shards give what a search of the whole gives, wherever shards begin and end."""

from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.packing import packed
from support.shards import by_shards

import kmatch
from kmatch.distributed.files import SharedFile
from kmatch.distributed.shards import pack_letters, unpack_letters
from kmatch.genome import as_genomes
from kmatch.results.columns import words
from kmatch.search.best import BestOptions, best_batches
from kmatch.search.edit import EditOptions, edit_batches
from kmatch.search.hamming import HammingOptions, hamming_batches
from kmatch.search.multi import MultiOptions, multi_batches
from kmatch.search.pcr import PcrOptions, pcr_batches
from kmatch.search.primer import PrimerOptions, primer_batches
from kmatch.search.regions import load_regions, narrow
from kmatch.search.running import Running
from kmatch.search.scanning.lengths import Heard
from kmatch.search.shards.extents import Cutter
from kmatch.sequences.patterns import load_patterns
from kmatch.sequences.primer_pairs import load_pairs

HERE = Running(device="cpu", on_warning=lambda message: None)
COLUMNS = ("record", "start", "end", "pattern", "distance", "minus")


def table(batches):
    """The rows of batches of hits, with their alignments and the names of their records."""
    rows = []
    for batch in batches:
        names, which = batch.record_names()
        if not len(batch):
            continue
        op_ends, ops, text_ends, text = batch.columns
        columns = zip(*(getattr(batch, name).tolist() for name in COLUMNS), strict=True)
        for i, row in enumerate(columns):
            cigar = ops[op_ends[i] : op_ends[i + 1]].tobytes()
            letters = text[text_ends[i] : text_ends[i + 1]].tobytes()
            circle = (batch.origin.circles or {}).get(row[0])
            rows.append((*row, circle, batch.origin[:2], names[which[i]], cigar, letters))
    return rows


def same(search, letters):
    """Check that shards of so many letters give what the whole does; returns the rows."""
    whole = table(search(running=HERE))
    assert table(by_shards(search, letters, on_warning=HERE.on_warning)) == whole
    return whole


def genome_of(texts):
    return kmatch.Genome.from_records([(f"r{n}", text) for n, text in enumerate(texts)])


# Repeats of few letters have plateaus and chains of hits that go over many shards.
WORDS = st.sampled_from(["A", "AC", "ACG", "T", "AAAAAAA", "GATC", "N", "CAT"])
RUN = st.builds(str.__mul__, WORDS, st.integers(1, 9))
TEXT = st.lists(RUN, max_size=4).map("".join)
TEXTS = st.lists(TEXT, min_size=1, max_size=3)
PATTERNS = st.lists(
    st.sampled_from(["AAAA", "ACAC", "NNNN", "ACGAC", "CATTT", "RYRY"]), min_size=1, max_size=3
)
SHARD = st.integers(5, 40)


@settings(max_examples=40)
@given(TEXTS, PATTERNS, st.integers(0, 2), st.sampled_from([None, "ends", "minima", "loci"]), SHARD)
@example(["A" * 40], ["AAAA"], 1, "minima", 1)
@example(["T" * 40, "", "A" * 9], ["AAAA", "NNNN"], 1, "loci", 3)
def test_edit(texts, patterns, k, report, letters):
    options = EditOptions(report)
    same(partial(edit_batches, genome_of(texts), load_patterns(patterns), k, options), letters)


@settings(max_examples=15)
@given(
    TEXTS,
    st.sampled_from([["AC", "A"], ["A"], ["NAC", "T"]]),
    st.sampled_from(["3p", "5p"]),
    st.sampled_from(["ends", "minima", "loci"]),
    SHARD,
)
def test_edit_beside_pams(texts, pams, side, report, letters):
    options = EditOptions(report, pam=pams, pam_side=side)
    same(partial(edit_batches, genome_of(texts), load_patterns(["GATC"]), 1, options), letters)


@settings(max_examples=10)
@given(TEXTS, st.sampled_from(["minima", "loci"]), SHARD)
def test_edit_by_rules(texts, report, letters):
    options = EditOptions(report, exact_5p=1, max_insertions=1, max_mismatches=1)
    patterns = load_patterns(["ACGAC", "AAAA"])
    same(partial(edit_batches, genome_of(texts), patterns, 2, options), letters)


@settings(max_examples=12)
@given(TEXTS, PATTERNS, st.integers(0, 2), st.sampled_from(["both", "+", "-"]), SHARD)
def test_hamming(texts, patterns, k, strand, letters):
    options = HammingOptions(strand)
    same(partial(hamming_batches, genome_of(texts), load_patterns(patterns), k, options), letters)


@settings(max_examples=12)
@given(TEXTS, st.sampled_from([None, "NG", ["A", "TT"], ["AC", "GA"]]), SHARD)
def test_multi(texts, pam, letters):
    search = partial(multi_batches, genome_of(texts), load_patterns(["CATC", "AAAA", "AAAA"]), 1)
    same(partial(search, options=MultiOptions(pam)), letters)


@settings(max_examples=12)
@given(TEXTS, st.sampled_from([(0, 0), (1, 0), (2, 1)]), SHARD)
def test_best(texts, ends, letters):
    options = BestOptions("both", *ends)
    patterns = load_patterns(["ACGTACGT", "AAAAAAAAA", "TTGACA", "AAAAAAAAA"])
    same(partial(best_batches, genome_of(texts), patterns, options), letters)


def test_best_warns_of_patterns_that_match_nowhere():
    heard = []
    search = partial(best_batches, genome_of(["AAAA" * 9]), load_patterns(["CCC", "AAA"]))
    assert table(by_shards(search, 5, on_warning=heard.append))
    assert heard == ["pattern 'CCC' matches nowhere"]


def test_the_tests_meet_long_plateaus_and_chains():
    texts, patterns = ["C" + "A" * 80 + "ACAC" * 20], load_patterns(["AAAA", "ACACA"])
    search = partial(edit_batches, genome_of(texts), patterns, 1)
    minima = same(partial(search, options=EditOptions("minima")), 9)
    loci = same(partial(search, options=EditOptions("loci")), 9)
    assert len(minima) > 30 and len(loci) < 10


@pytest.mark.parametrize("algorithm", ["sequential", "row"])
def test_a_published_algorithm(algorithm):
    texts = ["ACGTTGCA" * 9 + "A" * 30, "TTACGAA" * 5]
    search = partial(edit_batches, genome_of(texts), load_patterns(["ACGTT", "AAAAA"]), 1)
    found = table(by_shards(search, 11, algorithm=algorithm))
    assert found == table(search(running=HERE)) != []


@pytest.mark.parametrize("edit, circular", [(False, False), (True, False), (False, True)])
def test_pcr(edit, circular):
    pair = {"p": ("ACGTTGCA", "TTGACCAT"), "q": ("GGATCA", "CCATGA")}
    inner = "GATTACA" * 6
    text = "TTT" + "ACGTTGCA" + inner + "ATGGTCAA" + inner + "GGATCA" + inner + "TCATGG"
    options = PcrOptions(product=(10, 300), edit=edit, sequence=True, pairs="any")
    genomes = as_genomes(genome_of([text, text[::-1], text * 3]))
    if circular:
        genomes = genomes.with_circular(["r0", "r1"])
    search = partial(pcr_batches, genomes, load_pairs(pair), 1, options)

    def rows(batches):
        return [
            (*row, batch.names[row[0]], words(batch.text)[i])
            for batch in batches
            for i, row in enumerate(
                zip(
                    *(getattr(batch, name).tolist() for name in ("record", "start", "end")),
                    batch.forward.distance.tolist(),
                    batch.reverse.start.tolist(),
                    strict=True,
                )
            )
        ]

    whole = rows(search(running=HERE))
    assert len(whole) > 8
    assert any(row[2] > len(text) for row in whole if row[0] == 0) == circular
    for letters in (5, 31, 200):
        assert rows(by_shards(search, letters)) == whole


@settings(max_examples=12)
@given(
    TEXTS,
    TEXTS,
    st.integers(1, 3),
    st.sampled_from([(None, None), (4, None), (None, 6)]),
    st.booleans(),
    SHARD,
)
def test_primer(targets, backgrounds, k, lengths, both, letters):
    options = PrimerOptions(*lengths, both_strands=both)
    search = partial(primer_batches, genome_of(targets), genome_of(backgrounds), k, options)

    def rows(batches):
        return [
            (batch.name, batch.start.tolist(), batch.end.tolist(), batch.minus.tolist())
            for batch in batches
        ]

    assert rows(by_shards(search, letters)) == rows(search(running=HERE))


@pytest.mark.parametrize("pack", [False, True])
def test_regions_and_packed_genomes(tmp_path, pack):
    texts = [("a", "ACGTTGCA" * 9), ("b", "A" * 50), ("c", ""), ("d", "ACGTTNNNGCA" * 9)]
    genome = kmatch.Genome.from_records(texts)
    if pack:
        kmatch.pack(genome, tmp_path / "g.kmatch")
        genome = kmatch.Genome(tmp_path / "g.kmatch")
    narrowed = as_genomes(genome)
    narrow(narrowed, load_regions([("a", 0, 9), ("d", 3, 60)]))
    for searched in (genome, narrowed):
        search = partial(edit_batches, searched, load_patterns(["CGTTG", "AAAA"]), 1)
        assert {row[-3] for row in same(search, 13)} == {"a", "d", *(["b"] * (searched is genome))}


def test_several_genomes():
    """Each as if alone."""
    genomes = as_genomes([genome_of(["ACGTTGCA" * 9, "A" * 30]), genome_of(["A" * 20 + "CG"])])
    search = partial(edit_batches, genomes, load_patterns(["AAAA", "GTTG"]), 1)
    assert {row[7][0] for row in same(search, 13)} == {0, 1}


@pytest.mark.parametrize("sent", [False, True])
def test_lists_of_small_genomes(tmp_path, sent, monkeypatch):
    """Many a shard, read by workers or sent to them."""
    texts = ["ACGTTGCA" * 9, "A" * 30, "", "CCGTTGCC", "ACGTT" * 5, "TTTT"]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.fa").write_text(f">x{number}\n{text}\n>y\nACGTTG\n")
    paths = [tmp_path / f"{number}.fa" for number in range(len(texts))]
    if sent:
        monkeypatch.setattr(SharedFile, "is_here", lambda file: False)
    patterns, spans, around = load_patterns(["AAAA", "GTTG", "AAAA"]), [], set()
    for batches in (
        partial(edit_batches, k=1, options=EditOptions("loci")),
        partial(hamming_batches, k=1),
        best_batches,
    ):
        search = partial(batches, as_genomes(paths), patterns)
        rows = same(search, 60)
        assert len({row[7] for row in rows}) > 3
        for circular in (True, ["x0", "x2", "x3"]):
            search = partial(batches, as_genomes(paths).with_circular(circular), patterns)
            around |= {row[7] for row in same(search, 60) if row[6] and row[2] > row[6]}
    assert len(around) > 2
    genomes = as_genomes(paths).with_circular(["x0", "plasmid"])
    with pytest.raises(kmatch.InputError, match=r"no record is named 'plasmid';"):
        table(by_shards(partial(edit_batches, genomes, patterns, 1), 60))
    search = partial(edit_batches, as_genomes(paths), patterns, 1)
    table(by_shards(search, 60, on_spans=spans.append))
    heard = Heard()
    for each in spans:
        heard.hear(each)
    assert (heard.records, heard.letters) == (12, sum(map(len, texts)) + 36)


@pytest.mark.parametrize("sent", [False, True])
def test_files_of_a_list_are_named_as_on_one_machine(tmp_path, sent, monkeypatch):
    """In errors, and in warnings."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "0.fa").write_bytes(b">a\x02b\nACGT\n")
    (tmp_path / "1.fa").write_text(">a\nACGTE\n")
    if sent:
        monkeypatch.setattr(SharedFile, "is_here", lambda file: False)

    def told(by):
        heard, genomes = [], as_genomes(["0.fa", "1.fa"])
        genomes._on_warning = heard.append
        search = partial(hamming_batches, genomes, load_patterns(["ACG"]), 0)
        with pytest.raises(kmatch.InputError) as error:
            table(by(search, heard.append))
        return str(error.value), heard

    alone = told(lambda search, tell: search(running=HERE))
    assert alone[0].startswith("1.fa: record 1, 'a', has 'E'") and "0.fa: the name" in alone[1][0]
    found = told(lambda search, tell: by_shards(search, 4, on_warning=tell))
    assert found == alone


def test_files_of_a_list_are_opened_when_their_turn_comes(tmp_path, monkeypatch):
    """Once by the client, and twice by a worker."""
    paths = [tmp_path / f"{number}.fa" for number in range(120)]
    for path in paths:
        path.write_text(">a\nACGTT\n")
    opened, inner = [], open

    def counting(path, *given, **more):
        opened.append(path)
        return inner(path, *given, **more)

    genomes = as_genomes(paths, check=False)
    monkeypatch.setattr("builtins.open", counting)
    batches = by_shards(partial(hamming_batches, genomes, load_patterns(["ACG"]), 0), 270)
    next(iter(batches))
    names = set(map(str, paths))
    assert len(names & set(map(str, opened))) == 31  # those of a shard of 30, and the next one
    assert len(list(batches)) == 119
    files = [path for path in map(str, opened) if path in names]
    assert len(files) == 3 * 120 + 4 * 15  # the work of a shard is estimated from every other one


@st.composite
def circles(draw):
    """Genomes of which all records are circular, or some; in memory, or packed."""
    texts, pack = draw(TEXTS), draw(st.booleans())
    names = draw(st.lists(st.integers(0, len(texts) - 1), unique=True))
    circular = draw(st.just(True) | st.just([f"r{number}" for number in names]))
    records = [(f"r{n}", text) for n, text in enumerate(texts)]
    return as_genomes(packed(records) if pack and any(texts) else genome_of(texts)).with_circular(
        circular
    )


@settings(max_examples=25)
@given(circles(), PATTERNS, st.integers(0, 2), st.sampled_from(["ends", "minima", "loci"]), SHARD)
def test_circular_records_by_edit(genomes, patterns, k, report, letters):
    patterns = load_patterns(patterns)
    same(partial(edit_batches, genomes, patterns, k, EditOptions(report)), letters)


@settings(max_examples=12)
@given(circles(), SHARD)
def test_circular_records_by_others(genomes, letters):
    patterns = load_patterns(["CATC", "AAAA", "AAAA"])
    same(partial(hamming_batches, genomes, patterns, 1), letters)
    same(partial(multi_batches, genomes, patterns, 1, MultiOptions("NG")), letters)
    same(partial(best_batches, genomes, load_patterns(["ACGTACGT", "TTGACA"])), letters)
    same(partial(best_batches, genomes, patterns, BestOptions("both", 1, 1)), letters)


def test_circular_records_have_hits_over_their_origin():
    """Those between linear ones too, whose loci go over borders of shards."""
    texts = ["A" * 40, "ACGTTTTTTTTTTGC", "AAAA" * 9, "GCGTTTTA"]
    genomes = as_genomes(genome_of(texts)).with_circular(["r1", "r3"])
    search = partial(edit_batches, genomes, load_patterns(["GCAC", "AAAA", "TAGC"]), 0)
    rows = same(partial(search, options=EditOptions("loci")), 7)
    over = [row for row in rows if row[2] > len(texts[row[0]])]
    assert {row[0] for row in over} == {1, 3}
    assert [row[0] for row in rows if row[3] == 1 and not row[5]] == [0, 2]
    assert {row[0]: row[6] for row in over} == {1: 15, 3: 8}


def test_a_circular_record_that_there_is_not():
    genomes = as_genomes(genome_of(["ACGT" * 9, "AAAA"])).with_circular(["r1", "plasmid"])
    search = partial(edit_batches, genomes, load_patterns(["AAAA"]), 1)
    with pytest.raises(kmatch.InputError, match=r"no record is named 'plasmid';"):
        table(by_shards(search, 9))


@given(st.lists(st.integers(0, 30), max_size=12), st.integers(1, 20), st.integers(0, 9))
def test_extents_own_each_letter_once(lengths, letters, context):
    """With the context that they say, and of the right records, however the records come."""
    text = np.arange(sum(lengths))
    bounds = np.cumsum([0, *lengths])
    cutter, extents = Cutter(letters, context), []
    for number, length in enumerate(lengths):
        half = length // 2
        extents += cutter.add([str(number)], np.array([half]))
        extents += cutter.add([str(number)], np.array([length - half]), goes_on=True)
    extents += cutter.finish()
    owned = []
    for extent in extents:
        begin = int(bounds[extent.first]) + extent.offset
        assert extent.names == [str(extent.first + i) for i in range(len(extent.names))]
        shown = text[begin : begin + extent.letters]
        owned += shown[extent.before : len(shown) - extent.behind].tolist()
        assert len(shown) - extent.before - extent.behind <= letters + context
        before, (last, end) = extent.offset + extent.before, extent.end
        assert extent.before == min(context, before)
        assert extent.behind in (0, min(context, lengths[last] - end))
        assert extent.behind or not context or end == lengths[last]
        ends = np.minimum(bounds[extent.first + 1 :][: len(extent.names)], begin + extent.letters)
        starts = np.maximum(bounds[extent.first :][: len(extent.names)], begin)
        assert extent.lengths.tolist() == (ends - starts).tolist()
    assert owned == text.tolist()
    assert sum(len(extent.names) for extent in extents) >= len(lengths)


@given(st.text("ACGTNRYacgtu", max_size=20))
def test_letters_are_packed_and_unpacked(text):
    expected = text.upper().translate(str.maketrans("URY", "TNN")).encode()
    letters = np.frombuffer(text.encode(), np.uint8)
    assert unpack_letters(pack_letters(letters), len(text)).tobytes() == expected
