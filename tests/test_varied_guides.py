"""Guides beside variants: the reference's counts, places that alleles make, targets undone."""

import numpy as np
import pytest
from fuzzing.variants import guide_cases
from hypothesis import given, settings
from support.commands import here
from test_variant_files import line, write

import kmatch

GUIDE = "CTAACAGTTGCTTTTATCAC"
#         at 2                  AGG at 22    a site at 32 with 2 differences, and its TGG at 52
GENOME = f"AA{GUIDE}AGGTATATATCTAACAGTTGCTTTTATGTCTGGTTAA"


def found(tmp_path, *lines, genome=GENOME, samples=("S",), **options):
    """The row of GUIDE among the guides of a genome of one record, as a dict."""
    vcf = write(tmp_path / "x.vcf", *lines, samples=samples)
    given = {"k": 3, **options}
    records = kmatch.Genome.from_records([("a", genome)])
    guides = kmatch.guides(records, records, variants=vcf, **given)
    plain = kmatch.guides(records, records, **given)
    columns = ["d0", "d1", "d2", "d3", "specificity"]
    for name in columns:  # those of the reference
        assert getattr(guides, name).tolist() == getattr(plain, name).tolist()
    (row,) = np.flatnonzero((guides.guide == GUIDE) & (guides.start == 2))
    names = [*columns, "variant_sites", "specificity_variants", "target_variants", "target_af"]
    return {name: getattr(guides, name)[row] for name in names}


def cfd(text, pam="GG", given="NGG,NAG"):
    """The CFD of a site as another search gives it."""
    genome = kmatch.Genome.from_records([("b", f"{text}T{pam}")])
    (score,) = kmatch.multi(genome, GUIDE, 3, pam=given, strand="+", score="cfd").cfd
    return score


def test_places_that_alleles_bring_closer_count_once(tmp_path):
    # the guide      CTAACAGTTGCTTTTATCAC
    # the place      CTAACAGTTGCTTTTATGTC       at 32, positions 18 and 19 differ
    # an allele                       A         POS 51: one difference left
    # another one                    C          POS 50
    assert GENOME[32:52] == "CTAACAGTTGCTTTTATGTC"
    plain = cfd("CTAACAGTTGCTTTTATGTC")
    first, second = cfd("CTAACAGTTGCTTTTATGAC"), cfd("CTAACAGTTGCTTTTATCTC")
    row = found(
        tmp_path,
        line(pos=50, ref="G", alt="C", genotypes=["0|1"]),
        line(pos=51, ref="T", alt="A", genotypes=["1|0"]),
    )
    assert [row[f"d{distance}"] for distance in range(4)] == [1, 0, 1, 0]
    assert row["specificity"] == pytest.approx(1 / (1 + plain))
    assert row["variant_sites"] == 1
    assert row["specificity_variants"] == pytest.approx(1 / (1 + max(plain, first, second)))
    assert row["target_variants"] == "" and np.isnan(row["target_af"])


def test_a_haplotype_with_more_differences_counts_by_its_cfd(tmp_path):
    # the guide      CTAACAGTTGCTTTTATCAC
    # the place      CTAACAGTTGCTTTTATGTC TAG   at 32, positions 18 and 19 differ
    # alleles        G                     G    POS 33 and 54: a difference more, beside TGG
    genome = GENOME[:52] + "TAG" + GENOME[55:]
    plain, other = cfd("CTAACAGTTGCTTTTATGTC", "AG"), cfd("GTAACAGTTGCTTTTATGTC")
    assert genome[32:55] == "CTAACAGTTGCTTTTATGTCTAG" and plain < other
    lines = [
        line(pos=33, ref="C", alt="G", genotypes=["0|1"]),
        line(pos=54, ref="A", alt="G", genotypes=["0|1"]),
    ]
    row = found(tmp_path, *lines, genome=genome, pam="NGG,NAG")
    assert row["d2"] == 1 and row["variant_sites"] == 0
    assert row["specificity_variants"] == pytest.approx(1 / (1 + other))


def test_an_allele_on_two_lines_makes_one_place(tmp_path):
    alleles = [line(pos=50, ref="GT", alt="GA"), line(pos=51, ref="T", alt="A")]
    row = found(tmp_path, *alleles)
    assert row["variant_sites"] == 1
    assert row["specificity_variants"] == pytest.approx(1 / (1 + cfd("CTAACAGTTGCTTTTATGAC")))


def test_a_perfect_site_of_alleles_is_no_target(tmp_path):
    # Both alleles on one copy: the place has no difference, and the target is the reference's.
    row = found(
        tmp_path,
        line(pos=50, ref="G", alt="C"),
        line(pos=51, ref="T", alt="A"),
    )
    assert row["d0"] == 1 and row["variant_sites"] == 1
    assert row["specificity_variants"] == pytest.approx(1 / 2)


