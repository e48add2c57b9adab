"""Every search once, on a tiny genome, so that all kernels get compiled and kept."""

import io
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from kmatch.api import hamming, pcr, primer
from kmatch.engine.devices import choose_engine
from kmatch.engine.host.sorting import TRIAL, in_order
from kmatch.genome import Genome
from kmatch.packed.writer import HALO_STEP, PackedLayout, write_packed
from kmatch.search.hooked import hooked

UNIT = "ACGTTGCATTAGCCAGTACTGAACCGGTT"
LETTERS = UNIT * 20
PATTERNS = {"plain": UNIT[:20], "letters": "N" + UNIT[21:]}
PAIR = {"plain": (UNIT[:20], "AACCGGTTCAGTACTGGCTA")}
PANEL = {"plain": UNIT[:20], "letters": "N" + UNIT[1:20]}
PAM = UNIT[20:23]  # stands beside them: without hits the kernels for hits are not compiled

# Of primers: a GPU's kernels differ by the bits that count so many, 8, 10, 12 and 14, which are
# those of every K from 2 on and of all lengths beyond 32.
LENGTHS = (128, 512, 2048, 8192)


def _search(
    command: str, patterns: dict[str, str], *arguments: Any, device: str, **options: Any
) -> None:
    genome = Genome.from_records([("tiny", LETTERS)])
    _write(hooked(command, genome, patterns, *arguments, device=device, **options))


def _primer(device: str) -> None:
    tiny = Genome.from_records([("tiny", LETTERS)])
    _write(primer(tiny, tiny, 2, max_length=9, device=device))


def _primers_of(length: int, device: str) -> None:
    choose_engine(device).compile_primers(length)


def _pcr(device: str) -> None:
    tiny = Genome.from_records([("tiny", LETTERS)])
    _write(pcr(tiny, PAIR, 2, device=device))


def _files(device: str) -> None:
    """Read files, pack one, and search the packed genome."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.fa"
        path.write_text(f">tiny\n{LETTERS}\n>short\n{UNIT}\n")
        hamming(Genome(path, keep=False), PATTERNS, 2, device=device)
        reads = Path(folder) / "tiny.fq"
        reads.write_text(f"@tiny\n{UNIT}\n+\n{UNIT}\n")
        hamming(Genome(reads, keep=False), PATTERNS, 2, device=device)
        packed = Path(folder) / "tiny.kmatch"
        with open(packed, "wb") as handle:
            write_packed(Genome(path).parts(), handle, layout=PackedLayout(halo=HALO_STEP))
        for record in Genome(packed).records():
            record.letters[:]  # unpacks them
        hamming(packed, PATTERNS, 2, device=device)
        hamming(Genome.from_records([("tiny", UNIT)]), PATTERNS, 2, device=device)


def _formats(device: str) -> None:
    """Write hits in the formats that only hits have."""
    genome = Genome.from_records([("tiny", LETTERS)])
    hits = hamming(genome, PATTERNS, 2, device=device)
    hits.to_sam(io.BytesIO())
    hits.to_gff3(io.BytesIO())


def _dense(device: str) -> None:
    """What is done with more hits than a tiny genome has."""
    in_order(np.arange(TRIAL))
    choose_engine(device).spell(np.zeros(1, np.uint8), np.zeros(1, np.uint8))


def _panel(device: str) -> None:
    """Search for so many patterns in a text so long that they share sums of triplets."""
    if device == "cpu":
        patterns = ["".join(letters) * 5 for letters in product("ACGT", repeat=4)]
        hamming(Genome.from_records([("long", UNIT * 6_000)]), patterns, 1, device=device)


def _write(found: Any) -> None:
    """Write hits or primers in the formats of both."""
    found.to_bed(io.BytesIO())
    found.to_tsv(io.BytesIO())


FILES = "files"
# By name, those that compile longest first; each needs some kernels that few others need.
TASKS: dict[str, Callable[..., None]] = {
    "primer": _primer,
    "edit": partial(_search, "edit", PATTERNS, 2, filtering=False, report="loci"),
    "rules": partial(_search, "edit", PANEL, 2, pam=PAM, exact_5p=1, filtering=True),
    **{f"primers of {length}": partial(_primers_of, length) for length in LENGTHS},
    "filter": partial(_search, "edit", PATTERNS, 2, filtering=True),
    "panel": _panel,
    "hamming": partial(_search, "hamming", PATTERNS, 2),
    "best": partial(_search, "best", PATTERNS, filtering=False),
    "bounds": partial(_search, "edit", PANEL, 2, pam=PAM, max_insertions=0, filtering=True),
    "anchors": partial(_search, "edit", {"plain": UNIT[:20]}, 2, pam=PAM, filtering=True),
    "sites or a scan": partial(_search, "edit", {"plain": UNIT[:20]}, 2, pam=PAM),
    FILES: _files,
    "formats": _formats,
    "dense": _dense,
    "seeds": partial(_search, "multi", PANEL, 2, filtering=True),
    "multi": partial(_search, "multi", PANEL, 2, filtering=False),
    "pam sites": partial(_search, "multi", PANEL, 2, pam=PAM, filtering=True),
    "pcr": _pcr,
    "pam": partial(_search, "multi", PANEL, 2, pam=PAM, filtering=False),
}


def rehearse(device: str, names: Iterable[str] = tuple(TASKS)) -> None:
    """Run tasks on a device, `cpu` or `cuda`, and write what they find in every format.

    Raises DeviceError where the device cannot be used.
    """
    for name in names:
        TASKS[name](device=device)
