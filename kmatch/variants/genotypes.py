"""Genotypes of a line of VCF as sets of copies: which copies may have each allele.

A sample has two copies, numbers 2·s and 2·s + 1 for sample s. A set of copies is a bit for each of
them, in words of 64.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Words
from kmatch.errors import InputError, shown

COPIES = 2  # of a sample
REFERENCE = 0  # the number of REF among a line's alleles
MISSING = -1  # in place of a number
# A phased genotype of two alleles and its tab are four letters, such as 0|1: of these the alleles
# differ in their lowest bits alone.
PHASED = b"0|0\t"
SAME_BITS = np.frombuffer(b"\xfe\xff\xfe\xff", np.uint32)


class AlleleCopies(NamedTuple):
    """The copies that have the alleles of a line, by its genotypes.

    copies: uint64[alleles, W], the copies of the chosen samples that may have each allele; called:
    uint64[alleles, V], the copies of all samples in the file that have each, unphased genotypes in
    the order in which they are written; without columns where it was not asked for.
    """

    copies: Words
    called: Words


class GenotypeReader:
    """Reads the genotypes of a file's samples, and keeps the genotypes of the chosen samples.

    samples, chosen: names, all chosen names among the samples. every_copy: uint64[W], all copies of
    the chosen samples; without samples there is one sample that may have everything.
    """

    def __init__(self, samples: list[str], chosen: list[str]) -> None:
        self._sample_count = len(samples)
        self._all_first = PHASED * len(samples)  # 0|0 for each sample
        self._columns: Any = slice(None)
        if chosen != samples:
            self._columns = [samples.index(name) for name in chosen]
        copy_count = max(COPIES * len(chosen), 1)
        flags = np.ones((1, copy_count), np.uint8)
        self.every_copy = packed_copies(flags)[0]

    def read(self, cells: list[bytes], allele_count: int, is_counted: bool = True) -> AlleleCopies:
        """Return the AlleleCopies of a line.

        cells: FORMAT is number 8, and number 9 all genotypes, with tabs between them; is_counted:
        whether the copies of all samples are asked for. Without genotypes every copy may have each
        allele. Raises InputError for anything but genotypes.
        """
        format_cell = cells[8] if self._sample_count else b""
        if format_cell != b"GT" and not format_cell.startswith(b"GT:"):
            if b"GT" in format_cell.split(b":"):
                raise InputError(
                    f"FORMAT is '{shown(text_of(format_cell))}'; VCF has the genotypes, GT, first"
                )
            return self._unknown(allele_count)
        text = cells[9].rstrip(b"\t")
        if allele_count == 2 and len(text) + 1 == len(self._all_first):
            found = self._read_phased(text, is_counted)
            if found is not None:
                return found
        words = self._split(format_cell, text)
        has_phase_set = b":PS" in format_cell
        return self._read_words(words, has_phase_set, allele_count, is_counted)

    def _unknown(self, allele_count: int) -> AlleleCopies:
        """Return the AlleleCopies of a line without genotypes."""
        shape = (allele_count, len(self.every_copy))
        copies = np.full(shape, self.every_copy)
        return AlleleCopies(copies, nobody(allele_count))

    def _read_phased(self, text: bytes, is_counted: bool) -> AlleleCopies | None:
        """Return the AlleleCopies of a line where every genotype has four letters, as most lines.

        They are None where a genotype is none of 0|0, 0|1, 1|0 and 1|1.

            0|1<tab>1|0<tab>        two letters in one number: `0|`, `1<tab>`, `1|`, `0<tab>`
            0  1     1  0           their lowest bits, a copy each
        """
        letters = np.frombuffer(text + b"\t", np.uint16)
        same = letters.view(np.uint32) & SAME_BITS
        if same.tobytes() != self._all_first:
            return None

        # The copies of chosen samples with either allele.
        has_second = (letters & 1).astype(np.uint8)
        flags = has_second.reshape(1, -1, COPIES)
        second_copies = packed_copies(flags[:, self._columns])
        first_copies = self.every_copy & ~second_copies

        copies = np.concatenate([first_copies, second_copies])

        # The copies of all samples with either.
        called = nobody(2)
        if is_counted:
            called = packed_copies(np.stack([1 - has_second, has_second]))
        return AlleleCopies(copies, called)

    def _read_words(
        self, words: list[bytes], has_phase_set: bool, allele_count: int, is_counted: bool
    ) -> AlleleCopies:
        """Return the AlleleCopies of a line with genotypes of any kind, a word a sample."""
        # Few genotypes differ: each is taken apart once.
        numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
        genotypes = [genotype_of(word, has_phase_set) for word in numbers]
        flags = flags_of(genotypes, allele_count)

        # What each sample's copies may have, as its genotype says, and what is called.
        genotype_rows = [numbers[word] for word in words]
        may_have = flags.may_have[:, genotype_rows]
        copies = packed_copies(may_have[:, self._columns])
        called = nobody(allele_count)
        if is_counted:
            called = packed_copies(flags.has[:, genotype_rows])
        return AlleleCopies(copies, called)

    def _split(self, format_cell: bytes, text: bytes) -> list[bytes]:
        """Return the genotype of each sample of the file, such as 0|1."""
        words = text.split(b"\t")
        if len(words) != self._sample_count:
            raise InputError(
                f"{len(words):,} genotypes, and the file has {self._sample_count:,} samples; the "
                "line is cut: copy or download the file again"
            )
        if b":" in format_cell:
            words = [word.partition(b":")[0] for word in words]
        return words


class Genotype(NamedTuple):
    """Alleles of a sample, by number.

    first, second: what its first and its second copy may have; called: those that are stated, in
    their order, and MISSING between them; greatest: the greatest number.
    """

    first: Sequence[int]
    second: Sequence[int]
    called: Sequence[int]
    greatest: int


class GenotypeFlags(NamedTuple):
    """What the copies of a sample have by each of G genotypes, 1 for an allele of a copy.

    may_have: uint8[alleles, G, COPIES]; has: uint8[alleles, G, C], what is called.
    """

    may_have: Bytes
    has: Bytes


def flags_of(genotypes: Sequence[Genotype], allele_count: int) -> GenotypeFlags:
    """Return the GenotypeFlags of genotypes.

    allele_count: of their line. Raises InputError for an allele that it has not.
    """
    most_copies = max(COPIES, *(len(genotype.called) for genotype in genotypes))
    may_have = np.zeros((allele_count, len(genotypes), COPIES), np.uint8)
    has = np.zeros((allele_count, len(genotypes), most_copies), np.uint8)
    for number, genotype in enumerate(genotypes):
        if genotype.greatest >= allele_count:
            raise InputError(
                f"a genotype has allele {genotype.greatest}, and ALT has {allele_count - 1}"
            )
        may_have[genotype.first, number, 0] = 1
        may_have[genotype.second, number, 1] = 1
        for copy, allele in enumerate(genotype.called):
            if allele != MISSING:
                has[allele, number, copy] = 1
    return GenotypeFlags(may_have, has)


@lru_cache(1 << 12)
def genotype_of(word: bytes, has_phase_set: bool) -> Genotype:
    """Return the Genotype of a word such as 0|1.

    has_phase_set: whether phase sets of the line say which genotypes are phased together. Such a
    genotype counts as unphased, as one of more than two copies does. A missing allele is the
    reference. A mark before the first allele says how this one is phased (VCF 4.4). Raises
    InputError for anything but a genotype.

        0|1  0/1         1       2|.     .        the word
        0    0 or 1      1       2       0        what the first copy may have
        1    0 or 1      0       0       0        what the second copy may have
        0 1  0 1         1       2 -1    -1      what is called
    """
    alleles: list[int] = []
    called: list[int] = []
    phased = word[1:] if word[:1] in (b"|", b"/") else word
    for part in re.split(rb"[|/]", phased):
        if part == b".":
            alleles.append(REFERENCE)
            called.append(MISSING)
            continue
        if not part.isdigit():
            raise InputError(f"'{shown(text_of(word))}' is no genotype, such as 0|1; correct it")
        alleles.append(int(part))
        called.append(int(part))
    first = alleles[:1]
    second = alleles[1:] or [REFERENCE]
    has_more = len(alleles) > COPIES
    is_unphased = b"/" in word and len(alleles) > 1
    if is_unphased or has_phase_set or has_more:
        first = alleles
        second = alleles
    return Genotype(
        first=first,
        second=second,
        called=called,
        greatest=max(alleles),
    )


@lru_cache(1 << 10)
def nobody(allele_count: int) -> Words:
    """Return sets of no copies, uint64[alleles, 0]."""
    return np.zeros((allele_count, 0), np.uint64)


def packed_copies(flags: Bytes) -> Words:
    """Return sets of copies, uint64[n, W]; flags: uint8[n, …], 1 for each copy in a set."""
    rows = flags.reshape(len(flags), -1)
    packed = np.packbits(rows, axis=1, bitorder="little")
    byte_count = packed.shape[1]
    word_count = -(-byte_count // 8)
    shape = (len(flags), word_count)
    words = np.zeros(shape, np.uint64)
    words.view(np.uint8)[:, :byte_count] = packed
    return words


def text_of(word: bytes) -> str:
    """Return letters of a VCF as text."""
    return word.decode("utf-8", "surrogateescape")
