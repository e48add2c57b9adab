"""In-silico PCR, drawn from a `random.Random`."""

import naive

from fuzzing import texts
from fuzzing.searches import Search

LETTERS = 150  # of all records: the oracle compares each site with each


def pcr(random):
    """A Search for products: short primers, some with alternates, strewn over both strands."""
    pairs = random.choice(["own", "own", "any"])
    roles = _roles(random, lonely=pairs == "any")
    written = [texts.pattern(random, 4, 9) for _ in roles]
    shortest = min(map(len, written))
    k = min(random.choice([0, 0, 1, 1, 2, 3]), shortest - 1)
    least = random.choice([0, 1, 8, 20])
    options = {
        "product": (least, least + random.choice([0, 10, 40, 5000])),
        "pairs": pairs,
        "edit": random.random() < 0.5,
        "exact_3p": min(random.choice([0, 0, 1, 2, 9]), shortest),
    }
    form = random.choice(["bed", "tsv"])
    if form == "tsv" and random.random() < 0.5:
        options["sequence"] = True
    return Search("pcr", _records(random, written), written, k, options, roles=roles, form=form)


def _roles(random, lonely):
    """(pair, role) of primers; lonely: whether some have no partner."""
    roles = []
    for pair in range(random.randint(1, 3)):
        for role in "FR":
            roles += [(pair, role)] * random.choice([1, 1, 1, 2])
        if lonely and random.random() < 0.3:
            roles = [each for each in roles if each != (pair, "R")]
    return roles


def _records(random, written):
    found, left = [], LETTERS
    for _ in range(random.randint(1, 4)):
        parts = []
        for _ in range(random.randint(0, 12)):
            primer = texts.copy(random, random.choice(written), random.choice([0, 0, 1]))
            parts.append(random.choice([primer, naive.known(primer), texts.letters(random, 6)]))
        found.append("".join(parts)[:left])
        left -= len(found[-1])
    return found
