"""Scores of sites and specificities of guides, against all alignments and published values."""

import random

import naive_scores
import numpy as np
import pytest

import kmatch
from kmatch.results.scores import Scorer, Specificity, cfd_weights
from kmatch.search.rules import Bounds, is_cas9, load_pams

FREE = Bounds(20, 20, 20)


def scored(guide: str, target: str, pam: str, k: int = 5, search=kmatch.edit) -> tuple:
    """The hit of a guide in a record that holds one site: its batch, and its scorer."""
    genome = kmatch.Genome.from_records([("r", "N" * 30 + target + pam + "N" * 30)])
    hits = search(genome, [guide], k=k, strand="+", pam="N" + pam[1:], device="cpu")
    hits = hits[hits.distance == hits.distance.min()]
    assert len(hits.match)  # from here on batches are aligned
    return hits, Scorer([guide], FREE)


@pytest.mark.parametrize(
    ("guide", "target", "pam", "expected"),
    [
        ("AGGGGCCGGAGTATTGGGAG", "AGGGGCCCGAGTATTGGGAG", "AGG", 0.615384615),
        ("TCCACAGATACCTGAAGAAC", "TCCGCAGATACCTGAAGAAC", "CGG", 0.625),
        ("CCAGGGCGGCCGCCAGCAGC", "CCAGGGCGGCCGCCAACAGC", "GGG", 1),
        ("ATGTCTCTCCGAGATTGTAA", "CTGTCTCTCCCAGATTGTAA", "TGG", 0.367346939),
        ("CATGCCGTGTGTACCATGAG", "CATGCCATGTGTACCATCAG", "AGG", 0.476190476),
        ("CTACCTGGAGGGCGAGTGCG", "CTACCTGGAGGGCACGTGCG", "AGG", 0.204545455),
        ("CGACGCAAGTGGGAGCAGAG", "AAACACAAGTGGGAGCAGGC", "AGG", 0.117857143),
        ("ATGGTCGGACTCCCTGCCAG", "ATGATCCAAATCCCTGCCAG", "AGG", 0.53625000020625),
        ("ATCGATGCTGATGCTAGATA", "ATCGATGCTGATGCTAGATT", "AGG", 0.6),
        ("ATCGATGCTGATGCTAGATA", "ATCGATGCTGATGCTAGATA", "AGA", 0.069444444),
        ("ATCGATGCTGATGCTAGATA", "ACGATGCTGATGCTAGATA", "AGG", 0.953125),
        ("ATCGATGCTGATGCTAGATA", "ATACGATGCTGATGCTAGATA", "AGG", 0.727272727),
    ],
)
def test_published_cfd(guide, target, pam, expected):
    """Values of supplementary table 20 and of two calculators; bulges of the text count the
    guide's letters before them."""
    hits, scorer = scored(guide, target, pam)
    assert scorer.cfd(hits.batches[0]) == pytest.approx([expected], abs=1e-9)


def near(guide: str, rng: random.Random) -> str:
    """A site of a guide with a few differences, often in runs of one letter."""
    letters = list(guide)
    for _ in range(rng.randrange(4)):
        at, kind = rng.randrange(len(letters)), rng.randrange(3)
        letters[at : at + 1] = [[], [rng.choice("ACGT")], [letters[at], rng.choice("ACGT")]][kind]
    return "".join(letters)


@pytest.mark.filterwarnings("ignore:pattern")  # that ends with its PAM
def test_cfd_is_the_greatest_of_all_alignments():
    rng = random.Random(38)
    for _ in range(150):
        guide = "".join(rng.choice("AC" if rng.random() < 0.6 else "ACGT") for _ in range(20))
        target, pam = near(guide, rng), rng.choice("ACGT") + rng.choice(["GG", "AG", "GA"])
        genome = kmatch.Genome.from_records([("r", "N" * 30 + target + pam)])
        how = {"strand": "+", "pam": "N" + pam[1:], "score": ("cfd", "mit"), "device": "cpu"}
        hits = kmatch.edit(genome, [guide], k=4, **how)
        columns = (hits.distance, hits.match, hits.cigar, hits.cfd, hits.mit)
        for distance, text, cigar, score, rate in zip(*columns, strict=True):
            want = naive_scores.cfd(guide, text[:-3], text[-3:], distance)
            assert score == pytest.approx(np.nan if want is None else want, nan_ok=True), text
            straight = None if set(cigar) & set("ID") else naive_scores.mit(guide, text[:-3])
            assert rate == pytest.approx(np.nan if straight is None else straight, nan_ok=True)


