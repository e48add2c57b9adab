"""Where tables go: standard output, files that are whole or absent, devices and pipes."""

import gzip
import os
import shutil
import signal
import stat
import subprocess
import threading
from contextlib import contextmanager

import pytest
from support.commands import failed, fasta, here, process, random_letters, shell, unprivileged

from kmatch.errors import OutputError
from kmatch.results.bgzf import block_of
from kmatch.results.output import open_output

HEADER = b"sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch\n"
PANEL = ("-p", "ACGTTGC", "-p", "NRYAC", "-p", "TTGACCA", "-p", "GATC", "-k", 2)
SEARCH = ("hamming", "genome.fa", *PANEL)
DENSE = ("-p", "ACGT", "-k", 3)
FASTA = fasta([("chr1 the first", random_letters(4_000)), ("chr2", random_letters(900, 2))])
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, with a genome and patterns."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "genome.fa").write_bytes(FASTA)
    (tmp_path / "patterns.txt").write_bytes(b"a\tACGTTGC\nb\tTTGACCA\n")
    return tmp_path


@pytest.fixture
def large(folder):
    (folder / "large.fa").write_bytes(fasta([("chr1", random_letters(400_000))]))
    return "large.fa"


@pytest.fixture
def tables():
    """The BED and TSV that a search writes to standard output."""
    found = {form: here(*SEARCH, "--format", form).out for form in ("bed", "tsv")}
    assert found["tsv"].startswith(HEADER) and found["bed"].startswith(b"chr1\t")
    assert found["bed"].count(b"\n") == found["tsv"].count(b"\n") - 1 > 1000
    return found


# The names of files, what --format says, and what they hold.
FILES = """
    hits.bed - bed, hits.tsv - tsv, hits.txt - bed, hits - bed, tsv - bed, a.with.dots.tsv - tsv,
    of.bed tsv tsv, of.tsv bed bed, of.txt tsv tsv, of.gz tsv tsv, h.bed.gz - bed, h.tsv.gz - tsv,
    h.gz - bed
"""


def test_files_hold_what_standard_output_does(tables):
    for name, asked, form in map(str.split, FILES.split(",")):
        options, before = ("--format", asked) if asked != "-" else (), set(os.listdir())
        assert here(*SEARCH, "-o", name, *options) == (0, b"", b"")
        assert set(os.listdir()) == before | {name}
        with open(name, "rb") as handle:
            data = handle.read()
        if name.endswith(".gz"):
            assert len(data) < len(tables[form]) / 2
            assert data[4:8] == bytes(4) and b"partial" not in data[:64]  # no time, no passing name
            data = gzip.decompress(data)
        assert data == tables[form], name
    assert here(*SEARCH).out == tables["bed"]
    assert process(*SEARCH) == (0, tables["bed"], b"")


def test_quiet_and_verbose():
    twice = ("hamming", "genome.fa", "-p", "ACGTTGC", "-p", "ACGTTGC", "-k", 2)
    plain = here(*twice)
    assert plain.err.count(b"\n") == 1 and b"the name stands for more than one pattern" in plain.err
    assert here(*twice, "-q") == (0, plain.out, b"")
    loud = here(*twice, "-v")
    assert (loud.status, loud.out) == (0, plain.out)
    assert f"{plain.out.count(bytes([10])):,} hits".encode() in loud.err
    said = loud.err.decode().splitlines()
    assert sum("device" in line and ("cpu" in line or "cuda" in line) for line in said) == 1


@pytest.mark.skipif(not shutil.which("tabix"), reason="tabix is not installed")
@pytest.mark.parametrize(
    "name, options",
    [("h.bed.gz", ("-p", "bed")), ("h.gff3.gz", ("-p", "gff")), ("h.tsv.gz", "-0 -S1 -s1 -b2 -e3")],
)
def test_tabix_finds_rows(large, name, options):
    """In files of several blocks."""
    options = options.split() if isinstance(options, str) else options
    assert here("hamming", large, *DENSE, "-o", name) == (0, b"", b"")
    with gzip.open(name, "rt") as handle:
        lines = [line for line in handle if line.startswith("chr1\t")]
    column = 3 if "gff" in name else 1
    near = []
    for line in lines:
        start = int(line.split("\t")[column]) - ("gff" in name)  # letters of ACGT begin at 0
        if 349_996 < start < 350_100:
            near.append(line)
    subprocess.run(["tabix", *options, name], check=True)
    found = subprocess.check_output(["tabix", name, "chr1:350001-350100"], text=True)
    assert found.splitlines(keepends=True) == near and 10 < len(near) < len(lines) / 1000


