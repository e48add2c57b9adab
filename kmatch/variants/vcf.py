"""Reads VCF: the header, and of each line the alleles that count and the copies that may have them.

`alleles` finds the letters that each allele replaces, and `joining` finds equal alleles.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.arguments import checked_count
from kmatch.arrays import Words
from kmatch.errors import InputError, listed, shown, warn
from kmatch.sequences.files import Source, StrPath, label_of
from kmatch.variants.genotypes import GenotypeReader, text_of
from kmatch.variants.header import BLANKS, GENOTYPES, read_header

# The columns before those of samples.
CHROM = 0
POS = 1
REF = 3
ALT = 4
FILTER = 6
INFO = 7
NOTHING = b"."  # in ALT
OF_ANOTHER_LINE = b"*"  # likewise
AF = "AF"  # the key of INFO for frequencies
MOST_AF = 1.000001  # as some are rounded
NAN = math.nan
LONG = 50  # letters of an allele that its name spells
BASES = re.compile(rb"[ACGTN]+")
SORT_ADVICE = "sort the file with bcftools sort"


class Variants(NamedTuple):
    """Variants whose haplotypes are searched beside the reference.

    vcf: a path, compressed or not, or the paths of several files with different records; samples:
    names of the samples whose genotypes count, None for all; min_af: alleles of a smaller frequency
    are left out; max_haplotypes: combinations of alleles without phase around an allele; beyond it
    the allele is taken alone and with each other allele; dense_groups: a path where these alleles
    are listed, or None; af_key: the key of INFO that has frequencies; alleles: whether hits have a
    column `alleles`, of those under each hit; losses: whether hits of the reference without
    differences tell which alleles undo them; every: whether hits that haplotypes make are given too
    where they are no closer than the reference's. `guides` asks for `losses`, and with CFD for
    `every`.
    """

    vcf: StrPath | Sequence[StrPath]
    samples: Sequence[str] | None = None
    min_af: float = 0.0
    max_haplotypes: int = 1024
    dense_groups: StrPath | None = None
    af_key: str = AF
    alleles: bool = False
    losses: bool = False
    every: bool = False

    @property
    def paths(self) -> list[StrPath]:
        """The paths of all files."""
        is_one = isinstance(self.vcf, str | os.PathLike)
        return [self.vcf] if is_one else list(self.vcf)  # type: ignore[arg-type,list-item]

    @property
    def label(self) -> str:
        """How messages name the files."""
        return ", ".join(map(label_of, self.paths))


def load_variants(given: "Variants | StrPath | Sequence[StrPath] | None") -> Variants | None:
    """Return the Variants that a user gives; None stays None.

    Raises InputError for anything else.
    """
    if given is None:
        return None
    variants = given if isinstance(given, Variants) else Variants(given)
    given_paths: Any = variants.vcf
    if isinstance(given_paths, str | os.PathLike):
        given_paths = [given_paths]
    is_list = isinstance(given_paths, list | tuple) and len(given_paths) > 0
    are_paths = is_list and all(isinstance(path, str | os.PathLike) for path in given_paths)
    if not are_paths or not 0 <= variants.min_af <= 1:
        raise InputError(f"variants are {given!r}; give paths of VCF, and a min_af from 0 to 1")
    samples = variants.samples
    if isinstance(samples, str):
        samples = samples.split(",")
    most = checked_count("max_haplotypes", variants.max_haplotypes, 1)
    return variants._replace(samples=samples, max_haplotypes=most)


class Site(NamedTuple):
    """A line of VCF with an allele that counts.

    record: its name; record_start, record_end: where REF is in it (POS, but from 0); line_number:
    in the file, from 1, 0 where it is unknown; alleles: as the line has them in upper case, REF
    first; spelled: REF and ALT of each as names have them; frequencies: of each, NaN where it is
    unknown; copies: uint64[alleles, W], the copies that may have each; called: uint64[alleles, V],
    the copies in the file that have each, where its frequency is to be counted.
    """

    record: str
    record_start: int
    record_end: int
    line_number: int
    alleles: list[bytes]
    spelled: list[str]
    frequencies: list[float]
    copies: Words
    called: Words

    def keep(self, rows: list[int]) -> "Site":
        """Return the Site with some alleles, by row, the first being REF.

        A copy that may have one of the others may have the reference in its place.
        """
        copies = self.copies[rows]
        called = self.called[rows]
        for row in set(range(len(self.alleles))).difference(rows):
            copies[0] |= self.copies[row]
            called[0] |= self.called[row]
        return self._replace(
            alleles=[self.alleles[row] for row in rows],
            spelled=[self.spelled[row] for row in rows],
            frequencies=[self.frequencies[row] for row in rows],
            copies=copies,
            called=called,
        )

    def frequency(self, row: int) -> float:
        """Return the frequency of an allele: as INFO has it, otherwise counted; NaN for none."""
        if not math.isnan(self.frequencies[row]):
            return self.frequencies[row]
        if not self.called.size:
            return NAN
        called_count = int(np.bitwise_count(np.bitwise_or.reduce(self.called)).sum())
        if not called_count:
            return NAN
        return int(np.bitwise_count(self.called[row]).sum()) / called_count


class VariantReader:
    """Reads an open VCF, whose header it reads at once.

    given: the alleles and samples that count; record_lengths: letters of the genome's records, by
    name. label: of the file; header: its Header; lines: behind it, in the order in which they are
    read; is_by_index: whether this order is not the file's; samples: names of the samples whose
    genotypes count; number s has the copies 2·s and 2·s + 1.

    Raises InputError for a file that is no VCF, and for a VCF that does not fit the genome.
    """

    def __init__(self, source: Source, given: Variants, record_lengths: Mapping[str, int]) -> None:
        self.label = source.label
        self.header = read_header(source)
        self.lines: Iterable[bytes] = source.handle
        self.is_by_index = False
        self._record_lengths = record_lengths
        self._given = given
        self._frequencies = frequency_pattern(given.af_key)
        self._line_number = self.header.line_count
        self._left_out = Counter[str]()  # alleles by the reason why
        self._has_sites = False
        self._has_lines = False
        self._is_strange = False
        self._has_frequencies = False
        self._has_key = False
        self._record_names: dict[bytes, str] = {}  # of the lines so far
        self._last_record = b""
        self._last_start = 0
        self._check_contigs()

        # The samples that count, of those that the file has.
        file_samples = self.header.samples
        self.samples = file_samples
        if given.samples is not None:
            self.samples = [name for name in dict.fromkeys(given.samples) if name in file_samples]
        self._genotypes = GenotypeReader(file_samples, self.samples)

    def _check_contigs(self) -> None:
        """Warn of records with other lengths than the header says; raise InputError where it names
        some, and none is in the genome."""
        contigs = self.header.contigs
        lengths = self._record_lengths
        if contigs and not any(name in lengths for name in contigs):
            raise self._misfit(list(contigs))
        stated = [name for name, size in contigs.items() if size is not None and name in lengths]
        unlike = [name for name in stated if contigs[name] != lengths[name]]
        if unlike:
            name = unlike[0]
            more = f", and {len(unlike) - 1:,} more differ" if len(unlike) > 1 else ""
            warn(
                f"{self.label}: '{shown(name)}' has {contigs[name]:,} letters by ##contig, and "
                f"{lengths[name]:,} in the genome{more}; each REF is compared"
            )

    def sites(self) -> Iterator[Site]:
        """Yield a Site for each line that has one, in a record of the genome.

        Warns at the end of records that the genome has not. Raises InputError, with the line, for
        lines that are damaged, not in order, or beyond their record.
        """
        for line in self.lines:
            self._line_number += 1
            if line.isspace():
                continue
            try:
                site = self._site_of(line)
            except InputError as error:
                raise self._error(str(error)) from None
            if self._is_strange:
                self._check_frequencies()
            if site is not None:
                yield site
        self._check_records()
        self._check_frequencies()

    def that_count(self, sites: Iterable[Site]) -> Iterator[Site]:
        """Yield sites with the alleles that are frequent enough and that a copy has."""
        for site in sites:
            kept = [0]
            for row in range(1, len(site.alleles)):
                frequency = site.frequency(row)
                site.frequencies[row] = frequency
                is_carried = np.count_nonzero(site.copies[row]) > 0
                if is_carried and not frequency < self._given.min_af:
                    kept.append(row)
            if len(kept) > 1:
                self._has_sites = True
                yield site if len(kept) == len(site.alleles) else site.keep(kept)

    def _error(self, what: str) -> InputError:
        """Return the InputError for a fault in the line that was read last."""
        place = "" if self.is_by_index else f"line {self._line_number:,}: "
        return InputError(f"{self.label}: {place}{what}")

    def _check_records(self) -> None:
        """Warn of records that the genome has not; raise InputError where it has none of them."""
        names = self._record_names.values()
        strange = [name for name in names if name not in self._record_lengths]
        if not strange:
            return
        if len(strange) == len(names):
            raise self._misfit(strange)
        warn(
            f"{self.label}: {listed(strange, 3)}: variants there are left out, as the genome "
            "has no such record"
        )

    def _check_frequencies(self) -> None:
        """Raise InputError where a frequency is asked for, and no line has it."""
        key = self._given.af_key
        if not self._has_lines:
            return
        if key != AF and not self._has_key:
            keys = listed(self.header.info_keys) or "none that its header names"
            raise InputError(f"{self.label}: no line has {key} in INFO, which has {keys}")
        if self._given.min_af > 0 and not self._has_frequencies:
            keys = listed([each for each in self.header.frequency_keys if each != key])
            advice = f"INFO has {keys}: choose one with --af-key" if keys else "leave --min-af out"
            raise InputError(
                f"{self.label}: no allele has a frequency, neither {key} in INFO nor genotypes to "
                f"count, so that --min-af cannot choose; {advice}"
            )

    def _misfit(self, names: Sequence[str]) -> InputError:
        """Return the InputError for a VCF of other records than the genome's."""
        genome_names = list(self._record_lengths)
        advice = "are both of the same assembly?"
        if not without_chr(names).isdisjoint(without_chr(genome_names)):
            advice = "rename the records of one, as with bcftools annotate --rename-chrs"
        return InputError(
            f"{self.label}: no variant is in a record of the genome: the file has "
            f"{listed(names, 3)}, the genome {listed(genome_names, 3)}; {advice}"
        )

    def warn_of_left_out(self, is_searched: bool = True) -> None:
        """Warn of alleles that were left out, and where there was no Site.

        is_searched: whether any record of the file is.
        """
        if self._left_out:
            reasons = [f"{count:,} {reason}" for reason, count in self._left_out.items()]
            warn(f"{self.label}: alleles were left out: {', '.join(reasons)}")
        if is_searched and not self._has_sites:
            warn(f"{self.label}: no allele is left; the hits are those of the reference")

    def _site_of(self, line: bytes) -> Site | None:
        """Return the Site of a line; None where it has none, or is in no record of the genome."""
        cells = cells_of(line, GENOTYPES)
        if len(cells) < self.header.fewest_cells:
            raise self._cut(line)
        record, record_start = self._place_of(cells)
        if record not in self._record_lengths:
            return None
        alleles = alleles_of(cells)
        if record_start in (-1, self._record_lengths[record]):
            self._left_out["at telomeres"] += len(alleles) - 1
            return None
        record_end = record_start + len(alleles[0])
        self._check_end(record, record_start, record_end)
        rows = self._rows_that_count(alleles, cells[FILTER])
        if not rows:
            return None

        frequencies = stated_frequencies(cells[INFO], self._frequencies, len(alleles))
        stated_count = sum(not math.isnan(frequency) for frequency in frequencies)
        is_counted = stated_count < len(alleles) - 1
        copies, called = self._genotypes.read(cells, len(alleles), is_counted)
        self._note_frequencies(stated_count > 0, called)
        site = Site(
            record=record,
            record_start=record_start,
            record_end=record_end,
            line_number=0 if self.is_by_index else self._line_number,
            alleles=alleles,
            spelled=spelled(alleles),
            frequencies=frequencies,
            copies=copies,
            called=called,
        )
        return site if len(rows) == len(alleles) - 1 else site.keep([0, *rows])

    def _note_frequencies(self, are_stated: bool, called: Words) -> None:
        """Take note of whether a line has frequencies in INFO, or genotypes to count.

        called: as Site has it. The first line shows whether a file is strange: it has neither, and
        the header does not name their key.
        """
        if self._has_key:
            return
        is_first = not self._has_lines
        self._has_lines = True
        self._has_key = are_stated
        self._has_frequencies |= are_stated or bool(called.any())
        info_keys = self.header.info_keys
        is_unknown = bool(info_keys) and self._given.af_key not in info_keys
        self._is_strange = is_first and is_unknown and not self.header.samples

    def _cut(self, line: bytes) -> InputError:
        """Return the InputError for a line with too few cells."""
        if line.startswith(b"#"):
            return InputError(
                "another VCF begins here; give each file with a --variants of its own, or join "
                "them with bcftools concat"
            )
        if len(line.split()) >= self.header.fewest_cells:
            return InputError(BLANKS)
        return InputError("the line is cut; copy or download the file again")

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
            self._last_start = -1
        if record_start < self._last_start:
            raise InputError(
                f"position {record_start + 1:,} comes after {self._last_start + 1:,}; {SORT_ADVICE}"
            )
        self._last_start = record_start
        return self._record_names[record], record_start

    def _check_end(self, record: str, record_start: int, record_end: int) -> None:
        """Raise InputError where REF ends behind its record."""
        record_length = self._record_lengths[record]
        if record_end > record_length:
            ref_length = record_end - record_start
            raise InputError(
                f"{record}:{record_start + 1:,} with {ref_length:,} letters is beyond the record, "
                f"which has {record_length:,}; is the file of another assembly?"
            )

    def _rows_that_count(self, alleles: list[bytes], filter_cell: bytes) -> list[int]:
        """Return the rows of the alleles of ALT that count, and take note of the others."""
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
    """Return the cells of a line. The last cell has everything behind the last tab."""
    return line.rstrip(b"\r\n").split(b"\t", most_tabs)


