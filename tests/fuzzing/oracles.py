"""What the oracles say that a search finds, and its tables, byte by byte."""

import re
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from fnmatch import fnmatchcase
from urllib.parse import quote

import naive
import naive_bounds
import naive_circles
import naive_sites
import naive_unknown

import kmatch
from fuzzing.searches import distances, most

SELECTION = ("records", "skip_records")
NOT_OF_ORACLES = ("algorithm", "limit", "regions", "circular", "max_unknown", *SELECTION)
BOUNDS = ("max_mismatches", "max_insertions", "max_deletions")
RULES = ("pam", "exact_5p", "exact_3p")
BASES = dict(zip("ACGTRYSWKMBDHVN", "TGCAYRSWMKVHDBN", strict=True))


def table(search):
    """The table that a search has to write, as bytes."""
    search = selected(search)
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
    search = selected(search)
    found = hits(search)
    largest = max(hit[4] for hit in [(0,) * 5, *found])
    if search.problem != "best":
        largest = most(search.k, search.patterns)
    return naive.summary(search.names, largest, found).encode()


def selected(search):
    """The search in records without letters where their names are not asked for."""
    wanted, unwanted = (search.options.get(name, "").split(",") for name in SELECTION)
    if search.problem == "primer" or [*wanted, *unwanted] == ["", ""]:
        return search

    def is_taken(name):
        is_wanted = wanted == [""] or any(fnmatchcase(name, glob) for glob in wanted)
        return is_wanted and not any(fnmatchcase(name, glob) for glob in unwanted)

    records = [text if is_taken(name) else "" for name, text in search.named]
    return replace(search, records=records)


def rule_of_letters(search):
    """A context in which unknown letters match what the search has them match."""
    most_unknown = search.options.get("max_unknown")
    return nullcontext() if most_unknown is None else naive_unknown.unknown_letters(most_unknown)


def few_unknown(search, found):
    """The hits with no more unknown letters than the search allows, if it does."""
    most_unknown = search.options.get("max_unknown")
    if most_unknown is None:
        return found
    return [hit for hit in found if naive_unknown.unknown_in(search.named, hit) <= most_unknown]


def plain(search):
    """The options that oracles take; sites are among the ends."""
    options = {name: x for name, x in search.options.items() if name not in NOT_OF_ORACLES}
    if options.get("report") == "sites":
        options["report"] = "ends"
    return options


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
    with rule_of_letters(search):
        return inside(search, naive.in_order(few_unknown(search, everywhere(search))))


def everywhere(search):
    """All hits, with windows that have too many unknown letters."""
    found = []
    each = distances(search.k, search.patterns)
    for number, (pattern, k) in enumerate(zip(search.patterns, each, strict=True)):
        lines, rings = parted(search)
        some = on_lines(search, lines, pattern, k)
        some += on_circles(search, rings, pattern, k) if circles(search) else []
        if search.options.get("report") == "sites":
            some = sites(search, some, pattern, k)
        if search.problem == "best":
            least = min((hit[4] for hit in some), default=0)
            some = [hit for hit in some if hit[4] == least]
        for hit in some:
            hit = (*hit[:3], number, *hit[4:])
            found.append(hit if len(hit) > 6 else (*hit, gapless(search, hit)))
    return found


def sites(search, found, pattern, k):
    """The sites among the hits of one pattern at all ends."""
    bounds = {name: search.options[name] for name in BOUNDS[1:] if name in search.options}
    most_gaps = [naive_sites.most_gaps(k, **bounds)]
    side = search.options["pam_side"]
    return naive_sites.sites(found, search.named, [pattern], most_gaps, side, circles(search))


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
        if "max_unknown" in search.options:  # the oracle takes a short cut where there is no rule
            options.setdefault("max_mismatches", k)
        return naive_circles.edit(records, [pattern], k, **options)
    if search.problem == "best":
        return naive_circles.best(records, [pattern], **options)
    return windows(naive_circles, records, pattern, k, options)


def on_lines(search, records, pattern, k):
    options = plain(search)
    ruled = any(options.get(name) not in (None, 0) for name in RULES)
    ruled |= any(options.get(name) is not None for name in BOUNDS)
    ruled |= "max_unknown" in search.options
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
    names = set()
    for cells, hit in with_cells(search, found):
        is_first = cells[3] not in names
        names.add(cells[3])
        lines.append(sam_row(cells, whole(search, hit, columns_of(hit[6])), is_first))
    return "".join(f"{line}\n" for line in lines)