@pytest.mark.skipif(not shutil.which("samtools"), reason="samtools is not installed")
def test_samtools_indexes_compressed_sam(large):
    assert here("hamming", large, *DENSE, "-o", "h.sam.gz") == (0, b"", b"")
    for words in (("quickcheck",), ("index",)):
        subprocess.run(["samtools", *words, "h.sam.gz"], check=True)
    view = ["samtools", "view", "h.sam.gz", "chr1:350001-350100"]
    found = subprocess.check_output(view, text=True).splitlines()
    assert found and all(349_997 < int(row.split("\t")[3]) <= 350_100 for row in found)


def test_blocks_of_gzip(folder):
    """Blocks hold 65,280 bytes, say their size, and end with an empty one, as the format has it."""
    data = random_letters(150_000).encode()
    for pieces in ([data], [data[:100], data[100:140_000], data[140_000:]], []):
        with open_output("x.gz") as handle:
            for piece in pieces:
                handle.write(piece)
        packed = (folder / "x.gz").read_bytes()
        sizes = []
        while packed:
            size = int.from_bytes(packed[16:18], "little") + 1
            sizes.append(len(gzip.decompress(packed[:size])))
            packed = packed[size:]
        assert sizes == ([65_280, 65_280, 19_440, 0] if pieces else [0])
        with gzip.open("x.gz") as handle:
            assert handle.read() == b"".join(pieces)
    assert block_of(b"").hex() == "1f8b08040000000000ff0600424302001b0003000000000000000000"


# Files that take their place when they are whole


def write(path, data=b"new\n"):
    with open_output(path) as handle:
        handle.write(data)


@contextmanager
def mask(bits):
    before = os.umask(bits)
    try:
        yield
    finally:
        os.umask(before)


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_a_link_and_the_old_file_whole(folder, exists):
    (folder / "inner").mkdir()
    target = folder / "inner" / "target.bed"
    if exists:
        target.write_bytes(b"something longer\n" * 100_000)
        os.link(target, "other-name-of-the-old-file")
    (folder / "link.bed").symlink_to("inner/target.bed")
    write("link.bed")
    assert os.readlink("link.bed") == "inner/target.bed"
    assert not target.is_symlink() and target.read_bytes() == b"new\n"
    assert os.listdir(folder / "inner") == ["target.bed"]
    assert not exists or os.path.getsize("other-name-of-the-old-file") == 1_700_000


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
@pytest.mark.parametrize("name", ["hits.bed", "hits.bed.gz"])
def test_a_replaced_file_keeps_its_mode(folder, name, mode):
    (folder / name).write_bytes(b"old\n")
    (folder / name).chmod(mode)
    with mask(0o022), open_output(name) as handle:
        (partial,) = folder.glob("*.partial")
        assert mode_of(partial) == mode  # at no time more may read it
        handle.write(b"new\n")
    assert mode_of(name) == mode


def test_a_new_file_follows_the_umask():
    for bits, mode in ((0o022, 0o644), (0o077, 0o600), (0o027, 0o640)):
        with mask(bits):
            write(f"{bits}.bed.gz")
        assert mode_of(f"{bits}.bed.gz") == mode


@AS_ROOT
def test_a_replaced_file_keeps_its_owner(folder, monkeypatch):
    (folder / "hits.bed").write_bytes(b"old\n")
    os.chown("hits.bed", 1234, 2345)
    write("hits.bed")
    assert (os.stat("hits.bed").st_uid, os.stat("hits.bed").st_gid) == (1234, 2345)
    # Another group may not read what the old one might.
    monkeypatch.setattr(os, "fchown", lambda *_: os.stat("nothing"))
    for mode, left in ((0o640, 0o600), (0o664, 0o644), (0o660, 0o600)):
        os.chmod("hits.bed", mode)
        os.chown("hits.bed", -1, 2345)
        write("hits.bed")
        assert mode_of("hits.bed") == left


@pytest.mark.parametrize("name", ["n" * 255, "ü" * 127, "n" * 248 + ".tsv.gz"])
def test_a_name_may_be_as_long_as_the_file_system_allows(name):
    before = set(os.listdir())
    write(name)
    write(name)
    assert set(os.listdir()) == before | {name}