def test_bounds_leave_alignments_out():
    """Two mismatches, not an insertion and a deletion, where bulges are not allowed."""
    guide, target = "CCCACCCCCCCCCCCCCCCC", "CCCCACCCCCCCCCCCCCCC"
    hits, scorer = scored(guide, target, "TGG", k=2, search=kmatch.multi)
    batch = hits.batches[0]
    free, bound = scorer.cfd(batch), Scorer([guide], Bounds(2, 0, 0)).cfd(batch)
    for got, bulges in ((free, True), (bound, False)):
        want = naive_scores.cfd(guide, target, "TGG", 2, bulges)
        assert got == pytest.approx([want])
    assert free[0] > bound[0]


@pytest.mark.parametrize(
    ("guide", "target"),
    [
        ("ACGTACGTACGTACGTACG", "ACGTACGTACGTACGTACC"),  # nineteen letters
        ("ACGTACGTACGTACGTACGN", "ACGTACGTACGTACGTACGA"),
        ("ACGTACGTACGTACGTACGA", "ACGTACNTACGTACGTACGA"),
    ],
)
def test_what_has_no_score(guide, target):
    hits, scorer = scored(guide, target, "AGG", k=2)
    assert np.isnan(scorer.cfd(hits.batches[0])).all()
    assert np.isnan(scorer.mit(hits.batches[0])).all()


def test_pams_of_cas9():
    pams = ("NGG", "nag", "NRG", "TTTV", "GG", "NNGRRT", "AGG")
    scored = [pam.sequence for pam in load_pams(pams, "3p") if is_cas9(pam)]
    assert scored == ["NGG", "nag", "NRG"]
    assert not any(map(is_cas9, load_pams("NGG", "5p")))


def test_specificity_leaves_one_perfect_hit_out():
    guides = ["ACGATCGATTACGGATCTAG", "TTTTCCCCAAAAGGGGACGT", "ACGN"]
    sites = [guides[0], guides[0], "ACGATCGATTACGGATCTAC", "ACGATCGATTACGGATCTTG"]
    genome = kmatch.Genome.from_records([("r", "N".join(site + "AGG" for site in sites))])
    hits = kmatch.multi(genome, guides[:2], k=3, strand="+", pam="NGG", device="cpu")
    assert len(hits.match)
    scorer = Scorer(guides, Bounds(3, 0, 0))
    for kind, whole, oracle in (
        ("cfd", 1, lambda g, t: naive_scores.cfd(g, t, "AGG", 1)),
        ("mit", 100, naive_scores.mit),
    ):
        found = Specificity(kind, scorer.defined)
        for batch in scorer.scored(hits.batches, [kind]):
            found.add(batch)
        rest = whole + sum(oracle(guides[0], site) for site in sites[2:])
        want = [whole * whole / (whole + rest), whole, np.nan]
        assert found.values == pytest.approx(want, nan_ok=True)


def test_every_weight_is_that_of_the_table():
    weights, codes = cfd_weights(), {letter: ord(letter) & 7 for letter in "ACGT-"}
    known = {
        (p - (g != "-"), codes[g], codes[s]): w for (g, s, p), w in naive_scores.WEIGHTS.items()
    }
    known |= {(at, codes[x], codes[x]): 1 for at in range(20) for x in "ACGT"}
    known |= {(21, codes[a], codes[b]): w for (a, b), w in naive_scores.PAMS.items()}
    assert {each: weights[each] for each in zip(*np.nonzero(weights >= 0), strict=True)} == known
