"""The oracle for assays: every product, every probe inside it, every closest site."""

import re

import naive
import naive_circles

ROLES = "FRP"


def assays(genomes, given, k, product=(50, 5000), edit=False, circular=False):
    """Rows (genome, assay, amplifies, record, start, end, differences, those in the last five
    letters), the latter two by role; and the sites of products, (oligo, cigar, text).

    genomes: name → records; given: name → (forwards, reverses, probes), lists of sequences.
    """
    rows, sites = [], []
    for genome, records in genomes.items():
        for assay, sides in given.items():
            oligos = [oligo for side in sides for oligo in side]
            roles = [(0, role) for role, side in zip(ROLES, sides, strict=False) for _ in side]
            found = products(records, oligos, roles, k, product, edit, circular)
            best = min(found, key=lambda each: each[0], default=None)
            if best:
                (_, place, hits) = best
                record = records[place[0]][0]
                sites += [site(hit, oligos, records) for hit in hits if hit]
            else:
                hits = [closest(records, oligos, roles, role, circular) for role in ROLES]
                record, place = "", (None, None, None)
            hits = [hit and site(hit, oligos, records) for hit in hits]
            every = tuple(hit and differences(hit[1]) for hit in hits)
            last = tuple(hit and differences(hit[1], len(hit[0])) for hit in hits)
            rows.append((genome, assay, bool(best), record, *place[1:], every, last))
    return rows, sites


def products(records, oligos, roles, k, product, edit, circular):
    """(differences in all, place, [forward hit, reverse hit, probe hit or None]) of all products
    that hold a probe if there is one, in order, each with its closest, first probe."""
    source, options = (naive_circles, {}) if circular else (naive, {})
    if edit:
        hits = source.edit(records, oligos, k, "loci", **options)
    else:
        hits = source.hamming(records, oligos, k)
    primers = [hit for hit in hits if roles[hit[3]][1] != "P"]
    n = [len(text) for _, text in records]
    probes = [hit for hit in hits if roles[hit[3]][1] == "P"]
    if circular:
        made = naive_circles.pcr(records, primers, roles, product)
        later = [(h[0], h[1] + n[h[0]], h[2] + n[h[0]], *h[3:]) for h in probes]
    else:
        made, later = naive.pcr(primers, roles, product), []
    found = []
    for record, start, end, _, forward, reverse in made:
        inside = [
            hit
            for hit in [*probes, *later]
            if hit[0] == record and start <= hit[1] and hit[2] <= end
        ]
        probe = min(inside, key=lambda hit: hit[4], default=None)
        if probe or not any(role == "P" for _, role in roles):
            total = forward[4] + reverse[4] + (probe[4] if probe else 0)
            found.append((total, (record, start, end), [forward, reverse, probe]))
    return found


def closest(records, oligos, roles, role, circular):
    """The first of the closest hits of the oligos with a role."""
    source = naive_circles if circular else naive
    hits = source.best(records, oligos)
    return min((hit for hit in hits if roles[hit[3]][1] == role), key=lambda h: h[4], default=None)


def site(hit, oligos, records):
    """(oligo, ops, text) of a hit, as the oligo reads it; of circles the text goes on."""
    text = naive.known(records[hit[0]][1]) * 3
    read = text[hit[1] : hit[2]]
    read = naive.reverse_complement(read) if hit[5] == "-" else read
    oligo = oligos[hit[3]]
    if len(hit) > 6:
        runs = re.findall(r"(\d+)([=XID])", hit[6])
        return oligo, "".join(int(size) * op for size, op in runs), read
    pairs = zip(oligo, read, strict=True)
    return oligo, "".join("=" if naive.matches(a, b) else "X" for a, b in pairs), read


def differences(ops, length=None):
    """All of them, or those in the last five letters of an oligo of `length` letters."""
    at, count = 0, 0
    for op in ops:
        at += op != "D"
        count += op != "=" and (length is None or at > length - 5)
    return count


def positions(oligo, sites):
    """(matches, differences, A, C, G, T, N, -, +) at each letter of an oligo."""
    table = [[0] * 9 for _ in oligo]
    for written, ops, text in sites:
        if written != oligo:
            continue
        at = reached = 0
        for op in ops:
            if op == "D":
                table[at - 1][8] += 1
            else:
                seen = "-" if op == "I" else text[reached]
                table[at][op != "="] += 1
                table[at][2 + "ACGTN-".index(seen if seen in "ACGT-" else "N")] += 1
                at += 1
            reached += op != "I"
    return table
