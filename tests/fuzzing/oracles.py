"""What the oracles say that a search finds, and its tables, byte by byte."""

from collections import Counter

import naive
import naive_bounds
import naive_circles
from support.formats import columns_of, gff3_row, sam_row

import kmatch
from fuzzing.searches import distances, most

NOT_OF_ORACLES = ("algorithm", "limit", "regions", "circular")
BOUNDS = ("max_mismatches", "max_insertions", "max_deletions")
RULES = ("pam", "exact_5p", "exact_3p")


def table(search):
    """The table that a search has to write, as bytes."""
    if search.problem == "primer":
        rows = naive.primers(search.named, search.background, search.k, **plain(search))
        return naive.primers_bed(search.named, search.k, rows).encode()
    if search.problem == "pcr":
        return product_table(search).encode()
    found = hits(search)
    if limit := search.options.get("limit"):
        found = closest(found, limit)
    return FORMS[search.form](search, found).encode()


def listed(search, paths):
    """The table of a search in several genomes, whose names are a column of it."""
    lines = []
    for part, path in zip(search.genomes, paths, strict=True):
        rows = table(part).decode().splitlines()
        if search.form == "bed":
            lines += [f"{row}\t{path}" for row in rows]
        else:
            lines += [f"genome\t{rows[0]}"] if not lines else []
            lines += [f"{path}\t{row}" for row in rows[1:]]
    return "".join(f"{line}\n" for line in lines).encode()


def summary(search):
    """The table of `--summary`, as bytes; a limit changes nothing there."""
    found = hits(search)
    largest = max(hit[4] for hit in [(0,) * 5, *found])
    if search.problem != "best":
        largest = most(search.k, search.patterns)
    return naive.summary(search.names, largest, found).encode()


def plain(search):
    """The options that oracles take."""
    return {name: x for name, x in search.options.items() if name not in NOT_OF_ORACLES}


def circles(search):
    """The numbers of circular records."""
    given = search.options.get("circular", [])
    return {n for n in range(len(search.records)) if given is True or f"r{n}" in given}


def parted(search):
    """The records as lines, and as circles, both without the letters of the others."""
    round_ = circles(search)
    lines = [(name, "" if n in round_ else text) for n, (name, text) in enumerate(search.named)]
    rings = [(name, text if n in round_ else "") for n, (name, text) in enumerate(search.named)]
    return lines, rings


def unrolled(search):
    """The records, circles twice, so that no hit leaves them."""
    round_ = circles(search)
    return [(name, text * (1 + (n in round_))) for n, (name, text) in enumerate(search.named)]


def inside(search, found):
    """What lies in one of the regions, if any are asked for; rows begin (record, start, end)."""
    wanted = search.options.get("regions")
    if wanted is None:
        return found
    return [
        row
        for row in found
        if any(f"r{row[0]}" == name and a <= row[1] and row[2] <= b for name, a, b in wanted)
    ]


def hits(search):
    """All hits (record, start, end, pattern, distance, strand, CIGAR), by numbers, in order."""
    found = []
    each = distances(search.k, search.patterns)
    for number, (pattern, k) in enumerate(zip(search.patterns, each, strict=True)):
        lines, rings = parted(search)
        some = on_lines(search, lines, pattern, k)
        some += on_circles(search, rings, pattern, k) if circles(search) else []
        if search.problem == "best":
            least = min((hit[4] for hit in some), default=0)
            some = [hit for hit in some if hit[4] == least]
        for hit in some:
            hit = (*hit[:3], number, *hit[4:])
            found.append(hit if len(hit) > 6 else (*hit, gapless(search, hit)))
    return inside(search, naive.in_order(found))


def closest(found, limit):
    """The hits that a limit keeps."""
    seen, kept = Counter(), []
    for hit in sorted(found, key=lambda hit: hit[4]):  # the order of the genome among equals
        seen[hit[3]] += 1
        if seen[hit[3]] <= limit:
            kept.append(hit)
    return naive.in_order(kept)


