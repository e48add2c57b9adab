"""`--report sites`: of the hits beside PAMs that reach one place, the best; against an oracle."""

import naive_bounds
import naive_circles
import naive_sites
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.searches import aligned, hooked

import kmatch
from kmatch.errors import InputError
from kmatch.genome import as_genomes
from kmatch.results.batches import HitBatch
from kmatch.search.query import Query
from kmatch.search.rules import Bounds, Rules, load_pams
from kmatch.search.sites import SiteFinder, SiteRules, site_rules
from kmatch.sequences.patterns import load_patterns

PAMS = ("NGG", "GG", "NG", "TTV", "N", ["NGG", "NAG"], ["NG", "NGGG"])
SETTINGS = ({}, {"chunk_length": 64, "words": 1, "capacity": 4}, {"chunk_length": 200, "words": 1})
units = st.sampled_from(["G", "GG", "AGG", "CA", "TTC", "AC", "T", "N"])
repeats = st.builds(lambda unit, times: unit * times, units, st.integers(1, 12))
parts = st.one_of(st.text("ACGT", max_size=20), repeats, st.just("ACGTGG"))
texts = st.lists(parts, min_size=1, max_size=8).map("".join).filter(bool)
panels = st.lists(
    st.sampled_from(["ACGT", "GGGA", "CACAC", "AAGG", "TGCA"]), min_size=1, max_size=3, unique=True
)


@settings(max_examples=150)
@given(data=st.data())
def test_sites_are_those_of_the_oracle(data):
    written = data.draw(st.lists(texts, min_size=1, max_size=3))
    records = [(f"r{number}", text) for number, text in enumerate(written)]
    panel = data.draw(panels)
    k = data.draw(st.integers(0, 3))
    side = data.draw(st.sampled_from(["3p", "5p"]))
    rules = {"pam": data.draw(st.sampled_from(PAMS)), "pam_side": side}
    bounds = {}
    for name in ("max_insertions", "max_deletions"):
        bounds[name] = data.draw(st.none() | st.integers(0, k))
    is_circular = data.draw(st.booleans())

    oracle = naive_circles if is_circular else naive_bounds
    ends = oracle.edit(records, panel, k, "ends", **rules, **bounds)
    most_gaps = [naive_sites.most_gaps(k, **bounds)] * len(panel)
    circles = range(len(records)) if is_circular else ()
    expected = naive_sites.sites(ends, records, panel, most_gaps, side, circles)

    genomes = as_genomes(kmatch.Genome.from_records(records)).with_circular(is_circular)
    given_patterns = load_patterns(panel)
    for setting in SETTINGS:
        options = {"report": "sites", **rules, **bounds, **setting}
        found = hooked("edit", genomes, given_patterns, k, device="cpu", threads=1, **options)
        assert aligned(found) == expected


GUIDE = "CTAACAGTTGCTTTTATCAC"
HOW = {"pam": "NGG", "device": "cpu"}


def rows(hits):
    columns = (hits.start, hits.end, hits.distance, hits.strand)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("bounds", [{}, {"max_deletions": 1, "max_insertions": 0}])
def test_a_target_is_one_site(bounds):
    """
    genome   TTTTTTTTTTTT CTAACAGTTGCTTTTATCAC AGGG TTTTATTTTT
    ends                  20=                  3=                12-35, the site
                          20=1D                 3=               12-36, of the same place
    """
    genome = kmatch.Genome.from_records([("c", "T" * 12 + GUIDE + "AGGGTTTTATTTTT")])
    ends = kmatch.edit(genome, GUIDE, 3, report="ends", strand="+", **HOW, **bounds)
    assert rows(ends)[:2] == [(12, 35, 0, "+"), (12, 36, 1, "+")]
    sites = kmatch.edit(genome, GUIDE, 3, report="sites", score="cfd", **HOW, **bounds)
    assert rows(sites) == [(12, 35, 0, "+")] and sites.cfd.tolist() == [1]


def drawn(strand, places, distances, gaps, scores):
    """Hits of one pattern of 4 letters beside NGG, by the place of their PAM-side letter."""
    place = np.array(places)
    count = len(place)
    start = place - 3
    kind = np.zeros(count, np.int32)
    return HitBatch(
        np.zeros(count, np.int64),
        start,
        start + 7,
        {0: "r"},
        kind,
        np.array(distances, np.int32),
        np.full(count, strand == "-", np.uint8),
        gaps=np.array(gaps, np.int32),
        scores={"cfd": np.array(scores)},
    )


