"""What is drawn, as Matplotlib holds it: marks, axes, texts, bars; and the files."""

import io
import re
import warnings
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from Bio.Seq import Seq
from support.api import GENOME, TEXT, call
from support.commands import failed, here, process

import kmatch
from kmatch.pictures.classes import classes_of
from kmatch.pictures.columns import HitColumns, PrimerColumns, Records
from kmatch.pictures.words import label, letters, short_count

pytest.importorskip("matplotlib", reason="Matplotlib is not installed: pip install matplotlib")

from kmatch.pictures.along import BINS, SINGLE
from kmatch.pictures.hits import draw_hits
from kmatch.pictures.primers import draw_primers

HEADER = "sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch\n"


def columns(rows, lengths, patterns=("p",)):
    """HitColumns of rows (record, start, end, pattern, distance, minus), all numbers."""
    record, start, end, pattern, distance, minus = np.array(rows, np.int64).reshape(-1, 6).T
    records = Records([f"r{i}" for i in range(len(lengths))], np.array(lengths, np.int64))
    return HitColumns(
        records, list(patterns), record.astype(np.int32), start, end,
        pattern.astype(np.int32), distance, minus.astype(bool),
    )  # fmt: skip


def many(count, records=3, seed=1):
    draw = np.random.default_rng(seed)
    lengths = draw.integers(1_000, 90_000, records)
    record = draw.integers(0, records, count)
    start = (draw.random(count) * (lengths[record] - 20)).astype(np.int64)
    others = draw.integers(0, 5, count), draw.integers(1, 4, count), draw.integers(0, 2, count)
    patterns = [f"g{i}" for i in range(5)]
    return columns(np.transpose([record, start, start + 20, *others]), lengths, patterns)


def marks(figure):
    """Corners of the rectangles of single hits, by class: float[n, 4, 2]."""
    found = [c for c in figure.axes[0].collections if (c.get_gid() or "").startswith("hits-")]
    return [np.array([path.vertices[:4] for path in group.get_paths()]) for group in found]


def texts(figure):
    """All texts of an SVG, and the file."""
    handle = io.BytesIO()
    from kmatch.pictures.figure import save

    save(figure, handle, "svg")
    tree = ElementTree.fromstring(handle.getvalue())
    return ["".join(node.itertext()).strip() for node in tree.iter() if node.tag.endswith("text")]


