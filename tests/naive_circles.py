"""The oracle for circular records: every problem on the unrolled circle."""

from itertools import chain

import naive
import naive_bounds
from naive_bounds import Rules


def hamming(records, patterns, k, **options):
    """Windows begin anywhere on the circle, and are no longer than it."""
    hits = []
    for number, (name, text) in enumerate(records):
        n = len(text)
        found = naive.hamming([(name, 2 * text)], patterns, k, **options)
        hits += [(number, *hit[1:]) for hit in found if hit[1] < n and hit[2] - hit[1] <= n]
    return hits


def multi(records, patterns, k, pam, pam_side="3p", **options):
    """Of several PAMs the first counts; a window is no longer than the circle."""
    hits = {}  # by pattern, strand and where the pattern begins
    for number, (name, text) in enumerate(records):
        n, turns = len(text), text * (2 + 20 // max(len(text), 1))
        for each in each_pam(pam):
            for hit in naive.multi([(name, turns)], patterns, k, [each], pam_side, **options):
                _, start, _, which, _, sign = hit
                before = len(each) if (sign == "-") == (pam_side == "3p") else 0
                if start < n:
                    site = number, which, sign, (start + before) % n
                    hits.setdefault(site, (number, *hit[1:]))
    fitting = (hit for hit in hits.values() if hit[2] - hit[1] <= len(records[hit[0]][1]))
    return naive.in_order(fitting)


def each_pam(pam):
    return pam.split(",") if isinstance(pam, str) else pam or [None]


def edit(records, patterns, k, report="minima", strand="both", **rules):
    """Ends of one turn, which those before it warm up; an occurrence, beside the first of several
    PAMs, is no longer than the circle.

    rules: as for naive_bounds.edit.
    """
    hits = []
    for number, (_, text) in enumerate(records):
        n = len(text)
        for which, pattern in enumerate(patterns):
            for sign in "+-" if strand == "both" else strand:
                read = naive.known(text)
                read = read if sign == "+" else naive.reverse_complement(read)
                found = on_circle(pattern, read, k, report, Rules(**rules)) if n else []
                if report == "loci":
                    found = loci(found, n)
                # Those with both ends in common go by their anchors, upwards on the strand +.
                found = sorted(found, key=lambda hit: hit[2], reverse=sign == "-")
                for start, length, _, distance, ops in found:
                    start = start if sign == "+" else (n - start - length) % n
                    row = (number, start, start + length, which, distance, sign)
                    hits.append((*row, naive.cigar(ops)))
    return naive.in_order(hits)


def on_circle(pattern, text, k, report, rules):
    """(start, length, met, distance, ops) of ends, or minima, with 0 <= start < n; met: letters of
    the hit before its anchor."""
    n = len(text)
    if rules.pam is not None and rules.pam_side == "5p":
        ends = {"exact_5p": rules.exact_3p, "exact_3p": rules.exact_5p}
        pams = [pam[::-1] for pam in each_pam(rules.pam)]
        turned = rules._replace(pam=pams, pam_side="3p", **ends)
        found = on_circle(pattern[::-1], text[::-1], k, report, turned)
        return [
            ((n - start - length) % n, length, length - met, distance, ops[::-1])
            for start, length, met, distance, ops in found
        ]
    turns = (len(pattern) + k) // n + 1
    unrolled = text * (2 * turns + 9)  # and more than a PAM behind it
    matrix = naive.differences(pattern, unrolled) if rules == Rules() else None
    aligned = []
    for end in range(turns * n + 1, turns * n + n + 1):
        found = []  # beside each PAM
        if matrix is None:
            for pam in each_pam(rules.pam):
                one = rules._replace(pam=pam and [pam])
                found.append(naive_bounds.alignment(pattern, unrolled, end, k, one))
        elif matrix[-1][end] <= k:
            start, ops = naive.trace(matrix, pattern, unrolled, end)
            found.append((start, matrix[-1][end], ops, ""))
        hit = next(filter(None, found), None)
        aligned.append(hit if hit and end + len(hit[3]) - hit[0] <= n else None)
    values = [k + 1 if hit is None else hit[1] for hit in aligned]
    found = []
    for at, hit in enumerate(aligned):
        if hit and (report == "ends" or is_minimum(values, at)):
            start, distance, ops, pam = hit
            met = turns * n + at + 1 - start
            length = met + len(pam)
            found.append((start % n, length, met, distance, ops + ["="] * len(pam)))
    return found


def is_minimum(values, at):
    """Whether `at` is the last of equal values on a circle that are lower than those beside."""
    n = len(values)
    if len(set(values)) == 1:
        return at == n - 1
    first = at
    while values[first - 1] == values[at]:
        first = (first - 1) % n
    return values[first - 1] > values[at] and values[(at + 1) % n] > values[at]


def loci(hits, n):
    """One hit for each set of arcs of the circle that overlap, if need be over others."""

    def letters(hit):
        return {(hit[0] + i) % n for i in range(hit[1])}

    sets = []
    for hit in hits:
        joined = [s for s in sets if any(letters(hit) & letters(other) for other in s)]
        sets = [s for s in sets if s not in joined] + [[*chain(*joined), hit]]
    chosen = []
    for each in sets:
        starts = [
            hit[0]
            for hit in each
            if not any(hit[0] in letters(other) - {other[0]} for other in each)
        ]
        origin = starts[0] if starts else 0  # all round, a set begins at the origin
        chosen.append(min(each, key=lambda hit: (hit[3], (hit[0] - origin) % n, *hit[1:3])))
    return chosen


def best(records, patterns, strand="both", **ends):
    hits = []
    for number, pattern in enumerate(patterns):
        found = edit(records, [pattern], len(pattern) - 1, "minima", strand, **ends)
        smallest = min((hit[4] for hit in found), default=None)
        hits += [(*hit[:3], number, *hit[4:]) for hit in found if hit[4] == smallest]
    return naive.in_order(hits)


def pcr(records, hits, primers, product, pairs="own"):
    """Products of hits on circles: the site on `-` begins less than a turn behind that on `+`, and
    the product is no longer than the circle."""
    n = [len(text) for _, text in records]
    later = [(h[0], h[1] + n[h[0]], h[2] + n[h[0]], *h[3:]) for h in hits if h[5] == "-"]
    found = naive.pcr([*hits, *later], primers, product, pairs)

    def turned_back(hit):
        turn = n[hit[0]] * (hit[1] >= n[hit[0]])
        return (hit[0], hit[1] - turn, hit[2] - turn, *hit[3:])

    return [(*row[:4], *map(turned_back, row[4:])) for row in found if row[2] - row[1] <= n[row[0]]]
