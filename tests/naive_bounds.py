"""Slow and obvious: differences beside a PAM, with exact ends, and with bounds for each kind."""

from functools import cache
from math import inf
from typing import NamedTuple

import naive


class Rules(NamedTuple):
    """What an alignment has to keep to, and the PAM beside it."""

    pam: str | list | None = None
    pam_side: str = "3p"
    exact_5p: int = 0
    exact_3p: int = 0
    max_mismatches: int | None = None
    max_insertions: int | None = None
    max_deletions: int | None = None


def edit(records, patterns, k, report=None, strand="both", **rules):
    """All hits (record, start, end, pattern, distance, strand, cigar), by numbers, in order.

    Beside PAMs of several lengths two can have both ends in common: they go by their anchors.
    """
    rules = Rules(**rules)
    report = report or ("minima" if rules.pam is None else "ends")
    hits = []
    for record, (_, text) in enumerate(records):
        for number, pattern in enumerate(patterns):
            for sign in "+-" if strand == "both" else strand:
                read = naive.known(text)
                read = read if sign == "+" else naive.reverse_complement(read)
                found = []
                for start, end, distance, ops in occurrences(pattern, read, k, report, rules):
                    if sign == "-":
                        start, end = len(text) - end, len(text) - start
                    found.append((record, start, end, number, distance, sign, naive.cigar(ops)))
                if (sign == "-") != (rules.pam_side == "5p"):  # anchors were found downwards
                    found.reverse()
                hits += naive.loci(found) if report == "loci" else found
    return naive.in_order(hits)


def best(records, patterns, strand="both", exact_5p=0, exact_3p=0):
    """The minima at the smallest distance of each pattern in all records."""
    hits = []
    for number, pattern in enumerate(patterns):
        ends = {"exact_5p": exact_5p, "exact_3p": exact_3p}
        found = edit(records, [pattern], len(pattern) - 1, "minima", strand, **ends)
        smallest = min((hit[4] for hit in found), default=None)
        hits += [(*hit[:3], number, *hit[4:]) for hit in found if hit[4] == smallest]
    return naive.in_order(hits)


def occurrences(pattern, text, k, report, rules):
    """(start, end, distance, ops) of pattern and PAM, in the direction of the text.

    Beside a PAM on the 5p side all is anchored at the pattern's beginning: that is the other side
    of the same search in both pattern and text read backwards.
    """
    if rules.pam is not None and rules.pam_side == "5p":
        pams = rules.pam.split(",") if isinstance(rules.pam, str) else rules.pam
        turned = rules._replace(
            pam=[pam[::-1] for pam in pams],
            pam_side="3p",
            exact_5p=rules.exact_3p,
            exact_3p=rules.exact_5p,
        )
        n = len(text)
        for start, end, distance, ops in occurrences(pattern[::-1], text[::-1], k, report, turned):
            yield n - end, n - start, distance, ops[::-1]
        return
    aligned = [alignment(pattern, text, end, k, rules) for end in range(1, len(text) + 1)]
    values = [k + 1 if found is None else found[1] for found in aligned]
    for end, found in enumerate(aligned, 1):
        if found and (report == "ends" or naive.ends_a_low_plateau(values, end - 1)):
            start, distance, ops, pam = found
            yield start, end + len(pam), distance, ops + ["="] * len(pam)


def alignment(pattern, text, end, k, rules):
    """(start, distance, ops, PAM) of the alignment that ends at `end`, None if there is none."""
    m, pam = len(pattern), ""
    if rules.pam is not None:
        pam = naive.beside_it(text, end, end, rules.pam, "3p")
        if pam is None:
            return None
    most = tuple(
        inf if bound is None else bound  # one that never shrinks keeps the states few
        for bound in (rules.max_mismatches, rules.max_insertions, rules.max_deletions)
    )

    def exact(i):
        return i < rules.exact_5p or i >= m - rules.exact_3p

    def gap_fits(i):
        """Whether text may be skipped between letters i − 1 and i of the pattern."""
        at_start = rules.exact_5p and i <= rules.exact_5p
        at_end = rules.exact_3p and i >= m - rules.exact_3p
        return i > 0 and not at_start and not at_end

    @cache
    def reaches(i, j, total, mismatches, insertions, deletions):
        """The steps of an alignment of pattern[:i] with text up to j that costs just `total`."""
        if total < 0 or mismatches < 0 or insertions < 0 or deletions < 0 or j < 0:
            return None
        if i == 0:
            return () if total == 0 else None
        left = (mismatches, insertions, deletions)
        if j > 0:
            same = naive.matches(pattern[i - 1], text[j - 1])
            if same or not exact(i - 1):
                cost = not same
                rest = reaches(i - 1, j - 1, total - cost, left[0] - cost, *left[1:])
                if rest is not None:
                    return (*rest, "=" if same else "X")
            if gap_fits(i):
                rest = reaches(i, j - 1, total - 1, *left[:2], left[2] - 1)
                if rest is not None:
                    return (*rest, "D")
        if not exact(i - 1):
            rest = reaches(i - 1, j, total - 1, left[0], left[1] - 1, left[2])
            if rest is not None:
                return (*rest, "I")
        return None

    for total in range(k + 1):
        ops = reaches(m, end, total, *most)
        if ops is not None:
            used = sum(op != "I" for op in ops)
            return end - used, total, list(ops), pam
    return None
