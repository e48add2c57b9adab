"""Searches on a Dask cluster of real processes, and what happens when parts of it fail."""

import signal
import subprocess
import sys
import threading
import time

import pytest
from support.cluster import LIMIT, cluster
from support.commands import KMATCH, failed, fasta, here, loaded, random_letters

import kmatch

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from kmatch.distributed import client as cluster_client  # noqa: E402 - with Dask alone
from kmatch.distributed.shards import Job  # noqa: E402
from kmatch.distributed.worker import search_shard  # noqa: E402
from kmatch.search.running import Running  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

PATTERNS = ["ACGTTGCATTAGCCAGTACT", "AAAAAAAAAAAA", "GATTACAGATTACA"]


def letters():
    """Two million letters with repeats over the borders of shards, in three records."""
    text = random_letters(2_000_000)
    for place in range(200_000, 2_000_000, 50_000):
        text = text[:place] + PATTERNS[place // 50_000 % 3] * 4 + text[place:]
    return text


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with a genome, packed and not, and patterns."""
    folder = tmp_path_factory.mktemp("data")
    text = letters()
    records = [("a", text[:1_500_000]), ("b", text[1_500_000:1_500_900]), ("c", text[1_500_900:])]
    (folder / "g.fa").write_bytes(fasta(records))
    (folder / "p.txt").write_text("".join(f"{pattern}\n" for pattern in PATTERNS))
    (folder / "t.fa").write_bytes(fasta([("t", text[400_000:400_200])]))
    (folder / "b.fa").write_bytes(fasta([("b", text[:3000])]))
    (folder / "pairs.txt").write_text(f"x\t{PATTERNS[0]}\t{text[900:920]}\n")
    kmatch.pack(folder / "g.fa", folder / "g.kmatch")
    return folder


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("cluster")) as processes:
        yield processes


@pytest.fixture(scope="module")
def expected(data):
    """The table of the search that tests repeat, by this machine."""
    return run(data, "g.fa").out


def words(data, genome):
    options = ("-k", 2, "--report", "loci", "--format", "tsv")
    return ("edit", data / genome, data / "p.txt", *options)


def run(data, genome, *more):
    return here(*words(data, genome), *more)


@pytest.mark.parametrize("genome", ["g.fa", "g.kmatch"])
def test_the_bytes_are_those_of_one_machine(data, processes, expected, genome):
    begun = len(processes.begun("w0")) + len(processes.begun("w1"))
    found = run(data, genome, "--scheduler", processes.file)
    assert (found.status, found.err) == (0, b"") and found.out == expected
    assert expected.count(b"\n") > 40
    assert len(processes.begun("w0")) + len(processes.begun("w1")) > begun + 5


@pytest.mark.parametrize(
    "command",
    [
        ("best", "g.fa", "p.txt", "--format", "tsv"),
        ("pcr", "g.fa", "pairs.txt", "-k", 5, "--pairs", "any", "--product", "1-900000"),
        ("primer", "t.fa", "b.fa", "-k", 4, "--max-length", 30),
        ("hamming", "g.kmatch", "p.txt", "-k", 2, "--limit", 5),
    ],
    ids=lambda command: command[0],
)
def test_commands(data, processes, command):
    name, first, second, *options = command
    command = (name, data / first, data / second, *options)
    alone = here(*command)
    assert here(*command, "--scheduler", processes.file) == alone
    assert alone.status == 0 and alone.out.count(b"\n") > 2


def test_a_client(data, processes):
    genome = kmatch.Genome(data / "g.kmatch")
    with distributed.Client(scheduler_file=str(processes.file), timeout=LIMIT) as client:
        heard = []
        hits = kmatch.edit(
            genome, PATTERNS, 1, scheduler=client, on_progress=lambda *shards: heard.append(shards)
        )
        alone = kmatch.edit(genome, PATTERNS, 1)
        assert client.status == "running"  # it stays the caller's
    for name in ("record", "start", "end", "pattern", "distance", "strand", "cigar", "match"):
        assert (getattr(hits, name) == getattr(alone, name)).all()
    assert len(hits) > 40
    assert heard == [(number + 1, heard[-1][1]) for number in range(heard[-1][1])]


def test_a_file_that_workers_see_no_longer_is_sent(data, processes):
    """They had begun by the path."""
    packed = data / "gone.kmatch"
    kmatch.pack(data / "g.fa", packed)
    genome = kmatch.Genome(packed)
    alone = kmatch.edit(genome, PATTERNS, 2)

    def remove(done, of):
        packed.unlink(missing_ok=True)

    hits = kmatch.edit(genome, PATTERNS, 2, scheduler=str(processes.file), on_progress=remove)
    assert not packed.exists() and list(hits) == list(alone) != []
    assert list(kmatch.edit(genome, PATTERNS, 2, scheduler=str(processes.file))) == list(alone)


def test_a_list_of_genomes(data, processes, monkeypatch):
    """Several a shard."""
    monkeypatch.chdir(data)
    text = letters()
    for number in range(12):
        part = text[number * 9000 : number * 9000 + 4000]
        (data / f"{number}.fa").write_bytes(fasta([(f"x{number}", part + PATTERNS[number % 3])]))
    (data / "list.txt").write_text("".join(f"{number}.fa\n" for number in range(12)))
    command = ["edit", "@list.txt", "p.txt", "-k", 2, "--report", "loci", "--format", "tsv"]
    alone = here(*command)
    assert alone.status == 0 and alone.out.count(b"\n") > 12
    assert here(*command, "--scheduler", processes.file) == alone


def test_a_killed_worker_costs_no_hit(data, processes, expected):
    processes.add_worker("victim")
    (processes.folder / "slow-victim").write_text(str(10 * LIMIT))

    def kill():
        processes.await_begun("victim")
        processes.workers.pop("victim").kill()

    killer = threading.Thread(target=kill)
    killer.start()
    found = run(data, "g.fa", "--scheduler", processes.file)
    killer.join(LIMIT)
    assert "victim" not in processes.workers and found == (0, expected, b"")


def test_a_worker_that_joins_takes_part(data, processes):
    alone = list(kmatch.edit(data / "g.kmatch", PATTERNS, 2))

    def add(done, of):
        if done == 1:
            processes.add_worker("late")

    scheduler = str(processes.file)
    hits = kmatch.edit(data / "g.kmatch", PATTERNS, 2, scheduler=scheduler, on_progress=add)
    assert list(hits) == alone
    assert processes.begun("late")
    processes.stop_worker("late")


def test_a_worker_of_another_version_is_refused(data, processes, tmp_path):
    (processes.folder / "version-old").write_text("0.0.9")
    processes.add_worker("old")
    out = tmp_path / "hits.tsv"
    found = run(data, "g.fa", "--scheduler", processes.file, "-o", out)
    failed(found, "0.0.9", kmatch.__version__, "tcp://127.0.0.1")
    assert not out.exists() and not processes.begun("old")
    processes.stop_worker("old")


def test_a_worker_that_joins_late_refuses_another_version():
    job = Job("0.0.9", None, Running(), True)
    with pytest.raises(kmatch.ClusterError, match=rf"{kmatch.__version__}.*0\.0\.9"):
        search_shard(job, None)


def test_a_shard_that_fails_three_times(data, processes, tmp_path):
    out = tmp_path / "hits.tsv"
    with processes.having(fails=3):
        before = [*processes.begun("w0"), *processes.begun("w1")].count(3)
        found = run(data, "g.fa", "--scheduler", processes.file, "-o", out)
    failed(found, "shard 4 of", "3 times", "the disk is on fire", "tcp://127.0.0.1")
    assert [*processes.begun("w0"), *processes.begun("w1")].count(3) == before + 3
    assert not list(tmp_path.iterdir())


def test_what_is_wrong_with_the_input_is_told_at_once(data, processes):
    damaged = data / "damaged.kmatch"
    whole = bytearray((data / "g.kmatch").read_bytes())
    whole[len(whole) // 4] ^= 1
    damaged.write_bytes(whole)
    found = run(data, damaged.name, "--scheduler", processes.file)
    failed(found, "damaged.kmatch", "is damaged in its chunk")


def test_an_interrupt_leaves_neither_tasks_nor_a_file(data, processes, tmp_path):
    out, begun = tmp_path / "hits.tsv", len(processes.begun("w0"))
    with processes.having(slow=1):
        command = [*KMATCH, *words(data, "g.fa"), "--scheduler", processes.file, "-o", out]
        pipe = subprocess.PIPE
        client = subprocess.Popen(list(map(str, command)), stderr=pipe, stdout=pipe)
        end = time.monotonic() + LIMIT
        while len(processes.begun("w0")) == begun:
            assert time.monotonic() < end and client.poll() is None
            time.sleep(0.05)
        client.send_signal(signal.SIGINT)
        said = client.communicate(timeout=LIMIT)[1]
    assert client.returncode == 130 and said == b"kmatch: error: interrupted\n"
    assert not list(tmp_path.iterdir())
    with distributed.Client(scheduler_file=str(processes.file), timeout=LIMIT) as client:
        end = time.monotonic() + LIMIT
        while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
            assert time.monotonic() < end
            time.sleep(0.1)


def certificates(folder):
    """A key and a certificate that signs itself, made by openssl."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj"
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command.split(), "/CN=localhost", *files], check=True, capture_output=True)
    return key, certificate


