"""Making a failing case small: whatever can be left out without the failure going away."""

import time
from dataclasses import replace

from fuzzing.choices import most
from fuzzing.damage import Damaged

SECONDS = 60  # that shrinking takes at the most
SIMPLE = (
    {"threads": 1},
    {"form": "tsv"},
    {"output": None},
    {"layout": {}},
    {"summary": None},
    {"panel": "text"},
)


def shrink(case, fails):
    """The smallest case found that still fails; fails(case) tells."""
    until = time.monotonic() + SECONDS
    smaller = True
    while smaller:
        smaller = None
        for candidate in candidates(case):
            if time.monotonic() > until:
                return case
            if fails(candidate):
                case = smaller = candidate
                break
    return case


def candidates(case):
    """Cases a little smaller than a case, those that leave out most first."""
    if isinstance(case, Damaged):
        for data in shorter(case.data):
            yield replace(case, data=data)
        return
    for number in range(len(case.beside)):
        yield replace(case, beside=without(case.beside, number))
    for part in ("options", "hooks", "patches"):
        given = getattr(case, part)
        for name in given:
            yield replace(case, **{part: {k: v for k, v in given.items() if k != name}})
    for records in fewer(case.records):
        beside = tuple(replace(one, records=records) for one in case.beside)
        yield replace(case, records=records, beside=beside)
    yield from with_fewer_patterns(case)
    for simple in SIMPLE:
        if any(getattr(case, name) != value for name, value in simple.items()):
            yield replace(case, **simple)
    if case.source != "memory" and case.way not in ("command", "process"):
        yield replace(case, source="memory")
    if isinstance(case.k, str):
        yield replace(case, k=most(case.k, case.patterns))
    elif case.k > (case.problem == "primer"):
        yield replace(case, k=case.k - 1)


def with_fewer_patterns(case):
    written = case.patterns
    if case.problem == "pcr":
        yield from _with_fewer_primers(case)
        return
    if len(written) > 1 or case.problem == "primer":
        for number in range(len(written)):
            yield replace(case, patterns=without(written, number))
    least = 0 if case.problem == "primer" else most(case.k, written) + 1
    if case.problem == "multi":
        if len(written[0]) > least:
            yield replace(case, patterns=[pattern[1:] for pattern in written])
            yield replace(case, patterns=[pattern[:-1] for pattern in written])
        return
    for number, pattern in enumerate(written):
        for less in shorter(pattern):
            if len(less) >= least:
                yield replace(case, patterns=[*written[:number], less, *written[number + 1 :]])


def _with_fewer_primers(case):
    for number, pattern in enumerate(case.patterns):
        roles = without(case.roles, number)
        pairs = sorted({pair for pair, _ in roles})
        roles = [(pairs.index(pair), role) for pair, role in roles]
        yield replace(case, patterns=without(case.patterns, number), roles=roles)
        for less in shorter(pattern):
            if len(less) > case.k:
                written = [*case.patterns[:number], less, *case.patterns[number + 1 :]]
                yield replace(case, patterns=written)


def without(items, number):
    return items[:number] + items[number + 1 :]


def fewer(records):
    """Lists of texts with some of them, or letters of theirs, left out."""
    size = len(records) // 2
    while size:
        for begin in range(0, len(records), size):
            if len(records) > size:
                yield records[:begin] + records[begin + size :]
        size //= 2
    for number, text in enumerate(records):
        for less in shorter(text):
            yield [*records[:number], less, *records[number + 1 :]]


def shorter(data):
    """A text or bytes with a stretch left out, from halves down to single letters."""
    size = -(-len(data) // 2)
    while size:
        for begin in range(0, len(data), size):
            yield data[:begin] + data[begin + size :]
        size //= 2
