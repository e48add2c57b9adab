"""The documents name files that exist, and the records' README names every record."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "scripts" / "results"
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    RECORDS / "README.md",
]
ENGINES = [ROOT / "kmatch" / "engine" / device for device in ("cpu", "cuda")]
OLD = re.compile(r"scripts/bench_\w+\.py")  # as records of earlier scripts were made


def paths_of(document):
    """What a document quotes and looks like a file or folder of the repository."""
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.S)
    words = [quoted.split()[0] for quoted in re.findall(r"`([^`\s][^`]*)`", text)]
    links = re.findall(r"\]\(([^)#:]+)\)", text)
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


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_are_named_exist(document):
    missing = [path for path in paths_of(document) if not exists(path, document)]
    assert [path for path in missing if not OLD.fullmatch(path)] == []


def test_the_design_names_files():
    assert len(paths_of(ROOT / "docs" / "design.md")) > 40


def test_every_record_is_described():
    described = (RECORDS / "README.md").read_text()
    records = sorted(path.name for path in RECORDS.glob("*.json"))
    assert records and [name for name in records if f"`{name}`" not in described] == []
