"""The header of a VCF: its samples, the records that it names, and its keys of INFO."""

import re
from collections import Counter
from typing import NamedTuple

from kmatch.errors import InputError, listed
from kmatch.sequences.files import Source
from kmatch.variants.genotypes import text_of

GENOTYPES = 9  # columns before those of samples
CONTIG = re.compile(rb"##contig=<.*?ID=([^,>]+)(?:.*?length=(\d+))?")
INFO_KEY = re.compile(rb"##INFO=<ID=([^,>]+)")
LINE_OF_COLUMNS = b"#CHROM"
BLANKS = (
    "blanks stand between the columns, where VCF has tabs; put them back, as with "
    r"sed -E 's/ +/\t/g'"
)
# What looks like a frequency among keys of INFO, such as AF_joint, MAF and FREQ.
FREQUENCY_KEY = re.compile(r"AF(_|$)|FREQ", re.IGNORECASE)


class Header(NamedTuple):
    """The header of a VCF.

    samples: their names; contigs: the letters of the records that it names, None where it does not
    say; info_keys: the keys of INFO; line_count: its lines.
    """

    samples: list[str]
    contigs: dict[str, int | None]
    info_keys: list[str]
    line_count: int

    @property
    def fewest_cells(self) -> int:
        """The cells that a line of the file has at the least."""
        return GENOTYPES + 1 if self.samples else GENOTYPES - 1

    @property
    def frequency_keys(self) -> list[str]:
        """The keys of INFO that look like a frequency."""
        return [key for key in self.info_keys if FREQUENCY_KEY.search(key)]


def read_header(source: Source) -> Header:
    """Return the Header of an open VCF, and leave the lines of alleles to be read.

    Raises InputError for what is no VCF.
    """
    contigs: dict[str, int | None] = {}
    info_keys: list[str] = []
    is_vcf = source.head.startswith(b"##fileformat=VCF"[: len(source.head)])
    for number, line in enumerate(source.handle, 1):
        if line.startswith(LINE_OF_COLUMNS):
            samples = samples_of(line, source.label)
            return Header(samples, contigs, info_keys, number)
        if line.strip() and not line.startswith(b"##"):
            break
        if found := CONTIG.match(line):
            contigs[text_of(found[1])] = int(found[2]) if found[2] else None
        elif found := INFO_KEY.match(line):
            info_keys.append(text_of(found[1]))
    if is_vcf:
        raise InputError(f"{source.label}: the VCF has no line #CHROM; copy or download it again")
    what = "BCF; convert it with bcftools view -Oz" if b"BCF" in source.head else "no VCF"
    raise InputError(f"{source.label}: it is {what}")


def samples_of(line: bytes, label: str) -> list[str]:
    """Return the names of samples in the line #CHROM.

    Raises InputError where it has no tabs, and where two samples have one name.
    """
    cells = line.rstrip().split(b"\t")
    if len(cells) == 1 and len(line.split()) > 1:
        raise InputError(f"{label}: {BLANKS}")
    names = [text_of(name) for name in cells[GENOTYPES:]]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(
            f"{label}: #CHROM names two samples or more {listed(repeated)}; rename one"
        )
    return names
