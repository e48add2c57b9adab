"""How large shards are: small at first and at last, and never more than a bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kmatch
from kmatch.distributed import sizes
from kmatch.distributed.files import SharedFile
from kmatch.distributed.plan import HITS, FilesPlan, ShardPlan
from kmatch.distributed.sizes import Sizes, alike, sizes_for
from kmatch.engine.choice import Work
from kmatch.search.shards.needs import Around

AROUND = Around(10, 2)


def cut(given, total, read):
    """The letters of the shards of so many letters."""
    found = []
    while left := total - sum(found):
        found.append(min(given.next(len(found), sum(found), left, read), left))
    return found


@given(st.integers(2, 40), st.integers(1, 10**7), st.booleans())
def test_threads_end_together(threads, total, read):
    most, least = 100_000, 300
    found = cut(Sizes(most, 3_000, least, threads), total, read)
    assert sum(found) == total and max(found) <= most
    for number, size in enumerate(found):
        left = sum(found[number:])
        assert size <= max(left / threads, 3_000)
        assert size == left or size >= least


def test_the_first_shards_are_small_where_the_client_reads():
    given = Sizes(1 << 20, 1 << 10, 1 << 10, 2)
    begin = [given.next(number, 0, None, True) for number in range(10)]
    assert begin == [1 << power for power in (17, 17, 18, 18, 19, 19, 20, 20, 20, 20)]
    assert given.next(0, 0, None, False) == given.next(9, 0, None, True) == 1 << 20


def test_one_thread_has_few_shards():
    assert len(cut(Sizes(1 << 24, 1 << 10, 1 << 10, 1), 1 << 22, True)) == sizes.SHARES
    assert set(cut(alike(70), 700, True)) == {70}


def test_more_work_a_letter_makes_smaller_shards():
    few, many = (sizes_for(Work(None, count, 20.0, 3, True), 4) for count in (8, 8_000))
    assert sizes.LEAST <= many.most < few.most <= sizes.MOST
    assert many.brief <= few.brief


@pytest.mark.parametrize("lengths", [[50_000], [9_000, 12, 30_000, 0, 700], [40]])
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("is_packed", [True, False])
def test_the_plan_of_a_genome(tmp_path, lengths, threads, is_packed):
    """All letters are owned once; of a packed genome the number of shards is known before."""
    rng, path = np.random.default_rng(1), tmp_path / "g.fa"
    texts = ["".join(rng.choice(list("ACGT"), length)) for length in lengths]
    path.write_text("".join(f">r{number}\n{text}\n" for number, text in enumerate(texts)))
    if is_packed:
        kmatch.pack(path, path := tmp_path / "g.kmatch")
    plan = ShardPlan(kmatch.Genome(path, keep=False), Sizes(8_000, 500, 100, threads), AROUND)
    count, shards = plan.count, list(plan)
    extents = [shard.extent for shard in shards]
    assert sum(each.letters - each.before - each.behind for each in extents) == sum(lengths)
    assert count == (len(shards) if is_packed else None)
    assert all(shard.sent is not is_packed for shard in shards)


def test_shards_of_small_genomes_have_fewer_where_hits_are_many():
    files = [(number, str(number), SharedFile("a.fa", 1_000, 0, None)) for number in range(90)]
    plan = FilesPlan(files, Sizes(20_000, 1_000, 1_000, 1), 90)
    shards = iter(plan)
    first = next(shards)
    plan.hear(first, 0)
    same = next(shards)
    plan.hear(same, 4 * HITS)
    few = next(shards)
    assert [len(first.files), len(same.files), len(few.files)] == [20, 20, 5]
    labels = [label for shard in (first, same, few, *shards) for label in shard.labels]
    assert labels == [label for _, label, _ in files]