class TestHits:
    def test_marks(self):
        rows = [(0, 100, 120, 0, 0, 0), (0, 500, 520, 0, 2, 1), (1, 0, 400, 1, 2, 0)]
        figure = draw_hits(columns(rows, (1_000, 400), "ab"))
        exact, none, two = marks(figure)
        assert len(exact) == 1 and len(none) == 0 and len(two) == 2
        assert exact[0, :, 0].min() == 100 and exact[0, :, 0].max() == 120
        assert two[1, :, 0].min() == 0 and two[1, :, 0].max() == 400  # as long as the hit
        assert exact[0, :, 1].max() < 0 and two[0, :, 1].min() > 0  # + is above, - below
        assert two[1, :, 1].max() < 1 and two[1, :, 1].min() > 0.5  # on the second line
        heights = [np.ptp(group[0, :, 1]) for group in (exact, two)]
        assert heights[0] > 2 * heights[1]  # the closer, the taller

    def test_axes(self):
        figure = draw_hits(columns([(0, 5, 25, 0, 1, 0), (1, 5, 25, 0, 1, 1)], (1_000, 400)))
        left, right = figure.axes[0].get_xlim()
        assert -50 < left < 0 and 1_000 < right < 1_050
        assert figure.axes[0].get_ylim() == (1.5, -0.5)
        assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["r0", "r1"]

    @pytest.mark.parametrize(
        "length, axis", [(900, "bp"), (48_502, "kbp"), (9_000_000, "kbp"), (248_956_422, "Mbp")]
    )
    def test_units(self, length, axis):
        figure = draw_hits(columns([(0, length - 20, length, 0, 1, 0)], (length,)))
        assert figure.axes[0].get_xlabel() == f"position in the record, {axis}"
        figure.draw_without_rendering()
        shown = [text.get_text() for text in figure.axes[0].get_xticklabels()]
        size = {"bp": 1, "kbp": 1e3, "Mbp": 1e6}[axis]
        ticks = figure.axes[0].get_xticks()
        assert [float(text.replace(",", "").replace("−", "-")) * size for text in shown] == (
            pytest.approx(ticks.tolist())
        )

    def test_counts_by_strand(self):
        found = many(250)
        written = [text.get_text() for text in draw_hits(found).axes[0].texts]
        for minus, sign in ((False, "+"), (True, "−")):
            counts = np.bincount(found.record[found.minus == minus], minlength=3)
            assert {f"{sign} {count}" for count in counts} <= {*written}
        assert len(written) == 6

    def test_bins(self):
        found = many(5_000, records=2)
        assert np.bincount(found.record).min() > SINGLE
        figure = draw_hits(found)
        assert sum(map(len, marks(figure))) == 0
        images = [image.get_array() for image in figure.axes[0].images]
        assert [image.shape for image in images] == [(4, BINS, 4)] * 4
        width = found.records.lengths.max() / BINS
        column = ((found.start + found.end) / 2 / width).astype(int)
        group = classes_of(found.distance).of(found.distance)
        classes = classes_of(found.distance).size
        assert classes == 4  # 0 is one, and has no hits
        for number, image in enumerate(images):
            here = (found.record == number // 2) & (found.minus == bool(number % 2))
            cells = np.zeros((classes, BINS), bool)
            cells[group[here], column[here]] = True
            assert ((image[..., 3] > 0) == cells).all()

    def test_only_crowded_lines_are_binned(self):
        crowd = [(0, i, i + 20, 0, 1, 0) for i in range(SINGLE + 1)]
        figure = draw_hits(columns([*crowd, (1, 3, 23, 0, 1, 1)], (2_000, 2_000)))
        assert len(figure.axes[0].images) == 2 and sum(map(len, marks(figure))) == 1

    def test_other_records_share_a_line(self):
        rows = [(i, 0, 20, 0, 0, 0) for i in range(30)] + [(i, 50, 70, 0, 0, 0) for i in range(10)]
        figure = draw_hits(columns(rows, [1_000] * 30), records=10)
        names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        assert names[:10] == [f"r{i}" for i in range(10)]
        assert names[10].startswith("20 others") and "20 kbp" in names[10]
        (found,) = marks(figure)
        assert len(found) == 40
        last = found[found[:, :, 1].max(axis=1) > 9.5]
        middles = last[:, :, 0].mean(axis=1)
        assert np.allclose(np.sort(middles), (np.arange(20) * 1_000 + 10) / 20)

    def test_bars(self):
        found = many(250)
        axes = draw_hits(found).axes[1]
        heights = [[bar.get_height() for bar in group] for group in axes.containers]
        table = np.zeros((5, 4), int)
        np.add.at(table, (found.pattern, found.distance), 1)
        assert heights == table.tolist()
        assert [text.get_text() for text in axes.get_legend().get_texts()] == list(found.patterns)
        assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "1", "2", "3"]

    def test_bars_of_unlike_height_are_logarithmic(self):
        rows = [(0, 0, 20, 0, 2, 0)] * 200 + [(0, 0, 20, 0, 0, 0)]
        assert draw_hits(columns(rows, (100,))).axes[1].get_yscale() == "log"
        assert draw_hits(columns(rows[190:], (100,))).axes[1].get_yscale() == "linear"

    def test_a_table_of_many_patterns(self):
        rows = [(0, 0, 20, i % 40, i % 2, 0) for i in range(80)] + [(0, 9, 29, 39, 0, 0)]
        axes = draw_hits(columns(rows, (100,), [f"g{i}" for i in range(40)])).axes[1]
        names = [text.get_text() for text in axes.get_yticklabels()]
        assert len(names) == 31 and names[-2:] == ["g39", "10 others"]
        cells = np.array([text.get_text() for text in axes.texts], int).reshape(31, 2)
        assert cells.sum() == len(rows) and cells[29].tolist() == [1, 2]

    def test_many_distances_are_classes(self):
        rows = [(0, i, i + 20, 0, i, 0) for i in range(60)]
        figure = draw_hits(columns(rows, (100,)))
        shown = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        assert len(shown) <= 8 and shown[0] == "0–7" and shown[-1].endswith("59")
        assert sum(map(len, marks(figure))) == 60

    def test_no_hits_and_one(self):
        assert "no hits" in texts(draw_hits(columns([], ())))
        shown = texts(draw_hits(columns([(0, 55_000_000, 55_000_020, 0, 0, 0)], (60_000_000,))))
        assert "1 hit of 1 pattern in 1 record" in shown and "+ 1" in shown and "− 0" in shown

    def test_names_of_anyone(self):
        names = ["$\\frac{1}{0}$", "<&>\"'", "\udcff\udcfe", "染色体", "x" * 500, "a\x1b[0m"]
        rows = [(i, 0, 20, i, i % 3, 0) for i in range(6)]
        found = columns(rows, [100] * 6, names)
        shown = texts(draw_hits(found._replace(records=Records(names, found.records.lengths))))
        for name in ("$\\frac{1}{0}$", "<&>\"'", "??", "染色体", "a_[0m"):
            assert shown.count(name) == 2, name
        assert shown.count(label(names[4])) == 2 and len(label(names[4])) == 24

    def test_labels_do_not_overlap(self):
        found = many(4_000, records=80)
        names = [f"scaffold_{i}_of_a_long_assembly_name" for i in range(80)]
        figure = draw_hits(found._replace(records=found.records._replace(names=names)))
        figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in figure.axes[0].get_yticklabels()]
        assert len(boxes) == 25 and min(box.x0 for box in boxes) >= 0
        assert all(above.y0 >= below.y1 for above, below in pairwise(boxes))
        counts = [text.get_window_extent() for text in figure.axes[0].texts]
        assert max(box.x1 for box in counts) <= figure.bbox.x1


