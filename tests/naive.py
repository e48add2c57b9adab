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
