"""Pages for browsers: the closest rows, sorted and searched, and nothing from elsewhere."""

import base64
import io
import re
import shutil
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from Bio.Seq import Seq
from hypothesis import given, settings
from hypothesis import strategies as st
from support.commands import failed, here
from support.searches import TEXT, call

import kmatch

pytest.importorskip("jinja2", reason="Jinja2 is not installed: pip install jinja2")
pytest.importorskip("matplotlib", reason="Matplotlib is not installed: pip install matplotlib")

from markupsafe import escape

from kmatch.pictures import report
from kmatch.pictures.meanings import meaning_of
from kmatch.pictures.report import Closest, aligned
from kmatch.results.assays import Assays
from kmatch.results.batches import no_hits
from kmatch.results.guides import Guides
from kmatch.results.lines import heading_of
from kmatch.results.table import Hits, Products

SCRIPT = "<script>alert(1)</script>"
GUIDE = TEXT[200:220]


def genome_of(*records):
    return kmatch.Genome.from_records(records)


def hits_of(distances, patterns=None):
    """A HitBatch of hits one behind another."""
    count = len(distances)
    numbers = np.zeros(count, np.int32) if patterns is None else np.array(patterns, np.int32)
    begin = np.arange(count, dtype=np.int64)
    batch = no_hits()
    return type(batch)(
        np.zeros(count, np.int64),
        begin,
        begin + 9,
        {0: "r"},
        numbers,
        np.array(distances, np.int32),
        np.zeros(count, np.uint8),
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=9), max_size=6),
    st.integers(1, 6),
    st.booleans(),
)
def test_the_closest_are_kept(batches, most, by_pattern):
    """Of equally close rows the first ones, in memory that goes by those kept."""
    report.WAITING, waiting = 3, report.WAITING
    try:
        closest = Closest(most, by_pattern)
        for number, rows in enumerate(batches):
            distances = [distance for distance, _ in rows]
            batch = hits_of(distances, [pattern for _, pattern in rows])
            closest.add(replace(batch, names={0: str(number)}))
        kept = closest.batches()
    finally:
        report.WAITING = waiting
    rows = [(n, i, *row) for n, batch in enumerate(batches) for i, row in enumerate(batch)]
    expected = []
    for pattern in range(3) if by_pattern else [None]:
        of_pattern = [row for row in rows if pattern in (None, row[3])]
        expected += sorted(of_pattern, key=lambda row: row[2])[:most]
    found = [
        (int(batch.names[0]), start, distance, pattern)
        for batch in kept
        for start, distance, pattern in zip(
            batch.start.tolist(), batch.distance.tolist(), batch.pattern.tolist(), strict=True
        )
    ]
    assert found == sorted(expected) and closest.rows == len(rows)


def test_sites_of_many_guides_are_fewer_each(monkeypatch):
    monkeypatch.setattr(report, "KEPT", 8)
    closest = Closest(100, by_pattern=True)
    closest.add(hits_of([0] * 12, [0] * 9 + [1] * 3))
    (batch,) = closest.batches()
    assert batch.pattern.tolist() == [0] * 3 + [1] * 3  # 100, 50, 25, 12, 6, 3


def test_alignments_are_drawn():
    """
    ACGT with 2=1D2=, beside a PAM of three letters

    AC-GTAGG     TTTAC-GT
    || |||||     ||||| ||
    ACTGTAGG     TTTACTGT
    """
    assert aligned("ACGT", "2=1D5=", "ACTGTAGG", False) == ("AC-GTAGG", "|| |||||", "ACTGTAGG")
    assert aligned("ACGT", "5=1D2=", "TTTACTGT", True) == ("TTTAC-GT", "||||| ||", "TTTACTGT")
    assert aligned("ACGT", "1=1I2X", "AAA", False) == ("ACGT", "|", "A-AA")


