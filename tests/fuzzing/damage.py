"""Inputs of every format with some bytes changed: an answer or one line of error, never more."""

import io
import resource
import warnings
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from hypothesis import strategies as st
from support.commands import compressed, fasta, fastq, genbank, here, twobit

import kmatch
from fuzzing.searches import Wrong
from kmatch.packed.writer import write_packed

MEMORY = 4 << 30  # bytes more than there are, for inputs that claim to be large


@dataclass(frozen=True)
class Damaged:
    """A search that reads `data`, as its genome or as its patterns."""

    data: bytes
    arguments: tuple = ("hamming", "input", "-p", "ACGTN", "-k", "1")

    def command(self, folder):
        """(arguments, standard input) of the command line; writes its input."""
        (folder / "input").write_bytes(self.data)
        (folder / "genome").write_bytes(b">r0\nACGTACGTTGCA\n")
        files = {name: folder / name for name in ("input", "genome", "out")}
        return [files.get(word, word) for word in self.arguments], self.data

    def check(self, folder):
        """Raise Wrong for a status, or words on standard error, that no user should see."""
        arguments, stdin = self.command(folder)
        # A GPU's driver takes as many addresses as it likes.
        on_cpu = not any(word.startswith("cuda") for word in self.arguments)
        with limited() if on_cpu else nullcontext(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = here(*arguments, stdin=stdin)
        message = result.err.decode("utf-8", "replace")
        last = message.splitlines()[-1:]
        told = result.status != 1 or (last and last[0].startswith("kmatch: error: "))
        if result.status not in (0, 1, 2) or "Traceback" in message or not told:
            raise Wrong(f"exit status {result.status}: {message!r}")


@contextmanager
def limited():
    """Little enough memory that a file which claims to be large is refused, not served."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as handle:
        size = int(handle.read().split()[0]) * resource.getpagesize()
    try:
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, before[1]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def packed(records):
    out = io.BytesIO()
    genome = kmatch.Genome.from_records(records)
    write_packed(genome.parts(), out, length=200, halo=64)
    return out.getvalue()


def lines(rows, between=b"\t"):
    return b"".join(between.join(str(cell).encode() for cell in row) + b"\n" for row in rows)


def bed(records, name="p_", letters="ACGTN"):
    return lines((f"r{n}", n, n + 9, f"{name}{n}", 1, "+", letters) for n in range(len(records)))


def primers(records):
    oligo = "ACGTTGCA"
    named = [(f"{name}_{'FR'[number % 2]}", oligo) for number, (name, _) in enumerate(records)]
    rows = [(name, oligo, f"5'-{oligo}-3'") for name, _ in records]
    table = lines([("assay", "F", "R"), *rows], (b",", b";")[len(records) % 2])
    return (lines(rows), table, bed(records, "p_LEFT_", oligo), fasta(named))[len(records) % 4]


def table(records):
    rows = [("seq", "name", "note"), *(("ACGTN", f"p{number}", "x") for number in range(3))]
    return lines(rows, (b",", b"\t", b";")[len(records) % 3])


FORMATS = {
    "FASTA": lambda records: fasta(records, 30),
    "FASTQ": fastq,
    "2bit": twobit,
    "GenBank": genbank,
    "packed genome": packed,
    **{
        f"{kind} file": lambda records, kind=kind: compressed(kind, fasta(records))
        for kind in ("gz", "bgzf", "bz2", "xz", "zst")
    },
    "pattern file": lambda records: b"# a comment\n" + lines((n, "ACGTN") for n, _ in records),
    "pattern FASTA": lambda records: fasta([(name, "ACGTRN") for name, _ in records]),
    "pattern BED": bed,
    "table of patterns": table,
    "regions": bed,
    "primers": primers,
}
COMMANDS = {
    "genome": """hamming input -p ACGTN -k 1
        hamming - -p ACGTN -k 1
        edit input -p ACGTN -k 1 --format tsv
        best input -p ACGTN
        multi input -p ACGTN -k 1 --pam NGG
        primer genome input -k 2
        primer input genome -k 2
        pcr input -p ACGT TGCA -k 1 --product 4-40 --sequence --format tsv
        edit input -p ACGTN -k 1 --format sam
        hamming input -p ACGTN -k 1 --format view
        pack input -o out""",
    "pattern": """hamming genome input -k 1
        edit genome - -k 0
        multi genome input -k 2
        best genome input --summary-only""",
    "table of patterns": "hamming genome input --column seq -k 1",
    "regions": """hamming genome -p ACGT -k 1 --regions input
        best genome -p ACGT --regions -""",
    "primers": """pcr genome input -k 1 --product 1-90
        pcr genome - -k 1 --pairs any""",
}
ODD = (b"\n", b"\r\n", b">", b"\t", b"\0", b" ", b"\xff", b"//\n", b"LOCUS", b"999999999999")


@st.composite
def damaged(draw, name, device):
    """A Damaged of a format."""
    texts = draw(st.lists(st.text("ACGTN", min_size=1, max_size=90), min_size=1, max_size=4))
    data = FORMATS[name]([(f"r{number}", text) for number, text in enumerate(texts)])
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2, 5]))):
        data = draw(mutated(data))
    usual = COMMANDS["pattern" if name.startswith("pattern") else "genome"]
    commands = [line.split() for line in COMMANDS.get(name, usual).splitlines()]
    words = draw(st.sampled_from(commands))
    return Damaged(data, (*words, *(() if words[0] == "pack" else ("--device", device))))


@st.composite
def mutated(draw, data):
    """The bytes with a part changed, left out, doubled, put in, or moved."""
    begin = draw(st.integers(0, len(data)))
    end = min(begin + draw(st.sampled_from([0, 1, 1, 2, 8, 40])), len(data))
    before, part, after = data[:begin], data[begin:end], data[end:]
    new = st.binary(min_size=len(part), max_size=len(part))
    changed = draw(
        st.sampled_from([b"", part + part, data[begin:] + part]) | st.sampled_from(ODD) | new
    )
    order = [before, changed, after]
    return b"".join(draw(st.sampled_from([order, order, order[:2], order[::-1]])))
