"""Slow and obvious: the sites among hits beside PAMs, taken from the best to the worst."""

import re

import naive


def sites(*given, **options):
    """The sites among hits, in order; arguments as for `places`."""
    return naive.in_order(place[0] for place in places(*given, **options))


def places(hits, records, patterns, most_gaps, pam_side="3p", circles=()):
    """Each site with the hits that belong to it, out of hits (record, start, end, pattern,
    distance, strand, cigar) at all ends.

    most_gaps: of the alignments of each pattern; circles: the numbers of circular records.
    """

    def place(hit):
        """The pattern's letter beside the PAM."""
        first_is_beside = (hit[5] == "-") == (pam_side == "3p")
        letters = sum(int(size) for size in re.findall(r"(\d+)[=XI]", hit[6]))
        pam = letters - len(patterns[hit[3]])
        return (hit[1] + pam if first_is_beside else hit[2] - 1 - pam) % len(records[hit[0]][1])

    def apart(hit, site):
        apart = abs(place(hit) - place(site))
        return min(apart, len(records[hit[0]][1]) - apart) if hit[0] in circles else apart

    def preference(hit):
        return hit[4], gaps_of(hit), place(hit) if hit[5] == "+" else -place(hit)

    def belongs(hit, site):
        is_rival = (site[0], site[3], site[5]) == (hit[0], hit[3], hit[5])
        return is_rival and apart(hit, site) <= most_gaps[hit[3]]

    found = []
    for hit in sorted(hits, key=preference):
        first = next((place for place in found if belongs(hit, place[0])), None)
        if first is None:
            found.append([hit])
        else:
            first.append(hit)
    return found


def gaps_of(hit):
    """Letters that the alignment of a hit inserts and deletes."""
    return sum(int(size) for size in re.findall(r"(\d+)[ID]", hit[6]))


def most_gaps(k, max_insertions=None, max_deletions=None):
    """The most letters that an alignment inserts and deletes."""
    bounds = [k if bound is None else bound for bound in (max_insertions, max_deletions)]
    return min(k, sum(bounds))
