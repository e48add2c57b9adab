"""Slow and obvious: the oracle for every problem, in plain Python."""

IUPAC = {
    "A": "A", "C": "C", "G": "G", "T": "T", "U": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT",
    "K": "GT", "M": "AC", "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT",
}  # fmt: skip
COMPLEMENT = dict(zip("ACGTURYSWKMBDHVN", "TGCAAYRSWMKVHDBN", strict=True))


def reverse_complement(pattern):
    return "".join(COMPLEMENT[letter] for letter in reversed(pattern.upper()))


def matches(pattern_letter, text_letter):
    """Whether a pattern letter matches a text letter; only A, C, G, T and U are ever matched."""
    base = text_letter.upper().replace("U", "T")
    return base in ("A", "C", "G", "T") and base in IUPAC[pattern_letter.upper()]


def hamming(records, patterns, k, strand="both", exact_5p=0, exact_3p=0):
    """All hits (record, start, end, pattern, distance, strand), by numbers, in the agreed order."""
    hits = []
    for record, (_, text) in enumerate(records):
        for number, written in enumerate(patterns):
            m = len(written)
            for sign in "+-" if strand == "both" else strand:
                exact = [i < exact_5p or i >= m - exact_3p for i in range(m)]
                pattern = written if sign == "+" else reverse_complement(written)
                exact = exact if sign == "+" else exact[::-1]
                for start in range(len(text) - m + 1):
                    wrong = [i for i in range(m) if not matches(pattern[i], text[start + i])]
                    if len(wrong) <= k and not any(exact[i] for i in wrong):
                        hits.append((record, start, start + m, number, len(wrong), sign))
    return sorted(hits, key=lambda h: (h[0], h[1], h[2], "+-".index(h[5]), h[3]))


def multi(records, patterns, k, pam, pam_side="3p", strand="both", exact_5p=0, exact_3p=0):
    """Hits of patterns beside a PAM: they span both, their distance counts the pattern alone.

    pam: one, or a list of which the first that stands beside a pattern is its PAM.
    """
    hits = []
    for record, (_, text) in enumerate(records):
        for number, pattern in enumerate(patterns):
            m = len(pattern)
            for sign in "+-" if strand == "both" else strand:
                read = known(text) if sign == "+" else reverse_complement(known(text))
                for start in range(len(text) - m + 1):
                    end, guide = start + m, read[start : start + m]
                    wrong = [i for i in range(m) if not matches(pattern[i], guide[i])]
                    beside = beside_it(read, start, end, pam, pam_side)
                    if (
                        beside is not None
                        and len(wrong) <= k
                        and all(exact_5p <= i < m - exact_3p for i in wrong)
                    ):
                        span = spanning(start, end, beside, pam_side)
                        span = span if sign == "+" else (len(text) - span[1], len(text) - span[0])
                        hits.append((record, *span, number, len(wrong), sign))
    return in_order(hits)


def beside_it(read, start, end, pam, pam_side):
    """The PAM, or of several the first, that stands beside read[start:end], or None."""
    for each in pam.split(",") if isinstance(pam, str) else pam:
        low = end if pam_side == "3p" else start - len(each)
        there = read[max(low, 0) : low + len(each)]
        if low >= 0 and len(there) == len(each) and all(map(matches, each, there)):
            return each
    return None


def spanning(start, end, beside, pam_side):
    return (start, end + len(beside)) if pam_side == "3p" else (start - len(beside), end)


def summary(names, k, hits):
    """The summary of hits by pattern and distance, whole."""
    lines = ["\t".join(["pattern", *(f"d{d}" for d in range(k + 1)), "total"]) + "\n"]
    for number, name in enumerate(names):
        mine = [hit[4] for hit in hits if hit[3] == number]
        row = [name, *(mine.count(d) for d in range(k + 1)), len(mine)]
        lines.append("\t".join(map(str, row)) + "\n")
    return "".join(lines)


def bed(records, names, patterns, hits):
    """The BED file of hits, whole."""
    lines = []
    for record, start, end, number, distance, sign in hits:
        score = round(1000 * (1 - distance / len(patterns[number])))
        row = (records[record][0], start, end, names[number], score, sign, distance)
        lines.append("\t".join(map(str, row)) + "\n")
    return "".join(lines)


