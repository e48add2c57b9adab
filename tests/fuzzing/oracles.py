"""What the oracles say that a search finds, and its tables, byte by byte."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import naive
import naive_bounds
import naive_circles
from support.formats import columns_of, gff3_row, sam_row

import kmatch

NOT_OF_ORACLES = ("algorithm", "limit", "regions", "circular")
BOUNDS = ("max_mismatches", "max_insertions", "max_deletions")
RULES = ("pam", "exact_5p", "exact_3p", *BOUNDS)
SITES = ("start", "end", "distance", "cigar")


def named(search):
    """The records as (name, sequence) pairs."""
    return [(f"r{number}", text) for number, text in enumerate(search.records)]


def circles(search):
    """The numbers of circular records."""
    given = search.options.get("circular", [])
    numbers = range(len(search.records))
    return set(numbers) if given is True else {n for n in numbers if f"r{n}" in given}


def unrolled(search):
    """The records, circles twice, so that no hit leaves them."""
    round_ = circles(search)
    records = enumerate(named(search))
    return [(name, 2 * text if n in round_ else text) for n, (name, text) in records]


def in_rows(search, found):
    """What is found, with two rows for what runs over an origin, as BED shows it."""
    for record, start, end, *rest in found:
        size = len(search.records[record])
        yield record, start, min(end, size), *rest
        if end > size:
            yield record, 0, end - size, *rest


def genome_name(search, number):
    """The name of a genome's folder."""
    return f"genome{number}"


def genomes(search):
    """The search in each genome of a list."""
    first = 0
    for many, source in search.files:
        records = search.records[first : first + many]
        yield replace(search, records=records, source=source, files=())
        first += many


def listed(search, paths):
    """The table of a search in several genomes, whose names are a column of it."""
    lines = []
    for part, path in zip(genomes(search), paths, strict=True):
        rows = table(part).decode().splitlines()
        if search.form == "bed":
            lines += [f"{row}\t{path}" for row in rows]
        else:
            lines += [f"genome\t{rows[0]}"] if not lines else []
            lines += [f"{path}\t{row}" for row in rows[1:]]
    return "".join(f"{line}\n" for line in lines).encode()


def background(search):
    return [(f"b{number}", text) for number, text in enumerate(search.patterns)]


def names(search):
    """Names of the patterns, of which two may be the same."""
    if search.way == "api" or search.panel == "words":
        return search.patterns
    return [f"p{number % 3}" for number in range(len(search.patterns))]


def distances(search):
    """How many differences each pattern may have; for `best`, as many as it has letters."""
    if search.problem == "best":
        return [len(pattern) for pattern in search.patterns]
    if isinstance(search.k, int):
        return [search.k] * len(search.patterns)
    share = Fraction(search.k.rstrip("%")) / 100
    return [int(len(pattern) * share) for pattern in search.patterns]


def table(search):
    """The table that a search has to write, as bytes."""
    if search.problem == "primer":
        options = _oracle_options(search)
        rows = naive.primers(named(search), background(search), search.k, **options)
        return naive.primers_bed(named(search), search.k, rows).encode()
    if search.problem == "pcr":
        return _products(search).encode()
    found = hits(search)
    if limit := search.options.get("limit"):
        found = closest(found, limit)
    return FORMS[search.form](search, found).encode()


def summary(search):
    """The table of `--summary`, as bytes; a limit changes nothing there."""
    found = hits(search)
    most = max(hit[4] for hit in [(0,) * 5, *found])
    if search.problem != "best":
        most = max(distances(search))
    return naive.summary(names(search), most, found).encode()


def hits(search):
    """All hits (record, start, end, pattern, distance, strand, CIGAR), by numbers, in order."""
    found, records = [], named(search)
    for number, (pattern, k) in enumerate(zip(search.patterns, distances(search), strict=True)):
        for hit in _hits_of(search, records, pattern, k):
            hit = (*hit[:3], number, *hit[4:])
            found.append(hit if len(hit) > 6 else (*hit, _gapless(search, hit)))
    found = naive.in_order(found)
    regions = search.options.get("regions")
    if regions is None:
        return found
    return [
        (record, start, end, *rest)
        for record, start, end, *rest in found
        if any(f"r{record}" == name and a <= start and end <= b for name, a, b in regions)
    ]


def closest(found, limit):
    """The hits that a limit keeps."""
    seen, kept = Counter(), []
    for hit in sorted(found, key=lambda hit: hit[4]):  # the order of the genome among equals
        seen[hit[3]] += 1
        if seen[hit[3]] <= limit:
            kept.append(hit)
    return naive.in_order(kept)


def _oracle_options(search):
    return {name: x for name, x in search.options.items() if name not in NOT_OF_ORACLES}


def _hits_of(search, records, pattern, k):
    round_ = circles(search)
    if not round_:
        return _linear_hits(search, records, pattern, k)
    lines = [(name, "" if n in round_ else text) for n, (name, text) in enumerate(records)]
    rings = [(name, text if n in round_ else "") for n, (name, text) in enumerate(records)]
    found = _linear_hits(search, lines, pattern, k) + _circular_hits(search, rings, pattern, k)
    least = min((hit[4] for hit in found), default=0)
    return [hit for hit in found if search.problem != "best" or hit[4] == least]


