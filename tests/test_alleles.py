"""Alleles in blocks, the haplotypes around one of them, and who carries them."""

import numpy as np
from support.alleles import block, site

from kmatch.variants.alleles import FOREVER, NONE, change_of, site_groups
from kmatch.variants.haplotypes import Haplotypes, carriers


def rows_of(tables):
    """Haplotypes, each with its anchor first, the others in the order of their rows."""
    rows = np.concatenate(list(tables)).tolist()
    return sorted([row[0], *sorted(set(row[1:]) - {NONE})] for row in rows)


def copies_of(words):
    return [format(word, "b").zfill(4) for word in words[:, 0].tolist()]


def test_an_allele_changes_what_it_has_not_in_common_with_ref():
    # REF GACT, ALT GT:      G[AC]T       letters 1 to 3 go
    assert change_of(b"GACT", b"GT") == (1, 3, b"")
    # REF GCC, ALT GTC:      G[C]C        T in place of letter 1
    assert change_of(b"GCC", b"GTC") == (1, 2, b"T")
    # REF ACAC, ALT ACACAC:  []ACAC       AC is inserted as far left as it can be
    assert change_of(b"ACAC", b"ACACAC") == (0, 0, b"AC")
    assert change_of(b"GA", b"GA") == (0, 0, b"")


def test_alleles_of_a_block_are_rows_in_the_coordinates_of_the_record():
    # position    6: G           10: G A C
    # alleles        T, GAA          G
    made = block(site(6, "G,T,GAA", [1, 2, 4]), site(10, "GAC,G", [3, 4]))
    assert made.alleles.site.tolist() == [0, 0, 0, 1, 1]
    assert made.alleles.start.tolist() == [6, 6, 7, 10, 11]
    assert made.alleles.end.tolist() == [6, 7, 7, 10, 13]
    assert made.alleles.size.tolist() == [0, 1, 2, 0, 0]
    assert made.alleles.growth.tolist() == [0, 0, 2, 0, -2]
    assert made.letters.letters.tobytes() == b"TAA"
    assert made.sites.end[:-1].tolist() == [7, 13] and made.sites.last_end == 13
    assert made.names(np.array([2, 4])) == {2: "r:7:G:GAA", 4: "r:11:GAC:G"}


def test_what_overlaps_cannot_be_on_one_copy():
    # record      A C G T A C G T T T
    # row 1           [GTA]               3   |CC before 3
    # row 5             [T]               7           |G before 5, where row 1 ends
    sites = [site(2, "GTA,A", [1, 1]), site(2, "G,GCC", [1, 1])]
    sites += [site(3, "T,C", [1, 1]), site(4, "A,AG", [1, 1])]
    alleles = block(*sites).alleles
    others = np.array([3, 5, 7])
    assert (alleles.start[1], alleles.end[1]) == (2, 4)  # GT: the last A is common
    assert alleles.overlap(1, others).tolist() == [True, True, False]
    assert alleles.overlap(3, others).tolist() == [True, False, False]


def test_a_copy_with_alleles_that_overlap_may_have_the_reference_instead_of_either():
    # copies      3210
    # row 1       0011    GTA becomes A
    # row 3       0110    T inside it becomes C: copy 1 has both by its genotype
    made = block(site(2, "GTA,A", [0b1100, 0b0011]), site(3, "T,C", [0b1001, 0b0110]))
    assert copies_of(made.copies) == ["1110", "0011", "1011", "0110"]


def test_blocks_part_where_a_gap_is_wide_and_they_are_full(monkeypatch):
    # 5          20   25             60         and another record
    sites = [site(start, "A,C", [1, 1]) for start in (5, 20, 25, 60)]
    sites.append(site(3, "A,C", [1, 1], "s"))
    monkeypatch.setattr("kmatch.variants.alleles.SPAN", 10)
    groups = [*site_groups(sites, 14)]
    starts = [[each.record_start for each in group.sites] for group in groups]
    assert starts == [[5], [20, 25], [60], [3]]
    # From the sites before to the sites behind.
    alone = [(group.start, group.end) for group in groups]
    assert alone == [(0, 20), (6, 60), (26, FOREVER), (0, FOREVER)]
    groups = [*site_groups(sites, 15)]
    starts = [[each.record_start for each in group.sites] for group in groups]
    assert starts == [[5, 20, 25], [60], [3]]


