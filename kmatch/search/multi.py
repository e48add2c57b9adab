"""The search of `windows.py`, under a name that scripts elsewhere still import."""

from kmatch.search.windows import WindowSearch as WindowSearch
