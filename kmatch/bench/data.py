"""Texts and patterns to search, random or real, the same ones in every run."""

from typing import NamedTuple

import numpy as np

from kmatch.errors import InputError
from kmatch.genome import Genome
from kmatch.sequences.alphabet import encode_text

SEED = 1
NEAR = 1 << 14  # patterns are cut from the first letters, so that a shorter text holds them too
TRIES = 100


class Case(NamedTuple):
    """What is searched: letters, uint8[n] of ASCII codes, for patterns within k.

    command: of kmatch; background: letters too, where primers of the letters are wanted.
    """

    command: str
    letters: np.ndarray
    patterns: list
    k: int
    background: np.ndarray | None = None

    def head(self, size):
        """The same with only the first letters of the text."""
        return self._replace(letters=self.letters[:size])

    @property
    def pairs(self):
        """Letters of text × patterns; for primers, × letters of background."""
        others = len(self.patterns) if self.background is None else len(self.background)
        return len(self.letters) * others

    @property
    def cells(self):
        """Letters of text × letters of all patterns; 0 for primers, whose matrices end early."""
        return len(self.letters) * sum(map(len, self.patterns))


def random_letters(count, seed=SEED):
    """uint8[count] of A, C, G and T."""
    codes = np.random.default_rng(seed).integers(0, 4, count, np.uint8)
    return np.frombuffer(b"ACGT", np.uint8)[codes]


def read_letters(path, count=None):
    """The first `count` letters of a genome file, or all, its records joined by an N each."""
    parts, length = [], 0
    for record in Genome(path, keep=False).records():
        parts += [record.letters, np.frombuffer(b"N", np.uint8)]
        length += len(record.letters) + 1
        if count is not None and length >= count:
            break
    letters = np.concatenate(parts)[:count]
    if not encode_text(letters).any():
        raise InputError(f"{path}: no letter is A, C, G or T; give another genome")
    return letters


def cut_patterns(letters, length, count, changes, seed=SEED):
    """Patterns cut from the beginning of a text, each with so many letters drawn anew.

    Raises InputError where the text is shorter than a pattern.
    """
    random = np.random.default_rng(seed)
    room = min(len(letters), NEAR) - length
    if room < 0:
        raise InputError(f"a text of {len(letters)} letters is too short for patterns of {length}")
    patterns = []
    for _ in range(count):
        for _ in range(TRIES):  # for a place without N
            at = random.integers(0, room + 1)
            pattern = letters[at : at + length].copy()
            if encode_text(pattern).all():
                break
        else:
            pattern = random_letters(length, seed)
        places = random.choice(length, min(changes, length), replace=False)
        pattern[places] = random_letters(len(places), seed + len(patterns) + 1)
        patterns.append(pattern.tobytes().decode("ascii").upper())
    return patterns


def make_case(command, letters, length, count, k):
    """The Case of a command for patterns cut from the letters with k changes."""
    return Case(command, letters, cut_patterns(letters, length, count, k), k)
