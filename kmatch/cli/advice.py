"""What users of other tools type, and what to type here: the one table of near misses."""

import re
from collections.abc import Iterable, Iterator, Sequence

import click

from kmatch.cli.options import Distance

_SEARCHES = (
    "kmatch hamming counts mismatches, kmatch edit insertions and deletions too, kmatch best "
    "finds the closest"
)
_GUIDES = "kmatch multi --pam NGG counts mismatches, kmatch edit --pam NGG finds bulges too"
_FILES = "files need no option: {usage}"
_LIMIT = "every hit is written unless --limit N asks for the N closest of a pattern"
_EDIT = "kmatch edit counts insertions and deletions, and kmatch hamming mismatches alone"

# Names of commands, and what to use.
_COMMANDS = {
    "search find locate grep agrep match scan query map lookup fuzzy fuzznuc fuzzy-search sassy "
    "patman vmatch subseq occurrences hits": _SEARCHES,
    "align aln blast blastn bwa bowtie bowtie2 minimap2 blat edlib exonerate": (
        "kmatch aligns nothing to a whole genome: kmatch best finds where it comes closest to a "
        "pattern, kmatch edit every occurrence within k differences"
    ),
    "mismatch mismatches substitutions snp hamming-distance": "kmatch hamming counts mismatches",
    "indel indels bulge bulges levenshtein edit-distance differences diff errors": (
        "kmatch edit counts mismatches, insertions and deletions"
    ),
    "crispr offtarget offtargets off-target off-targets guide guides guidescan cas-offinder "
    "casoffinder flashfry pam": _GUIDES,
    "amplicon amplicons ispcr epcr ipcress primersearch insilico-pcr in-silico-pcr product "
    "products": "kmatch pcr finds the products of primers",
    "primers primer3 design unique": (
        "kmatch primer finds where primers can lie, kmatch pcr what known primers make"
    ),
    "panel many multiple": "kmatch multi searches a panel of patterns of one length",
    "closest nearest top": "kmatch best finds the closest occurrences",
    "index build faidx makeblastdb compress convert twobit 2bit": (
        "kmatch needs no index; kmatch pack writes a genome that is read faster"
    ),
    "count counts summary histogram hist": (
        "give a search --summary FILE, which counts the hits of each pattern by distance"
    ),
    "view show": "give a search --format view",
    "trim cut filter": "kmatch changes no reads; a search tells where the patterns are in them",
    "benchmark speed time": "kmatch bench times the algorithms",
    "devices gpu gpus doctor env check": "kmatch info shows versions and devices",
    "version": "kmatch --version shows it",
    "help man": "kmatch --help lists the commands, kmatch hamming --help explains one",
    "draw picture figure histogram-plot": "kmatch plot draws the table that a search has written",
    "complete autocomplete completions": "kmatch completion bash, zsh or fish writes a script",
}

