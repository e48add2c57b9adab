"""The examples that no page shows run too; the others are commands of examples/README.md."""

import json
import subprocess
import sys

import pytest
from support.commands import here
from support.documents import EXAMPLES, ROOT

DATA = EXAMPLES / "data"
NOTEBOOK = EXAMPLES / "notebook" / "kmatch.ipynb"


def test_every_example_is_described():
    text = (EXAMPLES / "README.md").read_text()
    names = [str(path.relative_to(EXAMPLES)) for path in EXAMPLES.glob("[!_]*/*.*")]
    inputs = ("data/", "variants/guides", "primers/design", "pipeline/main.nf")
    asked = [name for name in names if not name.startswith(inputs)]
    assert len(asked) > 8
    assert [name for name in asked if f"({name})" not in text] == []


def test_the_job_of_slurm():
    pytest.importorskip("dask_jobqueue", reason="no dask-jobqueue: pip install dask-jobqueue")
    words = ["@genomes.txt", "patterns.txt", "hits.tsv", "--queue", "long", "--cores", "8"]
    for more, line in ((), "--nthreads 8 "), (("--gpus",), "--nthreads 1 "):
        command = [sys.executable, EXAMPLES / "cluster" / "slurm.py", *words, "--print", *more]
        job = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "#SBATCH -p long\n" in job and "#SBATCH --cpus-per-task=8\n" in job
        assert ("#SBATCH --gres=gpu:1\n" in job) == bool(more)
        assert "distributed.cli.dask_worker tcp://" in job and line in job


def test_the_command_of_nextflow(tmp_path, monkeypatch):
    """As Nextflow would have filled it in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "genomes.txt").write_text(f"{DATA / 'lambda_phage.fa.gz'}\n")
    lines = (EXAMPLES / "pipeline" / "main.nf").read_text().splitlines()
    (line,) = [line for line in lines if "kmatch edit @$" in line]
    values = {"part.baseName": "hits", "part": "genomes.txt", "params.k": "3", "task.cpus": "1"}
    values["patterns"] = str(DATA / "lambda_patterns.txt")
    for name, value in values.items():
        line = line.replace(f"${{{name}}}", value)
    assert here(*line.split()[1:]).status == 0
    expected = here("edit", "@genomes.txt", values["patterns"], "-k", "3", "--format", "tsv").out
    assert (tmp_path / "hits.tsv").read_bytes() == expected


def test_the_notebook(tmp_path, monkeypatch):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(NOTEBOOK.parent)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=resources).execute()
    nbformat.write(notebook, tmp_path / "done.ipynb")
    shown, found = (outputs(path) for path in (NOTEBOOK, tmp_path / "done.ipynb"))
    assert len(shown) == 8 and sum("image/png" in cell for cell in shown) == 2
    assert found == shown


def outputs(path):
    """What each code cell shows, by kind; of pictures, that there is one."""
    cells = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    assert all(len(cell["outputs"]) == 1 for cell in cells)
    shown = [cell["outputs"][0]["data"] for cell in cells]
    return [{k: k if k == "image/png" else "".join(v) for k, v in x.items()} for x in shown]
