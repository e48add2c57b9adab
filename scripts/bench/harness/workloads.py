"""Texts to search, panels of patterns cut out of them, and FASTA files.

A text is letters in memory, random ones or those of a file's record. A panel is a list of
sequences.
"""

import random
from typing import NamedTuple

import numpy as np

import kmatch
from kmatch.bench import random_letters
from kmatch.sequences.patterns import load_patterns

LETTERS = np.frombuffer(b"ACGT", np.uint8)
COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")
SEED = 20
WORD = 12  # letters of the words by which repeats are found
REPEATED = 50_000  # letters of text for each occurrence of a word, at most, that make it a repeat
FEWEST = 10  # occurrences of a repeat's word in a short text
TRIES = 400  # windows drawn for each one wanted


class Text(NamedTuple):
    """ASCII letters to search, uint8[n], and a name for them."""

    name: str
    letters: np.ndarray


def random_text(length, seed=SEED):
    """Independent letters, each as often as the others."""
    return Text("random letters", random_letters(length, seed))


def file_text(path, length=None):
    """The first letters A, C, G and T of a file's first record, in which all tools agree."""
    record = next(iter(kmatch.Genome(path, keep=False).records()))
    letters = record.letters & 0xDF  # upper case
    return Text(record.name, letters[np.isin(letters, LETTERS)][:length])


def file_panel(path):
    """The sequences of a file of patterns."""
    return load_patterns(path).sequences


def cut_panel(text, count, length=20, seed=SEED):
    """Windows of a text without N, at random positions and on random strands."""
    return _cut(text, count, (length, 0), seed, lambda window: True)


def guide_panel(text, count, length=20, seed=SEED):
    """Windows of both strands that stand before NGG; the PAM is not part of them."""
    return _cut(text, count, (length, 3), seed, _is_guide)


def repeat_guide_panel(text, count, length=20, seed=SEED):
    """Windows before NGG that hold a word of a repeat of the text."""
    strands = (text.letters, _reverse_complement(text.letters))
    counts = sum(np.bincount(_words(letters), minlength=4**WORD) for letters in strands)
    common = counts > max(len(text.letters) / REPEATED, FEWEST)

    def touches(window):
        letters = np.frombuffer(window[:length], np.uint8)
        return _is_guide(window) and bool(common[_words(letters)].any())

    return _cut(text, count, (length, 3), seed, touches)


def _is_guide(window):
    return window.endswith(b"GG")


def _reverse_complement(letters):
    return np.frombuffer(letters.tobytes().translate(COMPLEMENT), np.uint8)[::-1]


def _words(letters):
    """Codes of all words without N, int64."""
    codes = np.full(256, -(4**WORD), np.int64)
    codes[LETTERS] = np.arange(4)
    digits = codes[letters]
    count = max(len(letters) - WORD + 1, 0)
    words = np.zeros(count, np.int64)
    for i in range(WORD):
        words = 4 * words + digits[i : i + count]
    return words[words >= 0]


def _cut(text, count, lengths, seed, wanted):
    """Different windows at random positions and on random strands.

    lengths: letters of a window, and letters after it that `wanted` sees too.
    """
    length, beyond = lengths
    rng, found = random.Random(seed), {}
    letters = text.letters.tobytes()
    for _ in range(TRIES * count):
        at = rng.randrange(max(len(letters) - length - beyond, 0) + 1)
        window = letters[at : at + length + beyond]
        if rng.random() < 0.5:
            window = window.translate(COMPLEMENT)[::-1]
        if len(window) == length + beyond and not window.strip(b"ACGT") and wanted(window):
            found[window[:length].decode()] = None
            if len(found) == count:
                return list(found)
    raise TooFew(f"{text.name}: only {len(found)} of {count} windows of {length} letters")


class TooFew(ValueError):
    """A text has no such panel."""


def cut_pairs(text, count, length=20, product=(100, 1000), seed=SEED):
    """Pairs of primers, each at the ends of a product of the text."""
    rng, pairs = random.Random(seed), []
    while len(pairs) < count:
        at = rng.randrange(len(text.letters) - product[1])
        whole = text.letters[at : at + rng.randrange(*product)].tobytes()
        back = whole[-length:].translate(COMPLEMENT)[::-1]
        pairs.append((whole[:length].decode(), back.decode()))
    return pairs


def barcodes(count, length=24, seed=SEED):
    """Random barcodes."""
    rng = random.Random(seed)
    return ["".join(rng.choices("ACGT", k=length)) for _ in range(count)]


def write_reads(path, text, barcodes, count, seed=SEED):
    """Write FASTQ of reads as nanopores give them: of either strand, of 4,000 letters on average,
    one in twenty of which is wrong, an adapter and one of the barcodes in front."""
    rng = random.Random(seed)
    letters = text.letters.tobytes().decode()
    with open(path, "w") as handle:
        for number in range(count):
            length = min(int(rng.gammavariate(4, 1000)), len(letters))
            start = rng.randrange(len(letters) - length + 1)
            adapter = "".join(rng.choices("ACGT", k=rng.randrange(5, 40)))
            whole = f"{adapter}{rng.choice(barcodes)}AGGTTAA{letters[start : start + length]}"
            read = _misread(whole, rng).encode()
            if rng.random() < 0.5:
                read = read.translate(COMPLEMENT)[::-1]
            handle.write(f"@read{number}\n{read.decode()}\n+\n{'5' * len(read)}\n")


def _misread(letters, rng):
    """The letters, of which 2 % are exchanged, 1.5 % left out, and 1.5 % put in."""
    out = []
    for letter in letters:
        drawn = rng.random()
        if drawn < 0.02:
            out.append(rng.choice("ACGT"))
        elif drawn < 0.035:
            continue
        elif drawn < 0.05:
            out.append(letter + rng.choice("ACGT"))
        else:
            out.append(letter)
    return "".join(out)


def write_text(path, text, width=60):
    """Write a Text as a record of FASTA."""
    path.write_bytes(b">%s\n%s" % (text.name.encode(), _lines(text.letters, width)))


def write_fasta(path, length, records=1, width=60, seed=1):
    """Write random records of one length, `length` letters in all."""
    rng = np.random.default_rng(seed)
    each = length // records
    with open(path, "wb") as handle:
        for number in range(records):
            handle.write(b">random%d of one length\n" % number)
            for first in range(0, each, step := width * max(1, (1 << 22) // width)):
                letters = LETTERS[rng.integers(0, 4, min(step, each - first), np.uint8)]
                handle.write(_lines(letters, width))


def _lines(letters, width):
    whole = len(letters) - len(letters) % width
    lines = np.full((whole // width, width + 1), ord("\n"), np.uint8)
    lines[:, :width] = letters[:whole].reshape(-1, width)
    rest = letters[whole:].tobytes()
    return lines.tobytes() + (rest and rest + b"\n")