def tsv(records, names, patterns, hits):
    """The TSV file of gapless hits, whole."""
    lines = ["sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch\n"]
    for record, start, end, number, distance, sign in hits:
        text = "".join(
            letter if letter in "ACGT" else "N"
            for letter in records[record][1][start:end].upper().replace("U", "T")
        )
        text = text if sign == "+" else reverse_complement(text)
        pattern = patterns[number]
        ops = ["=" if matches(p, t) else "X" for p, t in zip(pattern, text, strict=True)]
        row = (records[record][0], start, end, names[number], distance, sign, cigar(ops), text)
        lines.append("\t".join(map(str, row)) + "\n")
    return "".join(lines)


def cigar(ops):
    """Run lengths of alignment columns."""
    runs = []
    for op in ops:
        if runs and runs[-1][1] == op:
            runs[-1][0] += 1
        else:
            runs.append([1, op])
    return "".join(f"{count}{op}" for count, op in runs)


def edit(records, patterns, k, report="minima", strand="both"):
    """All hits (record, start, end, pattern, distance, strand, cigar), by numbers, in order.

    A hit holds a letter of the text: an alignment without one costs m, which is more than k. Two
    hits of one pattern and strand never share both ends, as each has an anchored end of its own.
    """
    hits = []
    for record, (_, text) in enumerate(records):
        for number, pattern in enumerate(patterns):
            for sign in "+-" if strand == "both" else strand:
                # The strand - is the strand + of the reverse-complemented record, mirrored.
                read = text if sign == "+" else reverse_complement(known(text))
                found = []
                for start, end, distance, ops in occurrences(pattern, read, k, report):
                    if sign == "-":
                        start, end = len(text) - end, len(text) - start
                    found.append((record, start, end, number, distance, sign, cigar(ops)))
                hits += loci(found) if report == "loci" else found
    return in_order(hits)


def pcr(hits, primers, product, pairs="own"):
    """Products (record, start, end, strand, forward hit, reverse hit) of all pairs of hits.

    hits: of the primers, as `hamming` or `edit` gives them; primers: (pair, role) of each, its role
    being "F" or "R".
    """
    products = []
    for plus in hits:
        for minus in hits:
            (pair, role), (other, facing) = primers[plus[3]], primers[minus[3]]
            length = minus[2] - plus[1]
            if (
                (plus[5], minus[5]) == ("+", "-")
                and plus[0] == minus[0]
                and plus[1] <= minus[1]
                and plus[2] <= minus[2]
                and product[0] <= length <= product[1]
                and (pairs == "any" or (pair == other and role != facing))
            ):
                turned = (role, plus[3]) > (facing, minus[3])
                ends = (minus, plus) if turned else (plus, minus)
                products.append((plus[0], plus[1], minus[2], "-" if turned else "+", *ends))
    return sorted(products, key=lambda p: (p[:3], "+-".index(p[3]), p[4][3], p[5][3]))


def best(records, patterns, strand="both"):
    """The minima at the smallest distance of each pattern in all records, as `edit` gives them."""
    hits = []
    for number, pattern in enumerate(patterns):
        found = edit(records, [pattern], len(pattern) - 1, "minima", strand)
        smallest = min((hit[4] for hit in found), default=None)
        hits += [(*hit[:3], number, *hit[4:]) for hit in found if hit[4] == smallest]
    return in_order(hits)


def in_order(hits):
    return sorted(hits, key=lambda h: (h[0], h[1], h[2], "+-".index(h[5]), h[3]))


def known(text):
    """A text as A, C, G, T, and N for every letter that no pattern can match."""
    return "".join(x if x in "ACGT" else "N" for x in text.upper().replace("U", "T"))


def differences(pattern, text):
    """The matrix D: D[i][j] is the least cost of pattern[:i] against any piece that ends at j."""
    letters = {(p, t): matches(p, t) for p in set(pattern) for t in set(text)}
    matrix = [[0] * (len(text) + 1)]
    for p in pattern:
        above, row = matrix[-1], [len(matrix)]
        for j, t in enumerate(text, 1):
            row.append(min(above[j - 1] + (not letters[p, t]), row[j - 1] + 1, above[j] + 1))
        matrix.append(row)
    return matrix


def occurrences(pattern, text, k, report):
    """(start, end, distance, ops) of the ends, or of the minima, in the direction of the text."""
    matrix = differences(pattern, text)
    last = matrix[-1]
    for end in range(1, len(text) + 1):
        if last[end] <= k and (report == "ends" or ends_a_low_plateau(last[1:], end - 1)):
            start, ops = trace(matrix, pattern, text, end)
            yield start, end, last[end], ops


