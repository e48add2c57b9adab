"""Several genomes: each is searched as if alone, in the order given, and named in a column."""

import os
from itertools import pairwise
from unittest import mock

import naive
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cases import edit_cases, geometries, multi_cases
from support.commands import failed, fasta, here, misused, random_letters, shell
from support.hooks import best_batches, edit_batches, hamming_batches, multi_batches
from support.packing import packed
from support.pcr import cases as pcr_cases
from support.pcr import expected as expected_products
from support.pcr import plain
from support.pcr import rows as product_rows

import kmatch
from kmatch.genome import Genomes
from kmatch.results.table import Hits, Products
from kmatch.search.pcr import PcrOptions, PcrSearch, site_query
from kmatch.search.query import Run
from kmatch.search.search import begin_search
from kmatch.sequences.patterns import load_patterns
from kmatch.sequences.primer_pairs import load_pairs

PATTERN = "ACGTTGCATTAGCCAGTACT"
SITE = naive.reverse_complement(PATTERN)
TEXTS = [PATTERN + "ACA", random_letters(70), "", SITE, PATTERN[:9] + "A" + PATTERN[10:]]
FILES = [[("r", text), ("s", "ACGTAC")] for text in TEXTS]
tiny = st.fixed_dictionaries({"chunk_length": st.integers(1, 200)})


def split(records, cuts):
    """Records dealt out to several genomes, some of which may have none."""
    bounds = [0, *sorted(min(cut, len(records)) for cut in cuts), len(records)]
    return [records[a:b] for a, b in pairwise(bounds)]


def genomes_of(parts, pack=False):
    made = [kmatch.Genome.from_records(part) for part in parts]
    if pack:
        made[::2] = [packed(part) for part in parts[::2]]
    return Genomes(made)


def places(hits):
    """(genome, record, start, end, pattern, distance, strand) of Hits, by numbers."""
    names = "genome_number record_number start end pattern_number distance strand"
    return list(zip(*(getattr(hits, name).tolist() for name in names.split()), strict=True))


def numbered(found):
    """The oracle's hits of each genome, without CIGARs."""
    return [(number, *hit[:6]) for number, hits in enumerate(found) for hit in hits]


cuts = st.lists(st.integers(0, 5), min_size=1, max_size=3)


@settings(max_examples=60)
@given(multi_cases(), geometries, cuts, st.sampled_from(["lookup", "scan", None]), st.booleans())
def test_multi(case, geometry, at, way, pack):
    records, patterns, k, options = case
    parts, panel = split(records, at), load_patterns(patterns)
    given_options = options | geometry | {"way": way}
    genomes = genomes_of(parts, pack)
    found = Hits(multi_batches(genomes, panel, k, device="cpu", **given_options), panel, genomes)
    oracle = naive.hamming if options["pam"] is None else naive.multi
    if options["pam"] is None:
        options = {name: options[name] for name in ("strand", "exact_5p", "exact_3p")}
    assert places(found) == numbered([oracle(part, patterns, k, **options) for part in parts])


@settings(max_examples=60)
@given(edit_cases(), tiny, cuts, st.sampled_from(["minima", "ends", "loci"]), st.booleans())
def test_edit(case, geometry, at, report, pack):
    records, patterns, k, options = case
    parts, panel = split(records, at), load_patterns(patterns)
    genomes = genomes_of(parts, pack)
    batches = edit_batches(genomes, panel, k, report=report, device="cpu", **options, **geometry)
    expected = [naive.edit(part, patterns, k, report, **options) for part in parts]
    assert places(Hits(batches, panel, genomes)) == numbered(expected)


@settings(max_examples=40)
@given(edit_cases(), tiny, cuts)
def test_best_is_of_each_genome(case, geometry, at):
    records, patterns, _, options = case
    parts, panel = split(records, at), load_patterns(patterns)
    genomes = genomes_of(parts)
    batches = best_batches(genomes, panel, device="cpu", **options, **geometry)
    expected = [naive.best(part, patterns, **options) for part in parts]
    assert places(Hits(batches, panel, genomes)) == numbered(expected)


