"""Searches on a Dask cluster: shards of a genome go to workers, and what they find comes back.

Nothing of Dask is imported before a search asks for it.
"""

from collections.abc import Callable
from typing import Any

from kmatch.distributed.faults import MISSING
from kmatch.errors import ClusterError
from kmatch.search.running import Running


def run_anywhere(search: Callable[..., Any], running: Running) -> Any:
    """search(running=running), on the cluster that `running` names, or else here.

    search: a partial of one of the functions `*_batches`.
    """
    if running.scheduler is None:
        return search(running=running)
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise ClusterError(MISSING) from error
    from kmatch.distributed.searches import spread

    return spread(search, running)
