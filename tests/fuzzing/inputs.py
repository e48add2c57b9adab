"""The files that a search reads, and its command line."""

from dataclasses import replace

from support.commands import compressed, fasta, fastq, genbank, here, twobit

from fuzzing.oracles import (
    background,
    genome_name,
    genomes,
    named,
    names,
    pair_names,
    primer_names,
)

COMPRESSED = ("gz", "bgzf", "bz2", "xz", "zst")
GENOMES = ("fasta", "stdin", "packed", "2bit", "genbank", "fastq", "fastq.gz", *COMPRESSED)
PANELS = ("text", "fasta", "bed", "csv", "table", "words", "stdin")
PAIRS = ("text", "fasta", "mates", "bed", "words")


class Refused(Exception):
    """A command that only prepares a search failed."""


def write_genome(search, folder):
    """Write the genome as its source says; returns the path."""
    records, kind = named(search), search.source
    path = folder / "genome"
    if kind in ("2bit", "genbank"):
        path.write_bytes({"2bit": twobit, "genbank": genbank}[kind](records))
        return path
    write = fastq if kind.startswith("fastq") else fasta
    data, packing = write([(f"{name} a title", text) for name, text in records]), kind[-2:]
    if kind in COMPRESSED or packing == "gz":
        data = compressed("gz" if packing == "gz" else kind, data)
    path.write_bytes(data)
    if kind == "packed":
        whole = folder / "genome.kmatch"
        result = here("pack", path, "-o", whole)
        if result.status:
            raise Refused(f"pack: exit status {result.status}: {result.err.decode()}")
        return whole
    return path


def write_list(search, folder):
    """Write the genomes of a list, and the list; returns what names it."""
    paths = []
    for number, part in enumerate(genomes(search)):
        home = folder / genome_name(search, number)
        home.mkdir(exist_ok=True)
        paths.append(write_genome(part, home))
    (folder / "list").write_text("".join(f"{path}\n" for path in paths))
    return f"@{folder / 'list'}"


def panel_data(search):
    """The file of the patterns, or of the primers, as bytes."""
    if search.problem == "primer":
        return fasta(background(search)) or b">b\n"
    if search.problem == "pcr":
        return _primer_data(search)
    rows = list(zip(names(search), search.patterns, strict=True))
    if search.panel == "fasta":
        return fasta([(f"{name} a title", written) for name, written in rows], 50)
    if search.panel == "bed":
        return _bed(rows, ["+"] * len(rows))
    if search.panel == "csv":
        return _lines([["name", "Tm", "seq"], *([name, "60", x] for name, x in rows)], ",")
    if search.panel == "table":
        return _lines([["seq", "gc", "id"], *([x, ".5", name] for name, x in rows)])
    return _lines(rows)


def _primer_data(search):
    if search.panel == "text":
        pairs = zip(search.patterns[::2], search.patterns[1::2], strict=True)
        return _lines([name, *pair] for name, pair in zip(pair_names(search), pairs, strict=True))
    rows = list(zip(primer_names(search), search.patterns, strict=True))
    if search.panel == "bed":
        return _bed(rows, ["+" if role == "F" else "-" for _, role in search.roles])
    return fasta(rows)


def _bed(rows, strands):
    lines = zip(rows, strands, strict=True)
    return _lines(["chr", 5, 9, name, 1, strand, written] for (name, written), strand in lines)


def _lines(rows, between="\t"):
    return "".join(between.join(map(str, row)) + "\n" for row in rows).encode()


def regions_data(regions):
    """The BED file of regions."""
    return _lines(regions)


def command(search, folder):
    """(arguments, standard input) of the command line; writes its input files."""
    path, stdin = (write_list if search.files else write_genome)(search, folder), b""
    if search.source == "stdin":
        path, stdin = "-", path.read_bytes()
    arguments = [search.problem, path, *_panel_words(search, folder)]
    if search.panel == "stdin":
        stdin = panel_data(search)
    if search.problem != "best":
        arguments += ["-k", search.k]
    for name, value in search.options.items():
        arguments += _option_words(name, value, folder)
    arguments += ["--device", search.device, "-t", search.threads]
    form = "bed" if search.problem == "primer" else search.form
    arguments += [] if search.summary == "only" else ["--format", form]
    if search.output:
        arguments += ["-o", folder / search.output]
    if search.summary == "beside":
        arguments += ["--summary", folder / "summary"]
    if search.summary == "only":
        arguments.append("--summary-only")
    return arguments, stdin


def _panel_words(search, folder):
    if search.panel == "words":
        sequences = search.patterns
        if search.problem == "pcr":
            pairs = zip(sequences[::2], sequences[1::2], strict=True)
            return [word for pair in pairs for word in ("-p", *pair)]
        return [word for sequence in sequences for word in ("-p", sequence)]
    if search.panel == "stdin":
        return ["-"]
    path = folder / "patterns"
    path.write_bytes(panel_data(search))
    return [path, *(["--column", "seq"] if search.panel in ("csv", "table") else [])]


def _option_words(name, value, folder):
    option = "--" + name.replace("_", "-")
    if name == "regions" and value is not None:
        path = folder / "regions"
        path.write_bytes(regions_data(value))
        return [option, path]
    if name == "circular":
        return [option] if value is True else [option, ",".join(value)]
    if name == "product":
        return [option, "{}-{}".format(*value)]
    if isinstance(value, list):  # PAMs: some in one word, some in their own
        return [word for pam in [",".join(value[:2]), *value[2:]] for word in (option, pam)]
    if value is True:
        return [option]
    return [] if value is None or value is False else [option, value]


def as_command(search):
    """The same search as a command line, which knows no hooks."""
    panel = search.panel
    if panel in ("text", "words") and not in_pairs(search.roles):
        panel = "fasta"
    return replace(search, way="command", hooks={}, patches={}, beside=(), panel=panel)


def in_pairs(roles):
    """Whether primers come as pairs of one forward and one reverse primer."""
    return roles == [(pair, role) for pair in range(len(roles) // 2) for role in "FR"]
