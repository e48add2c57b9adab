"""The oracle of guides beside variants: every copy made whole, every place scored, one by one."""

import math
from typing import NamedTuple

import naive
import naive_bounds
import naive_scores
import naive_sites
import naive_variants


def guide_columns(record, letters, sites, samples, guide, own, rules):
    """(variant_sites, specificity_variants, target_variants, target_af) of a guide in a record.

    record, letters, sites, samples: as `naive_variants.hits` takes them; own: (start, end, strand)
    of the guide in the record, None where the target is another one; rules: a Rules.
    """
    reference = rules.hits(guide, letters)
    nearest = {}
    for hit in reference:
        nearest[hit.key] = min(hit.distance, nearest.get(hit.key, math.inf))
    made = hits_by_alleles(record, letters, sites, samples, guide, rules)
    closer = {hit for hit in made if hit.distance < nearest.get(hit.key, math.inf)}
    perfect = [hit for hit in reference if hit.distance == 0]
    are_rivals = rules.are_same if rules.report == "ends" else rules.are_near
    return (
        len(best_first(closer, rules.preference, are_rivals)),
        1 / (1 + others(reference, made, rules)),
        *target(record, letters, sites, samples, guide, own, perfect, rules),
    )


def others(reference, made, rules):
    """The greatest scores of all places but a perfect one, added up."""
    # Of the reference's sites, each with the greatest score of its hits that are as good.
    scores = {}
    for site, hits in best_first(reference, rules.preference, rules.are_near).items():
        as_good = [
            hit.score for hit in hits if (hit.distance, hit.gaps) == (site.distance, site.gaps)
        ]
        scores[site] = max(as_good)
    total = sum(scores.values())
    of_reference = [score for site, score in scores.items() if site.distance == 0]
    of_alleles = []

    # Where alleles make a greater one.
    taken = best_first(made, lambda hit: (-hit.score, hit.place), rules.are_near)
    for place, hits in taken.items():
        near = [site for site in scores if rules.are_near(site, place)]
        before = max((scores[site] for site in near), default=0)
        greatest = max(before, place.score)
        total += greatest - before
        if any(site.distance == 0 for site in near):
            of_reference.append(greatest)
        if any(hit.distance == 0 for hit in hits):
            of_alleles.append(greatest)
    return max(total - max(of_reference or of_alleles, default=0), 0)


def best_first(hits, preference, are_rivals):
    """The hits that are taken from the best to the worst, each with those that belong to it.

    are_rivals(one, other): whether hits of a strand are of one place.
    """
    taken = {}
    for hit in sorted(hits, key=preference):
        first = next((other for other in taken if are_rivals(other, hit)), None)
        taken.setdefault(first or hit, []).append(hit)
    return taken


def hits_by_alleles(record, letters, sites, samples, guide, rules):
    """The Hits over alleles in all copies, by their places in the record."""
    found = set()
    for text, first, last, spans in copies_of(record, letters, sites, samples):
        for hit in rules.hits(guide, text):
            if any(hit.start < high and low < hit.end for low, high in spans):
                _, (low, high) = naive_variants.lifted(first, last, *hit.pattern)
                place = high - 1 if rules.is_last(hit.strand) else low
                found.add(hit._replace(place=place, start=0, end=0, pattern=()))
    return found


def copies_of(record, letters, sites, samples):
    """Copies that differ, as `naive_variants.made` makes them."""
    every = naive_variants.haplotypes(record, letters, sites, samples)
    for alleles in {tuple(alleles) for _, alleles in every}:
        yield naive_variants.made(letters, alleles)


def target(record, letters, sites, samples, guide, own, perfect, rules):
    """(target_variants, target_af): the alleles with which a copy has not the guide's place."""
    of_own = [hit for hit in perfect if (hit.start, hit.end, hit.strand) == own]
    wanted = (of_own or sorted(perfect, key=lambda hit: (hit.start, hit.end, hit.strand)))[:1]
    if not wanted:
        return "", math.nan
    every = naive_variants.haplotypes(record, letters, sites, samples)
    carried = {allele for _, alleles in every for allele in alleles}
    order = [*in_file(record, sites)]
    lost = []
    for allele in sorted(carried, key=order.index):
        copy, *_ = naive_variants.made(letters, [allele])
        boundaries = {
            boundary
            for form in forms(letters, allele)
            for boundary in in_copy(rules.boundary(wanted[0]), form)
        }
        still = [
            hit
            for hit in rules.hits(guide, copy)
            if hit.distance == 0
            and hit.strand == wanted[0].strand
            and rules.boundary(hit) in boundaries
        ]
        if not still:
            lost.append(allele)
    known = [frequency(record, letters, sites, allele) for allele in lost]
    known = [each for each in known if not math.isnan(each)]
    return ",".join(allele[3] for allele in lost), max(known, default=math.nan)


