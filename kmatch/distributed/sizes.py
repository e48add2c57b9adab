"""How large shards are: by the work that they are, and by what is left to do."""

from typing import NamedTuple

from kmatch.engine.choice import Work, cpu_seconds

SECONDS = 2.0  # of a thread's work in a shard
BRIEF = 0.03  # of it in the last ones, where there are few threads
SERVED = 0.01  # seconds that the client and the scheduler have for a shard
SHARES = 4  # shards for each thread at least, where there are letters enough
LEAST, MOST = 1 << 18, 1 << 24  # letters of a shard
STEPS = 3  # in which shards grow to their size where the client reads them
_PROBE = 1 << 20  # letters of which the work is estimated


class Sizes(NamedTuple):
    """Letters of shards for so many threads.

    Among several threads, the first shards are small, so that all begin early, and the last ones,
    so that all end together: none has more than two thirds of a thread's share of what is left.
    most: letters of a shard; brief: of a small one; least: of any.
    """

    most: int
    brief: int
    least: int
    threads: int

    def next(self, number: int, done: int, left: int | None, read: bool) -> int:
        """Letters of a shard.

        number: of it; done, left: letters before it, and with it and behind it, None if unknown;
        read: whether the client has to read them first.
        """
        size, least = self.most, self.least
        if read and self.threads > 1:
            size >>= max(STEPS - number // self.threads, 0)
        if left is not None:
            share = (done + left) // (SHARES * self.threads)
            least = max(min(self.brief, share), least)
            size = min(size, share if self.threads == 1 else 2 * left // (3 * self.threads))
        return max(size, least)


def alike(letters: int) -> Sizes:
    """Sizes of shards that all have so many letters."""
    return Sizes(letters, letters, letters, 1)


def sizes_for(work: Work, threads: int) -> Sizes:
    """The Sizes of shards of some Work on so many threads."""
    letter = cpu_seconds(work._replace(letters=_PROBE), 1) / _PROBE
    brief = max(BRIEF, SERVED * threads)
    most, least = (
        min(max(int(seconds / letter), LEAST), MOST) for seconds in (SECONDS, min(brief, SECONDS))
    )
    return Sizes(most, least, LEAST, threads)
