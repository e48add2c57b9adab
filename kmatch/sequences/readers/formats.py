"""Formats that kmatch does not read: how to recognise them, and advice."""

import re

from kmatch.errors import InputError
from kmatch.sequences.readers.files import Source

SAM = rb"@(HD|SQ|RG|PG|CO)\t"
# How a file begins, what it is then, and what to do.
_OTHERS = [
    (rb"PK\x03\x04.{26}(\[Content|_rels|docProps|xl/|mimetype)", "a workbook", "save it as TSV"),
    (rb"PK\x03\x04", "a zip archive", "unpack it first"),
    (rb"BAM\x01", "BAM", "convert it to FASTA, as with samtools fasta"),
    (rb"CRAM", "CRAM", "convert it to FASTA, as with samtools fasta"),
    (SAM, "SAM", "convert it to FASTA, as with samtools fasta"),
    (rb"@[^\r\n]*\r?\n[A-Za-z.*-]+\r?\n\+", "FASTQ", "convert it to FASTA, as with seqkit fq2fa"),
    (rb"##gff-version", "GFF", "give the FASTA file that it belongs to"),
    (rb"##fileformat=VCF", "VCF", "give the FASTA file that it belongs to"),
    (rb"\s*<(!DOCTYPE|html|HTML|\?xml)", "a web page", "download the file itself"),
    (rb"ID   ", "EMBL", "convert it to FASTA, as with seqret"),
    (rb"%PDF", "PDF", "give a FASTA file"),
    (rb"\xff\xfe|\xfe\xff", "text in UTF-16", "save it as UTF-8"),
    (rb".{257}ustar", "a tar archive", "unpack it first"),
]
_START = 1 << 12  # bytes that are examined


def refuse_others(source: Source, wanted: str) -> None:
    """Raise InputError for a Source that begins like a file of another format."""
    if found := other_format(source):
        what, advice = found
        raise InputError(f"{source.label}: looks like {what}, not {wanted}; {advice}")


def other_format(source: Source) -> tuple[str, str] | None:
    """(format, advice) for what a Source looks like; None where it looks like none of these."""
    start = source.handle.peek(_START)
    for begin, what, advice in _OTHERS:
        if re.match(begin, start, re.DOTALL):
            return what, advice
    return None