def _circular_hits(search, records, pattern, k):
    options = _oracle_options(search)
    if search.problem in ("edit", "best"):
        given = () if search.problem == "best" else (k,)
        return getattr(naive_circles, search.problem)(records, [pattern], *given, **options)
    if options.get("pam"):
        return naive_circles.multi(records, [pattern], k, **options)
    plain = {name: value for name, value in options.items() if not name.startswith("pam")}
    return naive_circles.hamming(records, [pattern], k, **plain)


def _linear_hits(search, records, pattern, k):
    options = _oracle_options(search)
    ruled = any(options.get(name) not in (None, 0) for name in RULES)
    ruled |= any(options.get(name) == 0 for name in BOUNDS)
    if search.problem == "best":
        oracle = naive_bounds if ruled else naive
        return oracle.best(records, [pattern], **(options if ruled else _strand(options)))
    if search.problem == "edit":
        if ruled:
            return naive_bounds.edit(records, [pattern], k, **options)
        report = options.get("report") or "minima"
        return naive.edit(records, [pattern], k, report, **_strand(options))
    if options.get("pam"):
        return naive.multi(records, [pattern], k, **options)
    plain = {name: value for name, value in options.items() if not name.startswith("pam")}
    return naive.hamming(records, [pattern], k, **plain)


def _strand(options):
    return {"strand": options.get("strand", "both")}


def _match(search, hit):
    """The text of a hit in the pattern's direction."""
    text = naive.known(unrolled(search)[hit[0]][1][hit[1] : hit[2]])
    return text if hit[5] == "+" else naive.reverse_complement(text)


def _whole(search, hit):
    """The pattern of a hit, with N for the letters of the PAM beside it."""
    pattern, cigar = search.patterns[hit[3]], hit[6]
    beside = "N" * (len(columns_of(cigar)) - cigar_count(cigar, "D") - len(pattern))
    return beside + pattern if search.options.get("pam_side") == "5p" else pattern + beside


def cigar_count(cigar, op):
    return columns_of(cigar).count(op)


def _gapless(search, hit):
    """The CIGAR of a hit without gaps."""
    text = _match(search, hit)
    whole = _whole(search, (*hit, f"{len(text)}="))
    return naive.cigar(
        ["=" if naive.matches(p, t) else "X" for p, t in zip(whole, text, strict=True)]
    )


def _bed(search, found):
    rows = [hit[:6] for hit in in_rows(search, found)]
    return naive.bed(named(search), names(search), search.patterns, rows)


def _plain(search, found):
    """TSV without the column k."""
    return naive.edit_tsv(unrolled(search), names(search), found)


def _tsv(search, found):
    text = _plain(search, found)
    if isinstance(search.k, int) or search.problem == "best":
        return text
    header, *lines = text.splitlines()
    each = distances(search)
    lines = [f"{line}\t{each[hit[3]]}\n" for line, hit in zip(lines, found, strict=True)]
    return "".join([f"{header}\tk\n", *lines])


def _rows(search, found):
    return [line.split("\t") for line in _plain(search, found).splitlines()[1:]]


def _sam(search, found):
    lines = ["@HD\tVN:1.6\tSO:coordinate"]
    lines += [f"@SQ\tSN:{name}\tLN:{len(text)}" for name, text in named(search) if text]
    lines.append(f"@PG\tID:kmatch\tPN:kmatch\tVN:{kmatch.__version__}")
    rows = zip(_rows(search, found), found, strict=True)
    lines += [sam_row(row, _whole(search, hit)) for row, hit in rows]
    return "".join(f"{line}\n" for line in lines)


def _gff3(search, found):
    rows = zip(_rows(search, found), found, strict=True)
    lines = [gff3_row(i, row, len(search.patterns[hit[3]])) for i, (row, hit) in enumerate(rows, 1)]
    return "".join(f"{line}\n" for line in ["##gff-version 3", *lines])


def _view(search, found):
    """A line a hit, as `viewed` makes it of what kmatch writes."""
    lines = []
    for record, start, end, number, distance, sign, cigar in found:
        hit = (record, start, end, number, distance, sign, cigar)
        letters, text = iter(_whole(search, hit).upper().replace("U", "T")), _match(search, hit)
        rest, above, below, beside = iter(text), "", "", _beside(search, hit)
        for op in columns_of(cigar):
            below += next(rest) if op != "I" else "-"
            above += next(letters) if op != "D" else "-"
        above = below[: beside[0]] + above[beside[0] : beside[1]] + below[beside[1] :]
        place = f"r{record}:{start}-{end} {sign} {names(search)[number]}, distance {distance}"
        lines.append(f"{place}\t{above}\t{below}\n")
    return "".join(lines)


