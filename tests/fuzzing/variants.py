"""Variants and the patterns that their haplotypes make, as files and words, against the oracle."""

import gzip
import math
import random
import re
import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from unittest import mock

import naive
import naive_bounds
import naive_sites
import naive_variants
import naive_varied
from hypothesis import strategies as st
from support.commands import fasta, here

from fuzzing.searches import Wrong, compare
from kmatch.engine import ways
from kmatch.variants import alleles, haplotypes

# Constants, made so small that tiny cases meet what only large ones would.
SMALL = {
    "together": (((haplotypes, "TOGETHER"),), (1, 2, 5)),
    "large": (((haplotypes, "LARGE"),), (1, 64)),
    "block": (((alleles, "MOST_SITES"),), (1, 2)),
    "tried": (((ways, "TRIED"), (ways, "TRIED_BESIDE")), (1, 1_000)),
}
COLUMNS = [
    "sequence",
    "start",
    "end",
    "pattern",
    "strand",
    "variants",
    "distance",
    "samples",
    "reference_distance",
]
HEAD = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO"]
SEVERAL = ("NG", "G,TC", "NG,GCA", "N,TY,GNA")
PROBLEMS = ("hamming", "multi beside a PAM", "edit", "edit beside a PAM")


def random_sites(rng, letters, samples):
    """Sites (POS, REF, [ALT, …], genotypes) that may overlap and are at both ends, too, and some
    alleles twice, in other forms."""
    places = rng.choices(range(1, len(letters) + 1), k=rng.randint(1, 5))
    places += [1] * (rng.random() < 0.2) + [len(letters)] * (rng.random() < 0.2)
    sites = []
    for place in sorted(places):
        ref = letters[place - 1 : place - 1 + rng.choice([1, 1, 1, 2, 3, 6])]
        alts = {random_allele(rng, ref) for _ in range(rng.choice([1, 1, 1, 2]))} - {ref}
        if alts:
            genotypes = [random_genotype(rng, len(alts)) for _ in samples]
            sites.append((place, ref, sorted(alts), genotypes or None))
    if sites and rng.random() < 0.3:
        sites.append(in_another_form(rng, letters, sites, samples))
    return sorted(sites, key=lambda site: site[0])


def random_allele(rng, ref):
    kind = rng.random()
    if kind < 0.5:
        return "".join(rng.choices("ACGT", k=len(ref)))
    if kind < 0.75:
        return ref[0] + "".join(rng.choices("ACGT", k=rng.choice([1, 2, 5, 12])))
    return ref[: rng.randint(1, len(ref))]


def random_genotype(rng, allele_count):
    one, other = (rng.choice([0, 0, *range(1, allele_count + 1)]) for _ in range(2))
    kinds = [f"{one}|{other}"] * 10 + [f"{one}/{other}"] * 5
    return rng.choice([*kinds, f"{one}", f"{one}", "./.", f".|{one}", f"{one}/."])


def in_another_form(rng, letters, sites, samples):
    """A line with an allele of another line, written with more letters or elsewhere in a repeat."""
    place, ref, alts, _ = rng.choice(sites)
    start, end, alt, *_ = naive_variants.trimmed("", place, ref, rng.choice(alts), 0)
    while rng.random() < 0.5 and end < len(letters):  # to the right, as far as that is the same
        if not alt and letters[start] == letters[end]:
            start, end = start + 1, end + 1
        elif start == end and alt[0] == letters[start]:
            alt = alt[1:] + alt[0]
            start, end = start + 1, end + 1
        else:
            break
    before = rng.randint(0 if start < end and alt else 1, 3)
    low, high = max(start - before, 0), min(end + rng.choice([0, 0, 1, 2]), len(letters))
    if start == 0:
        high = max(high, end + 1)
    ref, alt = letters[low:high], letters[low:start] + alt + letters[end:high]
    return low + 1, ref, [alt], [random_genotype(rng, 1) for _ in samples] or None


