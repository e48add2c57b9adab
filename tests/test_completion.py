"""`kmatch completion`: bash, zsh and fish complete what is typed, in a terminal of their own."""

import os
import shutil
import sys
from contextlib import contextmanager

import pytest
from support.commands import HEAVY, here, loaded, misused, process
from support.terminals import Terminal

SHELLS = {
    "bash": ("--norc", "--noprofile", "-i"),
    "zsh": ("--no-rcs", "-i"),
    "fish": ("--no-config", "--private", "-i"),
}
PREPARE = {
    "bash": 'PS1="> "; eval "$(kmatch completion bash)"',
    "zsh": 'PS1="> "; autoload -U compinit; compinit -u; eval "$(kmatch completion zsh)"',
    "fish": 'function fish_prompt; echo "> "; end; kmatch completion fish | source',
}
# What is typed before the tabulator, and what the line is then.
TYPED = {
    "kmatch hamm": "kmatch hamming ",
    "kmatch edit --max-mis": "kmatch edit --max-mismatches ",
    "kmatch edit --report lo": "kmatch edit --report loci ",
    "kmatch hamming --format vi": "kmatch hamming --format view ",
    "kmatch hamming --algorithm opt": "kmatch hamming --algorithm opt-block-thread ",
    "kmatch hamming --device cp": "kmatch hamming --device cpu ",
    "kmatch hamming hum": "kmatch hamming human.fa ",
    "kmatch hamming human.fa gui": "kmatch hamming human.fa guides.txt ",
    "kmatch edit --regions ex": "kmatch edit --regions exons.bed ",
    "kmatch completion fi": "kmatch completion fish ",
}


@pytest.fixture
def folder(tmp_path):
    """A folder with files to complete, and beside it one with the command."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "kmatch").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kmatch "$@"\n')
    (tmp_path / "bin" / "kmatch").chmod(0o755)
    (tmp_path / "data").mkdir()
    for name in ("human.fa", "guides.txt", "exons.bed"):
        (tmp_path / "data" / name).write_text("")
    return tmp_path


@contextmanager
def ready(shell, folder):
    """Give the Terminal of a shell that has been told how to complete."""
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    environment = {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "share"),
        "TERM": "xterm",
    }
    command = [shutil.which(shell), *SHELLS[shell]]
    with Terminal(command, 120, rows=50, cwd=folder / "data", **environment) as terminal:
        terminal.type(f'{PREPARE[shell]}; echo rea""dy\n')
        terminal.wait_for("\nready\n>")  # and the shell reads what is typed
        yield terminal


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes(shell, folder):
    with ready(shell, folder) as terminal:
        for number, (typed, line) in enumerate(TYPED.items()):
            # Behind the completed line a mark, which shows how it ended.
            terminal.type(f"{typed}\t")
            terminal.wait_for(f"> {line.rstrip()}")
            terminal.type(f"=={number}")
            terminal.wait_for(f"> {line}=={number}")
            terminal.type("\x15")  # which empties the line
            terminal.wait_for(f"=={number}", gone=True)


def test_bash_lists_values(folder):
    with ready("bash", folder) as terminal:
        terminal.type("kmatch hamming --format \t\t")
        terminal.wait_for("gff3")
        assert {"bed", "tsv", "sam", "view"} <= set(terminal.text.split())


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_light(shell):
    body = "from kmatch.cli.main import run; run(sys.argv[1:])"
    status, modules = loaded(body, "completion", shell)
    assert status == 0 and modules & HEAVY == set()
    at = "ham" if shell == "fish" else "1"
    words = {"COMP_WORDS": "kmatch ham", "COMP_CWORD": at, "_KMATCH_COMPLETE": f"{shell}_complete"}
    assert "hamming" in process(env=os.environ | words).out.decode()


def test_other_shells():
    misused(here("completion", "tcsh"), "'bash', 'zsh', 'fish'")
    misused(here("completion"), "as in: eval")
