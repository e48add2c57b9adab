"""Hits that haplotypes make: against copies made whole, and on files that do not fit."""

import random
from collections import Counter

import naive
import naive_variants
import pytest
from fuzzing.variants import plain, random_patterns, random_sites, vcf_of

import kmatch
from kmatch.engine import ways
from kmatch.variants import haplotypes

CASES = {
    "hamming": (kmatch.hamming, {}),
    "multi": (kmatch.multi, {"pam": "NG"}),
    "multi 5p": (kmatch.multi, {"pam": "Y", "pam_side": "5p"}),
    "ends": (kmatch.edit, {"report": "ends"}),
    "minima": (kmatch.edit, {"report": "minima"}),
    "multi several": (kmatch.multi, {"pam": "NG,GCA"}),
    "multi several 5p": (kmatch.multi, {"pam": "TY,G", "pam_side": "5p"}),
    "beside ends": (kmatch.edit, {"pam": "NG,GCA", "report": "ends"}),
    "sites": (kmatch.edit, {"pam": "NG,GCA", "report": "sites"}),
    "sites 5p": (kmatch.edit, {"pam": "G,TC", "pam_side": "5p", "report": "sites"}),
    "beside minima": (kmatch.edit, {"pam": "G,TC", "pam_side": "5p", "report": "minima"}),
}
SLOW = ("beside ends", "beside minima", "sites", "sites 5p")  # of the oracles


def write_vcf(path, sites, samples):
    """VCF of sites by record."""
    path.write_text(vcf_of(sites, samples))
    return path


def rows_of(hits):
    """The rows of an oracle, of hits that alleles make."""
    columns = (hits.start, hits.end, hits.pattern_number, hits.strand, hits.variants)
    columns += (hits.distance, hits.samples, hits.reference_distance)
    for row in zip(*(column.tolist() for column in columns), strict=True):
        if row[4]:
            yield (*row[:7], None if row[7] != row[7] else row[7])


def random_case(rng, kind):
    """Letters of a record, samples, sites, patterns that some copy has, and k."""
    samples = [f"S{number}" for number in range(rng.choice([0, 1, 2, 3]))]
    m, k = rng.choice([5, 6, 8]), rng.choice([0, 1, 2])
    letters = "".join(rng.choices("ACGT", k=rng.randint(m, 60)))
    sites = random_sites(rng, letters, samples)
    has_pam = "pam" in CASES[kind][1]
    return letters, samples, sites, random_patterns(rng, letters, sites, samples, m, has_pam), k


@pytest.mark.filterwarnings("ignore:.*no allele is left")
@pytest.mark.parametrize("kind", CASES)
def test_hits_are_those_of_copies_made_whole(kind, tmp_path, monkeypatch):
    search, options = CASES[kind]
    rng, rows = random.Random(kind), 0
    rounds = 60 if kind in SLOW else 300
    for number in range(rounds):
        monkeypatch.setattr(haplotypes, "TOGETHER", 1 + number % 4)  # alleles
        for least in ("TRIED", "TRIED_BESIDE"):  # windows are looked up, or scanned
            monkeypatch.setattr(ways, least, (1, 1_000)[number % 2])
        letters, samples, sites, patterns, k = random_case(rng, kind)
        vcf = write_vcf(tmp_path / "x.vcf", {"r": sites}, samples)
        side = options.get("pam_side", "3p")
        oracle = plain(search.__name__, patterns, k, options)
        most_gaps = k if options.get("report") == "sites" else None
        given = "r", letters, sites, samples, oracle, side == "3p", most_gaps
        expected = naive_variants.hits(*given)
        genome = kmatch.Genome.from_records([("r", letters)])
        hits = search(genome, patterns, k, variants=vcf, device="cpu", threads=1, **options)
        assert Counter(rows_of(hits)) == Counter(expected), (letters, sites, patterns, k)
        rows += len(expected)
    assert rows > rounds / 3


# A plateau of 2 behind a site of ACCAAA, longer than a window of the last allele shows:
#
#     record      A C C A A A A A A … A A A A G A
#     pattern     A C C A A A
#     D                     0 1 2 2 … 2 2 2 3 3 3
#     with A for G          0 1 2 2 … 2 2 2 2 2 2         no minimum, as D is lower before
#     and AA for CC         2 2 2 2 … 2 2 2 2 2 2         a minimum
PLATEAU = "ACC" + 30 * "A" + "GA"
FAR_SITE = (2, "CC", ["AA"])
NEAR_SITE = (34, "G", ["A"])


