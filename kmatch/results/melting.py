"""GC content and melting temperatures of many stretches, on sites with mismatches too."""

from collections.abc import Iterable
from functools import cache
from itertools import product
from math import log, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Floats, Longs

GAS = 1.987  # cal/(K·mol)
_BASES, _PAIRED = "ACGT?", "TGCA?"  # by code
_CODES = np.full(16, 4, np.uint8)  # of masks: 0 to 3, and 4 for anything but one base
_CODES[[1, 2, 4, 8]] = range(4)


class Salts(NamedTuple):
    """What a duplex is in, with primer3's defaults: monovalent, magnesium and dntps in mM, oligos
    in nM of both strands together."""

    monovalent: float = 50
    magnesium: float = 1.5
    dntps: float = 0.6
    oligos: float = 50


SALTS = Salts()
PLAIN = Salts(magnesium=0, dntps=0)  # Biopython's own


def codes_of(masks: Bytes) -> Bytes:
    """The codes of letters given as masks, uint8: 0 to 3, and 4 for anything but one base."""
    return _CODES[masks]


def gc_fractions(codes: Bytes, start: Longs, end: Longs) -> Floats:
    """Share of G and C among the known letters of each stretch, float64[n]; 0 where none is known.

    codes: uint8, letters 0 to 3 and 4 for others; start, end: int64[n]. The values are those of
    Biopython's `gc_fraction`.
    """
    strong = _sums((codes == 1) | (codes == 2), start, end)
    return strong / np.maximum(_sums(codes < 4, start, end), 1)


def melting_temperatures(
    codes: Bytes, sites: Bytes, start: Longs, end: Longs, salts: Salts = PLAIN
) -> Floats:
    """Melting temperature of each stretch on a site in °C, float64[n]; NaN where a letter is
    unknown, and where a neighbour of a mismatch has no parameters.

    codes, sites: uint8, the letters of stretches and of what their sites read in their direction,
    as for `gc_fractions`. The values are those of Biopython's `MeltingTemp.Tm_NN`: nearest
    neighbours of Allawi & SantaLucia 1997, internal and terminal mismatches of Allawi, SantaLucia
    and Peyret, and the salt correction of SantaLucia 1998, magnesium as von Ahsen et al. 2001 count
    it. Sums along the text replace a loop over each stretch.
    """
    from Bio.SeqUtils.MeltingTemp import salt_correction

    steps, left, right, ends = _tables()
    key = np.zeros(len(codes), np.int64)  # of each letter and the next one
    key[:-1] = codes[:-1].astype(np.int64) * 125 + codes[1:] * 25 + sites[:-1] * 5 + sites[1:]
    single = end - start < 2
    first, last = left[key[start]], right[key[end - 2]]
    first[single] = last[single] = 0
    begin = start + (first[:, 2] > 0)  # a terminal mismatch stands for its step
    stop = np.maximum(end - 1 - (last[:, 2] > 0), begin)
    terms = first + last + ends[codes[start]] + ends[codes[end - 1]]
    terms += np.stack([_sums(column, begin, stop) for column in steps[key].T], axis=1)
    enthalpy, entropy, _, missing = terms.T / 100
    salt = {"Na": salts.monovalent, "Mg": salts.magnesium, "dNTPs": salts.dntps}
    entropy += (end - start - 1) * salt_correction(**salt, method=5, seq="AA")
    found: Floats = 1000 * enthalpy / (entropy + GAS * log(salts.oligos / 4 * 1e-9)) - 273.15
    return np.where(missing > 0, nan, found)


def _sums(values: NDArray[Any], start: Longs, end: Longs) -> Longs:
    """Sums of values[start…end−1], int64[n]."""
    sums = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    return sums[end] - sums[start]


@cache
def _tables() -> tuple[Longs, ...]:
    """The terms of each two letters on two of a site, at the left and at the right end too, and of
    each last letter: enthalpy and entropy in hundredths, whether there are any, and whether there
    should be."""
    from Bio.SeqUtils.MeltingTemp import DNA_IMM1, DNA_NN3, DNA_TMM1

    def terms(names: Iterable[str], *tables: dict[str, Any], needed: bool = False) -> list[int]:
        known = [table[name] for table in tables for name in names if name in table]
        return [*(round(100 * value) for value in known[0]), 1, 0] if known else [0, 0, 0, needed]

    letters = product(_BASES, _BASES, _PAIRED, _PAIRED)
    pairs = [f"{one}{two}/{three}{four}" for one, two, three, four in letters]
    steps = [terms((pair, pair[::-1]), DNA_IMM1, DNA_NN3, needed=True) for pair in pairs]
    left = [terms([pair[::-1]], DNA_TMM1) for pair in pairs]
    right = [terms([pair], DNA_TMM1) for pair in pairs]
    kinds = ("A/T", "G/C", "G/C", "A/T", "other")
    ends = [terms([f"init_{kind}"], DNA_NN3, needed=True) for kind in kinds]
    return tuple(np.array(each, np.int64) for each in (steps, left, right, ends))