def on_circles(search, records, pattern, k):
    options = plain(search)
    if search.problem == "edit":
        return naive_circles.edit(records, [pattern], k, **options)
    if search.problem == "best":
        return naive_circles.best(records, [pattern], **options)
    return windows(naive_circles, records, pattern, k, options)


def on_lines(search, records, pattern, k):
    options = plain(search)
    ruled = any(options.get(name) not in (None, 0) for name in RULES)
    ruled |= any(options.get(name) is not None for name in BOUNDS)
    strand = {"strand": options.get("strand", "both")}
    if search.problem == "best":
        oracle = naive_bounds if ruled else naive
        return oracle.best(records, [pattern], **(options if ruled else strand))
    if search.problem == "edit" and ruled:
        return naive_bounds.edit(records, [pattern], k, **options)
    if search.problem == "edit":
        return naive.edit(records, [pattern], k, options.get("report") or "minima", **strand)
    return windows(naive, records, pattern, k, options)


def windows(oracle, records, pattern, k, options):
    if options.get("pam"):
        return oracle.multi(records, [pattern], k, **options)
    without = {name: value for name, value in options.items() if not name.startswith("pam")}
    return oracle.hamming(records, [pattern], k, **without)


def match_of(search, hit):
    """The text of a hit in the pattern's direction."""
    text = naive.known(unrolled(search)[hit[0]][1][hit[1] : hit[2]])
    return text if hit[5] == "+" else naive.reverse_complement(text)


def whole(search, hit, columns):
    """The pattern of a hit, with N for the letters of the PAM beside it."""
    pattern = search.patterns[hit[3]]
    beside = "N" * (len(columns) - columns.count("D") - len(pattern))
    return beside + pattern if search.options.get("pam_side") == "5p" else pattern + beside


def gapless(search, hit):
    """The CIGAR of a hit without gaps."""
    text = match_of(search, hit)
    pairs = zip(whole(search, hit, "=" * len(text)), text, strict=True)
    return naive.cigar(["=" if naive.matches(a, b) else "X" for a, b in pairs])


def in_rows(search, found):
    """What is found, with two rows for what runs over an origin, as BED shows it."""
    for record, start, end, *rest in found:
        size = len(search.records[record])
        yield record, start, min(end, size), *rest
        if end > size:
            yield record, 0, end - size, *rest


def bed(search, found):
    rows = [hit[:6] for hit in in_rows(search, found)]
    return naive.bed(search.named, search.names, search.patterns, rows)


def without_k(search, found):
    """TSV without the column k."""
    return naive.edit_tsv(unrolled(search), search.names, found)


def tsv(search, found):
    text = without_k(search, found)
    if isinstance(search.k, int):
        return text
    header, *lines = text.splitlines()
    each = distances(search.k, search.patterns)
    lines = [f"{line}\t{each[hit[3]]}" for line, hit in zip(lines, found, strict=True)]
    return "".join(f"{line}\n" for line in [f"{header}\tk", *lines])


def with_cells(search, found):
    lines = without_k(search, found).splitlines()[1:]
    return zip((line.split("\t") for line in lines), found, strict=True)


def sam(search, found):
    lines = ["@HD\tVN:1.6\tSO:coordinate"]
    lines += [f"@SQ\tSN:{name}\tLN:{len(text)}" for name, text in search.named if text]
    lines.append(f"@PG\tID:kmatch\tPN:kmatch\tVN:{kmatch.__version__}")
    for cells, hit in with_cells(search, found):
        lines.append(sam_row(cells, whole(search, hit, columns_of(hit[6]))))
    return "".join(f"{line}\n" for line in lines)


def gff3(search, found):
    lines = ["##gff-version 3"]
    for number, (cells, hit) in enumerate(with_cells(search, found), 1):
        lines.append(gff3_row(number, cells, len(search.patterns[hit[3]])))
    return "".join(f"{line}\n" for line in lines)


