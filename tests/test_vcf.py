"""Lines of VCF and genotypes, read one by one."""

import io

import numpy as np
import pytest

from kmatch.errors import InputError
from kmatch.sequences.files import Source
from kmatch.variants.genotypes import GenotypeReader, genotype_of
from kmatch.variants.vcf import (
    Site,
    VariantReader,
    Variants,
    frequency_pattern,
    spelled,
    stated_frequencies,
)


def copies_with(words):
    """The numbers of the copies in a set."""
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist()


def test_a_genotype_says_what_either_copy_may_have():
    # word, whether the line has phase sets: what copy 0 and copy 1 may have, and what is called
    cases = {
        (b"0|1", False): ([0], [1], [0, 1]),
        (b"1/2", False): ([1, 2], [1, 2], [1, 2]),
        (b"0|1", True): ([0, 1], [0, 1], [0, 1]),
        (b"2", False): ([2], [0], [2]),  # haploid: the second copy has the reference
        (b".|1", False): ([0], [1], [-1, 1]),  # its second copy is told, and not its first
        (b"./.", False): ([0, 0], [0, 0], [-1, -1]),
        (b"0|1|1", False): ([0, 1, 1], [0, 1, 1], [0, 1, 1]),
        (b"|0|1", False): ([0], [1], [0, 1]),  # VCF 4.4: a mark before the first allele
        (b"/0/1", False): ([0, 1], [0, 1], [0, 1]),
        (b"/1", False): ([1], [0], [1]),
    }
    for (word, has_phase_set), (first, second, called) in cases.items():
        genotype = genotype_of(word, has_phase_set)
        assert genotype[:3] == (first, second, called), word


def test_genotypes_are_read_alike_at_once_and_word_by_word():
    #          A      B      C
    text = b"0|1\t1|1\t1|0"
    reader = GenotypeReader(["A", "B", "C"], ["C", "A"])
    at_once = reader.read([b""] * 8 + [b"GT", text], 2)
    by_words = reader.read([b""] * 8 + [b"GT:DP", text.replace(b"\t", b":9\t")], 2)
    for found in (at_once, by_words):
        # Copies 0 and 1 are C's, 2 and 3 A's; B counts for the frequencies alone.
        assert [copies_with(words) for words in found.copies] == [[1, 2], [0, 3]]
        assert [copies_with(words) for words in found.called] == [[0, 5], [1, 2, 3, 4]]


def test_without_genotypes_every_copy_may_have_every_allele():
    found = GenotypeReader(["A"], ["A"]).read([b""] * 8 + [b"DP", b"7"], 3)
    assert [copies_with(words) for words in found.copies] == [[0, 1]] * 3
    assert found.called.shape == (3, 0)


def test_genotypes_that_do_not_come_first_are_an_error():
    with pytest.raises(InputError, match="FORMAT is 'DP:GT'; VCF has the genotypes, GT, first"):
        GenotypeReader(["A"], ["A"]).read([b""] * 8 + [b"DP:GT", b"7:0|0"], 2)


def test_a_copy_with_an_allele_that_is_left_out_may_have_the_reference():
    # copies      0  1  2  3
    # alleles     A  C  G  C, and C is left out
    copies = np.array([[0b0001], [0b1010], [0b0100]], np.uint64)
    alleles = [b"A", b"C", b"G"]
    frequencies = [0.25, 0.5, 0.25]
    site = Site("r", 7, 8, 3, alleles, spelled(alleles), frequencies, copies, copies).keep([0, 2])
    assert site.alleles == [b"A", b"G"] and site.frequencies == [0.25, 0.25]
    assert site.spelled == ["", "A:G"]
    assert site.copies.tolist() == [[0b1011], [0b0100]]


def test_af_of_info_comes_before_what_is_counted():
    stated = stated_frequencies(b"AC=3;AF=.,0.5", frequency_pattern("AF"), 3)
    assert np.isnan(stated[1]) and stated[2] == 0.5
    assert np.isnan(stated_frequencies(b"XAF=0.9", frequency_pattern("AF"), 2)).all()
    assert stated_frequencies(b"AF=0.1;AF_joint=0.9", frequency_pattern("AF_joint"), 2)[1] == 0.9
    # copies         0 1 2 3
    # alleles        A C C G        C has half of them where INFO does not say so
    copies = np.array([[0b0001], [0b0110], [0b1000]], np.uint64)
    alleles = [b"A", b"C", b"G"]
    site = Site("r", 7, 8, 3, alleles, spelled(alleles), stated, copies, copies)
    assert site.frequency(1) == 0.5 and site.frequency(2) == 0.5
    assert np.isnan(site._replace(called=copies[:, :0]).frequency(1))


def test_long_alleles_are_written_by_their_size():
    long, longer = b"C" * 300, b"A" * 301
    assert spelled([b"A", b"G", b"A" * 24_001]) == ["", "A:G", "A:<INS:24000>"]
    assert spelled([longer, b"A"])[1] == "<DEL:300>:A"
    assert spelled([long, b"A" * 24_001])[1] == "<300>:<24001>"
    assert spelled([b"A", long, longer, b"G" * 300])[1:] == [
        "A:<INS:299>#1",
        "A:<INS:300>",
        "A:<INS:299>#3",
    ]
    assert spelled([b"A" * 50, b"A" * 50 + b"G"])[1] == f"{'A' * 50}:<INS:1>"


def test_sites_are_lines_with_an_allele_that_counts():
    lines = [
        "##fileformat=VCFv4.2",
        "#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT A",
        "r 3 . g t,<DEL>,* . PASS . GT 0|1",
        "r 5 . C A . q10 . GT 0|1",
        "r 6 . C A . . . GT 0|0",
        "r 6 . CA C . . . GT 1|0",
    ]
    text = "".join(line.replace(" ", "\t") + "\n" for line in lines)
    source = Source("x.vcf", io.BytesIO(text.encode()), None)
    reader = VariantReader(source, Variants("x.vcf"), {"r": 9})
    sites = list(reader.that_count(reader.sites()))
    places = [site[:5] for site in sites]
    assert places == [("r", 2, 3, 3, [b"G", b"T"]), ("r", 5, 7, 6, [b"CA", b"C"])]
    message = "1 that are no letters A, C, G, T or N, 1 by FILTER"
    with pytest.warns(UserWarning, match=message):
        reader.warn_of_left_out()


def test_an_error_says_where_the_line_is():
    text = b"##fileformat=VCFv4.2\n#CHROM\nr\t9\t.\tAC\tA\t.\t.\t.\n"
    source = Source("x.vcf", io.BytesIO(text), None)
    reader = VariantReader(source, Variants("x.vcf"), {"r": 9})
    with pytest.raises(InputError, match="line 3: r:9 with 2 letters is beyond the record"):
        list(reader.sites())
