"""`kmatch info`."""

import click


@click.command(short_help="Versions, devices and folders.")
def info():
    """Show versions, CPU features, threads, CUDA devices or why there are none, and the cache."""
    from kmatch.engine.machine import describe_machine

    for name, value in describe_machine():
        click.echo(f"{name:<12}{value}")
