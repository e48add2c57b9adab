"""GC content and melting temperatures of many stretches, on sites with mismatches too.

A duplex is a stretch of an oligo on its site. Its enthalpy and its entropy are sums of parameters,
one for every two letters side by side (a step) and one for either end:

             start   end
             ↓       ↓
      5′ … A C G T T A … 3′        the oligo
             | | | |
      3′ … T G C A A T … 5′        the letters that pair with it

      init_G/C + CG/GC + GT/CA + TT/AA + init_A/T

A mismatch inside the duplex has steps of its own. One at an end has a parameter that takes the
place of the step there:

      A C G T T
      x | | | |        init_A/T + terminal AC/CG + CG/GC + GT/CA + TT/AA + init_A/T
      C G C A A

The parameters for matches are from Allawi & SantaLucia 1997, and the parameters for mismatches
inside and at the ends from Allawi, SantaLucia and Peyret. Biopython has them in its tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bools, Bytes, Floats, Longs, Rows, bounds_of
from kmatch.engine.types import UNKNOWN

GAS = 1.987  # cal/(K·mol)
ZERO_CELSIUS = 273.15  # K
CODE_COUNT = 5
# How the tables spell a letter of the oligo, and what its site pairs with it, by code.
OLIGO_LETTERS = "ACGT?"
PAIRED_LETTERS = "TGCA?"
INITIATIONS = ("init_A/T", "init_G/C", "init_G/C", "init_A/T", "")  # by the code of an end
MATCHED_STEP = 0  # AA on TT

Parameters = Mapping[str, Any]  # by spelling: enthalpy in kcal/mol, and entropy in cal/(K·mol)


class Salts(NamedTuple):
    """The solution around a duplex, with primer3's defaults.

    monovalent, magnesium, dntps: mM; oligos: nM, of both strands together.
    """

    monovalent: float = 50
    magnesium: float = 1.5
    dntps: float = 0.6
    oligos: float = 50


SALTS = Salts()
PLAIN = Salts(magnesium=0, dntps=0)  # Biopython's own


def gc_fractions(codes: Bytes, start: Longs, end: Longs) -> Floats:
    """Return the share of G and C among the known letters of each stretch, float64[n].

    codes: uint8, of letters; start, end: int64[n], of stretches among them. A stretch without a
    known letter has the share 0. The values equal Biopython's `gc_fraction`.
    """
    is_strong = (codes == 1) | (codes == 2)
    strong_count = _sums(is_strong, start, end)
    base_count = _sums(codes < UNKNOWN, start, end)
    return strong_count / np.maximum(base_count, 1)


def melting_temperatures(
    codes: Bytes, sites: Bytes, start: Longs, end: Longs, salts: Salts = PLAIN
) -> Floats:
    """Return the melting temperature of each stretch on its site, float64[n], in °C.

    codes, sites: uint8, the letters of stretches, and of their sites in the same direction; start,
    end: int64[n], of stretches among the letters. It is NaN where a letter is unknown, and where a
    neighbour of a mismatch has no parameters. The values equal
    Biopython's `MeltingTemp.Tm_NN` with the salt correction of SantaLucia 1998.
    """
    sums = _duplex_sums(codes, sites, start, end)
    enthalpy = sums.enthalpy / 100
    entropy = sums.entropy / 100
    entropy += (end - start - 1) * _salt_entropy(salts)
    # Two strands as concentrated as each other: ΔH / (ΔS + R ln (C / 4)).
    strands = log(salts.oligos / 4 * 1e-9)
    found: Floats = 1000 * enthalpy / (entropy + GAS * strands) - ZERO_CELSIUS
    return np.where(sums.missing > 0, np.nan, found)


def _salt_entropy(salts: Salts) -> float:
    """Return the entropy that salts add to each step, in cal/(K·mol).

    It is 0.368 ln [Na⁺] in SantaLucia 1998; magnesium counts as von Ahsen et al. 2001 have it.
    """
    from Bio.SeqUtils.MeltingTemp import salt_correction

    one_step = "AA"
    entropy: float = salt_correction(
        Na=salts.monovalent, Mg=salts.magnesium, dNTPs=salts.dntps, method=5, seq=one_step
    )
    return entropy


@dataclass(frozen=True, eq=False, repr=False)
class Terms(Rows):
    """Parameters of n parts of duplexes, or sums of them.

    enthalpy: int64[n], 0.01 kcal/mol; entropy: int64[n], 0.01 cal/(K·mol); missing: int64[n], how
    many parameters are needed that no table has. Sums of whole numbers do not depend on the order
    in which they are made.
    """

    enthalpy: Longs
    entropy: Longs
    missing: Longs

    def sums(self, start: Longs, end: Longs) -> "Terms":
        """Return the sums of the parts start … end−1, int64[m] each."""
        return Terms(
            _sums(self.enthalpy, start, end),
            _sums(self.entropy, start, end),
            _sums(self.missing, start, end),
        )

    def __add__(self, other: "Terms") -> "Terms":
        return Terms(
            self.enthalpy + other.enthalpy,
            self.entropy + other.entropy,
            self.missing + other.missing,
        )


class Tables(NamedTuple):
    """The parameters of all parts of duplexes.

    steps: Terms by step (see `_steps_of`), inside a duplex; left, right: Terms by step, of a
    mismatch in the first letter of a duplex and in its last one, zero where there is none; is_left,
    is_right: bool, by step, whether there is one; ends: Terms by code, of the letter at an end.
    """

    steps: Terms
    left: Terms
    right: Terms
    is_left: Bools
    is_right: Bools
    ends: Terms


def _duplex_sums(codes: Bytes, sites: Bytes, start: Longs, end: Longs) -> Terms:
    """Return the sums of all parameters of each stretch on its site."""
    tables = _tables()
    steps = _steps_of(codes, sites)

    # The first and the last step of each duplex; a letter alone has none, and no mismatch counts.
    has_steps = end - start > 1
    first_steps = np.where(has_steps, steps[start], MATCHED_STEP)
    last_steps = np.where(has_steps, steps[end - 2], MATCHED_STEP)

    # The steps between them that are no mismatches at an end.
    steps_start = start + tables.is_left[first_steps]
    steps_end = np.maximum(end - 1 - tables.is_right[last_steps], steps_start)
    inner = tables.steps.take(steps).sums(steps_start, steps_end)

    at_ends = tables.ends.take(codes[start]) + tables.ends.take(codes[end - 1])
    mismatches = tables.left.take(first_steps) + tables.right.take(last_steps)
    return inner + at_ends + mismatches


def _steps_of(codes: Bytes, sites: Bytes) -> Longs:
    """Return the number of the step that each letter makes with the next one, int64[n].

    Its digits to the base CODE_COUNT are both letters of the oligo and both of the site. The last
    letter makes none, and has 0.
    """
    steps = np.zeros(len(codes), np.int64)
    for letters in (codes[:-1], codes[1:], sites[:-1], sites[1:]):
        steps[:-1] = steps[:-1] * CODE_COUNT + letters
    return steps


def _sums(values: NDArray[Any], start: Longs, end: Longs) -> Longs:
    """Return the sums of values[start … end−1], int64[n]."""
    sums_before = bounds_of(values)
    return sums_before[end] - sums_before[start]


@cache
def _tables() -> Tables:
    """Return the Tables of Biopython."""
    from Bio.SeqUtils.MeltingTemp import DNA_IMM1, DNA_NN3, DNA_TMM1

    forward = [
        f"{first}{second}/{first_paired}{second_paired}"
        for first, second, first_paired, second_paired in product(
            OLIGO_LETTERS, OLIGO_LETTERS, PAIRED_LETTERS, PAIRED_LETTERS
        )
    ]
    # The same steps as the other strand reads them: AC/TG is GT/CA there.
    backward = [spelling[::-1] for spelling in forward]
    either_way = list(zip(forward, backward, strict=True))
    return Tables(
        steps=_terms_of(either_way, [DNA_IMM1, DNA_NN3], is_needed=True),
        left=_terms_of([(spelling,) for spelling in backward], [DNA_TMM1], is_needed=False),
        right=_terms_of([(spelling,) for spelling in forward], [DNA_TMM1], is_needed=False),
        is_left=np.array([spelling in DNA_TMM1 for spelling in backward]),
        is_right=np.array([spelling in DNA_TMM1 for spelling in forward]),
        ends=_terms_of([(spelling,) for spelling in INITIATIONS], [DNA_NN3], is_needed=True),
    )


def _terms_of(
    spellings: Sequence[tuple[str, ...]], tables: Sequence[Parameters], is_needed: bool
) -> Terms:
    """Return the Terms of parts, each given as the spellings that it may have.

    Of several tables the first that has a part counts. A part that none has is zero, and missing if
    it is needed.
    """
    count = len(spellings)
    terms = Terms(np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64))
    for number, names in enumerate(spellings):
        found = [table[name] for table in tables for name in names if name in table]
        if found:
            enthalpy, entropy = found[0]
            terms.enthalpy[number] = round(100 * enthalpy)
            terms.entropy[number] = round(100 * entropy)
        else:
            terms.missing[number] = is_needed
    return terms