def _beside(search, hit):
    """The columns of a hit that are the pattern's, not the PAM's."""
    columns = len(columns_of(hit[6]))
    pam = columns - cigar_count(hit[6], "D") - len(search.patterns[hit[3]])
    return (pam, columns) if search.options.get("pam_side") == "5p" else (0, columns - pam)


def viewed(written):
    """What `--format view` wrote, as bytes, a line a hit: its title, pattern and text."""
    rows, lines, at = written.decode().split("\n"), [], 0
    while at < len(rows) - 1:
        place, at = rows[at], at + 1
        above = below = ""
        while rows[at]:  # the pattern, what matches, which may be nothing, and the text
            pattern, _, text = rows[at : at + 3]
            assert (pattern[:8].strip(), text[:8]) == ("pattern", "text    ")
            below += text[8:]
            above += pattern[8:].ljust(len(text) - 8)
            at += 3
        part = slice(len(above) - len(above.lstrip()), len(above.rstrip()))
        lines.append(f"{place}\t{above[part]}\t{below[part]}\n")
        at += 1
    return "".join(lines).encode()


FORMS = {"bed": _bed, "tsv": _tsv, "sam": _sam, "gff3": _gff3, "view": _view}


def pair_names(search):
    """Names of the pairs of primers."""
    pairs = 1 + max((pair for pair, _ in search.roles), default=-1)
    first = "pair_1" if search.panel == "words" else "q0"
    return [f"{first[:-1]}{number + int(first[-1])}" for number in range(pairs)]


def primer_names(search):
    """Names of the primers; alternates are numbered."""
    endings = ENDINGS.get(search.panel, ("_F", "_R"))
    pairs, seen, found = pair_names(search), Counter(), []
    for pair, role in search.roles:
        alternate = f"_alt{seen[pair, role]}" if seen[pair, role] else ""
        seen[pair, role] += 1
        found.append(f"{pairs[pair]}{endings[role == 'R']}{alternate}")
    return found


ENDINGS = {"fasta": ("_F", "_R"), "mates": ("/1", "/2"), "bed": ("_LEFT", "_RIGHT")}


def _products(search):
    options = dict(search.options)
    product, pairs = options.pop("product", (50, 5000)), options.pop("pairs", "own")
    sequence, edit = options.pop("sequence", False), options.pop("edit", False)
    products = _all_products(search, options, edit, (tuple(product), pairs))
    if search.form == "bed":
        rows = in_rows(search, products)
        return "".join(_product_line(search, row, _scores(search, row)) for row in rows)
    header = ["sequence", "start", "end", "name", "length", "strand"]
    for side in ("forward", "reverse"):
        columns = [f"{side}_start", f"{side}_end", f"distance_{side}", f"cigar_{side}"]
        header += [side, *columns]
    lines = ["\t".join([*header, *(["product"] if sequence else [])]) + "\n"]
    lines += [_product_line(search, row, _details(search, row, sequence)) for row in products]
    return "".join(lines)


def _all_products(search, options, edit, wanted):
    """The products of circles and of other records, in order."""
    options.pop("circular", None)
    options = {name: value for name, value in options.items() if name != "algorithm"}
    round_, primers, k = circles(search), search.patterns, search.k
    lines = [(name, "" if n in round_ else text) for n, (name, text) in enumerate(named(search))]
    rings = [(name, text if n in round_ else "") for n, (name, text) in enumerate(named(search))]
    if edit and options.get("exact_3p"):
        sites = naive_bounds.edit(lines, primers, k, "loci", **options)
    elif edit:
        sites = naive.edit(lines, primers, k, "loci")
    else:
        sites = naive.hamming(lines, primers, k, **options)
    found = naive.pcr(sites, search.roles, *wanted)
    if round_:
        way = naive_circles.edit if edit else naive_circles.hamming
        sites = way(rings, primers, k, **options, **({"report": "loci"} if edit else {}))
        found += naive_circles.pcr(rings, sites, search.roles, *wanted)
    return sorted(found, key=lambda row: row[0])  # in order in each record


def _product_line(search, row, rest):
    record, start, end, _, forward, reverse = row
    (pair, role), (other, facing) = search.roles[forward[3]], search.roles[reverse[3]]
    each = primer_names(search)
    name = f"{each[forward[3]]}+{each[reverse[3]]}"
    if pair == other and role != facing:
        name = pair_names(search)[pair]
    return "\t".join(map(str, [f"r{record}", start, end, name, *rest])) + "\n"


def _scores(search, row):
    *_, sign, forward, reverse = row
    letters = sum(len(search.patterns[site[3]]) for site in (forward, reverse))
    score = round(1000 * (1 - (forward[4] + reverse[4]) / letters))
    return score, sign, forward[4], reverse[4]


def _details(search, row, sequence):
    record, start, end, sign, *sites = row
    columns = [end - start, sign]
    for site in sites:
        cigar = site[6] if len(site) > 6 else _gapless(search, site)
        columns += [primer_names(search)[site[3]], site[1], site[2], site[4], cigar]
    return columns + ([_match(search, (record, start, end, 0, 0, sign))] if sequence else [])