@pytest.mark.parametrize(
    ("near", "far", "expected"),
    [
        ("0|1", "0|0", []),
        ("0|1", "1|0", []),
        ("0|1", "0|1", [29]),
        ("0/1", "0/1", [29]),
    ],
)
@pytest.mark.parametrize("strand", ["+", "-"])
def test_minima_are_lower_than_what_is_before_a_long_plateau(strand, near, far, expected, tmp_path):
    letters, pattern = PLATEAU, "ACCAAA"
    sites = [(*FAR_SITE, [far]), (*NEAR_SITE, [near])]
    if strand == "-":
        letters, sites = turned(letters, sites)
    vcf = write_vcf(tmp_path / "x.vcf", {"r": sites}, ["A"])
    genome = kmatch.Genome.from_records([("r", letters)])
    hits = kmatch.edit(genome, pattern, 2, strand=strand, variants=vcf)
    oracle = plain("edit", [pattern], 2, {"strand": strand, "report": "minima"})
    rows = Counter(rows_of(hits))
    assert rows == Counter(naive_variants.hits("r", letters, sites, ["A"], oracle))
    name = sites[-1 if strand == "+" else 0]
    near_name = f"r:{name[0]}:{name[1]}:{name[2][0]}"
    start = hits.start if strand == "+" else len(letters) - hits.end
    assert start[hits.variants == near_name].tolist() == expected


def turned(letters, sites):
    """The reverse complement of a record, and of its sites."""
    turned_sites = []
    for place, ref, alts, genotypes in reversed(sites):
        turned_alts = [naive.reverse_complement(alt) for alt in alts]
        place = len(letters) - (place - 1) - len(ref) + 1
        turned_sites.append((place, naive.reverse_complement(ref), turned_alts, genotypes))
    return naive.reverse_complement(letters), turned_sites


@pytest.mark.parametrize(("most", "expected"), [(1, [29]), (2, [])])
def test_minima_before_which_too_many_haplotypes_are_stay(most, expected, tmp_path):
    sites = [(3, "C", ["T"], None), (*NEAR_SITE, None)]
    vcf = write_vcf(tmp_path / "x.vcf", {"r": sites}, [])
    genome = kmatch.Genome.from_records([("r", PLATEAU)])
    given = kmatch.Variants(vcf, max_haplotypes=most)
    hits = kmatch.edit(genome, "ACCAAA", 2, strand="+", variants=given)
    assert hits.start[hits.variants == "r:34:G:A"].tolist() == expected


def test_rows_of_several_records_are_in_one_order(tmp_path):
    rng = random.Random(1)
    cases = {f"r{number}": random_case(rng, "hamming") for number in range(12)}
    samples = ["A", "B"]
    sites = {name: random_sites(rng, letters, samples) for name, (letters, *_) in cases.items()}
    del sites["r4"]
    patterns = [each for case in cases.values() for each in case[3] if len(each) == 6]
    vcf = write_vcf(tmp_path / "x.vcf", sites, samples)
    genome = kmatch.Genome.from_records([(name, case[0]) for name, case in cases.items()])
    plain_hits = kmatch.hamming(genome, patterns, 1)
    hits = kmatch.hamming(genome, patterns, 1, variants=vcf)
    columns = (hits.record_number, hits.start, hits.end, hits.strand == "-", hits.pattern_number)
    places = [*zip(*(column.tolist() for column in columns), strict=True)]
    assert places == sorted(places) and len(hits) > len(plain_hits) > 0
    of_reference = hits[hits.variants == ""]
    assert list(of_reference) == list(plain_hits)
    assert (of_reference.reference_distance == of_reference.distance).all()
    assert [*of_reference.samples, *of_reference.variants] == [""] * 2 * len(plain_hits)
    regions = [("r2", 0, len(cases["r2"][0]) - 5), ("r7", 4, len(cases["r7"][0]))]
    inside = kmatch.hamming(genome, patterns, 1, variants=vcf, regions=regions)
    wanted = [
        row
        for row in hits
        if any(row[0] == name and low <= row[1] and row[2] <= high for name, low, high in regions)
    ]
    assert list(inside) == wanted and len(wanted)