class TestPrimers:
    def test_points(self):
        found = primers_of(120)
        figure = draw_primers(found)
        length, gc, tm = figure.axes
        assert length.get_xlim() == (0, 500)
        columns = found.end - found.start, 100 * found.gc, found.tm
        for axes, values in zip((length, gc, tm), columns, strict=True):
            points = np.concatenate([line.get_xydata() for line in axes.lines])
            first = np.where(found.minus, found.end - 1, found.start) + 0.5
            known = ~np.isnan(values)
            expected = np.transpose([first, values])[known]
            assert np.allclose(np.sort(points, axis=0), np.sort(expected, axis=0))
        assert [text.get_text() for text in length.get_legend().get_texts()] == ["+", "−"]

    def test_bins(self):
        found = primers_of(6_000)
        figure = draw_primers(found)
        points = np.concatenate([line.get_xydata() for line in figure.axes[0].lines])
        assert 100 < len(points) <= 600 and "median" in figure.axes[0].get_title("right")
        bars = [c.get_segments() for c in figure.axes[0].collections]
        ends = np.concatenate([np.array(segments)[:, :, 1] for segments in bars])
        lengths = found.end - found.start
        assert ends.min() == lengths.min() and ends.max() == lengths.max()

    def test_several_records(self):
        found = primers_of(100)
        records = Records(["first_record", "second_record", "x"], np.array([500, 500, 20]))
        two = (np.arange(100) % 2).astype(np.int32)
        figure = draw_primers(found._replace(records=records, record=two))
        points = np.concatenate([line.get_xydata() for line in figure.axes[0].lines])
        assert (points[:, 0] > 500).sum() == 50
        written = [text.get_text() for text in figure.axes[0].texts]
        assert written[:2] == ["first_record", "second_record"] and "x" not in written

    def test_bed_has_the_length_alone(self):
        found = primers_of(20)
        none = np.full(20, np.nan)
        assert len(draw_primers(found._replace(gc=none, tm=none)).axes) == 1
        assert "no primers" in texts(draw_primers(none_of(found)))

    def test_python(self):
        target = kmatch.Genome.from_records([("t", TEXT[480:600])])
        background = kmatch.Genome.from_records([("b", TEXT[500:700])])
        found = call(kmatch.primer, target, background, 3)
        points = found.plot().axes[0].lines[0].get_xydata()
        assert points[:, 0].tolist() == (found.start + 0.5).tolist()
        assert points[:, 1].tolist() == found.length.tolist()


def primers_of(count):
    draw = np.random.default_rng(count)
    start = np.sort(draw.integers(0, 440, count))
    tm = np.where(np.arange(count) == 3, np.nan, draw.uniform(50, 70, count))
    return PrimerColumns(
        Records(["t"], np.array([500])), np.zeros(count, np.int32), start,
        start + draw.integers(18, 30, count), draw.random(count) < 0.5,
        draw.uniform(0.2, 0.8, count), tm,
    )  # fmt: skip


def none_of(primers):
    return primers._replace(**{name: getattr(primers, name)[:0] for name in primers._fields[1:]})


