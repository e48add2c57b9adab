"""What a search is asked for, drawn by Hypothesis: texts, patterns, options, files."""

from dataclasses import replace

import naive
from hypothesis import strategies as st

from fuzzing.assays import assays
from fuzzing.damage import FORMATS, damaged
from fuzzing.reads import read_cases
from fuzzing.searches import COMPRESSED, GENOMES, PATCHES, Search, most
from fuzzing.searches import distances as each_distance
from fuzzing.variants import PROBLEMS as VARIED
from fuzzing.variants import guide_cases, variant_cases
from kmatch.published.registry import PUBLISHED

LETTERS, IUPAC = "ACGTUNRYSWKMBDHVXacgtnrx*", "ACGTURYSWKMBDHVN"
COST = 100_000  # letters of text times letters of patterns that an oracle is asked for
BOUNDS = ("max_mismatches", "max_insertions", "max_deletions")
PAMS = ("NGG", "NAG", "TTTV", "GATC", "N", "RY", "NNNNA", "nrg")
PROBLEMS = (
    *("hamming", "multi", "multi beside a PAM", "best", "edit", "edit beside a PAM"),
    *("edit within bounds", "edit within bounds and a large k"),
)
UNKNOWN = (
    *("hamming among unknown letters", "multi beside a PAM among unknown letters"),
    *("edit among unknown letters", "edit beside a PAM among unknown letters"),
    "pcr among unknown letters",
)

units = st.text("ACGT", min_size=1, max_size=6)
changes = st.tuples(st.integers(0, 200), st.sampled_from("XID"), st.sampled_from("ACGTN"))


def repeats(unit, longest, least=1):
    """A unit again and again."""
    return st.builds(
        lambda one, size: (one * size)[:size] if one else "", unit, st.integers(least, longest)
    )


def turned(text):
    return st.sampled_from([text, naive.reverse_complement(naive.known(text))])