def ends_a_low_plateau(values, at):
    """Whether `at` is the last of equal values that are lower than what is before and after."""
    first = at
    while first > 0 and values[first - 1] == values[at]:
        first -= 1
    falls = first == 0 or values[first - 1] > values[at]
    rises = at == len(values) - 1 or values[at + 1] > values[at]
    return falls and rises


def trace(matrix, pattern, text, end):
    """(start, ops) of the optimal alignment into `end` that prefers diagonal steps, then D."""
    i, j, ops = len(pattern), end, []
    while i > 0:
        here = matrix[i][j]
        match = j > 0 and matches(pattern[i - 1], text[j - 1])
        if j > 0 and here == matrix[i - 1][j - 1] + (not match):
            ops.append("=" if match else "X")
            i, j = i - 1, j - 1
        elif j > 0 and here == matrix[i][j - 1] + 1:
            ops.append("D")
            j -= 1
        else:
            ops.append("I")
            i -= 1
    return j, ops[::-1]


def loci(hits):
    """One hit for each set of hits that overlap one another, if need be over others in between.

    hits: those of one record, pattern and strand, those with both ends in common by their anchors.
    Among equals the one that begins first as the strand is read stands for all, then the one that
    ends first, then the one whose anchor comes first.
    """
    sets = []
    for rank, hit in enumerate(hits):
        overlapping = [s for s in sets if any(hit[1] < h[2] and h[1] < hit[2] for _, h in s)]
        sets = [s for s in sets if s not in overlapping] + [sum(overlapping, [(rank, hit)])]
    return [min(s, key=_order_in_locus)[1] for s in sets]


def _order_in_locus(ranked):
    rank, (_, start, end, _, distance, sign, _) = ranked
    return (distance, start, end, rank) if sign == "+" else (distance, -end, -start, -rank)


def edit_tsv(records, names, hits):
    """The TSV file of hits with CIGARs, whole."""
    lines = ["sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch\n"]
    for record, start, end, number, distance, sign, ops in hits:
        text = known(records[record][1][start:end])
        text = text if sign == "+" else reverse_complement(text)
        row = (records[record][0], start, end, names[number], distance, sign, ops, text)
        lines.append("\t".join(map(str, row)) + "\n")
    return "".join(lines)


def primers(target, background, k, background_strand="both", max_length=None, both_strands=False):
    """All primers (record, start, end, strand), by numbers, in the agreed order.

    Strand `-` are those of the reverse complement of the target, on forward coordinates. A primer
    holds A, C, G and T alone; other letters of the background match nothing.
    """
    texts = ["", *(known(text) for _, text in background)]
    if background_strand == "both":
        texts += [reverse_complement(text) for text in texts]
    found = []
    for record, (_, text) in enumerate(target):
        n = len(text)
        for sign in "+-" if both_strands else "+":
            read = known(text) if sign == "+" else reverse_complement(known(text))
            for r in range(n):
                letters, _, _ = read[r:].partition("N")
                length = shortest_apart(letters[:max_length], texts, k)
                if length is not None:
                    start = r if sign == "+" else n - r - length
                    found.append((record, start, start + length, sign))
    return sorted(found, key=lambda row: (*row[:3], "+-".index(row[3])))


def shortest_apart(read, texts, k):
    """The length of the shortest prefix with k differences from every substring of the texts."""
    rows = [[0] * (len(text) + 1) for text in texts]
    for length, letter in enumerate(read, 1):
        rows = [next_row(row, letter, text, length) for row, text in zip(rows, texts, strict=True)]
        if min(map(min, rows)) >= k:
            return length
    return None


def next_row(above, letter, text, length):
    """The next row of the matrix D of `differences`."""
    row = [length]
    for j, other in enumerate(text, 1):
        row.append(
            min(above[j - 1] + (letter != other or letter == "N"), row[-1] + 1, above[j] + 1)
        )
    return row


def primers_bed(target, k, rows):
    """The BED file of primers, whole; a primer is named by where its first letter is."""
    lines = []
    for record, start, end, sign in rows:
        first = start if sign == "+" else end - 1
        score = round(1000 * min(1, k / (end - start)))
        row = (target[record][0], start, end, f"primer_{first}", score, sign)
        lines.append("\t".join(map(str, row)) + "\n")
    return "".join(lines)