def test_haplotypes_around_an_anchor_are_those_that_copies_may_have():
    # row         1       3       5, 6            around row 3:
    # copy 0      T       A       C or GG         1 3 5, 1 3 6
    # copy 1      ·       A       · or C          3, 3 5
    # copy 2      ·       ·       GG              is without it
    sites = [site(4, "A,T", [0b110, 0b001]), site(6, "G,A", [0b100, 0b011])]
    sites.append(site(8, "T,C,GG", [0b010, 0b011, 0b101]))
    made = block(*sites)
    around = Haplotypes(made, 5, True, 9).around(np.array([3]))
    assert rows_of(around) == [[3], [3, 1, 5], [3, 1, 6], [3, 5]]
    # Nothing before the anchor matters, or its site is not shown.
    around = Haplotypes(made, 5, False, 9).around(np.array([3]))
    assert rows_of(around) == [[3], [3, 5], [3, 6]]
    assert rows_of(Haplotypes(made, 1, True, 9).around(np.array([3]))) == [[3]]


def test_a_window_shows_more_where_alleles_delete():
    # record      A C G T A C G T T T G A C C A G
    # anchor        [C]                               flank 6 shows up to position 8,
    # row 3             [G-TTT]                       and without TTT up to position 11
    # row 5                         [A]
    sites = [site(1, "C,T", [0, 1]), site(6, "GTTT,G", [0, 1]), site(11, "A,C", [0, 1])]
    made = block(*sites)
    assert made.alleles.growth[3] == -3
    assert rows_of(Haplotypes(made, 6, True, 9).around(np.array([1]))) == [[1, 3]]
    assert rows_of(Haplotypes(made, 7, True, 9).around(np.array([1]))) == [[1, 3, 5]]
    # Before row 5 likewise: flank 6 shows from position 5 on, and without TTT from position 2 on.
    assert rows_of(Haplotypes(made, 6, True, 9).around(np.array([5]))) == [[5, 3]]
    assert rows_of(Haplotypes(made, 7, True, 9).around(np.array([5]))) == [[5, 1, 3]]


def test_a_site_that_no_window_shows_does_not_matter():
    # record      A C G T A C G T T T G
    # row 1           G[-TACGTT]                  that no copy has which has row 5
    # row 3               [C]                     that each copy has
    # anchor                          [A]         flank 1 shows from position 9 on
    sites = [site(2, "GTACGTTT,G", [0b11, 0]), site(4, "A,C", [0, 0b11])]
    sites.append(site(10, "G,A", [0b10, 0b01]))
    haplotypes = Haplotypes(block(*sites), 1, True, 9)
    assert rows_of(haplotypes.around(np.array([5]))) == [[5]]


def test_around_a_dense_anchor_haplotypes_have_one_free_allele():
    # Four alleles that a copy may have or not: around row 3 there are 8 haplotypes. The allele of
    # row 9 has it whatever else it has.
    sites = [site(at, "A,C", [1, 1]) for at in (2, 4, 6, 8)]
    sites.append(site(9, "T,G", [0, 1]))
    haplotypes = Haplotypes(block(*sites), 9, True, 7)
    assert rows_of(haplotypes.around(np.array([3]))) == [[3, 1, 9], [3, 5, 9], [3, 7, 9], [3, 9]]
    assert np.flatnonzero(haplotypes.is_dense).tolist() == [3]
    haplotypes = Haplotypes(block(*sites), 9, True, 8)
    assert len(rows_of(haplotypes.around(np.array([3])))) == 8


def test_carriers_have_some_alleles_and_no_others_between_two_positions():
    #                 5         10
    # site 0  ──[A]───|──────────|──       copies 0 and 1 have A, which is elsewhere
    # site 1      ──[GTA]──      |         copy 1 has it
    # site 2          |   ──[B]──|         copies 0, 1 and 2 have B
    sites = [site(2, "G,T", [0b1100, 0b0011]), site(4, "ACG,A", [0b1101, 0b0010])]
    sites.append(site(8, "T,C", [0b1000, 0b0111]))
    made = block(*sites)
    rows = np.array([[5, NONE], [NONE, NONE], [5, 3]])
    start, end = np.full(3, 5), np.full(3, 10)
    assert copies_of(carriers(made, rows, start, end)) == ["0101", "1000", "0010"]
