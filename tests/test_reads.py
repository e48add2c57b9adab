"""Reads as they stand, `kmatch filter` and `demux`, and their Python, beside the random cases."""

import gzip
import io
import json
import os
import random
import resource
import signal
import subprocess

import naive
import naive_reads
import numpy as np
import pytest
from Bio.bgzf import BgzfBlocks
from fuzzing.reads import quality, record
from support.commands import KMATCH, compressed, failed, fasta, fastq, here, process, random_letters
from support.documents import ROOT

import kmatch
from kmatch.apps.reads import Barcodes, Sites
from kmatch.errors import InputError, NameWarning
from kmatch.sequences import reads as reading
from kmatch.sequences.patterns import load_patterns
from kmatch.sequences.reads import ReadFile, Spans

BARCODES = {"b1": "ACGTTGCAGTCC", "b2": "GGATTACCAGTT", "b3": "TTGGCCTAGGAT"}


def taken(path, counts=(None,)):
    """The RawReads of a file, taken as many at a time as counts say, by turns."""
    with ReadFile(path) as file:
        turn = 0
        while len(found := file.read(counts[turn % len(counts)])):
            yield found
            turn += 1
    assert len(found.letters) == 0


# What is read

FORMS = {
    "FASTA": ">r1 one\nACGT\nNNac\n>r2\tx\n\n>r3\nGGGTTT\nA\n\n>r4\n",
    "FASTA with blanks": ">r1 one\nAC GT\n\tNNac\n>r2\nG\n",
    "FASTA without an end": ">r1\nACGT\n>r2\nAC\nGT",
    "FASTQ": '@r1 one\nACGT\n+\n@@>+\n@r2\n\n+\n\n@r3\nAC\n+r3\n"~\n',
    "FASTQ with blank lines": "@r1\nACGT\n+\nABCD\n\n\n@r2\n\n+\n\n@r3\nA\n+\n!\n\n",
    "FASTQ without an end": "@r1\nACGT\n+\nABCD\n@r2\nAC\n+\nAB",
}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("form", FORMS)
def test_records_stand_as_in_the_file(form, newline, tmp_path, monkeypatch):
    """They have the names and letters that searches of genomes read, wherever blocks end."""
    data = FORMS[form].replace("\n", newline).encode()
    (tmp_path / "reads").write_bytes(data)
    genome = kmatch.Genome(tmp_path / "reads")
    wanted = [(each.name, each.letters[:].tobytes()) for each in genome.records()]
    records = FORMS[form].replace("\n\n\n", "\n").replace("!\n\n", "!\n")  # no blank lines between
    for block in (1, 2, 3, 7, 1 << 20):
        monkeypatch.setattr(reading, "BLOCK", block)
        for counts in ((None,), (1,), (2, 1), (99,)):
            found, written = [], b""
            for part in taken(tmp_path / "reads", counts):
                pieces = np.split(part.letters, part.bounds[1:-1])
                found += [(part.name_of(row), each.tobytes()) for row, each in enumerate(pieces)]
                written += part.written(np.arange(len(part)))[1].tobytes()
            assert found == wanted
            assert written == records.replace("\n", newline).encode()


def test_comments_above_fasta(tmp_path):
    (tmp_path / "reads").write_bytes(b"; a comment\n#another\n\n>r1\nACGT\n")
    (part,) = taken(tmp_path / "reads")
    assert part.name_of(0) == "r1" and part.written(np.array([0]))[1].tobytes() == b">r1\nACGT\n"


