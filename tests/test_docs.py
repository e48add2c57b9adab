"""What the README and docs/ show is what happens, and what they name exists."""

import doctest
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from records_in_docs import TABLE, TABLES, with_tables
from support.commands import here
from support.documents import (
    DOCUMENTS,
    MODULES,
    README,
    ROOT,
    blocks,
    commands,
    furnish,
    kmatch_lines,
    parsed_python,
    run,
)

import kmatch
from kmatch.cli.command import kmatch as group

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RECORDS = ROOT / "scripts" / "results"
ALL = [*DOCUMENTS, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", RECORDS / "README.md"]
ENGINES = [ROOT / "kmatch" / "engine" / device for device in ("cpu", "cuda")]
OLD = re.compile(r"scripts/bench_\w+\.py")  # as records of earlier scripts were made
CONSOLE = [block for document in DOCUMENTS for block in blocks(document, "console")]
SH = [block for document in ALL for block in blocks(document, "sh")]
PYTHON = [document for document in DOCUMENTS if blocks(document, "pycon")]


def name_of(path):
    return str(path.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(furnish(tmp_path))
    return tmp_path


@pytest.mark.parametrize("block", CONSOLE, ids=str)
def test_commands_print_what_is_shown(block, folder):
    lacking = {tool for command in commands(block.text) for tool in command.lacks()}
    if lacking:
        pytest.skip(f"not installed: {', '.join(sorted(lacking))}")
    for command in commands(block.text):
        assert run(command, folder) == command.output, command.line


@pytest.mark.parametrize("document", PYTHON, ids=name_of)
def test_python_prints_what_is_shown(document, folder):
    test = parsed_python(document)
    lacking = [name for name in sorted(MODULES) if f"import {name}" in test.docstring]
    if lacking := [name for name in lacking if not find_spec(name)]:
        pytest.skip(f"not installed: {', '.join(lacking)}")
    failed = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(test, out=failed.append).attempted > 0
    assert failed == []


@pytest.mark.parametrize("block", SH, ids=str)
def test_commands_that_are_not_run_are_well_formed(block):
    """Files exist, and kmatch takes the options: such commands install, need a GPU or take long."""
    for path in re.findall(r"(?<![\w./-])(?:scripts|examples)/[\w./-]+", block.text):
        assert (ROOT / path).exists(), path
    for words in kmatch_lines(block):
        command = group.commands[words[0]]
        try:
            command.make_context(words[0], words[1:], resilient_parsing=True)
        except click.UsageError as error:
            pytest.fail(f"{words}: {error.format_message()}")


@pytest.mark.parametrize("document", ALL, ids=name_of)
def test_tables_are_those_of_the_records(document):
    text = document.read_text()
    assert text == with_tables(text)


def test_every_table_is_in_a_document():
    shown = {name for document in ALL for name in TABLE.findall(document.read_text())}
    assert shown == set(TABLES)


def paths_of(document):
    """What a document quotes and looks like a file or folder of the repository."""
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.S)
    words = [quoted.split()[0] for quoted in re.findall(r"`([^`\s][^`]*)`", text)]
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    named = [word for word in words if "/" in word and re.fullmatch(r"[\w./-]+", word)]
    return {word for word in (*named, *links) if word.endswith(("/", ".py", ".md", ".json"))} | {
        word for word in named if word.startswith(("scripts/", "tests/", "kmatch/", "docs/"))
    }


def exists(path, document):
    """Whether there is such a file: from the root, the document, the package, or in an engine."""
    beside = [ROOT, document.parent, ROOT / "kmatch", *ENGINES, ROOT / "scripts"]
    return any((folder / path).exists() for folder in beside) or (
        path.count("/") == 1  # a folder, in a row of the table that names its parent
        and any(next((ROOT / name).rglob(path), None) for name in ("kmatch", "scripts", "tests"))
    )


@pytest.mark.parametrize("document", ALL, ids=name_of)
def test_files_that_are_named_exist(document):
    missing = [path for path in paths_of(document) if not exists(path, document)]
    assert [path for path in missing if not OLD.fullmatch(path)] == []


def headings(document):
    """The anchors of a document's headings, as hosts of Markdown make them."""
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", ALL, ids=name_of)
def test_links_lead_to_headings(document):
    for path, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", document.read_text()):
        target = (document.parent / path).resolve() if path else document
        assert anchor in headings(target), f"{path}#{anchor}"


def test_every_page_is_linked():
    """From the README, or from a page that is linked there."""
    linked = {(page.parent / path).resolve() for page in DOCUMENTS for path in paths_of(page)}
    assert [page for page in DOCUMENTS if page != README and page not in linked] == []


def test_options():
    """Every option of a search stands in the README or in docs/, and none that there is not."""
    others = {"compare.md", "design.md", "scale.md"}  # name options of other tools and of scripts
    pages = [document for document in DOCUMENTS if document.name not in others]
    text = "\n".join(page.read_text() for page in pages)
    shown = " ".join(block.text for block in CONSOLE if block.document in pages)
    quoted = " ".join(re.findall(r"`[^`\n]+`", text)) + shown
    named = set(re.findall(r"(?<![\w-])--[a-z0-9][a-z0-9-]*", quoted))
    known = {
        option: name
        for name, command in group.commands.items()
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--")
    }
    searches = {"hamming", "multi", "edit", "best", "pcr", "primer", "pack"}
    plain = {"--quiet", "--verbose", "--output", "--threads", "--pattern", "--pair"}  # as -q, …
    asked = {option for option, name in known.items() if name in searches} - plain
    assert sorted(asked - named) == []
    assert sorted(named - set(known) - {"--version", "--help"}) == []


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
    command = [sys.executable, ROOT / "scripts" / "man", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    pages = {path.name: path for path in (ROOT / "man").glob("*.1")}
    assert set(pages) == {"kmatch.1", *(f"kmatch-{name}.1" for name in group.commands)}
    files = PROJECT["tool"]["setuptools"]["data-files"]
    assert files == {"share/man/man1": ["man/*.1"]}
    for path in pages.values() if shutil.which("mandoc") else ():
        command = ["mandoc", "-T", "lint", "-W", "warning", path]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
        assert [line for line in said.splitlines() if "missing date" not in line] == []
