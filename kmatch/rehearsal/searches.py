"""Every search once, on a tiny genome, so that all kernels are compiled and kept."""

import io
import tempfile
from functools import partial
from pathlib import Path

from kmatch.api import hamming, primer
from kmatch.genome import Genome
from kmatch.packed.packing import HALO_STEP, write_packed
from kmatch.search.hooked import hooked

UNIT = "ACGTTGCATTAGCCAGTACTGAACCGGTT"
LETTERS = UNIT * 20
PATTERNS = {"plain": UNIT[:20], "letters": "N" + UNIT[21:]}
PANEL = {"plain": UNIT[:20], "letters": "N" + UNIT[1:20]}


def _search(command, patterns, *arguments, device, **options):
    genome = Genome.from_records([("tiny", LETTERS)])
    _write(hooked(command, genome, patterns, *arguments, device=device, **options))


def _primer(device):
    tiny = Genome.from_records([("tiny", LETTERS)])
    _write(primer(tiny, tiny, 2, max_length=9, device=device))


def _files(device):
    """What reads a file and packs it, and searches what is packed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.fa"
        path.write_text(f">tiny\n{LETTERS}\n>short\n{UNIT}\n")
        hamming(Genome(path, keep=False), PATTERNS, 2, device=device)
        packed = Path(folder) / "tiny.kmatch"
        with open(packed, "wb") as handle:
            write_packed(Genome(path).records(), handle, halo=HALO_STEP)
        for record in Genome(packed).records():
            record.letters[:]
        hamming(packed, PATTERNS, 2, device=device)
        hamming(Genome.from_records([("tiny", UNIT)]), PATTERNS, 2, device=device)


def _write(found):
    """Write hits or primers in every format."""
    found.to_bed(io.BytesIO())
    found.to_tsv(io.BytesIO())


FILES = "files"
# By name, those that take longest first: each with the kernels that it needs and few others.
TASKS = {
    "edit": partial(_search, "edit", PATTERNS, 2, filtering=False, report="loci"),
    "primer": _primer,
    "filter": partial(_search, "edit", PATTERNS, 2, filtering=True),
    "hamming": partial(_search, "hamming", PATTERNS, 2),
    "best": partial(_search, "best", PATTERNS, filtering=False),
    FILES: _files,
    "seeds": partial(_search, "multi", PANEL, 2, filtering=True),
    "multi": partial(_search, "multi", PANEL, 2, filtering=False),
    "pam sites": partial(_search, "multi", PANEL, 2, pam="NGG", filtering=True),
    "pam": partial(_search, "multi", PANEL, 2, pam="NGG", filtering=False),
}


def rehearse(device, names=tuple(TASKS)):
    """Run searches on a device, `cpu` or `cuda`, and write what they find in every format.

    Raises DeviceError where the device cannot be used.
    """
    for name in names:
        TASKS[name](device=device)
