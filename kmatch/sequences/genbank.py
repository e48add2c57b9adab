"""GenBank, as Biopython reads it: for the sequences of records, and for their features."""

import io
import re
import warnings
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any, TypeVar

from kmatch.errors import InputError, shown
from kmatch.sequences.files import Source

LOCUS = b"LOCUS "  # begins a record
CIRCULAR = "circular"  # a word of LOCUS
_LOCUS_LINES = re.compile(rb"^LOCUS .*", re.MULTILINE)
_ENDING = 1 << 10  # last bytes of a file that are examined; blank lines may be among them
_NOTE = 200  # characters of Biopython's message that are shown
_NO_NAMES = ("", ".")
_CUT = "Premature end|Expected sequence length"  # in Biopython's warnings
_FILTERS = Lock()  # the process has one list of warning filters, and threads may read side by side
Taken = TypeVar("Taken")


def read_genbank(source: Source, take: Callable[[Any], Taken]) -> Iterator[Taken]:
    """Yield what is taken of each record of a GenBank file.

    take(record): is called with each SeqRecord. Biopython meets damage with errors of any class or
    a warning, and so may what is taken: any is an InputError that names the file.
    """
    from Bio import BiopythonWarning, SeqIO
    from Bio.Seq import UndefinedSequenceError

    data = source.handle.read()
    # Biopython accepts a file that is cut in the first line of a record.
    if not data[-_ENDING:].rstrip().endswith(b"\n//"):
        raise InputError(
            f"{source.label}: the genbank file is cut, since it does not end with '//'; "
            "copy or download it again"
        )
    name = ""
    try:
        text = io.TextIOWrapper(io.BytesIO(data), "utf-8", "surrogateescape")
        records = SeqIO.parse(text, "genbank")
        locus_lines = iter(_LOCUS_LINES.findall(data))
        while True:
            with _FILTERS, warnings.catch_warnings():
                warnings.simplefilter("ignore", BiopythonWarning)
                warnings.filterwarnings("error", message=_CUT)
                record = next(records, None)
            if record is None:
                return
            if _says_circular(next(locus_lines, b"")):
                record.annotations["topology"] = CIRCULAR
            name = name_of(record)
            yield take(record)
    except UndefinedSequenceError as error:
        raise InputError(
            f"{source.label}: record '{shown(name)}' holds no sequence; "
            "download the file with its sequence"
        ) from error
    except InputError:
        raise
    except Exception as error:
        reason = shown(str(error), _NOTE)
        advice = "copy or download it again"
        if "LOCUS" in reason:
            advice = "LOCUS has a name without blanks, a length, bp, DNA, a topology and a date"
        raise InputError(
            f"{source.label}: damaged or cut genbank file ({reason}); {advice}"
        ) from error


def _says_circular(locus_line: bytes) -> bool:
    """Return whether a line of LOCUS has the word behind the name.

    Biopython does not see it in a line without a division whose columns are not the standard's.
    """
    words = locus_line.decode("latin-1").lower().split()
    return CIRCULAR in words[2:]


def name_of(record: Any) -> str:
    """Return the name of a SeqRecord: its id, where that is none the first of ACCESSION that is a
    name, and otherwise that of LOCUS.

    VERSION .   ACCESSION pFA6   LOCUS pFA6a-kanMX6     pFA6
    VERSION .   ACCESSION .      LOCUS pFA6a-kanMX6     pFA6a-kanMX6
    """
    names = [record.id, *record.annotations.get("accessions", ()), record.name]
    return next((name for name in names if name not in _NO_NAMES), "")


def is_circular(record: Any) -> bool:
    """Return whether LOCUS says that a SeqRecord is a circle."""
    return bool(record.annotations.get("topology") == CIRCULAR)
