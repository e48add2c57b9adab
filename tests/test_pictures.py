"""Pictures show what is in a table: each hit once, where it is, on axes that hold all."""

import gzip
import io
import re
import sys

import numpy as np
import pytest
from support.api import GENOME, TEXT, call
from support.commands import failed, here, loaded, misused

import kmatch

HEADER = "sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch\n"


@pytest.fixture(scope="module")
def hits():
    patterns = {"one": TEXT[100:120], "two": TEXT[1_500:1_512], "none": "ACGT" * 12}
    return call(kmatch.hamming, GENOME, patterns, 5)


@pytest.fixture(scope="module")
def primers():
    target = kmatch.Genome.from_records([("t", TEXT[480:600] + "N" + TEXT[:9]), ("u", TEXT[9:40])])
    background = kmatch.Genome.from_records([("b", TEXT[500:700] + "ACGT")])
    return call(kmatch.primer, target, background, 3, both_strands=True)


class TestReading:
    """What kmatch writes is read back."""

    @pytest.mark.parametrize("name", ["hits.tsv", "hits.bed", "hits.tsv.gz"])
    def test_hits(self, hits, tmp_path, name):
        from kmatch.pictures.reading import read_table

        hits.to_bed(tmp_path / name) if "bed" in name else hits.to_tsv(tmp_path / name)
        found = read_table(tmp_path / name)
        assert found.size == len(hits) > 5
        assert [found.records.names[number] for number in found.record] == hits.record.tolist()
        assert [found.patterns[number] for number in found.pattern] == hits.pattern.tolist()
        for column in ("start", "end", "distance"):
            assert getattr(found, column).tolist() == getattr(hits, column).tolist()
        assert found.minus.tolist() == (hits.strand == "-").tolist()
        assert found.records.lengths.tolist() == [
            hits.end[hits.record == name].max() for name in found.records.names
        ]

    @pytest.mark.parametrize("form", ["tsv", "bed"])
    def test_products(self, tmp_path, form):
        from kmatch.pictures.columns import columns_of_products
        from kmatch.pictures.reading import read_table

        ends = TEXT[10:30], str(TEXT[280:300]).translate(str.maketrans("ACGT", "TGCA"))[::-1]
        found = call(kmatch.pcr, GENOME, {"pair": ends}, 2)
        getattr(found, f"to_{form}")(tmp_path / "products")
        read = read_table(tmp_path / "products")
        assert read.size == len(found) >= 1 and read.patterns == ["pair"]
        assert read.start.tolist() == found.start.tolist()
        same = columns_of_products(found)
        assert all(str(a) == str(b) for a, b in zip(same, read, strict=True))
        both = found.distance_forward + found.distance_reverse
        assert read.distance.tolist() == both.tolist()

    @pytest.mark.parametrize("form", ["tsv", "bed"])
    def test_primers(self, primers, tmp_path, form):
        from kmatch.pictures.columns import PrimerColumns
        from kmatch.pictures.reading import read_table

        getattr(primers, f"to_{form}")(tmp_path / "primers")
        read = read_table(tmp_path / "primers")
        assert isinstance(read, PrimerColumns) and read.size == len(primers) > 100
        assert read.start.tolist() == primers.start.tolist()
        assert read.minus.tolist() == (primers.strand == "-").tolist()
        if form == "tsv":
            assert np.allclose(read.gc, primers.gc, atol=0.0006)
            assert np.allclose(read.tm, primers.tm, atol=0.06, equal_nan=True)
            assert np.isnan(read.tm).any() == np.isnan(primers.tm).any()
        else:
            assert np.isnan(read.gc).all() and np.isnan(read.tm).all()

    def test_genomes(self, tmp_path):
        from kmatch.pictures.reading import read_table

        row = "chr\t1\t9\tp\t2\t-\t8=\tACGTACGT\n"
        (tmp_path / "a.tsv").write_text(f"genome\t{HEADER}all/x/a.fa\t{row}all/b.fa\t{row}")
        found = read_table(tmp_path / "a.tsv")
        assert found.records.names == ["x/a.fa chr", "b.fa chr"]
        assert found.distance.tolist() == [2, 2]
        bed = "chr\t1\t9\tp\t800\t+\t2\t"
        (tmp_path / "a.bed").write_text(f"{bed}a.fa\n{bed}b.fa\n")
        found = read_table(tmp_path / "a.bed")
        assert found.records.names == ["a.fa chr", "b.fa chr"] and found.distance.tolist() == [2, 2]

    def test_tables_without_rows(self, tmp_path):
        from kmatch.pictures.reading import read_table

        for text in ("", HEADER, "# nothing\n\n"):
            (tmp_path / "empty").write_text(text)
            assert read_table(tmp_path / "empty").size == 0

    def test_many_blocks(self, hits, tmp_path, monkeypatch):
        from kmatch.pictures import reading

        hits.to_tsv(tmp_path / "hits.tsv")
        whole = reading.read_table(tmp_path / "hits.tsv")
        monkeypatch.setattr(reading, "_BLOCK", 100)
        parts = reading.read_table(tmp_path / "hits.tsv")
        assert parts.start.tolist() == whole.start.tolist() and parts.patterns == whole.patterns

    @pytest.mark.parametrize(
        "text, line, words",
        [
            (HEADER + "c\t1\t9\tp\tx\t+\t8=\tA\n", 2, "'x' in column 5 is no number"),
            (HEADER + "\nc\t1\t9\tp\t-1\t+\t8=\tA\n", 3, "'-1' in column 5"),
            (HEADER + "c\t9\t1\tp\t1\t+\t8=\tA\n", 2, "starts at 9 and ends before, at 1"),
            (HEADER + "c\t1\t9\tp\t1\t?\t8=\tA\n", 2, "'?' is no strand"),
            (HEADER + "c\t1\t9\tp\t1\n", 2, "5 of the table's 8 columns"),
            ("c\t1\t9\tp\t1000\t+\t0\n" * 3 + "c\t1\n", 4, "2 of the table's 7 columns"),
            ("sequence\tstart\tend\tlength\tgc\ttm\nc\t1\t9\t8\tinf\tNA\n", 2, "'inf' in column 5"),
            ("c\t1\t9\tp\t1000\t+\n", 1, "--format tsv"),
            ("chr1\t1\t9\n", 1, "--format tsv"),
            (">chr1\nACGT\n", 1, "this is FASTA"),
            ("@HD\tVN:1.6\n", 1, "this is SAM"),
            ("##gff-version 3\n", 1, "this is GFF3"),
            ("pattern\td0\td1\ttotal\n", 1, "has no positions"),
            ("\x00\x01\x02", 1, "--format tsv"),
        ],
    )
    def test_mistakes(self, tmp_path, text, line, words):
        from kmatch.pictures.reading import read_table

        (tmp_path / "table").write_text(text)
        with pytest.raises(kmatch.InputError, match=f"table: line {line}: ") as error:
            read_table(tmp_path / "table")
        assert words in str(error.value)


