"""Records joined to chunks: each chunk shows what a plain layout of all records shows there."""

from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kmatch.sequences.chunks import ChunkPlan, join_records
from kmatch.sequences.records import Stretch, stretch_of, whole_records

plans = st.builds(
    ChunkPlan, st.integers(1, 40), st.integers(1, 20), st.integers(1, 9), st.integers(0, 20)
)
sizes = st.lists(st.integers(0, 30), max_size=40)


def records_of(sizes):
    rng = np.random.default_rng(len(sizes))
    return [
        stretch_of(f"r{i}", rng.choice(np.frombuffer(b"ACGT", np.uint8), size))
        for i, size in enumerate(sizes)
    ]


def in_stretches(records, cuts):
    """The records side by side, as many as `cuts` says by turns; some come alone, in two parts."""
    for many in cuts * (len(records) + 1):
        group, records = records[:many], records[many:]
        split = group.pop() if many % 2 and group and len(group[-1].letters) > 1 else None
        if group:
            names, lengths, letters, _ = zip(*group, strict=True)
            yield Stretch([*chain(*names)], np.concatenate(lengths), np.concatenate(letters))
        if split:
            yield stretch_of(split.names[0], split.letters[:1])
            yield stretch_of(split.names[0], split.letters[1:], True)


def laid_out(records, plan):
    """All letters where they lie, and (begin, size) of each record that has any."""
    text, places = [0] * plan.lead, []
    for _, _, letters, _ in records:
        if len(letters) and text:
            text += [0] * plan.gap
        places.append((len(text), len(letters)))
        text += letters.tolist()
    return text, places


@given(sizes, plans, st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 3))
def test_chunks_show_the_layout(sizes, plan, cuts, spare):
    records = records_of(sizes)
    text, places = laid_out(records, plan)
    for parts in (records, in_stretches(records, cuts)):
        base, known = 0, 0
        for chunk in join_records(parts, plan, spare):
            shown = plan.length + plan.halo
            expected = text[base : base + shown]
            assert chunk.base == base
            assert chunk.letters.tolist() == expected + [0] * (shown + spare - len(expected))
            first, names, begins, lengths = chunk.spans
            assert first <= known and len(names) == len(begins) == len(lengths) > 0
            known = max(known, first + len(names))
            assert names == [f"r{i}" for i in range(first, first + len(names))]
            for number, (begin, size) in enumerate(places):
                if size and begin < base + len(expected) and begin + size > base:
                    row = number - first
                    assert begins[row] == begin - base
                    assert min(lengths[row], shown - begins[row]) == min(size, shown - begins[row])
            assert (np.diff(begins) >= 0).all()
            base += chunk.length
        if records:
            assert (base, known) == (len(text), len(records)) or not text


@given(sizes, st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_records_come_back_whole(sizes, cuts):
    records = records_of(sizes)
    expected = [(name, bytes(letters)) for (name,), _, letters, _ in records]
    for parts in (records, in_stretches(records, cuts)):
        found = whole_records(parts)
        assert [(name, bytes(letters)) for name, letters in found] == expected
