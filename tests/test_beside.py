"""Ends of scans beside PAMs: planes of where PAMs stand, against the letters."""

import numpy as np
import pytest
from support.commands import random_letters
from support.searches import aligned, edit

from kmatch.engine.cpu.beside import pam_planes
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.geometry import LANES_PER_WORD, SPARE, text_of
from kmatch.engine.types import Beside
from kmatch.search.panel import each_strand
from kmatch.search.query import Query
from kmatch.search.rules import rules_of, sought_of
from kmatch.sequences.patterns import load_patterns

HALO = 8
PATTERNS = ["ACGTT", "GGATC"]
COMPLEMENT = str.maketrans("ACGT", "TGCA")
SETS = {"N": "ACGT", "R": "AG", "V": "ACG", **{base: base for base in "ACGT"}}


def constraints_of(pams, side):
    """The Constraints of patterns beside PAMs."""
    query = Query("edit", load_patterns(["ACGTT"]), 1, pam=pams, pam_side=side)
    panel = each_strand(query.patterns, "both")
    return sought_of(panel, rules_of(query), np.array([1, 1])).constraints


def packed(letters, rows, words):
    """The Text of letters, with rows that a lane owns and words in a row."""
    planes = np.zeros(4 * (rows + HALO) * words + SPARE, np.uint64)
    text = text_of(planes, words, rows, HALO)
    CpuEngine(1).pack(np.frombuffer(bytearray(letters.encode()), np.uint8), text)
    return text


def has_pam(letters, position, pams, is_plus, leads):
    """Whether a PAM stands beside a position of a text, on a strand."""
    step = 1 if is_plus != leads else -1
    for pam in pams:
        word = pam[::-1] if leads else pam  # from the pattern on
        places = [position + step * number for number in range(1, len(word) + 1)]
        if min(places) < 0 or max(places) >= len(letters):
            continue
        bases = [letters[place] for place in places]
        if not is_plus:
            bases = [base.translate(COMPLEMENT) for base in bases]
        if all(base in SETS[letter] for base, letter in zip(bases, word, strict=True)):
            return True
    return False


@pytest.mark.parametrize(("pams", "side"), [(["NGG"], "3p"), (["TTV", "NR"], "5p"), (["G"], "3p")])
@pytest.mark.parametrize(("rows", "words", "shown"), [(9, 1, 577), (5, 2, 600), (40, 1, 2_568)])
def test_planes_have_all_positions_beside_a_pam(pams, side, rows, words, shown):
    """No position is left out, also where the text goes on behind what a chunk shows; of those
    whose PAM is seen no other one is there."""
    letters = random_letters(shown + 10, 3)
    text = packed(letters[:shown], rows, words)
    leads = side == "5p"
    planes = pam_planes(text, Beside(constraints_of(pams, side), shown))
    longest = max(map(len, pams))
    seen = 0
    for minus, plane in enumerate(planes.reshape(2, rows + HALO, words)):
        is_backward = bool(minus) != leads
        for row in range(rows + HALO):
            is_seen = row >= longest if is_backward else row < rows + HALO - longest
            for lane in range(LANES_PER_WORD * words):
                position = lane * rows + row
                if position >= shown:
                    continue
                word, bit = divmod(lane, LANES_PER_WORD)
                is_there = bool(int(plane[row, word]) >> bit & 1)
                expected = has_pam(letters, position, pams, not minus, leads)
                assert is_there or not expected
                if is_seen and (is_backward or position < shown - longest):
                    assert is_there == expected
                    seen += 1
    assert seen > shown


@pytest.mark.parametrize(("pam", "side"), [("NGG", "3p"), ("TTTV", "5p"), (("NG", "RAG"), "3p")])
@pytest.mark.parametrize("report", ["ends", "minima"])
@pytest.mark.parametrize(("size", "chunk_lengths"), [(900, (1, 7, 64, 333)), (60_000, (3_002,))])
def test_scans_beside_pams_find_what_is_found_without_planes(
    pam, side, report, size, chunk_lengths, monkeypatch
):
    """Ends near borders of chunks, whose PAM the next chunk shows, are found too."""
    records = [("a", random_letters(size, 5)), ("b", "ACGG"), ("c", random_letters(700, 6))]
    rules = {"pam": pam, "pam_side": side, "report": report, "way": "scan"}
    found = [
        aligned(edit(records, PATTERNS, 2, chunk_length=chunk_length, **rules))
        for chunk_length in chunk_lengths
    ]

    def ones(text, beside):
        return np.full((2, text.plane_words), ~np.uint64(0))

    monkeypatch.setattr("kmatch.engine.cpu.engine.pam_planes", ones)
    expected = aligned(edit(records, PATTERNS, 2, **rules))
    assert len(expected) > 15
    assert all(each == expected for each in found)
