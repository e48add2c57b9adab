"""Pictures show what is in a table: each hit once, where it is, on axes that hold all."""

import json
import os
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from support.commands import failed, here, loaded
from support.searches import ENDS, GENOME, HEADER, TEXT, call

import kmatch
from kmatch import pictures

pytest.importorskip("matplotlib", reason="Matplotlib is not installed: pip install matplotlib")

from matplotlib.colors import to_rgb

from kmatch.pictures import label
from kmatch.pictures.hits import _by_bulges, _marks_of, classes_of
from kmatch.pictures.scales import NO_PRODUCT, count_scale, distance_colours, whole_scale
from kmatch.pictures.tables import KINDS, Table, Words, read_table, table_of

GOLDEN = Path(__file__).parent / "golden" / "pictures.json"


@pytest.fixture(scope="module")
def found():
    patterns = {"one": TEXT[100:120], "two": TEXT[1_500:1_512], "none": "ACGT" * 12}
    target = kmatch.Genome.from_records([("t", TEXT[480:600] + "N" + TEXT[:9]), ("u", TEXT[9:40])])
    background = kmatch.Genome.from_records([("b", TEXT[500:700] + "ACGT")])
    return {
        "hits": call(kmatch.hamming, GENOME, patterns, 5),
        "products": call(kmatch.pcr, GENOME, {"pair": ENDS}, 2),
        "primers": call(kmatch.primer, target, background, 3, both_strands=True),
        "guides": kmatch.guides(target, target, 2, pam="NG", device="cpu"),
    }


def words(column):
    return [column.words[number] for number in column.which]


@pytest.mark.parametrize("kind", ["hits", "products", "primers", "guides"])
@pytest.mark.parametrize("suffix", ["tsv", "csv", "bed", "tsv.gz"])
def test_what_kmatch_writes_is_read_back(found, tmp_path, kind, suffix):
    path, rows = tmp_path / f"{kind}.{suffix}", found[kind]
    if (kind, suffix) == ("guides", "bed"):
        return  # as any other BED
    {"bed": rows.to_bed, "csv": rows.to_csv}.get(suffix, rows.to_tsv)(path)
    read = read_table(path)
    same = table_of(rows)
    assert len(read) == len(rows) >= 1 and read.kind == same.kind
    assert words(read.columns["sequence"]) == rows.record.tolist()
    for name in read.columns.keys() & same.columns.keys():
        one, other = read.columns[name], same.columns[name]
        if isinstance(one, Words):
            assert words(one) == words(other)
        else:
            assert np.allclose(one, other, atol=0.06 * (one.dtype.kind == "f"), equal_nan=True)
    if suffix != "bed":
        assert read.columns.keys() - {"strand"} == same.columns.keys() - {"strand"}


def test_tables_of_several_genomes_and_of_none(tmp_path):
    row, bed = "chr\t1\t9\tp\t2\t-\t8=\tACGTACGT\n", "chr\t1\t9\tp\t800\t+\t2\t"
    texts = (f"genome\t{HEADER}all/x/a.fa\t{row}all/b.fa\t{row}", f"{bed}x/a.fa\n{bed}b.fa\n")
    for text in texts:
        (tmp_path / "a").write_text(text)
        read = read_table(tmp_path / "a")
        assert read.places(9).names == ["x/a.fa chr", "b.fa chr"]
        assert read.columns["distance"].tolist() == [2, 2]
    for text in ("", HEADER, "# nothing\n\n"):
        (tmp_path / "empty").write_text(text)
        assert len(read_table(tmp_path / "empty")) == 0


