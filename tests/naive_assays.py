"""The oracle for assays: every product, every probe inside it, every closest site; and where there
is no product why, or which oligos are masked in one that there may be."""

import re
from unittest import mock

import naive
import naive_bounds
import naive_circles

ROLES = "FRP"
WORDS = {"F": "forward", "R": "reverse", "P": "probe"}


def assays(genomes, given, k, product=(50, 5000), edit=False, circular=False, **more):
    """Rows (genome, assay, amplifies, reason, record, start, end, differences, those in the last
    five letters), the latter two by role; and by genome the site of each oligo, (oligo, cigar,
    text), in its product, or otherwise the closest one within half of its letters.

    genomes: name → records; given: name → (forwards, reverses, probes), lists of sequences; more:
    exact_3p, and large, letters of a genome in which one oligo at least lies on known letters.
    """
    rows, sites = [], []
    for genome, records in genomes.items():
        for assay, sides in given.items():
            oligos = [oligo for side in sides for oligo in side]
            roles = [(0, role) for role, side in zip(ROLES, sides, strict=True) for _ in side]
            look = Look(records, oligos, roles, k, product, edit, circular, **more)
            best = min(look.products(), key=lambda each: each[0], default=None)
            by_oligo = look.closest()
            if best:
                (_, place, in_product) = best
                record = records[place[0]][0]
                by_oligo |= {hit[3]: hit for hit in in_product if hit}
                hits, answer, reason = in_product, "yes", ""
            else:
                record, place = "", (None, None, None)
                ordered = naive.in_order(by_oligo.values())
                hits = [
                    min(
                        (hit for hit in ordered if roles[hit[3]][1] == role),
                        key=lambda hit: hit[4],
                        default=None,
                    )
                    for role in ROLES
                ]
                answer, reason = look.verdict()
            sites += [
                site(hit, oligos, records)
                for number, hit in by_oligo.items()
                if (best and hit in in_product) or 2 * hit[4] <= len(oligos[number])
            ]
            hits = [hit and site(hit, oligos, records) for hit in hits]
            every = tuple(hit and differences(hit[1]) for hit in hits)
            last = tuple(hit and differences(hit[1], len(hit[0])) for hit in hits)
            rows.append((genome, assay, answer, reason, record, *place[1:], every, last))
    return rows, sites