def alleles_of(cells: list[bytes]) -> list[bytes]:
    """Return the alleles of a line in upper case, REF first."""
    ref = cells[REF].upper()
    alts = cells[ALT].upper().split(b",")
    return [ref, *alts]


def spelled(alleles: list[bytes]) -> list[str]:
    """Return REF and ALT of each allele of a line as names have them, of REF itself nothing.

    More than LONG letters are written by their number, and where the line has as many in another
    ALT, by the number of this one too.

        REF A, ALT G and 24,001 letters     A:G  A:<INS:24000>
        REF 301 letters, ALT A              <DEL:300>:A
        REF 300 letters, ALT 24,001         <300>:<24001>
    """
    if max(map(len, alleles)) <= LONG:
        ref = text_of(alleles[0])
        return ["", *(f"{ref}:{text_of(alt)}" for alt in alleles[1:])]
    sizes = Counter(map(len, alleles[1:]))
    words = [""]
    for number, allele in enumerate(alleles[1:], 1):
        word = spelled_short(alleles[0], allele)
        is_one_of_several = len(allele) > LONG and sizes[len(allele)] > 1
        words.append(f"{word}#{number}" if is_one_of_several else word)
    return words


def spelled_short(ref: bytes, alt: bytes) -> str:
    """Return REF and ALT of an allele, where more than LONG letters are written by their number."""
    growth = len(alt) - len(ref)
    if len(ref) > LONG and len(alt) > LONG:
        return f"<{len(ref)}>:<{len(alt)}>"
    if len(ref) > LONG:
        return f"<DEL:{-growth}>:{text_of(alt)}"
    if len(alt) > LONG:
        return f"{text_of(ref)}:<INS:{growth}>"
    return f"{text_of(ref)}:{text_of(alt)}"


