"""Products of pairs of primers, held against every two sites of an oracle."""

import re
from dataclasses import replace
from types import SimpleNamespace
from unittest import mock

import naive
import numpy as np
from support.commands import fasta, here, random_letters
from support.devices import joined
from support.searches import batches, products
from support.searches import product_rows as rows

import kmatch
from kmatch.apps import joins
from kmatch.apps.pcr import PcrOptions, joins_of, products_of
from kmatch.apps.reasons import SiteTally
from kmatch.results.batches import FACING, LENGTH, HitBatch, Origin
from kmatch.results.batches import joined as batches_joined
from kmatch.sequences.oligos import load_pairs

FORWARD, REVERSE = "ACGTTGCAGT", "GGATTACCAG"
PAIR = {"pair": (FORWARD, REVERSE)}


def amplicon(length, seed=3):
    """A product of PAIR with so many letters."""
    return FORWARD + random_letters(length - 20, seed) + naive.reverse_complement(REVERSE)


def found(*texts, **options):
    records = [(f"r{number}", text) for number, text in enumerate(texts)]
    options = {"k": 0, "device": "cpu"} | options
    return kmatch.pcr(kmatch.Genome.from_records(records), PAIR, **options)


def test_dense_repeats_come_in_parts():
    """Quadratically many products leave in parts, in order."""
    unit = "ACGTAC" + "GTACGT"
    records = [("r", unit * 30)]
    primers = {"a": (["ACGT"], ["GTAC"]), "b": (["TACG"], ["CGTA"])}
    options = {"product": (8, 200), "pairs": "any"}
    with mock.patch.object(joins, "PRODUCTS", 100):
        made = products(records, primers, 0, device="cpu", chunk_length=50, **options)
    assert len(made.batches) > 20
    assert rows(made) == joined(records, primers, 0, **options)


def test_what_waits_is_what_lies_near():
    """Sites leave as soon as no product reaches from them to what is to come."""
    genome = kmatch.Genome.from_records([("r", amplicon(60) * 400)])
    sites = batches("hamming", genome, load_pairs(PAIR).primers, chunk_length=500)
    again = [len(found.hits) - count for found, count in joins.finished_sites(sites, 60)]
    assert len(again) > 30 and max(again) <= 4


# Drawings: a row of oligos each, a column a letter of the genome. `==>` is a site on `+`, `<==` one
# on `-`, and `x` in a site a difference. Products are rows of the sign of their strand, with `P`
# where their probe is.


def drawn_sites(rows, circle=None):
    """The sites in a drawing, an oligo a row; circle: letters of the genome, if it is a circle."""
    places = [
        (match.start(), match.end(), oligo, match[0].count("x"), match[0].startswith("<"))
        for oligo, row in enumerate(rows)
        for match in re.finditer("[<=x>]+", row)
    ]
    start, end, oligo, distance, minus = (np.array(column) for column in zip(*places, strict=True))
    return HitBatch(
        record=np.zeros(len(places), np.int64),
        start=start,
        end=end,
        names={0: "r"},
        pattern=oligo.astype(np.int32),
        distance=distance.astype(np.int32),
        minus=minus.astype(np.uint8),
        origin=Origin(circles={0: circle} if circle else None),
    ).in_order()


def drawn_batches(*rows, product=(1, 99), given="FR", circle=None, **options):
    """The ProductBatches of a drawing; given: the roles of its oligos in the pair, a row each."""
    sides = ["A" * given.count("F"), "C" * given.count("R"), "G" * given.count("P")]
    pairs = load_pairs({"pair": tuple(list(side) for side in sides if side)})
    sites = drawn_sites(rows, circle)
    genomes = SimpleNamespace(circular=circle)
    options = PcrOptions(product, **options)
    tally = SiteTally(pairs, joins_of(pairs, options))
    return list(products_of([sites], genomes, pairs, options, tally))


def drawn(*rows, **options):
    """The products of a drawing, as a drawing."""
    lines = []
    for batch in drawn_batches(*rows, **options):
        for row in range(len(batch)):
            start, end = int(batch.start[row]), int(batch.end[row])
            line = [" "] * start + ["+-"[batch.minus[row]]] * (end - start)
            if batch.probe is not None:
                probe = slice(int(batch.probe.start[row]), int(batch.probe.end[row]))
                line[probe] = "P" * (probe.stop - probe.start)
            lines.append("".join(line).ljust(len(rows[0])))
    return lines


