"""Matplotlib's figures: shown by notebooks, saved whole or not at all, with the same bytes."""

import io
import os
import warnings
from functools import cache
from typing import Any

from kmatch.errors import OutputError
from kmatch.pictures.words import GREY

WIDTH = 9.0  # inches
DOTS = 150  # an inch, in PNG and where vector formats hold pixels
_ON_SCREEN = 90  # an inch, in notebooks
_NO_DATE = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
_STYLE = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "kmatch",
    "pdf.fonttype": 42,  # as journals want it
}


def load_figure(asker: str = "a picture") -> Any:
    """Matplotlib's class Figure; asker: what needs it. Raises OutputError where it is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise OutputError(
            f"{asker} needs Matplotlib; install it with: pip install matplotlib"
        ) from error
    return Figure


def new_figure(height: float) -> Any:
    """An empty Figure of `height` inches that notebooks show, with or without pyplot."""
    return _picture_class()(figsize=(WIDTH, height), dpi=DOTS, layout="constrained")


def nothing(words: str) -> Any:
    """A Figure that only says so."""
    figure = new_figure(1.5)
    axes = figure.subplots()
    axes.text(0.5, 0.5, words, ha="center", va="center", fontsize=14, color=GREY)
    axes.set_axis_off()
    return figure


@cache
def _picture_class() -> Any:
    base = load_figure()

    class Picture(base):  # type: ignore[misc, valid-type]  # known once Matplotlib is loaded
        """A Matplotlib Figure that shows itself in a notebook."""

        def _repr_png_(self) -> bytes:
            handle = io.BytesIO()
            save(self, handle, "png", _ON_SCREEN)
            return handle.getvalue()

    return Picture


def save(figure: Any, handle: Any, form: str, dots: int = DOTS) -> None:
    """Write a Figure to a binary handle as `png`, `svg` or `pdf`; dots: an inch."""
    from matplotlib import rc_context

    with rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # a box stands for the letter
        figure.savefig(handle, format=form, dpi=dots, metadata=_NO_DATE[form])


def write_figure(figure: Any, path: str | os.PathLike[str], form: str) -> None:
    """Write a Figure to a path, whole or not at all, or for `-` to standard output."""
    from kmatch.results.output import open_output

    with open_output(path) as file:
        buffer = io.BytesIO()  # which can be sought in, as some formats need it
        save(figure, buffer, form)
        file.write(buffer.getvalue())
