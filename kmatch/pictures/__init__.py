"""Pictures of tables, drawn by Matplotlib: shown by notebooks, or saved to files.

Files are whole or absent, and have the same bytes each time. Here are figures, and words and
numbers in them.
"""

import io
import re
import warnings
from functools import partial
from typing import Any, NamedTuple

from kmatch.errors import needed, shown

FORMATS = ("png", "svg", "pdf")
WIDTH = 9.0  # inches
TALLEST = 12.0  # inches of a picture whose size nobody asked for
GREY = "0.35"
MANY = 20_000  # marks, above which they are pixels in all formats
LONGEST = 32  # characters of a name
DOTS = 150  # an inch, in PNG and where vector formats hold pixels
_ON_SCREEN = 90  # an inch, in notebooks
_NO_DATE = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
_CLIP = re.compile(rb'<clipPath id="(p[0-9a-f]{10})"')
_CLIPPED = re.compile(rb'(<clipPath id="|clip-path="url\(#)(p[0-9a-f]{10})')
STYLE = {
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": GREY,
    "axes.titlelocation": "right",
    "axes.titlesize": 8,
    "figure.titlesize": 11,
    "font.size": 8,
    "legend.frameon": False,
    "legend.handlelength": 1,
    "pdf.fonttype": 42,  # as journals want it
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "kmatch",
}


def load_figure(asker: str = "a picture") -> Any:
    """Return Matplotlib's class Figure; asker: the part that needs it. Raises OutputError where it
    is missing."""
    return needed("matplotlib.figure", asker, "Matplotlib").Figure


class Size(NamedTuple):
    """The size of a picture, in inches."""

    width: float
    height: float


def page_size(height: float, asked: Size | None = None) -> Size:
    """Return the size that is asked for, or one for a drawing of `height` inches, on a page."""
    return asked or Size(WIDTH, min(height, TALLEST))


def new_figure(size: Size, title: str = "") -> Any:
    """Return an empty Figure that notebooks show, with or without pyplot."""
    figure = load_figure()(figsize=size, dpi=DOTS, layout="constrained")
    figure.suptitle(label(title, 10_000), x=0.01, ha="left")
    figure._repr_png_ = partial(saved, figure, "png", _ON_SCREEN)
    return figure


def nothing(words: str) -> Any:
    """Return a Figure that only says so."""
    figure = new_figure(Size(WIDTH, 1.5))
    axes = figure.subplots()
    axes.text(0.5, 0.5, words, ha="center", va="center", fontsize=14, color=GREY)
    axes.set_axis_off()
    return figure


def saved(figure: Any, form: str, dots: int = DOTS) -> bytes:
    """Return the bytes of a Figure as `png`, `svg` or `pdf`; dots: an inch."""
    from matplotlib import rc_context

    handle = io.BytesIO()
    with rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # a box stands for the letter
        warnings.filterwarnings("ignore", "constrained_layout not applied")  # for want of space
        figure.savefig(handle, format=form, dpi=dots, metadata=_NO_DATE[form])
    return _clips_numbered(handle.getvalue()) if form == "svg" else handle.getvalue()


def _clips_numbered(svg: bytes) -> bytes:
    """Return SVG whose clips are named by their numbers.

    Matplotlib names them by all digits of their corners, and the last digit varies.
    """
    names = _CLIP.findall(svg)
    numbers = {name: b"clip%d" % number for number, name in enumerate(names)}
    return _CLIPPED.sub(lambda found: found[1] + numbers.get(found[2], found[2]), svg)


def label(name: str, longest: int = LONGEST) -> str:
    """Return a name that fits: a long one loses its middle, and Matplotlib reads no formulas in
    it."""
    name = shown(name, 10_000).encode("utf-8", "replace").decode()
    if len(name) > longest:
        end = longest // 3
        name = f"{name[: longest - end - 1]}…{name[-end:]}"
    return name.replace("$", r"\$")


def short(number: float, unit: str = "") -> str:
    """Return a number in few characters: `12.3k`, with the unit bp `820 bp` or `1.2 kbp`."""
    from matplotlib.ticker import EngFormatter

    return str(EngFormatter(unit, sep=" " if unit else "")(float(f"{number:.3g}")))


def position_axis(axes: Any, what: str) -> None:
    """Have the x axis of axes in letters show bp, kbp or Mbp; what: the label."""
    from matplotlib.ticker import EngFormatter

    axes.xaxis.set_major_formatter(EngFormatter("bp"))
    axes.set_xlabel(what)
