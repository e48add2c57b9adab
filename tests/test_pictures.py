"""Pictures show what is in a table: each hit once, where it is, on axes that hold all."""

import re
import sys
import warnings
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from Bio.Seq import Seq
from support.commands import failed, here, loaded, misused, process
from support.searches import GENOME, TEXT, call

import kmatch
from kmatch import pictures

pytest.importorskip("matplotlib", reason="Matplotlib is not installed: pip install matplotlib")

from kmatch.pictures import label, short
from kmatch.pictures.hits import BINS, SINGLE, classes_of
from kmatch.pictures.tables import KINDS, Table, Words, read_table, table_of
from kmatch.results.columns import HEADINGS

PRIMERS = "sequence\tstart\tend\tlength\tgc\ttm\n"
HEADER = "sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch\n"
ENDS = (TEXT[10:30], str(Seq(TEXT[280:300]).reverse_complement()))


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
    same = table_of(rows, {HEADINGS.get(name, name): name for name in ("strand", *rows.tsv)})
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


@pytest.mark.parametrize(
    "text, line, words",
    [
        (HEADER + "c\t1\t9\tp\tx\t+\t8=\tA\n", 2, "'x' is no number for the column distance"),
        (HEADER + "\nc\t1\t9\tp\t-1\t+\t8=\tA\n", 3, "'-1' is no number"),
        (HEADER + "c\t9\t1\tp\t1\t+\t8=\tA\n", 2, "starts at 9 and ends before, at 1"),
        (HEADER + "c\t1\t9\tp\t1\t?\t8=\tA\n", 2, "'?' is no strand"),
        (HEADER + "c\t1\t9\tp\t1\n", 2, "5 of the table's 8 columns"),
        ("c\t1\t9\tp\t1000\t+\t0\n" * 3 + "c\t1\n", 4, "2 of the table's 7 columns"),
        (PRIMERS + "c\t1\t9\t8\tinf\tNA\n", 2, "'inf' is no number"),
        (PRIMERS + "c\t1\t9\t8\t0.5\tx\n", 2, "'x' is no number"),
        ("assay\tg0\nx\tfew\n", 2, "'few' is no number for the column g0"),
        ("oligo\tposition\tletter\tmatch\tdiffer\na\t1\tA\t-1\t0\n", 2, "no number"),
        ("c\t1\t9\tp\t1000\t+\n", 1, "--format tsv"),
        ("chr1\t1\t9\n", 1, "--format tsv"),
        (">chr1\nACGT\n", 1, "neither a header nor BED"),
        ("@HD\tVN:1.6\n", 1, "neither a header nor BED"),
        ("pattern\td0\td1\ttotal\n", 1, "neither a header nor BED"),
        ("\x00\x01\x02", 1, "--format tsv"),
    ],
)
def test_mistakes_in_tables(tmp_path, text, line, words):
    (tmp_path / "table").write_text(text)
    with pytest.raises(kmatch.InputError, match=f"table: line {line}: ") as error:
        read_table(tmp_path / "table")
    assert words in str(error.value)


def test_html(found):
    rows = found["hits"]
    lines = re.findall(r"<tr>(.*?)</tr>", rows._repr_html_())
    assert len(lines) == 1 + min(10, len(rows))
    assert re.findall(r"<th>(.*?)</th>", lines[0]) == list(kmatch.Hit._fields)
    assert re.findall(r"<td>(.*?)</td>", lines[1]) == [str(value) for value in rows[0]]
    assert f"… and {len(found['primers']) - 10:,} more" in found["primers"]._repr_html_()
    assert "more" not in rows[:3]._repr_html_() and "0 hits" in rows[:0]._repr_html_()
    genome = kmatch.Genome.from_records([("<b>&amp;", "ACGTACGTAC")])
    shown = call(kmatch.hamming, genome, {"<script>x": "ACGTA"}, 0)._repr_html_()
    assert "&lt;b&gt;&amp;amp;" in shown and "&lt;script&gt;x" in shown and "<b" not in shown