def test_hits_that_differ_in_where_their_pam_begins_are_hits_each(tmp_path):
    genome = kmatch.Genome.from_records([("1", "CTT")])
    vcf = write_vcf(tmp_path / "x.vcf", {"1": [(1, "C", ["CCAGTGC"], None)]}, [])
    rules = {"pam": "G,GN", "pam_side": "5p", "strand": "-", "variants": vcf}
    hits = kmatch.edit(genome, "CAA", 2, **rules)
    assert hits.cigar.tolist() == ["2=1I1=1X", "3=1X"]


def test_of_insertions_at_one_place_in_two_lines_each_is_searched(tmp_path):
    letters = "ACGTACGTTTGACCAGGATCCATGCAAGTC"
    sites = [(11, "G", ["GTT"], ["1|0"]), (12, "A", ["CCA"], ["1|0"])]
    vcf = write_vcf(tmp_path / "x.vcf", {"1": sites}, ["A"])
    genome = kmatch.Genome.from_records([("1", letters)])
    hits = kmatch.hamming(genome, ["TTTGTTAC", "TTTGCCAC"], 0, variants=vcf)
    assert hits.variants.tolist() == ["1:11:G:GTT", "1:12:A:CCA"]


def test_an_allele_before_what_all_others_would_make_together_counts(tmp_path):
    letters, pattern = "GAGTCTTGACTCAAG", "CAGTTGCAAG"  # that all alleles but the first make
    sites = [(1, "G", ["C"], "100"), (3, "G", ["C"], "010"), (4, "T", ["A"], "010")]
    sites += [(5, "C", ["G"], "001"), (8, "GACT", ["G"], "100")]
    genotypes = [(*site[:3], [f"{flag}|0" for flag in site[3]]) for site in sites]
    vcf = write_vcf(tmp_path / "x.vcf", {"1": genotypes}, ["A", "B", "C"])
    genome = kmatch.Genome.from_records([("1", letters)])
    hits = kmatch.edit(genome, [pattern], 2, report="ends", strand="+", variants=vcf)
    assert hits.variants.tolist() == ["1:1:G:C,1:8:GACT:G"]


def test_hits_with_variants_are_not_joined_to_others_and_are_no_sam(tmp_path):
    genome = kmatch.Genome.from_records([("1", "ACGTACGTTTGACCAGGATCCATGCAAGTC")])
    vcf = write_vcf(tmp_path / "x.vcf", {"1": [(11, "G", ["T"], ["0|1"])]}, ["A"])
    varied, plain = (kmatch.hamming(genome, ["TTTTACCA"], 1, variants=v) for v in (vcf, None))
    assert len(varied + varied) == 2 * len(varied) == 4 * len(plain)
    with pytest.raises(kmatch.InputError, match="with variants and without"):
        plain + varied
    with pytest.raises(TypeError, match="unsupported operand"):
        plain + 0
    with pytest.raises(kmatch.InputError, match="not to its variants"):
        varied.to_sam(tmp_path / "x.sam")
    varied[varied.variants == ""].to_sam(tmp_path / "x.sam")
    assert (tmp_path / "x.sam").read_text().count("kd:i:1") == 1


def test_alleles_of_dense_groups_are_listed_by_their_places(tmp_path):
    letters = "".join(random.Random(2).choices("ACT", k=900))
    sites = [(place, letters[place - 1], ["G"], ["0/1"]) for place in range(801, 809)]
    vcf, dense = write_vcf(tmp_path / "x.vcf", {"r": sites}, ["A"]), tmp_path / "dense.tsv"
    genome = kmatch.Genome.from_records([("r", letters)])
    given = kmatch.Variants(vcf, max_haplotypes=1, dense_groups=dense)
    with pytest.warns(UserWarning, match="combinations"):
        kmatch.hamming(genome, letters[800:803] + "GGG", 1, variants=given)
    listed = [line.split("\t")[:4] for line in dense.read_text().splitlines()[1:]]
    assert listed and all(name.startswith(f"r:{end}:") for _, _, end, name in listed)
    assert all(int(end) == int(start) + 1 for _, start, end, _ in listed)
