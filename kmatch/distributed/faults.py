"""What goes wrong in a cluster, as errors that say what to do."""

from typing import Any

from kmatch.errors import ClusterError

TRIES = 3  # of a shard

MISSING = (
    "a search on a cluster needs Dask, which is not installed; "
    "install it with: pip install 'dask[distributed]'"
)


def other_version(worker: str, found: str, wanted: str) -> ClusterError:
    """A worker has another kmatch."""
    return ClusterError(
        f"worker {worker} has kmatch {found}, and this is kmatch {wanted}: install the same "
        "version there, or stop that worker"
    )


def without_kmatch(worker: str, error: Any, wanted: str) -> ClusterError:
    """A worker cannot import kmatch."""
    return ClusterError(
        f"worker {worker} cannot import kmatch ({error}); install kmatch {wanted} and Dask in "
        "the environment of the workers, from a copy of its repository"
    )


def not_reached(scheduler: str, error: Any) -> ClusterError:
    """There is no scheduler at an address."""
    why = str(error).strip().rstrip(".") or type(error).__name__
    return ClusterError(
        f"no Dask scheduler answers at {scheduler} ({why}); start one with: dask scheduler"
    )


def scheduler_gone(scheduler: str) -> ClusterError:
    """The scheduler went away while it was used."""
    return ClusterError(
        f"the scheduler {scheduler} is gone; start it and its workers again, and search once more"
    )


def no_workers(scheduler: str, seconds: float) -> ClusterError:
    """Nobody does the work."""
    return ClusterError(
        f"the scheduler {scheduler} has had no worker for {seconds:.0f} s; start some with: "
        f"dask worker {scheduler}"
    )


def stalled(shard: Any, seconds: float) -> ClusterError:
    """A shard does not end."""
    return ClusterError(
        f"{shard} is not done after {seconds:.0f} s; look at its worker, or search fewer patterns "
        "at a time"
    )


def failed(shard: Any, error: Any) -> ClusterError:
    """A shard failed as often as it may."""
    return ClusterError(f"{shard} failed {TRIES} times, the last time {_words(error)}")


def killed(shard: Any, error: Any) -> ClusterError:
    """Workers died one after another of the same shard."""
    worker = getattr(getattr(error, "last_worker", None), "address", None)
    last = f", the last of them {worker}" if worker else ""
    return ClusterError(
        f"{shard} ended one worker after another{last}; give workers more memory, or search fewer "
        "patterns at a time"
    )


def _words(error: Any) -> str:
    if isinstance(error, ClusterError):
        return str(error)
    return f"{type(error).__name__}: {error}"
