"""Searches on a Dask cluster: the law that its bytes are one machine's, and what may fail."""

import gc
import io
import os
import signal
import subprocess
import sys
import time
from functools import partial
from random import Random

import pytest
from Bio import SeqIO
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord
from support.commands import failed, fasta, here, random_letters

import kmatch
from kmatch import cluster
from kmatch.search import best

distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")

WARNINGS = "ignore::ResourceWarning", "ignore::UserWarning", "error:Sending large graph"
pytestmark = pytest.mark.filterwarnings(*WARNINGS)

REPEAT = "ACGTTGCATTAGCCAGTACTTGACCATGGACCTTAGACCA"
PATTERNS = {  # of which two have the same letters, and one matches nowhere
    "a": REPEAT[:20],
    "b": REPEAT[10:30],
    "again": REPEAT[:20].lower(),
    "c": REPEAT[20:],
    "n": "A" * 20,
}
PAIRS = {"x": (REPEAT[:20], "TGGTCTAAGGTCCATGGTCA"), "y": (REPEAT[5:25], "GTCCATGGTCAAGTACTGGC")}
COUNTS = (17_000, 10, 0, 40_000, 300, 20_000)


@pytest.fixture(scope="module", autouse=True)
def left_behind():
    """What Dask leaves open is collected here, where warnings of it are ignored."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def client():
    """A Client of a cluster of two workers in this process, which is no default one."""
    options = {"processes": False, "dashboard_address": None, "threads_per_worker": 1}
    local = distributed.LocalCluster(n_workers=2, **options)
    with local, distributed.Client(local, set_as_default=False) as client:
        yield client


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch):
    """Tasks of few letters, so that records and patterns are apart."""
    monkeypatch.setattr(cluster, "LEAST", 1 << 13)
    monkeypatch.setattr(cluster, "MOST", 1 << 13)
    monkeypatch.setattr(cluster, "STARTS", 1 << 7)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 B"}):
        yield


def records(seed=1):
    """Records with repeats, long ones between short ones, one without letters."""
    draw = Random(seed)
    for number, count in enumerate(COUNTS):
        text = random_letters(count, seed=seed + number).replace("AAAAAA", "ACCCCC")
        for place in range(count // 4_000):
            cut = bytearray(REPEAT.encode())
            cut[draw.randrange(len(cut))] = ord(draw.choice("ACGTN"))
            text = text[: place * 4_000] + cut.decode() * draw.randint(1, 2) + text[place * 4_000 :]
        yield f"r{number}", text


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with a genome, packed and not, smaller ones, a list of them, and patterns."""
    folder = tmp_path_factory.mktemp("data")
    whole = list(records())
    (folder / "g.fa").write_bytes(fasta(whole))
    kmatch.pack(folder / "g.fa", folder / "g.kmatch")
    names = ["g.kmatch"]
    for number in range(5):
        (folder / f"s{number}.fa").write_bytes(fasta([whole[1], (f"t{number}", REPEAT * number)]))
        names.insert(2, f"s{number}.fa")
    (folder / "list.txt").write_text("".join(f"{folder / name}\n" for name in names))
    (folder / "p.tsv").write_text("".join(f"{name}\t{p}\n" for name, p in PATTERNS.items()))
    (folder / "pairs.tsv").write_text("".join(f"{n}\t{f}\t{r}\n" for n, (f, r) in PAIRS.items()))
    (folder / "in.bed").write_text("r0\t0\t9000\nr3\t100\t30000\nr2\t0\t0\n")
    return folder


def genomes(data):
    """The same records as files and in memory, and a list of genomes."""
    return {
        "fasta": data / "g.fa",
        "packed": data / "g.kmatch",
        "memory": kmatch.Genome.from_records(records()),
        "list": f"@{data / 'list.txt'}",
    }


def outcome(search, path, **options):
    """What a search writes."""
    search(**options).to_tsv(path)
    return path.read_bytes()


def check(search, client, path):
    """The law; gives how many rows there were."""
    expected = outcome(search, path)
    assert outcome(search, path, scheduler=client) == expected
    return expected.count(b"\n") - 1


