"""Slow and obvious: unknown letters of a text that match whatever they may stand for.

The other oracles, with another rule for letters, and with hits of few enough unknown ones: windows
are counted, and alignments see the text from their end up to the letter that is too many.
"""

from contextlib import contextmanager
from unittest import mock

import naive
import naive_bounds
import naive_circles

ALIGNMENT = naive_bounds.alignment


def is_unknown(letter):
    return letter.upper() not in "ACGTU"


def may_match(pattern_letter, text_letter):
    bases = naive.IUPAC.get(text_letter.upper(), "ACGT")
    return not set(bases).isdisjoint(naive.IUPAC[pattern_letter.upper()])


def as_sets(text):
    """A text whose letters outside IUPAC are N."""
    return "".join(x if x in naive.IUPAC else "N" for x in text.upper()).replace("U", "T")


def limited(most):
    """The `alignment` of naive_bounds that crosses no more unknown letters than `most`."""

    def alignment(pattern, text, end, k, rules):
        left = most
        if rules.pam is not None:
            pam = naive.beside_it(text, end, end, rules.pam, "3p") or ""
            left -= sum(map(is_unknown, text[end : end + len(pam)]))
        start = end
        while start > 0 and left - is_unknown(text[start - 1]) >= 0:
            left -= is_unknown(text[start - 1])
            start -= 1
        if left < 0:
            return None
        # The PAM stands behind the end in both.
        found = ALIGNMENT(pattern, text[start:], end - start, k, rules)
        return found and (start + found[0], *found[1:])

    return alignment


@contextmanager
def unknown_letters(most):
    """A context in which the other oracles have the rule."""
    with (
        mock.patch("naive.matches", may_match),
        mock.patch("naive.known", as_sets),
        mock.patch("naive_bounds.alignment", limited(most)),
    ):
        yield


def unknown_in(records, hit):
    """How many unknown letters there are under a hit, on a circle too."""
    text = records[hit[0]][1]
    return sum(is_unknown(text[place % len(text)]) for place in range(hit[1], hit[2]))


def hamming(records, patterns, k, most, circular=False, **options):
    oracle = naive_circles if circular else naive
    with unknown_letters(most):
        hits = oracle.hamming(records, patterns, k, **options)
    return [hit for hit in hits if unknown_in(records, hit) <= most]


def multi(records, patterns, k, most, pam, circular=False, **options):
    oracle = naive_circles if circular else naive
    with unknown_letters(most):
        hits = oracle.multi(records, patterns, k, pam, **options)
    return [hit for hit in hits if unknown_in(records, hit) <= most]


def edit(records, patterns, k, most, report=None, circular=False, **options):
    oracle = naive_circles if circular else naive_bounds
    if circular:  # which takes a short cut where there is no rule
        options.setdefault("max_mismatches", k)
    with unknown_letters(most):
        return oracle.edit(records, patterns, k, report, **options)
