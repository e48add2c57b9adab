"""Reads VCF: the header, and of each line the alleles that count and the copies that may have them.

What an allele replaces, and which alleles are the same, is not decided here.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.arguments import checked_count
from kmatch.arrays import Words
from kmatch.errors import InputError, listed, shown, warn
from kmatch.sequences.files import Source, StrPath
from kmatch.variants.genotypes import GenotypeReader, text_of

# The columns before those of samples.
CHROM = 0
POS = 1
REF = 3
ALT = 4
FILTER = 6
INFO = 7
GENOTYPES = 9
NOTHING = b"."  # in ALT
OF_ANOTHER_LINE = b"*"  # likewise
CONTIG = re.compile(rb"##contig=<.*?ID=([^,>]+)(?:.*?length=(\d+))?")
FREQUENCIES = re.compile(rb"(?:^|;)AF=([^;]+)")
BASES = re.compile(rb"[ACGTN]+")
SORT_ADVICE = "sort the file with bcftools sort"


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
    """Return the Variants of what a user gives; None stays None.

    Raises InputError for what are none.
    """
    if given is None:
        return None
    variants = given if isinstance(given, Variants) else Variants(given)
    is_path = isinstance(variants.vcf, str | os.PathLike)
    if not is_path or not 0 <= variants.min_af <= 1:
        raise InputError(f"variants are {given!r}; give a path of VCF, and a min_af from 0 to 1")
    samples = variants.samples
    if isinstance(samples, str):
        samples = samples.split(",")
    most = checked_count("max_haplotypes", variants.max_haplotypes, 1)
    return variants._replace(samples=samples, max_haplotypes=most)


class Site(NamedTuple):
    """A line of VCF with an allele that counts and that a copy may have.

    record: its name; record_start: where REF begins in it (POS, but from 0); line_number: in the
    file, from 1; alleles: as the line spells them in upper case, REF first; frequencies: of each,
    NaN where it is unknown; copies: uint64[alleles, W], the copies that may have each.
    """

    record: str
    record_start: int
    line_number: int
    alleles: list[bytes]
    frequencies: list[float]
    copies: Words

    @property
    def record_end(self) -> int:
        """Where REF ends."""
        return self.record_start + len(self.alleles[0])

    def keep(self, rows: list[int]) -> "Site":
        """Return the Site with some alleles, by row, the first being REF.

        A copy that may have one of the others may have the reference in its place.
        """
        if len(rows) == len(self.alleles):
            return self
        copies = self.copies[rows]
        for row in set(range(len(self.alleles))).difference(rows):
            copies[0] |= self.copies[row]
        return self._replace(
            alleles=[self.alleles[row] for row in rows],
            frequencies=[self.frequencies[row] for row in rows],
            copies=copies,
        )


class VariantReader:
    """Reads an open VCF, whose header it reads at once.

    given: the alleles and samples that count; record_lengths: letters of the genome's records, by
    name. samples: names of those whose genotypes count; number s has the copies 2·s and 2·s + 1.

    Raises InputError for what is no VCF, for one that does not fit the genome and for samples that
    it has not.
    """

    def __init__(self, source: Source, given: Variants, record_lengths: Mapping[str, int]) -> None:
        self._source = source
        self._label = source.label
        self._record_lengths = record_lengths
        self._min_af = given.min_af
        self._line_number = 0
        self._left_out = Counter[str]()  # alleles by the reason why
        self._has_sites = False
        self._record_names: dict[bytes, str] = {}  # of the lines so far
        self._last_record = b""
        self._last_start = 0
        file_samples = self._read_header()
        self.samples = self._chosen(file_samples, given.samples)
        self._fewest_cells = 10 if file_samples else 8
        self._genotypes = GenotypeReader(file_samples, self.samples)

    def _chosen(self, file_samples: list[str], chosen: Sequence[str] | None) -> list[str]:
        """Return the names of chosen samples, each once; None stands for all of the file."""
        if chosen is None:
            return file_samples
        samples = list(dict.fromkeys(chosen))
        if missing := [name for name in samples if name not in file_samples]:
            raise InputError(
                f"{self._label}: there is no sample {listed(missing)}; the file has "
                f"{listed(file_samples) or 'none'}"
            )
        return samples

    def _read_header(self) -> list[str]:
        """Read the header, and return the names of the file's samples."""
        head = self._source.handle.peek()[:16]
        if not head.startswith(b"##fileformat=VCF"):
            what = "BCF; convert it with bcftools view -Oz" if b"BCF" in head else "no VCF"
            raise InputError(f"{self._label}: it is {what}")
        contigs: list[str] = []
        for line in self._source.handle:
            self._line_number += 1
            if line.startswith(b"#CHROM"):
                self._check_contigs(contigs)
                cells = cells_of(line)
                return [text_of(name) for name in cells[GENOTYPES:]]
            if found := CONTIG.match(line):
                name = text_of(found[1])
                contigs.append(name)
                self._check_contig_length(name, found[2])
        raise InputError(f"{self._label}: the VCF has no line #CHROM; copy or download it again")

    def _check_contigs(self, contigs: list[str]) -> None:
        """Raise InputError where the header names contigs, and none is a record of the genome."""
        if contigs and not any(name in self._record_lengths for name in contigs):
            raise self._misfit(contigs)

    def _check_contig_length(self, name: str, stated: bytes | None) -> None:
        """Raise InputError where a contig has another length than the genome's record."""
        length = self._record_lengths.get(name)
        if stated and length is not None and int(stated) != length:
            raise self._error(
                f"'{shown(name)}' has {int(stated):,} letters, and in the genome {length:,}"
                "; give variants of the same assembly"
            )

    def sites(self) -> Iterator[Site]:
        """Yield a Site for each line that has one, in a record of the genome.

        Warns at the end of records that the genome has not. Raises InputError, with the line, for
        lines that are damaged, not in order, or beyond their record.
        """
        for line in self._source.handle:
            self._line_number += 1
            try:
                site = self._site_of(line)
            except InputError as error:
                raise self._error(str(error)) from None
            if site is not None:
                self._has_sites = True
                yield site
        self._check_records()

    def _error(self, what: str) -> InputError:
        """Return the InputError for what is wrong in the line that was read last."""
        return InputError(f"{self._label}: line {self._line_number:,}: {what}")

    def _check_records(self) -> None:
        """Warn of records that the genome has not; raise InputError where it has none of them."""
        names = self._record_names.values()
        strange = [name for name in names if name not in self._record_lengths]
        if not strange:
            return
        if len(strange) == len(names):
            raise self._misfit(strange)
        warn(
            f"{self._label}: {listed(strange, 3)}: variants there are left out, as the genome "
            "has no such record"
        )

    def _misfit(self, names: Sequence[str]) -> InputError:
        """Return the InputError for a VCF of other records than the genome's."""
        genome_names = list(self._record_lengths)
        advice = "are both of the same assembly?"
        if not without_chr(names).isdisjoint(without_chr(genome_names)):
            advice = "rename the records of one, as with bcftools annotate --rename-chrs"
        return InputError(
            f"{self._label}: no variant is in a record of the genome: the file has "
            f"{listed(names, 3)}, the genome {listed(genome_names, 3)}; {advice}"
        )

    def warn_of_left_out(self) -> None:
        """Warn of alleles that were left out, and where there was no Site."""
        if self._left_out:
            reasons = [f"{count:,} {reason}" for reason, count in self._left_out.items()]
            warn(f"{self._label}: alleles were left out: {', '.join(reasons)}")
        if not self._has_sites:
            warn(f"{self._label}: no allele is left; the hits are those of the reference")

    def _site_of(self, line: bytes) -> Site | None:
        """Return the Site of a line; None where it has none, or is in no record of the genome."""
        cells = cells_of(line, GENOTYPES)
        if len(cells) < self._fewest_cells:
            raise InputError("the line is cut; copy or download the file again")
        record, record_start = self._place_of(cells)
        if record not in self._record_lengths:
            return None
        alleles = alleles_of(cells)
        self._check_end(record, record_start, len(alleles[0]))
        rows = self._rows_that_count(alleles, cells[FILTER])
        if not rows:
            return None
        copies, counts = self._genotypes.read(cells, len(alleles))
        frequencies = frequencies_of(cells[INFO], counts)
        site = Site(record, record_start, self._line_number, alleles, frequencies, copies)
        kept = self._kept_rows(site, rows)
        return site.keep(kept) if len(kept) > 1 else None

    def _kept_rows(self, site: Site, rows: list[int]) -> list[int]:
        """Return the rows of REF and of the alleles that are frequent enough and that a copy has.

        rows: of the alleles that count.
        """
        has_copies: Any = site.copies.any(axis=1)
        kept = [0]
        for row in rows:
            is_rare = site.frequencies[row] < self._min_af
            if has_copies[row] and not is_rare:
                kept.append(row)
        return kept

    def _place_of(self, cells: list[bytes]) -> tuple[str, int]:
        """Return the record of a line and where its REF begins there, and check their order."""
        if not cells[POS].isdigit():
            raise InputError(f"POS is '{shown(text_of(cells[POS]))}', and no whole number")
        record_start = int(cells[POS]) - 1
        record = cells[CHROM]
        if record != self._last_record:
            name = text_of(record)
            if record in self._record_names:
                raise InputError(f"'{shown(name)}' comes again after others; {SORT_ADVICE}")
            self._record_names[record] = name
            self._last_record = record
            self._last_start = 0
        if record_start < self._last_start:
            raise InputError(
                f"position {record_start + 1:,} comes after {self._last_start + 1:,}; {SORT_ADVICE}"
            )
        self._last_start = record_start
        return self._record_names[record], record_start

    def _check_end(self, record: str, record_start: int, ref_length: int) -> None:
        """Raise InputError where REF ends behind its record."""
        record_length = self._record_lengths[record]
        if record_start + ref_length > record_length:
            raise InputError(
                f"{record}:{record_start + 1:,} with {ref_length:,} letters is beyond the record, "
                f"which has {record_length:,}; is the file of another assembly?"
            )

    def _rows_that_count(self, alleles: list[bytes], filter_cell: bytes) -> list[int]:
        """Return the rows of the alleles of ALT that count, and take note of those left out."""
        ref = alleles[0]
        no_alleles = (ref, NOTHING, OF_ANOTHER_LINE)
        rows = [row for row, allele in enumerate(alleles) if allele not in no_alleles]
        rows_of_letters = [row for row in rows if BASES.fullmatch(alleles[row])]
        if filter_cell not in (b"PASS", b"."):
            reason = "by FILTER"
            counting: list[int] = []
        else:
            reason = "that are no letters A, C, G, T or N"
            counting = rows_of_letters if BASES.fullmatch(ref) else []
        if len(counting) < len(rows):
            self._left_out[reason] += len(rows) - len(counting)
        return counting


