"""What messages may hold: no control characters, and no name that fills the screen."""

import re

WORD = 200  # characters of one word of a message, such as a name or a path
MESSAGE = 1000  # and of all of it
_CUT = " … "
_LONG_WORD = re.compile(rf"\S{{{WORD + 1},}}")


def one_line(message):
    """A message as one line that is safe to print: names in it may come from anyone's files.

    What cannot be printed, such as an escape sequence for the terminal, is escaped as Python does;
    what is too long loses its middle.
    """
    cut = _LONG_WORD.sub(lambda word: shorten(word[0], WORD), " ".join(message.split()))
    return shorten("".join(map(_printed, shorten(cut, MESSAGE))), MESSAGE)


def shorten(text, most):
    """A text of at most `most` characters, without its middle where it has more."""
    if len(text) <= most:
        return text
    end = (most - len(_CUT)) // 3
    return text[: most - len(_CUT) - end] + _CUT + text[-end:]


def _printed(character):
    if character.isprintable():
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
