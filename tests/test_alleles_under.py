"""Alleles of the files under hits of the reference, and those that undo one."""

import numpy as np
import pytest
from support.alleles import RECORD, block, site
from test_variant_files import line, write

import kmatch
from kmatch.results.batches import HitBatch
from kmatch.search.query import Query
from kmatch.sequences.patterns import PatternSet
from kmatch.variants.hits import pattern_ends_of
from kmatch.variants.under import ChangeInRecord, LossFinder, alleles_under, boundaries_in_copy

TEXT = RECORD.tobytes().decode()


def hit(start, end, minus=0):
    one = np.zeros(1, np.int64)
    kinds = np.zeros(1, np.int32), np.zeros(1, np.int32), np.full(1, minus, np.uint8)
    nothing = np.array([""], object)
    return HitBatch(one, one + start, one + end, {0: "r"}, *kinds, variants=nothing)


def lost(made, start, end, minus=0, **query):
    """The alleles that undo the hit of what the record has from start to end, and its PAM."""
    asked = Query("multi", PatternSet(["p"], [query.pop("pattern")]), **query)
    finder = LossFinder(asked, pattern_ends_of(asked))
    losses = finder.losses(made, hit(start, end, minus))[0]
    return [loss.name for loss in losses or ()]


def test_alleles_are_under_a_hit_that_they_change():
    # position    0         10        20
    # record      ACGTACGTTTGACCAGGATCCATG
    # hit             └────┘                  4 to 10
    # alleles        T  │  │                  before it
    #                 +A   │                  at 4: before it
    #                     CG…                 7: two letters deleted
    #                       +C                at 10: behind it
    sites = [site(3, "T,A,TA", [1, 1, 1]), site(6, "GTT,G", [1, 1]), site(9, "T,TC", [1, 1])]
    made = block(*sites)
    hits, rows = alleles_under(made, np.array([4, 3]), np.array([10, 5]))
    assert [*zip(hits.tolist(), rows.tolist(), strict=True)] == [(0, 4), (1, 1), (1, 2)]


def test_a_hit_is_undone_by_letters_that_have_to_match():
    # position    0    5    10
    # record      ACGTACGTTTGACCAGGATCC       GTTTGACC, beside AGG
    # alleles              A                  a letter of the pattern
    #                            T            A of the PAM: N
    #                             A           G of the PAM
    #                            +G           AGG becomes AGGG
    sites = [site(9, "T,A", [1, 1]), site(14, "A,T,AG", [1, 1, 1]), site(15, "G,A", [1, 1])]
    made = block(*sites)
    names = ["r:10:T:A", "r:16:G:A"]
    assert TEXT[6:17] == "GTTTGACCAGG"
    assert lost(made, 6, 17, pattern="GTTTGACC", pam="NGG") == names
    # On the strand -, CCTGGTCA before a PAM on the other side: TCAAACGT of ACGTTTGA
    assert lost(made, 6, 17, pattern="GTTTGACC", pam="NGG,NAG") == names[:1]


def test_a_repeat_that_becomes_shorter_may_leave_the_hit():
    # position    0    5    10
    # record      ACGTACGTTTGACCAGGATCC       TTGACC, of three T
    # alleles            TT to T, at 8: the deletion is under the hit, and two T are left
    made = block(site(7, "TT,T", [1, 1]), site(8, "TT,T", [1, 1]), site(7, "TTT,T", [1, 1]))
    assert lost(made, 8, 17, pattern="TTGACC", pam="NGG") == ["r:8:TTT:T"]
    assert lost(made, 7, 17, pattern="TTTGACC", pam="NGG") == [
        "r:8:TT:T",
        "r:9:TT:T",
        "r:8:TTT:T",
    ]


def boundaries(boundary, start, end, size):
    """Where a boundary may be in a copy with so many letters from start to end."""
    change = ChangeInRecord(start, end, np.zeros(size, np.uint8))
    return boundaries_in_copy(boundary, change)


def test_a_boundary_moves_with_what_is_before_it():
    assert [*boundaries(5, 7, 8, 3)] == [5]
    assert [*boundaries(5, 5, 5, 2)] == [5, 6, 7]  # inserted where it is
    assert [*boundaries(5, 2, 4, 0)] == [3]
    assert [*boundaries(5, 3, 8, 5)] == [5]
    assert [*boundaries(5, 3, 8, 1)] == []


@pytest.mark.parametrize("as_command", [False, True])
def test_alleles_are_a_column_if_asked_for(as_command, tmp_path):
    #           0         1         2
    #           0123456789012345678901234
    letters = "TTACGTACGTCCTTACGTCCGTCCTT"
    vcf = write(tmp_path / "x.vcf", line(pos=5, ref="G", alt="T"), line(pos=5, ref="G", alt="GC"))
    if as_command:
        from support.commands import here

        (tmp_path / "g.fa").write_text(f">a\n{letters}\n")
        words = ["hamming", tmp_path / "g.fa", "-p", "ACGTACGT", "-k", 1, "--strand", "+"]
        out = here(*words, "--variants", vcf, "--columns", "start,variants,alleles").out
        rows = [row.split("\t") for row in out.decode().splitlines()[1:]]
    else:
        given = kmatch.Variants(vcf, alleles=True)
        genome = kmatch.Genome.from_records([("a", letters)])
        hits = kmatch.hamming(genome, ["ACGTACGT"], 1, strand="+", variants=given)
        columns = hits.start, hits.variants, hits.alleles
        rows = [[str(cell) for cell in row] for row in zip(*columns, strict=True)]
    assert rows[0] == ["2", "", "a:5:G:T,a:5:G:GC"]
