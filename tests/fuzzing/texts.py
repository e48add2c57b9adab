"""Texts and patterns drawn from a `random.Random`."""

import naive
from support.cases import IUPAC, LETTERS, edited

PLAIN = "ACGT"


def letters(random, most, alphabet=PLAIN, least=0):
    """Up to `most` random letters."""
    return "".join(random.choices(alphabet, k=random.randint(least, most)))


def repeat(random, most, unit=6):
    """A short unit again and again."""
    one = letters(random, unit, least=1)
    return (one * most)[: random.randint(1, most)]


def pattern(random, least, most):
    """A pattern of least … most letters: random, a repeat, a palindrome, IUPAC or lower case."""
    length = random.randint(least, most)
    kind = random.randrange(8)
    if kind == 0:
        return (repeat(random, 4, 4) * length)[:length]
    if kind == 1:
        half = letters(random, (length + 1) // 2, least=(length + 1) // 2)
        return (half + naive.reverse_complement(half))[-length:]
    if kind == 2:
        return "".join(random.choices(random.choice([IUPAC, "ACGTN", "NNNRYW"]), k=length))
    if kind == 3:
        return "".join(random.choices("ACGTacgtN", k=length))
    return "".join(random.choices(PLAIN, k=length))


def patterns(random, longest=24, equal=False):
    """One to four patterns, some of them the same, one after the other edited, or long."""
    least, most = 1, longest
    if random.random() < 0.15:
        least, most = 60, 130
    elif random.random() < 0.5:
        least = min(8, longest)
    if equal:
        least = most = random.randint(least, most)
    found = [pattern(random, least, most)]
    while random.random() < 0.5 and len(found) < 4:
        found.append(
            random.choice(found) if random.random() < 0.2 else pattern(random, least, most)
        )
    return found


def copy(random, written, edits=4):
    """A text that a pattern comes close to, on either strand."""
    text = "".join(random.choice(naive.IUPAC[letter]) for letter in written.upper())
    text = naive.reverse_complement(text) if random.random() < 0.5 else text
    changes = [
        (random.randrange(200), random.choice("XID"), random.choice("ACGTN"))
        for _ in range(random.randint(0, edits))
    ]
    return edited(text, changes)


def text(random, written, most):
    """A text of up to `most` letters with edited copies of patterns in it."""
    parts, size = [], 0
    wanted = random.randint(0, most)
    while size < wanted:
        kind = random.randrange(9)
        if kind < 4:
            part = copy(random, random.choice(written))
        elif kind == 4:
            part = letters(random, 9, LETTERS)
        elif kind == 5:
            part = "N" * random.randint(1, 70)
        elif kind == 6:
            part = repeat(random, 60)
        elif kind == 7:
            part = random.choice(written).upper() * random.randint(1, 4)
        else:
            part = letters(random, 40)
        parts.append(part)
        size += len(part) + 1
    return "".join(parts)[:wanted]


def records(random, written, most=400):
    """Texts of a genome: a few, hundreds of tiny ones, or one that is dense with hits."""
    kind = random.randrange(8)
    if kind == 0:
        tiny = [text(random, written, 9) for _ in range(random.randint(2, 5))]
        return [random.choice(tiny) for _ in range(random.randint(50, 300))]
    if kind == 1:
        dense = copy(random, random.choice(written), 1) or "A"
        return [(dense * most)[: random.randint(1, most)], letters(random, 30)]
    if kind == 2:
        return [repeat(random, most, 3)]
    return [text(random, written, most // 2) for _ in range(random.randint(1, 4))]