@pytest.mark.parametrize("width", [0, 3])
@pytest.mark.parametrize("form", ["fa", "fq"])
def test_trimmed_records(form, width, tmp_path):
    """What is whole stays as it stands; what is cut of FASTA comes in one line.

    ACGTNACG  kept 2, 5:  GTN     TTTT  kept 0, 4: whole     GGG  kept 3, 3: nothing
    """
    reads = [("r1 x", "ACGTNACG"), ("r2", "TTTT"), ("r3", "GGG")]
    data = b"".join(record(form, *read, width) for read in reads)
    (tmp_path / "reads").write_bytes(data)
    (part,) = taken(tmp_path / "reads")
    rows = np.array([2, 0, 1])
    kept = Spans(np.array([3, 2, 0]), np.array([3, 5, 4]))
    bounds, written = part.trimmed(rows, kept)
    scores = quality("ACGTNACG")[2:5]
    wanted = {
        "fa": [b">r3\n\n", b">r1 x\nGTN\n", record("fa", "r2", "TTTT", width)],
        "fq": [b"@r3\n\n+\n\n", f"@r1 x\nGTN\n+\n{scores}\n".encode(), record("fq", "r2", "TTTT")],
    }
    assert written.tobytes() == b"".join(wanted[form])
    assert np.diff(bounds).tolist() == [len(each) for each in wanted[form]]


@pytest.mark.parametrize(
    "mates, words",
    [
        ("r1 r2", ("read 3 is 'r3' in", "none in")),
        ("r1 r2 r3 r4", ("read 4 is none in", "'r4' in")),
        ("r1 rx r3", ("read 2 is 'r2' in", "'rx' in")),
        ("r1 r3 r2", ("read 2 is 'r2' in", "'r3' in")),
        ("r1 r2 r31", ("read 3 is 'r3' in", "'r31' in")),
    ],
)
def test_mates_that_do_not_fit(mates, words, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "BLOCK", 5)
    (tmp_path / "a.fq").write_bytes(fastq([(f"r{n} of a cell", "ACGTTGCA") for n in (1, 2, 3)]))
    (tmp_path / "b.fa").write_bytes(fasta([(name, "ACGT") for name in mates.split()]))
    how = {"mates": tmp_path / "b.fa", "device": "cpu"}
    with pytest.raises(InputError) as raised:
        kmatch.demux(tmp_path / "a.fq", BARCODES, 0, split=tmp_path / "out", **how)
    assert all(word in str(raised.value) for word in words)
    assert sorted(os.listdir(tmp_path)) == ["a.fq", "b.fa"]


def test_mates_in_the_same_file(tmp_path, monkeypatch):
    """A file given twice would fit itself."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_R1.fq").write_bytes(fastq([("r1", "ACGTTGCA")]))
    (tmp_path / "link.fq").symlink_to("a_R1.fq")
    (tmp_path / "b.txt").write_text("b1\tACGTTGCA\n")
    split = ("demux", "a_R1.fq", "b.txt", "-k", 0, "--split", "out", "--mates")
    kept = ("filter", "a_R1.fq", "b.txt", "-k", 0, "-o", "o.fq", "--mates-out", "m.fq", "--mates")
    for arguments in (split, kept):
        for mates in ("a_R1.fq", "./a_R1.fq", "link.fq"):
            failed(here(*arguments, mates), "the mates are in the same file as the first reads")
    assert sorted(os.listdir(tmp_path)) == ["a_R1.fq", "b.txt", "link.fq"]


def test_names_of_mates(tmp_path):
    """They may end in 1 and 2."""
    names = [["r/1", "r.1", "a1 x", "12"], ["r/2", "r.2", "a2 y", "11"]]
    for path, each in zip("ab", names, strict=True):
        (tmp_path / path).write_bytes(fastq([(name, "ACGTAC") for name in each]))
    kept = tmp_path / "kept.fq"
    how = {"mates": tmp_path / "b", "mates_output": tmp_path / "m.fq", "device": "cpu"}
    assert kmatch.filter_reads(tmp_path / "a", ["ACG"], 0, kept, **how) == (4, 4)
    assert (tmp_path / "m.fq").read_bytes() == (tmp_path / "b").read_bytes()


# What is decided


def test_the_outermost_of_equal_sites(tmp_path):
    """On + the first, on - the last, and + before -.

    +  b1··b1··      -  ··1b··1b      both  ··1b··b1··
    """
    site, back = BARCODES["b1"], naive.reverse_complement(BARCODES["b1"])
    texts = [f"{site}AA{site}A", f"A{back}AA{back}", f"AA{back}C{site}A"]
    (tmp_path / "reads").write_bytes(fasta(list(zip("abc", texts, strict=True))))
    found = kmatch.demux(tmp_path / "reads", BARCODES, 1, edit=True, device="cpu")
    places = list(zip(found.strand, found.start, found.end, strict=True))
    assert places == [("+", 0, 12), ("-", 15, 27), ("+", 15, 27)]


def test_only_the_closest_sites_are_kept():
    """Of random sites, dropped in parts of any size, the same are the best and the second ones."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        count = int(rng.integers(0, 40))
        columns = [rng.integers(0, most, count) for most in (4, 20, 20, 2, 4, 3, 2)]
        sites = Sites(*columns)
        kept = sites.closest()
        for _ in range(2):
            near, some = (each.take(each.is_far == 0) for each in (sites, kept))
            best, same = near.take(near.best()), some.take(some.best())
            assert all(map(np.array_equal, best, same))
            others, fewer = sites.apart_from(best), kept.apart_from(same)
            others = others.take(np.isin(others.record, best.record))
            fewer = fewer.take(np.isin(fewer.record, best.record))
            assert others.distance[others.best()].tolist() == fewer.distance[fewer.best()].tolist()
            assert others.barcode[others.best()].tolist() == fewer.barcode[fewer.best()].tolist()
            kept = kept.closest()


