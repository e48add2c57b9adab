"""What cannot be done ends with the agreed status and a line that says why, and leaves no file."""

import gzip
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from support.commands import (
    KMATCH,
    compressed,
    failed,
    fasta,
    genbank,
    here,
    misused,
    process,
    random_letters,
    shell,
    twobit,
    unprivileged,
)

import kmatch

FASTA = fasta([("chr1 a test", random_letters(20_000)), ("chr2", random_letters(5_000, 2))])
SEARCH = ("-p", "ACGTTGCAACGT", "-k", 1)
DENSE = ("-p", "ACGT", "-k", 3)
HAS_GPU = any(Path("/dev", name).exists() for name in ("nvidiactl", "dxg"))


@pytest.fixture
def genome(tmp_path):
    path = tmp_path / "genome.fa"
    path.write_bytes(FASTA)
    return path


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large.fa"
    path.write_bytes(fasta([("chr1", random_letters(400_000))]))
    return path


def cut(kind):
    data = compressed(kind, FASTA)
    return data[: len(data) * 2 // 3]


def bad_checksum():
    data = bytearray(compressed("gz", FASTA))
    data[-8] ^= 0xFF
    return bytes(data)


def damaged(kind):
    data = bytearray(compressed(kind, FASTA))
    middle = len(data) // 2
    data[middle : middle + 64] = bytes(byte ^ 0xA5 for byte in data[middle : middle + 64])
    return bytes(data)


GENOMES = {
    "empty": (b"", "empty"),
    "blank lines": (b"\n \n\r\n", "empty"),
    "empty gz": (gzip.compress(b""), "empty"),
    "text": (b"Dear all,\nfind enclosed my genome.\n", "FASTA"),
    "bare sequence": (b"ACGTACGTACGTACGT\n", "FASTA"),
    "text above the header": (b"my genome\n>chr1\nACGTACGTACGTACGT\n", "FASTA"),
    "binary": (bytes(range(1, 256)) * 20, ""),
    "NUL bytes": (b">chr1\nACGTACG\0\0TACGTACGT\n", "binary"),
    "UTF-16": (FASTA.decode().encode("utf-16"), ""),
    "cut gz": (cut("gz"), "truncated"),
    "cut gz header": (cut("gz")[:6], "truncated"),
    "cut bgzf": (cut("bgzf"), "truncated"),
    "cut bz2": (cut("bz2"), "truncated"),
    "cut xz": (cut("xz"), "truncated"),
    "cut zst": (cut("zst"), "truncated"),
    "gz checksum": (bad_checksum(), ""),
    "damaged gz": (damaged("gz"), ""),
    "damaged bz2": (damaged("bz2"), ""),
    "damaged xz": (damaged("xz"), ""),
    "damaged zst": (damaged("zst"), ""),
    "no name": (b">chr1\nACGTACGTACGTACGT\n> \nACGT\n", "record 2"),
    "cut 2bit": (twobit([("chr1", random_letters(900))])[:90], ""),
    "cut GenBank": (genbank([("chr1", random_letters(900))])[:700], ""),
    "GenBank without sequence": (
        genbank([("chr1", "ACGT")]).split(b"ORIGIN")[0] + b"CONTIG      join(Y:1..4)\n//\n",
        "chr1",
    ),
}


@pytest.mark.parametrize("name", GENOMES)
def test_genome(tmp_path, name):
    data, word = GENOMES[name]
    (tmp_path / "input").write_bytes(data)
    (tmp_path / "old.bed").write_bytes(b"what was here before\n")
    result = process("hamming", "input", *SEARCH, "-o", "old.bed", cwd=tmp_path)
    failed(result, "input", word)
    assert (tmp_path / "old.bed").read_bytes() == b"what was here before\n"
    assert sorted(os.listdir(tmp_path)) == ["input", "old.bed"]


@pytest.mark.parametrize("name", ["cut gz", "no name", "NUL bytes"])
def test_no_file_of_a_bad_genome(tmp_path, name):
    (tmp_path / "input").write_bytes(GENOMES[name][0])
    failed(process("hamming", "input", *SEARCH, "-o", "new.tsv.gz", cwd=tmp_path), "input")
    assert os.listdir(tmp_path) == ["input"]


def test_no_rows_of_a_bad_genome_on_standard_output(tmp_path):
    (tmp_path / "input").write_bytes(cut("gz"))
    failed(process("hamming", "input", *DENSE, cwd=tmp_path), "input")


def test_bad_standard_input():
    failed(process("hamming", "-", *SEARCH, stdin=b""), "standard input", "empty")
    failed(process("hamming", "-", *SEARCH, stdin=cut("gz")), "standard input", "truncated")


def test_2bit_through_a_pipe_works_or_is_one_line():
    result = process("hamming", "-", "-p", "ACGT", "-k", 0, stdin=twobit([("x", "TTACGTTT")]))
    if result.status:
        failed(result, "standard input")
    else:
        assert result.out == b"x\t2\t6\tACGT\t1000\t+\t0\nx\t2\t6\tACGT\t1000\t-\t0\n"


@pytest.mark.parametrize("role", ["genome", "patterns"])
def test_paths(tmp_path, genome, role):
    def search(path):
        given = {"genome": genome, "patterns": genome} | {role: path}
        return unprivileged("hamming", given["genome"], given["patterns"], "-k", 1)

    failed(search(tmp_path / "missing.fa"), "missing.fa", "No such file")
    failed(search(tmp_path), tmp_path, "directory")
    closed = tmp_path / "closed.fa"
    closed.write_bytes(FASTA)
    closed.chmod(0)
    failed(search(closed), "closed.fa", "ermission")


PATTERNS = {
    "letter": (b"ACGT\nfwd\tACGXT\n", ("fwd", "'X'", "position 4")),
    "letter in FASTA": (b">fwd primer\nACG\nT-A\n", ("fwd", "'-'", "position 5")),
    "letter without a name": (b"AC!T\n", ("AC!T", "'!'", "position 3")),
    "letter like another": ("ACGT\nfwd\tAC\u0421T\n".encode(), ("fwd", "\u0421", "position 3")),
    "a space, not a tab": (b"tag ACGT\n", ("tag ACGT", "' '", "position 4")),
    "no bytes": (b"", ("patterns.txt", "no patterns")),
    "comments": (b"# mine\n\n#ACGT\n", ("patterns.txt", "no patterns")),
    "columns": (b"ACGT\na\tACGT\t7\n", ("patterns.txt", "line 2", "3 columns")),
    "empty in FASTA": (b">a\nACGT\n>b\n>c\nACG\n", ("'b'", "empty")),
    "name without sequence": (b"GATTACA\t\n", ("GATTACA", "empty")),
    "k = m": (b"ACGT\nfwd\tA\n", ("fwd", "k = 1")),
    "binary": (bytes(range(256)), ("patterns.txt",)),
    "cut gz": (cut("gz"), ("patterns.txt", "truncated")),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns(tmp_path, genome, name):
    data, words = PATTERNS[name]
    (tmp_path / "patterns.txt").write_bytes(data)
    result = here("hamming", genome, tmp_path / "patterns.txt", "-k", 1, "-o", tmp_path / "o")
    failed(result, *words)
    assert not (tmp_path / "o").exists()


def test_patterns_on_the_command_line(genome):
    failed(here("hamming", genome, "-p", "ACGT", "-p", "AQ", "-k", 1), "AQ", "'Q'", "position 2")
    failed(here("hamming", genome, "-p", "ACGT", "-p", "AC", "-k", 2), "AC", "k = 2")
    failed(here("hamming", genome, "-p", "", "-k", 0), "pattern", "empty")


USAGE = {
    "negative k": ("GENOME", "-p", "ACGT", "-k", "-1"),
    "no k": ("GENOME", "-p", "ACGT"),
    "k is no number": ("GENOME", "-p", "ACGT", "-k", "one"),
    "no genome": ("-k", "1"),
    "patterns twice": ("GENOME", "GENOME", "-p", "ACGT", "-k", "1"),
    "no patterns": ("GENOME", "-k", "1"),
    "standard input twice": ("-", "-", "-k", "1"),
    "strand": ("GENOME", "-p", "ACGT", "-k", "1", "--strand", "plus"),
    "format": ("GENOME", "-p", "ACGT", "-k", "1", "--format", "xml"),
    "device": ("GENOME", "-p", "ACGT", "-k", "1", "--device", "gpu"),
    "device number": ("GENOME", "-p", "ACGT", "-k", "1", "--device", "cuda:first"),
    "algorithm": ("GENOME", "-p", "ACGT", "-k", "1", "--algorithm", "magic"),
    "threads": ("GENOME", "-p", "ACGT", "-k", "1", "-t", "0"),
    "exact end": ("GENOME", "-p", "ACGT", "-k", "1", "--exact-3p", "-1"),
    "option": ("GENOME", "-p", "ACGT", "-k", "1", "--mismatches", "2"),
}


@pytest.mark.parametrize("name", USAGE)
def test_usage(genome, name):
    words = [str(genome) if word == "GENOME" else word for word in USAGE[name]]
    misused(here("hamming", *words), "Usage: kmatch hamming")


def test_unknown_command():
    misused(process("hammer"), "hammer")


def test_usage_in_a_process(genome):
    misused(process("hamming", genome, "-p", "ACGT"), "Usage: kmatch hamming")


@pytest.mark.skipif(HAS_GPU, reason="there is a GPU, which --device cuda may use")
@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cuda:0,1"])
def test_no_gpu(genome, device):
    failed(process("hamming", genome, *SEARCH, "--device", device), device, "GPU", "cpu")


def test_output_places(tmp_path, genome):
    folder, closed = tmp_path / "folder", tmp_path / "closed"
    folder.mkdir()
    closed.mkdir(0o500)
    search = ("hamming", genome, *SEARCH, "-o")
    failed(process(*search, tmp_path / "none" / "hits.bed"), tmp_path / "none", "folder")
    failed(process(*search, folder), folder, "directory")
    failed(unprivileged(*search, closed / "hits.bed"), closed / "hits.bed", "ermission")
    assert not (tmp_path / "none").exists()
    assert os.listdir(folder) == os.listdir(closed) == []


@pytest.mark.parametrize("name", ["hits.bed", "hits.tsv", "hits.bed.gz"])
def test_disk_full(tmp_path, large, name):
    # 4 MB is more than any compiled kernel that Numba may want to keep; the output is larger.
    limited = 'ulimit -f 4096; exec "$@"' if name != "hits.bed.gz" else 'ulimit -f 1024; exec "$@"'
    result = shell(limited, "hamming", large, *DENSE, "-o", tmp_path / name)
    failed(result, name, "too large")
    assert os.listdir(tmp_path) == ["large.fa"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("search", [(*SEARCH[:2], "-k", 6), DENSE], ids=["short", "dense"])
def test_full_standard_output(large, search):
    failed(shell('"$@" > /dev/full', "hamming", large, *search), "standard output", "No space")
    failed(process("hamming", large, *search, "-o", "/dev/full"), "/dev/full", "No space")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("words", [("info",), ("--help",)])
def test_full_standard_output_of_other_commands(words):
    failed(shell('"$@" > /dev/full', *words), "No space")


def test_closed_streams(genome):
    failed(shell('"$@" <&-', "hamming", "-", *SEARCH), "standard input")
    failed(shell('"$@" >&-', "hamming", genome, *SEARCH), "standard output")


def test_debug_shows_a_traceback(tmp_path):
    result = process("hamming", tmp_path / "missing.fa", *SEARCH, "--debug")
    assert result.status == 1
    assert b"Traceback" in result.err and b"missing.fa" in result.err


@pytest.mark.parametrize("end", ["head -1", "true"])
@pytest.mark.parametrize("output", [(), ("-o", "/dev/stdout")], ids=["", "-o /dev/stdout"])
def test_closed_pipe(large, end, output):
    script = f'"$@" | {end}; exit ${{PIPESTATUS[0]}}'
    result = shell(script, "hamming", large, *DENSE, *output)
    assert result.err == b""
    assert result.status in (0, 128 + signal.SIGPIPE)
    assert result.out.count(b"\n") == (end == "head -1")


def test_interrupt(tmp_path):
    command = [*KMATCH, "hamming", "-", *map(str, DENSE), "-o", "hits.bed"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        running.stdin.write(FASTA)
        running.stdin.flush()
        deadline = time.monotonic() + 30
        while not os.listdir(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        message = running.stderr.read().decode()
        assert running.wait(30) == 130
    assert "Traceback" not in message
    assert message.strip() == "kmatch: error: interrupted"
    assert os.listdir(tmp_path) == []


def test_nowhere_to_keep_compiled_kernels(tmp_path):
    copy = tmp_path / "kmatch"
    shutil.copytree(
        Path(kmatch.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder, _, _ in os.walk(copy):
        os.chmod(folder, 0o555)
    nowhere = {"HOME": "/proc/nothing", "XDG_CACHE_HOME": "/proc/nothing"}
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | nowhere
    result = unprivileged("info", cwd=tmp_path, env=environment | {"PYTHONPATH": str(tmp_path)})
    for folder, _, _ in os.walk(copy):
        os.chmod(folder, 0o755)
    assert result.err == b""
    assert result.status == 0
