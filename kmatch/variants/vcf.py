"""Sites of a VCF, streamed along the genome in blocks, and the copies that may have each allele."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from kmatch.arguments import checked_count
from kmatch.arrays import Bytes, Longs, Words, bounds_of, gather
from kmatch.errors import InputError, listed, shown, warn
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.files import Source, StrPath

# Bytes of a block's copies, its sites, and letters from the first to the last, about.
BLOCK, SITES, SPAN = 1 << 27, 1 << 17, 1 << 22
FOREVER = 1 << 62
_CONTIG = re.compile(rb"##contig=<.*?ID=([^,>]+)(?:.*?length=(\d+))?")
_FREQUENCIES = re.compile(rb"(?:^|;)AF=([^;]+)")
_BASES = re.compile(rb"[ACGTN]+")
_SORT = "sort the file with bcftools sort"
# The bits of four letters that 0|0, 0|1, 1|0 and 1|1, each with a tab, have in common, and these.
_SAME, _PHASED = np.frombuffer(b"\xfe\xff\xfe\xff", np.uint32), b"0|0\t"


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


# A line of VCF: its number, POS from 0 on, alleles, REF first, the frequency of each, NaN where it
# is unknown, and the copies that may have each, uint64[n, W]. The garbage collector looks at tuples
# like this only once.
Site = tuple[int, int, tuple[bytes, ...], tuple[float, ...], Words]


class Block:
    """Sites of one record, far from those of other blocks, with R alleles: the reference is the
    first of each site.

    part: of the record, with `around` letters before and behind the sites, in which all places are
    counted. lines: of the file; alleles: of all sites; refs: letters of the references, of which
    those of each site are between bounds, int64[S+1]. place: int64[S+1], POS; behind: int64[S+1],
    where what its alleles replace ends, and reach: with that of all before; these go on with
    FOREVER. first: int64[S+1], the reference's row. site: int64[R]; start, end: int64[R], what an
    allele replaces, without letters in common; size: int64[R], the letters in its place; af:
    float64[R]; copies: uint64[R, W], a bit for each that may have it.
    """

    def __init__(self, record: str, sites: list[Site], around: int) -> None:
        self.lines, place, alleles, af, copies = zip(*sites, strict=True)
        refs, self.alleles = [ref for ref, *_ in alleles], [*chain.from_iterable(alleles)]
        self.refs, self.bounds = b"".join(refs), bounds_of([*map(len, refs)])
        base, stop = max(place[0] - around, 0), int((place + np.diff(self.bounds)).max())
        self.record, self.part = record, slice(base, stop + around)
        self.place = np.array([*place, FOREVER]) - base
        self.first = bounds_of([*map(len, alleles)])
        self.site = np.repeat(np.arange(len(sites)), np.diff(self.first))
        self.af = np.array([*chain.from_iterable(af)])
        self.copies = np.concatenate(copies)
        trimmed = [_trimmed(some[0], each) for some in alleles for each in some]
        start, end, letters = zip(*trimmed, strict=True)
        self.start, self.end = self.place[self.site] + np.array([start, end])
        self.size, self.letters = np.array([*map(len, letters)]), b"".join(letters)
        self.behind = np.append(np.maximum.reduceat(self.end, self.first[:-1]), FOREVER)
        self.reach = np.maximum.accumulate(self.behind)
        self._part_alleles()

    def _part_alleles(self) -> None:
        """Let copies whose alleles overlap have the reference in place of either."""
        first = self.first[self.site]
        met = self.first[np.searchsorted(self.reach, self.place[:-1])][self.site]
        some = np.arange(len(first)) > first  # but the reference
        for row in np.flatnonzero(some & (met < first)).tolist():  # it may touch those from met on
            others = np.flatnonzero(some[met[row] : first[row]]) + met[row]
            for other in others[self.overlap(row, others)].tolist():
                self.copies[first[[row, other]]] |= self.copies[row] & self.copies[other]

    def overlap(self, one: Any, other: Any) -> Any:
        """Whether a copy cannot have both alleles: rows, or int64[n] of them."""
        start, end = self.start, self.end
        same = (start[one] == start[other]) & (end[one] == end[other])
        return same | (start[one] < end[other]) & (start[other] < end[one])

    def names(self, rows: Longs) -> dict[int, str]:
        """Alleles, by row, as `chrom:pos:ref:alt`."""
        places = self.part.start + self.place[self.site[rows]] + 1
        each = rows.tolist(), self.first[self.site[rows]].tolist(), places.tolist()
        return {
            row: f"{self.record}:{place}:{_text(self.alleles[first])}:{_text(self.alleles[row])}"
            for row, first, place in zip(*each, strict=True)
        }


class VariantReader:
    """The alleles of an open VCF in a genome whose records have these lengths, by name.

    samples: names of those whose genotypes count; number n has the copies 2·n and 2·n + 1. Raises
    InputError for what is no VCF, for one that does not fit the genome and for samples that it has
    not.
    """

    def __init__(self, source: Source, given: Variants, lengths: Mapping[str, int]) -> None:
        self._source, self._label, self._lengths = source, source.label, lengths
        self._min_af, self._number = given.min_af, 0
        self._left = Counter[str]()  # alleles left out, by reason
        names = self._header()
        self.samples = names if given.samples is None else list(dict.fromkeys(given.samples))
        if missing := [name for name in self.samples if name not in names]:
            raise InputError(
                f"{self._label}: there is no sample {listed(missing)}; the file has "
                f"{listed(names) or 'none'}"
            )
        self._columns = len(names)
        self._chosen: Any = slice(None)
        if self.samples != names:
            self._chosen = [names.index(name) for name in self.samples]
        self._all = _words(np.ones((1, max(2 * len(self.samples), 1)), np.uint8))

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
        known, advice = list(self._lengths), "are both of the same assembly?"
        one, other = ({name.removeprefix("chr") for name in some} for some in (names, known))
        if one & other:
            advice = "rename the records of one, as with bcftools annotate --rename-chrs"
        return InputError(
            f"{self._label}: no variant is in a record of the genome: the file has "
            f"{listed(names, 3)}, the genome {listed(known, 3)}; {advice}"
        )

    def blocks(self, apart: int, around: int) -> Iterator[Block]:
        """Yield the Blocks, at least `apart` letters between them, with so many around; warns at
        the end of alleles that were left out."""
        sites: list[Site] = []
        last, reach, most = "", 0, min(BLOCK // (2 * self._all.nbytes), SITES)
        for record, site in self._sites():
            _, place, (ref, *_), *_ = site
            full = bool(sites) and (len(sites) >= most or place - sites[0][1] >= SPAN)
            if sites and (record != last or (full and place - reach >= apart)):
                yield Block(last, sites, around)
                sites, reach = [], 0
            last, reach = record, max(reach, place + len(ref))
            sites.append(site)
        if sites:
            yield Block(last, sites, around)
        if self._left:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in self._left.items())
            warn(f"{self._label}: alleles were left out: {reasons}")
        if not last:
            warn(f"{self._label}: no allele is left; the hits are those of the reference")

    def _sites(self) -> Iterator[tuple[str, Site]]:
        """Yield the name of a record and a Site for each line with an allele that counts."""
        last, name, place = b"", "", 0
        seen: dict[str, None] = {}  # names of records
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
                if name in seen:
                    raise self._error(f"'{shown(name)}' comes again after others; {_SORT}")
                seen[name] = None
            if at < place:
                raise self._error(f"position {at + 1:,} comes after {place + 1:,}; {_SORT}")
            place = at
            if name in self._lengths and (site := self._site(name, at, cells)):
                yield name, site
        if strange := [name for name in seen if name not in self._lengths]:
            if len(strange) == len(seen):
                raise self._misfit(strange)
            warn(
                f"{self._label}: {listed(strange, 3)}: variants there are left out, as the genome "
                "has no such record"
            )

    def _site(self, name: str, place: int, cells: list[bytes]) -> Site | None:
        """The Site of a line, None without an allele that counts and that a copy has."""
        ref, *alts = alleles = [cells[3].upper(), *cells[4].upper().split(b",")]
        if place < 0 or place + len(ref) > self._lengths[name]:
            raise self._error(
                f"{name}:{place + 1:,} with {len(ref):,} letters is beyond the record, which has "
                f"{self._lengths[name]:,}; is the file of another assembly?"
            )
        # What is nothing, or what another line has, is no allele.
        some = [row for row, alt in enumerate(alts, 1) if alt not in (b".", b"*", ref)]
        rows = [row for row in some if _BASES.fullmatch(alleles[row]) and _BASES.fullmatch(ref)]
        if held_back := cells[6] not in (b"PASS", b"."):
            rows = []
        if len(rows) < len(some):
            reason = "by FILTER" if held_back else "that are no letters A, C, G, T or N"
            self._left[reason] += len(some) - len(rows)
        if not rows:
            return None
        copies, counts = self._genotypes(cells, len(alleles))
        known = sum(counts)
        af = [count / known if known else np.nan for count in counts]
        stated = _FREQUENCIES.search(cells[7])
        for row, each in enumerate(stated[1].split(b",") if stated else [], 1):
            if row < len(af) and each != b".":
                try:
                    af[row] = float(each)
                except ValueError:
                    raise self._error(f"AF is '{shown(_text(each))}', and no number") from None
        there: Any = copies.any(axis=1)
        rows = [0, *(row for row in rows if there[row] and not af[row] < self._min_af)]
        if len(rows) < len(alleles):
            for row in set(range(len(alleles))).difference(rows):  # the reference in their place
                copies[0] |= copies[row]
            alleles, af = [alleles[row] for row in rows], [af[row] for row in rows]
            copies = copies[rows]
        return (self._number, place, tuple(alleles), tuple(af), copies) if rows[1:] else None

    def _genotypes(self, cells: list[bytes], alleles: int) -> tuple[Words, list[int]]:
        """The copies that may have each allele, uint64[alleles, W], and how many in all samples
        have it."""
        if not self._columns or cells[8][:3] not in (b"GT", b"GT:"):
            return np.repeat(self._all, alleles, axis=0), [0] * alleles
        text, n = cells[9], self._columns
        if alleles == 2 and len(text) == 4 * n - 1:
            letters = np.frombuffer(text + b"\t", np.uint16)
            if (letters.view(np.uint32) & _SAME).tobytes() == _PHASED * n:  # as most are
                second = (letters & 1).astype(np.uint8)
                copies = _words(second.reshape(1, -1, 2)[:, self._chosen])
                count = int(np.count_nonzero(second))
                return np.concatenate([self._all & ~copies, copies]), [2 * n - count, count]
        words = text.split(b"\t")
        if len(words) != n:
            raise self._error(
                f"{len(words):,} genotypes, and the file has {n:,} samples; the line is cut: copy "
                "or download the file again"
            )
        if b":" in cells[8]:
            words = [word.partition(b":")[0] for word in words]
        often = Counter(words)
        kinds = {word: number for number, word in enumerate(often)}
        table = np.zeros((alleles, len(kinds), 2), np.uint8)
        counts = [0] * alleles
        for word, number in kinds.items():
            parts = re.split(rb"[|/]", word)
            if not all(part == b"." or part.isdigit() for part in parts):
                raise self._error(f"'{shown(_text(word))}' is no genotype, such as 0|1; correct it")
            found = [int(part.replace(b".", b"0")) for part in parts]
            if max(found) >= alleles:
                raise self._error(f"a genotype has allele {max(found)}, and ALT has {alleles - 1}")
            # Sets of PS have no phase to one another, and copies beyond two none here.
            loose = b"/" in word or b":PS" in cells[8] or len(found) > 2
            for copy in range(2):
                table[found if loose else found[copy : copy + 1] or 0, number, copy] = 1
            for allele, part in zip(found, parts, strict=True):
                counts[allele] += often[word] * (part != b".")
        flags = table[:, list(map(kinds.__getitem__, words))]
        return _words(flags[:, self._chosen]), counts


def _words(flags: Bytes) -> Words:
    """Flags as bits, uint64[n, W]; flags: uint8[n, …]."""
    packed = np.packbits(flags.reshape(len(flags), -1), axis=1, bitorder="little")
    words = np.zeros((len(flags), -(-packed.shape[1] // 8)), np.uint64)
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    return words


def _text(word: bytes) -> str:
    return word.decode("utf-8", "surrogateescape")


@lru_cache(1 << 12)
def _trimmed(ref: bytes, alt: bytes) -> tuple[int, int, bytes]:
    """Start, end and letters of an allele without what it shares with the reference."""
    shorter, end, begin = min(len(ref), len(alt)), 0, 0
    while end < shorter and ref[-1 - end] == alt[-1 - end]:
        end += 1
    while begin < shorter - end and ref[begin] == alt[begin]:
        begin += 1
    return begin, len(ref) - end, alt[begin : len(alt) - end]


def check_reference(block: Block, letters: Bytes, label: str) -> None:
    """Raise InputError where a record, letters in any case, has another REF than a Block."""
    there = gather(letters, block.place[:-1], block.bounds)
    has, stated = encode_text(there), encode_text(np.frombuffer(block.refs, np.uint8))
    # A genome may hide letters.
    if len(wrong := np.flatnonzero((has != stated) & (has > 0) & (stated > 0))):
        site = int(np.searchsorted(block.bounds, wrong[0], side="right")) - 1
        low, high = block.bounds[site : site + 2]
        place = block.part.start + block.place[site] + 1
        raise InputError(
            f"{label}: line {block.lines[site]:,}: REF of {block.record}:{place:,} is "
            f"{shown(_text(block.refs[low:high]))}, and the genome has "
            f"{shown(_text(there[low:high].tobytes()).upper())} there; is the file of another "
            "assembly?"
        )
