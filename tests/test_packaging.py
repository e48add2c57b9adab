"""The wheel, the source distribution and the recipes of packaging/: what they hold and ask for, and
that they install and run."""

import ast
import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.commands import here
from support.documents import ROOT, blocks, furnish, paths

from kmatch import __version__
from kmatch.cli.command import COMMANDS, Argument, kmatch

yaml = pytest.importorskip("yaml")  # of Dask, as Jinja is
jinja2 = pytest.importorskip("jinja2")

RECIPES, DATA = ROOT / "packaging", ROOT / "examples" / "data"
READS = DATA / "barcoded_reads.fq"
BARCODES = DATA / "barcodes.txt"
GENOME, GUIDES = DATA / "human_mito_rcrs.fa.gz", DATA / "mito_guides.txt"
WANTED = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, NAME = WANTED["project"], f"kmatch_dna-{__version__}"
SEARCHES = {*COMMANDS["Searches"]}
VERSION = re.compile(r'(?:kmatch-dna[:= ]+|version = "|_VERSION@">)(\d[\d.]+\d)')


def files_of(*folders):
    """The files of the repository, or of folders of it, that are its own."""
    command = ("git", "ls-files", "--cached", "--others", "--exclude-standard", *folders)
    listed = subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    return {name for name in listed if (ROOT / name).is_file()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the source distribution, and the wheel that was built from it."""
    if find_spec("build") is None or int(version("setuptools").split(".")[0]) < 77:
        pytest.skip("no build, or setuptools before 77: pip install '.[test]'")
    folder = tmp_path_factory.mktemp("built")
    source = folder / "source"  # a copy, as a build leaves files behind
    for name in files_of():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    command = (sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, source)
    done = subprocess.run(command, capture_output=True, timeout=300)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    return folder


def test_the_wheel(built):
    """It holds the package and manual pages alone, and says what the project does."""
    wheel = zipfile.ZipFile(built / f"{NAME}-py3-none-any.whl")
    names, facts = set(wheel.namelist()), f"{NAME}.dist-info"
    assert {name for name in names if name.startswith("kmatch/")} == files_of("kmatch")
    manual = {f"{NAME}.data/data/share/{path}" for path in files_of("man")}
    manual = {path.replace("/man/", "/man/man1/") for path in manual}
    others = {name for name in names if name.split("/")[0] not in ("kmatch", facts)}
    assert others == manual and f"{facts}/licenses/LICENSE" in names
    said = wheel.read(f"{facts}/METADATA").decode().splitlines()
    urls = {f"Project-URL: {name}, {address}" for name, address in PROJECT["urls"].items()}
    assert said[1:3] == ["Name: kmatch-dna", f"Version: {__version__}"]
    assert urls | {"License-Expression: MIT", "Requires-Python: >=3.11"} <= {*said}
    assert b"[console_scripts]\nkmatch = " in wheel.read(f"{facts}/entry_points.txt")


def test_the_source_distribution_holds_what_tests_and_examples_need(built):
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        names = {name.removeprefix(f"{NAME}/") for name in archive.getnames()}
    wanted = files_of("kmatch", "examples", "docs", "tests", "scripts", *ROOT.glob("[A-Z]*.md"))
    assert wanted | {"LICENSE", "pyproject.toml"} <= names and len(wanted) > 200
    assert not any(re.search(r"__pycache__|\.(pyc|nbi|nbc|kernel)$", name) for name in names)


def test_installed_alone(built, tmp_path):
    """In a new environment, which has the dependencies of this one, and kmatch from the wheel."""
    venv = tmp_path / "venv"
    python = venv / "bin" / "python"
    subprocess.run((sys.executable, "-m", "venv", "--without-pip", venv), check=True)
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    subprocess.run((*pip, "--no-deps", "--no-index", *built.glob("*.whl")), check=True)
    # Folders on PYTHONPATH have no .pth file read, and so no editable kmatch.
    others = [path for path in sys.path if path.endswith("site-packages")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(others)}
    if not any((Path(path) / "kmatch" / "__init__.py").exists() for path in others):
        command = (python, "-c", "import kmatch; print(kmatch.__file__)")
        shown = subprocess.check_output(command, env=environment, text=True, cwd=tmp_path)
        assert shown.strip() == str(next(venv.rglob("kmatch/__init__.py")))
    genome = DATA / "phix174.fa.gz"
    search = (venv / "bin" / "kmatch", "hamming", genome, "-p", "GAGTTTTATCGCTTCCATGA", "-k", "1")
    found = subprocess.check_output(search, env=environment, text=True, cwd=tmp_path)
    assert found == "NC_001422.1\t0\t20\tGAGTTTTATCGCTTCCATGA\t1000\t+\t0\n"
    # Its kernels are in the user's caches, so that nothing is left of it.
    subprocess.run((*pip[:-2], "uninstall", "--quiet", "--yes", "kmatch-dna"), check=True)
    assert not list(venv.rglob("kmatch*"))


def test_the_distributions_own_extras_have_its_name():
    """Otherwise pip would look for another project's."""
    extras = PROJECT["optional-dependencies"]
    asked = [one for wanted in extras.values() for one in wanted if one.startswith("kmatch")]
    assert PROJECT["name"] == "kmatch-dna" and len(asked) == 8
    assert {one.rstrip("]").removeprefix("kmatch-dna[") for one in asked} <= extras.keys()


def test_versions_of_recipes():
    texts = [path.read_text() for path in RECIPES.rglob("*") if path.is_file()]
    found = [versions for text in texts if (versions := VERSION.findall(text))]
    assert len(found) == 5 and {one for versions in found for one in versions} == {__version__}


def test_conda():
    text = (RECIPES / "conda" / "meta.yaml").read_text()
    names = {"PYTHON": "python", "pin_subpackage": lambda name, max_pin: name}
    recipe = yaml.safe_load(jinja2.Template(text).render(names))
    asked = {name: ["python" + PROJECT["requires-python"]] for name in ("host", "run")}
    asked["host"] += ["pip", *WANTED["build-system"]["requires"]]
    asked["run"] += PROJECT["dependencies"]
    for name, expected in asked.items():
        assert [one.replace(" ", "") for one in recipe["requirements"][name]] == expected
    assert recipe["package"]["name"] == PROJECT["name"]
    assert recipe["build"]["entry_points"] == [f"kmatch = {PROJECT['scripts']['kmatch']}"]
    how = "-m pip install . -vv --no-deps --no-build-isolation --no-cache-dir"  # as the wheel here
    assert recipe["build"]["script"] == f"python {how}"
    tried = recipe["test"]["commands"]
    for command in tried:
        assert here(*shlex.split(command)[1:]).status == 0
    assert {command.split()[1] for command in tried if "--help" in command} == {*kmatch.commands}


# Of commands, what is looked for, where, and k.
NF_CORE = {
    "multi": (GUIDES, GENOME, 6),
    "best": (GUIDES, GENOME, None),
    "pcr": (DATA / "lambda_primers.txt", DATA / "lambda_phage.fa.gz", 2),
    "guides": (DATA / "phix174.fa.gz", GENOME, 2),
    "assay": (
        DATA / "lambda_primers.txt",
        f"{DATA / 'lambda_phage.fa.gz'} {DATA / 'phix174.fa.gz'}",
        2,
    ),
    "filter": (BARCODES, READS, 1),
    "demux": (BARCODES, READS, 1),
}


@pytest.mark.parametrize("command", NF_CORE)
def test_nf_core(command, tmp_path, monkeypatch):
    queries, genomes, k = NF_CORE[command]
    text = (RECIPES / "nf-core" / "kmatch" / "main.nf").read_text()
    values = {"command": command, "genomes": genomes, "queries": queries, "prefix": "found"}
    values |= {"k": k, "args": "", "task.cpus": 1, "letters": "fastq"}
    has_page = command in ("multi", "pcr", "guides", "assay")
    (page,) = re.findall(r'def page = task.ext.html \? "(.+)" : \'\'', text)
    values["page"] = page.replace("${prefix}", "found") if has_page else ""

    def filled(words):
        return re.sub(r"\$\{([\w.]+)\}", lambda name: str(values[name[1]]), words)

    # What Groovy makes of the lines before the script, `def NAME = command … ? WORDS : WORDS`.
    for name, asked, *either in re.findall(r"def (\w+) = command (.+?) \? (.+?) : (.+)", text):
        values[name] = filled(either[0 if f"'{command}'" in asked else 1].strip("'\""))
    script = re.search(r'script:.*?"""(.*?)"""', text, re.S)[1].replace("\\\\\n", " ")
    monkeypatch.chdir(tmp_path)
    assert here(*shlex.split(filled(script))[1:]).status == 0
    made = {"filter": {"found_kept.fastq.gz"}, "demux": {"found", "found.tsv"}}
    names = made.get(command, {"found.tsv"}) | {"found_mqc.json"}
    names |= {"found.html"} if has_page else set()
    assert {path.name for path in tmp_path.iterdir()} == names
    tests = (RECIPES / "nf-core" / "kmatch" / "tests" / "main.nf.test").read_text()
    for test in re.findall(rf"= '{command}'\n.*?\.size\(\) == (\d+)\n", tests, re.S):
        assert len((tmp_path / "found.tsv").read_text().splitlines()) == int(test)


def test_nf_core_tells_all_outputs_and_commands():
    module = RECIPES / "nf-core" / "kmatch"
    said = yaml.safe_load((module / "meta.yml").read_text())
    text = (module / "main.nf").read_text()
    assert list(said["output"]) == re.findall(r"emit: (\w+)", text)
    (command,) = (each["command"] for each in said["input"] if "command" in each)
    assert set(re.findall(r"`(\w+)`", command["description"])) == SEARCHES


@pytest.mark.skipif(not shutil.which("snakemake"), reason="no snakemake: pip install snakemake")
def test_snakemake(tmp_path):
    """The wrapper runs searches for patterns, products and assays; the linter is content."""
    (tmp_path / "master" / "bio").mkdir(parents=True)
    (tmp_path / "master" / "bio" / "kmatch").symlink_to(RECIPES / "snakemake")
    for path in DATA.iterdir():
        (tmp_path / path.name).symlink_to(path)
    rules = RECIPES / "snakemake" / "test" / "Snakefile"
    made = {
        "human_mito_rcrs.mito_guides.tsv": 6,
        "human_mito_rcrs.mito_guides_mqc.json": None,
        "lambda_phage.lambda_primers.lambda_genes.csv": 3,
        "amplified/lambda_primers.tsv": 5,
        "amplified/lambda_primers.matrix.tsv": 3,
        "barcoded.barcodes.tsv": 9,
        "barcoded_by_barcodes/bc01.fq": 8,
        "draft.tsv": 4,
        "barcoded.barcodes.hits.tsv": 9,
        "human_mito_rcrs.mito_guides.html": None,
    }
    command = ["snakemake", "-s", rules, "--wrapper-prefix", f"file://{tmp_path}/"]
    environment = os.environ | paths(furnish(tmp_path))
    how = {"cwd": tmp_path, "env": environment, "check": True, "timeout": 100}
    wanted = [name for name in made if not name.endswith(".fq")]
    subprocess.run([*command, "-c1", *wanted], **how)
    for name, lines in made.items():
        assert lines in (None, (tmp_path / name).read_text().count("\n"))
    kept = gzip.decompress((tmp_path / "barcoded.with_barcodes.fq.gz").read_bytes())
    assert kept.count(b"\n") == 28
    linted = subprocess.run([*command, "--lint"], **how, capture_output=True, text=True)
    assert "in a good condition" in linted.stdout + linted.stderr


def test_snakemakes_wrapper_knows_all_searches():
    wrapper = (RECIPES / "snakemake" / "wrapper.py").read_text()
    arguments = next(
        ast.literal_eval(each.value)
        for each in ast.parse(wrapper).body
        if isinstance(each, ast.Assign) and each.targets[0].id == "ARGUMENTS"
    )
    said = yaml.safe_load((RECIPES / "snakemake" / "meta.yaml").read_text())
    assert arguments.keys() == SEARCHES
    assert set(re.findall(r"`(\w+)`", said["params"][0]["command"])) == SEARCHES
    for name, inputs in arguments.items():
        parameters = kmatch.commands[name].params
        assert list(inputs) == [each.name for each in parameters if isinstance(each, Argument)]


@pytest.mark.skipif(not shutil.which("snakefmt"), reason="no snakefmt: pip install snakefmt")
def test_snakefmt_changes_nothing():
    files = (RECIPES / "snakemake" / "test" / "Snakefile", ROOT / "examples/pipeline/Snakefile")
    subprocess.run(["snakefmt", "--check", *files], check=True)


# The file of --json, what is searched with its options, and its row in a section of MultiQC.
REPORTS = [
    ("a_mqc.json", f"multi {GENOME} {GUIDES} -k 5", "hits", "a\t2\t0\t0\t0\t0\t2"),
    ("b.kmatch.json", f"edit {GENOME} {GUIDES} -k 2", "hits", "b\t2\t0\t0\t\t\t"),
    (
        "c_mqc.json",
        f"pcr {DATA}/lambda_phage.fa.gz {DATA}/lambda_primers.txt -k 2",
        "products",
        "c\t2",
    ),
    (
        "d_mqc.json",
        f"assay {DATA}/lambda_primers.txt {DATA}/lambda_phage.fa.gz {DATA}/phix174.fa.gz -k 2",
        "assays",
        "d\t2\t0\t2",
    ),
    (
        "e_mqc.json",
        f"guides {DATA}/phix174.fa.gz {DATA}/phix174.fa.gz -k 1",
        "guides",
        "e\t482\t0",
    ),
    (
        "f_mqc.json",
        f"demux {READS} {BARCODES} -k 4 --edit --within 150",
        "reads_by_barcode",
        "f\t6\t1\t1",
    ),
    (
        "g_mqc.json",
        f"filter {READS} {BARCODES} -k 4 --edit",
        "filtered_reads",
        "g\t7\t1",
    ),
]


@pytest.mark.skipif(not shutil.which("multiqc"), reason="no multiqc: pip install multiqc")
def test_multiqc_shows_a_row_a_report(tmp_path):
    """In one section a kind, whatever the name; the config is that of docs/output.md."""
    for name, line, *_ in REPORTS:
        assert here(*line.split(), "--json", tmp_path / name, "-q").status == 0
    (config,) = (block.text for block in blocks(ROOT / "docs" / "output.md", "yaml"))
    (tmp_path / "multiqc_config.yaml").write_text(config)
    subprocess.run(["multiqc", "."], cwd=tmp_path, check=True, capture_output=True, timeout=100)
    for _, _, section, row in REPORTS:
        table = tmp_path / "multiqc_data" / f"multiqc_kmatch_{section}_plot.txt"
        assert row in table.read_text().splitlines()
    assert len([*table.parent.glob("multiqc_kmatch_*.txt")]) == 6


def test_nothing_advises_a_package_of_another_project():
    """PyPI's kmatch is none of ours; kmatch-dna is not there yet, and anybody could take it."""
    advice = re.compile(rb"pip install [^\n`#&]*?['\" ]?kmatch\b")
    files = [*ROOT.glob("*.*")]
    for folder in ("docs", "examples", "kmatch", "man", "packaging", "scripts"):
        files += (ROOT / folder).rglob("*")
    read = [path for path in files if path.is_file() and "__pycache__" not in path.parts]
    assert len(read) > 200
    assert [str(path) for path in read if advice.search(path.read_bytes())] == []
