"""The wheel and the source distribution: what they hold, and that they install and run."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.package_copy import install

import kmatch

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAME = f"kmatch-{kmatch.__version__}"
NAMES = ("kmatch", f"{NAME}.dist-info")
MANUAL = re.compile(rf"{re.escape(NAME)}\.data/data/share/man/man1/kmatch[a-z-]*\.1")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the source distribution, and the wheel that was built from it."""
    if find_spec("build") is None or int(version("setuptools").split(".")[0]) < 77:
        pytest.skip("no build, or setuptools before 77: pip install '.[test]'")
    folder = tmp_path_factory.mktemp("built")
    source = folder / "source"  # of what git has or would take, as a build leaves files behind
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in subprocess.check_output(listed, cwd=ROOT, text=True).split("\0"):
        if name and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    command = (sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, source)
    done = subprocess.run(command, capture_output=True, timeout=300)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    assert path.name == f"{NAME}-py3-none-any.whl"
    return zipfile.ZipFile(path)


def files_of(folder):
    """Files of a folder of the repository that are its own."""
    command = ("git", "ls-files", "--cached", "--others", "--exclude-standard", folder)
    listed = subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    return {name for name in listed if (ROOT / name).is_file()}


def test_the_wheel_holds_the_package_alone(wheel):
    names = {name for name in wheel.namelist() if name.startswith("kmatch/")}
    assert names == files_of("kmatch")
    others = [name for name in wheel.namelist() if name.split("/")[0] not in NAMES]
    assert [name for name in others if not MANUAL.fullmatch(name)] == []
    assert "kmatch/py.typed" in names and f"{NAME}.dist-info/licenses/LICENSE" in wheel.namelist()


def test_what_the_wheel_says(wheel):
    said = wheel.read(f"{NAME}.dist-info/METADATA").decode()
    lines = "License-Expression: MIT", "Requires-Python: >=3.11", "Classifier: Typing :: Typed"
    assert [line for line in lines if f"\n{line}\n" not in said] == []
    for name, address in PROJECT["urls"].items():
        assert f"\nProject-URL: {name}, {address}\n" in said
    assert (
        "[console_scripts]\nkmatch = " in wheel.read(f"{NAME}.dist-info/entry_points.txt").decode()
    )


def test_the_source_distribution_holds_what_tests_and_examples_need(built):
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        names = {name.removeprefix(f"{NAME}/") for name in archive.getnames()}
    wanted = set().union(*map(files_of, ("kmatch", "examples", "docs", "tests", "scripts")))
    assert wanted - names == set() and len(wanted) > 300
    assert {"LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "pyproject.toml"} <= names
    left = [name for name in names if re.search(r"__pycache__|\.(pyc|nbi|nbc|kernel)$", name)]
    assert left == []


def test_installed_alone(built, tmp_path):
    """In a new environment, which has the dependencies of this one, and kmatch from the wheel."""
    venv = tmp_path / "venv"
    python = install(venv, *built.glob("*.whl"))
    # Folders on PYTHONPATH have no .pth file read, and so no editable kmatch.
    others = [path for path in sys.path if path.endswith("site-packages")]
    code = "import kmatch, sys; print(kmatch.__file__, kmatch.__version__)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(others)}
    if not any((Path(path) / "kmatch" / "__init__.py").exists() for path in others):
        command = (python, "-c", code)
        shown = subprocess.check_output(command, env=environment, text=True, cwd=tmp_path)
        assert shown.split() == [str(next(venv.rglob("kmatch/__init__.py"))), kmatch.__version__]
    # Kernels have been compiled; their folder is named by the sources, which are the same.
    environment["NUMBA_CACHE_DIR"] = str(ROOT / "kmatch" / "__pycache__")
    genome = ROOT / "examples" / "data" / "phix174.fa.gz"
    search = (venv / "bin" / "kmatch", "hamming", genome, "-p", "GAGTTTTATCGCTTCCATGA", "-k", "1")
    found = subprocess.check_output(search, env=environment, text=True, cwd=tmp_path)
    assert found == "NC_001422.1\t0\t20\tGAGTTTTATCGCTTCCATGA\t1000\t+\t0\n"
