"""Searches on a Dask cluster of real processes, and what happens when parts of it fail."""

import gc
import signal
import subprocess
import sys
import time
import tracemalloc
from functools import partial

import pytest
from support.cluster import LIMIT, cluster
from support.commands import KMATCH, failed, fasta, here, loaded, random_letters

import kmatch

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from kmatch.distributed import client as cluster_client  # noqa: E402 - with Dask alone
from kmatch.distributed import lists, run_anywhere, sizes  # noqa: E402
from kmatch.distributed.shards import Job  # noqa: E402
from kmatch.distributed.versions import version  # noqa: E402
from kmatch.distributed.worker import search_shard  # noqa: E402
from kmatch.search.hamming import hamming_batches  # noqa: E402
from kmatch.search.running import Running  # noqa: E402
from kmatch.sequences.patterns import load_patterns  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

ROW = 33  # bytes of a hit
PATTERNS = ["ACGTTGCATTAGCCAGTACT", "AAAAAAAAAAAA", "GATTACAGATTACA"]


def letters():
    """Letters with repeats over the borders of shards, for three records."""
    text = random_letters(200_000)
    for place in range(20_000, 200_000, 5_000):
        text = text[:place] + PATTERNS[place // 5_000 % 3] * 4 + text[place:]
    return text


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(sizes, "LEAST", 1 << 14)


@pytest.fixture(scope="module", autouse=True)
def left_behind():
    """What Dask leaves open is collected here, where warnings of it are ignored."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with a genome, packed and not, and patterns."""
    folder = tmp_path_factory.mktemp("data")
    text = letters()
    records = [("a", text[:150_000]), ("b", text[150_000:150_900]), ("c", text[150_900:])]
    (folder / "g.fa").write_bytes(fasta(records))
    (folder / "p.txt").write_text("".join(f"{pattern}\n" for pattern in PATTERNS))
    (folder / "t.fa").write_bytes(fasta([("t", text[40_000:40_200])]))
    (folder / "b.fa").write_bytes(fasta([("b", text[:3000])]))
    (folder / "pairs.txt").write_text(f"x\t{PATTERNS[0]}\t{text[900:920]}\n")
    kmatch.pack(folder / "g.fa", folder / "g.kmatch")
    return folder


@pytest.fixture(scope="module")
def expected(data):
    """The table of the search that tests repeat, by this machine: kernels are compiled by then."""
    return run(data, "g.fa").out


@pytest.fixture(scope="module")
def processes(expected, tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("cluster")) as processes:
        yield processes


def words(data, genome):
    options = ("-k", 2, "--report", "loci", "--format", "tsv")
    return ("edit", data / genome, data / "p.txt", *options)


def run(data, genome, *more):
    return here(*words(data, genome), *more)


@pytest.mark.parametrize("genome", ["g.fa", "g.kmatch"])
def test_the_bytes_are_those_of_one_machine(data, processes, expected, genome):
    begun = len(processes.begun())
    found = run(data, genome, "--scheduler", processes.file)
    assert (found.status, found.err) == (0, b"") and found.out == expected
    assert expected.count(b"\n") > 40
    assert len(processes.begun()) > begun + 5


@pytest.mark.parametrize(
    "command",
    [
        ("best", "g.fa", "p.txt", "--format", "tsv"),
        ("pcr", "g.fa", "pairs.txt", "-k", 5, "--pairs", "any", "--product", "1-90000"),
        ("primer", "t.fa", "b.fa", "-k", 4, "--max-length", 30),
        ("hamming", "g.kmatch", "p.txt", "-k", 2, "--limit", 5, "--format", "sam"),
        ("edit", "g.fa", "p.txt", "-k", 3, "--circular", "b,c", "--format", "gff3"),
    ],
    ids=lambda command: command[0],
)
def test_commands(data, processes, command):
    name, first, second, *options = command
    command = (name, data / first, data / second, *options)
    alone = here(*command)
    found = here(*command, "--scheduler", processes.file)
    assert without_command(found) == without_command(alone)
    assert alone.status == 0 and alone.out.count(b"\n") > 2


def without_command(found):
    """What a command gave, without the line of SAM that has its words."""
    lines = [line for line in found.out.splitlines() if not line.startswith(b"@PG")]
    return found.status, lines, found.err


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


def test_the_client_keeps_no_letters_of_a_file(data, processes):
    """It begins while it reads, and its memory does not grow with the genome."""
    hits = kmatch.edit(data / "g.fa", PATTERNS, 1, scheduler=str(processes.file))
    genome = hits.searched.genome(0)
    assert not genome.keep and genome.can_reread
    alone = kmatch.edit(data / "g.fa", PATTERNS, 1)
    assert list(hits) == list(alone) != []
    for found, name in ((hits, "found.sam"), (alone, "alone.sam")):
        found.to_sam(data / name)
    assert (data / "found.sam").read_bytes() == (data / "alone.sam").read_bytes()


def test_all_workers_hold_a_large_job_when_the_first_shard_begins(data, processes, monkeypatch):
    """Otherwise the worker that has it would get shards that another could search."""
    monkeypatch.setattr(cluster_client, "SMALL", 100)
    holders, before = [], len(processes.begun())
    with distributed.Client(scheduler_file=str(processes.file), timeout=LIMIT) as client:

        def look():
            processes.await_begun(before=before)
            keys = {str(key): workers for key, workers in client.who_has().items()}
            holders.extend(len(keys[key]) for key in keys if key.endswith("-job"))

        with processes.held_until(look):
            hits = kmatch.edit(data / "g.kmatch", PATTERNS, 1, scheduler=client)
    assert holders == [2]
    assert list(hits) == list(kmatch.edit(data / "g.kmatch", PATTERNS, 1)) != []


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
    """Several a shard, and one that is too large for that between them."""
    monkeypatch.chdir(data)
    monkeypatch.setattr(lists, "MOST", 100_000)
    text = letters()
    for number in range(12):
        part = text[number * 900 : number * 900 + 400]
        (data / f"{number}.fa").write_bytes(fasta([(f"x{number}", part + PATTERNS[number % 3])]))
    names = [*(f"{number}.fa" for number in range(12)), "no.fa"]
    names.insert(5, "g.fa")
    (data / "list.txt").write_text("\n".join(names[:-1]))
    command = ["edit", "@list.txt", "p.txt", "-k", 2, "--report", "loci", "--format", "tsv"]
    alone = here(*command)
    assert alone.status == 0 and alone.out.count(b"\n") > 52
    assert here(*command, "--scheduler", processes.file) == alone
    (data / "list.txt").write_text("\n".join(names))
    failed(here(*command, "--scheduler", processes.file, "-o", "o.tsv"), "no.fa: cannot be read")
    assert not (data / "o.tsv").exists()


def test_a_worker_that_joins_takes_part_and_one_that_is_killed_costs_no_hit(
    data, processes, expected
):
    def join():
        processes.await_begun()
        processes.add_worker("late")
        processes.await_begun("late")

    with processes.held_until(join):
        found = run(data, "g.fa", "--scheduler", processes.file)
    assert found == (0, expected, b"")
    before = len(processes.begun("late"))
    assert before

    def kill():
        processes.await_begun("late", before=before)
        processes.workers.pop("late").kill()

    with processes.held_until(kill):
        found = run(data, "g.fa", "--scheduler", processes.file)
    assert "late" not in processes.workers and found == (0, expected, b"")


def test_a_worker_of_another_version_is_refused(data, processes, tmp_path):
    (processes.folder / "version-old").write_text("0.0.9")
    processes.add_worker("old")
    out = tmp_path / "hits.tsv"
    found = run(data, "g.fa", "--scheduler", processes.file, "-o", out)
    failed(found, "kmatch 0.0.9,", f"kmatch {kmatch.__version__}:", "tcp://127.0.0.1")
    assert not out.exists() and not processes.begun("old")
    processes.stop_worker("old")


def test_workers_of_other_sources_are_refused(data, processes, monkeypatch):
    monkeypatch.setattr(cluster_client, "version", lambda: f"{kmatch.__version__} (0123)")
    found = run(data, "g.fa", "--scheduler", processes.file)
    failed(found, version(), f"this is kmatch {kmatch.__version__} (0123):")


def test_a_worker_that_joins_late_refuses_another_version():
    job = Job("0.0.9", None, None, Running(), True)
    with pytest.raises(kmatch.ClusterError, match=rf"{kmatch.__version__}.*0\.0\.9"):
        search_shard(job, None)


def test_a_shard_that_fails_three_times(data, processes, tmp_path):
    out = tmp_path / "hits.tsv"
    with processes.having(fails=3):
        before = processes.begun().count(3)
        found = run(data, "g.fa", "--scheduler", processes.file, "-o", out)
    failed(found, "shard 4 of", "3 times", "the disk is on fire", "tcp://127.0.0.1")
    assert processes.begun().count(3) == before + 3
    assert not list(tmp_path.iterdir())


def test_what_is_wrong_with_the_input_is_told_at_once(data, processes):
    damaged = data / "damaged.kmatch"
    whole = bytearray((data / "g.kmatch").read_bytes())
    whole[len(whole) // 4] ^= 1
    damaged.write_bytes(whole)
    found = run(data, damaged.name, "--scheduler", processes.file)
    failed(found, "damaged.kmatch", "is damaged in its chunk")


def test_memory_is_that_of_a_window_of_shards(data, processes, monkeypatch):
    """A flood of hits goes through the client, who keeps few tasks and a part of it at a time."""
    monkeypatch.setattr(sizes, "LEAST", 1 << 12)
    monkeypatch.setattr(sizes, "MOST", 1 << 12)
    genome, patterns = kmatch.Genome(data / "g.kmatch"), load_patterns(["N" * m for m in (4, 5, 6)])
    search, tasks, rows = partial(hamming_batches, genome, patterns, 0), [], 0
    with distributed.Client(scheduler_file=str(processes.file), timeout=LIMIT) as client:

        def count(done, of):
            tasks.append(client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))

        running = Running(scheduler=client, on_progress=count, aligned=False)
        tracemalloc.start()
        try:
            for batch in run_anywhere(search, running):
                rows += len(batch)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert rows > 1_000_000 and len(tasks) > 30
    # Of two threads, with the job; the scheduler may still be forgetting some.
    assert max(tasks) <= 2 * cluster_client.AHEAD_UNSENT + 5
    assert peak < rows * ROW / 2


def test_an_interrupt_leaves_neither_tasks_nor_a_file(data, processes, tmp_path):
    out, begun = tmp_path / "hits.tsv", len(processes.begun())
    command = [*KMATCH, *words(data, "g.fa"), "--scheduler", processes.file, "-o", out]
    with processes.having(hold=1):
        pipe = subprocess.PIPE
        client = subprocess.Popen(list(map(str, command)), stderr=pipe, stdout=pipe)
        processes.await_begun(before=begun)
        client.send_signal(signal.SIGINT)
        said = client.communicate(timeout=LIMIT)[1]
    assert client.returncode == 130 and said == b"kmatch: error: interrupted\n"
    assert not list(tmp_path.iterdir())
    with distributed.Client(scheduler_file=str(processes.file), timeout=LIMIT) as client:
        end = time.monotonic() + LIMIT
        while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
            assert time.monotonic() < end
            time.sleep(0.05)


def certificates(folder):
    """A key and a certificate that signs itself, made by openssl."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj"
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command.split(), "/CN=localhost", *files], check=True, capture_output=True)
    return key, certificate


def test_tls_no_worker_and_a_scheduler_that_goes(data, tmp_path, expected, monkeypatch):
    try:
        key, certificate = certificates(tmp_path)
    except FileNotFoundError:
        pytest.skip("no openssl")
    roles = [f"--tls-{what}" for what in ("ca-file", "cert", "key")]
    files = (certificate, certificate, key)
    security = [str(word) for pair in zip(roles, files, strict=True) for word in pair]
    settings = {"ca-file": certificate, "client.cert": certificate, "client.key": key}
    tls = {f"distributed.comm.tls.{name}": str(file) for name, file in settings.items()}
    with cluster(tmp_path, workers=0, security=security) as processes:
        assert b"tls://" in processes.file.read_bytes()
        with monkeypatch.context() as patched:
            patched.setattr(cluster_client, "CONNECT", 1.0)
            found = run(data, "g.fa", "--scheduler", processes.file)
        failed(found, "no Dask scheduler answers at")
        with dask.config.set(tls):
            with monkeypatch.context() as patched:
                patched.setattr(cluster_client, "WORKERS", 0.2)
                found = run(data, "g.fa", "--scheduler", processes.file)
            failed(found, "no worker", "dask worker")
            processes.add_worker("w0")
            assert run(data, "g.fa", "--scheduler", processes.file) == (0, expected, b"")
            out, before = tmp_path / "hits.tsv", len(processes.begun())

            def kill():
                processes.await_begun(before=before)
                processes.scheduler.kill()

            with processes.held_until(kill):
                found = run(data, "g.fa", "--scheduler", processes.file, "-o", out)
            failed(found, "the scheduler tls://127.0.0.1", "is gone")
            assert not out.exists()


@pytest.mark.parametrize(
    "scheduler, said",
    [
        ("tcp://127.0.0.1:9", "no Dask scheduler answers at tcp://127.0.0.1:9"),
        ("nowhere.json", "nowhere.json: no such file"),
        (7, "scheduler is 7; give an address"),
    ],
)
def test_schedulers_that_are_none(data, scheduler, said, monkeypatch):
    monkeypatch.setattr(cluster_client, "CONNECT", 0.5)
    with pytest.raises(kmatch.ClusterError, match=said):
        kmatch.edit(data / "g.fa", PATTERNS, 1, scheduler=scheduler)


def test_without_dask(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    found = run(data, "g.fa", "--scheduler", "tcp://127.0.0.1:9")
    failed(found, "pip install 'dask[distributed]'")


def test_a_search_here_imports_nothing_of_dask(data):
    body = "from kmatch.cli.main import run; run(sys.argv[1:])"
    status, modules = loaded(body, *map(str, words(data, "t.fa")), "-o", str(data / "here.tsv"))
    assert status == 0 and "numba" in modules
    assert not {"dask", "distributed", "tornado"} & modules
