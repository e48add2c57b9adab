"""Assays in genomes, as files and words of a command, against every product of an oracle."""

import warnings
from contextlib import ExitStack
from dataclasses import dataclass, field
from unittest import mock

import naive
import naive_assays
from hypothesis import strategies as st
from support.commands import fasta, here

from fuzzing.searches import Wrong, compare
from kmatch.apps import assay, gaps, joins, masked
from kmatch.search import best

PATCHES = (
    *((best, "WINDOW", size) for size in (1, 50)),
    *((best, "UNITS", many) for many in (1, 2)),
    *((best, "SPARED", many) for many in (0, 1 << 30)),
    (assay, "WINDOW", 1),
    *((assay, "LARGE", letters) for letters in (0, 60)),
    (gaps, "TOGETHER", 1),
    (masked, "PIECES", 1),
    (masked, "JOINED", 1),
    (joins, "PRODUCTS", 1),
)


HEADINGS = {
    "name": ("Assay", "name", "ID", "target"),
    "forward": ("Forward primer (5'-3')", "fwd", "F", "Left_primer"),
    "reverse": ("reverse", "Rev oligo", "R", "right-primer"),
    "probe": ("Probe", "P", "TaqMan probe", "probe_sequence"),
    "other": ("Tm", "notes"),
}


def headings(rng):
    """The headings of a table whose columns are in any order."""
    columns = [(what, rng.choice(words)) for what, words in HEADINGS.items()]
    rng.shuffle(columns)
    return [rng.choice("\t,;"), rng.choice(["", "NA", "-", "none"]), *columns]


@dataclass(frozen=True)
class Assays:
    """genomes: name → records; given: name → (forwards, reverses, probes); options: as the command
    has them; patches: constants of the code, made small; headings: of a table of the assays, its
    delimiter, what stands for no probe, and of each column what it holds and how it is headed;
    gaps: what is done about them."""

    genomes: dict
    given: dict
    k: int
    options: dict
    circular: bool = False
    each: str = "file"
    patches: list = field(default_factory=list)
    headings: list = field(default_factory=list)
    gaps: str | None = None

    @property
    def read(self):
        """The genomes as they are read: without gaps, or with N in place of them."""
        turned = str.maketrans("-.", "NN") if self.gaps == "unknown" else {45: None, 46: None}
        return {
            name: [(record, text.translate(turned)) for record, text in records]
            for name, records in self.genomes.items()
        }

    @property
    def is_refused(self):
        """Whether there are gaps that nothing is said of."""
        return self.gaps is None and self.read != self.genomes

    def command(self, folder):
        """(arguments, standard input) of the command line; writes its input files."""
        (folder / "assays").write_bytes(self.table() if self.headings else self.as_fasta())
        for name, records in self.genomes.items():
            (folder / name).write_bytes(fasta(records))
        words = ["assay", folder / "assays", *(folder / name for name in self.genomes)]
        words += ["-k", self.k, "--product", "{}-{}".format(*self.options["product"])]
        words += ["--exact-3p", self.options["exact_3p"]]
        words += ["--gaps", self.gaps] if self.gaps else []
        words += ["--each", self.each, "--positions", folder / "positions", "--device", "cpu"]
        return words + ["--edit"] * self.options["edit"] + ["--circular"] * self.circular, b""

    def as_fasta(self):
        """The assays, an oligo a record, by names that tell what belongs together."""
        return fasta(
            (f"{name}_{role}_alt{number}", oligo)
            for name, sides in self.given.items()
            for role, side in zip("FRP", sides, strict=True)
            for number, oligo in enumerate(side)
        )

    def table(self):
        """The assays, one a line, below a header line; without alternates."""
        delimiter, absent, *headings = self.headings
        lines = [delimiter.join(heading for _, heading in headings)]
        for name, sides in self.given.items():
            cells = {"name": name, "other": "61.5"}
            for role, side in zip(("forward", "reverse", "probe"), sides, strict=True):
                cells[role] = side[0] if side else absent
            lines.append(delimiter.join(cells[what] for what, _ in headings))
        return "".join(f"{line}\n" for line in lines).encode()

    def check(self, folder):
        """Raise Wrong where the command does not find what the oracle does; folder: for files."""
        arguments, _ = self.command(folder)
        with ExitStack() as stack, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for patch in self.patches:
                stack.enter_context(mock.patch.object(*patch))
            result = here(*arguments)
        if self.is_refused:
            told = result.status == 1 and b"--gaps" in result.err and b"Traceback" not in result.err
            # Rows of genomes before it may have left, where windows are made small.
            if not told or (result.out and not self.patches):
                raise Wrong(f"exit status {result.status}: {result.err.decode()}")
            return
        if result.status or b"Traceback" in result.err:
            raise Wrong(f"exit status {result.status}: {result.err.decode()}")
        apart = {str(folder / name): records for name, records in self.read.items()}
        if self.each == "record":
            apart = {name: [(name, text)] for part in apart.values() for name, text in part}
        large = dict((name, value) for _, name, value in self.patches).get("LARGE", 1_000_000)
        how = {"circular": self.circular, "large": large, **self.options}
        rows, sites = naive_assays.assays(apart, self.given, self.k, **how)
        wanted = [[*row[:7], *row[7], *row[8][:2]] for row in rows]
        wanted = [["" if cell is None else str(cell) for cell in row] for row in wanted]
        found = [line.split(b"\t") for line in result.out.splitlines()[1:]]
        compare(
            b"\n".join(b"\t".join([*row[:7], *row[8:13]]) for row in found),
            "\n".join(map("\t".join, wanted)).encode(),
        )
        oligos = [oligo for sides in self.given.values() for side in sides for oligo in side]
        if len({*oligos}) == len(oligos):  # or an oracle would not know which one a site is of
            genomes = len(apart)
            counts = [
                row for oligo in oligos for row in naive_assays.positions(oligo, sites, genomes)
            ]
            lines = (folder / "positions").read_bytes().splitlines()[1:]
            compare(
                b"\n".join(line.split(b"\t", 3)[3] for line in lines),
                "\n".join("\t".join(map(str, row)) for row in counts).encode(),
            )


