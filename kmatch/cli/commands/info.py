"""`kmatch info`."""

import time
from collections.abc import Iterable

import click

from kmatch.cli.command import command
from kmatch.cli.options import debug_option
from kmatch.cli.terminal.messages import Messages

DEVICES = {"cpu": "the CPU", "cuda": "CUDA"}


@command(
    short_help="Versions, devices and folders.",
    examples=("kmatch info",),
)
@click.option("--short", is_flag=True, help="Versions only, at once.")
@click.option(
    "--compile", "ahead", is_flag=True, help="Compile all kernels now, not at the first searches."
)
@debug_option
def info(short: bool, ahead: bool) -> None:
    """Show versions, CPU features, threads, CUDA devices or why there are none, and the cache."""
    if short and ahead:
        raise click.UsageError("--short shows versions and compiles nothing; leave one of them out")
    from kmatch.engine.machine import describe_versions

    _show(describe_versions())
    if not short:
        from kmatch.engine.machine import describe_machine

        _show(describe_machine())
    if ahead:
        _compile()


def _show(pairs: Iterable[tuple[str, str]]) -> None:
    for name, value in pairs:
        click.echo(f"{name:<12}{value}")


def _compile() -> None:
    from kmatch.rehearsal.compiling import compile_all

    began = time.perf_counter()
    with Messages().compiling_progress() as advance:
        functions, devices = compile_all(advance)
    seconds = time.perf_counter() - began
    named = " and ".join(DEVICES[device] for device in devices)
    _show([("kernels", f"compiled for {named}: {functions} functions in {seconds:.1f} s")])