class Look:
    """One assay in one genome; roles: (0, "F"), (0, "R") or (0, "P") of each oligo."""

    def __init__(
        self, records, oligos, roles, k, product, edit, circular, exact_3p=0, large=1_000_000
    ):
        self.records, self.oligos, self.roles, self.k = records, oligos, roles, k
        self.product, self.edit, self.circular = product, edit, circular
        self.exact_3p, self.large = exact_3p, large
        self.has_probe = any(role == "P" for _, role in roles)
        # The last letters of primers alone have to match.
        anchored = [hit for hit in self.sites(exact_3p) if roles[hit[3]][1] != "P"]
        free = [hit for hit in self.sites(0) if roles[hit[3]][1] == "P"] if self.has_probe else []
        self.hits = naive.in_order([*anchored, *free])

    def sites(self, exact_3p):
        """All sites of the oligos, whose last letters match."""
        if self.edit:
            source = naive_circles if self.circular else naive_bounds
            return source.edit(self.records, self.oligos, self.k, "loci", exact_3p=exact_3p)
        source = naive_circles if self.circular else naive
        return source.hamming(self.records, self.oligos, self.k, exact_3p=exact_3p)

    def of_primers(self):
        """Products of the primers, whatever they hold."""
        primers = [hit for hit in self.hits if self.roles[hit[3]][1] != "P"]
        if self.circular:
            return naive_circles.pcr(self.records, primers, self.roles, self.product)
        return naive.pcr(primers, self.roles, self.product)

    def products(self):
        """(differences in all, place, [forward hit, reverse hit, probe hit or None]) of all
        products that hold a probe if there is one, in order, each with its closest, first probe."""
        n = [len(text) for _, text in self.records]
        probes = [hit for hit in self.hits if self.roles[hit[3]][1] == "P"]
        if self.circular:
            probes += [(h[0], h[1] + n[h[0]], h[2] + n[h[0]], *h[3:]) for h in probes]
        found = []
        for record, start, end, _, forward, reverse in self.of_primers():
            inside = [
                hit for hit in probes if hit[0] == record and start <= hit[1] and hit[2] <= end
            ]
            probe = min(inside, key=lambda hit: hit[4], default=None)
            if probe or not self.has_probe:
                total = forward[4] + reverse[4] + (probe[4] if probe else 0)
                found.append((total, (record, start, end), [forward, reverse, probe]))
        return found

    def closest(self):
        """The first of the closest hits of each oligo, by number."""
        source = naive_circles if self.circular else naive
        found = {}
        for hit in source.best(self.records, self.oligos):
            if hit[4] < found.get(hit[3], hit)[4] or hit[3] not in found:
                found[hit[3]] = hit
        return found

    def verdict(self):
        """(`unknown`, the masked oligos) or (`no`, why), of an assay without a product."""
        masked = self.masked()
        if masked:
            return "unknown", ",".join(WORDS[role] for role in masked)
        has_site = {self.roles[hit[3]][1] for hit in self.hits}
        lacking = [role for role in ("FRP" if self.has_probe else "FR") if role not in has_site]
        if self.of_primers():
            lacking = ["P"]
        if lacking:
            return "no", ",".join(WORDS[role] for role in lacking)
        facing = any(
            plus[0] == minus[0]
            and {self.roles[plus[3]][1], self.roles[minus[3]][1]} == {"F", "R"}
            and (self.circular or (plus[1] <= minus[1] and plus[2] <= minus[2]))
            for plus in self.hits
            for minus in self.hits
            if (plus[5], minus[5]) == ("+", "-")
        )
        return "no", "length" if facing else "facing"

    def masked(self):
        """The roles of the fewest oligos that unknown letters, or the end of a record, hide in a
        product that would be there otherwise, or nothing."""
        known = [(*hit[:4], hit[5], False) for hit in self.hits]
        sites = known + self.masked_sites()
        found = set()
        letters = sum(len(text) for _, text in self.records)
        for plus in sites:
            n = len(self.records[plus[0]][1])
            turns = (0, n) if self.circular else (0,)
            for minus in ((s[0], s[1] + t, s[2] + t, *s[3:]) for s in sites for t in turns):
                length = minus[2] - plus[1]
                if (
                    (plus[4], minus[4], plus[0]) == ("+", "-", minus[0])
                    and {self.roles[plus[3]][1], self.roles[minus[3]][1]} == {"F", "R"}
                    and plus[1] <= minus[1]
                    and plus[2] <= minus[2]
                    and self.product[0] <= length <= self.product[1]
                    and not (self.circular and length > n)
                ):
                    inside = [
                        site
                        for site in sites
                        for turn in turns
                        if self.roles[site[3]][1] == "P"
                        and site[0] == plus[0]
                        and plus[1] <= site[1] + turn
                        and site[2] + turn <= minus[2]
                    ]
                    for probe in inside if self.has_probe else [None]:
                        of_product = [each for each in (plus, minus, probe) if each]
                        roles = {self.roles[each[3]][1] for each in of_product if each[5]}
                        if letters <= self.large or len(roles) < len(of_product):
                            found.add("".join(role for role in ROLES if role in roles))
        found.discard("")
        return min(found, key=lambda roles: (len(roles), [*map(ROLES.index, roles)]), default="")

    def masked_sites(self):
        """(record, start, end, oligo, strand, True) of sites that hold a letter that is unknown,
        or that stands behind an end, whatever such letters may be."""
        with mock.patch.object(naive, "matches", may_match):
            return [
                (record, start, end, number, sign, True)
                for record, (_, text) in enumerate(self.records)
                for number, oligo in enumerate(self.oligos)
                for sign in "+-"
                for start, end in self.sites_in(text.upper().replace("U", "T"), number, sign)
                if text
            ]

    def sites_in(self, text, number, sign):
        """(start, end) of the masked sites of an oligo, by number, in a record."""
        oligo = self.oligos[number]
        exact_3p = 0 if self.roles[number][1] == "P" else self.exact_3p
        n, turns = len(text), 3 + 2 * len(oligo) // max(len(text), 1)
        before = turns * n if self.circular else len(oligo) // 2
        around = text * (2 * turns + 2) if self.circular else "N" * before + text + "N" * before
        read = around if sign == "+" else naive.reverse_complement(around)
        for start, end in windows(oligo, read, self.k, self.edit, exact_3p):
            if sign == "-":
                start, end = len(read) - end, len(read) - start
            behind = max(before - start, 0) + max(end - before - n, 0)
            fits = (
                0 <= start - before < n and end - start <= n
                if self.circular
                else behind <= len(oligo) // 2
            )
            if fits and any(letter not in "ACGT" for letter in around[start:end]):
                yield start - before, end - before


def may_match(pattern_letter, text_letter):
    """Whether a letter may be one that a pattern letter matches."""
    return bool({*naive.IUPAC[pattern_letter]} & {*naive.IUPAC[text_letter]})


def windows(oligo, text, k, edit, exact_3p):
    """(start, end) of windows within k, or of alignments into each end within k."""
    m = len(oligo)
    if edit:
        rules = naive_bounds.Rules(exact_3p=exact_3p)
        matrix = None if exact_3p else naive.differences(oligo, text)
        for end in range(1, len(text) + 1):
            if exact_3p:
                found = naive_bounds.alignment(oligo, text, end, k, rules)
                if found:
                    yield found[0], end
            elif matrix[-1][end] <= k:
                yield naive.trace(matrix, oligo, text, end)[0], end
        return
    for start in range(len(text) - m + 1):
        wrong = [i for i in range(m) if not naive.matches(oligo[i], text[start + i])]
        if len(wrong) <= k and all(i < m - exact_3p for i in wrong):
            yield start, start + m


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


def positions(oligo, sites, genomes):
    """(match, differ, A, C, G, T, unknown, -, +, absent) of genomes at each letter of an oligo."""
    table = [[0] * 10 for _ in oligo]
    for row in table:
        row[9] = genomes
    for written, ops, text in sites:
        if written != oligo:
            continue
        at = reached = 0
        added = set()
        for op in ops:
            if op == "D":
                added.add(at - 1)
            else:
                seen = "-" if op == "I" else text[reached]
                if seen in "ACGT-":
                    table[at][op != "="] += 1
                table[at][2 + "ACGTN-".index(seen if seen in "ACGT-" else "N")] += 1
                table[at][9] -= 1
                at += 1
            reached += op != "I"
        for letter in added:
            table[letter][8] += 1
    return table
