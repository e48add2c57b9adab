"""Every search once, on a tiny genome, so that all kernels are compiled and kept."""

import io
import tempfile
from pathlib import Path

from kmatch.search.best import best
from kmatch.search.edit import edit
from kmatch.search.hamming import hamming
from kmatch.search.multi import multi
from kmatch.search.packing import HALO_STEP, write_packed
from kmatch.search.primer import primer
from kmatch.sequences.genome import Genome

UNIT = "ACGTTGCATTAGCCAGTACTGAACCGGTT"
PATTERNS = {"plain": UNIT[:20], "letters": "N" + UNIT[21:]}
PANEL = {"plain": UNIT[:20], "letters": "N" + UNIT[1:20]}
SEARCHES = [
    (hamming, PATTERNS, (2,), {}),
    (multi, PANEL, (2,), {"filtering": False}),
    (multi, PANEL, (2,), {"filtering": True}),
    (multi, PANEL, (2,), {"pam": "NGG", "filtering": True}),
    (multi, PANEL, (2,), {"pam": "NGG", "filtering": False}),
    (edit, PATTERNS, (2,), {"filtering": False, "report": "loci"}),
    (edit, PATTERNS, (2,), {"filtering": True}),
    (best, PATTERNS, (), {"filtering": False}),
]


def rehearse(device):
    """Run every search on a device, `cpu` or `cuda`, and write what it finds in every format.

    Raises DeviceError where the device cannot be used.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.fa"
        path.write_text(f">tiny\n{UNIT * 20}\n>short\n{UNIT}\n")
        packed = Path(folder) / "tiny.kmatch"
        with open(packed, "wb") as handle:
            write_packed(Genome(path).records(), handle, halo=HALO_STEP)
        for record in Genome(packed).records():
            record.letters[:]
        hamming(packed, PATTERNS, 2, device=device)
        hamming(Genome.from_records([("tiny", UNIT)]), PATTERNS, 2, device=device)
        for search, patterns, arguments, options in SEARCHES:
            genome = Genome(path, keep=False)
            write(search(genome, patterns, *arguments, device=device, **options))
        write(primer(Genome(path), Genome(path), 2, max_length=9, device=device))


def write(found):
    """Write hits or primers in every format."""
    found.to_bed(io.BytesIO())
    found.to_tsv(io.BytesIO())
