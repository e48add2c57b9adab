"""Cases of each kind, drawn from a `random.Random`: one number always gives the same case."""

from dataclasses import replace
from random import Random

import naive

from fuzzing import choices, damage, inputs, texts
from fuzzing.genomes import dealt_out, linear, on_circles
from fuzzing.patches import draw_patches
from fuzzing.products import pcr
from fuzzing.searches import Search

PATTERNS = (
    "hamming",
    "multi",
    "multi beside a PAM",
    "edit",
    "edit beside a PAM",
    "edit within bounds",
    "best",
)
PROBLEMS = (*PATTERNS, "primer", "pcr")
COST = 150_000  # letters of text times letters of patterns that an oracle is asked for
LANES = 512  # of a chunk that is searched for differences


def draw(kind, seed, number, device):
    """The case of a kind, which is a key of KINDS."""
    return KINDS[kind](Random(f"{seed} {number}"), device)


def search(random, problem, records=None):
    """A Search for a problem, asked for by `batches`."""
    if problem == "primer":
        return primer(random)
    if problem == "pcr":
        return pcr(random)
    problem, _, rule = problem.partition(" ")
    ruled = problem == "edit" and rule
    longest = 16 if problem == "best" else 10 if ruled else 24
    written = texts.patterns(random, longest, equal=problem == "multi")
    if ruled and max(map(len, written)) > longest:  # each letter costs the oracle much
        written = written[:1]
    if records is None:
        most = 120 if problem == "best" else random.choice([60, 400, 400, 1500])
        records = texts.records(random, written, most)
    k = 0 if problem == "best" else choices.differences(random, written)
    if ruled and choices.most(k, written) > 4:
        k = random.choice([2, 3, 4])
    options = {"strand": random.choice(["both", "both", "+", "-"])}
    options |= options_of(random, problem, rule, written, k)
    cost = COST // 3 if problem == "best" else COST
    if ruled or ("exact_3p" in options and problem == "best"):
        cost //= 4 * (1 + choices.most(k, written)) ** 2
    records = within(records, cost // sum(map(len, written)))
    options |= choices.kept(random, records)
    form = random.choice(["bed", "tsv", "tsv", "sam", "gff3"])
    return Search(problem, records, written, k, options, form=form)


def options_of(random, problem, rule, written, k):
    """Options of a problem, beside a PAM or within bounds if the rule says so."""
    options = {}
    short = problem == "best" and max(map(len, written)) <= 10
    if problem in ("hamming", "multi") or rule or (short and random.random() < 0.5):
        options |= choices.exact_ends(random, written)
    if problem == "edit":
        options["report"] = random.choice(choices.REPORTS)
    if "PAM" in rule:
        options |= choices.pams(random, written)
    if rule == "within bounds" or (problem == "edit" and rule and random.random() < 0.3):
        options |= choices.bounds(random, choices.most(k, written))
    return options


def primer(random):
    """A Search for primers, some pieces of whose targets stand in the background."""
    target = [text[:60] for text in texts.records(random, ["ACGTTGCATTAGC", "GGATTA"], 60)[:3]]
    source = [text for text in target if text] or ["A"]
    other = []
    for _ in range(random.randint(0, 3)):
        pieces = [texts.letters(random, 20), edited_copy(random, random.choice(source))]
        other.append("".join(random.sample(pieces, random.randint(0, 2)))[:80])
    k = random.choice([1, 2, 3, 4, 7, 8, 9, 17])
    options = {
        "background_strand": random.choice(["both", "+"]),
        "both_strands": random.random() < 0.5,
        "max_length": random.choice([None, None, k, k + 1, k + 9]),
    }
    return Search("primer", target, other, k, options)


def edited_copy(random, text):
    return texts.copy(random, naive.known(text)[: random.randint(1, 60)], 5)


def within(records, letters):
    """The records, cut where they have more letters than that."""
    kept = []
    for text in records:
        kept.append(text[: max(letters, 0)])
        letters -= len(text)
        if letters <= 0:
            break
    return kept


def hooks(random, one):
    """Tiny chunks and small buffers; what a hit costs bounds how tiny."""
    if one.problem == "primer":
        sizes = random.choice([8, 16, 24]), random.choice([1, 7, 200])
        given = {"part": random.choice([1, 30, 1 << 20])}
        return given | ({"sizes": sizes} if one.device == "cpu" else {})
    gap = choices.most(one.k, one.patterns) + 16
    gap = max(map(len, one.patterns)) if one.problem == "best" else gap
    total = sum(map(len, one.records)) + gap * len(one.records)  # positions, about
    given = {
        "chunk_length": random.choice([None, 1, 2, 5, 13, 63, 64, 65, 150, random.randint(1, 400)])
    }
    if given["chunk_length"]:
        given["chunk_length"] = max(given["chunk_length"], total // 60)
    capacities = [None, 1, 2, 3, 5, 8, 13, 50] if total < 300 else [None, 20, 50, 200]
    capacities = capacities if total < 3000 else [None, 200]
    given["capacity"] = random.choice(capacities)
    edits = one.options.get("edit")
    if one.problem != "hamming" and edits is not False:
        given["filtering"] = random.choice([True, True, False, None])
    if one.problem in ("hamming", "multi") or edits is False:
        given["words"] = random.choice([1, 2, 3, None])
    return given


def patches(random, one):
    given = draw_patches(random)
    if one.problem in ("edit", "best"):
        given["parts"] = random.choice([0, 0, 1, 2, 3, 7, 100])
        given["few"] = bool(one.hooks.get("filtering")) and random.random() < 0.5
    return {name: value for name, value in given.items() if value is not False}


def asked(random, problem, device, threads, change=linear):
    """A Search on a device, perhaps by a published algorithm; change: see `fuzzing.genomes`."""
    one = change(random, search(random, problem))
    options = one.options | choices.algorithm(random, one.problem, device, one.options)
    return replace(one, options=options, device=device, threads=random.choice(threads))


def tiny(problem, change=linear):
    def kind(random, device):
        one = asked(random, problem, device, [1, 2], change)
        one = replace(one, hooks=hooks(random, one))
        return replace(one, patches=patches(random, one))

    return kind


def packed(problem, change=linear):
    def kind(random, device):
        one = tiny(problem, change)(random, device)
        given = {name: value for name, value in one.hooks.items() if name != "words"}
        layout = {
            "length": random.choice([70, 200, 500, 5000]),
            "halo": random.choice([0, 64, 128, 256]),
            "gap": random.choice([16, 64]),
        }
        return replace(one, hooks=given, source="packed", layout=layout)

    return kind


def function(problem, change=linear):
    def kind(random, device):
        one = asked(random, problem, device, [1, 2, 3], change)
        one = replace(one, way="api", patches=draw_patches(random))
        files = [source for source in inputs.GENOMES if source != "stdin"]
        return from_file(one, random.choice(["memory", *files]))

    return kind


def command(problem, way="command", change=linear):
    def kind(random, device):
        one = asked(random, problem or random.choice(PROBLEMS), device, [1, 2], change)
        output = random.choice([None, None, "out.bed", "out.tsv", "out.bed.gz"])
        one = replace(one, way=way, output=output, panel=panel(random, one))
        if way == "command":
            one = replace(one, patches=draw_patches(random))
        if one.files:
            return one
        one = from_file(one, random.choice(inputs.GENOMES))
        if one.source == "stdin" and one.panel == "stdin":
            one = replace(one, panel="text")
        return written_as(random, one)

    return kind


def circular(problem):
    def kind(random, device):
        make = random.choice([tiny, packed, function, command])
        return make(problem, change=on_circles)(random, device)

    return kind


def several(problem):
    return command(problem, change=dealt_out)


def panel(random, one):
    """What a command reads the patterns or primers from."""
    if one.problem == "primer":
        return "fasta"
    if one.problem != "pcr":
        return random.choice(inputs.PANELS)
    return random.choice(inputs.PAIRS if inputs.in_pairs(one.roles) else ("fasta", "mates", "bed"))


def written_as(random, one):
    """The same with a format that only commands have, or with a summary."""
    if one.problem in ("primer", "pcr"):
        return one
    form = "view" if random.random() < 0.1 and "circular" not in one.options else one.form
    if form == "sam" and one.source == "stdin":  # which cannot be read for its header at first
        form = "gff3"
    options, summary = one.options, random.choice([None] * 6 + ["beside", "only"])
    if summary == "only":
        options = {name: value for name, value in options.items() if name != "limit"}
    return replace(one, form=form, options=options, summary=summary)


def from_file(one, source):
    """The same from a source; 2bit and GenBank hold the letters that a search can tell apart."""
    records, options = one.records, one.options
    if source in ("2bit", "genbank"):
        records = [naive.known(text) for text in records]
    if source == "genbank" and not all(records):
        records = [text for text in records if text] or ["ACGT"]
        options = {name: value for name, value in options.items() if name != "regions"}
    return replace(one, records=records, options=options, source=source)


def survivors(random, device):
    """Lanes of several rows, of which a filter lets more survive than are worth it.

    The text repeats itself from lane to lane, so that this is so in some of the rows.
    """
    m = random.randint(4, 8)
    k = random.choice([0, 1, 1, 2])
    written = [texts.pattern(random, m, m) for _ in range(random.randint(1, 2))]
    rows = 2 * (m + k) + random.randint(2, 15)
    unit = texts.letters(random, rows) + texts.copy(random, random.choice(written), k + 1)
    unit = (unit + texts.letters(random, rows, least=rows))[:rows]
    text = list(unit * random.choice([LANES + 8, LANES * 3 // 2]))
    for _ in range(random.choice([0, 20, 500])):
        text[random.randrange(len(text))] = random.choice("ACGTN")
    text = "".join(text)
    cut = random.choice([0, 1, 700, len(text)])
    options = {
        "report": random.choice(choices.REPORTS[:2]),  # for loci the oracle takes too long
        "strand": random.choice(["both", "+", "-"]),
    }
    given = {
        "filtering": True,
        "chunk_length": random.choice([LANES * rows, LANES * rows // 2]),
        "capacity": random.choice([None, 5000, 500]),
    }
    patch = {"parts": random.choice([2, 5, rows, rows]), "few": True} if device == "cpu" else {}
    return Search(
        *("edit", [text[:cut], text[cut:]], written, k, options),
        hooks=given,
        patches=patch,
        threads=random.choice([1, 2]),
        device=device,
    )


def together(random, device):
    """Searches of other problems and patterns in the same chunks, at the same time."""
    problems = random.choices(PATTERNS, k=random.randint(2, 4))
    if random.random() < 0.5:  # searches of one problem share more
        problems = problems[:1] * len(problems)
    first = search(random, problems[0])
    chunk_length = random.choice([None, 40, 100, 1000])
    source = random.choice(["memory", "packed"])
    searches = []
    for problem in problems:
        one = search(random, problem, within(first.records, 300))
        one.options.pop("regions", None)  # of records that may become shorter
        given = {"chunk_length": chunk_length, "capacity": random.choice([None, None, 20])}
        searches.append(
            replace(one, hooks=given, device=device, threads=random.choice([1, 2]), source=source)
        )
    records = min((one.records for one in searches), key=lambda texts: sum(map(len, texts)))
    searches = [replace(one, records=records) for one in searches]
    layout = {"length": 500, "halo": 64, "gap": 64} if source == "packed" else {}
    return replace(searches[0], way="together", layout=layout, beside=tuple(searches[1:]))


def forked(random, device):
    one = tiny(random.choice(PROBLEMS))(random, device)
    one.options.pop("algorithm", None)  # whose threads a fork ends
    return replace(one, way="fork", threads=2)


def _kinds():
    kinds = {}
    for name, make in (
        ("tiny chunks", tiny),
        ("packed", packed),
        ("function", function),
        ("command", command),
        ("circular", circular),
        ("list", several),
    ):
        searched = PROBLEMS if make not in (circular, several) else (*PATTERNS, "pcr")
        kinds |= {f"{problem}, {name}": make(problem) for problem in searched}
    kinds |= {f"damaged {name}": damage.damaged(name) for name in damage.FORMATS}
    heavy = {
        "edit, too many survivors": survivors,
        "side by side": together,
        "a child of fork": forked,
        "a process": command(None, "process"),
    }
    return kinds, heavy


LIGHT, HEAVY = _kinds()
KINDS = LIGHT | HEAVY
ROUNDS = 5  # of light kinds for one of heavy ones


def schedule(device):
    """Kinds one after the other, all of them before any comes a second time."""
    heavy = [kind for kind in HEAVY if device == "cpu" or kind != "a child of fork"]
    while True:
        yield from [*LIGHT, *heavy]
        yield from list(LIGHT) * (ROUNDS - 1)