# Options, and what to use: the first that needs no option, or one that the command has.
_K = ("-k", "the differences allowed are -k N, or as a share -k 10%")
_OPTIONS: dict[str, Sequence[tuple[str, str]]] = {
    "--mismatches --mismatch --max-mismatch --max-mm --mm -m --substitutions --subs --snps "
    "--max-mismatches": [
        ("--max-mismatches", "differences are -k N, the mismatches among them --max-mismatches N"),
        ("-k", "the mismatches allowed are -k N"),
    ],
    "-e --errors --error --max-errors --max-error --error-rate --max-error-rate --distance --dist "
    "--max-dist --max-distance --edit-distance --max-edit-distance --diff --differences -n -K "
    "--threshold --ed": [_K],
    "-k": [
        (
            "--exact-3p",
            "it finds the closest at any distance; kmatch edit -k N finds all within N",
        )
    ],
    "--identity --similarity --min-identity --id": [
        ("-k", "-k 10% allows what an identity of 90% does"),
    ],
    "--bulge --bulges --bulge-size --max-bulge --max-bulges": [
        ("--max-deletions", "bulges of DNA are --max-deletions N, of RNA --max-insertions N"),
        ("", "kmatch edit finds bulges: of DNA --max-deletions N, of RNA --max-insertions N"),
    ],
    "--dna-bulge --dna-bulges --dna-bulge-size --max-dna-bulges -b --deletions --dels": [
        ("--max-deletions", "letters of the text that are skipped are --max-deletions N"),
        ("", "kmatch edit has --max-deletions N, for letters of the text that are skipped"),
    ],
    "--rna-bulge --rna-bulges --rna-bulge-size --max-rna-bulges --insertions --ins": [
        ("--max-insertions", "letters of the pattern that are skipped are --max-insertions N"),
        ("", "kmatch edit has --max-insertions N, for letters of the pattern that are skipped"),
    ],
    "--indels --indel --max-indels --gaps --max-gaps --gap --no-indels --ungapped --hamming "
    "--edit --levenshtein": [("", _EDIT)],
    "--rc --revcomp --rev-comp --reverse --reverse-complement --complement --no-rc --norc --nofw "
    "--no-revcomp --both --both-strands --forward --fwd --plus --minus --only-positive-strand -P "
    "-s --stranded --directional -r": [
        ("--strand", "both strands are searched unless --strand + or --strand - says which"),
        ("--both-strands", "primers of both strands are --both-strands; --background-strand too"),
        ("--product", "products are found both ways round"),
    ],
    "-j --jobs --cores --cpus --nthreads --num-threads --thread --n-threads -T --nproc --procs "
    "--processes --parallel --workers": [("--threads", "threads are -t N")],
    "--gpu --cuda --use-gpu -G": [("--device", "a GPU is --device cuda")],
    "--cpu --no-gpu -C": [("--device", "the CPU is --device cpu")],
    "--out --outfile --out-file --output-file --outdir": [("--output", "the output is -o FILE")],
    "--bed --tsv --sam --gff3 --gff --view --csv --json --gtf --bam --paf --outfmt --out-format "
    "--output-format --fmt --type": [
        ("--limit", "formats are --format bed, tsv, sam, gff3 or view"),
        ("--format", "formats are --format bed or tsv"),
    ],
    "--force --overwrite": [("--output", "-o writes over a file that exists")],
    "-f --file --pattern-file --patterns --patterns-file --query --queries --fasta --guides -F "
    "--input --infile --in -i -g --genome --ref --reference --db --database --subject --target "
    "-x -U -1 -2": [("", _FILES)],
    "--primers --primer-file --primer": [
        ("--pairs", "PRIMERS is a file behind GENOME, and one pair of primers is -p FWD REV"),
        ("", "kmatch pcr GENOME PRIMERS finds products, kmatch primer places for primers"),
    ],
    "--sequence --seq --guide --motif --adapter -a": [
        ("--pattern", "a pattern is -p SEQ"),
        ("", _FILES),
    ],
    "--ignore-case --case-sensitive -I": [("", "case never matters")],
    "-d --degenerate --iupac --ambiguous --wildcard --wildcards --match-read-wildcards": [
        ("", "IUPAC letters in patterns need no option; differences are -k N"),
    ],
    "--regex --use-regexp --regexp": [("", "patterns are IUPAC letters: R stands for [AG]")],
    "--all --overlap --overlapping --non-greedy": [("", _LIMIT)],
    "--best --top --first --max-hits --max-count --max-alignments -M --hits --report-all": [
        ("--limit", f"{_LIMIT}; kmatch best finds the closest"),
        ("", "kmatch best finds the closest occurrences"),
    ],
    "--region --bed-file --targets": [("--regions", "regions are --regions BED")],
    "--seed --seed-length --3p --three-prime --anchor": [
        ("--exact-3p", "--exact-3p N lets the last N letters match alone, --exact-5p N the first"),
    ],
    "--pam-sequence --pams": [("--pam", "the PAM is --pam NGG")],
    "--amplicon --size-range --product-size --min-size --max-size --max-product --max-len "
    "--max-amplicon": [
        ("--product", "the letters of a product are --product 50-5000"),
        ("", "kmatch pcr has --product MIN-MAX, the letters of a product"),
    ],
    "--index --use-fmi --no-index": [("", "kmatch needs no index; kmatch pack saves reading")],
    "--count --counts -c --stats --histogram": [
        ("--summary-only", "hits by pattern and distance are --summary-only"),
    ],
    "--silent --no-progress --progress": [("--quiet", "-q leaves progress and summary out")],
    "--version": [("", "kmatch --version shows it")],
    "--tmp --temp --temp-dir --batch-size --chunk-size --memory --mem": [
        ("", "memory and chunks need no option"),
    ],
}

