"""What a terminal shows: how wide it is, and whether in colour."""

import os
import shutil
import sys

from kmatch.cli.outputs import Table
from kmatch.results.formats.searched import Screen


def screen_of(table: Table) -> Screen | None:
    """The Screen on which a table is shown, or None where it goes elsewhere."""
    if not table.is_standard or sys.stdout is None or not sys.stdout.isatty():
        return None
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Screen(shutil.get_terminal_size().columns, colour)