@pytest.mark.parametrize(
    ("strand", "taken", "scores"),
    [
        ("+", [11, 15, 18, 24], [1, 0.4, 0.9, 0.3]),
        ("-", [11, 15, 20, 24], [1, 0.4, 0.9, 0.3]),
    ],
)
def test_the_best_are_taken(strand, taken, scores):
    """Within 2 letters of a site others are left out, and lend it their scores if they are as good.

    place           10   11   12   15   17   18   20   24   26
    differences      1    0    2    1    1    2    2    1    2
    of these gaps    1    0    1    0    1    1    1    1    1
    score           .9    1   .1   .4   .9   .5   .9   .3   .8

    17 has a gap more than 15, and is left out; of 18 and 20 the first one in reading direction is
    taken, with the greater score of both.
    """
    batch = drawn(
        strand,
        [10, 11, 12, 15, 17, 18, 20, 24, 26],
        [1, 0, 2, 1, 1, 2, 2, 1, 2],
        [1, 0, 1, 0, 1, 1, 1, 1, 1],
        [0.9, 1, 0.1, 0.4, 0.9, 0.5, 0.9, 0.3, 0.8],
    )
    rules = Rules(tuple(load_pams("NGG", "3p")), (0, 0), Bounds())
    for cut in range(len(batch) + 1):
        leasts = np.array([[1], [3]])
        finder = SiteFinder(SiteRules(rules, np.array([4]), np.array([2]), leasts))
        parts = filter(len, (batch.picked(slice(cut)), batch.picked(slice(cut, None))))
        found = [*(finder.feed(part) for part in parts), finder.rest()]
        places = []
        values = []
        for hits, sites in found:
            places += (hits.start[sites] + 3).tolist()
            values += hits.site_scores["cfd"][sites].tolist() if len(sites) else []
        assert (places, values) == (taken, scores)


def test_chains_of_satellites_are_not_held():
    """Hits every 5 letters are sites once no later one can be within 1 letter.

    [ACGT]NGG
         [ACGT]NGG
              [ACGT]NGG
    """
    count = 1000
    places = (5 * np.arange(count) + 3).tolist()
    batch = drawn("+", places, [0] * count, [0] * count, [1.0] * count)
    query = Query("edit", load_patterns("ACGT"), 1, pam="NGG", max_insertions=1, max_deletions=0)
    assert site_rules(query).leasts.tolist() == [[2], [3]]
    left, sites = SiteFinder(site_rules(query)).feed(batch)
    assert len(left) == len(sites) == count - 1


guides = st.lists(st.sampled_from([GUIDE, GUIDE[:5] + "A" + GUIDE[6:], GUIDE[1:], GUIDE[:9]]))


@settings(max_examples=60)
@given(guides, st.lists(st.sampled_from(["AGG", "AGGG", "GG", "GGGG", "T", "CCA", "AGGTGG"])))
def test_a_site_has_the_greatest_score_of_its_hits(pieces, between):
    text = "".join(map("".join, zip(pieces, between, strict=False)))
    records = [("r", f"{GUIDE}{text}")]
    genome = kmatch.Genome.from_records(records)
    ends = kmatch.edit(genome, GUIDE, 4, report="ends", score="cfd", **HOW)
    hits = aligned(ends)
    scores = dict(zip(hits, ends.cfd.tolist(), strict=True))
    expected = {}
    for site, *others in naive_sites.places(hits, records, [GUIDE], [4]):
        like = [hit for hit in others if grade(hit) == grade(site)]
        expected[site] = np.fmax.reduce([scores[hit] for hit in [site, *like]])
    sites = kmatch.edit(genome, GUIDE, 4, report="sites", score="cfd", **HOW)
    found = dict(zip(aligned(sites), sites.cfd.tolist(), strict=True))
    assert found == pytest.approx(expected, nan_ok=True)


def grade(hit):
    return hit[4], naive_sites.gaps_of(hit)


VCF = """\
##fileformat=VCFv4.2
#CHROM	POS	ID	REF	ALT	QUAL	FILTER	INFO	FORMAT	one	two
c	7	.	T	A	.	PASS	.	GT	1|0	0|0
c	13	.	A	T	.	PASS	.	GT	0|0	1|0
"""


def test_alleles_compete_among_themselves(tmp_path):
    """Two alleles each bring one place closer; one of both rows is a site beside the reference's.

    guide      CTAACAGTTGCTTTTATCAC
    genome     CTTACAGTAGCTTTTATCAC AGG       from 4 on
    alleles      A     T
    """
    (tmp_path / "x.vcf").write_text(VCF)
    genome = kmatch.Genome.from_records([("c", "TTTTCTTACAGTAGCTTTTATCACAGGTTTT")])
    how = {"variants": tmp_path / "x.vcf", **HOW}
    ends = kmatch.edit(genome, GUIDE, 2, **how)
    found = list(zip(ends.distance.tolist(), ends.variants.tolist(), strict=True))
    assert found == [(2, ""), (1, "c:7:T:A"), (1, "c:13:A:T")]
    sites = kmatch.edit(genome, GUIDE, 2, report="sites", **how)
    assert sites.variants.tolist() == ["", "c:7:T:A"]


def test_sites_need_a_pam():
    genome = kmatch.Genome.from_records([("c", GUIDE)])
    with pytest.raises(InputError, match="'sites' is of hits beside a PAM"):
        kmatch.edit(genome, GUIDE, 1, report="sites")