def view(search, found):
    """A line a hit, as `viewed` makes it of what kmatch writes."""
    lines = []
    for hit in found:
        columns, text = columns_of(hit[6]), match_of(search, hit)
        letters = iter(whole(search, hit, columns).upper().replace("U", "T"))
        rest, above, below = iter(text), "", ""
        for op in columns:
            below += next(rest) if op != "I" else "-"
            above += next(letters) if op != "D" else "-"
        pam = len(columns) - columns.count("D") - len(search.patterns[hit[3]])
        if search.options.get("pam_side") == "5p":
            above = below[:pam] + above[pam:]
        else:
            above = above[: len(columns) - pam] + below[len(columns) - pam :]
        name = search.names[hit[3]]
        place = f"r{hit[0]}:{hit[1]}-{hit[2]} {hit[5]} {name}, distance {hit[4]}"
        lines.append(f"{place}\t{above}\t{below}\n")
    return "".join(lines)


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


FORMS = {"bed": bed, "tsv": tsv, "sam": sam, "gff3": gff3, "view": view}


def product_table(search):
    found = inside(search, products(search))
    if search.form == "bed":
        return "".join(
            product_line(search, row, scores(search, row)) for row in in_rows(search, found)
        )
    header = ["sequence", "start", "end", "name", "length", "strand"]
    for side in ("forward", "reverse"):
        header += [side, f"{side}_start", f"{side}_end"]
        header += [f"{name}_{side}" for name in ("distance", "cigar", "match")]
    sequence = bool(search.options.get("sequence"))
    lines = ["\t".join([*header, *(["product"] if sequence else [])]) + "\n"]
    return "".join(
        [*lines, *(product_line(search, x, details(search, x, sequence)) for x in found)]
    )


def products(search):
    """The products of circles and of other records, in order."""
    options, k = plain(search), search.k
    wanted = tuple(options.pop("product")), options.pop("pairs")
    edit = options.pop("edit")
    del options["sequence"]
    lines, rings = parted(search)
    if edit and options.get("exact_3p"):
        sites = naive_bounds.edit(lines, search.patterns, k, "loci", **options)
    elif edit:
        sites = naive.edit(lines, search.patterns, k, "loci")
    else:
        sites = naive.hamming(lines, search.patterns, k, **options)
    found = naive.pcr(sites, search.roles, *wanted)
    if circles(search):
        way = naive_circles.edit if edit else naive_circles.hamming
        options |= {"report": "loci"} if edit else {}
        sites = way(rings, search.patterns, k, **options)
        found += naive_circles.pcr(rings, sites, search.roles, *wanted)
    return sorted(found, key=lambda row: row[0])  # in order in each record


def product_line(search, row, rest):
    record, start, end, _, forward, reverse = row
    (pair, role), (other, facing) = search.roles[forward[3]], search.roles[reverse[3]]
    name = f"{search.primer_names[forward[3]]}+{search.primer_names[reverse[3]]}"
    if pair == other and role != facing:
        name = search.pair_names[pair]
    return "\t".join(map(str, [f"r{record}", start, end, name, *rest])) + "\n"


def scores(search, row):
    *_, sign, forward, reverse = row
    letters = sum(len(search.patterns[site[3]]) for site in (forward, reverse))
    score = round(1000 * (1 - (forward[4] + reverse[4]) / letters))
    return score, sign, forward[4], reverse[4]


def details(search, row, sequence):
    record, start, end, sign, *sites = row
    columns = [end - start, sign]
    for site in sites:
        cigar = site[6] if len(site) > 6 else gapless(search, site)
        columns += [
            search.primer_names[site[3]],
            *site[1:3],
            site[4],
            cigar,
            match_of(search, site),
        ]
    return columns + ([match_of(search, (record, start, end, 0, 0, sign))] if sequence else [])