class TestFiles:
    @pytest.fixture
    def table(self, tmp_path):
        path = tmp_path / "hits.tsv"
        rows = [
            f"chr{i}\t{i * 50}\t{i * 50 + 20}\tp{i % 2}\t{i % 3}\t+\t20=\tA\n" for i in range(9)
        ]
        path.write_text(HEADER + "".join(rows))
        return path

    @pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
    def test_formats(self, table, tmp_path, suffix):
        path = tmp_path / f"a.{suffix}"
        assert here("plot", table, "-o", path) == (0, b"", b"")
        begin = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
        assert path.read_bytes().startswith(begin)
        to_output = here("plot", "-", "-o", "-", "--format", suffix, stdin=table.read_bytes())
        assert to_output.out == path.read_bytes()  # the same bytes each time

    def test_another_process_draws_the_same(self, table):
        words = ("plot", table, "-o", "-", "--format", "svg")
        assert process(*words).out == here(*words).out

    def test_texts(self, table, tmp_path):
        assert here("plot", table, "-o", tmp_path / "a.svg", "--records", 2).status == 0
        text = (tmp_path / "a.svg").read_text()
        for word in ("9 hits of 2 patterns in 9 records", "chr0", "chr1", "7 others", "p0", "p1"):
            assert word in text
        assert "chr2" not in text and not re.search(r"<dc:date>", text)

    def test_lengths_of_a_genome(self, table, tmp_path):
        (tmp_path / "genome.fa").write_text("".join(f">chr{i}\n{'A' * 5_000}\n" for i in range(20)))
        words = ("plot", table, "-o", tmp_path / "a.svg", "--genome", tmp_path / "genome.fa")
        assert here(*words).status == 0
        assert ">5,000<" in (tmp_path / "a.svg").read_text()

    def test_mistakes_leave_no_file(self, table, tmp_path):
        table.write_text(table.read_text() + "chr1\tx\n")
        failed(here("plot", table, "-o", tmp_path / "a.png"), f"{table}: line 11: 2 of the table's")
        assert not (tmp_path / "a.png").exists()
        failed(here("plot", tmp_path / "none.tsv", "-o", tmp_path / "a.png"), "cannot be read")
        table.write_text(HEADER)
        failed(here("plot", table, "-o", tmp_path / "none" / "a.png"), "make the folder")

    def test_a_notebook_shows_it(self):
        hits = call(kmatch.hamming, GENOME, TEXT[100:120], 4)
        figure = hits.plot()
        assert figure._repr_png_().startswith(b"\x89PNG") and sum(map(len, marks(figure))) == len(
            hits
        )
        lengths = {line.get_xdata()[1] for line in figure.axes[0].lines}
        assert lengths <= {1_000, 2_000}  # of the genome, not of its last hit
        with pytest.raises(kmatch.InputError, match="records is 0"):
            hits.plot(records=0)


def test_hits_of_several_genomes(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.fa").write_text(f">r\n{TEXT[:500]}\n")
    both = [tmp_path / "a.fa", tmp_path / "b.fa"]
    figure = call(kmatch.hamming, both, TEXT[100:120], 0).plot()
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names == ["a.fa r", "b.fa r"] and sum(map(len, marks(figure))) == 2


def test_products_of_several_genomes(tmp_path):
    genomes = [tmp_path / "a.fa", tmp_path / "b.fa"]
    for path in genomes:
        path.write_text(f">r\n{TEXT[:500]}\n>s\n{TEXT[:400]}\n")
    pairs = {"one": (TEXT[100:120], str(Seq(TEXT[180:200]).reverse_complement()))}
    products = call(kmatch.pcr, genomes, pairs, 0)
    figure = products.plot()
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names == ["a.fa r", "a.fa s", "b.fa r", "b.fa s"]
    assert sum(map(len, marks(figure))) == len(products) == 4
    assert figure.get_suptitle() == "4 products of 1 pair in 4 records"
    assert figure.axes[1].get_ylabel() == "products"
    assert figure.axes[1].get_legend().get_title().get_text() == "pair"
    assert "no products" in {text.get_text() for text in products[:0].plot().axes[0].texts}


def test_words():
    assert [short_count(n) for n in (0, 999, 9_999, 12_345, 123_456, 4_600_000, 10**10)] == [
        "0", "999", "9999", "12.3k", "123k", "4.6M", "10.0G",
    ]  # fmt: skip
    assert [letters(n) for n in (3, 820, 1_200, 34_000_000, 3.1e9)] == [
        "3 bp", "820 bp", "1.2 kbp", "34 Mbp", "3,100 Mbp",
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert label("a$b") == r"a\$b"
