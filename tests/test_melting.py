"""Melting temperatures of duplexes as they stand, as Biopython and primer3 have them."""

import random

import numpy as np
import pytest
from Bio.Seq import Seq
from Bio.SeqUtils.MeltingTemp import DNA_TMM1, Tm_NN
from support.duplexes import duplex_temperature

import kmatch
from kmatch.apps.duplexes import Comparer
from kmatch.engine.types import codes_of
from kmatch.results.batches import HitBatch
from kmatch.results.melting import SALTS, Salts, gc_fractions, melting_temperatures
from kmatch.search.query import Query
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.oligos import load_pairs

OTHER = "ACGTTGCAGTCCATT"  # an oligo beside the one that is looked at


@pytest.mark.parametrize("salts", [SALTS, Salts(magnesium=0, dntps=0)])
def test_melting_temperatures_are_biopythons(salts):
    """Of many stretches at once, with mismatches inside and at their ends."""
    rng, half = random.Random(7), salts.oligos / 2
    mixed = {"dnac1": half, "dnac2": half, "Na": salts.monovalent, "Mg": salts.magnesium}
    oligos, sites, expected = [], [], []
    for _ in range(300):
        oligo = rng.choices("ACGT", k=rng.randint(2, 12))
        site = [rng.choice("ACGTN") if rng.random() < 0.1 else letter for letter in oligo]
        oligos.append("".join(oligo))
        sites.append("".join(site))
        try:
            tm = Tm_NN(oligos[-1], c_seq=Seq(sites[-1]).complement(), saltcorr=5,
                       dNTPs=salts.dntps, **mixed) if "N" not in site else np.nan  # fmt: skip
        except (ValueError, KeyError, IndexError):  # no parameters
            tm = np.nan
        expected.append(tm)
    letters = [np.frombuffer("".join(each).encode(), np.uint8) for each in (oligos, sites)]
    ends = np.cumsum(list(map(len, oligos)))
    codes = [codes_of(encode_text(each)) for each in letters]
    found = melting_temperatures(*codes, np.append(0, ends[:-1]), ends, salts)
    assert 20 < np.isnan(expected).sum() < 200
    np.testing.assert_allclose(found, expected, rtol=1e-9)


# calc_tm of primer3-py 2.4.0 with 1.5 mM Mg and 0.6 mM dNTPs, its defaults, and with other salts.
PRIMER3 = {
    "ACAGGTACGTTAATAGTTAATAGCGT": (58.2928957293754, 62.9710703098084),
    "GACCCCAAAATCAGCGAAAT": (56.674076070161334, 61.705809715768055),
    "TCTGGTTACTGCCAGTTGAATCTG": (60.80392434640186, 65.6332450632907),
    "GGATTACCAGTTGCA": (46.037429652810886, 51.48659804899421),
}


@pytest.mark.parametrize("oligo", PRIMER3)
def test_melting_temperatures_of_perfect_duplexes(oligo):
    salts = Salts(monovalent=100, magnesium=3, dntps=0.2, oligos=200)
    found = duplex_temperature(oligo, oligo), duplex_temperature(oligo, oligo, salts)
    assert found == pytest.approx(PRIMER3[oligo], abs=1e-9)


# One mol of sodium and of each strand, with which the sums alone decide: Tm = 1000 ΔH / ΔS.
BARE = Salts(monovalent=1000, magnesium=0, dntps=0, oligos=4e9)


def test_the_sum_of_a_duplex():
    """Parameters of Allawi & SantaLucia 1997, kcal/mol and cal/(K·mol):

    C G T T       init_G/C   CG/GC   GT/CA   TT/AA   init_A/T
    | | | |        0.1       −10.6   −8.4    −7.9     2.3
    G C A A       −2.8       −27.2   −22.4   −22.2    4.1
    """
    enthalpy = 0.1 - 10.6 - 8.4 - 7.9 + 2.3
    entropy = -2.8 - 27.2 - 22.4 - 22.2 + 4.1
    tm = 1000 * enthalpy / entropy - 273.15
    assert duplex_temperature("CGTT", "CGTT", BARE) == pytest.approx(tm, abs=1e-9)


def test_a_mismatch_at_an_end_takes_the_place_of_its_step():
    """The site reads G where the oligo begins with A:

    A C G T T       init_A/T   AC/CG at the end   CG/GC   GT/CA   TT/AA   init_A/T
    x | | | |        2.3                          −10.6   −8.4    −7.9     2.3
    C G C A A        4.1                          −27.2   −22.4   −22.2    4.1
    """
    at_end = DNA_TMM1["GC/CA"]  # the same, read the other way
    enthalpy = 2.3 + at_end[0] - 10.6 - 8.4 - 7.9 + 2.3
    entropy = 4.1 + at_end[1] - 27.2 - 22.4 - 22.2 + 4.1
    tm = 1000 * enthalpy / entropy - 273.15
    assert duplex_temperature("ACGTT", "GCGTT", BARE) == pytest.approx(tm, abs=1e-9)


def test_a_letter_alone_has_no_step():
    """The first A, or the last one, is alone; either is on another letter, and the C beside it is
    no part of the duplex:

        A C      C A
        x |      | x
        C G      G C
    """
    tm = 1000 * 4.6 / 8.2 - 273.15  # of init_A/T twice
    for oligo, site, start in (("AC", "GC", 0), ("CA", "CG", 1), ("A", "A", 0)):
        letters = [np.frombuffer(each.encode(), np.uint8) for each in (oligo, site)]
        codes = [codes_of(encode_text(each)) for each in letters]
        found = melting_temperatures(*codes, np.array([start]), np.array([start + 1]), BARE)
        assert found == pytest.approx(tm, abs=1e-9)


def test_shares_of_g_and_c():
    """
    A C G N T T      A C G N: 2 of 3 known letters
    0 1 2 4 3 3            N: none is known
    """
    codes = np.array([0, 1, 2, 4, 3, 3], np.uint8)
    shares = gc_fractions(codes, np.array([0, 3, 0]), np.array([4, 4, 6]))
    assert shares.tolist() == [2 / 3, 0, 2 / 5]


def test_temperatures_that_are_none():
    """The entropies of all these mismatches add up to nearly zero.

    GGCCACGCCGA
    |x|x|x|x|x|      and no temperature, of the sum −3652.6 °C
    GTCGATGACTA
    """
    oligo, site = "GGCCACGCCGA", "GTCGATGACTA"
    assert duplex_temperature(oligo, site) < -3000
    oligos = load_pairs({"pair": (oligo, OTHER)}).primers
    genomes = kmatch.genome.as_genomes(kmatch.Genome.from_records([("r", site + OTHER)]))
    sites = HitBatch(
        record=np.zeros(2, np.int64),
        start=np.array([0, 11]),
        end=np.array([11, 26]),
        names={0: "r"},
        pattern=np.array([0, 1], np.int32),
        distance=np.array([5, 0], np.int32),
        minus=np.zeros(2, np.uint8),
    )
    comparer = Comparer(oligos, SALTS)
    compared = comparer.compare(sites, Query("hamming", oligos, 8), genomes, 1)
    assert np.isnan(comparer.duplexes(compared).tm).tolist() == [True, False]