def test_alleles_that_undo_the_target_are_told(tmp_path):
    # position       2          13                  22
    # the target     CTAACAGTTGCTTTTATCAC           AGG
    # alleles                   T>G, T deleted      A>T: N; G>A; GG>GGG: AGG is still there
    lines = [
        line(pos=14, ref="T", alt="G", info="AF=0.1"),
        line(pos=14, ref="TT", alt="T", info="AF=0.02"),
        line(pos=23, ref="A", alt="T", info="AF=0.4"),
        line(pos=24, ref="G", alt="A,GG", info="AF=0.3,0.5", genotypes=["1|2"]),
    ]
    row = found(tmp_path, *lines)
    assert row["target_variants"] == "a:14:T:G,a:14:TT:T,a:24:G:A" and row["target_af"] == 0.3


def test_an_allele_that_may_be_written_elsewhere_undoes_no_target(tmp_path):
    # the target     CTAACAGTTGCTTTTATCAG GGG     at 2
    # an allele                         +G        behind the last A, in a run of G
    # the copy       CTAACAGTTGCTTTTATCAG GGGG    has the guide as it was
    guide = GUIDE[:-1] + "G"
    genome = kmatch.Genome.from_records([("a", f"AA{guide}GGGTATATAT")])
    lines = [line(pos=20, ref="CA", alt="C"), line(pos=21, ref="A", alt="AG")]
    vcf = write(tmp_path / "x.vcf", *lines)
    guides = kmatch.guides(genome, genome, 1, variants=vcf)
    own = guides[guides.start == 2]
    assert own.guide.tolist() == [guide] and own.target_variants.tolist() == ["a:20:CA:C"]


def test_the_target_is_the_guides_own_place_or_else_the_first_perfect_one(tmp_path):
    twice = f"AA{GUIDE}AGGTATATAT{GUIDE}TGGTTAA"
    vcf = write(
        tmp_path / "x.vcf",
        line(pos=14, ref="T", alt="G", info="AF=0.1"),
        line(pos=44, ref="T", alt="G", info="AF=0.2"),
    )
    genome = kmatch.Genome.from_records([("a", twice)])
    guides = kmatch.guides(genome, genome, 1, variants=vcf)
    own = guides[guides.guide == GUIDE]
    assert own.start.tolist() == [2, 32]
    assert own.target_variants.tolist() == ["a:14:T:G", "a:44:T:G"]
    other = kmatch.Genome.from_records([("x", f"TT{GUIDE}AGG")])
    guides = kmatch.guides(other, genome, 1, variants=vcf)
    assert guides[guides.guide == GUIDE].target_variants.tolist() == ["a:14:T:G"]


def test_a_command_writes_the_columns_behind_the_others(tmp_path):
    (tmp_path / "g.fa").write_text(f">a\n{GENOME}\n")
    vcf = write(tmp_path / "x.vcf", line(pos=14, ref="T", alt="G", info="AF=0.1"))
    words = ["guides", tmp_path / "g.fa", tmp_path / "g.fa", "-k", 1, "--variants", vcf]
    rows = [row.split("\t") for row in here(*words).out.decode().splitlines()]
    varied = ["variant_sites", "specificity_variants", "target_variants", "target_af"]
    assert rows[0][-5:] == ["specificity", *varied]
    (row,) = [row for row in rows if row[3] == GUIDE]
    assert row[-2:] == ["a:14:T:G", "0.1"]


@pytest.mark.parametrize("report", ["sites", "ends"])
def test_bulges_do_not_make_places_of_their_own(report, tmp_path):
    # A place that is reached from neighbouring PAMs: AGG and GGG behind it.
    genome = f"AA{GUIDE}AGGTATATATCTAACAGTTGCTTTTATGTCTGGGTTAA"
    row = found(
        tmp_path,
        line(pos=51, ref="T", alt="A"),
        genome=genome,
        max_deletions=1,
        report=report,
    )
    assert row["variant_sites"] == (1 if report == "sites" else row["variant_sites"])


@settings(max_examples=150)
@given(case=guide_cases("cpu"))
def test_guides_have_the_columns_of_copies_made_whole(case, tmp_path_factory):
    case.check(tmp_path_factory.mktemp("guides"))


def test_guides_without_a_site_beside_an_allele(tmp_path):
    vcf = write(tmp_path / "x.vcf", line(genotypes=("0|1",), pos=2))
    target = kmatch.Genome.from_records([("t", f"AA{GUIDE}AGG")])
    genome = kmatch.Genome.from_records([("a", "ACGTCATT" * 4)])
    guides = kmatch.guides(target, genome, 1, variants=vcf)
    assert guides.guide.tolist() == [GUIDE]
    assert (guides.d0 + guides.d1 + guides.variant_sites).tolist() == [0]