def random_patterns(rng, letters, sites, samples, m, has_pam):
    """Three patterns that some copy has, of m letters."""
    copies = [
        naive_variants.made(letters, alleles)[0]
        for _, alleles in naive_variants.haplotypes("r", letters, sites, samples)
    ]
    copies = [text for text in copies if len(text) >= m] or [letters]
    patterns = []
    while len(patterns) < 3:
        text = rng.choice(copies)
        begin = rng.randint(0, len(text) - m)
        patterns.append(text[begin : begin + m])
    if has_pam:  # one that has not the PAM in itself
        patterns[0] = "A" + patterns[0][1:-2] + "AA"
    return patterns


def vcf_of(sites, samples):
    """VCF of sites by record."""
    lines = ["##fileformat=VCFv4.2"]
    lines.append("\t".join([*HEAD, *(["FORMAT", *samples] if samples else [])]))
    for record, some in sites.items():
        for place, ref, alts, genotypes in some:
            cells = [record, place, ".", ref, ",".join(alts), ".", "PASS", "."]
            if genotypes:
                cells += ["GT:DP", *(f"{genotype}:7" for genotype in genotypes)]
            lines.append("\t".join(map(str, cells)))
    return "".join(f"{line}\n" for line in lines)


def plain(problem, patterns, k, options):
    """The oracle's search of one text for patterns, with the letters of each hit's PAM, and those
    that are inserted and deleted.

    options: strand, and pam, pam_side and report where the problem has them.
    """

    def search(text, every):
        records = [("", text)]
        is_edit = problem == "edit"
        are_ends = every or options.get("report") == "sites"
        given = options | ({"report": "ends"} if is_edit and are_ends else {})
        if is_edit and "pam" not in options:
            found = naive.edit(records, patterns, k, **given)
        elif is_edit:
            found = naive_bounds.edit(records, patterns, k, **given)
        else:
            found = getattr(naive, problem)(records, patterns, k, **given)
        return [
            (*hit[1:6], letters_beside(hit, patterns[hit[3]], options), gaps_in(hit))
            for hit in found
        ]

    return search


def gaps_in(hit):
    """How many letters the alignment of a hit inserts and deletes, 0 where it has none."""
    return naive_sites.gaps_of(hit) if len(hit) > 6 else 0


def reference_sites(name, letters, patterns, k, options):
    """The sites of the reference, as `plain` finds hits."""
    records = [(name, letters)]
    given = options | {"report": "ends"}
    ends = naive_bounds.edit(records, patterns, k, **given)
    most_gaps = [naive_sites.most_gaps(k)] * len(patterns)
    return naive_sites.sites(ends, records, patterns, most_gaps, options["pam_side"])


def letters_beside(hit, pattern, options):
    """How many letters the PAM of a hit has."""
    if "pam" not in options:
        return 0
    runs = re.findall(r"(\d+)([=XID])", hit[6]) if len(hit) > 6 else []
    columns = {op: sum(int(size) for size, each in runs if each == op) for op in "ID"}
    return hit[2] - hit[1] - len(pattern) - columns["D"] + columns["I"]


