"""The search of a Query on this machine: which class searches, each imported when it is wanted."""

from typing import Any

from kmatch.errors import InputError
from kmatch.genome import Genomes
from kmatch.search.algorithms import ENGINE
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import rules_of


def begin_here(
    query: Query, genomes: Genomes, run: Run = RUN, regions: Regions | None = None
) -> Any:
    """Return the search of a Query in genomes, which is iterated and asked as a Search.

    Raises InputError for arguments that do not go together, DeviceError for a device that cannot be
    used.
    """
    if query.problem == "best":
        from kmatch.search.best import BestSearch

        return BestSearch(query, genomes, run, regions)

    if query.max_unknown is not None and run.algorithm != ENGINE:
        raise InputError(
            f"max_unknown is not for algorithm '{run.algorithm}'; use --algorithm {ENGINE}"
        )
    rules = rules_of(query)
    if rules.unequal and run.algorithm != ENGINE:
        *others, last = (pam.sequence for pam in rules.pams)
        raise InputError(
            f"the PAMs {', '.join(others)} and {last} have different lengths, which algorithm "
            f"'{run.algorithm}' does not search beside; use --algorithm {ENGINE}, or one PAM"
        )
    # Beside PAMs of several lengths alignments that keep to the rules of windows are searched for.
    if query.problem == "edit" or rules.unequal:
        from kmatch.search.edit import EditSearch

        return EditSearch(query, genomes, run, regions)

    from kmatch.search.windows import WindowSearch

    return WindowSearch(query, genomes, run, regions)
