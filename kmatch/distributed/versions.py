"""Which kmatch this is: workers need the same one."""

import kmatch
from kmatch.jit.sources import digest


def version() -> str:
    """The version of kmatch, with a digest of its sources."""
    return f"{kmatch.__version__} ({digest(kmatch.__version__)[:8]})"