def in_file(record, sites):
    """All alleles of all lines."""
    for line, (place, ref, alts, _) in enumerate(sites):
        for alt in alts:
            yield naive_variants.trimmed(record, place, ref, alt, line)


def forms(letters, allele):
    """Yield an allele wherever it may also be written."""
    yield allele
    start, end, alt = naive_variants.leftmost(letters, allele)
    if alt and start < end:
        return
    yield start, end, alt
    while end < len(letters) and letters[end] == (alt or letters[start:end])[0]:
        alt = alt[1:] + letters[end] if alt else ""
        start, end = start + 1, end + 1
        yield start, end, alt


def in_copy(boundary, allele):
    """Where a boundary between letters of the record is in a copy with one allele."""
    start, end, alt, *_ = allele
    if start == end == boundary:
        return range(start, start + len(alt) + 1)
    if boundary <= start:
        return [boundary]
    if boundary >= end:
        return [boundary + len(alt) - (end - start)]
    return [boundary] if len(alt) == end - start else []


def frequency(record, letters, sites, allele):
    """How many of the copies that are told have an allele, on any of its lines."""
    wanted = naive_variants.leftmost(letters, allele)
    having, told = set(), set()
    for line, (place, ref, alts, genotypes) in enumerate(sites):
        alleles = [None, *(naive_variants.trimmed(record, place, ref, alt, line) for alt in alts)]
        equal = [
            row
            for row, each in enumerate(alleles)
            if each and naive_variants.leftmost(letters, each) == wanted
        ]
        if not equal:
            continue
        for sample, genotype in enumerate(genotypes or []):
            for copy, word in enumerate(genotype.replace("|", "/").split("/")):
                if word == ".":
                    continue
                has_it = int(word) in equal
                if has_it:
                    having.add((sample, copy))
                if has_it or word == "0" or line == allele[4]:
                    told.add((sample, copy))
    return len(having) / len(told) if told else math.nan


class Hit(NamedTuple):
    """A hit: `place` is the letter of its pattern beside the PAM, `pattern` where that is."""

    place: int
    strand: str
    distance: int
    gaps: int
    score: float
    start: int
    end: int
    pattern: tuple

    @property
    def key(self):
        return self.place, self.strand

    @property
    def worth(self):
        return self.distance, self.gaps


class Rules(NamedTuple):
    """What sites are: within k, beside a PAM, with at most so many insertions, and deletions."""

    k: int
    pam: str
    bulges: int
    report: str

    @property
    def most_gaps(self):
        return min(self.k, 2 * self.bulges)

    def hits(self, guide, text):
        """The Hits of a guide in a text, at all ends."""
        return [self.hit(guide, text, found) for found in self.found(guide, text)]

    def found(self, guide, text):
        """(record, start, end, pattern, distance, strand, cigar) of each."""
        if self.bulges:
            bounds = {"max_insertions": self.bulges, "max_deletions": self.bulges}
            return naive_bounds.edit([("", text)], [guide], self.k, "ends", pam=self.pam, **bounds)
        return [
            (*hit, f"{len(guide)}=") for hit in naive.multi([("", text)], [guide], self.k, self.pam)
        ]

    def hit(self, guide, text, found):
        _, start, end, _, distance, strand, _ = found
        size = len(self.pam)
        pattern = (start, end - size) if strand == "+" else (start + size, end)
        read = text[start:end]
        if strand == "-":
            read = naive.reverse_complement(read)
        bulges = self.bulges > 0
        score = naive_scores.cfd(guide, read[:-size], read[-size:], distance, bulges)
        gaps = naive_sites.gaps_of(found)
        place = pattern[1] - 1 if strand == "+" else pattern[0]
        return Hit(place, strand, distance, gaps, score or 0, start, end, pattern)

    def is_last(self, strand):
        return strand == "+"

    def boundary(self, hit):
        return hit.pattern[1] if hit.strand == "+" else hit.pattern[0]

    def preference(self, hit):
        return hit.distance, hit.gaps, hit.place if hit.strand == "+" else -hit.place

    def are_same(self, one, other):
        return one.key == other.key

    def are_near(self, one, other):
        return one.strand == other.strand and abs(one.place - other.place) <= self.most_gaps