@st.composite
def assays(draw, circular):
    """Assays in genomes that hold oligos with errors, on both strands."""
    rng = draw(st.randoms(use_true_random=False))

    def oligo():
        return "".join(rng.choice("ACGTACGTACGTR") for _ in range(rng.randint(8, 11)))

    given = {}
    most = rng.choice([1, 2])  # alternates
    for number in range(rng.randint(1, 3)):
        probes = [oligo() for _ in range(rng.choice([0, 1, 1, most]))]
        given[f"a{number}"] = ([oligo() for _ in range(rng.randint(1, most))], [oligo()], probes)
    written = [oligo for sides in given.values() for side in sides for oligo in side]
    written += [naive.reverse_complement(oligo) for oligo in written]

    is_aligned = rng.random() < 0.2

    def text():
        parts = rng.choices(written, k=rng.randint(0, 7))
        parts = [part + rng.choice(["", "A", "CG", "N"]) for part in parts]
        letters = list("".join(parts)[rng.choice([0, 0, 3]) : rng.choice([40, 110])])
        # Unknown letters, of which some may be some bases only, and records that end anywhere.
        for _ in range(rng.choice([0, 0, 1, 2])):
            at = rng.randint(0, len(letters))
            masked_letters = rng.choice(["N", "R", "NN", "NNNNNN", "N" * 14, "N" * 70])
            letters[at : at + rng.choice([0, len(masked_letters)])] = masked_letters
        for _ in range(rng.choice([0, 1, 2]) if is_aligned else 0):
            at = rng.randint(0, len(letters))
            letters[at:at] = rng.choice(["-", ".", "---", "-" * 30])
        return "".join(letters)[:120]

    genomes = {
        f"g{number}": [(f"g{number}r{record}", text()) for record in range(rng.randint(1, 3))]
        for number in range(rng.randint(1, 4))
    }
    options = {
        "product": (rng.choice([5, 25]), rng.choice([50, 110])),
        "edit": rng.random() < 0.5,
        "exact_3p": rng.choice([0, 0, 2]),
    }
    patches = rng.sample(PATCHES, rng.randint(0, 3))
    each = rng.choice(["file", "record"])
    has_alternates = any(len(side) > 1 for sides in given.values() for side in sides)
    table = headings(rng) if not has_alternates and rng.random() < 0.7 else []
    gaps_are = rng.choice(["drop", "unknown", None]) if is_aligned else rng.choice([None, "drop"])
    k = rng.choice([0, 1])
    return Assays(genomes, given, k, options, circular, each, patches, table, gaps_are)
