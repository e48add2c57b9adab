"""The commands and tables of the README, of docs/ and of examples/, read and run.

A fenced block of `console` holds commands behind `$ ` and what they print. A command that is kmatch
alone runs in this process, any other one in bash. A block runs in a folder of its own, which has
`examples` of the repository in it. Blocks of `pycon` are Python's, those of one document together;
blocks of `sh` are not run, as they install something, need a GPU or take long.
"""

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

import kmatch
from support.commands import here

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
EXAMPLES = ROOT / "examples"
GOLDEN = ROOT / "tests" / "golden"
DOCUMENTS = [README, *sorted((ROOT / "docs").glob("*.md")), EXAMPLES / "README.md"]
TOOLS = {"bedtools", "samtools", "seqkit", "fuzznuc", "cutadapt", "cas-offinder", "guidescan"}
TOOLS |= {"snakemake"}
MODULES = {name: name for name in ("sassy", "edlib", "pandas")} | {"plot": "matplotlib"}
MODULES |= {"--scheduler": "distributed"}
MODULES |= {"examples/primers/run.sh": "primer3", "examples/cluster/local.py": "distributed"}
REAL = Path(os.environ.get("KMATCH_TEST_DATA", ROOT.parent / "shared" / "data"))
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
    text: str

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"

    def lacks(self) -> list[str]:
        """The tools, modules and genomes that it needs and this machine lacks."""
        there = {tool: shutil.which(tool) for tool in TOOLS} | REAL_FILES
        there |= {word: find_spec(name) for word, name in MODULES.items()}
        words = there.keys() & set(self.text.split())
        return sorted(MODULES.get(word, word) for word in words if not there[word])

    def run(self, folder: Path) -> str:
        """The block with what its commands print now, in the folder, which is the current one: on
        standard output, in golden files on standard error behind it, and how they end if not well.
        The genomes that it names are there.
        """
        said, whole = [], self.document.parent == GOLDEN
        for name in REAL_FILES.keys() & set(self.text.split()):
            (folder / name).symlink_to(REAL_FILES[name])
        for part in re.split(r"^(?=\$ )", self.text, flags=re.M):
            if command := re.match(r"\$ ((?:.*\\\n)*.*\n)", part):
                line = command[1].replace("\\\n", "").strip()
                said += [command[0], output(line, folder, whole)]
        return "".join(said)


def blocks(document: Path, language: str) -> list[Block]:
    """The blocks of a document in a language."""
    text = document.read_text()
    return [
        Block(document, text.count("\n", 0, match.start()) + 2, match[2])
        for match in FENCED.finditer(text)
        if match[1] == language
    ]


def furnish(folder: Path) -> Path:
    """Give a folder the examples, and a `bin` in which kmatch and python are those of the tests."""
    (folder / "examples").symlink_to(EXAMPLES)
    (folder / "bin").mkdir()
    for name, words in {"kmatch": "-m kmatch", "python": "", "python3": ""}.items():
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        script.chmod(0o755)
    return folder


def output(line: str, folder: Path, whole: bool) -> str:
    """What a command prints on standard output; whole: on both streams, and its status."""
    if line.startswith("kmatch ") and not SHELL.search(line):
        status, out, err = here(*shlex.split(line)[1:])
    else:
        command, env = ["bash", "-c", f"set -o pipefail; {line}"], os.environ | paths(folder)
        how = {"env": env, "stdin": subprocess.DEVNULL, "capture_output": True, "timeout": 120}
        bash = subprocess.run(command, cwd=folder, **how)
        status, out, err = bash.returncode % 141, bash.stdout, bash.stderr  # `head` had enough
    if whole:
        said = out.decode() + err.decode() + (f"[status {status}]\n" if status else "")
        return said.replace(f"VN:{kmatch.__version__}", "VN:x")
    assert status == 0, (line, err.decode())
    return out.decode()


def paths(folder: Path) -> dict[str, str]:
    """The environment in which the `bin` of a folder comes first, and kmatch is found anywhere."""
    known = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": known}


def kmatch_lines(block: Block) -> Iterator[list[str]]:
    """The words of each kmatch command in a block of `sh`, without what a shell adds."""
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0].split("/")[-1] == "kmatch":
            yield words[1:]
