"""The files of variants: opened, and read record by record in the order of the genome.

    genome          chr1  chr2  chr3  chr4
    a.vcf           chr1        chr3            each record is in one file
    b.vcf                 chr2        chr4

A file in another order is read by its index, where it has one.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kmatch.errors import InputError, listed, shown
from kmatch.genome import Genome
from kmatch.results.lines import Names
from kmatch.sequences.files import StrPath, label_of, open_source
from kmatch.variants.genotypes import text_of
from kmatch.variants.lifting import Samples
from kmatch.variants.vcf import Site, VariantReader, Variants

INDEXES = (".tbi", ".csi")  # behind the name of a file
FIRST_BYTES = 1 << 24  # of lines that show in which order the records of a file are


class RecordSites(NamedTuple):
    """The sites of a record, in a file.

    number: of the record in the genome; reader: of the file.
    """

    number: int
    name: str
    reader: VariantReader
    sites: Iterator[Site]


class VariantFiles:
    """The files of Variants, opened: `readers` of them.

    stack: closes them; genome: has the records that are searched, in their order; others of its
    file are passed over. Raises InputError for files that are no VCF, that do not fit the genome or
    one another, and for samples that none has.
    """

    def __init__(self, stack: ExitStack, given: Variants, genome: Genome) -> None:
        self._names = list(genome.names)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        counts = Counter(self._names)
        self._repeated = {name for name, count in counts.items() if count > 1}
        whole = genome.whole
        lengths = dict(zip(whole.names, whole.lengths.tolist(), strict=True))
        self.readers: list[VariantReader] = []
        self._passed_over: set[VariantReader] = set()  # those of other records alone
        for path in given.paths:
            source = stack.enter_context(open_source(path))
            reader = VariantReader(source, given, lengths)
            self._put_in_order(stack, path, reader)
            self.readers.append(reader)
        self._samples = self._chosen(given)
        self._names_of_samples = Names(f",{name}" for name in self._samples)

    def samples_of(self, reader: VariantReader) -> Samples:
        """Return the samples of a file that are chosen, among those of all files."""
        number_of = {name: number for number, name in enumerate(self._samples)}
        numbers = [number_of[name] for name in reader.samples]
        return Samples(self._names_of_samples, np.array(numbers, np.int64))

    def records(self) -> Iterator[RecordSites]:
        """Yield the records that have sites, in the genome's order, to be read one by one.

        Raises InputError for a record that two files have, and for records in another order.
        """
        # The record that is next in each file.
        files = [self._records_of(reader) for reader in self.readers]
        following = [next(records, None) for records in files]
        while heads := [head for head in following if head is not None]:
            head = min(heads, key=lambda each: each.number)
            both = [each.reader.label for each in heads if each.number == head.number]
            if len(both) > 1:
                raise InputError(
                    f"'{head.name}' is in {both[0]} and in {both[1]}; give a record in one file"
                )
            yield head
            file_number = following.index(head)
            following[file_number] = next(files[file_number], None)

    def warn_of_left_out(self) -> None:
        """Warn of alleles that were left out."""
        for reader in self.readers:
            reader.warn_of_left_out(is_searched=reader not in self._passed_over)

    def _records_of(self, reader: VariantReader) -> Iterator[RecordSites]:
        """Yield the records that a file has sites in."""
        seen: list[str] = []
        is_passed_over = False
        for name, sites in groupby(reader.sites(), lambda site: site.record):
            if name not in self._numbers:
                is_passed_over = True  # a record that is not searched
                continue
            if name in self._repeated:
                raise InputError(
                    f"{reader.label}: two records of the genome or more are named "
                    f"'{shown(name)}', and alleles may be of any; rename them"
                )
            if seen and self._numbers[name] < self._numbers[seen[-1]]:
                raise self._misorder(reader.label, [*seen, name])
            seen.append(name)
            yield RecordSites(self._numbers[name], name, reader, sites)
        if is_passed_over and not seen:
            self._passed_over.add(reader)

    def _chosen(self, given: Variants) -> list[str]:
        """Return the samples of all files that are chosen. Raises InputError for others."""
        every = list(dict.fromkeys(chain(*(reader.header.samples for reader in self.readers))))
        missing = [name for name in given.samples or () if name not in every]
        if missing:
            have = "the files have" if len(self.readers) > 1 else "the file has"
            raise InputError(
                f"{given.label}: there is no sample {listed(missing)}; {have} "
                f"{listed(every) or 'none'}"
            )
        return every if given.samples is None else list(dict.fromkeys(given.samples))

    def _put_in_order(self, stack: ExitStack, path: StrPath, reader: VariantReader) -> None:
        """Have a reader read by the index of its file if its records are in another order."""
        contigs = [name for name in reader.header.contigs if name in self._numbers]
        if contigs and self._are_in_order(contigs):
            return
        if not is_plain_file(path):
            return
        by_index = opened_by_index(stack, path)
        most_bytes = None if contigs else FIRST_BYTES
        names = by_index.contigs if by_index else records_of_lines(path, most_bytes)
        names = [name for name in names if name in self._numbers]
        are_unsorted = len(set(names)) < len(names)
        if are_unsorted or self._are_in_order(names):
            return  # the reader says which line is out of order
        if by_index is None:
            raise self._misorder(reader.label, names)
        reader.is_by_index = True
        reader.lines = lines_by_index(by_index, sorted(names, key=self._numbers.__getitem__))

    def _are_in_order(self, names: list[str]) -> bool:
        """Return whether records come in the genome's order."""
        numbers = [self._numbers[name] for name in names]
        return numbers == sorted(numbers)

    def _misorder(self, label: str, names: list[str]) -> InputError:
        """Return the InputError for a file whose records are not in the genome's order."""
        in_order = sorted(set(names), key=self._numbers.__getitem__)
        return InputError(
            f"{label}: its records come as {listed(names)}, and in the genome as {listed(in_order)}"
            "; compress the file with bgzip and index it with tabix (pysam, the extra vcf, reads "
            "the index), or give a file a record, each with its own --variants"
        )


