"""Inputs of every format with some bytes changed: an answer or one line of error, never more."""

import io
import resource
import warnings
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from support.commands import compressed, fasta, fastq, genbank, here, twobit

import kmatch
from fuzzing import texts
from fuzzing.searches import Wrong
from kmatch.packed.writer import PackedLayout, write_packed

MEMORY = 4 << 30  # bytes more than there are, for inputs that claim to be large
STATUSES = (0, 1, 2)


@dataclass(frozen=True)
class Damaged:
    """A search that reads `data`, as its genome or as its patterns."""

    data: bytes
    arguments: tuple = ("hamming", "input", "-p", "ACGTN", "-k", "1")

    def check(self, folder):
        """Raise Wrong for a status, or words on standard error, that no user should see."""
        # A GPU's driver takes as many addresses as it likes.
        on_cpu = not any(word.startswith("cuda") for word in self.arguments)
        with limited() if on_cpu else nullcontext(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arguments, stdin = command(self, folder)
            result = here(*arguments, stdin=stdin)
        message = result.err.decode("utf-8", "replace")
        if result.status not in STATUSES or "Traceback" in message:
            raise Wrong(f"exit status {result.status}: {message}")
        last = message.splitlines()[-1:]
        if result.status == 1 and not (last and last[0].startswith("kmatch: error: ")):
            raise Wrong(f"exit status 1, and this in place of an error: {message!r}")


def command(case, folder):
    """(arguments, standard input) of the command line; writes its input."""
    (folder / "input").write_bytes(case.data)
    (folder / "genome").write_bytes(b">r0\nACGTACGTTGCA\n")
    files = {name: folder / name for name in ("input", "genome", "out")}
    return [files.get(word, word) for word in case.arguments], case.data


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


def packed_bytes(records):
    out = io.BytesIO()
    genome = kmatch.Genome.from_records(records)
    write_packed(genome.parts(), out, layout=PackedLayout(length=200, halo=64))
    return out.getvalue()


def written_patterns(records):
    return b"# a comment\n" + b"".join(b"%s\tACGTN\n" % name.encode() for name, _ in records)


def written_table(between):
    rows = ["seq,name,note", *(f"ACGTN,p{number},x" for number in range(3))]
    return "\n".join(rows).replace(",", between).encode()


def written_bed(records):
    rows = [f"r{n}\t{n}\t{n + 9}\tp_{n}\t1\t+\tACGTN\n" for n in range(len(records))]
    return "".join(rows).encode()


def written_primers(records):
    lines = b"".join(b"%s\tACGT\tTGCA\n" % name.encode() for name, _ in records)
    scheme = written_bed(records).replace(b"p_", b"p_LEFT_")
    named = [(f"{name}_{'FR'[number % 2]}", "ACGT") for number, (name, _) in enumerate(records)]
    return (lines, scheme, fasta(named))[len(records) % 3]


FORMATS = {
    "FASTA": lambda records: fasta(records, 30),
    "FASTQ": fastq,
    "2bit": twobit,
    "GenBank": genbank,
    "packed genome": packed_bytes,
    **{
        f"{kind} file": lambda records, kind=kind: compressed(kind, fasta(records))
        for kind in ("gz", "bgzf", "bz2", "xz", "zst")
    },
    "pattern file": written_patterns,
    "pattern FASTA": lambda records: fasta([(name, "ACGTRN") for name, _ in records]),
    "pattern BED": written_bed,
    "table of patterns": lambda records: written_table(",\t;"[len(records) % 3]),
    "regions": written_bed,
    "primers": written_primers,
}
TSV = ("--format", "tsv")
GENOMES = (
    ("hamming", "input", "-p", "ACGTN", "-k", "1"),
    ("hamming", "-", "-p", "ACGTN", "-k", "1"),
    ("edit", "input", "-p", "ACGTN", "-k", "1", "--format", "tsv"),
    ("best", "input", "-p", "ACGTN"),
    ("multi", "input", "-p", "ACGTN", "-k", "1", "--pam", "NGG"),
    ("primer", "genome", "input", "-k", "2"),
    ("primer", "input", "genome", "-k", "2"),
    ("pcr", "input", "-p", "ACGT", "TGCA", "-k", "1", "--product", "4-40", "--sequence", *TSV),
    ("edit", "input", "-p", "ACGTN", "-k", "1", "--format", "sam"),
    ("hamming", "input", "-p", "ACGTN", "-k", "1", "--format", "view"),
    ("pack", "input", "-o", "out"),
)
PATTERNS = (
    ("hamming", "genome", "input", "-k", "1"),
    ("edit", "genome", "-", "-k", "0"),
    ("multi", "genome", "input", "-k", "2"),
    ("best", "genome", "input", "--summary-only"),
)
OTHERS = {
    "table of patterns": (("hamming", "genome", "input", "--column", "seq", "-k", "1"),),
    "regions": (
        ("hamming", "genome", "-p", "ACGT", "-k", "1", "--regions", "input"),
        ("best", "genome", "-p", "ACGT", "--regions", "-"),
    ),
    "primers": (
        ("pcr", "genome", "input", "-k", "1", "--product", "1-90"),
        ("pcr", "genome", "-", "-k", "1", "--pairs", "any"),
    ),
}


def damaged(name):
    """A function that draws a Damaged of a format."""

    def kind(random, device):
        records = [
            (f"r{number}", texts.letters(random, 90, "ACGTN", least=1))
            for number in range(random.randint(1, 4))
        ]
        data = FORMATS[name](records)
        for _ in range(random.choice([0, 1, 1, 1, 2, 5])):
            data = mutated(random, data)
        usual = PATTERNS if name.startswith("pattern") else GENOMES
        arguments = random.choice(OTHERS.get(name, usual))
        option = () if arguments[0] == "pack" else ("--device", device)
        return Damaged(data, (*arguments, *option))

    return kind


def mutated(random, data):
    """The bytes with a part changed, left out, doubled, put in, or moved."""
    begin = random.randrange(len(data) + 1)
    end = min(begin + random.choice([0, 1, 1, 2, 8, 40]), len(data))
    part = data[begin:end]
    kind = random.randrange(8)
    if kind == 0:
        return data[:begin]
    if kind == 1:
        return data[:begin] + data[end:]
    if kind == 2:
        return data[:begin] + part + part + data[end:]
    if kind == 3:
        return data[:begin] + random.randbytes(len(part)) + data[end:]
    if kind == 4:
        odd = (
            b"\n",
            b"\r\n",
            b">",
            b"\t",
            b"\0",
            b" ",
            b"\xff",
            b"//\n",
            b"LOCUS",
            b"999999999999",
        )
        return data[:begin] + random.choice(odd) + data[begin:]
    if kind == 5:
        return data[:begin] + bytes(byte ^ 1 << random.randrange(8) for byte in part) + data[end:]
    if kind == 6:
        lines = data.splitlines(keepends=True)
        random.shuffle(lines)
        return b"".join(lines)
    return part + data[:begin] + data[end:]