def test_without_matplotlib(found, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    pictures._picture_class.cache_clear()
    done = here("plot", tmp_path / "none.tsv", "-o", tmp_path / "a.png")
    failed(done, "kmatch plot needs Matplotlib", "pip install matplotlib")
    for rows in found.values():
        with pytest.raises(kmatch.OutputError, match="pip install matplotlib"):
            rows.plot()
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
        (("a.png", "-o", "a.png"), "same file"),
    ],
)
def test_wrong_usage(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.png").write_text(HEADER)
    misused(here("plot", *words), message)


def test_words():
    numbers = (0, 999, 12_345, 4_600_000, 10**10)
    assert [short(number) for number in numbers] == ["0", "999", "12.3k", "4.6M", "10G"]
    lengths = [short(number, "bp") for number in (3, 820, 1_200, 34_000_000)]
    assert lengths == ["3 bp", "820 bp", "1.2 kbp", "34 Mbp"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert label("a$b") == r"a\$b" and len(label("x" * 500)) == 32


def table(rows, lengths, patterns=("p",), names=None, noun="hit", **more):
    """A Table of rows (record, start, end, pattern, distance, minus), all numbers."""
    record, start, end, pattern, distance, minus = np.array(rows, np.int64).reshape(-1, 6).T
    names = names or [f"r{i}" for i in range(len(lengths))]
    columns = {"sequence": Words(names, record), "start": start, "end": end, "distance": distance}
    columns |= {"pattern": Words([*patterns], pattern), "strand": Words(["+", "-"], minus)}
    kind = next(kind for kind in KINDS if kind.noun == noun)
    return Table(kind, columns | more, dict(zip(names, lengths, strict=True)))


def many(count, records=3, names=None):
    draw = np.random.default_rng(1)
    lengths = draw.integers(1_000, 90_000, records)
    record = draw.integers(0, records, count)
    start = (draw.random(count) * (lengths[record] - 20)).astype(np.int64)
    others = (draw.integers(*ends, count) for ends in ((0, 5), (1, 4), (0, 2)))
    rows = np.transpose([record, start, start + 20, *others])
    return table(rows, lengths.tolist(), "abcde", names)


def marks(figure, kind="hits"):
    """Corners of the rectangles of hits or of bins, float[n, 4, 2], the closest first."""
    drawn = [c for c in figure.axes[0].collections if c.get_gid() == kind]
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
    assert written(axes.get_legend().get_texts()) == ["0", "1", "2"]


def cells(axes):
    """The numbers in the table that is drawn."""
    rows, columns = len(axes.get_yticks()), len(axes.get_xticks())
    return np.array(written(axes.texts), int).reshape(rows, columns)


def test_counts_by_strand_and_by_pattern():
    rows = many(250)
    above, below, _ = rows.draw().axes
    places = rows.places(9)
    for minus, sign in ((False, "+"), (True, "−")):
        counts = np.bincount(places.record[places.minus == minus], minlength=3)
        assert {f"{sign} {count}" for count in counts} <= {*written(above.texts)}
    expected = np.zeros((5, 4), int)
    np.add.at(expected, (rows.columns["pattern"].which, rows.columns["distance"]), 1)
    assert cells(below).tolist() == expected.tolist()
    assert written(below.get_yticklabels()) == rows.columns["pattern"].words
    assert written(below.get_xticklabels()) == ["0", "1", "2", "3"]


def test_counts_by_score_and_by_bulges():
    rows = [(0, i, i + 20, i % 2, 2, 0) for i in range(6)]
    cigars = ["20=", "18=2X", "4=1I15=1D1X", "4=1I15=", "18=2X", "19=1X"]
    scores = np.array([1, 0.02, np.nan, 0.5, 0, 0.999])
    more = {"cfd": scores, "cigar": Words.of(cigars)}
    figure = table(rows, (100,), "ab", **more).draw()
    tables = [axes for axes in figure.axes if axes.images]
    assert written(tables[1].get_xticklabels()) == [
        "<.01", "<.05", "<.1", "<.2", "<.5", "<1", "1", "none"
    ]  # fmt: skip
    assert np.array(written(tables[1].texts), int).reshape(2, 8).tolist() == [
        [1, 0, 0, 0, 0, 0, 1, 1], [0, 1, 0, 0, 0, 2, 0, 0]
    ]  # fmt: skip
    assert written(tables[2].get_yticklabels()) == ["no bulge", "1 RNA", "1 DNA + 1 RNA"]
    assert cells(tables[2]).tolist() == [[1, 1, 2], [1, 0, 0], [0, 1, 0]]
    more = {"mit": 100 * scores, "cigar": Words.of(["20="] * 6)}  # no bulges
    figure = table(rows, (100,), "ab", **more).draw()
    assert len([axes for axes in figure.axes if axes.images]) == 2


def test_guides_in_the_order_of_the_table():
    rows = [(0, 7 * i, 7 * i + 23, 0, 0, i % 2) for i in range(40)]
    names = ["ACGT"[i % 4] * 20 for i in range(40)]
    more = {"guide": Words.of(names), "specificity": np.linspace(1, 0, 40), "gc": np.full(40, 0.5)}
    more |= {"d0": np.arange(40) % 3, "d1": np.zeros(40, int), "d10": np.full(40, 4)}
    figure = table(rows, (400,), noun="guide", **more).draw()
    specificity, sites, _, below, _ = figure.axes
    points = np.concatenate([line.get_xydata() for line in specificity.lines])
    assert np.allclose(np.sort(points[:, 1]), np.linspace(0, 1, 40))
    assert np.concatenate([x.get_ydata() for x in sites.lines]).sum() == 4 * 40 + 39
    shown = written(below.get_yticklabels())
    assert [text.split() for text in shown[:2]] == [["A" * 20, "1.000"], ["C" * 20, "0.974"]]
    assert len(shown) == 30 and written(below.get_xticklabels()) == ["d0", "d1", "d10"]
    assert cells(below).tolist() == [[i % 3, 0, 4] for i in range(30)]
    assert "no guides" in texts(table([], (), noun="guide", guide=Words.of([])).draw())


def test_crowded_lines_are_binned():
    rows = many(5_000, records=2)
    places, (group, _) = rows.places(9), classes_of(rows.columns["distance"])
    assert np.bincount(places.record).min() > SINGLE and len(marks(rows.draw())) == 0
    width = places.lengths.max() / BINS
    column = ((places.start + places.end) / 2 / width).astype(int)
    bins = marks(rows.draw(), "bins")
    middle, y = bins[:, :, 0].mean(axis=1), bins[:, :, 1].mean(axis=1)
    far = np.abs(bins[:, :, 1] - y.round()[:, None]).max(axis=1).round(6)
    of = np.unique(-far, return_inverse=True)[1] + group.min()  # the closest reach farthest
    drawn = [*zip(y.round(), y > y.round(), of, (middle / width).astype(int), strict=True)]
    expected = {*zip(places.record, places.minus, group, column, strict=True)}
    assert len(drawn) == len(expected) and {*drawn} == expected
    crowd = [(0, i, i + 20, 0, 1, 0) for i in range(SINGLE + 1)]
    figure = table([*crowd, (1, 3, 23, 0, 1, 1)], (2_000, 2_000)).draw()
    assert 0 < len(marks(figure, "bins")) < SINGLE and len(marks(figure)) == 1


def test_records_with_the_most_hits_are_drawn():
    rows = [(i, 0, 20, 0, 0, 0) for i in range(30)] + [(i, 50, 70, 0, 0, 0) for i in range(5, 15)]
    figure = table(rows, [1_000] * 30).draw(10)
    assert written(figure.axes[0].get_yticklabels()) == [f"r{i}" for i in range(5, 15)]
    assert len(marks(figure)) == 20 and cells(figure.axes[1]).sum() == 40
    assert figure.get_suptitle().endswith("of which the 10 with the most hits are drawn")


def test_many_patterns_and_many_distances():
    rows = [(0, 0, 20, i % 40, i % 2, 0) for i in range(80)] + [(0, 9, 29, 39, 0, 0)]
    axes = table(rows, (100,), [f"g{i}" for i in range(40)]).draw().axes[1]
    names = written(axes.get_yticklabels())
    assert len(names) == 31 and names[-2:] == ["g39", "10 others"]
    assert cells(axes).sum() == len(rows) and cells(axes)[29].tolist() == [1, 2]
    figure = table([(0, i, i + 20, 0, i, 0) for i in range(60)], (100,)).draw()
    shown = written(figure.axes[0].get_legend().get_texts())
    assert len(shown) <= 8 and shown[0] == "0–7" and shown[-1].endswith("59")
    assert len(marks(figure)) == 60


def test_no_hits_one_and_names_of_anyone():
    assert "no hits" in texts(table([], ()).draw())
    shown = texts(table([(0, 55_000_000, 55_000_020, 0, 0, 0)], (60_000_000,)).draw())
    assert "1 hit of 1 pattern in 1 record" in shown and "+ 1" in shown and "− 0" in shown
    names = ["$\\frac{1}{0}$", "<&>\"'", "\udcff\udcfe", "染色体", "x" * 500, "a\x1b[0m"]
    rows = [(i, 0, 20, i, i % 3, 0) for i in range(6)]
    shown = texts(table(rows, [100] * 6, names, names).draw())
    for name in ("$\\frac{1}{0}$", "<&>\"'", "??", "染色体", "a_[0m", label(names[4])):
        assert shown.count(name) == 2, name


def test_labels_do_not_overlap():
    names = [f"scaffold_{i}_of_a_long_assembly_name" for i in range(80)]
    figure = many(4_000, records=80, names=names).draw()
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].get_yticklabels()]
    assert len(boxes) == 24 and min(box.x0 for box in boxes) >= 0
    assert all(above.y0 >= below.y1 for above, below in pairwise(boxes))
    counts = [text.get_window_extent() for text in figure.axes[0].texts]
    assert max(box.x1 for box in counts) <= figure.bbox.x1


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


