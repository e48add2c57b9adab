"""Constants of a cost model that is linear in them, fitted to searches measured."""

from typing import NamedTuple

import numpy as np


class Cell(NamedTuple):
    """The factors of a model's constants in a search, and the nanoseconds measured.

    deeper: the factors by value of `deeper`, in a model that depends on it.
    """

    factors: list
    ns: float
    deeper: dict | None = None


def fit(cells):
    """The constants, none below 0, with the least squares of relative errors."""
    factors, ns = np.array([cell.factors for cell in cells], float), np.array([c.ns for c in cells])
    weighted = factors / ns[:, None]
    constants, used = np.zeros(factors.shape[1]), factors.any(0)
    while used.any():
        found = np.linalg.lstsq(weighted[:, used], np.ones(len(ns)), rcond=None)[0]
        if (found >= 0).all():
            constants[used] = found
            break
        used[np.flatnonzero(used)[np.argmin(found)]] = False
    return constants


def error(cells, constants):
    """The median relative error of constants, in per cent."""
    factors, ns = np.array([cell.factors for cell in cells], float), np.array([c.ns for c in cells])
    return float(np.median(np.abs(factors @ constants - ns) / ns) * 100)
