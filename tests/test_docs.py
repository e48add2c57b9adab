"""What the README and docs/ show is what happens, and what they name exists."""

import doctest
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from records_in_docs import TABLE, TABLES, with_tables
from support.commands import here
from support.documents import (
    DOCUMENTS,
    EXAMPLES,
    GOLDEN,
    README,
    ROOT,
    Block,
    blocks,
    furnish,
    kmatch_lines,
)

import kmatch
from kmatch.cli.command import kmatch as group

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RECORDS = ROOT / "scripts" / "results"
ALL = [*DOCUMENTS, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", RECORDS / "README.md"]
PATHS = [f"/{path.relative_to(ROOT)}" for glob in ("*", "[!.]*/**/*") for path in ROOT.glob(glob)]
CONSOLE = [block for document in DOCUMENTS for block in blocks(document, "console")]
PAGES = sorted(GOLDEN.glob("*.md"))
RUN = CONSOLE + [block for page in PAGES for block in blocks(page, "console")]
SH = [block for document in ALL for block in blocks(document, "sh")]
PYTHON = [page for page in [*DOCUMENTS, *PAGES] if blocks(page, "pycon")]


def name_of(path):
    return str(path.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(furnish(tmp_path))
    return tmp_path


@pytest.mark.parametrize("block", RUN, ids=str)
def test_commands_print_what_is_shown(block, folder):
    if lacking := block.lacks():
        pytest.skip(f"not installed: {', '.join(lacking)}")
    assert block.run(folder) == block.text


@pytest.mark.parametrize("document", PYTHON, ids=name_of)
def test_python_prints_what_is_shown(document, folder):
    shown = Block(document, 1, "\n".join(block.text for block in blocks(document, "pycon")))
    if lacking := shown.lacks():
        pytest.skip(f"not installed: {', '.join(lacking)}")
    test = doctest.DocTestParser().get_doctest(shown.text, {}, document.name, str(document), 0)
    failed, runner = [], doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(test, out=failed.append).attempted > 0
    assert failed == []


@pytest.mark.parametrize("block", SH, ids=str)
def test_commands_that_are_not_run_are_well_formed(block):
    """Files exist, and kmatch takes the options: such commands install, need a GPU or take long."""
    for path in re.findall(r"(?<![\w./-])(?:scripts|examples)/[\w./-]+", block.text):
        assert (ROOT / path).exists(), path
    parent = click.Context(group, info_name="kmatch", **group.context_settings)
    for words in kmatch_lines(block):
        command = group.commands[words[0]]
        try:
            command.make_context(words[0], words[1:], parent, resilient_parsing=True)
        except click.UsageError as error:
            pytest.fail(f"{words}: {error.format_message()}")


def headings(document):
    """The anchors of a document's headings, as hosts of Markdown make them."""
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def links(document):
    """(file, anchor) of each link into the repository."""
    for path, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", document.read_text()):
        yield (document.parent / path).resolve() if path else document, anchor


@pytest.mark.parametrize("document", ALL, ids=name_of)
def test_a_page_fits_the_repository(document):
    """Its links, the files that it quotes, by path or the end of one, and the tables of records."""
    text = document.read_text()
    assert text == with_tables(text)
    for path, anchor in links(document):
        assert path.exists() and (not anchor or anchor in headings(path)), (path, anchor)
    words = re.findall(
        r"`(\w[\w.-]*/[\w./-]*|\w+\.py)(?: [^`\n]*)?`", re.sub(r"```.*?```", "", text, flags=re.S)
    )
    ours = ("/", ".py", ".md", ".json")
    folders = ("scripts/", "tests/", "kmatch/", "docs/", "examples/", "packaging/")
    named = {word.rstrip("/") for word in words if word.endswith(ours) or word.startswith(folders)}
    missing = [name for name in named if not any(path.endswith(f"/{name}") for path in PATHS)]
    assert missing == []


def test_every_page_is_linked_and_every_table_shown():
    linked = {path for page in DOCUMENTS for path, _ in links(page)}
    assert set(DOCUMENTS) - linked <= {README}
    shown = {name for document in ALL for name in TABLE.findall(document.read_text())}
    assert shown == set(TABLES)


def test_options():
    """Every option of a search stands in the README or in docs/, and none that there is not."""
    others = re.compile("compare|design|benchmarks")  # name options of other tools and of scripts
    pages = [page for page in DOCUMENTS if not others.match(page.name)]
    pages.remove(EXAMPLES / "README.md")
    text = "\n".join(page.read_text() for page in pages)
    shown = " ".join(block.text for block in CONSOLE if block.document in pages)
    quoted = " ".join(re.findall(r"`[^`\n]+`", text)) + shown
    named = set(re.findall(r"(?<![\w-])--[a-z0-9][a-z0-9-]*", quoted))
    known = {
        name: {
            option
            for parameter in command.params
            for option in parameter.opts
            if option.startswith("--")
        }
        for name, command in group.commands.items()
    }
    searches = set(group.commands) - {"plot", "bench", "model", "info", "completion"}
    plain = {"--quiet", "--verbose", "--output", "--threads", "--pattern", "--pair"}  # as -q, …
    asked = set().union(*(known[name] for name in searches)) - plain
    assert sorted(asked - named) == []
    assert sorted(named - set().union(*known.values()) - {"--version", "--help"}) == []


def test_the_readme_is_short():
    text = README.read_text()
    assert len(text.splitlines()) <= 200
    assert len(text) <= 14_000  # nor are its lines long in place of many


def test_the_version_is_everywhere_the_packages():
    version = kmatch.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", version) and f"version {version}" in README.read_text()
    assert re.findall(r"^## \[(\d.*?)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)[0] == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert here("--version") == here("-V") == (0, f"kmatch {version}\n".encode(), b"")
    path = shutil.which("kmatch", path=Path(sys.executable).parent)
    assert subprocess.check_output([path, "--version"], text=True) == f"kmatch {version}\n"


def test_manual_pages():
    """They are as scripts/man makes them of the help, and mandoc finds nothing to say."""
    man = runpy.run_path(str(ROOT / "scripts" / "man"))
    assert man["main"](["--check"]) == 0
    pages = {path.name: path for path in (ROOT / "man").glob("*.1")}
    assert set(pages) == {"kmatch.1", *(f"kmatch-{name}.1" for name in group.commands)}
    files = PROJECT["tool"]["setuptools"]["data-files"]
    assert files == {"share/man/man1": ["man/*.1"]}
    for path in pages.values() if shutil.which("mandoc") else ():
        command = ["mandoc", "-T", "lint", "-W", "warning", path]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
        assert [line for line in said.splitlines() if "missing date" not in line] == []
