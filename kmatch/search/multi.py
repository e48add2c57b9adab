"""The search of `windows.py`, under the name that scripts outside of the repository still import."""

from kmatch.search.windows import WindowSearch as WindowSearch