def is_plain_file(path: StrPath) -> bool:
    """Return whether a path names a file that can be read twice, and no pipe."""
    return str(path) != "-" and stat.S_ISREG(os.stat(path).st_mode)


def opened_by_index(stack: ExitStack, path: StrPath) -> Any:
    """Return a file opened by its index, a pysam.TabixFile; None without an index or pysam."""
    if not any(Path(f"{path}{ending}").exists() for ending in INDEXES):
        return None
    try:
        import pysam
    except ImportError:
        return None
    index = next(f"{path}{ending}" for ending in INDEXES if Path(f"{path}{ending}").exists())
    try:
        opened = pysam.TabixFile(str(path), index=index, encoding="latin-1")
    except (OSError, ValueError) as error:
        raise InputError(f"{label_of(path)}: its index cannot be read: {error}") from error
    return stack.enter_context(opened)


def lines_by_index(opened: Any, names: Iterable[str]) -> Iterator[bytes]:
    """Yield the lines of some records; opened: as `opened_by_index` returns it."""
    for name in names:
        for line in opened.fetch(name):
            yield line.encode("latin-1")


def records_of_lines(path: StrPath, most_bytes: int | None) -> list[str]:
    """Return the records of a VCF, as often as their lines begin anew.

    most_bytes: of the lines that are looked at, None for all.
    """
    names: list[bytes] = []
    byte_count = 0
    with open_source(path) as source:
        for line in source.handle:
            byte_count += len(line)
            if most_bytes is not None and byte_count > most_bytes:
                break
            if line.startswith(b"#") or line.isspace():
                continue
            name = line.partition(b"\t")[0]
            if not names or name != names[-1]:
                names.append(name)
    return [text_of(name) for name in names]