def test_python_and_its_table(tmp_path):
    rng = random.Random(2)
    reads = []
    for number in range(60):
        letters = rng.choice([*BARCODES.values(), ""])
        text = random_letters(40, number) + letters + random_letters(30, 99 + number)
        reads.append((f"r{number}", rng.choice([text, naive.reverse_complement(text)])))
    path = tmp_path / "reads.fq.gz"
    path.write_bytes(gzip.compress(fastq(reads)))
    heard = []
    how = {"edit": True, "margin": 3, "device": "cpu", "threads": 1}
    found = kmatch.demux(path, BARCODES, 3, on_progress=lambda *sizes: heard.append(sizes), **how)
    wanted = [naive_reads.demux(text, list(BARCODES.items()), [3] * 3, True, None, 3)
              for _, text in reads]  # fmt: skip
    found.to_tsv(out := io.BytesIO())
    table = naive_reads.table(*zip(*((n, len(t)) for n, t in reads), strict=True), wanted)
    assert out.getvalue().decode() == table
    found.to_summary(out := io.BytesIO())
    assert out.getvalue().decode() == naive_reads.summary(list(BARCODES.items()), 3, wanted)
    assert heard[-1] == (os.path.getsize(path),) * 2
    assert found.statuses == {status: [r.status for r in wanted].count(status)
                              for status in ("assigned", "ambiguous", "unassigned")}  # fmt: skip
    assert len(set(found.status)) == 3 and len(found) == len(list(found)) == 60
    some = found[found.status == "assigned"]
    assert some.statuses["ambiguous"] == 0 and len(some) == sum(some.statuses.values())
    assert {row["barcode"]: row["reads"] for row in found.facts} == {
        name: some.barcode.tolist().count(name) for name in BARCODES
    }
    assert found[0].read == "r0" and repr(found).startswith("<Reads: 60 reads")
    for refused in (found.to_bed, lambda _: found.plot()):
        with pytest.raises(kmatch.OutputError, match="reads have no"):
            refused(io.BytesIO())