class TestHtml:
    def test_rows_and_size(self, hits, primers):
        shown = hits._repr_html_()
        assert shown.startswith(f"<p>{len(hits):,} hits</p>")
        rows = re.findall(r"<tr>(.*?)</tr>", shown)
        assert len(rows) == 1 + min(10, len(hits))
        assert re.findall(r"<th>(.*?)</th>", rows[0]) == list(kmatch.Hit._fields)
        assert re.findall(r"<td>(.*?)</td>", rows[1]) == [str(value) for value in hits[0]]
        assert f"… and {len(primers) - 10:,} more" in primers._repr_html_()
        assert "more" not in hits[:3]._repr_html_() and "0 hits" in hits[:0]._repr_html_()

    def test_names_are_escaped(self):
        genome = kmatch.Genome.from_records([("<b>&amp;", "ACGTACGTAC")])
        shown = call(kmatch.hamming, genome, {"<script>x": "ACGTA"}, 0)._repr_html_()
        assert "<b>" not in shown and "<script>" not in shown
        assert "&lt;b&gt;&amp;amp;" in shown and "&lt;script&gt;x" in shown


class TestWithoutMatplotlib:
    @pytest.fixture(autouse=True)
    def _without(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        from kmatch.pictures.figure import _picture_class

        _picture_class.cache_clear()

    def test_the_command(self, tmp_path):
        done = here("plot", tmp_path / "none.tsv", "-o", tmp_path / "a.png")
        failed(done, "kmatch plot needs Matplotlib", "pip install matplotlib")

    def test_python(self, hits, primers):
        for found in (hits, primers):
            with pytest.raises(kmatch.OutputError, match="pip install matplotlib"):
                found.plot()


def test_help_is_light():
    status, modules = loaded("from kmatch.cli.main import run\nrun(['plot', '--help'])")
    assert status == 0 and not {"matplotlib", "numpy", "numba"} & modules


@pytest.mark.parametrize(
    "words, message",
    [
        (("a.tsv",), "Missing option '-o'"),
        (("a.tsv", "-o", "a.jpg"), "'.jpg' names no format"),
        (("a.tsv", "-o", "-"), "give --format"),
        (("a.tsv", "-o", "a.png", "--records", "0"), "--records"),
        (("-", "-o", "a.png", "--genome", "-"), "standard input"),
    ],
)
def test_wrong_usage(words, message):
    misused(here("plot", *words), message)


def test_an_input_is_no_output(tmp_path):
    (tmp_path / "a.png").write_text(HEADER)
    misused(here("plot", tmp_path / "a.png", "-o", tmp_path / "a.png"), "same file")


def written(found):
    table = io.StringIO()
    found.to_tsv(table)
    return gzip.compress(table.getvalue().encode())
