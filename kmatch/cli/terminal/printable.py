"""Text that is safe to print: no control characters, and no name that fills the screen."""

import re
from collections.abc import Iterable

WORD = 200  # characters of one word of a message, such as a name or a path
MESSAGE = 1000  # characters of a message
_CUT = " … "
_LONG_WORD = re.compile(rf"\S{{{WORD + 1},}}")


def one_line(message: str) -> str:
    """A message as one line that is safe to print: names in it may come from anyone's files.

    Characters that cannot be printed, such as an escape sequence for the terminal, are escaped as
    Python does; a text that is too long loses its middle.
    """
    cut = _LONG_WORD.sub(lambda word: shorten(word[0], WORD), " ".join(message.split()))
    return shorten("".join(map(_printable, shorten(cut, MESSAGE))), MESSAGE)


def shorten(text: str, longest: int) -> str:
    """A text of at most `longest` characters; a longer one loses its middle."""
    if len(text) <= longest:
        return text
    end = (longest - len(_CUT)) // 3
    return text[: longest - len(_CUT) - end] + _CUT + text[-end:]


def lines_that_fit(parts: Iterable[str], width: int) -> list[str]:
    """Parts joined by semicolons, as many in a line as fit its width, but at least one."""
    lines: list[str] = []
    for part in parts:
        if lines and len(f"{lines[-1]}; {part}") <= width:
            lines[-1] += f"; {part}"
        else:
            lines.append(part)
    return lines


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
