"""`kmatch info`."""

import time
from contextlib import suppress

import click

from kmatch.cli.command import command
from kmatch.cli.options import debug_option
from kmatch.cli.talk import Talk


@command(short_help="Versions, devices and folders.")
@click.option("--short", is_flag=True, help="Versions only, at once.")
@click.option(
    "--compile", "ahead", is_flag=True, help="Compile all kernels now, not at the first searches."
)
@debug_option
def info(short, ahead, debug):
    """Show versions, CPU features, threads, CUDA devices or why there are none, and the cache."""
    if short and ahead:
        raise click.UsageError("--short tells versions and compiles nothing; leave one of them out")
    from kmatch.engine.machine import describe_versions

    _show(describe_versions())
    if not short:
        from kmatch.engine.machine import describe_machine

        _show(describe_machine())
    if ahead:
        _compile()


def _show(pairs):
    for name, value in pairs:
        click.echo(f"{name:<12}{value}")


def _compile():
    from kmatch.errors import DeviceError
    from kmatch.jit import telling_of_compiling
    from kmatch.search.rehearsal import rehearse

    compiled, devices = [], "the CPU"
    began = time.perf_counter()
    with Talk(False, False).compiling(), telling_of_compiling(compiled.append):
        rehearse("cpu")
        with suppress(DeviceError):
            rehearse("cuda")
            devices = "the CPU and CUDA"
    seconds = time.perf_counter() - began
    _show([("kernels", f"compiled for {devices}: {len(compiled)} functions in {seconds:.1f} s")])
