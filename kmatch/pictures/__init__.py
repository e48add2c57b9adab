"""Pictures of tables, drawn by Matplotlib: shown by notebooks, or saved to files.

Files are whole or absent, and have the same bytes each time. Here are figures, and words and
numbers in them.
"""

import io
import warnings
from functools import partial
from typing import Any

from kmatch.errors import needed, shown

FORMATS = ("png", "svg", "pdf")
WIDTH = 9.0  # inches
GREY = "0.35"
SCALE = "viridis_r"  # of colours: the more, the darker
LONGEST = 32  # characters of a name
_DOTS = 150  # an inch, in PNG and where vector formats hold pixels
_ON_SCREEN = 90  # an inch, in notebooks
_NO_DATE = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
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
    """Matplotlib's class Figure; asker: what needs it. Raises OutputError where it is missing."""
    return needed("matplotlib.figure", asker, "Matplotlib").Figure


def new_figure(height: float, title: str = "") -> Any:
    """An empty Figure of `height` inches that notebooks show, with or without pyplot."""
    figure = load_figure()(figsize=(WIDTH, height), dpi=_DOTS, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left")
    figure._repr_png_ = partial(saved, figure, "png", _ON_SCREEN)
    return figure


def nothing(words: str) -> Any:
    """A Figure that only says so."""
    figure = new_figure(1.5)
    axes = figure.subplots()
    axes.text(0.5, 0.5, words, ha="center", va="center", fontsize=14, color=GREY)
    axes.set_axis_off()
    return figure


def saved(figure: Any, form: str, dots: int = _DOTS) -> bytes:
    """The bytes of a Figure as `png`, `svg` or `pdf`; dots: an inch."""
    from matplotlib import rc_context

    handle = io.BytesIO()
    with rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # a box stands for the letter
        figure.savefig(handle, format=form, dpi=dots, metadata=_NO_DATE[form])
    return handle.getvalue()


def label(name: str, longest: int = LONGEST) -> str:
    """A name that fits: a long one loses its middle, and Matplotlib reads no formulas in it."""
    name = shown(name, 10_000).encode("utf-8", "replace").decode()
    if len(name) > longest:
        end = longest // 3
        name = f"{name[: longest - end - 1]}…{name[-end:]}"
    return name.replace("$", r"\$")


def short(number: float, unit: str = "") -> str:
    """A number in few characters: `12.3k`, with the unit bp `820 bp` or `1.2 kbp`."""
    from matplotlib.ticker import EngFormatter

    return str(EngFormatter(unit, sep=" " if unit else "")(float(f"{number:.3g}")))


def position_axis(axes: Any, what: str) -> None:
    """Have the x axis of axes in letters show bp, kbp or Mbp; what: its label."""
    from matplotlib.ticker import EngFormatter

    axes.xaxis.set_major_formatter(EngFormatter("bp"))
    axes.set_xlabel(what)
