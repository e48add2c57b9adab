"""Where compiled kernels are kept and found, and that all can be compiled ahead."""

import os
import subprocess
import sys
from unittest import mock

from commands import process

from kmatch import jit

SMALL = """
from kmatch.jit import kernel, telling_of_compiling

@kernel
def double(x):
    return 2 * x

compiled = []
with telling_of_compiling(compiled.append):
    assert double(21) == 42
print(compiled, double._cache.cache_path)
"""


def run_small(folder, unprivileged=False, **environment):
    (folder / "small.py").exists() or (folder / "small.py").write_text(SMALL)
    path = os.pathsep.join([str(folder), os.path.dirname(os.path.dirname(jit.__file__))])
    known = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    prefix = [sys.executable, "-c", "import small"]
    if unprivileged:
        give_up = "import ctypes\nfor c in (1, 2): ctypes.CDLL(None).prctl(24, c)\n"
        again = "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'import small'])"
        prefix[2] = give_up + again
    return subprocess.Popen(
        prefix, env=known | environment | {"PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
    )


def said(running):
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    return out.split(maxsplit=1)


def test_a_kernel_is_compiled_once(tmp_path):
    assert said(run_small(tmp_path))[0] == "['double']"
    assert said(run_small(tmp_path))[0] == "[]"


def test_several_processes_compile_at_once(tmp_path):
    for running in [run_small(tmp_path) for _ in range(3)]:
        said(running)
    assert said(run_small(tmp_path))[0] == "[]"


def test_kernels_of_a_read_only_installation_are_found(tmp_path):
    """What was compiled at installation serves users who may not write there."""
    place = tmp_path / "installed"
    place.mkdir()
    said(run_small(place))
    user = tmp_path / "home"
    user.mkdir()
    folders = [place / "__pycache__", place]
    for folder in folders:
        folder.chmod(0o555)
    try:
        home = {"HOME": str(user), "XDG_CACHE_HOME": str(user)}
        compiled, cache = said(run_small(place, unprivileged=True, **home))
        assert compiled == "[]" and cache.startswith(str(user))
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_a_folder_in_a_place_for_all_has_to_be_ours(tmp_path):
    user = os.getuid()
    private = tmp_path / "private"
    assert jit._private_folder(private, user) == str(private)
    assert private.stat().st_mode & 0o777 == 0o700
    assert jit._private_folder(private, user) == str(private)
    private.chmod(0o777)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    with mock.patch("tempfile.mkdtemp", return_value="fresh"):
        assert jit._private_folder(private, user) == "fresh"
        assert jit._private_folder(link, user) == "fresh"
        assert jit._private_folder(tmp_path / "private", user + 1) == "fresh"


AHEAD = """
import sys
from kmatch.jit import telling_of_compiling
from kmatch.search.rehearsal import rehearse
rehearse("cpu")

from numba.core.dispatcher import Dispatcher
def compiled():
    modules = [module for name, module in sys.modules.items() if name.startswith("kmatch")]
    values = [value for module in modules for value in vars(module).values()]
    kernels = {value for value in values if isinstance(value, Dispatcher)}
    return {(kernel.py_func.__module__, kernel.__name__, *kernel.signatures) for kernel in kernels}

before = compiled()
from kmatch.cli.main import run
genome, guide = "examples/data/lambda_phage.fa.gz", "ACGTTGACCAGGATTACGTT"
letters = guide + "N" * 60 + guide
for words in [
    ["hamming", genome, "-p", guide, "-k", "9", "--exact-3p", "3"],
    ["hamming", genome, "examples/lambda_patterns.txt", "-k", "0", "--format", "tsv"],
    ["multi", genome, "-p", guide, "-p", guide[::-1], "-k", "3", "--summary-only"],
    ["multi", genome, "-p", guide, "-k", "6", "--pam", "TTTV", "--pam-side", "5p"],
    ["edit", genome, "-p", guide, "-k", "1", "--report", "ends"],
    ["edit", genome, "-p", guide, "-p", letters, "-k", "7", "--report", "loci", "-t", "1"],
    ["best", genome, "-p", guide, "-p", letters, "--format", "tsv"],
    ["primer", "examples/data/phix174.fa.gz", genome, "-k", "3", "--max-length", "12"],
]:
    assert run([*words, "--device", "cpu", "-o", "/dev/null"]) == 0
new = compiled() - before
print(sorted((module, name) for module, name, *signatures in new if signatures))
"""


def test_all_kernels_are_compiled_ahead():
    root = os.path.dirname(os.path.dirname(jit.__file__))
    command = [sys.executable, "-c", AHEAD]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_info_compiles():
    result = process("info", "--compile", timeout=600)
    assert result.status == 0
    assert b"kernels     compiled for the CPU" in result.out