@dataclass(frozen=True)
class VariantCase:
    """A search with variants.

    records: (name, letters); sites: by record, see `random_sites`; options: as `plain` takes them;
    files: names of the records in each file of variants; patches: of SMALL.
    """

    problem: str
    records: list
    sites: dict
    samples: list
    patterns: list
    k: int
    options: dict
    files: list
    is_compressed: bool = False
    threads: int = 1
    device: str = "cpu"
    patches: dict = field(default_factory=dict)

    def command(self, folder):
        """(arguments, standard input) of the command line; writes its files."""
        (folder / "genome.fa").write_bytes(fasta(self.records))
        words = [self.problem, folder / "genome.fa", "-k", self.k, "--columns", ",".join(COLUMNS)]
        for pattern in dict.fromkeys(self.patterns):
            words += ["-p", pattern]
        for number, names in enumerate(self.files):
            text = vcf_of({name: self.sites[name] for name in names}, self.samples).encode()
            path = folder / f"{number}.vcf"
            path.write_bytes(gzip.compress(text) if self.is_compressed else text)
            words += ["--variants", path]
        for name, value in self.options.items():
            words += [f"--{name.replace('_', '-')}", value]
        return [*words, "-t", self.threads, "--device", self.device], b""

    def check(self, folder):
        """Raise Wrong where the command does not write what the oracle does; folder: for files."""
        arguments, stdin = self.command(folder)
        with patched(self.patches):
            result = here(*arguments, stdin=stdin)
        if result.status or b"Traceback" in result.err:
            raise Wrong(f"exit status {result.status}: {result.err.decode()}")
        head, *rows = result.out.decode().splitlines()
        if head.split("\t") != COLUMNS:
            raise Wrong(f"the columns are {head}")
        compare("\n".join(sorted(rows)).encode(), "\n".join(sorted(self.rows())).encode())

    def rows(self):
        """Yield the rows of the table, in no order."""
        patterns = list(dict.fromkeys(self.patterns))
        search = plain(self.problem, patterns, self.k, self.options)
        three_prime = self.options.get("pam_side", "3p") == "3p"
        for name, letters in self.records:
            are_sites = self.options.get("report") == "sites"
            if are_sites:
                given = name, letters, patterns, self.k, self.options
                found = [hit[1:6] for hit in reference_sites(*given)]
            else:
                found = [hit[:5] for hit in search(letters, False)]
            for start, end, number, distance, strand in found:
                cells = name, start, end, patterns[number], strand, "", distance, "", distance
                yield "\t".join(map(str, cells))
            given = name, letters, self.sites.get(name, []), self.samples, search, three_prime
            most_gaps = naive_sites.most_gaps(self.k) if are_sites else None
            for start, end, number, strand, names, distance, who, known in naive_variants.hits(
                *given, most_gaps
            ):
                known = "" if known is None else known
                cells = name, start, end, patterns[number], strand, names, distance, who, known
                yield "\t".join(map(str, cells))


@dataclass(frozen=True)
class GuideCase:
    """Guides of a record with variants.

    letters: of the record; sites: see `random_sites`; rules: what sites are; is_own: whether the
    target is the record, and not one with the same letters.
    """

    letters: str
    sites: list
    samples: list
    rules: naive_varied.Rules
    is_own: bool
    device: str = "cpu"
    patches: dict = field(default_factory=dict)

    def command(self, folder):
        """(arguments, standard input) of the command line; writes its files."""
        name = "r" if self.is_own else "other"
        (folder / "target.fa").write_bytes(fasta([(name, self.letters)]))
        (folder / "genome.fa").write_bytes(fasta([("r", self.letters)]))
        (folder / "x.vcf").write_text(vcf_of({"r": self.sites}, self.samples))
        k, pam, bulges, report = self.rules
        words = ["guides", folder / "target.fa", folder / "genome.fa", "-k", k, "--pam", pam]
        words += ["--max-insertions", bulges, "--max-deletions", bulges, "--report", report]
        return [*words, "--variants", folder / "x.vcf", "--device", self.device, "-t", 1], b""

    def check(self, folder):
        """Raise Wrong where a guide has not the columns of the oracle; folder: for files."""
        arguments, stdin = self.command(folder)
        with patched(self.patches):
            result = here(*arguments, stdin=stdin)
        if b"there is no guide" in result.err:
            return
        if result.status or b"Traceback" in result.err:
            raise Wrong(f"exit status {result.status}: {result.err.decode()}")
        head, *rows = (row.split("\t") for row in result.out.decode().splitlines())
        for cells in rows:
            row = dict(zip(head, cells, strict=True))
            own = (int(row["start"]), int(row["end"]), row["strand"]) if self.is_own else None
            given = "r", self.letters, self.sites, self.samples, row["guide"], own, self.rules
            count, specificity, names, frequency = naive_varied.guide_columns(*given)
            compare(
                repr([row["variant_sites"], row["target_variants"]]).encode(),
                repr([str(count), names]).encode(),
            )
            for name, wanted in (("specificity_variants", specificity), ("target_af", frequency)):
                found = float(row[name] or "nan")
                are_unknown = math.isnan(found) and math.isnan(wanted)
                if not are_unknown and not math.isclose(found, wanted, abs_tol=1e-4):
                    raise Wrong(f"{name} is {found}, and not what the oracle says, {wanted}")


