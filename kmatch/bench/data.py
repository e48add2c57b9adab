"""Texts and patterns to search, random or real, the same in every run."""

from typing import NamedTuple, Self

import numpy as np

from kmatch.arrays import Bytes
from kmatch.errors import InputError
from kmatch.genome import Genome
from kmatch.sequences.alphabet import encode_text

SEED = 1
NEAR = 1 << 14  # patterns come from the first letters, so that a shorter text holds them too
TRIES = 100


class Case(NamedTuple):
    """A search: a text, ASCII letters, for patterns within k.

    command: of kmatch; background: letters of the background where the text is a target of primers.
    """

    command: str
    letters: Bytes
    patterns: list[str]
    k: int
    background: Bytes | None = None

    def head(self, size: int) -> Self:
        """The same search in the first letters of the text."""
        return self._replace(letters=self.letters[:size])

    @property
    def pairs(self) -> int:
        """Letters of text × patterns; for primers, × letters of background."""
        others = len(self.patterns) if self.background is None else len(self.background)
        return len(self.letters) * others

    @property
    def cells(self) -> int:
        """Letters of text × letters of all patterns; 0 for primers, whose matrices end early."""
        return len(self.letters) * sum(map(len, self.patterns))


def random_letters(count: int, seed: int = SEED) -> Bytes:
    """Independent letters A, C, G and T, each as often as the others."""
    codes = np.random.default_rng(seed).integers(0, 4, count, np.uint8)
    letters: Bytes = np.frombuffer(b"ACGT", np.uint8)[codes]
    return letters


def read_letters(path: str, count: int | None = None) -> Bytes:
    """The first `count` letters of a genome file, or all of them, with an N after each record."""
    parts: list[Bytes] = []
    length = 0
    for record in Genome(path, keep=False).records():
        parts += [np.asarray(record.letters), np.frombuffer(b"N", np.uint8)]
        length += len(record.letters) + 1
        if count is not None and length >= count:
            break
    letters = np.concatenate(parts)[:count]
    if not encode_text(letters).any():
        raise InputError(f"{path}: no letter is A, C, G or T; give another genome")
    return letters


def cut_patterns(
    letters: Bytes, length: int, count: int, changes: int, seed: int = SEED
) -> list[str]:
    """Patterns cut from the beginning of a text, with `changes` letters of each drawn anew.

    Raises InputError where the text is shorter than a pattern.
    """
    random = np.random.default_rng(seed)
    last = min(len(letters), NEAR) - length
    if last < 0:
        raise InputError(f"a text of {len(letters)} letters is too short for patterns of {length}")
    patterns: list[str] = []
    for _ in range(count):
        for _ in range(TRIES):  # for a window without N
            at = random.integers(0, last + 1)
            pattern = letters[at : at + length].copy()
            if encode_text(pattern).all():
                break
        else:
            pattern = random_letters(length, seed)
        changed = random.choice(length, min(changes, length), replace=False)
        pattern[changed] = random_letters(len(changed), seed + len(patterns) + 1)
        patterns.append(pattern.tobytes().decode("ascii").upper())
    return patterns


def make_case(command: str, letters: Bytes, length: int, count: int, k: int) -> Case:
    """The Case of a command for patterns cut from the letters with k changes."""
    return Case(command, letters, cut_patterns(letters, length, count, k), k)


def fasta_lines(letters: Bytes, width: int = 60, newline: bytes = b"\n") -> bytes:
    """Letters in lines of one width."""
    whole = len(letters) - len(letters) % width
    lines = np.empty((whole // width, width + len(newline)), np.uint8)
    lines[:, :width] = letters[:whole].reshape(-1, width)
    lines[:, width:] = np.frombuffer(newline, np.uint8)
    rest = letters[whole:].tobytes() + newline if whole < len(letters) else b""
    return lines.tobytes() + rest
