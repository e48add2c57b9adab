"""Hits and Primers in Python: shown, row by row, selected, written."""

import gzip
import io
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.searches import GENOME, TEXT, call, hooked

import kmatch


@pytest.fixture(scope="module")
def hits():
    """Hits of several batches, some with insertions and deletions, of patterns that repeat."""
    near = TEXT[100:110] + TEXT[111:125]
    patterns = {"cut": near, "short": TEXT[1_500:1_508], "again": near}
    patterns["R"] = TEXT[2_000:2_007] + "R"
    return hooked("edit", GENOME, patterns, 2, report="ends", chunk_length=333, threads=1)


def lines(found, form="tsv"):
    table = io.StringIO()
    getattr(found, f"to_{form}")(table)
    return table.getvalue().splitlines()[form == "tsv" :]


@pytest.fixture(scope="module")
def tables(hits):
    """All lines of the hits, by format."""
    return {form: lines(hits, form) for form in ("tsv", "bed")}


class TestHits:
    def test_rows(self, hits):
        columns = (hits.record, hits.start, hits.end, hits.pattern, hits.distance, hits.strand)
        expected = list(zip(*(column.tolist() for column in columns), strict=True))
        assert len(hits.batches) > 5 and len(expected) == len(hits) > 200
        assert list(hits) == expected
        assert isinstance(hits[0], kmatch.Hit) and hits[-1] == expected[-1]
        assert hits[np.int64(3)] == expected[3] and hits[3].pattern == expected[3][3]
        assert type(hits[3].start) is int and type(hits[3].strand) is str
        with pytest.raises(IndexError):
            hits[len(hits)]

    def test_columns(self, hits):
        table = [line.split("\t") for line in lines(hits)]
        assert hits.cigar.tolist() == [row[6] for row in table]
        assert hits.match.tolist() == [row[7] for row in table]
        assert {letter for cigar in hits.cigar for letter in cigar if letter.isalpha()} == {*"XID"}
        assert hits.cigar.dtype == hits.match.dtype == object

    @pytest.mark.parametrize("warm", [False, True])
    @given(data=st.data())
    def test_selections(self, hits, tables, warm, data):
        size = len(hits)
        numbers = data.draw(
            st.lists(st.integers(-size, size - 1), max_size=30)
            | st.permutations(range(0, size, 7))
            | st.just(range(size))
        )
        hits = kmatch.Hits(hits.batches, hits.patterns)
        if warm:
            assert len(hits.cigar) == len(hits.match) == len(hits.record)
        some = hits[np.array(numbers, int)]
        for form, whole in tables.items():
            assert lines(some, form) == [whole[number] for number in numbers]
        assert list(some) == [hits[number] for number in numbers]
        matches = [tables["tsv"][number].split("\t")[7] for number in numbers]
        assert some.match.tolist() == matches
        again = some[::-2]
        assert lines(again) == lines(some)[::-2]
        assert again.cigar.tolist() == some.cigar.tolist()[::-2]
        assert again.record_number.tolist() == hits.record_number[numbers][::-2].tolist()

    def test_slices_and_masks(self, hits):
        table = np.array(lines(hits))
        mask = hits.strand == "-"
        assert lines(hits[mask]) == table[mask].tolist()
        assert lines(hits[hits.distance == 9]) == []
        assert lines(hits[5:90:3]) == table[5:90:3].tolist()
        assert lines(hits[[]]) == [] and len(hits[np.zeros(len(hits), bool)].cigar) == 0
        assert lines(hits[mask.tolist()]) == table[mask].tolist()
        for wrong in (mask[:-1], np.zeros((2, 2), int), [len(hits)]):
            with pytest.raises(IndexError):
                hits[wrong]

    def test_paths(self, hits, tmp_path):
        text = "".join(f"{line}\n" for line in lines(hits, "bed"))
        hits.to_bed(tmp_path / "hits.bed")
        assert (tmp_path / "hits.bed").read_text() == text
        hits.to_bed(str(tmp_path / "hits.bed.gz"))
        assert gzip.decompress((tmp_path / "hits.bed.gz").read_bytes()).decode() == text
        hits[:2].to_tsv(tmp_path / "hits.tsv")
        assert (tmp_path / "hits.tsv").read_text().splitlines()[1:] == lines(hits)[:2]
        with pytest.raises(kmatch.OutputError, match="cannot be written"):
            hits.to_tsv(tmp_path / "none" / "hits.tsv")

    def test_a_file_is_whole_or_absent(self, hits, tmp_path, monkeypatch):
        def fail(*arguments):
            raise MemoryError

        monkeypatch.setattr("kmatch.results.lines.fill_lines", fail)
        with pytest.raises(MemoryError):
            hits.to_tsv(tmp_path / "hits.tsv")
        assert not list(tmp_path.iterdir())

    def test_data_frames(self, hits, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(kmatch.OutputError, match="pip install pandas"):
            hits.to_dataframe()
        stub = type(sys)("pandas")
        stub.DataFrame = dict
        monkeypatch.setitem(sys.modules, "pandas", stub)
        frame = hits[4:9].to_dataframe()
        assert list(frame) == [*kmatch.Hit._fields, "cigar", "match"]
        assert frame["cigar"].tolist() == hits.cigar.tolist()[4:9]
        chosen = hits.to_dataframe(columns=["start", "sequence"])
        assert list(chosen) == ["start", "sequence"]
        assert chosen["sequence"].tolist() == hits.record.tolist()
        with pytest.raises(kmatch.InputError, match="no column 'distanse'"):
            hits.to_dataframe(columns=["distanse"])

    def test_a_misspelt_column_suggests_one(self, hits):
        with pytest.raises(AttributeError, match=r"'distanse'; did you mean 'distance'\?"):
            hits.distanse  # noqa: B018
        with pytest.raises(AttributeError, match=r"no column 'qqq'$"):
            hits.qqq  # noqa: B018


UNLIKE = [
    ("hamming", 9, {}),
    ("hamming", "50%", {"exact_3p": 2, "circular": True}),
    ("multi", 9, {"pam": ["NGG", "NAG"]}),
    ("multi", 9, {"pam": "TTN", "pam_side": "5p", "strand": "-"}),
    ("multi", 8, {"pam": ["TTN", "A"]}),
    ("edit", 6, {"report": "ends", "circular": ["one"]}),
    ("edit", 7, {"strand": "-"}),
    ("edit", 5, {"pam": "NGG", "max_deletions": 1, "exact_5p": 2}),
    ("edit", 7, {"pam": "TV", "pam_side": "5p", "report": "loci", "regions": [("three", 9, 900)]}),
    ("edit", 4, {"pam": ["NG", "NNA"], "circular": True}),
    ("best", None, {"exact_3p": 3}),
]


class TestAlignments:
    """They are made when somebody asks for them, of the rows that there are then."""

    PATTERNS = (TEXT[100:109] + TEXT[110:118], TEXT[995:1_000] + TEXT[:12], TEXT[1_800:1_817])

    def found(self, name, k, options, genome=GENOME):
        both = [self.PATTERNS] if k is None else [self.PATTERNS, k]
        return call(getattr(kmatch, name), genome, *both, **options)

    @pytest.mark.parametrize("name, k, options", UNLIKE)
    def test_they_are_those_of_a_search_that_makes_them(self, name, k, options, monkeypatch):
        found = self.found(name, k, options)
        monkeypatch.setattr(kmatch.genome.Genomes, "can_reread", False)
        whole = self.found(name, k, options)
        assert len(found) > 3 and list(found) == list(whole)
        assert whole.batches[0].columns is not None
        mask, order = found.strand == "-", np.random.default_rng(1).permutation(len(found))
        copy = pickle.loads(pickle.dumps(found[::2]))
        both = pickle.loads(pickle.dumps(found[np.append(np.flatnonzero(mask), [0, 1, 2])]))
        for word in ("cigar", "match"):
            expected = getattr(whole, word)
            for rows in (slice(2, 9), mask, order, slice(0, 0)):
                assert getattr(found[rows], word).tolist() == expected[rows].tolist()
            assert getattr(copy, word).tolist() == expected[::2].tolist()
            assert getattr(both, word).tolist() == [*expected[mask], *expected[:3]]
        for form in ("tsv", "sam", "gff3")[: 3 if "circular" not in options else 1]:
            assert lines(self.found(name, k, options), form) == lines(whole, form)

    def test_nothing_is_aligned_before(self, monkeypatch):
        def fail(*arguments):
            raise AssertionError

        monkeypatch.setattr("kmatch.search.alignments._columns", fail)
        for name, k, options in UNLIKE[:2] + UNLIKE[5:6]:
            found = self.found(name, k, options)
            assert found[:3].start[0] == found.start[0] and lines(found, "bed") and repr(found)
            assert all(batch.columns is None for batch in found.batches)
            with pytest.raises(AssertionError):
                found.match  # noqa: B018
        assert name == "edit" and found.cigar[0]  # which the search has found

    def test_more_patterns_than_a_byte_counts(self):
        patterns = [TEXT[i : i + 12] for i in range(300)]
        found = call(kmatch.hamming, kmatch.Genome.from_records([("r", TEXT)]), patterns, 1)
        assert len(found) >= 300 and set(found.match[found.distance == 0]) <= set(patterns)

    @pytest.mark.parametrize("text", [TEXT[3:], TEXT[:400]])
    def test_a_genome_that_changed(self, text, tmp_path):
        (tmp_path / "g.fa").write_text(f">r\n{TEXT}\n")
        genome = kmatch.Genome(tmp_path / "g.fa", keep=False)
        found = self.found("edit", 3, {}, genome)
        assert found[:1].match.tolist() == [TEXT[found.start[0] : found.end[0]]]
        (tmp_path / "g.fa").write_text(f">r\n{text}\n")
        with pytest.raises(kmatch.InputError, match=r"g\.fa has changed since it was searched"):
            found.match  # noqa: B018


@pytest.fixture(scope="module")
def primers():
    background = kmatch.Genome.from_records([("b", TEXT[500:700] + "ACGT")])
    target = kmatch.Genome.from_records([("t", TEXT[480:600] + "N" + TEXT[:9]), ("u", TEXT[9:40])])
    return call(kmatch.primer, target, background, 3, both_strands=True)


class TestPrimers:
    def test_selections(self, primers, tmp_path):
        assert set(primers.record) == {"t", "u"}
        order = np.random.default_rng(1).permutation(len(primers))
        for rows in (order, primers.strand == "-", primers.gc > 0.5, slice(3, 40, 2), order[:0]):
            some = primers[rows]
            for form in ("tsv", "bed"):
                assert lines(some, form) == np.array(lines(primers, form))[rows].tolist()
            assert np.array_equal(some.tm, primers.tm[rows], equal_nan=True)
            assert some.record.tolist() == primers.record[rows].tolist()
            tables = [io.StringIO(), io.StringIO()]
            some.regions_to_bed(tables[0])
            primers.regions_to_bed(tables[1])
            assert tables[0].getvalue() == tables[1].getvalue() != ""
        primers[:5].to_tsv(tmp_path / "primers.tsv")
        assert (tmp_path / "primers.tsv").read_text().splitlines()[1:] == lines(primers)[:5]
