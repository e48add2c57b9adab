"""The commands and tables of the README, of docs/ and of examples/, read and run.

A fenced block of `console` holds commands behind `$ ` and what they print. A command that is kmatch
alone runs in this process, any other one in bash. A block runs in a folder of its own, which has
`examples` of the repository in it. Blocks of `pycon` are Python's, those of one document together;
blocks of `sh` are not run, as they install something, need a GPU or take long.
"""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from support.commands import here

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
EXAMPLES = ROOT / "examples"
DOCUMENTS = [README, *sorted((ROOT / "docs").glob("*.md")), EXAMPLES / "README.md"]
TOOLS = {"bedtools", "samtools", "seqkit", "fuzznuc", "cutadapt", "cas-offinder", "guidescan"}
TOOLS |= {"snakemake"}
SCRIPTS = {"examples/primers/run.sh": "primer3", "examples/cluster/local.py": "distributed"}
MODULES = {"sassy", "edlib", "pandas"}
REAL = Path(
    os.environ.get("KMATCH_TEST_DATA", ROOT.parent / "shared" / "data")
)  # as conftest has it
REAL_FILES = {  # that documents name, where they are
    name: next(REAL.glob(f"**/{name}"), None)
    for name in ("artic_ncov_V4.1.primer.bed", "sarscov2_mn908947.fa.gz", "mers_cov_panel.fa.gz")
}
SHELL = re.compile(r"[|&;<>()$`*?]")
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


class Block(NamedTuple):
    """A fenced block: its document, the number of its first line, and what it holds."""

    document: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


class Command(NamedTuple):
    """A command of a block, and what it is to print."""

    line: str
    output: str

    def lacks(self) -> list[str]:
        """The tools and genomes that it needs and this machine lacks."""
        words = set(self.line.split())
        tools = [word for word in TOOLS & words if not shutil.which(word)]
        modules = [SCRIPTS[word] for word in SCRIPTS.keys() & words]
        tools += [name for name in modules if not find_spec(name)]
        return sorted(tools + [word for word in REAL_FILES.keys() & words if not REAL_FILES[word]])


def blocks(document: Path, *languages: str) -> list[Block]:
    """The blocks of a document in one of the languages."""
    text = document.read_text()
    found = []
    for match in FENCED.finditer(text):
        if match[1] in languages:
            found.append(Block(document, text.count("\n", 0, match.start()) + 2, *match.groups()))
    return found


def commands(text: str) -> list[Command]:
    """The commands of a block of `console`; a backslash continues one on the next line."""
    found = []
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        line = re.match(r"(?:.*\\\n)*.*\n", part)[0]
        found.append(Command(line.replace("\\\n", "").strip(), part[len(line) :]))
    return found


def furnish(folder: Path) -> Path:
    """Give a folder the examples, and a `bin` in which kmatch and python are those of the tests."""
    (folder / "examples").symlink_to(EXAMPLES)
    for name, path in REAL_FILES.items():
        if path:
            (folder / name).symlink_to(path)
    (folder / "bin").mkdir()
    for name, words in {"kmatch": "-m kmatch", "python": "", "python3": ""}.items():
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        script.chmod(0o755)
    return folder


def run(command: Command, folder: Path) -> str:
    """What a command prints on standard output, in the folder, which is the current one."""
    if command.line.startswith("kmatch ") and not SHELL.search(command.line):
        done = here(*shlex.split(command.line)[1:])
        assert done.status == 0, done.err.decode()
        return done.out.decode()
    bash = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command.line}"],
        cwd=folder,
        env=os.environ | paths(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert bash.returncode in (0, 141), bash.stderr  # 141: `head` had enough
    return bash.stdout


def paths(folder: Path) -> dict[str, str]:
    """The environment in which the `bin` of a folder comes first, and kmatch is found anywhere."""
    known = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": known}


def parsed_python(document: Path) -> doctest.DocTest:
    """The Python blocks of a document as one doctest."""
    text = "\n".join(block.text for block in blocks(document, "pycon"))
    return doctest.DocTestParser().get_doctest(text, {}, document.name, str(document), 0)


def rewritten(document: Path, outputs: dict[str, str]) -> str:
    """The document with other outputs, by command line as it is written."""

    def block(match: re.Match[str]) -> str:
        if match[1] != "console":
            return match[0]
        parts = re.split(r"^(?=\$ )", match[2], flags=re.M)
        return f"```console\n{''.join(map(part, parts))}```"

    def part(text: str) -> str:
        if not text.startswith("$ "):
            return text
        (command,) = commands(text)
        written = text[: len(text) - len(command.output)]
        return written + outputs.get(command.line, command.output)

    return FENCED.sub(block, document.read_text())


def kmatch_lines(block: Block) -> Iterator[list[str]]:
    """The words of each kmatch command in a block of `sh`, without what a shell adds."""
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0].split("/")[-1] == "kmatch":
            yield words[1:]