# Values of options, and what to use.
_VALUES: dict[str, dict[str, str]] = {
    "--strand": {
        "plus forward fwd f pos positive sense 1 top watson": "+",
        "minus reverse rev r neg negative antisense -1 bottom crick rc": "-",
        "all any . * +/- ± +- 2": "both",
    },
    "--device": {"gpu nvidia 0 gpu0 gpu:0": "cuda", "none processor": "cpu"},
    "--format": {
        "bed6 bed12 bedgraph": "bed",
        "csv table tab text txt json xlsx": "tsv",
        "bam cram": "sam",
        "gff gtf": "gff3",
        "alignment pretty align human fasta aln": "view",
    },
    "--report": {
        "all every full": "ends",
        "best minimum min local": "minima",
        "locus single one merged nonoverlapping non-overlapping": "loci",
    },
    "--pam-side": {
        "right 3 3' 3prime end after downstream": "3p",
        "left 5 5' 5prime start before upstream": "5p",
    },
    "--pairs": {"all every both": "any", "pair pairs same": "own"},
    "--algorithm": {"default fast auto myers bitparallel": "bitplane"},
}
_ONE_K = "a search has one k, the largest: rows have their distance, and --summary counts by it"
_TWO = {
    "--gc": "type --gc 0.4 0.6",
    "--tm": "type --tm 57 63",
    "-p": "type -p FORWARD REVERSE",
    "--pair": "type -p FORWARD REVERSE",
}
_NO_HYPHEN = "‐‑‒–—−"  # dashes that editors make of a hyphen


def advice(error: click.UsageError, arguments: Sequence[str]) -> str | None:
    """What to type in place of what a command could not use, or None.

    arguments: the whole command line behind `kmatch`.
    """
    if dashed := next((word for word in arguments if word[:1] in _NO_HYPHEN and word), None):
        return f"{dashed!r} begins with a dash, not with a hyphen; type {_hyphened(dashed)}"
    if isinstance(error, click.BadOptionUsage) and "requires 2" in error.message:
        return _TWO.get(str(error.option_name))
    if error.ctx is None:
        return None
    if isinstance(error, click.NoSuchOption):
        return _of_option(error.option_name, error.ctx)
    if isinstance(error, click.MissingParameter):
        return _of_missing(error.ctx, arguments)
    if isinstance(error, click.BadParameter) and error.param is not None:
        return _of_value(error.param, _given(error.ctx, error.param, arguments))
    if found := re.match(r"No such command '(.*)'", error.message):
        return _of_command(found[1], error.ctx)
    if found := re.match(r"Got unexpected extra arguments? \((.*)\)", error.message):
        return _of_extra((found[1].split() or [""])[0], error.ctx)
    return None


def _hyphened(word: str) -> str:
    bare = word.lstrip(_NO_HYPHEN)
    return f"-{bare}" if len(bare) == 1 else f"--{bare}"


def _row(table: Iterable[str], word: str) -> str | None:
    """The row of a table, whose names are parted by blanks, that has a word."""
    return next((names for names in table if word in names.split()), None)


def _of_command(name: str, context: click.Context) -> str | None:
    names = _row(_COMMANDS, name.lower())
    if names:
        return _COMMANDS[names]
    return f"type kmatch {name.lower()}" if name.lower() in _commands(context) else None


def _commands(context: click.Context) -> dict[str, click.Command]:
    group = context.find_root().command
    return dict(group.commands) if isinstance(group, click.Group) else {}


def _of_option(option: str, context: click.Context) -> str | None:
    if context.parent is None:
        return _of_hyphened_command(option.lstrip("-"), context)
    known = _options(context.command)
    short = len(option) == 2  # whose case matters
    if not short and option.lower() in known:
        return f"type {option.lower()}"
    names = _row(_OPTIONS, option) or _row(_OPTIONS, option if short else option.lower())
    for needed, text in _OPTIONS.get(names or "", ()):
        if not needed or needed in known:
            return text.format(usage=_usage(context))
    name = option if short else option.lower()
    having = [each for each, command in _commands(context).items() if name in _options(command)]
    if having:
        return f"kmatch {' and kmatch '.join(having)} {'have' if having[1:] else 'has'} {name}"
    begun = [each for each in known if each.startswith(option) and not short]
    return f"type {begun[0]}" if len(begun) == 1 else None


