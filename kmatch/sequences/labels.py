"""Letters of oligos as they are ordered: with dyes and quenchers around them, and blanks."""

import re
from collections.abc import Iterable

from kmatch.sequences.alphabet import IUPAC

SHORTEST = 8  # letters of an oligo in a file

# A dash parts a label from the letters, or brackets hold it, at either end.
_DASHES = "-‐‑‒–—−"
_PRIMES = "'’′‘´`"
_AT_DASH = rf"([^{_DASHES}()\[\]{{}}/]*)"
_IN_BRACKETS = r"[(\[{]([^()\[\]{}]*)[)\]}]"
_LABELS_5P = (
    rf"^\s*{_AT_DASH}[{_DASHES}]",  # FAM-
    rf"^\s*{_IN_BRACKETS}",  # (FAM)
    rf"^\s*(5\s*[{_PRIMES}])",  # 5'
)
_LABELS_3P = (
    rf"[{_DASHES}]{_AT_DASH}$",
    rf"{_IN_BRACKETS}\s*$",
    rf"(3\s*[{_PRIMES}])\s*$",
)
_CODE = "/([^/]*)/"  # /56-FAM/, anywhere
_MOST_LABELS = 20  # of an oligo
_INNER_CODE = "i"  # begins IDT's codes of bases that are modified: these stand for a letter

_LIKE_BASES = ("VIC", "MGB", "TAMRA", "SUN", "ABY", "DIG")  # labels whose letters are all bases
LETTERS = frozenset([*IUPAC, "I"])  # of oligos; inosine pairs with any base
_FOUR_BASES = "[ACGTU]{4}"
_OLIGO = re.compile(f"[{''.join(LETTERS)}]{{{SHORTEST},}}", re.IGNORECASE | re.ASCII)


def is_oligo(text: str) -> bool:
    """Return whether a text has the letters of an oligo, with labels or without."""
    letters, _ = without_labels(text)
    return _OLIGO.fullmatch(letters) is not None


def without_labels(text: str) -> tuple[str, list[str]]:
    """Return (letters, labels): the letters of an oligo, and the labels taken off, as written.

    5'-FAM-ACG TTG CAG /ZEN/ TCC ATT-BHQ1-3'
           ACG TTG CAG       TCC ATT
    """
    if text.isalpha():
        return text, []
    labels: list[str] = []

    def without_code(found: re.Match[str]) -> str:
        if found[1].startswith(_INNER_CODE) or not _is_label(found[1]):
            return found[0]
        labels.append(found[0])
        return ""

    text = re.sub(_CODE, without_code, text)
    text = _without_ends(text, _LABELS_5P, labels)
    text = _without_ends(text, _LABELS_3P, labels)
    return "".join(text.split()), labels


def _without_ends(text: str, forms: Iterable[str], labels: list[str]) -> str:
    """Return a text without the labels at one end, which are added to `labels`."""
    while len(labels) < _MOST_LABELS:
        label = _label_at_end(text, forms)
        if label is None:
            break
        labels.append(label[0].strip())
        text = text[: label.start()] + text[label.end() :]
    return text


def _label_at_end(text: str, forms: Iterable[str]) -> re.Match[str] | None:
    """Return where a text has a label of the first form that fits, or None."""
    for form in forms:
        found = re.search(form, text)
        if found and _is_label(found[1]):
            return found
    return None


def _is_label(text: str) -> bool:
    """Return whether a text at a dash, in brackets or between slashes is no part of the oligo.

    A label has a character that no oligo has, and no four bases in a row: a letter that was
    mistyped does not make a label of a piece of the oligo. Nothing at all is a label too.
    """
    word = "".join(text.split()).upper()
    if not word or word in _LIKE_BASES:
        return True
    has_odd_letter = any(letter not in LETTERS for letter in word)
    return has_odd_letter and not re.search(_FOUR_BASES, word)