@st.composite
def patterns(draw, longest, equal=False, most_of_them=4):
    """Patterns at random, repeats, palindromes, with IUPAC or lower case, some of them twice."""
    least = draw(st.sampled_from([1, 1, min(8, longest)]))
    if equal:
        least = longest = draw(st.integers(least, longest))
    half = st.text("ACGT", min_size=-(-least // 2), max_size=-(-longest // 2))
    palindromes = half.map(lambda text: (text + naive.reverse_complement(text))[-longest:])
    written = st.one_of(
        st.text("ACGT", min_size=least, max_size=longest),
        repeats(units, longest, least),
        palindromes.filter(lambda text: len(text) >= least),
        st.text(IUPAC, min_size=least, max_size=longest),
        st.text("ACGTacgtNu", min_size=least, max_size=longest),
    )
    # In tables these words stand for a missing value.
    written = written.filter(lambda text: text.upper() not in ("NA", "NAN"))
    found = draw(st.lists(written, min_size=1, max_size=most_of_them))
    return [*found, found[0]] if draw(st.integers(0, 9)) == 0 else found


def edited(text, edits):
    """A text with (position, kind, letter) edits, one after another."""
    for position, kind, letter in edits:
        at = position % (len(text) + 1)
        text = text[:at] + ("" if kind == "D" else letter) + text[at + (kind != "I") :]
    return text


def copies(written, edits=4):
    """Texts that a pattern comes close to, on either strand."""
    bases = written.upper().translate(str.maketrans("URYSWKMBDHVN", "TACGATACAAAG"))
    return st.builds(edited, turned(bases), st.lists(changes, max_size=edits))


@st.composite
def genomes(draw, written, longest):
    """Texts: a few, hundreds of tiny ones, one that is dense with hits, or that is one repeat."""
    near = st.sampled_from(written).flatmap(copies)
    part = st.one_of(
        near,
        near,
        st.text("ACGT", max_size=40),
        st.text(LETTERS, max_size=9),
        repeats(units | st.just("N"), 70),
        st.builds(
            lambda one, times: one.upper() * times, st.sampled_from(written), st.integers(1, 4)
        ),
    )
    text = st.lists(part, max_size=12).map(lambda parts: "".join(parts)[:longest])
    tiny = st.lists(text.map(lambda one: one[:9]), min_size=1, max_size=4)
    many = st.builds(lambda some, times: some * times, tiny, st.integers(1, 60))
    whole = repeats(units | near, longest).map(lambda one: [one])
    return draw(st.one_of(st.lists(text, min_size=1, max_size=4), many, whole))


def within(records, letters):
    """The records, cut where they have more letters than that."""
    kept = []
    for text in records:
        kept.append(text[: max(letters, 0)])
        letters -= len(text)
    return [text for text in kept if text] or ["ACGT"[: max(letters, 1)]]


@st.composite
def circles(draw, written, letters):
    """Circles: repeats all round, copies over the origin, and those shorter than a pattern."""
    near = st.sampled_from(written).flatmap(copies)
    turn = st.builds(lambda one, at: one[at:] + one[:at], near, st.integers(0, 30))
    round_ = repeats(st.sampled_from(written).map(str.upper) | units, letters)
    short = st.text("ACGTN", min_size=1, max_size=max(map(len, written)))
    circle = st.one_of(turn, round_, short, st.text("ACGT", min_size=1, max_size=letters))
    found = draw(st.lists(circle.filter(bool), min_size=1, max_size=3))
    return within(found, letters)


@st.composite
def distances(draw, written, large=False):
    """How many differences patterns may have, or a share of their letters."""
    shortest = min(map(len, written))
    if large:
        return draw(st.integers(shortest // 2, max(shortest - 1, 0)))
    share = st.sampled_from(["0%", "5%", "10%", "12.5%", "25%", "33.3%"])
    few = st.sampled_from([0, 1, 1, 2, 3, 4, 6, shortest // 5, shortest])
    return draw(few.map(lambda k: min(k, shortest - 1)) | share)


@st.composite
def rules(draw, problem, rule, written, k):
    """Options of a problem, beside a PAM or within bounds if the rule says so."""
    options, shortest = {}, min(map(len, written))
    if problem in ("hamming", "multi") or rule or (problem == "best" and draw(st.booleans())):
        ends = {"exact_5p": [0, 0, 1, 3], "exact_3p": [0, 0, 2, 30]}
        options = {name: min(draw(st.sampled_from(x)), shortest) for name, x in ends.items()}
    if problem == "edit":
        reports = ["minima", "ends", "loci", *(["sites", "sites"] if "PAM" in rule else [])]
        options["report"] = draw(st.sampled_from(reports))
    if "PAM" in rule:
        side = draw(st.sampled_from(["3p", "5p"]))
        given = draw(st.lists(st.sampled_from(PAMS), min_size=1, max_size=3, unique=True))
        if any(set(pam.upper()) != {"N"} and holds(written, pam, side) for pam in given):
            given = ["N"]  # a PAM that all patterns hold is refused
        if all(count_unknown(pattern, side) >= min(map(len, given)) for pattern in written):
            longest = max(count_unknown(pattern, side) for pattern in written)
            given = ["N" * min(longest + 1, 64)]  # as their N would be left out
        options |= {"pam": given if len(given) > 1 else given[0], "pam_side": side}
    if "bounds" in rule or (problem == "edit" and rule and draw(st.integers(0, 2)) == 0):
        names = draw(st.lists(st.sampled_from(BOUNDS), unique=True))
        options |= {name: draw(st.integers(0, most(k, written))) for name in names}
    return options


def count_unknown(pattern, side):
    """How many N a pattern ends with, or with `5p` begins with."""
    known = pattern.lstrip("Nn") if side == "5p" else pattern.rstrip("Nn")
    return len(pattern) - len(known)


def holds(written, pam, side):
    """Whether any pattern ends, or with `5p` begins, with something that a PAM stands for."""
    for pattern in written:
        part = pattern[: len(pam)] if side == "5p" else pattern[-len(pam) :]
        pairs = zip(part.upper(), pam.upper(), strict=False)
        if all(set(naive.IUPAC[a]) <= set(naive.IUPAC[b]) for a, b in pairs):
            return True
    return False


@st.composite
def regions(draw, records):
    """Some regions of records that have letters, as (name, start, end)."""
    found = []
    for number, text in enumerate(records[:4]):
        if text and draw(st.booleans()):
            ends = sorted(draw(st.tuples(*2 * [st.integers(0, len(text))])))
            found.append((f"r{number}", *draw(st.sampled_from([ends, [0, len(text)]]))))
    return found


def is_ruled(options):
    """Whether each end is aligned by itself, which costs an oracle much."""
    rules = ("pam", "exact_3p", "exact_5p", "max_unknown", *BOUNDS)
    return any(options.get(name) is not None for name in rules)


@st.composite
def unknown_letters(draw, written, k):
    """How many letters of a hit may be unknown, fewer with the differences than any pattern has."""
    pairs = zip(map(len, written), each_distance(k, written), strict=True)
    return draw(st.integers(0, min(4, *(size - most - 1 for size, most in pairs))))


@st.composite
def selections(draw, count):
    """Globs for records r0 … of which so many stand in some file, and r0 in each."""
    names = [f"r{number}" for number in range(count)]
    wanted = draw(st.lists(st.sampled_from([*names, "r0*", "r[0-9]*", "*"]), max_size=3))
    unwanted = draw(st.lists(st.sampled_from(names[1:]), max_size=2)) if count > 1 else []
    found = {"records": ",".join([*wanted, "r0"])} if wanted else {}
    return found | ({"skip_records": ",".join(unwanted)} if unwanted else {})


@st.composite
def searches(draw, kind, shape):
    """A Search for patterns, in lines, in circles, or in the genomes of a list."""
    problem, _, rule = kind.partition(" ")
    aligned = problem in ("edit", "best")
    large = "large" in rule
    short = 12 if problem == "best" or (aligned and (rule or shape == "circular")) else 24
    longest = (
        9 if large else draw(st.sampled_from([short, short, short if aligned and rule else 90]))
    )
    written = draw(patterns(longest, problem == "multi", 1 if large else 3))
    k = 0 if problem == "best" else draw(distances(written, large))
    if rule and aligned and not large and most(k, written) > 4:
        k = draw(st.integers(2, 4))
        k = min(k, min(map(len, written)) - 1)
    options = {"strand": draw(st.sampled_from(["both", "both", "+", "-"]))}
    options |= draw(rules(problem, rule, written, k))
    if "unknown" in rule:
        options["max_unknown"] = draw(unknown_letters(written, k))
        if isinstance(options.get("pam"), list):
            # Of PAMs of several lengths an oracle takes the first, however many letters it has.
            first, *others = options["pam"]
            alike = [pam for pam in others if len(pam) == len(first) and shape != "circular"]
            options["pam"] = [first, *alike] if alike else first
    cost = COST // 4 if problem == "best" else COST
    if aligned and is_ruled(options):
        cost //= 8 * (1 + (4 if problem == "best" else most(k, written))) ** 2
    letters = max(cost // sum(map(len, written)), 12)
    if shape == "circular":
        turns = 1 + (max(map(len, written)) + most(k, written)) // 12 if aligned else 1
        ruled = aligned and is_ruled(options)
        records = draw(circles(written, max((40 if ruled else 200) // turns, 6)))
    else:
        records = within(draw(genomes(written, 400)), letters)
    return Search(problem, records, written, k, options)


@st.composite
def primers(draw):
    """A Search for primers, some pieces of whose targets stand in the background."""
    piece = st.text("ACGTNacgu", max_size=20) | repeats(units, 40)
    targets = draw(st.lists(st.lists(piece, max_size=3).map("".join), min_size=1, max_size=3))
    target = [text[:60] for text in targets]
    near = st.sampled_from(target).flatmap(lambda text: copies(naive.known(text), 5))
    texts = st.lists(st.lists(piece | near, max_size=3).map("".join), max_size=3)
    k = draw(st.sampled_from([1, 2, 3, 4, 7, 8, 9, 17]))
    options = {
        "background_strand": draw(st.sampled_from(["both", "+"])),
        "both_strands": draw(st.booleans()),
        "max_length": draw(st.sampled_from([None, None, k, k + 1, k + 9])),
    }
    return Search("primer", target, [text[:80] for text in draw(texts)], k, options)


@st.composite
def products(draw, shape, is_among_unknown=False):
    """A Search for products: short primers, some with alternates, strewn over both strands."""
    pairs = draw(st.sampled_from(["own", "own", "any"]))
    roles = []
    for pair in range(draw(st.integers(1, 3))):
        fewest = 0 if pairs == "any" else 1  # some have no partner
        roles += [(pair, "F")] * draw(st.integers(1, 2))
        roles += [(pair, "R")] * draw(st.integers(fewest, 2))
    sequence = st.text("ACGT", min_size=8, max_size=11) | st.text(IUPAC, min_size=8, max_size=9)
    written = [draw(sequence) for _ in roles]
    least = draw(st.sampled_from([0, 1, 8, 20]))
    options = {
        "product": (least, least + draw(st.sampled_from([0, 10, 40, 5000]))),
        "pairs": pairs,
        "edit": draw(st.booleans()),
        "exact_3p": draw(st.sampled_from([0, 0, 1, 2, 4])),
    }
    k = draw(st.sampled_from([0, 1, 1, 2, 3])) if shape != "circular" else draw(st.integers(0, 2))
    if is_among_unknown:
        options["max_unknown"] = draw(unknown_letters(written, k))
    near = st.sampled_from(written).flatmap(lambda one: copies(one, 1))
    text = st.lists(near | near | st.text("ACGTN", max_size=6), max_size=12).map("".join)
    if shape == "circular":
        records = draw(circles(written, 40) | st.lists(text, min_size=1, max_size=2))
        records = within(records, 60 if options["edit"] else 120)
    else:
        records = within(draw(st.lists(text, min_size=1, max_size=4)), 150)
    return Search("pcr", records, written, k, options, roles=roles)


@st.composite
def asked(draw, kind, shape, device, published=False):
    """A Search, how it is asked for, of which files, and with which constants of the code.

    published: whether by a published algorithm.
    """
    ours = {"primer": primers, "pcr": lambda: products(shape)}
    ours["pcr among unknown letters"] = lambda: products(shape, is_among_unknown=True)
    search = draw(ours.get(kind, lambda: searches(kind, shape))())
    options, records, pcr = dict(search.options), search.records, search.problem == "pcr"
    known = [x.name for x in PUBLISHED.get(search.problem, ()) if device.split(":")[0] in x.devices]
    pams = options.get("pam")
    if isinstance(pams, list) and published:  # which take PAMs of one length
        options["pam"] = [pam for pam in pams if len(pam) == len(pams[0])]
    if published:
        options["algorithm"] = draw(st.sampled_from(known))
    given = {"way": draw(st.sampled_from(["command", "command", "api"]))}
    given["source"] = draw(st.sampled_from([*GENOMES, *COMPRESSED, "memory"]))
    if shape == "circular":
        names = draw(st.sets(st.sampled_from([f"r{n}" for n in range(len(records))]), min_size=1))
        options["circular"] = draw(st.sampled_from([True, sorted(names)]))
    elif shape == "list":
        given["way"], records = "command", [text for text in records if text][:40] or ["ACGT"]
        sources, rest = st.sampled_from(["fasta", "packed", "gz", "fastq"]), len(records)
        files = []
        while rest:
            files.append((draw(st.integers(1, rest)), draw(sources)))
            rest -= files[-1][0]
        given["files"] = tuple(files[:4]) if len(files) < 5 else ((len(records), "fasta"),)
        if draw(st.integers(0, 3)) == 0 and kind == "hamming":
            options["circular"] = True
    elif search.problem != "primer" and draw(st.integers(0, 3)) == 0:
        options["regions"] = draw(regions(records)) or [("r0", 0, 1)]
    whole = "regions" not in options and options.get("circular") in (None, True)
    if search.problem != "primer" and whole and draw(st.integers(0, 4)) == 0:
        options |= draw(
            selections(max([many for many, _ in given.get("files", [])] or [len(records)]))
        )
    if (given["way"] == "api" and given["source"] == "stdin") or given.get("files"):
        given["source"] = "fasta"
    if given["source"] == "memory":
        given["way"] = "api"
    if given["source"] in ("2bit", "genbank"):  # which hold the letters that a search tells apart
        records = [naive.known(text) for text in records]
    if given["source"] == "genbank":
        given["source"] = "genbank" if all(records) else "2bit"
    of_patterns, plain = search.problem not in ("primer", "pcr"), not given.get("files")
    forms = ["bed", "tsv"] if of_patterns else ["bed"]
    if of_patterns and plain and "circular" not in options:  # formats without an origin
        forms += ["tsv", "sam", "gff3"]
        if given["way"] == "command" and draw(st.integers(0, 5)) == 0:
            given["summary"] = draw(st.sampled_from(["beside", "only"]))
    given["form"] = draw(st.sampled_from(forms))
    if given["source"] == "stdin" and given["form"] == "sam":  # whose header is read at first
        given["form"] = "gff3"
    if of_patterns and plain and given.get("summary") != "only":
        options |= draw(st.sampled_from(4 * [{}] + [{"limit": n} for n in (1, 2, 10)]))
    in_pairs = search.roles == [(n, role) for n in range(len(search.roles) // 2) for role in "FR"]
    given["panel"] = draw(st.sampled_from(["fasta", "words"]))
    if search.problem == "primer" or (pcr and not in_pairs):
        given["panel"] = "fasta"
    given["output"] = draw(st.sampled_from([None, None, "out", "out.gz"]))
    names = draw(st.sets(st.sampled_from(sorted(PATCHES)), max_size=4))
    given["patches"] = {name: draw(st.sampled_from(PATCHES[name][1])) for name in sorted(names)}
    given["threads"] = draw(st.integers(1, 3))
    return replace(search, records=records, options=options, device=device, **given)


def kinds(device, damages=True):
    """Strategies of all kinds of cases on a device, by name; damages: those of inputs too."""
    found = {}
    for shape in ("linear", "circular", "list"):
        problems = (*PROBLEMS, "pcr") if shape != "linear" else (*PROBLEMS, "pcr", "primer")
        problems += UNKNOWN if shape != "list" else ()
        found |= {f"{one}, {shape}": asked(one, shape, device) for one in problems}
        found |= {f"assay, {shape}": assays(shape == "circular")} if shape != "list" else {}
    names = [name for name, one in PUBLISHED.items() if any(device[:4] in x.devices for x in one)]
    names += ["multi beside a PAM"] if "multi" in names else []
    found |= {f"published {one}": asked(one, "linear", device, published=True) for one in names}
    found |= {f"variants, {one}": variant_cases(one, device) for one in VARIED}
    found["variants, guides"] = guide_cases(device)
    found |= {name: read_cases(name, device) for name in ("demux", "filter")}
    return found | {f"damaged {name}": damaged(name, device) for name in FORMATS if damages}