def test_tls_and_a_scheduler_that_goes(data, tmp_path, expected, monkeypatch):
    try:
        key, certificate = certificates(tmp_path)
    except FileNotFoundError:
        pytest.skip("no openssl")
    roles = [f"--tls-{what}" for what in ("ca-file", "cert", "key")]
    files = (certificate, certificate, key)
    security = [str(word) for pair in zip(roles, files, strict=True) for word in pair]
    with cluster(tmp_path, workers=1, security=security) as processes:
        with monkeypatch.context() as patched:
            patched.setattr(cluster_client, "CONNECT", 2.0)
            found = run(data, "g.fa", "--scheduler", processes.file)
        failed(found, "no Dask scheduler answers at")
        settings = {"ca-file": certificate, "client.cert": certificate, "client.key": key}
        prefix = "distributed.comm.tls"
        with dask.config.set({f"{prefix}.{name}": str(file) for name, file in settings.items()}):
            assert b"tls://" in processes.file.read_bytes()
            assert run(data, "g.fa", "--scheduler", processes.file) == (0, expected, b"")
            out = tmp_path / "hits.tsv"
            with processes.having(slow=1):
                killer = threading.Timer(1.5, processes.scheduler.kill)
                killer.start()
                found = run(data, "g.fa", "--scheduler", processes.file, "-o", out)
            failed(found, "the scheduler tls://127.0.0.1", "is gone")
            assert not out.exists()