def frequency_pattern(key: str) -> re.Pattern[bytes]:
    """Return an expression that finds the frequencies in INFO by their key."""
    return re.compile(rb"(?:^|;)" + re.escape(key.encode()) + rb"=([^;]+)")


def stated_frequencies(info: bytes, pattern: re.Pattern[bytes], allele_count: int) -> list[float]:
    """Return the frequency that INFO has of each allele of a line, the reference first, NaN where
    it has none.

    pattern: of `frequency_pattern`. Raises InputError where a frequency is no number from 0 to 1.
    """
    frequencies = [NAN] * allele_count
    stated = pattern.search(info)
    if stated is None:
        return frequencies
    words = stated[1].split(b",")
    for row, word in enumerate(words[: allele_count - 1], 1):
        if word == b".":
            continue
        try:
            frequency = float(word)
        except ValueError:
            frequency = NAN
        if not 0 <= frequency <= MOST_AF:
            key = text_of(stated[0].partition(b"=")[0].lstrip(b";"))
            raise InputError(f"{key} is '{shown(text_of(word))}', and no number from 0 to 1")
        frequencies[row] = frequency
    return frequencies


def without_chr(names: Iterable[str]) -> set[str]:
    """Return names of records without the `chr` that some begin with."""
    return {name.removeprefix("chr") for name in names}
