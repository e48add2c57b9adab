"""The oracle of variants: each copy of each sample made whole, searched plainly and lifted back."""

from itertools import combinations, product

FARTHEST = 10_000  # letters by which an allele is moved to the left at the most


def hits(record, letters, sites, samples, search, three_prime=True, most_gaps=None):
    """Rows (start, end, pattern, strand, alleles, distance, samples, distance of the reference).

    record: its name; sites: (POS, REF, [ALT, …], genotypes), sorted, genotypes being None or one a
    sample, such as 0|1, 1 or ./.; samples: names; search(letters, every): hits (start, end,
    pattern, distance, strand, letters of the PAM, letters inserted and deleted) of a text, every:
    all ends, whatever the report; three_prime: whether hits are anchored at their pattern's 3′ end.

    Rows that would say the same are one, with the alleles of each behind `|`. most_gaps: of sites,
    which are the best of rows of a pattern and a strand that are so near to one another; None for
    all rows.
    """
    reference = {}
    for start, end, pattern, distance, strand, beside, _ in search(letters, True):
        start, end = without_pam(start, end, strand, beside, three_prime)
        place = anchored(start, end, strand, three_prime), pattern, strand
        reference[place] = min(distance, reference.get(place, distance))
    found, copies = {}, [*haplotypes(record, letters, sites, samples)]
    for _, alleles in copies:
        text, first, last, spans = made(letters, alleles)
        for start, end, pattern, distance, strand, beside, gaps in search(text, False):
            inside = [
                allele
                for allele, (low, high) in zip(alleles, spans, strict=True)
                if start < high and low < end
            ]
            if not inside:
                continue
            span = without_pam(start, end, strand, beside, three_prime)
            _, (low, high) = lifted(first, last, *span)
            there = anchored(low, high, strand, three_prime)
            known = reference.get((there, pattern, strand))
            if known is not None and known <= distance:
                continue
            under, place = lifted(first, last, start, end)
            says = (*place, pattern, strand, distance, gaps, text[start:end], beside)
            found.setdefault(says, set()).add((tuple(inside), under, known, there))
    if most_gaps is not None:
        found = best_of(found, most_gaps)
    rows = []
    for (low, high, pattern, strand, distance, *_), ways in found.items():
        who = {
            sample
            for inside, under, *_ in ways
            for sample, alleles in copies
            if carries(alleles, inside, *under)
        }
        carriers = ",".join(name for name in samples if name in who)
        names = "|".join(
            ",".join(allele[3] for allele in inside)
            for inside in sorted({inside for inside, *_ in ways}, key=fewest_first)
        )
        nearest = min((known for *_, known, _ in ways if known is not None), default=None)
        rows.append((low, high, pattern, strand, names, distance, carriers, nearest))
    return rows


def best_of(found, most_gaps):
    """The sites among rows: taken from the best to the worst, without those that are near one."""
    places = {}
    for says, ways in found.items():
        *_, there = min(ways, key=lambda way: fewest_first(way[0]))
        places[says] = there

    def preference(says):
        low, high, _, strand, distance, gaps, *_ = says
        first = min((way[0] for way in found[says]), key=fewest_first)
        turned = places[says] if strand == "+" else -places[says]
        return distance, gaps, turned, low, high, fewest_first(first)

    taken = []
    for says in sorted(found, key=preference):
        rivals = [each for each in taken if each[2:4] == says[2:4]]
        if all(abs(places[each] - places[says]) > most_gaps for each in rivals):
            taken.append(says)
    return {says: found[says] for says in taken}


def fewest_first(alleles):
    """What sorts ways to make one hit: those of few alleles first, then those of early lines."""
    return len(alleles), sorted((line, name) for *_, name, line in alleles)


def lifted(first, last, start, end):
    """Where a part of a copy is in the reference, and that with a letter at least."""
    low, high = first[start], last[end - 1]
    if low == high:  # inside an insertion
        return (low, high), (low - 1, high) if low else (0, 1)
    return (low, high), (low, high)


def without_pam(start, end, strand, beside, three_prime):
    """Where the pattern of a hit is, whose PAM has so many letters."""
    is_behind = (strand == "+") == three_prime
    return (start, end - beside) if is_behind else (start + beside, end)


def carries(alleles, inside, low, high):
    """Whether a copy with these alleles has some of them there, and no others."""
    others = [each for each in alleles if each not in inside and each[0] < high and each[1] > low]
    return set(inside) <= set(alleles) and not others


def anchored(start, end, strand, three_prime):
    return end if (strand == "+") == three_prime else start


def haplotypes(record, letters, sites, samples):
    """Yield (sample, alleles) for all that copies of samples may be; alleles: (start, end, letters,
    name, line) in order, none of which overlap."""
    lines = [
        [None, *(trimmed(record, place, ref, alt, line) for alt in alts)]
        for line, (place, ref, alts, _) in enumerate(sites)
    ]
    for number, sample in enumerate(samples or [None]):
        for copy in range(3):
            choices = []
            for alleles, (*_, genotypes) in zip(lines, sites, strict=True):
                if genotypes is None:
                    may = range(len(alleles)) if copy == 0 else [0]
                else:
                    may = alleles_of(genotypes[number], copy)
                choices.append([alleles[each] for each in may])
            choices = joined(letters, lines, choices)
            for chosen in product(*map(optional, choices, others_of(choices))):
                alleles = sorted(filter(None, chosen))
                if not any(overlap(*pair) for pair in combinations(alleles, 2)):
                    yield sample, alleles


def joined(letters, lines, choices):
    """What a copy may have in each line, where what two lines have is the first one's."""
    first = {}
    for line in lines:
        for allele in filter(None, line):
            first.setdefault(leftmost(letters, allele), allele)
    choices = [[allele and first[leftmost(letters, allele)] for allele in each] for each in choices]
    for line, choice in enumerate(choices):
        elsewhere = [allele for allele in choice if allele and allele[4] != line]
        for allele in elsewhere:
            host = choices[allele[4]]
            if set(choice) == {allele} and None in host:
                host.remove(None)  # it has the allele
            host.append(allele)
        choices[line] = [None if allele in elsewhere else allele for allele in choice]
    return [list(dict.fromkeys(choice)) for choice in choices]


def leftmost(letters, allele):
    """The allele as far left as it goes: (start, end, letters)."""
    start, end, alt, *_ = allele
    for _ in range(FARTHEST):
        if start == 0 or (alt and start < end):
            break
        before = letters[start - 1]
        if before != (alt or letters[start:end])[-1]:
            break
        alt = (before + alt)[: len(alt)]
        start, end = start - 1, end - 1
    return start, end, alt


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
