"""Words and numbers in pictures: names that fit, positions in bp, kbp or Mbp, counts."""

from typing import Any

from kmatch.errors import shown

LONGEST = 24  # characters of a name
GREY = "0.35"
_UNITS = ((10_000_000, 1_000_000, "Mbp"), (10_000, 1_000, "kbp"), (0, 1, "bp"))


def label(name: str, longest: int = LONGEST) -> str:
    """A name that fits: a long one loses its middle, and Matplotlib reads no formulas in it."""
    name = shown(name, 10_000).encode("utf-8", "replace").decode()
    if len(name) > longest:
        end = longest // 3
        name = f"{name[: longest - end - 1]}…{name[-end:]}"
    return name.replace("$", r"\$")


def unit_of(length: int) -> tuple[int, str]:
    """Letters in a unit of position, and its name, for an axis of so many letters."""
    return next((size, name) for least, size, name in _UNITS if length >= least)


def position_axis(axes: Any, length: int, what: str) -> None:
    """Have the x axis of axes in letters show bp, kbp or Mbp; what: its label."""
    size, name = unit_of(length)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / size:,.10g}")
    axes.set_xlabel(f"{what}, {name}", fontsize=9)
    axes.tick_params(axis="x", labelsize=8)


def letters(length: float) -> str:
    """A length in words: `820 bp`, `1.2 kbp`, `34 Mbp`."""
    size, name = next((s, n) for s, n in ((10**6, "Mbp"), (10**3, "kbp"), (1, "bp")) if length >= s)
    value = length / size
    return f"{value:,.0f} {name}" if value >= 100 or size == 1 else f"{value:.3g} {name}"


def short_count(count: int) -> str:
    """A count in at most five characters: `9876`, `12.3k`, `4.6M`."""
    for size, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= 10 * size or (count >= size and size > 1000):
            value = count / size
            return f"{value:.0f}{name}" if value >= 99.95 else f"{value:.1f}{name}"
    return str(count)


def counted(count: int, noun: str) -> str:
    """A count and its noun, in the plural unless it is 1."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