SEARCHES = {
    "hamming": partial(kmatch.hamming, patterns=PATTERNS, k=3, exact_3p=2),
    "multi": partial(kmatch.multi, patterns=PATTERNS, k="10%", pam="NN,N", limit=5),
    "edit": partial(kmatch.edit, patterns=PATTERNS, k=3, max_deletions=1),
    "loci": partial(kmatch.edit, patterns=PATTERNS, k="15%", report="loci", strand="+"),
    "pam": partial(kmatch.edit, patterns=PATTERNS, k=2, pam="NG,N", pam_side="5p"),
    "sites": partial(kmatch.edit, patterns=PATTERNS, k=3, pam="NG", report="sites"),
    "best": partial(kmatch.best, patterns=PATTERNS),
    "best each": partial(kmatch.best, patterns=PATTERNS, each="record"),
    "pcr": partial(kmatch.pcr, primers=PAIRS, k=3, pairs="any", sequence=True, product=(30, 9000)),
    "pcr edit": partial(kmatch.pcr, primers=PAIRS, k=2, edit=True),
}


@pytest.mark.parametrize("kind", ("fasta", "packed", "memory", "list"))
@pytest.mark.parametrize("name", SEARCHES)
def test_a_cluster_writes_what_one_machine_does(name, kind, client, data, tmp_path):
    search, genome = SEARCHES[name], genomes(data)[kind]
    some = {"records": "r[0-35],t3,t4", "skip_records": "r0"}
    if kind != "list":
        some["records"] = "r[0-35]"
    for options in ({}, {"circular": ["r3", "r5", "r1"]}, {"regions": str(data / "in.bed")}, some):
        assert check(partial(search, genome, **options), client, tmp_path / "hits.tsv")