def random_places(rng, guide, most):
    """Letters with sites of a guide in them, as many as said at the most."""
    parts = [guide + rng.choice("ACGT") + "GG"]
    for _ in range(rng.randint(0, most - 1)):
        letters = list(guide)
        for _ in range(rng.randrange(4)):
            place = rng.randrange(len(letters))
            kinds = [[rng.choice("ACGT")]] * 4 + [[], [letters[place], rng.choice("ACGT")]]
            letters[place : place + 1] = rng.choice(kinds)
        site = "".join(letters) + rng.choice(["AGG", "TGG", "GGG", "CGA", "GGGG"])
        parts.append(rng.choice([site, site, naive.reverse_complement(site)]))
    rng.shuffle(parts)
    return "".join(rng.choice(["", "T", "AT", "GG"]) + part for part in parts)


@st.composite
def guide_cases(draw, device):
    """A GuideCase."""
    rng = random.Random(draw(st.integers(0, 1 << 32)))
    samples = [f"S{number}" for number in range(draw(st.sampled_from([0, 1, 2, 3])))]
    bulges = draw(st.sampled_from([0, 0, 0, 1]))
    k = draw(st.integers(1, 2 if bulges else 3))
    letters = random_places(rng, "".join(rng.choices("ACGT", k=20)), 2 if bulges else 4)
    return GuideCase(
        letters=letters,
        sites=random_sites(rng, letters, samples),
        samples=samples,
        rules=naive_varied.Rules(k, "NGG", bulges, draw(st.sampled_from(["sites", "ends"]))),
        is_own=draw(st.booleans()),
        device=device,
        patches=draw(patches()),
    )


@contextmanager
def patched(values):
    """Set constants of SMALL, by name, without warnings."""
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in values.items():
            for module, constant in SMALL[name][0]:
                stack.enter_context(mock.patch.object(module, constant, value))
        yield


@st.composite
def patches(draw):
    """Some constants of SMALL, with their values."""
    chosen = draw(st.sets(st.sampled_from(sorted(SMALL)), max_size=3))
    return {each: draw(st.sampled_from(SMALL[each][1])) for each in sorted(chosen)}


@st.composite
def variant_cases(draw, kind, device):
    """A VariantCase of a problem."""
    rng = random.Random(draw(st.integers(0, 1 << 32)))
    problem, _, rule = kind.partition(" ")
    samples = [f"S{number}" for number in range(draw(st.sampled_from([0, 1, 2, 3])))]
    is_slow = problem == "edit" and rule != ""
    m = draw(st.sampled_from([5, 6] if is_slow else [5, 6, 8]))
    k = draw(st.sampled_from([0, 1] if is_slow else [0, 1, 2]))
    options = {"strand": draw(st.sampled_from(["both", "both", "+", "-"]))}
    if problem == "edit":
        reports = ["minima", "ends", "sites", "sites"] if rule else ["minima", "ends"]
        options["report"] = draw(st.sampled_from(reports))
    if rule:
        options["pam"] = draw(st.sampled_from(SEVERAL))
        options["pam_side"] = draw(st.sampled_from(["3p", "5p"]))

    # Records, some of them repeats, and what is in each file of variants.
    records, sites = [], {}
    for number in range(draw(st.integers(1, 3))):
        unit = draw(st.sampled_from(["", "", "A", "AC", "ACG"]))
        size = rng.randint(m, 30 if is_slow else 60)
        letters = (unit * size)[:size] if unit else "".join(rng.choices("ACGT", k=size))
        letters = "".join(rng.choice("ACGT") if rng.random() < 0.1 else each for each in letters)
        records.append((f"r{number}", letters))
        sites[f"r{number}"] = random_sites(rng, letters, samples)
    names = list(sites)
    is_parted = draw(st.booleans())
    files = [names[::2], names[1::2]] if is_parted and len(names) > 1 else [names]

    name, letters = records[0]
    patterns = random_patterns(rng, letters, sites[name], samples, m, bool(rule))
    return VariantCase(
        problem=problem,
        records=records,
        sites=sites,
        samples=samples,
        patterns=patterns,
        k=k,
        options=options,
        files=files,
        is_compressed=draw(st.booleans()),
        threads=draw(st.integers(1, 2)),
        device=device,
        patches=draw(patches()),
    )