def test_primers():
    rows = primers_of(120)
    figure = rows.draw()
    assert figure.axes[0].get_xlim() == (0, 500)
    places, lengths = rows.places(9), rows.columns["end"] - rows.columns["start"]
    known = lengths, 100 * rows.columns["gc"], rows.columns["tm"]
    for axes, values in zip(figure.axes, known, strict=True):
        points = np.concatenate([line.get_xydata() for line in axes.lines])
        first = np.where(places.minus, places.end - 1, places.start) + 0.5
        expected = np.transpose([first, values])[~np.isnan(values)]
        assert np.allclose(np.sort(points, axis=0), np.sort(expected, axis=0))
    assert written(figure.axes[0].get_legend().get_texts()) == ["+", "−"]
    names = ["first_record", "second_record", "x"]
    axes = primers_of(120, (500, 500, 20), names).draw().axes[0]
    points = np.concatenate([line.get_xydata() for line in axes.lines])
    assert (points[:, 0] > 500).sum() == 60 and written(axes.texts) == names[:2]
    none = np.full(120, np.nan)  # BED has the length alone
    assert len(primers_of(120, gc=none, tm=none).draw().axes) == 1
    assert "no primers" in texts(primers_of(0).draw())


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "hits.tsv"
    rows = [f"chr{i}\t{i * 50}\t{i * 50 + 20}\tp{i % 2}\t{i % 3}\t+\t20=\tA\n" for i in range(9)]
    path.write_text(HEADER + "".join(rows))
    return path


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_files(file, tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    assert here("plot", file, "-o", path) == (0, b"", b"")
    assert path.read_bytes().startswith(
        {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    )
    words = ("plot", "-", "-o", "-", "--format", suffix)
    draw = process if suffix == "svg" else here  # another process draws the same
    assert draw(*words, stdin=file.read_bytes()).out == path.read_bytes()


def test_the_command(file, tmp_path):
    genome, picture = tmp_path / "genome.fa", tmp_path / "a.svg"
    genome.write_text("".join(f">chr{i}\n{'A' * 5_000}\n" for i in range(20)))
    assert here("plot", file, "-o", picture, "--records", 2, "--genome", genome).status == 0
    text = picture.read_text()
    words = ("9 hits of 2 patterns in 9 records, of which the 2", "chr0", "chr1", "p0", ">5 kbp<")
    assert all(word in text for word in words) and "chr2" not in text and "<dc:date>" not in text
    assert here("plot", file, "-o", picture, "--pattern", "p1").status == 0
    assert "4 hits of 1 pattern in 4 records" in picture.read_text()
    failed(here("plot", file, "-o", picture, "--pattern", "p2"), "no row has 'p2' as its pattern")
    file.write_text(file.read_text() + "chr1\tx\n")
    failed(here("plot", file, "-o", tmp_path / "a.png"), f"{file}: line 11: 2 of the table's")
    assert not (tmp_path / "a.png").exists()
    failed(here("plot", tmp_path / "none.tsv", "-o", tmp_path / "a.png"), "cannot be read")
    file.write_text(HEADER)
    failed(here("plot", file, "-o", tmp_path / "none" / "a.png"), "make the folder")


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


def test_products_in_records_of_unlike_lengths_have_scales_of_their_own():
    text = TEXT[10:300]
    genome = kmatch.Genome.from_records([("short", text), ("long", "A" * 2610 + text)])
    figure = call(kmatch.pcr, genome, {"one": ENDS}, 0).plot()
    (short, long) = np.ptp(marks(figure)[:, :, 0], axis=1)
    assert short == pytest.approx(2900) and long == pytest.approx(290)
    names = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert names == ["short\n290 bp", "long\n2.9 kbp"] and "%" in figure.axes[0].get_xlabel()
