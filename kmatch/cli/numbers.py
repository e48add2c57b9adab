"""Types of options that are numbers: none larger than kmatch computes with."""

import math
from typing import Any

import click

from kmatch.arguments import MOST


class Count(click.IntRange):
    """An integer that counts letters, differences or threads."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number: int = super().convert(value, param, ctx)
        if number > MOST:
            self.fail(f"{number} is more than kmatch counts to, {MOST}.", param, ctx)
        return number


class Number(click.types.FloatParamType):
    """A finite number."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(_not_finite(value), param, ctx)


class NumberRange(click.FloatRange):
    """A finite number within limits."""

    name = "float"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(_not_finite(value), param, ctx)


def _not_finite(value: object) -> str:
    return f"{value!r} is not a finite number."
