"""What a search asks for, drawn from a `random.Random`: differences, ends, PAMs, regions."""

from fractions import Fraction

import naive

from kmatch.published.registry import PUBLISHED

REPORTS = ("minima", "ends", "loci")
PAMS = ("NGG", "NAG", "TTTV", "GATC", "N", "RY", "NNNNA", "nrg")
BOUNDS = ("max_mismatches", "max_insertions", "max_deletions")
SHARES = ("0%", "5%", "10%", "12.5%", "25%", "33.3%")


def differences(random, written):
    """How many differences patterns may have, or a share of their letters."""
    shortest = min(map(len, written))
    if random.random() < 0.15:
        return random.choice(SHARES)
    return min(random.choice([0, 1, 1, 2, 3, 4, 6, shortest // 5, shortest]), shortest - 1)


def most(k, written):
    """The most differences that any pattern may have."""
    if isinstance(k, int):
        return k
    return int(max(map(len, written)) * Fraction(k.rstrip("%")) / 100)


def exact_ends(random, written):
    shortest = min(map(len, written))
    return {
        "exact_5p": min(random.choice([0, 0, 1, 3]), shortest),
        "exact_3p": min(random.choice([0, 0, 2, 30]), shortest),
    }


def bounds(random, k):
    """The most of each kind of difference, some of them free."""
    return {name: random.randint(0, k) for name in BOUNDS if random.random() < 0.5}


def pams(random, written):
    """One PAM or several, and their side; never those that all patterns hold, which is refused."""
    side = random.choice(["3p", "5p"])
    given = random.sample(PAMS, random.choice([1, 1, 2, 3]))
    if _all_hold(written, given, side):
        given = ["N"]
    return {"pam": given if len(given) > 1 else given[0], "pam_side": side}


def _all_hold(patterns, given, side):
    """Whether every pattern ends, or with `5p` begins, with one of the PAMs."""
    given = [pam.upper() for pam in given if set(pam.upper()) != {"N"}]
    return all(any(_holds(pattern, pam, side) for pam in given) for pattern in patterns)


def _holds(pattern, pam, side):
    part = pattern[: len(pam)] if side == "5p" else pattern[-len(pam) :]
    pairs = zip(part.upper(), pam, strict=False)
    return len(pattern) > len(pam) and all(
        set(naive.IUPAC[a]) <= set(naive.IUPAC[b]) for a, b in pairs
    )


def regions(random, records):
    """Some regions of records that have letters, as (name, start, end)."""
    found = []
    whole = [(f"r{number}", len(text)) for number, text in enumerate(records) if text]
    for _ in range(random.randint(1, 4) if whole else 0):
        name, letters = random.choice(whole)
        ends = sorted(random.choices(range(letters + 1), k=2))
        found.append(random.choice([(name, *ends), (name, 0, letters)]))
    return found


def kept(random, records):
    """Options of all searches for patterns: what is kept of the hits."""
    options = {}
    if random.random() < 0.2:
        options["limit"] = random.choice([1, 2, 3, 10])
    if random.random() < 0.2 and (found := regions(random, records)):
        options["regions"] = found
    return options


def algorithm(random, problem, device, options):
    """Sometimes the option for a published algorithm that runs on a device."""
    kind = device.partition(":")[0]
    known = [each.name for each in PUBLISHED.get(problem, ()) if kind in each.devices]
    several = isinstance(options.get("pam"), list)
    unequal = several and len(set(map(len, options["pam"]))) > 1
    if not known or (problem == "multi" and unequal) or random.random() < 0.85:
        return {}
    return {"algorithm": random.choice(known)}
