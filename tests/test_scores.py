"""Scores of sites and specificities of guides, against all alignments and published values."""

import random
from typing import get_args

import naive_scores
import numpy as np
import pytest

import kmatch
from kmatch.cli import options
from kmatch.errors import InputError
from kmatch.results.cas9 import PAM_ENDS, guide_letters, is_cas9
from kmatch.results.cfd import cfd_weights
from kmatch.results.mit import LOWERING
from kmatch.results.scores import SCORES, Score, Scorer
from kmatch.search.rules import Bounds

FREE = Bounds(20, 20, 20)


def found(guide: str, target: str, pam: str, k: int = 5, search=kmatch.edit):
    """The batch of the hit of a guide in a record that holds one site."""
    genome = kmatch.Genome.from_records([("r", "N" * 30 + target + pam + "N" * 30)])
    hits = search(genome, [guide], k=k, strand="+", pam="N" + pam[1:], device="cpu")
    hits = hits[hits.distance == hits.distance.min()]
    assert len(hits.match)  # from here on batches are aligned
    return hits.batches[0]


def score(name: str, guide: str, batch, most=FREE):
    return SCORES[name].of_hits(batch, guide_letters([guide]), most)


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
    batch = found(guide, target, pam)
    assert score("cfd", guide, batch) == pytest.approx([expected], abs=1e-9)


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
    batch = found(guide, target, "TGG", k=2, search=kmatch.multi)
    free, bound = (score("cfd", guide, batch, most) for most in (FREE, Bounds(2, 0, 0)))
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
    batch = found(guide, target, "AGG", k=2)
    for name in SCORES:
        assert np.isnan(score(name, guide, batch)).all()


def test_pams_of_cas9():
    """NGG, and what SpCas9 cuts weakly; not what it does not cut, nor the PAMs of others."""
    pams = ("NGG", "nag", "NRG", "NGA", "NGN", "NAA", "NNG", "NNN", "TTTV", "GG", "NNGRRT", "AGG")
    for each in SCORES.values():
        suited = [pam for pam in pams if each.suits_pams([pam], False)]
        assert suited == ["NGG", "nag", "NRG", "NGA"]
        assert not each.suits_pams(["NGG"], True)
        assert not each.suits_pams(["NGA"], False, "cas9-vqr")
        assert each.suits(20, ["NGG", "NAG"], False) and not each.suits(19, ["NGG"], False)
    for pams, leads in ((["NGG", "TTTV"], False), (["NGG"], True), ([], False)):
        with pytest.raises(InputError, match="the score cfd is for sites of SpCas9"):
            Scorer(["cfd"], ["ACGT" * 5], pams, leads, FREE)


def test_pams_that_cas9_cuts_have_a_weight():
    assert {pair for pair, weight in naive_scores.PAMS.items() if weight} == PAM_ENDS


def test_every_score_is_offered():
    """By the command line and to type checkers, which cannot ask for the registry."""
    assert tuple(SCORES) == options.SCORE.type.choices == get_args(kmatch.api.Score)
    assert all(name == each.name for name, each in SCORES.items())


def test_mit_by_hand():
    """
    guide      A C G T T A G C C A T G C A T G C A T G
    site       A C G A T A G C C A T G C T T G C A T C
    differs          4                   14          20     d = (20 - 4) / 2 = 8
    """
    guide, site = "ACGTTAGCCATGCATGCATG", "ACGATAGCCATGCTTGCATC"
    factors = 1 - LOWERING[[3, 13, 19]]
    expected = 100 * factors.prod() / ((19 - 8) / 19 * 4 + 1) / 3**2
    batch = found(guide, site, "TGG", search=kmatch.multi)
    assert score("mit", guide, batch) == pytest.approx([expected])


def test_specificity_leaves_one_perfect_hit_out():
    guides = ["ACGATCGATTACGGATCTAG", "TTTTCCCCAAAAGGGGACGT", "ACGN"]
    sites = [guides[0], guides[0], "ACGATCGATTACGGATCTAC", "ACGATCGATTACGGATCTTG"]
    genome = kmatch.Genome.from_records([("r", "N".join(site + "AGG" for site in sites))])
    hits = kmatch.multi(genome, guides[:2], k=3, strand="+", pam="NGG", device="cpu")
    assert len(hits.match)
    scorer = Scorer(list(SCORES), guides, ["NGG"], False, Bounds(3, 0, 0))
    specificities = scorer.specificities()
    for batch in scorer.scored(hits.batches):
        for each in specificities.values():
            each.add(batch)
    for kind, whole, oracle in (
        ("cfd", 1, lambda g, t: naive_scores.cfd(g, t, "AGG", 1)),
        ("mit", 100, naive_scores.mit),
    ):
        rest = whole + sum(oracle(guides[0], site) for site in sites[2:])
        want = [whole * whole / (whole + rest), whole, np.nan]
        assert specificities[kind].values == pytest.approx(want, nan_ok=True)


def test_every_weight_is_that_of_the_table():
    weights, codes = cfd_weights(), {letter: ord(letter) & 7 for letter in "ACGT-"}
    known = {
        (p - (g != "-"), codes[g], codes[s]): w for (g, s, p), w in naive_scores.WEIGHTS.items()
    }
    known |= {(at, codes[x], codes[x]): 1 for at in range(20) for x in "ACGT"}
    known |= {(21, codes[a], codes[b]): w for (a, b), w in naive_scores.PAMS.items()}
    assert {each: weights[each] for each in zip(*np.nonzero(weights >= 0), strict=True)} == known


def test_a_score_is_an_entry_of_the_registry(monkeypatch):
    """As CONTRIBUTING says: hits, guides and their specificities have it by its name."""

    def scores(batch, guides, most):
        return np.where(guides.is_guide[batch.pattern], 1 / (1 + batch.distance), np.nan)

    monkeypatch.setitem(SCORES, "near", Score("near", 1, 20, is_cas9, scores))
    guide = "ACGATCGATTACGGATCTAG"
    sites = [guide, guide[:-1] + "C"]
    genome = kmatch.Genome.from_records([("r", "N".join(site + "AGG" for site in sites))])
    how = {"k": 2, "pam": "NGG", "score": "near", "device": "cpu"}
    hits = kmatch.multi(genome, [guide], strand="+", **how)
    assert hits.near.tolist() == [1, 0.5] and hits.tsv[-1] == "near"
    guides = kmatch.guides(genome, genome, **how)
    assert guides.specificity_near.tolist() == [1 / 1.5, 1 / 1.5]