def _of_hyphened_command(name: str, context: click.Context) -> str:
    if text := _COMMANDS.get(_row(_COMMANDS, name) or ""):
        return text
    if name in _commands(context):
        return f"type kmatch {name}"
    return "the command comes first: kmatch hamming GENOME PATTERNS -k N"


def _options(command: click.Command) -> list[str]:
    return [name for each in command.params if isinstance(each, click.Option) for name in each.opts]


def _usage(context: click.Context) -> str:
    """How a command is used, without its options."""
    words = [
        word for word in context.command.collect_usage_pieces(context) if "OPTIONS" not in word
    ]
    return " ".join((context.command_path, *words))


def _of_missing(context: click.Context, arguments: Sequence[str]) -> str | None:
    for option in context.command.params:
        if two := _of_two(option, _given(context, option, arguments)):
            return two
    examples = getattr(context.command, "examples", ())
    return f"as in: {examples[0]}" if examples else None


def _of_two(option: click.Parameter, value: str) -> str | None:
    """The advice for an option of two words that was given one, so that the next option, which is
    missed, was taken for the second."""
    if option.nargs == 2 and re.search(" -[a-z-]", value):
        return f"{option.opts[0]} takes two words: {_TWO[option.opts[0]]}"
    return None


def _given(context: click.Context, parameter: click.Parameter, arguments: Sequence[str]) -> str:
    """The text that a command line gives for an option, or an empty one."""
    words = list(arguments[arguments.index(str(context.info_name)) + 1 :])
    values, _, _ = context.command.make_parser(context).parse_args(words)
    value = values.get(str(parameter.name))
    return " ".join(_words(value))


def _words(value: object) -> Iterator[str]:
    """The words of a value, which may be in lists of lists; none where it was not given."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _words(each)


def _of_value(parameter: click.Parameter, value: str) -> str | None:
    if two := _of_two(parameter, value):
        return two
    option = parameter.opts[-1]
    table = _VALUES.get(option, {})
    if names := _row(table, value.lower()):
        return f"type {option} {table[names]}"
    if isinstance(parameter.type, click.Choice) and value.lower() in parameter.type.choices:
        return f"type {option} {value.lower()}"
    if option == "-k":
        return _of_k(value, isinstance(parameter.type, Distance))
    if option == "--gc" and (numbers := _numbers(value)) and max(numbers) > 1:
        shares = " ".join(f"{number / 100:g}" for number in numbers)
        return f"GC is a share of 1: type --gc {shares}"
    if option == "--product" and (
        found := re.fullmatch(r"(?:(\d{1,10})\D{1,3})?(\d{1,10})", value)
    ):
        least, most = sorted((int(found[1] or 50), int(found[2])))
        return f"type --product {least}-{most}"
    if option == "--threads":
        return "without -t all cores are used"
    return None


def _of_k(value: str, shares: bool) -> str:
    if re.fullmatch(r"\d+([,:-]|\.\.)\d+", value):
        return _ONE_K
    if value.startswith("="):
        return f"type -k {value[1:]}"
    if shares and re.fullmatch(r"0?\.\d{1,9}", value):
        return f"a share has a percent sign: -k {100 * float(value):g}%"
    return "type -k 2, or as a share -k 10%" if shares else "type -k 2"


def _numbers(value: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d{1,9}(?:\.\d{1,9})?", value)]


def _of_extra(word: str, context: click.Context) -> str | None:
    if word == "%":
        return "write -k 10% without a blank"
    known = _options(context.command)
    if "--pattern" in known and re.fullmatch(r"[ACGTURYSWKMBDHVN]{4,}", word, re.IGNORECASE):
        return "patterns on the command line are -p SEQ, which can be repeated"
    if "-k" in known and word.isdecimal():
        return "a number needs its option: differences are -k N, threads -t N"
    several = "several genomes are one @LIST, and " if "--circular" in known else ""
    return f"type {_usage(context)}; {several}names with blanks need quotes"
