"""The search for guides: `kmatch guides`."""

from collections import deque

from kmatch.cli.command import OUTPUT, Argument, Given, Option, command
from kmatch.cli.options import (
    CIRCULAR,
    GENOME,
    NONE,
    ONE,
    READ,
    SCORE,
    TABLE,
    VARIANTS,
    format_by_name,
    regions,
)
from kmatch.cli.searches import Search
from kmatch.errors import PAM_SIDES, counted
from kmatch.search.query import Run


@command(
    "Guides of a target, and their sites in a genome.",
    Argument("target", f"Where guides are to cut, or GENOME itself. {READ}"),
    GENOME,
    Option("-k", NONE, None, "Mismatches of a site; with bulges, differences.", required=True),
    Option(
        *("--pam", "SEQ", None),
        "What stands beside a guide; NGG,NAG for one of several.",
        default="NGG",
    ),
    Option(
        *("--pam-side", PAM_SIDES, None),
        "The PAM follows the guide (3p: NGG) or comes before it (5p: TTTV).",
    ),
    Option("--length", ONE, None, "Letters of a guide.", default=20),
    Option("--max-insertions", NONE, None, "Guide letters that a site may lack.", default=0),
    Option("--max-deletions", NONE, None, "Site letters that a guide may lack.", default=0),
    Option("--best", ONE, "all", "Only the N most specific guides, the best first."),
    regions("guides of TARGET"),
    *VARIANTS,
    SCORE,
    Option(
        "--hits",
        "FILE",
        "none",
        "Also write the sites, as BED or by its suffix TSV or CSV.",
        group=OUTPUT,
    ),
    CIRCULAR,
    *TABLE,
    examples=(
        "kmatch guides virus.fa genome.fa.gz -k 3 --best 10",
        "kmatch guides virus.fa genome.fa.gz -k 4 --max-deletions 1 --hits sites.tsv",
    ),
    differs="guides finds guides in a target and counts their sites; multi and edit search for "
    "guides that are known.",
)
def guides(given: Given) -> None:
    """Find every guide of TARGET, and how many sites each has in GENOME.

    A guide is a window of A, C, G and T beside a PAM, on either strand. Its specificity is 1 / (1 +
    the sum of CFD of all its sites but one that is perfect).
    """
    search = Search(given, {"--hits": given.hits}, default="tsv")
    from kmatch.genome import Genome
    from kmatch.results.formats import FORMATS
    from kmatch.results.output import open_outputs
    from kmatch.results.table import Guides
    from kmatch.search.guides import GuideOptions, GuideSearch
    from kmatch.search.regions import load_regions

    table = Guides((), given.k, "mit" in given.score)
    search.dress(table)
    form = format_by_name(given.hits, option="--hits") or "bed"
    search.aligned = bool(given.hits) and form != "bed"
    search.open_genomes(bool(given.vcf))
    target = Genome(given.target, keep=False)
    options, where = given.made(GuideOptions), load_regions(given.regions)

    def begin(run: Run) -> GuideSearch:
        return GuideSearch(target, search.genomes, options, run, where)

    with open_outputs(given.output, given.hits) as handles:
        with search.batches(begin, search.genomes.label) as found:
            if given.hits:
                FORMATS[form](handles[1], search.begun.sites).write_all(found)
            else:
                deque(found, maxlen=0)
        table.take([search.begun.guides()])
        FORMATS[search.form](handles[0], table).write_all(table.batches)
    said = f"{counted(len(table), 'guide')} with {counted(search.rows, 'site')}"
    search.conclude(said, search.begun.counts)