def test_names_and_quotes(tmp_path):
    """Control characters become _, once told; CSV has quotes."""
    names = ["a,b", 'a"b', "a\x01b", "\u00e4", "\x9b2J"]
    (tmp_path / "reads").write_bytes(fasta([(name, "ACGT") for name in names]))
    with pytest.warns(NameWarning, match="control characters") as warned:
        found = kmatch.demux(tmp_path / "reads", ["ACG"], 0, device="cpu")
        assert found.read.tolist() == ["a,b", 'a"b', "a_b", "\u00e4", "_2J"]
    assert sum(warning.category is NameWarning for warning in warned) == 1
    found.to_csv(out := io.BytesIO())
    cells = [line.split(",4,")[0] for line in out.getvalue().decode().splitlines()[1:]]
    assert cells == ['"a,b"', '"a""b"', "a_b", "\u00e4", "_2J"]


@pytest.mark.parametrize(
    "barcodes, options, words",
    [
        ({"a": "ACGTAC", "b": "acguac"}, {}, "barcodes 'a', 'b' have the same letters"),
        ({"unassigned": "ACGTAC"}, {}, "a barcode is named 'unassigned'"),
        ({"a": "ACGTAC"}, {"within": 5}, "barcode 'a' has 6 letters, and within is 5; give"),
        ({"a": "ACGTAC"}, {"margin": 5}, "within 6 differences"),
        ({"a": "ACGTAC"}, {"margin": 0}, "margin is 0; it must be 1 or more"),
        ({"a": "ACGTAC"}, {"trim": True}, "trim and mates are for the files of split"),
        ({"a": "ACGTAC", "A": "GGGGGG"}, {"split": "out"}, "differ in case alone"),
        ({"Ambiguous": "ACGTAC"}, {"split": "out"}, "differ in case alone"),
        ({"a/b": "ACGTAC"}, {"split": "out"}, "'a/b' is to name a file"),
        ({"..": "ACGTAC"}, {"split": "out"}, "'..' is to name a file"),
        ({"a" * 300: "ACGTAC"}, {"split": "out"}, "up to 200 bytes"),
        ({"a": "ACGTAC"}, {"split": "."}, "the folder is not empty"),
        ({"a": "ACGTAC"}, {"split": ""}, "the name of the folder is empty"),
        ({"a": "ACGTAC"}, {"split": "no/out"}, "make the folder no first"),
    ],
)
def test_what_does_not_fit(barcodes, options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reads").write_bytes(fasta([("r", "ACGTACGTACGTACGT")]))
    with pytest.raises(kmatch.KmatchError) as raised:
        kmatch.demux("reads", barcodes, 2, device="cpu", **options)
    assert words in str(raised.value) and os.listdir(tmp_path) == ["reads"]


def test_barcodes_of_one_name_and_of_both_strands(tmp_path):
    """Two patterns of one name are one barcode; each other's reverse complement are told."""
    site, other = BARCODES["b1"], BARCODES["b2"]
    (tmp_path / "barcodes.fa").write_bytes(fasta([("x", site), ("x", other), ("x", site)]))
    (tmp_path / "reads").write_bytes(fasta([("r", f"A{site}AA{other}")]))
    found = kmatch.demux(tmp_path / "reads", tmp_path / "barcodes.fa", 1, device="cpu")
    assert (found.status[0], found.barcode[0], found.second[0]) == ("assigned", "x", "")
    both = {"a": site, "b": naive.reverse_complement(site)}
    with pytest.warns(UserWarning, match="'a', 'b' are each other's reverse complement"):
        found = kmatch.demux(tmp_path / "reads", both, 1, device="cpu")
    assert found.status.tolist() == ["ambiguous"]
    found = kmatch.demux(tmp_path / "reads", both, 1, within=13, device="cpu")
    assert found.status.tolist() == ["assigned"]


def test_shares_of_letters():
    """A site that is too far for its own barcode still counts as a second one.

    k of 25 % is 1 for four letters and 3 for twelve.
    """
    barcodes = Barcodes(load_patterns({"short": "ACGTG", "long": "GGATTACCAGTT"}), "25%")
    assert (barcodes.most, barcodes.query.k) == (3, 3)


# What is written


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_files_of_many_barcodes(suffix, tmp_path, monkeypatch):
    """More than a process may have open, in pieces, those of barcodes without reads too."""
    monkeypatch.setattr(reading, "BLOCK", 3_000)
    barcodes = {f"b{number}": random_letters(16, number) for number in range(384)}
    rng = random.Random(1)
    reads = []
    for number in range(500):
        name = rng.choice(list(barcodes)[:300])
        reads.append((f"r{number}_{name}", f"AC{barcodes[name]}{random_letters(20, 999 + number)}"))
    path = tmp_path / f"reads.fastq{suffix}"
    path.write_bytes(compressed(suffix[1:], fastq(reads)) if suffix else fastq(reads))
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = len(os.listdir("/proc/self/fd"))
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (opened + 24, before[1]))
        kmatch.demux(path, barcodes, 0, split=tmp_path / "out", device="cpu", threads=2)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert len(os.listdir(tmp_path / "out")) == 386
    seen = 0
    for name in barcodes:
        genome = tmp_path / "out" / f"{name}.fastq{suffix}"
        with reading.open_source(genome) as source:
            records = source.handle.read().decode().splitlines()[::4]
        wanted = [f"@{title}" for title, _ in reads if title.endswith(f"_{name}")]
        assert records == wanted
        seen += len(records)
    assert seen == 500


