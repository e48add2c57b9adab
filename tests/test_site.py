"""The site that mkdocs.yml makes: every page is in it, with the help of what is public."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest
from support.documents import ROOT

import kmatch

needs_mkdocs = pytest.mark.skipif(
    not (find_spec("mkdocs") and find_spec("mkdocstrings")),
    reason="not installed: mkdocs (pip install '.[docs]')",
)
API = (ROOT / "docs" / "api.md").read_text()


def build(folder):
    """Build the site of a copy of the repository; returns MkDocs's status, and what it says."""
    command = (sys.executable, "-m", "mkdocs", "build", "--strict")  # --quiet hears no warnings
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, capture_output=True, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A folder with what the site is made of."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "examples", "scripts"):
        shutil.copytree(ROOT / name, folder / name)
    for path in (*ROOT.glob("[A-Z]*"), ROOT / "mkdocs.yml"):
        shutil.copy(path, folder)
    (folder / "kmatch").symlink_to(ROOT / "kmatch")
    return folder


@needs_mkdocs
def test_the_site_holds_every_page(copy):
    status, said = build(copy)
    assert status == 0, said
    site = copy / "build" / "site"
    for page in (ROOT / "docs").glob("*.md"):
        assert (site / page.stem / "index.html").exists(), page
    assert "Which command do I want?" in (site / "index.html").read_text()  # of the README
    assert (site / "examples" / "off_targets" / "run.sh").exists()

    found = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    pages = {entry["location"].split("/")[0] for entry in found if "minima" in entry["text"]}
    assert {"hits", "api"} <= pages

    shown = re.sub(r"<[^>]+>", "", (site / "api" / "index.html").read_text())
    assert "hamming(" in shown and "exact_3p" in shown and "to_bed" in shown


@needs_mkdocs
@pytest.mark.parametrize(
    "text", ["[no page](nowhere.md)", "[no heading](hits.md#nowhere)", "[no file](../NOWHERE)"]
)
def test_a_link_to_nothing_fails(copy, text):
    page = copy / "docs" / "hits.md"
    before = page.read_text()
    page.write_text(f"{before}\n{text}\n")
    status, said = build(copy)
    page.write_text(before)
    assert status == 1 and "hits.md" in said and "nowhere" in said.lower()


@needs_mkdocs
def test_a_page_without_a_place_in_the_navigation_fails(copy):
    page = copy / "docs" / "lost.md"
    page.write_text("# Lost\n")
    status, said = build(copy)
    page.unlink()
    assert status == 1 and "lost.md" in said


def test_the_page_of_functions_has_all_that_is_public():
    shown = re.findall(r"^<!-- help: kmatch\.(\w+) -->$", API, re.M)
    assert sorted(shown) == sorted({*kmatch.__all__} - {"__version__"})
