"""`edit` and `best` beside a PAM, with exact ends and with bounds, against the oracle."""

from itertools import combinations, pairwise

import naive
import naive_bounds
import numpy as np
import pytest
from support.commands import random_letters
from support.constraints import CASES
from support.differences import check_alignment, edit, edited, rows
from support.mismatches import search_panel
from support.packing import packed

import kmatch


def test_no_rules_are_the_rules_of_edit():
    text = random_letters(2_000)
    patterns = [text[100:112], text[700:715]]
    for report in ("ends", "minima", "loci"):
        plain = rows(edit([("r", text)], patterns, 4, report=report))
        bounded = rows(edit([("r", text)], patterns, 4, report=report, max_mismatches=4))
        assert plain == bounded


def test_a_packed_genome():
    records, patterns, k, options = CASES["several PAMs"]
    found = kmatch.edit(packed(records), patterns, k, **options)
    assert rows(found) == naive_bounds.edit(records, patterns, k, **options)


@pytest.mark.parametrize("algorithm", ["sequential", "row"])
@pytest.mark.parametrize("name", ["a PAM before", "exact both", "one bulge"])
def test_published_algorithms(name, algorithm):
    records, patterns, k, options = CASES[name]
    found = edit(records, patterns, k, algorithm=algorithm, device="cpu", **options)
    assert rows(found) == naive_bounds.edit(records, patterns, k, **options)


@pytest.fixture(scope="module")
def guides():
    """Random letters with edited guides in them, and the guides."""
    rng = np.random.default_rng(5)
    guides = [random_letters(12, seed) for seed in (1, 2, 3)]
    parts = []
    for number in range(90):
        guide = edited(rng, guides[number % 3], number % 4) + "TGG"
        parts += [
            random_letters(9, number),
            naive.reverse_complement(guide) if number % 2 else guide,
        ]
    return "".join(parts), guides


@pytest.mark.parametrize("insertions, deletions", [(1, 0), (0, 1), (1, 1), (0, 0)])
def test_bounds_are_the_enumeration_of_bulged_guides(guides, insertions, deletions):
    """As sets of sites: every guide with letters left out, or with N's put in, has mismatches."""
    text, patterns = guides
    bounds = {"max_mismatches": 2, "max_insertions": insertions, "max_deletions": deletions}
    k = 2 + insertions + deletions
    found = edit([("r", text)], patterns, k, pam="NGG", **bounds)
    sites = {
        (n, sign, end if sign == "+" else start) for _, start, end, n, _, sign, _ in rows(found)
    }
    expected = set()
    for number, guide in enumerate(patterns):
        for form in bulged(guide, insertions, deletions):
            forms = search_panel([("r", text)], [form], 2, pam="NGG")
            expected |= {
                (number, str(sign), int(end if sign == "+" else start))
                for start, end, sign in zip(forms.start, forms.end, forms.strand, strict=True)
            }
    assert sites == expected and len(sites) > 20


def bulged(guide, insertions, deletions):
    """A guide with so many letters left out, and so many of any kind put in, wherever that is."""
    forms = {guide}
    for many in range(insertions + 1):
        for out in combinations(range(len(guide)), many):
            shorter = "".join(x for i, x in enumerate(guide) if i not in out)
            for more in range(deletions + 1):
                for places in combinations(range(1, len(shorter) + 1), more):
                    cuts = [0, *places, len(shorter)]
                    pieces = [shorter[a:b] for a, b in pairwise(cuts)]
                    forms.add("N".join(pieces))
    return forms


def test_alignments_replayed():
    text = random_letters(4_000)
    patterns = [text[50:62], text[2_000:2_015]]
    found = edit([("r", text)], patterns, 4, pam=["NGG", "NAGT"], max_deletions=1)
    assert len(found) == 20
    for _, start, end, number, distance, sign, cigar in rows(found):
        piece = text[start:end] if sign == "+" else naive.reverse_complement(text[start:end])
        pam = "NAGT" if naive.matches("A", piece[-3]) and piece[-2:] == "GT" else "NGG"
        check_alignment(patterns[number] + pam, piece, cigar, distance)
        assert cigar.count("D") <= 1
