"""kmatch plot: files and sizes, what is chosen of a table, and what a report of --json adds."""

import json
import os
import struct

import pytest
from support.commands import failed, here, process
from support.searches import ENDS, HEADER, TEXT

pytest.importorskip("matplotlib", reason="Matplotlib is not installed: pip install matplotlib")

from kmatch.pictures.tables import read_table


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
    assert here("plot", file, "-o", picture, "--most", 2, "--genome", genome).status == 0
    text = picture.read_text()
    words = ("9 hits of 2 patterns in 9 records, of which the 2", "chr0", "chr1", "p0", ">5 kbp<")
    assert all(word in text for word in words) and "chr2" not in text and "<dc:date>" not in text
    assert here("plot", file, "-o", picture, "--pattern", "p1").status == 0
    assert "4 hits of 1 pattern in 4 records" in picture.read_text()
    file.write_text(file.read_text() + "chr1\tx\n")
    failed(here("plot", file, "-o", tmp_path / "a.png"), f"{file}: line 11: 2 of the table's")
    assert not (tmp_path / "a.png").exists()


def test_size_dots_and_title(file, tmp_path):
    picture = tmp_path / "a.png"
    asked = ("--size", "4x2.5", "--dpi", 100, "--title", "of $x_1$ & <b>")
    assert here("plot", file, "-o", picture, *asked) == (0, b"", b"")
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    assert (width, height) == (400, 250)
    assert here("plot", file, "-o", tmp_path / "a.svg", *asked).status == 0
    assert "of $x_1$ &amp; &lt;b&gt;" in (tmp_path / "a.svg").read_text()
    for option, wrong in (("--size", "4 4x 1x5 31x5 x 4x5x6"), ("--dpi", "49 601")):
        for value in wrong.split():
            done = here("plot", file, "-o", picture, option, value)
            assert done.status == 2 and option.encode() in done.err


def test_lengths_and_pairs_of_a_report(tmp_path):
    """What --json has tells plot where records end, and which pairs have no product."""
    genome, pairs = tmp_path / "g.fa", tmp_path / "pairs.tsv"
    genome.write_text(f">one\n{TEXT[:700]}\n>two\n{TEXT[:90]}\n")
    pairs.write_text(f"found\t{ENDS[0]}\t{ENDS[1]}\nnone\t{'ACGT' * 5}\t{'TTGA' * 5}\n")
    table, report, picture = tmp_path / "t.tsv", tmp_path / "t.json", tmp_path / "a.svg"
    done = here("pcr", genome, pairs, "-k", 0, "-o", table, "--json", report, "--device", "cpu")
    assert done.status == 0
    facts = json.loads(report.read_text())
    assert facts["lengths"] == {"one": 700, "two": 90}
    assert facts["pairs"] == [{"pair": "found", "products": 1}, {"pair": "none", "products": 0}]
    assert here("plot", table, "--json", report, "-o", picture).status == 0
    drawn = picture.read_text()
    assert ">none<" in drawn and "1 product of 2 pairs" in drawn and "not known" not in drawn
    read = read_table(table, report=report)
    assert read.places(9).lengths.tolist() == [700]
    assert read.columns["name"].words == ["found", "none"]
    report.write_text(json.dumps(facts | {"lengths": {"one": 9}}))
    failed(here("plot", table, "--json", report, "-o", picture), "beyond the 9 letters of 'one'")
    for text in ("{}", "[1]", "x"):
        report.write_text(text)
        failed(here("plot", table, "--json", report, "-o", picture), "no report of --json")


def test_the_command_needs_no_home(file, tmp_path):
    known = {name: value for name, value in os.environ.items() if name != "MPLCONFIGDIR"}
    homeless = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), "/proc/nothing")
    environment = known | homeless | {"TMPDIR": str(tmp_path)}
    told = process("plot", file, "-o", tmp_path / "a.svg", env=environment)
    assert (told.status, told.out, told.err) == (0, b"", b"")
