"""Oracles for scores of sites, for annotation and for guides: everything, one by one."""

from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise
from math import prod

from kmatch.sequences.alphabet import IUPAC

COMPLEMENT = str.maketrans("ACGTN", "TGCAN")
COLUMNS = [
    line.split("\t")
    for line in files("kmatch.results").joinpath("cfd.tsv").read_text().splitlines()
    if not line.startswith("#")
]
PAMS = {site: float(weight) for kind, site, weight, *_ in COLUMNS if kind == "PAM"}
WEIGHTS = {
    (guide, site, position): float(weight)
    for guide, site, *weights in COLUMNS
    if guide != "PAM"
    for position, weight in enumerate(weights, 1)
    if weight
}
MIT = [0, 0, 14, 0, 0, 395, 317, 0, 389, 79, 445, 508, 613, 851, 732, 828, 615, 804, 685, 583]


def alignments(guide: str, text: str, most: int) -> Iterator[list[tuple[str, str, int]]]:
    """The differences of each alignment with at most so many: (letter of the guide, letter of the
    text, position), `-` for none; a letter of the text alone has the guide's letter before it."""

    def grow(i: int, j: int, found: list[tuple[str, str, int]]) -> Iterator[list]:
        if len(found) > most:
            return
        if i == len(guide) and j == len(text):
            yield found
        if i < len(guide) and j < len(text):
            same = guide[i] == text[j]
            yield from grow(i + 1, j + 1, found if same else [*found, (guide[i], text[j], i + 1)])
        if j < len(text):
            yield from grow(i, j + 1, [*found, ("-", text[j], i)])
        if i < len(guide):
            yield from grow(i + 1, j, [*found, (guide[i], "-", i + 1)])

    yield from grow(0, 0, [])


def cfd(guide: str, text: str, pam: str, distance: int, bulges: bool = True) -> float | None:
    """The greatest CFD of the alignments with this distance, None where none has one."""
    if len(guide) != 20 or set(guide + text + pam) - set("ACGT"):
        return None
    scores = [
        prod(WEIGHTS[each] for each in found) * PAMS[pam[-2:]]
        for found in alignments(guide, text, distance)
        if len(found) == distance
        and all(each in WEIGHTS for each in found)
        and (bulges or not any("-" in each for each in found))
    ]
    return max(scores, default=None)


def mit(guide: str, text: str) -> float | None:
    """Hsu's score of a site without bulges."""
    if len(guide) != 20 or len(text) != 20 or set(guide + text) - set("ACGT"):
        return None
    at = [i for i in range(20) if guide[i] != text[i]]
    score = 100 * prod(1 - MIT[i] / 1000 for i in at)
    if len(at) > 1:
        mean = sum(b - a for a, b in pairwise(at)) / (len(at) - 1)
        score *= 1 / ((19 - mean) / 19 * 4 + 1) / len(at) ** 2
    return score


def annotated(
    genes: list[tuple[int, int, str]],
    exons: list[tuple[int, int]],
    start: int,
    end: int,
    circle: int | None = None,
) -> tuple[str, str]:
    """The columns `gene` and `region` of a row; genes: (start, end, name); exons: (start, end)."""
    parts = (
        [(start, end)] if circle is None or end <= circle else [(start, circle), (0, end - circle)]
    )
    over = [
        name
        for part in parts
        for first, last, name in sorted(genes, key=lambda gene: gene[:2])
        if first < part[1] and part[0] < last
    ]
    in_exon = any(a < part[1] and part[0] < b for part in parts for a, b in exons)
    region = "exon" if in_exon else "intron" if over else "intergenic"
    return ",".join(dict.fromkeys(over)), region


def nearest(
    genes: list[tuple[int, int, str]], start: int, end: int, circle: int | None = None
) -> tuple[str, int]:
    """The nearest genes of a row, and how far they are; genes: (start, end, name), sorted."""
    over, _ = annotated(genes, [], start, end, circle)
    if over:
        return over, 0
    parts = (
        [(start, end)] if circle is None or end <= circle else [(start, circle), (0, end - circle)]
    )
    found: tuple[str, int] = ("", -1)
    for first, last in parts:
        far = [max(a - last, first - b) + 1 for a, b, _ in genes]
        if far and (found[1] < 0 or min(far) < found[1]):
            names = [gene[2] for gene, d in zip(genes, far, strict=True) if d == min(far)]
            found = ",".join(dict.fromkeys(names)), min(far)
    return found


def guides(
    records: list[tuple[str, str]], length: int, pams: list[str], side: str, circular: bool
) -> list[tuple[str, int, int, str, str, str]]:
    """(record, start, end, guide, PAM, strand) of each window of known letters beside a PAM."""
    found = []
    for name, forward in records:
        n = len(forward)
        for strand in "+-":
            text = forward if strand == "+" else forward[::-1].translate(COMPLEMENT)
            for guide_at in range(n):
                for pam in pams:
                    size = length + len(pam)
                    begin = guide_at - (len(pam) if side == "5p" else 0)
                    if size > n or (not circular and not 0 <= begin <= n - size):
                        continue
                    window = "".join(text[(begin + i) % n] for i in range(size))
                    at = len(pam) if side == "5p" else 0
                    guide = window[at : at + length]
                    beside = window[:at] if side == "5p" else window[length:]
                    if set(guide) <= set("ACGT") and all(
                        base in "ACGT" and IUPAC[letter] & IUPAC[base]
                        for letter, base in zip(pam, beside, strict=True)
                    ):
                        start = begin % n if strand == "+" else (n - begin - size) % n
                        found.append((name, start, start + size, guide, beside, strand))
                        break
    order = [name for name, _ in records]
    return sorted(found, key=lambda row: (order.index(row[0]), *row[1:3], row[5]))