def cells_of(line: bytes, most_tabs: int = -1) -> list[bytes]:
    """Return the cells of a line, the last of which has all that is behind the last tab."""
    return line.rstrip(b"\r\n").split(b"\t", most_tabs)


def alleles_of(cells: list[bytes]) -> list[bytes]:
    """Return the alleles of a line in upper case, REF first."""
    ref = cells[REF].upper()
    alts = cells[ALT].upper().split(b",")
    return [ref, *alts]


def frequencies_of(info: bytes, counts: list[int]) -> list[float]:
    """Return the frequency of each allele of a line, the reference first, NaN where it is unknown.

    info: the cell INFO, whose AF comes before what is counted; counts: copies that have each
    allele. Raises InputError where AF is no number.
    """
    copy_count = sum(counts)
    frequencies = [np.nan] * len(counts)
    if copy_count:
        frequencies = [count / copy_count for count in counts]
    stated = FREQUENCIES.search(info)
    if stated is None:
        return frequencies
    words = stated[1].split(b",")
    for row, word in enumerate(words[: len(counts) - 1], 1):
        if word == b".":
            continue
        try:
            frequencies[row] = float(word)
        except ValueError:
            raise InputError(f"AF is '{shown(text_of(word))}', and no number") from None
    return frequencies


def without_chr(names: Iterable[str]) -> set[str]:
    """Return names of records without the `chr` that some begin with."""
    return {name.removeprefix("chr") for name in names}
