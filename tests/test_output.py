"""Where tables go: standard output, files that are whole or absent, devices and pipes."""

import gzip
import os
import shutil
import stat
import subprocess
import threading

import pytest
from support.commands import fasta, here, process, random_letters, shell

HEADER = b"sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch\n"
PANEL = ("-p", "ACGTTGC", "-p", "NRYAC", "-p", "TTGACCA", "-p", "GATC", "-k", 2)
RECORDS = [("chr1 the first", random_letters(4_000)), ("chr2", random_letters(900, 2))]


@pytest.fixture
def genome(tmp_path):
    path = tmp_path / "genome.fa"
    path.write_bytes(fasta(RECORDS))
    return path


@pytest.fixture
def tables(genome):
    """The BED and TSV that a search writes to standard output."""
    found = {form: here("hamming", genome, *PANEL, "--format", form).out for form in ("bed", "tsv")}
    assert found["tsv"].startswith(HEADER) and found["bed"].startswith(b"chr1\t")
    assert found["bed"].count(b"\n") == found["tsv"].count(b"\n") - 1 > 1000
    return found


def written(genome, path, *options):
    """Search with -o and give the file's bytes; nothing may be said and nothing left beside it."""
    before = set(os.listdir(path.parent))
    assert here("hamming", genome, *PANEL, "-o", path, *options) == (0, b"", b"")
    assert set(os.listdir(path.parent)) == before | {path.name}
    return path.read_bytes()


@pytest.mark.parametrize(
    "name, options, form",
    [
        ("hits.bed", (), "bed"),
        ("hits.tsv", (), "tsv"),
        ("hits.txt", (), "bed"),
        ("hits", (), "bed"),
        ("tsv", (), "bed"),
        ("a name.with dots.tsv", (), "tsv"),
        ("hits.bed", ("--format", "tsv"), "tsv"),
        ("hits.tsv", ("--format", "bed"), "bed"),
        ("hits.txt", ("--format", "tsv"), "tsv"),
    ],
)
def test_files_hold_what_standard_output_does(tmp_path, genome, tables, name, options, form):
    assert written(genome, tmp_path / name, *options) == tables[form]


@pytest.mark.parametrize(
    "name, options, form",
    [
        ("hits.bed.gz", (), "bed"),
        ("hits.tsv.gz", (), "tsv"),
        ("hits.gz", (), "bed"),
        ("hits.gz", ("--format", "tsv"), "tsv"),
    ],
)
def test_gz_compresses(tmp_path, genome, tables, name, options, form):
    data = written(genome, tmp_path / name, *options)
    assert len(data) < len(tables[form]) / 2
    assert gzip.decompress(data) == tables[form]


def test_gz_holds_no_time_and_no_passing_name(tmp_path, genome):
    data = written(genome, tmp_path / "hits.bed.gz")
    assert data[4:8] == bytes(4)
    assert b"partial" not in data[:64]
    assert written(genome, tmp_path / "hits.bed.gz") == data


def test_standard_output_is_bed_by_default(genome, tables):
    assert here("hamming", genome, *PANEL).out == tables["bed"]
    assert process("hamming", genome, *PANEL) == (0, tables["bed"], b"")


def test_a_file_is_replaced_whole(tmp_path, genome, tables):
    path = tmp_path / "hits.bed"
    path.write_bytes(b"something longer\n" * 100_000)
    other = tmp_path / "other-name-of-the-old-file"
    os.link(path, other)
    assert written(genome, path) == tables["bed"]
    assert other.read_bytes().startswith(b"something longer\n")


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_a_link(tmp_path, genome, tables, exists):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target.bed", tmp_path / "link.bed"
    if exists:
        target.write_bytes(b"old\n")
    link.symlink_to("folder/target.bed")
    assert here("hamming", genome, *PANEL, "-o", link) == (0, b"", b"")
    assert link.is_symlink() and os.readlink(link) == "folder/target.bed"
    assert not target.is_symlink() and target.read_bytes() == tables["bed"]
    assert os.listdir(tmp_path / "folder") == ["target.bed"]


