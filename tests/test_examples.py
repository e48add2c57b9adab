"""The examples run and find what they say they do."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import KMATCH
from support.documents import furnish, paths

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.sh"))
PATTERNS = EXAMPLES / "lambda_patterns.txt"


@pytest.fixture
def environment(tmp_path_factory):
    """Environment variables with which `kmatch` and `python3` are those of the tests."""
    return os.environ | paths(furnish(tmp_path_factory.mktemp("programs")))


@pytest.fixture
def example(environment, tmp_path):
    """A function that runs a script with a folder for its files; returns its lines."""

    def run(name):
        done = subprocess.run(
            [EXAMPLES / name, tmp_path], env=environment, capture_output=True, timeout=300
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().splitlines()

    return run


def rows_of(path):
    header, *rows = [line.split("\t") for line in path.read_text().splitlines()]
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_off_targets(example, tmp_path):
    lines = example("crispr_off_targets.sh")
    assert lines[0] == "pattern\td0\td1\td2\td3\td4\td5\ttotal"
    assert [line.split("\t")[:2] for line in lines[1:3]] == [["ND1", "1"], ["ND2", "1"]]
    rows = rows_of(tmp_path / "off_targets.tsv")
    assert sum(int(line.split("\t")[-1]) for line in lines[1:3]) == len(rows) > 4
    assert any("I" in row["cigar"] or "D" in row["cigar"] for row in rows)
    assert all(row["match"][-2:] in ("GG", "AG") for row in rows)
    assert sum(", distance " in line for line in lines) == 4


def test_primers_against_a_relative(example, tmp_path):
    lines = example("primer_against_relative.sh")
    rows = rows_of(tmp_path / "primers.tsv")
    assert lines[0] == f"{len(rows)} primers; the first ones:" and len(rows) > 100
    assert int(lines[-1].split("\t")[4]) >= 3  # differences where it comes closest


def test_products(example, tmp_path):
    lines = example("in_silico_pcr.sh")
    assert [line.split("\t")[1:] for line in lines[1:3]] == [
        ["7130", "7630", "control", "500", "+"],
        ["37227", "37940", "cI", "713", "-"],
    ]
    rows = rows_of(tmp_path / "products.tsv")
    assert len(rows) == 2 and all(len(row["product"]) == int(row["length"]) for row in rows)
    assert lines[-1] == "3 products of any two primers"


def test_reads(example):
    with_adapter, *first = example("reads.sh")
    found, total = (int(word) for word in with_adapter.split() if word.isdigit())
    assert total == 300 and 90 <= found <= 100  # a third has one, of which few have four errors
    assert [int(line.split("\t")[0].removeprefix("read_")) % 3 for line in first] == [0, 0, 0]


def test_many_genomes(example, tmp_path):
    lines = example("many_genomes.sh")
    rows = rows_of(tmp_path / "genomes.tsv")
    assert sum(int(line.split()[0]) for line in lines) == len(rows) == 16
    assert {Path(row["genome"]).name for row in rows} == {
        "human_mito_rcrs.fa.gz",
        "lambda_phage.fa.gz",
    }


def test_primer3(example):
    pytest.importorskip("primer3", reason="no primer3-py: pip install primer3-py")
    lines = example("design_primers.py")
    pairs = [line.split() for line in lines[2:]]
    assert len(pairs) == 3
    for _, forward, reverse, size in pairs:
        assert min(len(forward), len(reverse)) >= 24 and 150 <= int(size) <= 600


def test_a_local_cluster(example, tmp_path):
    pytest.importorskip("distributed", reason="no Dask: pip install 'dask[distributed]'")
    (line,) = example("cluster/local_cluster.py")
    assert line == "116 hits, the same as on one machine"
    assert len(rows_of(tmp_path / "cluster.tsv")) == 116


def test_the_job_of_slurm():
    pytest.importorskip("dask_jobqueue", reason="no dask-jobqueue: pip install dask-jobqueue")
    words = ["@genomes.txt", "patterns.txt", "hits.tsv", "--queue", "long", "--cores", "8"]
    for more, line in ((), "--nthreads 8 "), (("--gpus",), "--nthreads 1 "):
        command = [sys.executable, EXAMPLES / "cluster" / "slurm.py", *words, "--print", *more]
        job = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "#SBATCH -p long\n" in job and "#SBATCH --cpus-per-task=8\n" in job
        assert ("#SBATCH --gres=gpu:1\n" in job) == bool(more)
        assert "distributed.cli.dask_worker tcp://" in job and line in job


@pytest.fixture
def several(tmp_path):
    """The list of three genomes, and the table of patterns in them."""
    genomes = [EXAMPLES / "data" / f"{name}.fa.gz" for name in ("lambda_phage", "phix174")]
    listed, table = tmp_path / "genomes.txt", tmp_path / "alone.tsv"
    listed.write_text("".join(f"{path}\n" for path in [*genomes, genomes[0]]))
    words = ("edit", f"@{listed}", PATTERNS, "-k", "3", "-o", table)
    subprocess.run([*KMATCH, *map(str, words)], check=True)
    return listed, table.read_bytes()


def test_snakemake(several, environment, tmp_path):
    if not shutil.which("snakemake"):
        pytest.skip("no snakemake: pip install snakemake")
    listed, expected = several
    options = [f"genomes={listed}", f"patterns={PATTERNS}", "differences=3", "size=2"]
    rules = EXAMPLES / "cluster" / "Snakefile"
    command = ["snakemake", "-s", rules, "--cores", "1", "--quiet", "--config", *options]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=300)
    assert (tmp_path / "hits.tsv").read_bytes() == expected
    assert expected.count(b"\n") > 20


def test_nextflow(several, environment, tmp_path):
    listed, expected = several
    pipeline = EXAMPLES / "cluster" / "main.nf"
    if shutil.which("nextflow"):
        options = ["--genomes", listed, "--patterns", PATTERNS, "--size", "2"]
        command = ["nextflow", "run", pipeline, *options]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=300)
        assert (tmp_path / "hits.tsv").read_bytes() == expected
        return
    # Its command, as Nextflow would have filled it in.
    values = {"part": listed, "patterns": PATTERNS, "params.k": 3, "task.cpus": 1}
    (line,) = [line for line in pipeline.read_text().splitlines() if "kmatch edit @$" in line]
    line = line.replace("${part.baseName}", "genomes")
    for name, value in values.items():
        line = line.replace(f"${{{name}}}", str(value))
    subprocess.run(["sh", "-c", line], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "genomes.tsv").read_bytes() == expected


def test_every_script_is_tested():
    source = Path(__file__).read_text()
    assert len(SCRIPTS) >= 4 and all(f'"{script.name}"' in source for script in SCRIPTS)
    described = (EXAMPLES / "README.md").read_text()
    shown = [path.name for path in EXAMPLES.iterdir() if path.suffix in (".sh", ".py", ".ipynb")]
    shown += [f"cluster/{path.name}" for path in (EXAMPLES / "cluster").iterdir()]
    assert [name for name in shown if f"`{name}`" not in described] == []


NOTEBOOK = EXAMPLES / "kmatch.ipynb"


def test_the_notebook(tmp_path, monkeypatch):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(EXAMPLES)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=resources).execute()
    nbformat.write(notebook, tmp_path / "done.ipynb")
    shown, found = (outputs(path) for path in (NOTEBOOK, tmp_path / "done.ipynb"))
    assert len(shown) == 8 and sum("image/png" in cell for cell in shown) == 2
    assert [texts(cell) for cell in found] == [texts(cell) for cell in shown]
    assert [sorted(cell) for cell in found] == [sorted(cell) for cell in shown]


def outputs(path):
    """What each code cell shows, by kind."""
    cells = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    assert all(len(cell["outputs"]) == 1 for cell in cells)
    return [cell["outputs"][0]["data"] for cell in cells]


def texts(data):
    return {kind: "".join(value) for kind, value in data.items() if kind != "image/png"}
