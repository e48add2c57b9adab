"""Slow and obvious: the barcode of each read, out of every site of every barcode."""

from typing import NamedTuple

import naive


class Read(NamedTuple):
    """A row of the table of `demux`, as numbers and names, None where there is none."""

    status: str
    barcode: str | None = None
    distance: int | None = None
    strand: str | None = None
    start: int | None = None
    end: int | None = None
    second: str | None = None
    second_distance: int | None = None


def sites(text, patterns, k, edit, within=None):
    """All sites (start, end, pattern, distance, strand) in a read, by numbers.

    within: + is searched in the first letters, - in the last ones, as if there were no others.
    """
    find = naive.hamming if not edit else lambda *given: naive.edit(*given[:3], "loci", given[3])
    found = []
    for strand in "+-":
        begin, part = 0, text
        if within is not None:
            begin = 0 if strand == "+" else max(len(text) - within, 0)
            part = text[begin:][:within]
        for _, start, end, pattern, distance, sign, *_ in find([("", part)], patterns, k, strand):
            found.append((begin + start, begin + end, pattern, distance, sign))
    return found


def demux(text, barcodes, ks, edit=False, within=None, margin=1):
    """The Read of a text.

    barcodes: (name, pattern) in order; ks: the most differences of each pattern.
    """
    names = list(dict.fromkeys(name for name, _ in barcodes))
    patterns = [pattern for _, pattern in barcodes]
    found = []
    for site in sites(text, patterns, max(ks) + margin - 1, edit, within):
        start, end, pattern, distance, strand = site
        # The outermost is the first on +, and the last on -.
        outer = (start, end) if strand == "+" else (-end, -start)
        name = names.index(barcodes[pattern][0])
        found.append(((distance, name, "+-".index(strand), outer), site))
    near = [each for each in found if each[1][3] <= ks[each[1][2]]]
    if not near:
        return Read("unassigned")
    (distance, name, *_), (start, end, _, _, strand) = min(near)
    others = [key for key, _ in found if key[1] != name]
    second = min(others, default=(None, None))
    is_near = bool(others) and second[0] - distance < margin
    status = "ambiguous" if is_near else "assigned"
    other = names[second[1]] if others else None
    return Read(status, names[name], distance, strand, start, end, other, second[0])


def kept(read, length):
    """The first letter of a read that --trim leaves, and the one behind the last.

    +  ····[barcode]■■■■■■■■■      -  ■■■■■■■■■[barcode]····
    """
    if read.status != "assigned":
        return 0, length
    return (read.end, length) if read.strand == "+" else (0, read.start)


def table(names, lengths, reads):
    """The TSV of reads, whole."""
    lines = ["read\tlength\tstatus\tbarcode\tdistance\tstrand\tstart\tend\tsecond\tsecond_distance"]
    for name, length, read in zip(names, lengths, reads, strict=True):
        cells = ["" if cell is None else str(cell) for cell in read]
        lines.append("\t".join([name, str(length), *cells]))
    return "".join(f"{line}\n" for line in lines)


def summary(barcodes, k, reads):
    """The TSV of how many reads each barcode has by distance, whole."""
    lines = ["\t".join(["barcode", *(f"d{d}" for d in range(k + 1)), "total"])]
    for name in dict.fromkeys(name for name, _ in barcodes):
        mine = [r.distance for r in reads if r.status == "assigned" and r.barcode == name]
        lines.append("\t".join(map(str, [name, *map(mine.count, range(k + 1)), len(mine)])))
    for status in ("ambiguous", "unassigned"):
        mine = [read.distance for read in reads if read.status == status]
        cells = map(mine.count, range(k + 1)) if status == "ambiguous" else [""] * (k + 1)
        lines.append("\t".join(map(str, [status, *cells, len(mine)])))
    return "".join(f"{line}\n" for line in lines)
