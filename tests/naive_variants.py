"""The oracle of variants: each copy of each sample made whole, searched plainly and lifted back."""

from itertools import combinations, product


def hits(record, letters, sites, samples, search, three_prime=True):
    """Rows (start, end, pattern, strand, alleles, distance, samples, distance of the reference).

    record: its name; sites: (POS, REF, [ALT, …], genotypes), sorted, genotypes being None or one a
    sample, such as 0|1, 1 or ./.; samples: names; search(letters, every): hits (start, end,
    pattern, distance, strand) of a text, every: all ends, whatever the report; three_prime: whether
    hits are anchored at their pattern's 3′ end.
    """
    reference = {}
    for start, end, pattern, distance, strand in search(letters, True):
        place = anchored(start, end, strand, three_prime), pattern, strand
        reference[place] = min(distance, reference.get(place, distance))
    found, copies = set(), [*haplotypes(record, sites, samples)]
    for _, alleles in copies:
        text, first, last, spans = made(letters, alleles)
        for start, end, pattern, distance, strand in search(text, False):
            inside = [
                (allele, low)
                for allele, (low, high) in zip(alleles, spans, strict=True)
                if start < high and low < end
            ]
            if not inside:
                continue
            under = first[start], last[end - 1]
            low, high = under
            if low == high:  # inside an insertion
                low, high = (low - 1, high) if low else (0, 1)
            known = reference.get((anchored(low, high, strand, three_prime), pattern, strand))
            if known is not None and known <= distance:
                continue
            # An insertion may hold several hits.
            at = start - inside[0][1], end - inside[0][1]
            there = tuple(allele for allele, _ in inside)
            found.add((low, high, pattern, strand, distance, known, at, there, under))
    rows = []
    for low, high, pattern, strand, distance, known, _, there, under in found:
        who = {sample for sample, alleles in copies if carries(alleles, there, *under)}
        carriers = ",".join(name for name in samples if name in who)
        names = ",".join(allele[3] for allele in there)
        rows.append((low, high, pattern, strand, names, distance, carriers, known))
    return rows


def carries(alleles, there, low, high):
    """Whether a copy with these alleles has some of them there, and no others."""
    others = [each for each in alleles if each not in there and each[0] < high and each[1] > low]
    return set(there) <= set(alleles) and not others


def anchored(start, end, strand, three_prime):
    return end if (strand == "+") == three_prime else start


def haplotypes(record, sites, samples):
    """Yield (sample, alleles) for all that copies of samples may be; alleles: (start, end, letters,
    name, line) in order, none of which overlap."""
    for number, sample in enumerate(samples or [None]):
        for copy in range(3):
            choices = []
            for line, (place, ref, alts, genotypes) in enumerate(sites):
                if genotypes is None:
                    may = range(len(alts) + 1) if copy == 0 else [0]
                else:
                    may = alleles_of(genotypes[number], copy)
                choices.append(
                    [
                        trimmed(record, place, ref, alts[each - 1], line) if each else None
                        for each in may
                    ]
                )
            for chosen in product(*map(optional, choices, others_of(choices))):
                alleles = sorted(filter(None, chosen))
                if not any(overlap(*pair) for pair in combinations(alleles, 2)):
                    yield sample, alleles


def others_of(choices):
    """For each site the alleles of all others."""
    return [
        [allele for other in [*choices[:at], *choices[at + 1 :]] for allele in other if allele]
        for at in range(len(choices))
    ]


def optional(choice, others):
    """What a copy has at a site: nothing too, where that overlaps what it has at another."""
    clashes = any(overlap(allele, other) for allele in choice if allele for other in others)
    return [*choice, None] if clashes and None not in choice else choice


def alleles_of(genotype, copy):
    """The alleles that a copy of a sample may have; 0 where it is missing, and where there is no
    such copy."""
    alleles = [0 if each == "." else int(each) for each in genotype.replace("|", "/").split("/")]
    if copy >= len(alleles):
        return [0]
    return sorted(set(alleles)) if "/" in genotype else [alleles[copy]]


def trimmed(record, place, ref, alt, line):
    """The allele (start, end, letters, name, line) without what it shares with the reference."""
    name, start = f"{record}:{place}:{ref}:{alt}", place - 1
    while ref and alt and ref[-1] == alt[-1]:
        ref, alt = ref[:-1], alt[:-1]
    while ref and alt and ref[0] == alt[0]:
        ref, alt, start = ref[1:], alt[1:], start + 1
    return start, start + len(ref), alt, name, line


def overlap(one, other):
    return (one[0] < other[1] and other[0] < one[1]) or one[:2] == other[:2]


def made(letters, alleles):
    """A copy's letters, where each begins and ends in the reference, and where its alleles are:
    (begin, end), of a deletion (at, at)."""
    text, first, last, spans, done = "", [], [], [], 0
    for start, end, alt, *_ in [*alleles, (len(letters), len(letters), "")]:
        text += letters[done:start]
        first += range(done, start)
        last += range(done + 1, start + 1)
        spans.append((len(text), len(text) + len(alt)))
        text += alt
        exact = len(alt) == end - start
        first += range(start, end) if exact else [start] * len(alt)
        last += range(start + 1, end + 1) if exact else [end] * len(alt)
        done = end
    return text, first, last, spans[:-1]
