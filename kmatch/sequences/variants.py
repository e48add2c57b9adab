"""Alleles of a VCF, streamed along the genome in blocks, and who carries them."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes, Floats, Longs, bounds_of, gather
from kmatch.errors import InputError, checked_count, listed, shown, warn
from kmatch.sequences.files import Source, StrPath

PLOIDY = 8  # copies of a record in a sample, at most
ALLELES, CARRIED = 1 << 16, 1 << 22  # of a block, about; alleles, and copies that carry one
ABSENT = -9  # of copies that a sample lacks; other negative numbers are missing genotypes
_TAB, _COLON, _BAR, _SLASH, _ZERO = b"\t:|/0"
_CONTIG = re.compile(rb"##contig=<.*?ID=([^,>]+)(?:.*?length=(\d+))?")
_FREQUENCIES = re.compile(rb"(?:^|;)AF=([^;]+)")
_BASES = re.compile(rb"[ACGTN]+")


class Variants(NamedTuple):
    """Variants whose haplotypes are searched beside the reference.

    vcf: its path, compressed or not; samples: names of those whose genotypes count, None for all;
    min_af: alleles of a smaller frequency are left out; max_haplotypes: combinations of alleles
    without phase around an allele; beyond it, it is taken alone and with each other one;
    dense_groups: a path where these alleles are listed, or None.
    """

    vcf: StrPath
    samples: Sequence[str] | None = None
    min_af: float = 0.0
    max_haplotypes: int = 1024
    dense_groups: StrPath | None = None


def load_variants(given: "Variants | StrPath | None") -> Variants | None:
    """The Variants of what a user gives; None stays None. Raises InputError for what are none."""
    if given is None:
        return None
    some = given if isinstance(given, Variants) else Variants(given)
    samples = some.samples.split(",") if isinstance(some.samples, str) else some.samples
    if not isinstance(some.vcf, str | os.PathLike) or not 0 <= some.min_af <= 1:
        raise InputError(f"variants are {given!r}; give a path of VCF, and a min_af from 0 to 1")
    most = checked_count("max_haplotypes", some.max_haplotypes, 1)
    return some._replace(samples=samples, max_haplotypes=most)


class Block(NamedTuple):
    """V alleles of one record, sorted by start, end and letters, far from those of other blocks.

    start, end: int64[V], what each replaces, without letters that it shares with the reference;
    alt: the letters in its place; name: `chrom:pos:ref:alt` as in VCF; af: float64[V], NaN where
    unknown; line: int64[V], of the file, which alleles of one site share; place, ref: int64[V] and
    bytes, POS from 0 on and REF. A copy is sample · PLOIDY + its number in the sample; copy,
    allele: int64[E], carriers of alleles, sorted by both; free: bool[E], whether the copy may have
    the reference there too, as its phase or its genotype is unknown.
    """

    start: Longs
    end: Longs
    alt: list[bytes]
    name: list[str]
    af: Floats
    line: Longs
    place: Longs
    ref: list[bytes]
    copy: Longs
    allele: Longs
    free: Bools


# Start, end, alt, name, af, line, place and ref of an allele; its copies; whether these are free.
_Allele = tuple[int, int, bytes, str, float, int, int, bytes, Longs, Bools]


class VariantReader:
    """The alleles of an open VCF in a genome whose records have these lengths, by name.

    samples: names of those whose genotypes count. Raises InputError for what is no VCF, for one
    that does not fit the genome and for samples that it has not.
    """

    def __init__(self, source: Source, given: Variants, lengths: Mapping[str, int]) -> None:
        self._source, self._label, self._lengths = source, source.label, lengths
        self._min_af, self._number = given.min_af, 0
        self._left: dict[str, int] = {}  # alleles left out, by reason
        self._strange: dict[str, None] = {}  # names of records that the genome has not
        names = self._header()
        self._columns = len(names)
        chosen = names if given.samples is None else list(given.samples)
        if missing := [name for name in chosen if name not in names]:
            raise InputError(
                f"{self._label}: there is no sample {listed(missing)}; the file has "
                f"{listed(names) or 'none'}"
            )
        self.samples = chosen
        self._chosen = None if chosen == names else np.array(list(map(names.index, chosen)))

    def _error(self, what: str) -> InputError:
        return InputError(f"{self._label}: line {self._number:,}: {what}")

    def _header(self) -> list[str]:
        """Read the header; returns the names of the samples."""
        head = self._source.handle.peek()[:16]
        if not head.startswith(b"##fileformat=VCF"):
            what = "BCF; convert it with bcftools view -Oz" if b"BCF" in head else "no VCF"
            raise InputError(f"{self._label}: it is {what}")
        contigs: list[str] = []
        for line in self._source.handle:
            self._number += 1
            if line.startswith(b"#CHROM"):
                if contigs and not any(name in self._lengths for name in contigs):
                    raise self._misfit(contigs)
                return [_text(name) for name in line.rstrip(b"\r\n").split(b"\t")[9:]]
            if found := _CONTIG.match(line):
                contigs.append(name := _text(found[1]))
                size = self._lengths.get(name)
                if size is not None and found[2] and int(found[2]) != size:
                    raise self._error(
                        f"'{shown(name)}' has {int(found[2]):,} letters, and in the genome {size:,}"
                        "; give variants of the same assembly"
                    )
        raise InputError(f"{self._label}: the VCF has no line #CHROM; copy or download it again")

    def _misfit(self, names: Sequence[str]) -> InputError:
        known = list(self._lengths)
        other = {name.removeprefix("chr") for name in names} & {
            name.removeprefix("chr") for name in known
        }
        advice = "rename the records of one, as with bcftools annotate --rename-chrs"
        return InputError(
            f"{self._label}: no variant is in a record of the genome: the file has "
            f"{listed(names, 3)}, the genome {listed(known, 3)}; "
            f"{advice if other else 'are both of the same assembly?'}"
        )

    def blocks(self, apart: int) -> Iterator[tuple[str, Block]]:
        """Yield the Blocks and the name of their record, at least `apart` letters between them.

        Warns at the end of alleles that were left out.
        """
        alleles: list[_Allele] = []
        record, reach, carried, met, used = "", 0, 0, False, False
        for name, place, found in self._lines():
            met = True
            full = len(alleles) >= ALLELES or carried >= CARRIED
            if alleles and (name != record or (full and place - reach >= apart)):
                yield record, _block(alleles)
                alleles, carried = [], 0
            reach = 0 if name != record else reach
            record = name
            for each in found:
                used = True
                alleles.append(each)
                carried += len(each[-1])
                reach = max(reach, each[1])
        if alleles:
            yield record, _block(alleles)
        if self._strange and not met:
            raise self._misfit(list(self._strange))
        if self._strange:
            warn(
                f"{self._label}: {listed(list(self._strange), 3)}: variants there are left out, as "
                "the genome has no such record"
            )
        if self._left:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in self._left.items())
            warn(f"{self._label}: alleles were left out: {reasons}")
        if not used:
            warn(f"{self._label}: no allele is left; the hits are those of the reference")

    def _lines(self) -> Iterator[tuple[str, int, list[_Allele]]]:
        """Yield the record's name, POS from 0 on and the alleles of each line."""
        last, name, place, seen = b"", "", 0, set()
        for line in self._source.handle:
            self._number += 1
            cells = line.rstrip(b"\r\n").split(b"\t", 9)
            if len(cells) < (10 if self._columns else 8):
                raise self._error("the line is cut; copy or download the file again")
            if not cells[1].isdigit():
                raise self._error(f"POS is '{shown(_text(cells[1]))}', and no whole number")
            at = int(cells[1]) - 1
            if cells[0] != last:
                last, name, place = cells[0], _text(cells[0]), 0
                if last in seen:
                    raise self._error(
                        f"'{shown(name)}' comes again after others; sort the file with bcftools "
                        "sort"
                    )
                seen.add(last)
            if at < place:
                raise self._error(
                    f"position {at + 1:,} comes after {place + 1:,}; sort the file with bcftools "
                    "sort"
                )
            place = at
            if name not in self._lengths:
                self._strange[name] = None
            else:
                yield name, at, self._alleles(name, at, cells)

    def _alleles(self, name: str, place: int, cells: list[bytes]) -> list[_Allele]:
        ref, alts = cells[3].upper(), cells[4].upper().split(b",")
        if place < 0 or place + len(ref) > self._lengths[name]:
            raise self._error(
                f"{name}:{place + 1:,} with {len(ref):,} letters is beyond the record, which has "
                f"{self._lengths[name]:,}; is the file of another assembly?"
            )
        numbers = []
        for number, alt in enumerate(alts, 1):
            if alt in (b".", b"*", ref):  # nothing, or what another line has
                continue
            if cells[6] not in (b"PASS", b"."):
                self._leave("by FILTER")
            elif not (_BASES.fullmatch(alt) and _BASES.fullmatch(ref)):
                self._leave("that are no letters A, C, G, T or N")
            else:
                numbers.append(number)
        if not numbers:
            return []
        frequency = _FREQUENCIES.search(cells[7])
        frequencies = frequency[1].split(b",") if frequency else []
        called = self._genotypes(cells, len(alts))
        alleles: list[_Allele] = []
        for number in numbers:
            alt, af = alts[number - 1], float("nan")
            if len(frequencies) == len(alts) and frequencies[number - 1] != b".":
                af = float(frequencies[number - 1])
            elif called is not None and (known := np.count_nonzero(called[0] >= 0)):
                af = np.count_nonzero(called[0] == number) / known
            if af < self._min_af:
                continue
            copies, free = self._carriers(called, number)
            if len(copies):
                label = f"{name}:{place + 1}:{_text(ref)}:{_text(alt)}"
                kind = (*_trimmed(place, ref, alt), label, af, self._number, place, ref)
                alleles.append((*kind, copies, free))
        return alleles

    def _leave(self, reason: str) -> None:
        self._left[reason] = self._left.get(reason, 0) + 1

    def _genotypes(self, cells: list[bytes], most: int) -> tuple[Any, Bools] | None:
        """The alleles of all samples, int[copies, n], and whether their phase is known, bool[n];
        None where there are no genotypes."""
        if not self._columns:
            return None
        text, n = cells[9], self._columns
        letters = np.frombuffer(text + b"\t\t\t\t", np.uint8)
        if len(text) == 4 * n - 1 and text[3::4] == b"\t" * (n - 1):  # 0|1 alone
            first, mark, second, after = (letters[at : at + 4 * n : 4] for at in range(4))
        else:
            ends = np.flatnonzero(letters[:-3] == _TAB)
            if len(ends) != n:
                raise self._error(
                    f"{len(ends):,} genotypes, and the file has {n:,} samples; the line is cut: "
                    "copy or download the file again"
                )
            begins = np.concatenate([[0], ends[:-1] + 1])
            first, mark, second, after = (letters[begins + at] for at in range(4))
        if cells[8] != b"GT" and not cells[8].startswith(b"GT:"):
            return None
        phased, ends_after_one = mark == _BAR, (mark == _TAB) | (mark == _COLON)
        two = (phased | (mark == _SLASH)) & ((after == _TAB) | (after == _COLON))
        if (two | ends_after_one).all():
            alleles: Any = np.stack([first, second]).view(np.int8) - np.int8(_ZERO)
            alleles[1, ends_after_one] = ABSENT
            phased |= ends_after_one
        else:
            alleles, phased = self._unusual(text)
        if alleles.max(initial=0) > most:
            raise self._error(f"a genotype has allele {alleles.max()}, and ALT has {most}")
        if b":PS" in cells[8]:  # in sets whose phase to one another is unknown
            phased = np.zeros(n, np.bool_)
        if not phased.all():
            phased |= ((alleles == alleles[0]) | (alleles == ABSENT)).all(0)
        return alleles, phased

    def _unusual(self, text: bytes) -> tuple[Any, Bools]:
        """The same of genotypes with more than two copies, or alleles above 9."""
        words = [word.split(b":", 1)[0] for word in text.split(b"\t")]
        parts = [re.split(rb"[|/]", word) for word in words]
        copies = max(map(len, parts))
        if copies > PLOIDY:
            raise self._error(f"a sample has {copies} copies, and kmatch takes {PLOIDY}")
        alleles = np.full((copies, len(words)), ABSENT, np.int16)
        try:
            for number, each in enumerate(parts):
                alleles[: len(each), number] = [-1 if part == b"." else int(part) for part in each]
        except ValueError:
            raise self._error("a genotype is none, such as 0|1; correct it") from None
        return alleles, np.array([b"/" not in word for word in words])

    def _carriers(self, called: tuple[Any, Bools] | None, number: int) -> tuple[Longs, Bools]:
        """The copies that carry an allele, int64[n], and whether they may be without, bool[n]."""
        if called is None:
            copies = PLOIDY * np.arange(max(len(self.samples), 1))
            return copies, np.ones(len(copies), np.bool_)
        alleles, phased = called
        if self._chosen is not None:
            alleles, phased = alleles[:, self._chosen], phased[self._chosen]
        carried = alleles == number
        sure = carried if phased.all() else carried & phased
        copy, sample = divmod(np.flatnonzero(sure.reshape(-1)), len(phased))
        copies, free = PLOIDY * sample + copy, np.zeros(len(copy), np.bool_)
        loose = np.flatnonzero(carried.any(0) & ~phased) if sure is not carried else ()
        if len(loose):
            others = alleles[:, loose]
            copy, sample = np.nonzero(others != ABSENT)
            may = ((others <= 0) & (others != ABSENT)).any(0)[sample]
            copies = np.concatenate([copies, PLOIDY * loose[sample] + copy])
            free = np.concatenate([free, may])
        return copies, free


