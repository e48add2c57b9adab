"""The commands themselves: help, versions, what they load, and what they say about the machine."""

import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest
from support.commands import HEAVY, here, loaded, process

import kmatch
from kmatch.cli.command import kmatch as group

LIGHT = {
    "help": ("--help",),
    "version": ("--version",),
    "help of a command": ("hamming", "--help"),
    "nothing": (),
    "unknown command": ("hammer",),
    "unknown option": ("hamming", "g.fa", "--mismatches", "3"),
    "no k": ("hamming", "g.fa", "-p", "ACGT"),
    "negative k": ("hamming", "g.fa", "-p", "ACGT", "-k", "-1"),
    "patterns twice": ("hamming", "g.fa", "p.txt", "-p", "ACGT", "-k", "1"),
    "no patterns": ("hamming", "g.fa", "-k", "1"),
    "standard input twice": ("hamming", "-", "-", "-k", "1"),
    "primers twice": ("pcr", "g.fa", "p.txt", "-p", "ACGT", "ACGA", "-k", "1"),
    "no such product": ("pcr", "g.fa", "p.txt", "-k", "1", "--product", "500"),
    "no name for a packed genome": ("pack", "-"),
    "a genome packed over itself": ("pack", "g.fa", "-o", "./g.fa"),
    "versions": ("info", "--short"),
    "versions and compiling": ("info", "--short", "--compile"),
    "unknown strand": ("hamming", "g.fa", "-p", "ACGT", "-k", "1", "--strand", "x"),
}


@pytest.mark.parametrize("name", LIGHT)
def test_help_and_usage_errors_wait_for_nothing(name):
    body = "from kmatch.cli.main import run; run(sys.argv[1:])"
    status, modules = loaded(body, *LIGHT[name])
    assert status == 0 and "kmatch" in modules
    assert modules & HEAVY == set()


def test_import_waits_for_nothing():
    status, modules = loaded("import kmatch; kmatch.__version__; dir(kmatch)")
    assert status == 0 and modules & HEAVY == set()


@pytest.mark.parametrize(
    "words",
    [
        ("edit", "-", "-p", "ACGTACGTAC", "-k", "2", "--format", "sam"),
        ("edit", "-", "-p", "ACGTACGTAC", "-k", "2", "--pam", "NGG", "--max-insertions", "1"),
        ("primer", "-", "GENOME", "-k", "3"),
    ],
    ids=" ".join,
)
def test_kept_kernels_do_not_bring_scipy(words, tmp_path):
    genome = tmp_path / "genome.fa"
    genome.write_text(">r\n" + "ACGTACGATACGGTTACGTACGGACG" * 4 + "\n")
    words = [str(genome) if word in ("-", "GENOME") else word for word in words]
    code = f"""
import sys
from kmatch.cli.main import run
assert run({[*words, "--device", "cpu"]}) == 0
sys.exit(3 * ("numba.np.linalg" in sys.modules))  # which imports SciPy
"""
    first, second = (subprocess.run((sys.executable, "-c", code), timeout=100) for _ in range(2))
    assert first.returncode in (0, 3)  # compiling takes it
    assert second.returncode == 0


@pytest.mark.parametrize("asked", [None, "3"])
def test_linear_algebra_gets_one_thread_unless_more_are_asked_for(asked, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if asked:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", asked)
    code = """
import atexit, os
from kmatch.cli.main import main
atexit.register(lambda: print(os.environ["OPENBLAS_NUM_THREADS"]))
main(["--version"])
"""
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == (asked or "1")


def test_a_search_on_the_cpu_never_touches_cuda():
    body = """
from kmatch.cli.main import run
assert run(["hamming", "-", "-p", "ACGT", "-k", "1", "--device", "cpu"]) == 0
assert not [name for name in sys.modules if name.startswith("numba.cuda.cudadrv.driver")]
"""
    command = [sys.executable, "-c", "import sys" + body]
    done = subprocess.run(command, input=b">r\nACGT\n", capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_version():
    assert here("--version") == (0, f"kmatch {kmatch.__version__}\n".encode(), b"")
    assert here("-V") == here("--version")
    assert re.fullmatch(r"\d+\.\d+\.\d+", kmatch.__version__)


def test_public_names_resolve():
    assert set(kmatch.__all__) >= {"Genome", "Hits", "hamming", "__version__"}
    for name in kmatch.__all__:
        assert getattr(kmatch, name) is not None
    assert set(kmatch.__all__) <= set(dir(kmatch))
    with pytest.raises(AttributeError, match="nonsense"):
        kmatch.nonsense  # noqa: B018


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("name", ["", *group.commands])
def test_help(name, flag):
    result = here(*name.split(), flag)
    assert (result.status, result.err) == (0, b"")
    assert f"Usage: kmatch {name}".strip() in result.out.decode()


def test_the_list_of_commands_says_what_each_does():
    listed = here("--help").out.decode()
    assert {"hamming", "info"} <= set(group.commands)
    for name, command in group.commands.items():
        assert re.search(rf"^  {name} +\S", listed, re.MULTILINE)
        assert command.short_help and command.help


def test_every_option_is_explained():
    for name, command in group.commands.items():
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.help, f"{name} {option.opts}"


def test_no_command_shows_the_help():
    result = here()
    assert b"Usage: kmatch" in result.out + result.err and b"hamming" in result.out + result.err


def test_info():
    result = process("info")
    assert (result.status, result.err) == (0, b"")
    facts = dict(line.split(None, 1) for line in result.out.decode().splitlines())
    assert facts["kmatch"] == kmatch.__version__
    assert facts["python"].startswith(sys.version.split()[0])
    for package in ("numba", "numpy", "biopython", "click", "rich", "xopen"):
        assert re.search(rf"\b{package} \d", facts["packages"])
    assert facts["cpu"]
    assert re.match(r"[1-9]\d*\b", facts["threads"])
    assert facts["cuda"].startswith("cuda:") or re.match("none: .{8}", facts["cuda"])
    assert re.match("(Numba's|numba-cuda [0-9])", facts["target"])
    assert Path(facts["cache"]).is_absolute()


def test_the_installed_script():
    (script,) = entry_points(group="console_scripts", name="kmatch")
    assert script.load().__module__ == "kmatch.cli.main"
    path = shutil.which("kmatch", path=Path(sys.executable).parent)
    done = subprocess.run([path, "--version"], capture_output=True, timeout=60)
    assert done.stdout.decode() == f"kmatch {kmatch.__version__}\n"


def test_options_may_stand_anywhere():
    search = ("-p", "ACGT", "-k", 1)
    expected = here("hamming", "-", *search, stdin=b">r\nTTACGTTT\n")
    assert expected.out.count(b"\n") == 2
    assert here("hamming", *search, "-", stdin=b">r\nTTACGTTT\n") == expected


def test_exact_ends():
    def sites(*options):
        result = here(
            "hamming", "-", "-p", "ACGT", "-k", 1, *options, stdin=b">r\nACGA\n>s\nTCGT\n"
        )
        return [(*row[:2], row[5]) for row in (r.split() for r in result.out.decode().splitlines())]

    assert sites() == [("r", "0", "+"), ("r", "0", "-"), ("s", "0", "+"), ("s", "0", "-")]
    assert sites("--exact-3p", 1) == [("r", "0", "-"), ("s", "0", "+")]
    assert sites("--exact-5p", 1) == [("r", "0", "+"), ("s", "0", "-")]
    assert sites("--exact-5p", 1, "--exact-3p", 1) == []
    assert sites("--strand", "-", "--exact-5p", 2) == [("s", "0", "-")]
