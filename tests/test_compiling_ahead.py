"""All kernels can be compiled ahead."""

import subprocess
import sys

from support.commands import process

from kmatch.jit.folders import PACKAGE

AHEAD = """
import sys
from kmatch.jit.numba_parts import on_compile
from kmatch.jit.rehearsal import rehearse
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
mito = "examples/data/human_mito_rcrs.fa.gz"
letters = guide + "N" * 60 + guide
for words in [
    ["hamming", genome, "-p", guide, "-k", "9", "--exact-3p", "3"],
    ["hamming", genome, "examples/lambda_patterns.txt", "-k", "0", "--format", "tsv"],
    ["hamming", genome, "-p", guide, "-k", "9", "--format", "sam", "--limit", "3", "-q"],
    ["edit", genome, "-p", guide, "-k", "5", "--format", "gff3"],
    ["multi", genome, "-p", guide, "-p", guide[::-1], "-k", "3", "--summary-only"],
    ["multi", genome, "-p", guide, "-k", "6", "--pam", "TTTV", "--pam-side", "5p"],
    ["edit", genome, "-p", guide, "-k", "1", "--report", "ends"],
    ["edit", genome, "-p", guide, "-p", letters, "-k", "7", "--report", "loci", "-t", "1"],
    ["edit", genome, "-p", guide, "-k", "4", "--pam", "NGG,NAG", "--format", "tsv"],
    ["edit", genome, "-p", guide, "-k", "4", "--pam", "NNGRRT", "--max-mismatches", "3"],
    ["edit", mito, "examples/mito_guides.txt", "-k", "5", "--max-insertions", "0", "--pam", "NGG"],
    ["edit", mito, "examples/mito_guides.txt", "-k", "5", "--max-deletions", "1"],
    ["multi", mito, "examples/mito_guides.txt", "-k", "6", "--pam", "NGG,NAG", "--format", "tsv"],
    ["edit", "examples/phix_reads.fq", "-p", "AGATCGGAAGAGC", "-k", "2", "--exact-3p", "3"],
    ["best", genome, "-p", guide, "-p", letters, "--format", "tsv"],
    ["primer", "examples/data/phix174.fa.gz", genome, "-k", "3", "--max-length", "12"],
]:
    assert run([*words, "--device", "cpu", "-o", "/dev/null"]) == 0
new = compiled() - before
print(sorted((module, name) for module, name, *signatures in new if signatures))
"""


def test_all_kernels_are_compiled_ahead():
    command = [sys.executable, "-c", AHEAD]
    done = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_info_compiles():
    result = process("info", "--compile", timeout=600)
    assert result.status == 0
    assert b"kernels     compiled for the CPU" in result.out
