"""SAM and GFF3, slowly, out of the rows of TSV."""

import re
from urllib.parse import quote

BASES = dict(zip("ACGTRYSWKMBDHVN", "TGCAYRSWMKVHDBN", strict=True))


def columns_of(cigar):
    """The columns of a CIGAR, one letter each."""
    return "".join(op * int(size) for size, op in re.findall(r"(\d+)([=XID])", cigar))


def runs_of(columns):
    """The CIGAR of columns."""
    return "".join(f"{len(run[0])}{run[1]}" for run in re.finditer(r"(.)\1*", columns))


def read_of(columns, pattern, match):
    """The letters of a read in the pattern's direction."""
    letters, bases, read = list(pattern.upper().replace("U", "T")), list(match), ""
    for op in columns:
        letter = letters.pop(0) if op != "D" else ""
        base = bases.pop(0) if op != "I" else ""
        read += base if op == "=" else letter
    assert not letters and not bases
    return read


def sam_row(row, sequence):
    """The SAM line of a TSV row, whose pattern, PAM and all, is `sequence`."""
    record, start, _, name, distance, strand, cigar, match = row
    columns = columns_of(cigar)
    read = read_of(columns, sequence, match)
    if strand == "-":
        columns = columns[::-1]
        read = "".join(BASES[letter] for letter in reversed(read))
    name = re.sub(r"[^!-?A-~]", "_", name)[:254]
    flag = 16 if strand == "-" else 0
    edits = sum(op != "=" for op in columns)
    cells = [name, flag, record, int(start) + 1, 255, runs_of(columns), "*", 0, 0, read, "*"]
    return "\t".join(map(str, [*cells, f"NM:i:{edits}", f"kd:i:{distance}"]))


def gff3_row(number, row, length):
    """The GFF3 line of a TSV row of a pattern of `length` letters."""
    record, start, end, name, distance, strand, cigar, _ = row
    score = round(1000 * (1 - int(distance) / length))
    name = "".join(quote(c, safe="") if c in "%;=&,\t" else c for c in name)
    values = f"ID=hit{number};Name={name};distance={distance};cigar={cigar}"
    cells = [quote(record, safe=".:^*$@!+_?-|"), "kmatch", "nucleotide_match", int(start) + 1, end]
    return "\t".join(map(str, [*cells, score, strand, ".", values]))
