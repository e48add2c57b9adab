"""Circular records and several genomes: how a Search is made one of them."""

from dataclasses import replace

from fuzzing.choices import most

LETTERS = 240  # of all circles: the oracle goes round each many times
RULED = 50  # where each end is aligned on its own
FILES = ("fasta", "packed", "gz", "fastq")


def linear(random, one):
    """The Search as it is."""
    return one


def on_circles(random, one):
    """The Search with all records, or some, as circles that the oracle can go round."""
    rules = ("pam", "exact_3p", "exact_5p", "max_mismatches", "max_insertions", "max_deletions")
    aligned = one.problem in ("edit", "best") or one.options.get("edit")
    ruled = aligned and any(one.options.get(name) is not None for name in rules)
    longest = max(map(len, one.patterns))
    cost = 1 if not aligned else 1 + (longest + most(one.k, one.patterns)) // 12
    letters = (RULED if ruled else LETTERS) // min(len(one.patterns), 4) // cost
    records = [text for text in one.records if text] or ["ACGT"]
    each = max(letters // min(len(records), 3), 2)
    each = random.choice([each, each, min(each, random.randint(1, 12))])  # less than a hit takes
    records = [turned(random, text[:each]) for text in records[:3]]
    names = sorted(random.sample([f"r{n}" for n in range(len(records))], len(records) // 2 + 1))
    options = {name: value for name, value in one.options.items() if name != "regions"}
    options["circular"] = random.choice([True, names])
    form = one.form if one.form in ("bed", "tsv") else "tsv"
    return replace(one, records=records, options=options, form=form)


def turned(random, text):
    """A circle with its origin elsewhere, perhaps within a copy of a pattern."""
    origin = random.randrange(len(text))
    return text[origin:] + text[:origin]


def dealt_out(random, one):
    """The Search with its records in several files, each searched as if alone."""
    options = {name: x for name, x in one.options.items() if name not in ("regions", "limit")}
    one = replace(one, options=options, form=one.form if one.form in ("bed", "tsv") else "tsv")
    if random.random() < 0.3:
        one = on_circles(random, one)
    records = [text for text in one.records if text][:60] or ["ACGT"]
    many = random.randint(1, min(len(records), 4))
    cuts = sorted(random.sample(range(1, len(records)), many - 1))
    files = tuple(
        (last - first, random.choice(FILES))
        for first, last in zip([0, *cuts], [*cuts, len(records)], strict=True)
    )
    if isinstance(one.options.get("circular"), list):
        one = replace(one, options=one.options | {"circular": ["r0"]})  # which every file has
    return replace(one, records=records, files=files, summary=None)