def test_split_gz_is_bgzf(tmp_path, monkeypatch):
    """Of several windows, in blocks that end where they say, of which only the last is empty:

    | reads of window 0 | reads of window 1 | … | empty |
    """
    monkeypatch.setattr(reading, "BLOCK", 3_000)
    reads = [(f"r{number}", f"ACGTTGCA{random_letters(40, number)}") for number in range(200)]
    path = tmp_path / "reads.fq.gz"
    path.write_bytes(gzip.compress(fastq(reads)))
    barcodes = {"a": "ACGTTGCA", "b": "GGGGGCCCCCGGGGG"}
    kmatch.demux(path, barcodes, 0, within=16, split=tmp_path / "out", device="cpu")
    sizes = {}
    for name in ("a", "b"):
        with open(tmp_path / "out" / f"{name}.fq.gz", "rb") as handle:
            sizes[name] = [size for _, _, _, size in BgzfBlocks(handle)]
    assert len(sizes["a"]) > 3 and sizes["a"][-1] == 0 and min(sizes["a"][:-1]) > 0
    assert sizes["b"] == [0]
    assert gzip.decompress((tmp_path / "out" / "a.fq.gz").read_bytes()) == fastq(reads)


def test_an_empty_folder_is_used_and_a_full_one_is_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reads.fa").write_bytes(fasta([("r", "ACGTACGT")]))
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    how = {"split": "out", "device": "cpu"}
    kmatch.demux("reads.fa", {"a": "ACGTAC"}, 0, **how)
    names = ["a.fa", "ambiguous.fa", "unassigned.fa"]
    assert sorted(os.listdir("real")) == names
    with pytest.raises(kmatch.OutputError, match="not empty"):
        kmatch.demux("reads.fa", {"a": "ACGTAC"}, 0, **how)
    assert sorted(os.listdir("real")) == names


@pytest.mark.parametrize("is_there", [False, True])
def test_nothing_is_left_of_what_is_interrupted(is_there, tmp_path):
    """While more reads are awaited."""
    (tmp_path / "barcodes.fa").write_bytes(fasta(list(BARCODES.items())))
    if is_there:
        (tmp_path / "out").mkdir()
    words = ("demux", "-", "barcodes.fa", "-k", "1", "--split", "out", "-o", "t.tsv")
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*KMATCH, *words], cwd=tmp_path, **pipes) as running:
        running.stdin.write(fastq([("r", "ACGTTGCAGTCC" * 9)] * 100_000))
        running.stdin.flush()
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 143
    left = [path.name for path in tmp_path.rglob("*")]
    assert sorted(left) == ["barcodes.fa", "out"][: 1 + is_there]