def test_every_column_has_a_meaning():
    tables = (Hits, Products, Guides, Assays)
    names = {heading_of(name) for table in tables for name in table._declared}
    names |= {"d3", "specificity_mit", "cfd", "mit", "rank", "products", "amplified", "total"}
    hidden = {name for name in names if name.endswith("_number")}
    assert not [name for name in names - hidden if not meaning_of(name)]
    assert meaning_of("d3") == "sites or hits with 3 differences"


@pytest.fixture(scope="module")
def genome(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "genome.fa"
    other = str(Seq(GUIDE[:7] + "A" + GUIDE[8:] + "AGG").reverse_complement())
    path.write_text(f">{SCRIPT}\n{TEXT[:200]}{GUIDE}TGG{TEXT[:90]}{other}\n>b\n{TEXT[200:420]}\n")
    return path


def made(tmp_path, *words):
    """The text of the page that a command makes."""
    page = tmp_path / "page.html"
    done = here(*words, "-o", tmp_path / "table.tsv", "--html", page, "--device", "cpu")
    assert (done.status, done.out) == (0, b""), done.err
    return page.read_text()


@pytest.mark.parametrize("command", ["multi", "edit", "pcr", "guides", "assay"])
def test_pages_of_commands(genome, tmp_path, command):
    panel = tmp_path / "panel.txt"
    panel.write_text(f"{SCRIPT}\t{GUIDE}\nnone\t{'ACGT' * 5}\n")
    pairs = tmp_path / "pairs.tsv"
    reverse = str(Seq(TEXT[270:290]).reverse_complement())
    pairs.write_text(f"{SCRIPT}\t{TEXT[220:240]}\t{reverse}\nnone\t{'ACGT' * 5}\t{'TTGA' * 5}\n")
    words = {
        "multi": (genome, panel, "-k", 3, "--pam", "NGG", "--score", "cfd"),
        "edit": (genome, panel, "-k", 2),
        "pcr": (genome, pairs, "-k", 1),
        "guides": (genome, genome, "-k", 3),
        "assay": (pairs, genome, "-k", 1),
    }[command]
    text = made(tmp_path, command, *words)
    assert text.startswith("<!DOCTYPE html>")
    assert SCRIPT not in text and text.count("<script") == 1 and text.count("<svg") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    loaded = set(re.findall(r"""(?:src|href)=["']([^"'#]*)""", text))
    assert all(url.startswith("data:") for url in loaded - {""}), loaded
    rows = (tmp_path / "table.tsv").read_text().splitlines()[1:]
    assert re.search(rf"<title>kmatch {command}: {len(rows)} ", text)
    for line in rows[:3]:
        assert f"<td>{escape(line.split(chr(9))[1])}" in text
    for name in ("start", "strand") if command != "assay" else ("amplifies",):
        assert f"<dt>{name}<dd>{escape(meaning_of(name))}" in text
    again = made(tmp_path, command, *words)
    seconds = re.compile(r"in [\d.]+ s on cpu")
    assert seconds.sub("", again) == seconds.sub("", text)  # the same bytes each time


def test_columns_are_those_asked_for(genome, tmp_path):
    """Also where a picture needs others."""
    asked = ("--columns", "start,flank_5p,distance")
    text = made(tmp_path, "multi", genome, "-p", GUIDE, "-k", 3, *asked)
    rows = (tmp_path / "table.tsv").read_text().splitlines()[1:]
    rows.sort(key=lambda row: int(row.split("\t")[2]))
    assert [row.replace("\t", "<td>") for row in rows] == re.findall(r"<tr><td>(\d+<td>.*)", text)
    assert f"kmatch multi: {len(rows)} hits" in text and text.count("<svg") == 1 < len(rows)


def test_sites_of_guides(genome, tmp_path):
    text = made(tmp_path, "guides", genome, genome, "-k", 3)
    part = text[text.index(f">{GUIDE}</button>") :]
    part = part[: part.index("<tbody><tr><td>", part.index("<tbody>") + 9)]
    above, marks, below = re.findall(r"<pre>(.*)\n(.*)\n(.*)</pre>", part)[-1]
    assert above == f"{GUIDE}AGG" and marks[7] == " " and marks.replace(" ", "") == "|" * 22
    assert below == f"{GUIDE[:7]}A{GUIDE[8:]}AGG"
    ranks = re.findall(r"<tbody><tr><td>(\d+)<td>", text)
    assert list(map(int, ranks)) == list(range(1, len(ranks) + 1)) and len(ranks) > 5


def test_verdicts_of_assays(genome, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    reverse = str(Seq(TEXT[270:290]).reverse_complement())
    pairs.write_text(f"some\t{TEXT[220:240]}\t{reverse}\nnone\t{'ACGT' * 5}\t{'TTGA' * 5}\n")
    text = made(tmp_path, "assay", pairs, genome, "-k", 1)
    assert f'<tr><td>{genome}<td class="yes">yes, 0<td class="no">no' in text


def test_rows_are_the_closest(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "ROWS", 4)
    monkeypatch.setattr(Closest.__init__, "__defaults__", (4, False))
    rows = call(kmatch.hamming, genome_of(("r", TEXT[:300])), "ACGTACGT", 5)
    page = io.BytesIO()
    rows.to_html(page)
    text = page.getvalue().decode()
    assert f"The closest 4 of {len(rows)} hits" in text and f"the 4 closest of {len(rows)}" in text
    assert text.count("<tr><td>r<td>") == 4
    order = np.argsort(rows.distance, kind="stable")[:4]
    starts = [int(start) for start in re.findall(r"<tr><td>r<td>(\d+)", text)]
    assert starts == rows.start[order].tolist()


@pytest.mark.parametrize("module", ["jinja2", "matplotlib.figure"])
def test_without_the_extra(genome, tmp_path, monkeypatch, module):
    """It is told before the search, and nothing is written."""
    monkeypatch.setitem(sys.modules, module, None)
    paths = [tmp_path / name for name in ("t.tsv", "t.html")]
    words = (genome, "-p", GUIDE, "-k", 2, "-o", paths[0], "--html", paths[1])
    failed(here("multi", *words), "a page needs", "pip install")
    assert not any(path.exists() for path in paths)


def test_wrong_usage(genome, tmp_path):
    done = here("multi", genome, "-p", GUIDE, "-k", 2, "--summary-only", "--html", tmp_path / "a")
    assert done.status == 2 and b"leave --html out" in done.err


@pytest.fixture(scope="module")
def browser():
    """Chromium, without a screen; it keeps a log of errors and of all that it loads."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="Selenium is not installed")
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if not all(programs):
        pytest.skip("Chromium and chromedriver are not installed: apt-get install chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location, driver = programs
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        opened = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield opened
    opened.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with ten thousand rows of more."""
    draw = np.random.default_rng(3)
    records = genome_of((SCRIPT, "".join(draw.choice([*"ACGT"], 30_000))), ("b", TEXT))
    rows = call(kmatch.hamming, records, {"p10": "ACGTACGT", "p9": "TTGACCTA", "p100": "A" * 9}, 4)
    assert len(rows) > 10_000
    path = tmp_path_factory.mktemp("page") / "page.html"
    rows.to_html(path)
    return path


def column(browser, number):
    """The words of a column of the rows' table, as it stands."""
    return browser.execute_script(
        "return [...document.querySelector('#rows-table').tBodies[0].rows]"
        f".filter(row => !row.hidden).map(row => row.cells[{number}].textContent.trim())"
    )


def test_ten_thousand_rows_in_a_browser(browser, page):
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(page.as_uri())
    took = "return performance.getEntriesByType('navigation')[0].loadEventEnd"
    assert 0 < browser.execute_script(took) < 3_000  # milliseconds
    heads = browser.find_elements("css selector", "#rows-table thead button")
    names = [head.text for head in heads]
    start, pattern = names.index("start"), names.index("pattern")
    assert len(column(browser, start)) == 10_000

    # Numbers are sorted as numbers, words as words, and a second click turns the order round.
    heads[start].click()
    starts = [int(word) for word in column(browser, start)]
    assert starts == sorted(starts) and starts[0] < 100 < 10_000 < starts[-1]
    cell = heads[start].find_element("xpath", "..")
    assert cell.get_attribute("aria-sort") == "ascending"
    heads[start].click()
    assert [int(word) for word in column(browser, start)] == sorted(starts, reverse=True)
    assert cell.get_attribute("aria-sort") == "descending"
    heads[pattern].click()
    words = column(browser, pattern)
    assert words == sorted(words, key=lambda word: int(word[1:])) and len(set(words)) == 3
    assert cell.get_attribute("aria-sort") == "none"

    # The search narrows, and says to how many rows.
    search = browser.find_element("css selector", "section:has(#rows-table) input")
    search.send_keys("P9")
    narrowed = column(browser, pattern)
    assert set(narrowed) == {"p9"} and len(narrowed) == words.count("p9")
    said = browser.find_element("css selector", "section:has(#rows-table) [role=status]").text
    assert said == f"{len(narrowed):,} of 10,000 rows"
    search.clear()
    search.send_keys(SCRIPT[:8])
    assert set(column(browser, 0)) == {SCRIPT}

    # Names are text, nothing comes from elsewhere, and nothing is wrong.
    assert browser.execute_script("return document.scripts.length") == 1
    assert browser.get_log("browser") == []
    sent = [entry["message"] for entry in browser.get_log("performance")]
    urls = {re.search(r'"url":"([^"]*)"', each)[1] for each in sent if "requestWillBeSent" in each}
    assert {url for url in urls if not url.startswith("data:")} == {page.as_uri()}


def test_keyboard_dark_and_print(browser, genome, tmp_path):
    from selenium.webdriver.common.keys import Keys

    made(tmp_path, "guides", genome, genome, "-k", 3)
    browser.get((tmp_path / "page.html").as_uri())
    search = browser.find_element("css selector", "section:has(#guides-table) input")
    assert search.accessible_name == "Search"
    search.send_keys(Keys.TAB)
    browser.switch_to.active_element.send_keys(Keys.TAB)  # the table scrolls, and has focus
    head = browser.switch_to.active_element
    assert head.text == "rank" and head.aria_role == "button"
    head.send_keys(Keys.ENTER)
    assert head.find_element("xpath", "..").get_attribute("aria-sort") == "ascending"
    # A guide opens by keyboard too, and takes its sites along.
    opens = browser.find_element("css selector", ".opens")
    sites = browser.find_element("css selector", ".opened")
    assert not sites.is_displayed()
    opens.send_keys(Keys.ENTER)
    assert sites.is_displayed() and opens.get_attribute("aria-expanded") == "true"
    head.send_keys(Keys.ENTER)
    last = browser.find_elements("css selector", "#guides-table > tbody")[-1]
    assert last.find_element("css selector", ".opened").is_displayed()

    colour = "return getComputedStyle(document.body).backgroundColor"
    emulate = "Emulation.setEmulatedMedia"
    scheme = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd(emulate, {"features": scheme})
    assert browser.execute_script(colour) == "rgb(23, 25, 28)"
    browser.execute_cdp_cmd(emulate, {"media": "print", "features": scheme})
    assert browser.execute_script(colour) == "rgb(255, 255, 255)"
    rows = browser.find_elements("css selector", "#guides-table > tbody > tr:first-child")
    assert len(rows) > 5 and all(row.is_displayed() for row in rows)
    assert not search.is_displayed()
    grid = browser.find_element("css selector", "section:has(#guides-table) .grid")
    assert grid.value_of_css_property("max-height") == "none"
    browser.execute_cdp_cmd(emulate, {"media": "", "features": []})
    assert base64.b64decode(browser.print_page()).startswith(b"%PDF")