def test_two_writers_of_one_file(folder):
    with open_output("hits.bed") as first:
        first.write(b"first\n")
        write("hits.bed", b"second\n")
        assert (folder / "hits.bed").read_bytes() == b"second\n"
    assert (folder / "hits.bed").read_bytes() == b"first\n"
    assert not list(folder.glob("*.partial"))


@pytest.mark.parametrize("form", ["tsv", "csv", "gff3", "view", "bed"])
@pytest.mark.parametrize(
    "genome, more",
    [(">c\nACGTEACGT\n", ()), (">c\nACGT\n", ("--variants", "bad.vcf")), ("ACGT\n", ())],
)
def test_nothing_is_written_before_an_error_at_the_first_row(folder, form, genome, more):
    (folder / "bad.fa").write_text(genome)
    (folder / "bad.vcf").write_text(
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        "c\t1\t.\tC\tG\t.\t.\t.\n"  # and c begins with A
    )
    result = here("hamming", "bad.fa", "-p", "ACGT", "-k", 0, "--format", form, *more)
    assert (result.status, result.out) == (1, b"") and result.err.startswith(b"kmatch: error: bad.")


def test_a_header_stands_above_no_rows():
    result = here("hamming", "genome.fa", "-p", "ACGT" * 8, "-k", 0, "--format", "tsv")
    assert result == (0, HEADER, b"")


# What cannot be written


def test_places_that_cannot_be_written(folder):
    """Others are in golden/usage.md."""
    (folder / "closed").mkdir(0o500)
    failed(here(*SEARCH, "-o", "n" * 256), "too long")
    failed(unprivileged(*SEARCH, "-o", "closed/hits.bed"), "closed/hits.bed", "ermission")
    assert os.listdir("closed") == []


@pytest.mark.parametrize("name", ["hits.bed", "hits.tsv", "hits.bed.gz"])
def test_disk_full(large, name):
    # 4 MB is more than any compiled kernel that Numba may want to keep; the output is larger.
    limited = f'ulimit -f {1024 if name.endswith(".gz") else 4096}; exec "$@"'
    before = sorted(os.listdir())
    failed(shell(limited, "hamming", large, *DENSE, "-o", name), name, "too large")
    assert sorted(os.listdir()) == before


@FULL
def test_full_devices(folder, large):
    for k in (3, 0):  # many rows, and fewer than a buffer holds
        search = ("hamming", large, "-p", "ACGTAC", "-k", k)
        failed(shell('"$@" > /dev/full', *search), "standard output", "No space")
        failed(here(*search, "-o", "/dev/full"), "/dev/full", "No space")
    for word in ("info", "--help"):
        failed(shell('"$@" > /dev/full', word), "No space")
    for size in (10, 1 << 20):  # of two outputs the one that is full is reported
        with (
            pytest.raises(OutputError, match=r"/dev/full: .*No space"),
            open_output("hits.bed") as hits,
            open_output("/dev/full") as full,
        ):
            hits.write(b"x" * size)
            full.write(b"x" * size)
        assert not list(folder.glob("hits*"))


@pytest.mark.parametrize("end", ["head -1", "true"])
@pytest.mark.parametrize("output", [(), ("-o", "/dev/stdout")], ids=["", "-o /dev/stdout"])
def test_closed_pipe(large, end, output):
    script = f'"$@" | {end}; exit ${{PIPESTATUS[0]}}'
    result = shell(script, "hamming", large, *DENSE, *output)
    assert result.err == b"" and result.status in (0, 128 + signal.SIGPIPE)
    assert result.out.count(b"\n") == (end == "head -1")


# Devices and pipes


def test_devices_stay_devices(folder, tables):
    assert here(*SEARCH, "-o", "/dev/null") == (0, b"", b"")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert process(*SEARCH, "-o", "/dev/stdout") == (0, tables["bed"], b"")
    assert os.path.islink("/dev/stdout")
    shell('{ echo first; "$@"; echo last; } > out.txt', *SEARCH, "-o", "/dev/stdout")
    assert (folder / "out.txt").read_bytes() == b"first\n" + tables["bed"] + b"last\n"


def test_named_pipe(folder, tables):
    os.mkfifo("pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append((folder / "pipe").read_bytes()))
    reader.start()
    result = here(*SEARCH, "-o", "pipe")
    reader.join(10)
    assert result == (0, b"", b"") and got == [tables["bed"]]
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