def test_sites_that_face_each_other_are_joined():
    """Those of a pair's forward primer and of its reverse one, whichever is on `+`."""
    assert drawn(
        "   ==>      ==>     <==          ",
        "        <==     ==>       <==    ",
    ) == [
        "   ++++++++                      ",
        "   ++++++++++++++++++++++++++    ",
        "            +++++++++++++++++    ",
        "                -------          ",
    ]


def test_the_limits_of_a_product_are_within():
    rows = ("==>                   ", "     <== <== <== <==  ")  # of 8, 12, 16 and 20 letters
    for product, sizes in (
        ((12, 16), [12, 16]),
        ((13, 19), [16]),
        ((9, 11), []),
        ((20, 99), [20]),
        ((0, 8), [8]),
    ):
        assert [line.count("+") for line in drawn(*rows, product=product)] == sizes


def test_sites_may_overlap_but_not_pass_each_other():
    assert drawn(
        "  =====>          ",
        "     <====        ",
    ) == [
        "  ++++++++        ",
    ]
    assert not drawn(
        "  =====>          ",
        " <====            ",
    )


def test_alternates_of_a_primer_are_no_partners():
    """`any` joins them, and the one that was given first is the forward primer."""
    rows = (
        "  <==    ==>      ",
        "  ==>       <==   ",
        "                  ",
    )
    assert not drawn(*rows, given="FFR")
    assert drawn(*rows, given="FFR", pairs="any") == [
        "  ---             ",
        "  +++++++++++++   ",
        "         ++++++   ",
    ]


def test_the_closest_probe_counts_and_of_equal_ones_the_first():
    assert drawn(
        "==>                         ",
        "                         <==",
        "    =x>  ===>   <===   x==> ",
        given="FRP",
    ) == [
        "+++++++++PPPP+++++++++++++++",
    ]


def test_a_probe_lies_inside():
    """One that begins before the product or ends behind it is none, and then there is none."""
    assert not drawn(
        "   ==>         <==          ",
        "           <==       ==>    ",
        "  ===>    <====     ===>    ",
        given="FRP",
        product=(1, 12),
    )
    assert drawn(
        "   ==>                      ",
        "           <==              ",
        "  ===>    <===              ",
        given="FRP",
    ) == [
        "   +++++++PPPP              ",
    ]


def test_a_product_over_the_origin_of_a_circle():
    """Its reverse site and its probe stand a turn later, and are told in the letters of the record:

    0                       24                      48
    |---(=)--<==---------==>|---(=)--<==------------|
                         +++++++++PPP++++++
    """
    rows = (
        "                     ==>",
        "         <==            ",
        "    ==>                 ",
    )
    (batch,) = drawn_batches(*rows, given="FRP", circle=24)
    assert (batch.start.tolist(), batch.end.tolist()) == ([21], [36])
    places = [(each.start[0], each.end[0]) for each in (batch.forward, batch.probe, batch.reverse)]
    assert places == [(21, 24), (4, 7), (9, 12)]
    assert not drawn_batches(*rows, given="FRP")
    assert drawn_batches(*rows, given="FRP", circle=24, product=(1, 15))
    assert not drawn_batches(*rows, given="FRP", circle=24, product=(1, 14))


def test_no_product_goes_round_a_circle_twice():
    """It has no more letters than the circle, which are 12:

    0           12          24
    |    ==>    |    ==>    |
    | <==       | <==                 12 letters from the start of ==> to the end of <==
    |  <==      |  <==                13
    """
    assert len(drawn_batches("    ==>     ", " <==        ", circle=12)) == 1
    assert len(drawn_batches("    ==>     ", "  <==       ", circle=12)) == 0


def test_parts_are_cut_between_two_starts():
    starts, counts = np.array([3, 3, 5, 8, 8, 9]), np.array([2, 1, 4, 0, 1, 1])
    with mock.patch.object(joins, "PRODUCTS", 3):
        parts = [(part.start, part.stop) for part in joins._parts(starts, counts)]
    assert parts == [(0, 2), (2, 3), (3, 6)]


def test_records_lie_apart_on_one_line():
    """
    record 0        record 1
    |--==>-|·······||==>--<==|        longest product: 7
    0      5        12
    """
    first = drawn_sites(["  ==>"])
    second = drawn_sites(["==>   <=="])
    second = replace(second, record=second.record + 1, names={1: "s"})
    sites = joins.on_one_line(batches_joined([first, second]), 7)
    assert sites.start.tolist() == [2, 12, 18] and sites.end.tolist() == [5, 15, 21]