@settings(max_examples=40)
@given(pcr_cases(), cuts)
def test_products(case, at):
    records, primers, k, options = case
    parts, pairs = split(records, at), load_pairs(primers)
    wanted = PcrOptions(**options, sequence=True)
    batches = PcrSearch(
        begin_search(site_query(pairs, k, wanted), genomes_of(parts), Run("cpu")), pairs, wanted
    )
    found = Products(batches, pairs, True, True)
    expected = [plain(expected_products(part, primers, k, **options)) for part in parts]
    numbers = [number for number, rows in enumerate(expected) for _ in rows]
    together = [row for rows in expected for row in rows]
    assert product_rows(found) == together and found.genome_number.tolist() == numbers
    texts = []
    for number, (record, start, end, sign, *_) in zip(numbers, together, strict=True):
        text = naive.known(parts[number][record][1])[start:end]
        texts.append(text if sign == "+" else naive.reverse_complement(text))
    assert found.sequence.tolist() == texts


def test_copies_of_a_pattern_stay_with_their_genome():
    panel = load_patterns(["ACGT", "ACGT"])
    same = kmatch.Genome.from_records([("r", "ACGT")])
    genomes = Genomes([same, same])
    found = Hits(hamming_batches(genomes, panel, 0, strand="+"), panel, genomes)
    assert [row[:5] for row in places(found)] == [
        (0, 0, 0, 4, 0), (0, 0, 0, 4, 1), (1, 0, 0, 4, 0), (1, 0, 0, 4, 1)
    ]  # fmt: skip


