"""`kmatch bench`."""

import click

from kmatch.cli.command import command
from kmatch.cli.numbers import Count, Number
from kmatch.cli.options import debug_option, device_option
from kmatch.cli.places import check_places
from kmatch.cli.talk import Talk

COMMANDS = ("hamming", "multi", "edit", "best", "primer")
PAPERS = ("liu2012", "pmasm2017", "wspasm2017", "nakano2012", "feuser2018")
WIDTH = 200  # of tables that do not go to a terminal


@command(short_help="All algorithms side by side on the same data.")
@click.argument("commands", nargs=-1, type=click.Choice((*COMMANDS, "all")))
@click.option("--genome", metavar="FILE", help="Search this genome, not random letters.")
@click.option("--size", type=Count(min=1000), help="Letters of text.")
@click.option("--paper", type=click.Choice(PAPERS), help="The sizes of a paper's tables.")
@click.option(
    "--seconds",
    type=Number(min=0, min_open=True),
    default=2.0,
    show_default=True,
    help="That a search takes at most; slower ones get less of the text.",
)
@click.option(
    "--json", "path", metavar="FILE", help="Also write the figures to FILE, table by table."
)
@click.option("--plot", metavar="FILE", help="Also draw them (needs Matplotlib).")
@device_option
@click.option("-t", "--threads", type=Count(min=1), help="CPU threads of the engine.")
@click.option("-q", "--quiet", is_flag=True, help="No line on what is measured.")
@debug_option
def bench(commands, paper, path, plot, quiet, **options):
    """Time all algorithms of some COMMANDS, or of all, and compare their hits.

    Slow algorithms get the beginning of the text. Exit status 1 when any finds other hits than the
    engine.
    """
    if paper and commands:
        raise click.UsageError("--paper sets what is measured; leave the commands out")
    genome = options["genome"]
    check_places((genome,), {"--json": path, "--plot": plot})
    if plot:
        from kmatch.bench.plot import load_matplotlib

        load_matplotlib()  # sooner than after minutes
    from kmatch.bench.report import Report
    from kmatch.bench.rows import Bench

    talk = Talk(quiet, verbose=True)
    measure = Bench(options["device"], options["threads"], seconds=options["seconds"])
    for line in measure.describe():
        talk.detail(line)
    report = Report(measure, genome, options["size"], WIDTH, path)
    if paper:
        report.paper(paper)
    else:
        chosen = COMMANDS if not commands or "all" in commands else dict.fromkeys(commands)
        report.commands(chosen)
    if plot:
        report.draw(plot)
    if not report.equal:
        raise click.exceptions.Exit(1)