def test_groups_lie_apart_on_one_line():
    """
    group 0      group 1
    s  s    s    |  s  s
    """
    hits = drawn_sites(["==>  ==>     ==>", "  ==>  ==>      "])
    sites = joins.on_one_line(hits, 5)
    groups = np.array([0, 1])
    grouped = joins.grouped_sites(sites, np.arange(5), groups, 5)
    assert hits.pattern[grouped.rows].tolist() == [0, 0, 0, 1, 1]
    assert hits.start[grouped.rows].tolist() == [0, 5, 13, 2, 7]
    ranges = grouped.between(np.array([0, 0, 1, -1]), np.full(4, 2), np.array([14, 13, 3, 16]))
    assert ranges.counts.tolist() == [2, 1, 1, 0]
    which, place = ranges.pairs()
    starts = hits.start[grouped.rows[place]]
    assert list(zip(which.tolist(), starts.tolist(), strict=True)) == [
        (0, 5),
        (0, 13),
        (1, 5),
        (2, 2),
    ]


def test_why_there_is_no_product(tmp_path):
    """
    one     ==>  …  <==          50 letters, as few as are asked for, or too many
    two     ==>  …  ==>          the reverse primer as it stands in the template
    three   ==>                  its partner is nowhere
    four    ==>  …  <==          and the probe is outside
    """
    oligos = [random_letters(12, seed) for seed in range(20, 29)]
    reverse = [naive.reverse_complement(oligo) for oligo in oligos]
    gap = random_letters(26, 50)
    amplicons = (
        oligos[0] + gap + reverse[1],
        oligos[2] + gap + oligos[3],
        oligos[4],
        oligos[6] + gap + reverse[7] + oligos[8],
    )
    (tmp_path / "g.fa").write_bytes(fasta([("g", "TTTT".join(amplicons))]))
    pairs = {"one": oligos[:2], "two": oligos[2:4], "three": oligos[4:6], "four": oligos[6:]}
    lines = ["\t".join([name, *sides]) + "\n" for name, sides in pairs.items()]

    def said(*names, **options):
        rows = [line for line in lines if line.split("\t")[0] in names]
        (tmp_path / "p.tsv").write_text("".join(rows))
        words = [word for option in options.items() for word in (f"--{option[0]}", option[1])]
        found = here("pcr", tmp_path / "g.fa", tmp_path / "p.tsv", "-k", 0, *words)
        assert found.status == 0
        return found.err.decode()

    assert said("one", product="10-100") == ""
    text = said("one", "two", "three", product="60-100")
    assert "no site within k: 'three (reverse)'" in text
    assert "none that face each other" in text and ": 'two'" in text
    assert "other lengths than 60-100: 'one (50)'" in text and text.count("\n") == 1
    assert "do not hold the probe: 'four'" in said("four", product="10-100")
    for regions, expected in (
        ("g\t0\t15\ng\t30\t60\n", "of 1 product none lies in one region"),
        ("g\t0\t20\n", "no site within k: 'one (reverse)'"),
    ):
        (tmp_path / "r.bed").write_text(regions)
        assert expected in said("one", product="10-100", regions=tmp_path / "r.bed")
    assert "no site within k: 'three (reverse)'" in said("three", pairs="any")


def test_the_outermost_sites_tell_whether_any_face_each_other():
    """
    + forward     ==>    ==>
    - reverse                  <==   <==        faced by the first one: 24 letters
    """
    pairs = load_pairs({"a": ("ACGTACGT", "GGTTCCAA")})
    options = PcrOptions()
    tally = SiteTally(pairs, joins_of(pairs, options))
    sites = HitBatch(
        record=np.zeros(4, np.int64),
        start=np.array([2, 8, 16, 23]),
        end=np.array([5, 11, 19, 26]),
        names={0: "r"},
        pattern=np.array([0, 0, 1, 1], np.int32),
        distance=np.zeros(4, np.int32),
        minus=np.array([0, 0, 1, 1], np.uint8),
    )
    list(tally.heard([sites]))
    assert tally.other_length.tolist() == [24] and tally.reasons().tolist() == [LENGTH]
    # In batches, and where they point away from each other.
    for order, expected in (([0, 1, 2, 3], LENGTH), ([2, 3], 1), ([0, 1], 2)):
        tally = SiteTally(pairs, joins_of(pairs, options))
        list(tally.heard(sites.picked(np.array([row])) for row in order))
        assert tally.reasons().tolist() == [expected]
    away = replace(sites, minus=1 - sites.minus, pattern=sites.pattern)
    tally = SiteTally(pairs, joins_of(pairs, options))
    list(tally.heard([away]))
    assert tally.reasons().tolist() == [FACING]