class TestHits:
    def hits(self):
        genomes = [kmatch.Genome.from_records(records) for records in FILES]
        return kmatch.hamming(genomes, [PATTERN], 1, device="cpu")

    def test_rows_have_a_genome(self):
        hits = self.hits()
        assert hits.genome_number.tolist() == [0, 3, 4]
        assert hits[1].genome == "records in memory" and hits[1].strand == "-"
        assert "genome" in repr(hits) and list(hits)[2].distance == 1

    def test_selections_keep_it(self):
        hits = self.hits()
        turned = hits[[2, 0, 1, 0]]
        assert turned.genome_number.tolist() == [4, 0, 3, 0]
        assert turned.cigar.tolist() == ["9=1X10=", "20=", "20=", "20="]
        assert turned.record.tolist() == ["r"] * 4 and len(hits[:0]) == 0
        assert hits[:0].genome.tolist() == []

    def test_one_genome_has_none(self):
        genome = kmatch.Genome.from_records(FILES[0])
        assert not hasattr(kmatch.hamming(genome, [PATTERN], 1, device="cpu"), "genome")

    def test_no_genome(self):
        with pytest.raises(kmatch.InputError, match="no genome to search"):
            kmatch.hamming([], [PATTERN], 1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of genomes, FASTA and packed by turns, and a list of them."""
    monkeypatch.chdir(tmp_path)
    for number, records in enumerate(FILES):
        (tmp_path / f"g{number}.fa").write_bytes(fasta(records))
    assert here("pack", "g3.fa", "-o", "g3.kmatch").status == 0
    (tmp_path / "list").write_text(
        "# genomes\n\n" + "\n".join(f"g{n}.{'kmatch' if n == 3 else 'fa'}" for n in range(5)) + "\n"
    )
    return tmp_path


COMMANDS = {
    "hamming": ("-k", 1),
    "multi": ("-k", 1),
    "edit": ("-k", 1),
    "best": (),
}


class TestCommands:
    @pytest.mark.parametrize("form", ["bed", "tsv"])
    @pytest.mark.parametrize("name", COMMANDS)
    def test_as_each_alone(self, folder, name, form):
        options = ("-p", PATTERN, *COMMANDS[name], "--format", form, "--device", "cpu", "-q")
        together = here(name, "@list", *options)
        lines = []
        for genome in (folder / "list").read_text().splitlines()[2:]:
            alone = here(name, genome, *options).out.decode().splitlines()
            if form == "bed":
                lines += [f"{line}\t{genome}" for line in alone]
            else:
                lines += [f"genome\t{alone[0]}"] if not lines else []
                lines += [f"{genome}\t{line}" for line in alone[1:]]
        assert together.out.decode().splitlines() == lines and len(lines) >= 3
        assert (together.status, together.err) == (0, b"")

    def test_products(self, folder):
        pair = ("-p", PATTERN[:10], naive.reverse_complement(PATTERN[10:]), "-k", 0)
        found = here("pcr", "@list", *pair, "--product", "5-50", "--format", "tsv", "--sequence")
        rows = [line.split("\t") for line in found.out.decode().splitlines()]
        assert rows[0][:2] == ["genome", "sequence"] and rows[0][-1] == "product"
        assert [(row[0], row[-1]) for row in rows[1:]] == [
            ("g0.fa", PATTERN),
            ("g3.kmatch", PATTERN),
        ]
        found = here("pcr", "@list", *pair, "--product", "5-50")
        assert [line.split("\t")[-1] for line in found.out.decode().splitlines()] == [
            "g0.fa", "g3.kmatch"
        ]  # fmt: skip

    def test_the_warning_of_best_names_the_genome(self, folder):
        (folder / "g2.fa").write_text(">r\nACACA\n")
        found = here("best", "@list", "-p", "GGGG", "--strand", "+", "--device", "cpu")
        said = "kmatch: warning: pattern 'GGGG' matches nowhere in g2.fa\n"
        assert (found.status, found.err.decode()) == (0, said)

    def test_a_list_in_standard_input_or_a_pipe(self, folder):
        options = ("-p", PATTERN, "-k", 0)
        expected = here("hamming", "@list", *options).out
        assert here("hamming", "@-", *options, stdin=(folder / "list").read_bytes()).out == expected
        found = shell('"$@" @<(ls g0.fa g1.fa g3.kmatch)', "hamming", *options)
        assert (found.status, found.out) == (0, expected) and expected.count(b"\n") == 2

    def test_a_panel_is_built_once(self, folder):
        from kmatch.search import windows as compared

        with mock.patch.object(compared, "build_panel", wraps=compared.build_panel) as built:
            assert here("hamming", "@list", "-p", PATTERN, "-k", 1).status == 0
        assert built.call_count == 1


class TestFormats:
    def test_gff3_tells_the_genome(self, folder):
        (folder / "a=b.fa").write_text(f">r\n{PATTERN}\n")
        (folder / "list").write_text("g0.fa\na=b.fa\n")
        found = here("hamming", "@list", "-p", PATTERN, "-k", 0, "--format", "gff3")
        lines = found.out.decode().splitlines()
        assert [line.split(";genome=")[1] for line in lines[1:]] == ["g0.fa", "a%3Db.fa"]

    def test_views_have_the_letters_of_their_genome(self, folder):
        found = here("hamming", "@list", "-p", PATTERN, "-k", 1, "--format", "view")
        lines = [line for line in found.out.decode().splitlines() if line]
        assert [line.split()[:2] for line in lines[::4]] == [
            ["g0.fa", "r:0-20"], ["g3.kmatch", "r:0-20"], ["g4.fa", "r:0-20"]
        ]  # fmt: skip
        assert lines[3].split()[1] == PATTERN + "aca" and lines[7].split()[1] == PATTERN

    def test_sam_has_one_genome(self, folder):
        failed(here("hamming", "@list", "-p", PATTERN, "-k", 1, "--format", "sam"), "one genome")
        with pytest.raises(kmatch.InputError, match="one genome"):
            kmatch.hamming("@list", [PATTERN], 1).to_sam(folder / "hits.sam")

    def test_a_limit_is_one_a_genome(self, folder):
        options = ("-p", "ACGT", "-p", "AAAAAA", "-k", 1, "--limit", 2, "--format", "tsv")
        found = here("hamming", "@list", *options)
        lines = []
        for genome in (folder / "list").read_text().splitlines()[2:]:
            alone = here("hamming", genome, *options).out.decode().splitlines()[1:]
            lines += [f"{genome}\t{line}" for line in alone]
        assert found.out.decode().splitlines()[1:] == lines
        said = found.err.decode().splitlines()
        assert any("'ACGT'" in line and "at most 2 in a genome" in line for line in said)
        hits = kmatch.hamming("@list", ["ACGT"], 1)
        counts = [min((hits.genome == name).sum(), 2) for name in dict.fromkeys(hits.genome)]
        with pytest.warns(UserWarning, match=f"the limit keeps {sum(counts)}, at most 2"):
            assert len(kmatch.hamming("@list", ["ACGT"], 1, limit=2)) == sum(counts)

    def test_regions_name_records_of_any(self, folder):
        (folder / "regions").write_text("r\t0\t20\n")
        options = ("-p", PATTERN[:9], "-k", 0)
        whole = here("edit", "@list", *options, "--report", "ends").out.decode().splitlines()
        for command in ("edit", "hamming"):
            found = here(command, "@list", *options, "--regions", "regions").out.decode()
            assert found.count("\n") > 0 and set(found.splitlines()) <= set(whole)
        (folder / "regions").write_text("r\t0\t20\nx\t0\t5\n")
        found = here("hamming", "@list", *options, "--regions", "regions")
        assert b"@list has no record 'x'" in found.err
        (folder / "regions").write_text("r\t0\t71\n")
        beyond = here("hamming", "@list", *options, "--regions", "regions", "-o", "out.bed")
        failed(beyond, "ends at 71")

    def test_the_summary_counts_all(self, folder):
        found = here("hamming", "@list", "-p", PATTERN, "-k", 1, "--summary-only")
        assert found.out.decode().splitlines()[1] == f"{PATTERN}\t2\t1\t3"
        said = here("hamming", "@list", "-p", PATTERN, "-k", 1, "-v").err.decode()
        letters = 2 * 23 + 70 + 20 + 20 - 23 + 5 * 6
        assert f"5 genomes, 10 records, {letters} bp in" in said


class TestMistakes:
    def search(self, *options):
        return here("hamming", "@list", "-p", PATTERN, "-k", 1, *options)

    def test_one_that_is_missing(self, folder):
        (folder / "list").write_text("g0.fa\ng9.fa\n")
        failed(self.search("-o", "out.bed"), "g9.fa", "No such file")
        assert not os.path.exists("out.bed")

    def test_one_that_is_damaged_leaves_no_file(self, folder):
        (folder / "g1.fa").write_text(">r\nACGTEACGT\n")
        failed(self.search("-o", "out.bed"), "g1.fa", "looks like protein")
        assert not os.path.exists("out.bed")

    @pytest.mark.parametrize("name", ["g1.fa", "list", "./g3.kmatch"])
    def test_no_output_is_one_of_them(self, folder, name):
        os.link(name, "linked.bed")
        before = (folder / name).read_bytes()
        misused(self.search("-o", "linked.bed"), "is read")
        assert (folder / name).read_bytes() == before

    def test_an_empty_list(self, folder):
        (folder / "list").write_text("\n# none\n")
        failed(self.search(), "@list", "names no genome")

    def test_a_list_that_names_standard_input(self, folder):
        (folder / "list").write_text("g0.fa\n-\n")
        failed(self.search(), "@list", "'-'")

    def test_a_genome_given_as_a_list(self, folder):
        failed(here("hamming", "@g0.fa", "-p", PATTERN, "-k", 1), "begins a sequence file")

    def test_a_list_that_is_missing(self, folder):
        failed(here("hamming", "@none", "-p", PATTERN, "-k", 1), "none", "No such file")

    def test_patterns_and_the_list_are_standard_input(self, folder):
        misused(here("hamming", "@-", "-", "-k", 1), "only one of")


def test_progress_goes_over_the_list(folder):
    heard = []
    kmatch.hamming(
        "@list", [PATTERN], 0, device="cpu", on_progress=lambda *sizes: heard.append(sizes)
    )
    names = (folder / "list").read_text().splitlines()[2:]
    total = sum(os.path.getsize(name) for name in names)
    assert {size for _, size in heard} == {total}
    consumed = [done for done, _ in heard]
    assert consumed == sorted(consumed) and consumed[-1] == total and len(heard) >= 5
