"""Types of options that are numbers: none larger than kmatch computes with."""

import math
import re
from typing import Any

import click

from kmatch.arguments import MOST, checked_share
from kmatch.errors import InputError

_DIGITS = re.compile(r"[+-]?\d+", re.ASCII)  # int() takes 1_0 too


class Count(click.IntRange):
    """An integer that counts letters, differences or threads."""

    name = "whole number"

    def get_metavar(self, *given: Any, **more: Any) -> str:
        return "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, str) and not _DIGITS.fullmatch(value):
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        number: int = super().convert(value, param, ctx)
        if number > MOST:
            self.fail(f"{number} is more than kmatch counts to, {MOST}.", param, ctx)
        return number


class Distance(Count):
    """A count of differences, or a share of a pattern's length such as `10%`, as text."""

    name = "number of differences"

    def get_metavar(self, *given: Any, **more: Any) -> str:
        return "N|N%"

    def convert(  # type: ignore[override]
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        if not (isinstance(value, str) and value.endswith("%")):
            return super().convert(value, param, ctx)
        try:
            checked_share("k", value)
        except InputError as error:
            self.fail(f"{error}.", param, ctx)
        return value


class Number(click.types.FloatParamType):
    """A finite number."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(_not_finite(value), param, ctx)


class NumberRange(click.FloatRange):
    """A finite number within limits."""

    name = "number"

    def get_metavar(self, *given: Any, **more: Any) -> str:
        return "X"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(_not_finite(value), param, ctx)


def _not_finite(value: object) -> str:
    return f"{value!r} is not a finite number."


def sizes(context: click.Context, option: click.Parameter, value: str) -> tuple[int, int]:
    """The callback of an option that holds two counts, the least and the most: MIN-MAX."""
    found = re.fullmatch(r"(\d{1,10})-(\d{1,10})", value, re.ASCII)
    if not found:
        raise click.BadParameter(f"{value!r} is not MIN-MAX, as in 300-500.", context, option)
    least, most = map(int, found.groups())
    if most > MOST:
        raise click.BadParameter(f"{most} is more than kmatch counts to, {MOST}.", context, option)
    if least > most:
        raise click.BadParameter(
            f"the least, {least}, is more than the most, {most}.", context, option
        )
    return least, most
