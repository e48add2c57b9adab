"""The oracle for circular records: every problem on the unrolled circle."""

import naive


def hamming(records, patterns, k, **options):
    """Windows begin anywhere on the circle, and are no longer than it."""
    hits = []
    for number, (name, text) in enumerate(records):
        n = len(text)
        found = naive.hamming([(name, 2 * text)], patterns, k, **options)
        hits += [(number, *hit[1:]) for hit in found if hit[1] < n and hit[2] - hit[1] <= n]
    return hits


def multi(records, patterns, k, *pam, **options):
    hits = []
    for number, (name, text) in enumerate(records):
        n = len(text)
        found = naive.multi([(name, 2 * text)], patterns, k, *pam, **options)
        hits += [(number, *hit[1:]) for hit in found if hit[1] < n and hit[2] - hit[1] <= n]
    return hits


def edit(records, patterns, k, report="minima", strand="both"):
    """D on the circle: the second turn of three, which the first one warms up."""
    hits = []
    for number, (_, text) in enumerate(records):
        n = len(text)
        for which, pattern in enumerate(patterns):
            for sign in "+-" if strand == "both" else strand:
                read = text if sign == "+" else naive.reverse_complement(naive.known(text))
                found = on_circle(pattern, read, k, report)
                if report == "loci":
                    found = loci(found, n)
                for start, length, distance, ops in found:
                    start = start if sign == "+" else (n - start - length) % n
                    row = (number, start, start + length, which, distance, sign)
                    hits.append((*row, naive.cigar(ops)))
    return naive.in_order(hits)


def on_circle(pattern, text, k, report):
    """(start, length, distance, ops) of ends, or minima, with 0 <= start < n."""
    n = len(text)
    matrix = naive.differences(pattern, 3 * text)
    last = matrix[-1][n + 1 : 2 * n + 1]
    found = []
    for at, distance in enumerate(last):
        if distance <= k and (report == "ends" or is_minimum(last, at)):
            start, ops = naive.trace(matrix, pattern, 3 * text, n + at + 1)
            found.append((start % n, n + at + 1 - start, distance, ops))
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
        sets = [s for s in sets if s not in joined] + [sum(joined, [hit])]
    chosen = []
    for each in sets:
        covered = set().union(*map(letters, each))
        starts = [
            hit[0]
            for hit in each
            if not any(hit[0] in letters(other) - {other[0]} for other in each)
        ]
        origin = starts[0] if starts else 0  # all round, a set begins at the origin
        del covered
        chosen.append(min(each, key=lambda hit: (hit[2], (hit[0] - origin) % n, hit[1])))
    return chosen


def best(records, patterns, strand="both"):
    hits = []
    for number, pattern in enumerate(patterns):
        found = edit(records, [pattern], len(pattern) - 1, "minima", strand)
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