def gff3(search, found):
    lines = ["##gff-version 3"]
    if search.way == "api" or search.source in ("packed", "chunks"):  # lengths cost no reading
        lines += [f"##sequence-region {name} 1 {len(text)}" for name, text in search.named if text]
    for number, (cells, hit) in enumerate(with_cells(search, found), 1):
        lines.append(gff3_row(number, cells, len(search.patterns[hit[3]])))
    return "".join(f"{line}\n" for line in lines)


FORMS = {"bed": bed, "tsv": tsv, "sam": sam, "gff3": gff3}


def product_table(search):
    with rule_of_letters(search):
        found = inside(search, products(search))
    return "".join(product_line(search, row) for row in in_rows(search, found))


def products(search):
    """The products of circles and of other records, in order."""
    options, k = plain(search), search.k
    wanted = tuple(options.pop("product")), options.pop("pairs")
    edit = options.pop("edit")
    lines, rings = parted(search)
    is_ruled = options.get("exact_3p") or "max_unknown" in search.options
    if edit and is_ruled:
        sites = naive_bounds.edit(lines, search.patterns, k, "loci", **options)
    elif edit:
        sites = naive.edit(lines, search.patterns, k, "loci")
    else:
        sites = naive.hamming(lines, search.patterns, k, **options)
    found = naive.pcr(few_unknown(search, sites), search.roles, *wanted)
    if circles(search):
        way = naive_circles.edit if edit else naive_circles.hamming
        options |= {"report": "loci"} if edit else {}
        if edit and "max_unknown" in search.options:
            options["max_mismatches"] = k
        sites = way(rings, search.patterns, k, **options)
        found += naive_circles.pcr(rings, few_unknown(search, sites), search.roles, *wanted)
    return sorted(found, key=lambda row: row[0])  # in order in each record


def product_line(search, row):
    record, start, end, sign, forward, reverse = row
    (pair, role), (other, facing) = search.roles[forward[3]], search.roles[reverse[3]]
    name = f"{search.primer_names[forward[3]]}+{search.primer_names[reverse[3]]}"
    if pair == other and role != facing:
        name = search.pair_names[pair]
    letters = sum(len(search.patterns[site[3]]) for site in (forward, reverse))
    score = round(1000 * (1 - (forward[4] + reverse[4]) / letters))
    cells = (f"r{record}", start, end, name, score, sign, forward[4], reverse[4])
    return "\t".join(map(str, cells)) + "\n"


# SAM and GFF3, slowly, out of the rows of TSV


def columns_of(cigar):
    """The columns of a CIGAR, one letter each."""
    return "".join(op * int(size) for size, op in re.findall(r"(\d+)([=XID])", cigar))


def runs_of(columns):
    """The CIGAR of columns."""
    return "".join(f"{len(run[0])}{run[1]}" for run in re.finditer(r"(.)\1*", columns))


def read_of(columns, pattern, match):
    """The letters of a read in the pattern's direction."""
    letters, bases, read = list(pattern.upper().replace("U", "T")), list(match), ""
    for op in columns:
        letter = letters.pop(0) if op != "D" else ""
        base = bases.pop(0) if op != "I" else ""
        # What an unknown letter matches is written as in the pattern.
        read += base if op == "=" and base != "N" else letter
    assert not letters and not bases
    return read


def sam_row(row, sequence, is_first):
    """The SAM line of a TSV row, whose pattern, PAM and all, is `sequence`.

    is_first: whether it is the first line of its name.
    """
    record, start, _, name, distance, strand, cigar, match = row
    columns = columns_of(cigar)
    read = read_of(columns, sequence, match)
    if strand == "-":
        columns = columns[::-1]
        read = "".join(BASES[letter] for letter in reversed(read))
    name = re.sub(r"[^!-?A-~]", "_", name)[:254]
    flag = (16 if strand == "-" else 0) + (0 if is_first else 256)
    edits = sum(op != "=" for op in columns)
    cells = [name, flag, record, int(start) + 1, 255, runs_of(columns), "*", 0, 0, read, "*"]
    return "\t".join(map(str, [*cells, f"NM:i:{edits}", f"kd:i:{distance}"]))


def gff3_row(number, row, length):
    """The GFF3 line of a TSV row of a pattern of `length` letters."""
    record, start, end, name, distance, strand, cigar, _ = row
    score = round(1000 * (1 - int(distance) / length))
    name = "".join(quote(c, safe="") if c in "%;=&,\t" else c for c in name)
    escaped = cigar.replace("=", "%3D")
    values = f"ID=hit{number};Name={name};distance={distance};cigar={escaped}"
    cells = [quote(record, safe=".:^*$@!+_?-|"), "kmatch", "nucleotide_match", int(start) + 1, end]
    return "\t".join(map(str, [*cells, score, strand, ".", values]))
