"""GC content and melting temperature of many stretches of one text, and of duplexes."""

from math import log, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Floats, Longs

CONCENTRATION = 25  # nM of each strand
SODIUM = 50  # mM
GAS = 1.987  # cal/(K·mol)
_BASES = "ACGT"
_PAIRED = str.maketrans("ACGT", "TGCA")


class Salts(NamedTuple):
    """What a duplex is in, with primer3's defaults: monovalent, magnesium and dntps in mM, oligos
    in nM of both strands together."""

    monovalent: float = 50
    magnesium: float = 1.5
    dntps: float = 0.6
    oligos: float = 50


SALTS = Salts()


def duplex_temperature(oligo: str, text: str, salts: Salts = SALTS) -> float:
    """Melting temperature in °C of an oligo on a site that reads `text` in its direction; NaN where
    a neighbour of a mismatch has no parameters, or a letter is not A, C, G or T.

    Biopython's `MeltingTemp.Tm_NN`: nearest neighbours of Allawi & SantaLucia 1997, internal and
    terminal mismatches of Allawi, SantaLucia and Peyret, and the salt correction of SantaLucia
    1998, magnesium as von Ahsen et al. 2001 count it.
    """
    from Bio.SeqUtils.MeltingTemp import Tm_NN

    half = salts.oligos / 2
    mixed = {"dnac1": half, "dnac2": half, "Na": salts.monovalent}
    mixed |= {"Mg": salts.magnesium, "dNTPs": salts.dntps, "saltcorr": 5}
    if set(oligo + text) - set(_BASES):
        return nan
    try:
        return float(Tm_NN(oligo, c_seq=text.translate(_PAIRED), **mixed))
    except (ValueError, KeyError, IndexError, ZeroDivisionError):  # no parameters
        return nan


def gc_fractions(codes: Bytes, start: Longs, end: Longs) -> Floats:
    """Share of G and C among the known letters of each stretch, float64[n]; 0 where none is known.

    codes: uint8, letters 0 to 3 and 4 for others; start, end: int64[n]. The values are those of
    Biopython's `gc_fraction`.
    """
    strong = _sums((codes == 1) | (codes == 2), start, end)
    return strong / np.maximum(_sums(codes < 4, start, end), 1)


def melting_temperatures(codes: Bytes, start: Longs, end: Longs) -> Floats:
    """Melting temperature of each stretch with its complement in °C, float64[n]; NaN with an N.

    Arguments as for `gc_fractions`. The values are those of Biopython's `MeltingTemp.Tm_NN`:
    nearest neighbours of Allawi & SantaLucia 1997, 25 nM of each strand, 50 mM Na+ with the salt
    correction of SantaLucia 1998. Sums along the text replace a loop over each stretch.
    """
    from Bio.SeqUtils.MeltingTemp import DNA_NN3, salt_correction

    pairs = 5 * codes[:-1].astype(np.int64) + codes[1:]
    sums = []
    for part in (0, 1):
        steps, ends = _tables(DNA_NN3, part)
        inner = _sums(steps[pairs], start, np.maximum(end - 1, start))
        sums.append((inner + ends[codes[start]] + ends[codes[end - 1]]) / 10)
    enthalpy, entropy = sums
    entropy += (end - start - 1) * salt_correction(Na=SODIUM, method=5, seq="AA")
    ratio = GAS * log(CONCENTRATION / 2 * 1e-9)
    temperature = 1000 * enthalpy / (entropy + ratio) - 273.15
    return np.where(_sums(codes == 4, start, end) > 0, np.nan, temperature)


def _sums(values: NDArray[Any], start: Longs, end: Longs) -> Longs:
    """Sums of values[start…end−1], int64[n]."""
    sums = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    return sums[end] - sums[start]


def _tables(table: dict[str, tuple[float, float]], part: int) -> tuple[Longs, Longs]:
    """The terms of each pair of letters and each end, in tenths, as in the table."""
    steps, ends = np.zeros(25, np.int64), np.zeros(5, np.int64)
    for a, first in enumerate(_BASES):
        for b, second in enumerate(_BASES):
            name = f"{first}{second}/{_BASES[3 - a]}{_BASES[3 - b]}"
            value = table.get(name) or table[name[::-1]]
            steps[5 * a + b] = round(10 * value[part])
        end = table["init_G/C" if first in "CG" else "init_A/T"]
        ends[a] = round(10 * end[part])
    return steps, ends