def test_primers_and_probes_that_are_searched_apart(tmp_path):
    """The last letters of primers match, those of probes need not; from a file and from a pipe.

    a, d    ===>--(==x--<===    of d two, one behind the other
    b       ==x>--(==x--<===
    """
    probe = "TTGGCCTAGG"
    inside = random_letters(20, 4)
    text = FORWARD + inside + probe[:-1] + "A" + inside + naive.reverse_complement(REVERSE)
    other = text.replace(FORWARD, FORWARD[:-1] + "A")
    genome, pairs, regions = (tmp_path / name for name in ("g.fa", "pairs.tsv", "regions.bed"))
    genome.write_bytes(fasta([("a", text), ("b", other), ("c", "ACGT"), ("d", 2 * text)]))
    pairs.write_text(f"p\t{FORWARD}\t{REVERSE}\t{probe}\n")
    regions.write_text("d\t5\t140\n")

    found = [("a", 0, 70), ("b", 0, 70), ("d", 0, 70), ("d", 70, 140)]
    for options, expected in (
        ((), found),
        (("--exact-3p", 3), [found[0], *found[2:]]),
        (("--exact-3p", 3, "--regions", regions), found[3:]),
    ):
        options = (pairs, "-k", 1, "--product", "50-80", *options)
        of_file = here("pcr", genome, *options)
        of_pipe = here("pcr", "-", *options, stdin=genome.read_bytes())
        rows = [line.split(b"\t")[:3] for line in of_file.out.splitlines()]
        assert [(name.decode(), int(start), int(end)) for name, start, end in rows] == expected
        assert of_pipe.out == of_file.out


def test_probes_in_records_without_primers(tmp_path):
    """Searched apart, primers and probes have sites in other records, and in as many batches.

    a, c, d   ---(==)---
    b         -===>-(==)-<===-
    """
    probe = "TTGGCCTAGGTTAC"
    apart = random_letters(200, 5) + probe + random_letters(200, 6)
    product = FORWARD + "ACGTACGT" + probe + "TGCATGCA" + naive.reverse_complement(REVERSE)
    records = [("a", apart), ("b", product), ("c", apart), ("d", apart)]
    genome, pairs = tmp_path / "g.fa", tmp_path / "pairs.tsv"
    genome.write_bytes(fasta(records))
    pairs.write_text(f"p\t{FORWARD}\t{REVERSE}\t{probe}\n")
    options = (pairs, "-k", 1, "--product", "20-200", "--exact-3p", 3)
    assert here("pcr", genome, *options).out.startswith(b"b\t0\t")
    lines = here("assay", pairs, genome, *options[1:], "--each", "record").out.splitlines()
    assert [line.split(b"\t")[2] for line in lines[1:]] == [b"no", b"yes", b"no", b"no"]


def test_a_record_has_the_products_that_it_has_alone():
    """Of random pieces, so that any oligo has sites in any records; from circles too."""
    rng = np.random.default_rng(11)
    probe = "TTGGCCTAGGTTAC"
    reverse = naive.reverse_complement(REVERSE)
    pieces = [FORWARD, reverse, probe, naive.reverse_complement(probe), "ACGTTGCA"]
    pairs = {"p": (FORWARD, REVERSE, probe)}
    found = 0
    for circular in (False, True):
        for _ in range(12):
            records = []
            for number in range(int(rng.integers(2, 9))):
                chosen = rng.integers(0, len(pieces), int(rng.integers(0, 12)))
                records.append((f"r{number}", "AC" + "".join(pieces[each] for each in chosen)))
            how = {"product": (30, 160), "exact_3p": 3, "device": "cpu", "circular": circular}
            both, *alone = (
                [(x.record, x.start, x.end, x.strand) for x in kmatch.pcr(genome, pairs, 1, **how)]
                for genome in map(
                    kmatch.Genome.from_records, [records, *([each] for each in records)]
                )
            )
            assert both == [row for rows_alone in alone for row in rows_alone]
            found += len(both)
    assert found > 50
