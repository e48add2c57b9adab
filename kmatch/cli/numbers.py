"""Numbers that options take: none beyond what is computed."""

import math

import click

from kmatch.arguments import MOST


class Count(click.IntRange):
    """An integer that letters, differences or threads can be counted with."""

    def convert(self, value, param, ctx):
        number = super().convert(value, param, ctx)
        if number > MOST:
            self.fail(f"{number} is more than kmatch counts to, {MOST}.", param, ctx)
        return number


class Number(click.FloatRange):
    """A finite number."""

    name = "float"

    def convert(self, value, param, ctx):
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number