def _text(word: bytes) -> str:
    return word.decode("utf-8", "surrogateescape")


def _trimmed(place: int, ref: bytes, alt: bytes) -> tuple[int, int, bytes]:
    """Start, end and letters of an allele without what it shares with the reference."""
    shorter, end, begin = min(len(ref), len(alt)), 0, 0
    while end < shorter and ref[-1 - end] == alt[-1 - end]:
        end += 1
    while begin < shorter - end and ref[begin] == alt[begin]:
        begin += 1
    return place + begin, place + len(ref) - end, alt[begin : len(alt) - end]


def _block(alleles: list[_Allele]) -> Block:
    alleles.sort(key=lambda each: each[:3])
    start, end, alt, name, af, line, place, ref, copies, free = zip(*alleles, strict=True)
    copy = np.concatenate(copies)
    small = copy.max() < 1 << 16  # sorted by digits, then
    order = np.argsort(copy.astype(np.uint16) if small else copy, kind="stable")
    allele = np.repeat(np.arange(len(alleles)), [len(each) for each in copies])
    return Block(
        *(np.array(start), np.array(end), list(alt), list(name), np.array(af, np.float64)),
        *(np.array(line), np.array(place), list(ref)),
        *(copy[order], allele[order], np.concatenate(free)[order]),
    )


def check_reference(block: Block, letters: Bytes, record: str, label: str) -> None:
    """Raise InputError where a record, letters in any case, has another REF than a Block."""
    bounds = bounds_of([len(ref) for ref in block.ref])
    there = gather(letters, block.place, bounds) & 0xDF  # in upper case
    there[there == ord("U")] = ord("T")
    stated = np.frombuffer(b"".join(block.ref), np.uint8)
    # A genome may hide letters.
    known = np.isin(there, np.frombuffer(b"ACGT", np.uint8)) & (stated != ord("N"))
    if len(wrong := np.flatnonzero(known & (stated != there))):
        number = int(np.searchsorted(bounds, wrong[0], side="right")) - 1
        found = there[bounds[number] : bounds[number + 1]].tobytes().decode("latin-1")
        raise InputError(
            f"{label}: line {block.line[number]:,}: REF of {record}:{block.place[number] + 1:,} is "
            f"{shown(_text(block.ref[number]))}, and the genome has {shown(found)} there; is the "
            "file of another assembly?"
        )