def test_no_worker(data, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_client, "WORKERS", 0.5)
    with cluster(tmp_path, workers=0) as processes:
        failed(run(data, "g.fa", "--scheduler", processes.file), "no worker", "dask worker")


@pytest.mark.parametrize(
    "scheduler, said",
    [
        ("tcp://127.0.0.1:9", "no Dask scheduler answers at tcp://127.0.0.1:9"),
        ("nowhere.json", "nowhere.json: no such file"),
        (7, "scheduler is 7; give an address"),
    ],
)
def test_schedulers_that_are_none(data, scheduler, said, monkeypatch):
    monkeypatch.setattr(cluster_client, "CONNECT", 1.0)
    with pytest.raises(kmatch.ClusterError, match=said):
        kmatch.edit(data / "g.fa", PATTERNS, 1, scheduler=scheduler)


def test_without_dask(data):
    body = "import sys; sys.modules['distributed'] = None; from kmatch.cli.main import run; "
    command = [sys.executable, "-c", body + "sys.exit(run(sys.argv[1:]))"]
    command += [*map(str, words(data, "g.fa")), "--scheduler", "tcp://127.0.0.1:9"]
    done = subprocess.run(command, capture_output=True, timeout=LIMIT)
    assert done.returncode == 1 and b"pip install 'kmatch[dask]'" in done.stderr


def test_a_search_here_imports_nothing_of_dask(data):
    body = "from kmatch.cli.main import run; run(sys.argv[1:])"
    status, modules = loaded(body, *map(str, words(data, "t.fa")), "-o", str(data / "here.tsv"))
    assert status == 0 and "numba" in modules
    assert not {"dask", "distributed", "tornado"} & modules