def test_without_matplotlib(found, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = here("plot", tmp_path / "none.tsv", "-o", tmp_path / "a.png")
    failed(done, "kmatch plot needs Matplotlib", "pip install matplotlib")
    for rows in found.values():
        with pytest.raises(kmatch.OutputError, match="pip install matplotlib"):
            rows.plot()
    status, modules = loaded("from kmatch.cli.main import run\nrun(['plot', '--help'])")
    assert status == 0 and not {"matplotlib", "numpy", "numba"} & modules


def table(rows, lengths, patterns=("p",), names=None, noun="hit", **more):
    """A Table of rows (record, start, end, pattern, distance, minus), all numbers."""
    record, start, end, pattern, distance, minus = np.array(rows, np.int64).reshape(-1, 6).T
    names = names or [f"r{i}" for i in range(len(lengths))]
    columns = {"sequence": Words(names, record), "start": start, "end": end, "distance": distance}
    columns |= {"pattern": Words([*patterns], pattern), "strand": Words(["+", "-"], minus)}
    kind = next(kind for kind in KINDS if kind.noun == noun)
    return Table(kind, columns | more, dict(zip(names, lengths, strict=True)))


def test_places_are_those_of_the_records_with_the_most_rows():
    """
    a  |  [hit]    [hit]  [hit]     |  length 31
    b  |     [hit]                     length 9
    c  |[hit]      [hit]               length 15
    """
    hits = [("a", 2), ("b", 5), ("c", 0), ("a", 11), ("c", 11), ("a", 18)]
    rows = [("abc".index(name), start, start + 4, 0, 0, start == 11) for name, start in hits]
    drawn = table(rows, [31, 0, 0], names=["a", "b", "c"])
    places = drawn.places(2)
    assert places.names == ["a", "c"] and places.others == 1
    assert places.lengths.tolist() == [31, 15]
    assert places.rows.tolist() == [0, 2, 3, 4, 5]
    assert places.record.tolist() == [0, 1, 0, 1, 0]
    assert places.start.tolist() == [2, 0, 11, 11, 18]
    assert places.minus.tolist() == [False, False, True, True, False]
    assert drawn.places(3).lengths.tolist() == [31, 9, 15] and not drawn.places(3).others
    genomes = Words(["all/x/1.fa", "all/2.fa"], np.array([0, 0, 0, 1, 1, 1]))
    several = table(rows, [31, 0, 0], names=["a", "b", "c"], genome=genomes)
    assert several.places(9).names == ["x/1.fa a", "x/1.fa b", "x/1.fa c", "2.fa a", "2.fa c"]


def test_hits_of_one_place_are_one_rectangle():
    """
    columns of 10   0    1    2    3
    hits            [===]    [=======]
                         [===]
                           [==]
    """
    starts_and_ends = [(0, 10), (20, 40), (10, 20), (14, 20)]
    rows = [(0, start, end, 0, 0, 0) for start, end in starts_and_ends]
    places = table(rows, [40]).places(1)
    marks = _marks_of(places, np.zeros(4, np.int64), 1, 10.0)
    found = zip(marks.left.tolist(), marks.right.tolist(), marks.hits.tolist(), strict=True)
    assert list(found) == [(0, 1, 1), (1, 2, 2), (2, 4, 1)]


@pytest.mark.parametrize(
    ("distances", "names", "expected"),
    [
        ([2, 0, 3], ["0", "1", "2", "3"], [2, 0, 3]),
        ([20, 22], ["20", "21", "22"], [0, 2]),
        ([0, 9, 10], ["0–1", "2–3", "4–5", "6–7", "8–9", "10"], [0, 4, 5]),
    ],
)
def test_classes_of_distances(distances, names, expected):
    group, classes = classes_of(np.array(distances))
    assert (group.tolist(), classes) == (expected, names)


def test_bulges_by_name():
    cells = _by_bulges(Words.of(["4=1X", "2=2D1=1X", "1=1I1D1=", "2D1=1X1="]))
    assert list(cells.rows) == ["no bulge", "1 DNA + 1 RNA", "2 DNA"]
    assert np.nan_to_num(cells.values).tolist() == [[0, 1], [1, 0], [0, 2]]
    assert _by_bulges(Words.of(["4=1X", "5="])) is None


def many(count, records=3, names=None):
    draw = np.random.default_rng(1)
    lengths = draw.integers(1_000, 90_000, records)
    record = draw.integers(0, records, count)
    start = (draw.random(count) * (lengths[record] - 20)).astype(np.int64)
    others = (draw.integers(*ends, count) for ends in ((0, 5), (1, 4), (0, 2)))
    rows = np.transpose([record, start, start + 20, *others])
    return table(rows, lengths.tolist(), "abcde", names)


def marks(figure):
    """Corners of the rectangles of hits, float[n, 4, 2], the closest first."""
    drawn = [c for c in figure.axes[0].collections if c.get_gid() == "hits"]
    paths = [path.vertices[:4] for group in drawn for path in group.get_paths()]
    return np.array(paths).reshape(-1, 4, 2)


def texts(figure):
    """All texts of an SVG."""
    tree = ElementTree.fromstring(pictures.saved(figure, "svg"))
    return ["".join(node.itertext()).strip() for node in tree.iter() if node.tag.endswith("text")]


def written(labels):
    return [text.get_text() for text in labels]


def test_hits_are_where_they_are():
    rows = [(0, 100, 120, 0, 0, 0), (0, 500, 520, 0, 2, 1), (1, 0, 400, 1, 2, 0)]
    figure = table(rows, (1_000, 400), "ab").draw()
    axes = figure.axes[0]
    exact, *two = marks(figure)
    assert len(two) == 2 and exact[:, 0].min() == 100 and exact[:, 0].max() == 120
    assert two[1][:, 0].min() == 0 and two[1][:, 0].max() == 400  # as long as the hit
    assert exact[:, 1].max() < 0 and two[0][:, 1].min() > 0  # + is above, - below
    assert two[1][:, 1].max() < 1 and two[1][:, 1].min() > 0.5  # on the second line
    assert np.ptp(exact[:, 1]) > 2 * np.ptp(two[0][:, 1])  # the closer, the taller
    left, right = axes.get_xlim()
    assert -50 < left < 0 and 1_000 < right < 1_050 and axes.get_ylim() == (1.5, -0.5)
    assert written(axes.get_yticklabels()) == ["r0", "r1"]
    assert written(axes.figure.legends[0].get_texts()) == ["0", "1", "2"]


def primers_of(count, lengths=(500,), names=("t",), **more):
    draw = np.random.default_rng(count)
    start, number = np.sort(draw.integers(0, 440, count)), np.arange(count)
    end, minus = start + draw.integers(18, 30, count), draw.integers(0, 2, count)
    record = number % 2 * (len(names) > 1)
    rows = np.transpose([record, start, end, 0 * number, 0 * number, minus])
    more = {
        "gc": draw.uniform(0.2, 0.8, count),
        "tm": np.where(number == 3, np.nan, draw.uniform(50, 70, count)),
    } | more
    return table(rows, lengths, (), [*names], "primer", **more)


CIGARS = ["20=", "18=2X", "4=1I15=1D1X", "4=1I15=", "18=2X", "19=1X"]
SCORES = np.array([1, 0.02, np.nan, 0.5, 0, 0.999])
SIX = [(0, i, i + 20, i % 2, 2, 0) for i in range(6)]
FORTY = [(0, 7 * i, 7 * i + 23, 0, 0, i % 2) for i in range(40)]
GUIDES = {
    "guide": Words.of(["ACGT"[i % 4] * 20 for i in range(40)]),
    **{"specificity": np.linspace(1, 0, 40), "gc": np.full(40, 0.5), "d10": np.full(40, 4)},
    **{"d0": np.arange(40) % 3, "d1": np.zeros(40, int)},
}
ODD = ["$\\frac{1}{0}$", "<&>\"'", "\udcff\udcfe", "染色体", "x" * 500, "a\x1b[0m"]
CROWD = [(0, i, i + 20, 0, 1, 0) for i in range(301)] + [(1, 3, 23, 0, 1, 1)]
MOST = [(i, 0, 20, 0, 0, 0) for i in range(30)] + [(i, 50, 70, 0, 0, 0) for i in range(5, 15)]
PATTERNS = [(0, 0, 20, i % 40, i % 2, 0) for i in range(80)] + [(0, 9, 29, 39, 0, 0)]
NONE = np.full(120, np.nan)  # of BED, which has lengths alone
DRAWN = {
    "several records": many(250),
    "scores": table(SIX, (100,), "ab", cfd=SCORES, cigar=Words.of(CIGARS)),
    "no bulges": table(SIX, (100,), "ab", mit=100 * SCORES, cigar=Words.of(["20="] * 6)),
    "guides": table(FORTY, (400,), noun="guide", **GUIDES),
    "no guides": table([], (), noun="guide", guide=Words.of([])),
    "thousands of hits": many(5_000, records=2),
    "a crowd and one": table(CROWD, (2_000, 2_000)),
    "records with the most hits": table(MOST, [1_000] * 30),
    "many patterns": table(PATTERNS, (100,), [f"g{i}" for i in range(40)]),
    "many distances": table([(0, i, i + 20, 0, i, 0) for i in range(60)], (100,)),
    "no distance near 0": table([(0, i, i + 20, 0, 20 + i, 0) for i in range(6)], (100,)),
    "no hits": table([], ()),
    "one hit": table([(0, 55_000_000, 55_000_020, 0, 0, 0)], (60_000_000,)),
    "odd names": table([(i, 0, 20, i, i % 3, 0) for i in range(6)], [100] * 6, ODD, ODD),
    "primers": primers_of(120),
    "primers in records": primers_of(120, (500, 500, 20), ["first_record", "second_record", "x"]),
    "lengths alone": primers_of(120, gc=NONE, tm=NONE),
    "no primers": primers_of(0),
}


def summed(points):
    """How many points there are, and the sums of their coordinates, to six digits."""
    sums = np.nansum(np.array(points, float).reshape(-1, 2), axis=0)
    return [len(points), *(float(f"{each:.6g}") for each in sums)]


def shown(figure):
    """What there is in a figure, by axes: words, limits and sums of coordinates."""
    found = [figure.get_suptitle()]
    for axes in figure.axes:
        legend = axes.get_legend()
        found.append({
            "words": [x for x in written(axes.get_yticklabels()) if "mathdefault" not in x],
            "below": [x for x in written(axes.get_xticklabels()) if "mathdefault" not in x],
            "texts": written(axes.texts) + written(legend.get_texts() if legend else ()),
            "limits": [float(f"{x:.6g}") for x in (*axes.get_xlim(), *axes.get_ylim())],
            "lines": [summed(line.get_xydata()) for line in axes.lines],
            "marks": [
                summed([each for path in group.get_paths() for each in path.vertices])
                for group in axes.collections
            ],
        })  # fmt: skip
    return found


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn(name):
    """KMATCH_GOLDEN=1 keeps what is drawn now: look at the pictures before."""
    golden, found = (
        json.loads(GOLDEN.read_text()),
        json.loads(json.dumps(shown(DRAWN[name].draw(10)))),
    )
    if "KMATCH_GOLDEN" in os.environ:
        golden[name] = found
        rows = (f"{json.dumps(name)}: {json.dumps(each)}" for name, each in golden.items())
        GOLDEN.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    assert golden[name] == found
    if name == "odd names":  # Matplotlib takes no formula, and XML no byte of them
        drawn = texts(DRAWN[name].draw())
        for word in ("$\\frac{1}{0}$", "<&>\"'", "??", "染色体", "a_[0m", label(ODD[4])):
            assert drawn.count(word) == 2, word


def test_labels_do_not_overlap():
    names = [f"scaffold_{i}_of_a_long_assembly_name" for i in range(80)]
    figure = many(4_000, records=80, names=names).draw()
    figure.draw_without_rendering()
    for axes in figure.axes[:2]:  # two columns of 12 records
        boxes = [text.get_window_extent() for text in axes.get_yticklabels()]
        assert len(boxes) == 12 and min(box.x0 for box in boxes) >= 0
        assert all(above.y0 >= below.y1 for above, below in pairwise(boxes))
        counts = [text.get_window_extent() for text in axes.texts]
        assert max(box.x1 for box in counts) <= figure.bbox.x1
    assert max(text.x1 for text in counts) > figure.bbox.x1 / 2


def bars(figure):
    """The scales of a figure: their label, their ticks as written, and how high they reach."""
    found = [axes for axes in figure.axes if axes.get_label() == "<colorbar>"]
    return [(x.get_ylabel(), written(x.get_yticklabels()), x.get_ylim()) for x in found]


def greys(colours):
    return np.asarray(colours)[:, :3] @ (0.299, 0.587, 0.114)


def test_one_scale_for_all_counts():
    """Panels count by distance, by score and by bulges; 9 hits are the most of a cell in any."""
    cigars = Words.of(["19=1X"] * 9 + ["4=1D15=1X"] * 3)
    rows = [(0, 9 * i, 9 * i + 20, i % 3, 1 + i // 9, 0) for i in range(12)]
    drawn = table(rows, (200,), "abc", cfd=np.full(12, 0.3), cigar=cigars).draw()
    ((what, ticks, limits),) = bars(drawn)
    assert (what, ticks) == ("hits in a cell, by logarithm", ["1", "2", "5", "10"])
    assert limits == pytest.approx((1, 10))
    images = [image for axes in drawn.axes for image in axes.images]
    assert len(images) == 3 and {id(image.norm) for image in images} == {id(images[0].norm)}
    (label, ticks, limits), *_ = bars(many(5_000).draw())
    assert label.startswith("hits") and ticks == ["1", "2", "5", "10", "20", "50", "100", "200"]
    assert limits[0] == 1 and limits[1] > 200


def test_palettes_differ_and_are_in_order_in_grey():
    counts = count_scale(100, "hit").colours(np.linspace(0, 1, 9))
    bad = whole_scale(7, "differences", 5).colours(np.linspace(0, 1, 9))
    distances = distance_colours(8)
    assert (np.diff(greys(counts)) < 0).all()  # the more, the darker
    assert (np.diff(greys(bad)) < 0).all()  # the more, the louder
    assert (np.diff(greys(distances)) > 0).all()  # the closer, the darker
    assert greys(distances)[-1] < 0.75 and greys(bad)[0] > 0.9  # seen on white; calm
    no_product = greys([to_rgb(NO_PRODUCT)])[0]
    assert no_product < greys(bad)[-1] - 0.1
    between = np.linalg.norm(distances[:, np.newaxis, :3] - counts[:, :3], axis=2)
    assert between.min() > 0.25


@pytest.mark.parametrize("count", [5, 5_000])
def test_bars_of_hits_are_seen(count):
    figure = many(count, records=24).draw()
    figure.draw_without_rendering()
    axes = figure.axes[0]
    (hits,) = [drawn for drawn in axes.collections if drawn.get_gid()]
    faces = hits.get_facecolors()
    assert all(face[3] == 1 for face in faces) and greys(faces).max() < 0.75
    widths = [np.ptp(axes.transData.transform(mark)[:, 0]) for mark in marks(figure)]
    assert min(widths) >= 1  # pixels of 150 an inch
    assert np.median(widths) >= 2.5


def test_axes_end_where_records_end():
    rows = [(0, 5, 25, 0, 0, 0), (1, 5, 25, 0, 0, 0)]
    for lengths, doubt in (
        ((90, 40), ""),
        ((90, 0), "; 1 record of unknown length drawn up to the last row"),
        ((0, 0), "; lengths are not known: records are drawn up to their last row"),
    ):
        figure = table(rows, lengths).draw()
        assert figure.axes[0].patches[0].get_width() == (lengths[0] or 25)
        assert figure.axes[0].patches[1].get_width() == (lengths[1] or 25)
        assert f"position in the record{doubt}" in texts(figure)


@pytest.mark.parametrize("length", [100, 10_000])
def test_a_row_over_the_origin_is_drawn_in_two_parts(length):
    """
    record  |        [==|==]
    drawn   |==]     [==|
    """
    part = length // 10
    figure = table([(0, length - part, length + part, 0, 0, 0)], (length,)).draw()
    parts = [(mark[:, 0].min(), mark[:, 0].max()) for mark in marks(figure)]
    assert parts == [(0, pytest.approx(part, abs=1)), (pytest.approx(length - part), length)]
    assert figure.axes[0].patches[0].get_width() == length


def test_a_guide_over_the_origin_begins_inside_its_record():
    guides = {"sequence": Words.of(["c"]), "start": np.array([216]), "end": np.array([239])}
    guides |= {"strand": Words.of("-"), "guide": Words.of(["TCGA"]), "d0": np.array([1])}
    kind = next(kind for kind in KINDS if kind.noun == "guide")
    figure = Table(kind, guides | {"gc": np.array([0.5])}, {"c": 217}).draw()
    points = [line for axes in figure.axes for line in axes.get_lines()]
    assert {x for line in points for x in line.get_xdata()} == {238 - 217 + 0.5}


@pytest.mark.parametrize("count", [5, 100, 2_000])
def test_pages_and_no_strips(count):
    """A matrix of 8 assays and many genomes stands in blocks side by side."""
    figure = table_of_matrix(8, count).draw()
    width, height = figure.get_size_inches()
    assert width == 9 and height <= 12
    blocks = [axes for axes in figure.axes if axes.images]
    assert len(blocks) == {5: 1, 100: 2, 2_000: 3}[count]
    assert sum(len(axes.images[0].get_array()) for axes in blocks) == max(count, 8)
    guides = {**GUIDES, "d0": np.arange(count), "gc": np.full(count, 0.5)}
    guides["guide"] = Words.of(map(str, range(count)))
    guides |= {name: np.zeros(count) for name in ("specificity", "d10", "d1")}
    starts = [(0, i, i + 20, 0, 0, 0) for i in range(count)]
    hits = [(i, 5, 25, i, 0, 0) for i in range(count)]
    for drawn in (
        table(starts, (count + 20,), noun="guide", **guides),
        table(hits, [30] * count, list(map(str, range(count)))),
        primers_of(count),
    ):
        assert drawn.draw().get_size_inches()[1] <= 12


def table_of_matrix(assays, genomes):
    kind = next(kind for kind in KINDS if kind.noun == "assay")
    numbers = np.arange(assays * genomes).reshape(genomes, assays) % 4.0
    columns = {f"g{i}": row for i, row in enumerate(numbers)}
    return Table(kind, {"assay": Words.of([f"a{i}" for i in range(assays)])} | columns)


ASSAYS = """genome\tassay\tamplifies\treason\tforward\treverse\tprobe
g1\tx\tyes\t\t0\t0\t
g2\tx\tno\tforward\t9\t0\t
g3\tx\tunknown\tprobe\t0\t0\t4
g1\ty\tyes\t\t2\t1\t1
g2\ty\tyes\t\t0\t1\t
g3\ty\tno\tlength\t0\t0\t
"""
MATRIX = "assay\tg1\tg2\tg3\nx\t0\tno\tunknown\ny\t4\t1\tno\n"


@pytest.mark.parametrize("text", [ASSAYS, MATRIX, ASSAYS.replace("\treason", "\tx")])
def test_verdicts_have_keys_of_their_own(tmp_path, text):
    """
        x  y
    g1  0  4
    g2  –  1
    g3  ?  –
    """
    path = tmp_path / "assays.tsv"
    path.write_text(text)
    figure = read_table(path).draw()
    assert figure.get_suptitle() == "2 assays, 3 genomes; 3 pairs of 6 amplify, 1 unknown"
    axes = figure.axes[0]
    assert written(axes.get_yticklabels()) == ["g1", "g2", "g3"]
    assert written(axes.get_xticklabels()) == ["x", "y"]
    assert written(axes.texts) == ["0", "4", "–", "1", "?", "–"]
    assert written(figure.legends[0].get_texts()) == ["no product", "unknown"]
    assert bars(figure) == [("differences of primers and probe in all", list("012345"), (0, 5))]
    values, absent = (image.get_array() for image in axes.images)
    assert values.filled(-1).tolist() == [[0, 4], [-1, 1], [-1, -1]]
    assert absent.filled(0).tolist() == [[0, 0], [1, 0], [0, 1]]
    old = MATRIX.replace("unknown", "").replace("no", "")
    path.write_text(old)  # as 1.1 wrote it
    assert written(read_table(path).draw().axes[0].texts) == ["0", "4", "–", "1", "–", "–"]


def test_genomes_of_one_name_are_drawn_apart(tmp_path):
    """Of rows, and of a matrix: x amplifies the first genome g1, and y the second one."""
    head, *_ = ASSAYS.split("\n")
    lines = ("g1\tx\tyes\t", "g1\ty\tno\tforward", "g1\tx\tno\tforward", "g1\ty\tyes\t")
    (tmp_path / "rows").write_text(
        "".join(f"{each}\n" for each in (head, *(f"{line}\t0\t0\t" for line in lines)))
    )
    (tmp_path / "matrix").write_text("assay\tg1\tg1\nx\t0\tno\ny\tno\t0\n")
    for name in ("rows", "matrix"):
        title = read_table(tmp_path / name).draw(10).get_suptitle()
        assert title.startswith("2 assays, 2 genomes; 2 pairs of 4 amplify")


def test_guides_are_ranked():
    """Specificity decides, then d0, then d1, and then how near GC is to a half."""
    guides = {
        "guide": Words.of(["four", "one", "three", "two", "five"]),
        "specificity": np.array([0.5, 0.9, 0.5, 0.5, np.nan]),
        "d0": np.array([1, 1, 1, 1, 1]),
        "d1": np.array([4, 7, 3, 3, 0]),
        "gc": np.array([0.5, 0.4, 0.3, 0.6, 0.5]),
    }
    rows = [(0, i, i + 20, 0, 0, 0) for i in range(5)]
    figure = table(rows, (100,), noun="guide", **guides).draw()
    (cells,) = [axes for axes in figure.axes if axes.images]
    assert written(cells.get_yticklabels()) == [
        *("1  one  0.900", "2  two  0.500", "3  three  0.500", "4  four  0.500", "5  five"),
    ]
    assert written(cells.texts)[:4] == ["1", "7", "1", "3"]


def test_pairs_without_a_product(found):
    pairs = {f"p{i:02}": ("ACGTTTGCAA", "GGCATTACGA") for i in range(40)} | {"found": ENDS}
    figure = call(kmatch.pcr, GENOME, pairs, 0).plot()
    (counts,) = [axes for axes in figure.axes if axes.images]
    names = written(counts.get_yticklabels())
    assert "found" in names and "p00" in names and names[-1] == "11 without a product"
    assert figure.get_suptitle().startswith("1 product of 41 pairs")


def test_python(found):
    rows = call(kmatch.hamming, GENOME, TEXT[100:120], 4)
    figure = rows.plot()
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert len(marks(figure)) == len(rows)
    lengths = {bar.get_width() for bar in figure.axes[0].patches}
    assert lengths <= {1_000, 2_000}  # of the genome, not of its last hit
    with pytest.raises(kmatch.InputError, match="records is 0"):
        rows.plot(records=0)
    points = np.concatenate([x.get_xydata() for x in found["primers"].plot().axes[0].lines])
    assert len(points) == len(found["primers"])


def test_several_genomes(tmp_path):
    genomes = [tmp_path / "a.fa", tmp_path / "b.fa"]
    for path in genomes:
        path.write_text(f">r\n{TEXT[:500]}\n>s\n{TEXT[:400]}\n")
    products = call(kmatch.pcr, genomes, {"one": ENDS}, 0)
    figure = products.plot()
    names = ["a.fa r", "a.fa s", "b.fa r", "b.fa s"]
    assert written(figure.axes[0].get_yticklabels()) == names
    assert len(marks(figure)) == len(products) == 4
    assert figure.get_suptitle() == "4 products of 1 pair in 4 records"
    assert "no products" in written(products[:0].plot().axes[0].texts)


def test_few_sites_have_whole_ticks():
    guides = {**GUIDES, "d0": np.ones(40, np.int64), "d10": np.zeros(40, np.int64)}
    figure = table(FORTY, (400,), noun="guide", **guides).draw()
    (axes,) = (axes for axes in figure.axes if axes.get_ylabel() == "sites")
    figure.canvas.draw()
    ticks = axes.get_yticks()
    assert len(ticks) > 1 and (ticks == ticks.round()).all()