def test_devices_and_columns(tmp_path):
    (tmp_path / "reads.fa").write_bytes(fasta([("r", "ACGTACGTTT"), ("s", "TTTTTTTTTT")]))
    words = ("filter", tmp_path / "reads.fa", "-p", "ACGTACG", "-k", 0)
    assert here(*words, "-o", "/dev/null").status == 0
    done = here(*words, "--hits", tmp_path / "hits.csv", "--others", tmp_path / "rest.fasta")
    assert (done.status, done.out) == (0, b">r\nACGTACGTTT\n")
    assert (tmp_path / "hits.csv").read_bytes().splitlines()[1] == b"r,0,7,ACGTACG,0,+,7=,ACGTACG"
    assert (tmp_path / "rest.fasta").read_bytes() == b">s\nTTTTTTTTTT\n"


# ru_maxrss would be that of the process which starts this one, if it is more.
PEAK = """
import sys
from kmatch.cli.main import run
run(sys.argv[1:])
print(*[line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")])
"""


@pytest.mark.parametrize("name", ["demux", "filter"])
def test_reports(name, tmp_path):
    """They are as docs/report.schema.json describes them."""
    (tmp_path / "reads.fa").write_bytes(fasta([("r", "TTACGTTGCAGTCC"), ("s", "ACG")]))
    (tmp_path / "barcodes.fa").write_bytes(fasta(list(BARCODES.items())))
    words = (name, tmp_path / "reads.fa", tmp_path / "barcodes.fa", "-k", 1)
    assert here(*words, "--json", tmp_path / "report.json").status == 0
    report = json.loads((tmp_path / "report.json").read_text())
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text())
    assert set(schema["required"]) <= report.keys() <= schema["properties"].keys()
    assert (report["records"], report["letters"], report["hits"]) == (2, 17, 1)
    counts = {"demux": {"assigned": 1, "ambiguous": 0, "unassigned": 1}}
    assert report["reads"] == counts.get(name, {"kept": 1, "others": 1})
    if name == "demux":
        row = {"barcode": "b1", "reads": 1, "reads_by_distance": [1, 0]}
        assert report["barcodes"][0] == row and len(report["barcodes"]) == 3


def test_memory_does_not_grow_with_reads(tmp_path):
    """A process takes as much for three times as many reads, whatever becomes of them."""
    (tmp_path / "barcodes.fa").write_bytes(fasta(list(BARCODES.items())))
    block = fastq([("r", random_letters(60_000) + BARCODES["b1"])]) * 100
    words = ("demux", "-", "barcodes.fa", "-k", "2", "--edit", "--device", "cpu", "-t", "2")
    words += ("--split", "out", "--trim")
    peaks = []
    for times in (1, 3, 9):  # the first one may compile
        with open(tmp_path / "reads.fq", "wb") as handle:
            for _ in range(times):
                handle.write(block)
        with open(tmp_path / "reads.fq", "rb") as handle:
            command = [KMATCH[0], "-c", PEAK, *words]
            pipes = {"stdin": handle, "capture_output": True}
            done = subprocess.run(command, cwd=tmp_path, check=True, **pipes)
        peaks.append(int(done.stdout.split()[-1]) << 10)
        subprocess.run(["rm", "-r", tmp_path / "out"], check=True)
    _, few, many = peaks
    assert many < few + (20 << 20) and many < 300 << 20


def test_a_closed_pipe_ends_quietly(tmp_path):
    (tmp_path / "reads.fq").write_bytes(fastq([("r", "ACGTTGCAGTCC")] * 50_000))
    words = ("filter", tmp_path / "reads.fq", "-p", "ACGTTGCAGTCC", "-k", 0)
    done = process(*words, prefix=("bash", "-c", '"$@" | head -n 1', "bash"))
    assert (done.out, done.err) == (b"@r\n", b"")