def test_a_path_without_a_folder(tmp_path, genome, tables, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert here("hamming", genome, *PANEL, "-o", "hits.bed") == (0, b"", b"")
    assert (tmp_path / "hits.bed").read_bytes() == tables["bed"]


@pytest.mark.parametrize("mask, mode", [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
@pytest.mark.parametrize("name", ["hits.bed", "hits.bed.gz"])
def test_mode_bits_obey_umask(tmp_path, genome, name, mask, mode):
    before = os.umask(mask)
    try:
        written(genome, tmp_path / name)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == mode


def test_an_empty_name(tmp_path, genome, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = here("hamming", genome, *PANEL, "-o", "")
    assert (result.status, result.out) == (1, b"") and b"name of the output is empty" in result.err
    assert os.listdir(tmp_path) == ["genome.fa"]


def test_devices_stay_devices(genome, tables):
    assert here("hamming", genome, *PANEL, "-o", "/dev/null") == (0, b"", b"")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    result = process("hamming", genome, *PANEL, "-o", "/dev/stdout")
    assert result == (0, tables["bed"], b"")
    assert os.path.islink("/dev/stdout")


def test_dev_stdout_takes_its_turn_in_a_file(tmp_path, genome, tables):
    script = '{ echo first; "$@"; echo last; } > out.txt'
    shell(script, "hamming", genome, *PANEL, "-o", "/dev/stdout", cwd=tmp_path)
    assert (tmp_path / "out.txt").read_bytes() == b"first\n" + tables["bed"] + b"last\n"


def test_named_pipe(tmp_path, genome, tables):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    result = here("hamming", genome, *PANEL, "-o", pipe)
    reader.join(10)
    assert result == (0, b"", b"") and got == [tables["bed"]]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["genome.fa", "pipe"]


def test_quiet_and_verbose(genome):
    twice = ("hamming", genome, "-p", "ACGTTGC", "-p", "ACGTTGC", "-k", 2, "--device", "cpu")
    plain = here(*twice)
    assert plain.err.count(b"\n") == 1 and b"warning" in plain.err
    assert here(*twice, "-q") == (0, plain.out, b"")
    loud = here(*twice, "-v")
    assert (loud.status, loud.out) == (0, plain.out)
    rows = plain.out.count(b"\n")
    assert b"cpu" in loud.err and f"{rows:,} hits".encode() in loud.err


def test_verbose_names_the_device_of_auto(genome):
    said = here("hamming", genome, *PANEL, "-v").err.decode().splitlines()
    assert sum("device" in line and ("cpu" in line or "cuda" in line) for line in said) == 1


@pytest.mark.parametrize("form, empty", [("bed", b""), ("tsv", HEADER)])
def test_no_hits(tmp_path, genome, form, empty):
    search = ("hamming", genome, "-p", "ACGTTGCA" * 5, "-k", 1)
    assert here(*search, "--format", form) == (0, empty, b"")
    assert process(*search, "--format", form) == (0, empty, b"")
    path = tmp_path / f"none.{form}"
    assert here(*search, "-o", path).status == 0
    assert path.read_bytes() == empty
    assert here(*search, "-o", f"{path}.gz").status == 0
    assert gzip.decompress((tmp_path / f"none.{form}.gz").read_bytes()) == empty


@pytest.mark.parametrize("form", ["bed", "tsv"])
def test_bytes_do_not_depend_on_threads(genome, tables, form):
    for threads in (1, 2, 64):
        result = here("hamming", genome, *PANEL, "--format", form, "-t", threads)
        assert result == (0, tables[form], b"")


def test_rows_are_in_order_and_scores_in_range(tables):
    rows = [line.split("\t") for line in tables["bed"].decode().splitlines()]
    panel = PANEL[1:-2:2]
    keys = [(r[0], int(r[1]), int(r[2]), "+-".index(r[5]), panel.index(r[3])) for r in rows]
    assert keys == sorted(keys) and len(set(keys)) == len(keys)
    assert {int(row[4]) for row in rows} <= set(range(1001))
    for _, start, end, name, score, _, distance in rows:
        assert int(end) - int(start) == len(name)
        assert int(score) == round(1000 * (1 - int(distance) / len(name)))


def test_the_two_formats_say_the_same(tables):
    bed = [line.split(b"\t") for line in tables["bed"].splitlines()]
    tsv = [line.split(b"\t") for line in tables["tsv"].splitlines()[1:]]
    assert [(*row[:4], row[6], row[5]) for row in bed] == [tuple(row[:6]) for row in tsv]


@pytest.mark.skipif(shutil.which("bedtools") is None, reason="bedtools is not installed")
class TestBedtools:
    def bedtools(self, *arguments):
        done = subprocess.run(["bedtools", *map(str, arguments)], capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")
        return [line.split("\t") for line in done.stdout.decode().splitlines()]

    @pytest.fixture
    def bed(self, tmp_path, genome):
        path = tmp_path / "hits.bed"
        written(genome, path)
        return path

    def rows(self, bed):
        return [line.split("\t") for line in bed.read_text().splitlines()]

    def test_sort(self, bed):
        def places(rows):
            return [row[:2] for row in rows]

        found = self.bedtools("sort", "-i", bed)
        assert places(found) == places(self.rows(bed))
        assert sorted(found) == sorted(self.rows(bed))

    def test_merge(self, bed):
        covered = {(r[0], i) for r in self.rows(bed) for i in range(int(r[1]), int(r[2]))}
        merged = self.bedtools("merge", "-s", "-i", bed)
        found = {(r[0], i) for r in merged for i in range(int(r[1]), int(r[2]))}
        assert found == covered

    def test_intersect(self, bed, tmp_path):
        region = tmp_path / "region.bed"
        region.write_text("chr1\t1000\t1500\n")
        found = self.bedtools("intersect", "-u", "-wa", "-a", bed, "-b", region)
        rows = self.rows(bed)
        assert found == [
            r for r in rows if r[0] == "chr1" and int(r[1]) < 1500 and int(r[2]) > 1000
        ]
        assert 0 < len(found) < len(rows)
