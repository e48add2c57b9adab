"""Alleles of several lines that are equal, however they are written."""

import math

import numpy as np
import pytest
from support.alleles import site

from kmatch.variants.alleles import Change
from kmatch.variants.joining import FARTHEST, joined_alleles, last_start_of, leftmost


def letters_of(text):
    return np.frombuffer(text.encode(), np.uint8)


def joined(text, *sites):
    return list(joined_alleles(sites, letters_of(text)))


def copies_of(each):
    return [format(word, "b").zfill(4) for word in each.copies[:, 0].tolist()]


@pytest.mark.parametrize(
    ("text", "change", "moved"),
    [
        ("GCTTTTA", (6, 6, b"T"), (2, 2, b"T")),  # behind the last T
        ("GCTTTTA", (5, 6, b""), (2, 3, b"")),  # one T of four is deleted
        ("GACACAT", (6, 6, b"CA"), (1, 1, b"AC")),
        ("acacat", (5, 5, b"CA"), (0, 0, b"AC")),  # as far as the record goes
        ("G" + "T" * 12_000, (12_001, 12_001, b"T"), (12_001 - FARTHEST,) * 2 + (b"T",)),
        ("TACGACGACG", (10, 10, b"ACG"), (1, 1, b"ACG")),
    ],
)
def test_an_allele_is_moved_left_as_far_as_it_can(text, change, moved):
    assert leftmost(letters_of(text), Change(*change)) == Change(*moved)


def test_equal_alleles_are_one_with_the_copies_of_either():
    # record      G C T T T T A
    # line 0        C to CT             copy 3
    # line 1            T to TT         copies 0 and 1, of which 1 may have it
    #             copies 3210
    first = site(1, "C,CT", [0b0111, 0b1000])
    second = site(4, "T,TT", [0b1110, 0b0011])
    (one,) = joined("GCTTTTA", first, second)
    assert one.record_start == 1 and one.spelled == ["", "C:CT"]
    assert copies_of(one) == ["0110", "1011"]  # copy 0 has it, and not the reference


def test_letters_that_ref_and_alt_share_do_not_matter():
    first = site(1, "C,A", [0b0011, 0b0100])
    second = site(1, "CN,AN", [0b0110, 0b0001])
    third = site(1, "CTT,CAT", [0b0011, 0b0100])
    one, other = joined("GCTTTTA", first, second, third)
    assert copies_of(one) == ["0010", "0101"] and other.spelled == ["", "CTT:CAT"]


def test_a_line_keeps_its_other_alleles():
    # line 1 has one allele of line 0, and another one
    first = site(1, "C,A", [0b0011, 0b1100])
    second = site(1, "C,A,G", [0b1100, 0b0001, 0b0010])
    one, other = joined("GCTTTTA", first, second)
    assert copies_of(one) == ["0010", "1101"]
    assert other.spelled == ["", "C:G"] and copies_of(other) == ["1101", "0010"]


def test_equal_alleles_of_one_line_are_one():
    (one,) = joined("GCTTTTA", site(1, "CTT,CT,TT,CT", [0b0001, 0b0010, 0b0100, 0b1000]))
    assert one.spelled == ["", "CTT:CT", "CTT:TT"]
    assert copies_of(one) == ["0001", "1010", "0100"]


def test_the_frequency_is_the_greater_or_counted_from_the_joined_copies():
    def line(start, alleles, copies, frequency):
        called = np.array(copies, np.uint64)[:, None]
        return site(start, alleles, copies)._replace(
            frequencies=[math.nan, frequency], called=called
        )

    def joined_frequency(*frequencies):
        first = line(1, "C,CT", [0b0111, 0b1000], frequencies[0])
        second = line(4, "T,TT", [0b1101, 0b0010], frequencies[1])
        (one,) = joined("GCTTTTA", first, second)
        return one.frequency(1)

    assert joined_frequency(0.1, 0.3) == joined_frequency(0.3, 0.1) == 0.3
    assert joined_frequency(math.nan, 0.3) == 0.3
    assert joined_frequency(math.nan, math.nan) == 0.5  # copies 3 and 1 of four


def test_a_joined_allele_leaves_the_frequencies_of_others_in_its_line():
    # record      G C T T T T A
    # line 0        C to A, or C to CT      copy 0 has A, copy 1 CT, and copy 2 the reference
    # line 1            T to TT             copy 3 has it, copy 0 the reference; copy 2 is not told
    first = counted(site(1, "C,A,CT", [0b0111, 0b0001, 0b0010]), [0b0100, 0b0001, 0b0010])
    second = counted(site(4, "T,TT", [0b0111, 0b1000]), [0b0001, 0b1000])
    (one,) = joined("GCTTTTA", first, second)
    assert one.frequency(1) == 1 / 3  # of line 0
    assert one.frequency(2) == 2 / 4  # of both


def counted(each, called):
    """A line without frequencies, and the copies in the file that have each of its alleles."""
    unknown = [math.nan] * len(called)
    return each._replace(frequencies=unknown, called=np.array(called, np.uint64)[:, None])


def test_lines_too_far_for_an_allele_to_move_are_not_waited_for():
    # An insertion in a run of A may be on any line of the next 10,000 letters, a C on line 9 alone.
    text = "A" * 30_000
    alleles = {5: "A,AA", 9: "A,C", 12_000: "A,C", 12_001: "A,C", 12_002: "A,C"}
    sites = [site(start, words, [1, 1]) for start, words in alleles.items()]
    handed = []

    def watched():
        for each in sites:
            handed.append(each.record_start)
            yield each

    found = joined_alleles(watched(), letters_of(text))
    assert next(found).record_start == 5 and handed == [5, 9, 12_000]
    assert next(found).record_start == 9 and handed == [5, 9, 12_000]
    assert next(found).record_start == 12_000 and handed[-1] == 12_001
    assert [each.record_start for each in found] == [12_001, 12_002]


@pytest.mark.parametrize(
    ("text", "change", "start"),
    [
        ("GCTTTTA", (2, 2, b"T"), 6),  # a T comes in before the A
        ("GCTTTTA", (2, 3, b""), 5),  # the last T is deleted
        ("GACACAT", (1, 1, b"AC"), 6),  # before the T: CA
        ("GCTTTT", (2, 2, b"T"), 6),  # as far as the record goes
        ("G" + "T" * 12_000, (1, 1, b"T"), 1 + FARTHEST),
        ("GCTTTTA", (2, 4, b"A"), 2),  # letters take the place of others
    ],
)
def test_an_allele_may_be_on_lines_up_to_where_it_moves_right(text, change, start):
    assert last_start_of(letters_of(text), Change(*change)) == start


@pytest.mark.parametrize("first", [(1, "CTT,CTA"), (3, "TT,AT"), (3, "T,A")])
@pytest.mark.parametrize("second", [(3, "T,A"), (3, "TTA,ATA")])
def test_a_single_letter_is_compared_where_another_line_has_it(first, second):
    # record      G C T T T T A
    # alleles           A           on either line, with letters around it or without
    (one,) = joined("GCTTTTA", site(*first, [0b0011, 0b0100]), site(*second, [0b0111, 0b1000]))
    assert one.record_start == first[0] and copies_of(one) == ["0011", "1100"]
