"""The last line of a search: what it found, in how much, how fast and on which device."""

import time
from typing import TYPE_CHECKING

from kmatch.cli.terminal.messages import Messages

if TYPE_CHECKING:
    from kmatch.engine.protocol import Engine


class Conclusion:
    """The last line of the search that begins when this is made."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._began = time.perf_counter()
        self._device = ""

    def hear(self, engine: "Engine") -> None:
        """Take note of the device, and say what there is to say about it."""
        name = engine.description.partition(" (")[0].partition(", ")[0]
        self._device = f" on {name}"
        self._messages.device(engine)

    def say(self, found: str, records: int, letters: int, genomes: str = "") -> None:
        """Say what was found in records with so many letters; genomes: how many, if several."""
        searched = f"{genomes}{counted(records, 'record')}, {letters:,} bp"
        seconds = time.perf_counter() - self._began
        self._messages.conclude(found, f"{searched} in {seconds:.1f} s{self._device}")


def counted(number: int, noun: str) -> str:
    """A number and what it counts, in the plural unless it is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