def test_variants_on_a_cluster(client, data, tmp_path):
    """Of records whose repeats lie at multiples of 4,000."""
    lines = ["##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    for name, text in records():
        for at in range(5, len(text) - 40, 4_000):
            alt = "C" if text[at] == "A" else "A"
            lines.append(f"{name}\t{at + 1}\t.\t{text[at]}\t{alt}\t.\tPASS\t.")
    (tmp_path / "x.vcf").write_text("".join(f"{line}\n" for line in lines))
    for kind in ("fasta", "packed", "memory"):
        genome = genomes(data)[kind]
        for search in (kmatch.multi, kmatch.edit):
            patterns = PATTERNS | {"made": f"{REPEAT[:5]}A{REPEAT[6:20]}"}
            made = partial(search, genome, patterns, 2, variants=tmp_path / "x.vcf")
            assert check(made, client, tmp_path / "hits.tsv") > len(search(genome, patterns, 2))


@pytest.mark.parametrize("kind", ("fasta", "packed", "memory"))
def test_primers(kind, client, data, tmp_path):
    target = kmatch.Genome.from_records([("t", random_letters(700, 9) + REPEAT), ("u", REPEAT)])
    search = partial(kmatch.primer, target, genomes(data)[kind], 5, both_strands=True)
    assert check(search, client, tmp_path / "primers.tsv")


@pytest.mark.parametrize("each", ("file", "record"))
@pytest.mark.parametrize("kind", ("fasta", "list"))
def test_assays(kind, each, client, data, tmp_path):
    genome = genomes(data)[kind]
    for options in ({}, {"circular": ["r3", "r1"], "edit": True}):
        search = partial(kmatch.assay, PAIRS, genome, 2, each=each, product=(30, 9000), **options)
        assert check(search, client, tmp_path / "assays.tsv")


def test_circles_of_records_that_are_asked_apart(client, monkeypatch):
    """Of several windows each knows its own circles; rows are cut at the origin of all."""
    monkeypatch.setattr(best, "UNITS", 1)
    circles = [(f"c{number}", REPEAT[number:] + REPEAT[:number]) for number in (5, 20, 30)]
    search = partial(kmatch.best, kmatch.Genome.from_records(circles), [REPEAT], each="record")
    found = []
    for options in ({}, {"scheduler": client}):
        search(circular=True, **options).to_bed(handle := io.StringIO())
        found.append(handle.getvalue())
    assert found[0] == found[1] and found[0].count("\n") == 6


@pytest.mark.parametrize("genome", ("g.fa", "@list.txt"))
def test_the_command_line(genome, client, data, monkeypatch):
    monkeypatch.chdir(data)
    words = ("multi", genome, "p.tsv", "-k", 2, "--summary", "summary.tsv", "--verbose", "--format")
    for form in ("bed", "tsv", "view"):
        found = []
        for more in ((), ("--scheduler", client.scheduler.address)):
            status, out, err = here(*words, form, *more)
            counted = err.decode().splitlines()[-1].partition(" in ")[0]
            found.append((status, out, counted, (data / "summary.tsv").read_bytes()))
        assert found[0] == found[1] and found[0][0] == 0 and " records, " in found[0][2]


def test_names_that_change_are_told(client, tmp_path):
    (tmp_path / "odd.fa").write_text(">a\tb\nACGTACGT\n>c\x07\nACGT\n")
    (tmp_path / "list").write_text(f"{tmp_path / 'odd.fa'}\n")
    words = ("hamming", f"@{tmp_path / 'list'}", "-p", "ACGTAC", "-k", 0)
    expected = here(*words)
    assert here(*words, "--scheduler", client.scheduler.address) == expected
    assert expected.err.count(b"the name of record 2 holds control characters") == 1


def test_gaps_and_circles_of_files(client, tmp_path):
    """Workers read the files of a list themselves."""
    (tmp_path / "gapped.fa").write_text(">a\nACGT--ACGT\n")
    record = SeqRecord(Seq("ACGTACGTTT"), id="b")
    record.annotations = {"molecule_type": "DNA", "topology": "circular"}
    SeqIO.write([record], tmp_path / "circle.gb", "genbank")
    (tmp_path / "list").write_text(f"{tmp_path / 'gapped.fa'}\n{tmp_path / 'circle.gb'}\n")
    words = ("hamming", f"@{tmp_path / 'list'}", "-p", "ACGTAC", "-k", 0)
    for gaps in ((), ("--gaps", "drop"), ("--gaps", "unknown")):
        expected = here(*words, *gaps)
        assert here(*words, *gaps, "--scheduler", client.scheduler.address) == expected
        assert (b"has '-' at position 5" in expected.err) == (not gaps)
        assert (b"searched as linear: 'b'; " in expected.err) == bool(gaps)
        assert (b"a\t0\t6\t" in expected.out) == ("drop" in gaps)


@pytest.mark.parametrize("problem", ["hamming", "edit"])
def test_unknown_letters(problem, client, data, tmp_path, monkeypatch):
    """Which workers see in files, packed or not, and in what is sent to them."""
    shared = cluster.shared_file
    for sees in (True, False):
        if not sees:
            monkeypatch.setattr(
                cluster, "shared_file", lambda g: (f := shared(g)) and ("x", *f[1:])
            )
        for genome in genomes(data).values():
            search = partial(getattr(kmatch, problem), genome, PATTERNS, 1, max_unknown=2)
            assert check(search, client, tmp_path / "hits.tsv")


def test_workers_that_do_not_see_files(client, data, tmp_path, monkeypatch):
    shared = cluster.shared_file
    monkeypatch.setattr(cluster, "shared_file", lambda g: (f := shared(g)) and ("x", *f[1:]))
    for kind in ("packed", "list"):
        assert check(partial(SEARCHES["edit"], genomes(data)[kind]), client, tmp_path / "hits.tsv")


def test_progress_is_that_of_tasks_or_of_genomes(client, data):
    heard = []
    options = {"scheduler": client, "on_progress": lambda *done: heard.append(done)}
    kmatch.hamming(data / "g.kmatch", PATTERNS, 1, **options)
    assert heard == [(number, None) for number in range(1, len(heard) + 1)] and len(heard) > 2
    heard.clear()
    kmatch.hamming(f"@{data / 'list.txt'}", PATTERNS, 1, **options)
    assert heard[-1] == (6, 6) and heard == sorted(heard)


def test_a_worker_that_dies_costs_time_alone(data, tmp_path):
    killed = []
    options = {"processes": True, "dashboard_address": None, "threads_per_worker": 1}
    with distributed.LocalCluster(n_workers=2, **options) as local, local.get_client() as client:

        def kill(done, size):
            if not killed:
                killed.append(next(iter(local.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        search = partial(kmatch.edit, data / "g.kmatch", PATTERNS, 3)
        expected = outcome(search, tmp_path / "here.tsv")
        options = {"scheduler": client, "on_progress": kill}
        assert outcome(search, tmp_path / "there.tsv", **options) == expected and killed


def test_errors_end_a_search(client, data, tmp_path, monkeypatch):
    address, panel, out = client.scheduler.address, data / "p.tsv", tmp_path / "hits.tsv"
    damaged = bytearray((data / "g.kmatch").read_bytes())
    damaged[len(damaged) // 4] ^= 1
    (tmp_path / "damaged.kmatch").write_bytes(damaged)
    (tmp_path / "gone.txt").write_text(f"{data / 's1.fa'}\nnowhere.fa\n")
    (tmp_path / "cut.txt").write_text(f"{data / 's1.fa'}\n{data / 'p.tsv'}\n")
    (tmp_path / "unequal.txt").write_text("ACGT\nACGTA\n")
    for genome, patterns, *said in (
        (tmp_path / "damaged.kmatch", panel, "damaged.kmatch", "is damaged in its chunk"),
        (f"@{tmp_path / 'gone.txt'}", panel, "nowhere.fa"),
        (f"@{tmp_path / 'cut.txt'}", panel, "p.tsv"),
        (data / "g.fa", tmp_path / "unequal.txt", "length"),
    ):
        found = here("multi", genome, patterns, "-k", 1, "--scheduler", address, "-o", out)
        failed(found, *said)
    tried = []
    monkeypatch.setattr(cluster.Piece, "opened", lambda piece: [tried.append(piece), 1 / 0])
    found = here("multi", data / "s1.fa", panel, "-k", 1, "--scheduler", address, "-o", out)
    failed(found, "s1.fa failed 3 times, the last time ZeroDivisionError")
    assert len(tried) == cluster.TRIES and not out.exists()
    gc.collect()
    end = time.monotonic() + 60
    while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
        assert time.monotonic() < end


def test_another_version_is_refused():
    found = cluster.search_piece(("0.0.9", b""), None, (0, 1))
    assert isinstance(found, kmatch.ClusterError)
    assert kmatch.__version__ in str(found) and "0.0.9" in str(found)


@pytest.mark.parametrize(
    "scheduler, said",
    [
        ("tcp://127.0.0.1:9", "no Dask scheduler answers at tcp://127.0.0.1:9"),
        ("nowhere.json", r"at nowhere.json \(.*No such file.*give its address"),
        (7, r"at 7 \(.*No such file"),
    ],
)
def test_schedulers_that_are_none(data, scheduler, said, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    with pytest.raises(kmatch.ClusterError, match=said):
        kmatch.edit(data / "g.fa", PATTERNS, 1, scheduler=scheduler)


# Kills the scheduler, by its number, when the first task has come back.
KILLING = """
import os, signal, sys
from kmatch import cluster
from kmatch.cli.main import main
take_note = cluster._take_note
def kill(*given):
    os.kill(int(sys.argv[1]), signal.SIGKILL)
    take_note(*given)
cluster._take_note = kill
cluster.CONNECT = 2.0
main(sys.argv[2:])
"""


def test_a_scheduler_that_is_killed_is_one_line(data, tmp_path):
    """Dask's own messages and tracebacks are silent."""
    scheduler, worker = (
        [sys.executable, "-m", f"distributed.cli.dask_{name}", "--scheduler-file", "s.json"]
        for name in ("scheduler", "worker")
    )
    search = ("edit", f"@{data / 'list.txt'}", data / "p.tsv", "-k", "1", "-o", "hits.bed")
    how = {"cwd": tmp_path, "stderr": subprocess.DEVNULL}
    with (
        subprocess.Popen([*scheduler, "--port", "0", "--no-dashboard"], **how) as killed,
        subprocess.Popen([*worker, "--nthreads", "1", "--no-dashboard"], **how) as other,
    ):
        command = [sys.executable, "-c", KILLING, str(killed.pid), *search]
        try:
            end = time.monotonic() + 60
            while not (tmp_path / "s.json").exists():
                assert time.monotonic() < end
                time.sleep(0.1)
            command += ["--scheduler", "s.json"]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        finally:
            killed.kill()
            other.terminate()
    assert done.returncode == 1 and not (tmp_path / "hits.bed").exists()
    said = [line for line in done.stderr.splitlines() if "compiling kernels" not in line]
    assert len(said) == 1 and said[0].startswith("kmatch: error: the scheduler tcp://"), said
    assert "is gone; start it" in said[0]


def test_no_worker(data, monkeypatch):
    monkeypatch.setattr(cluster, "WORKERS", 0.2)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as local,
        local.get_client() as client,
        pytest.raises(kmatch.ClusterError, match=r"no worker.*dask worker"),
    ):
        kmatch.edit(data / "g.fa", PATTERNS, 1, scheduler=client)


def test_without_dask(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    found = here("edit", data / "g.fa", data / "p.tsv", "-k", 1, "--scheduler", "tcp://a:9")
    failed(found, "pip install 'dask[distributed]'")
