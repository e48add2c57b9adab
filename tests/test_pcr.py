"""Products of pairs of primers, held against every two sites of an oracle."""

import io
from unittest import mock

import naive
import numpy as np
import pytest
from support.commands import random_letters
from support.devices import joined
from support.searches import batches, products
from support.searches import product_rows as rows

import kmatch
from kmatch.errors import InputError
from kmatch.search import pcr as joins
from kmatch.sequences.primer_pairs import load_pairs

FORWARD, REVERSE = "ACGTTGCAGT", "GGATTACCAG"
PAIR = {"pair": (FORWARD, REVERSE)}


def amplicon(length, seed=3):
    """A product of PAIR with so many letters."""
    return FORWARD + random_letters(length - 20, seed) + naive.reverse_complement(REVERSE)


def found(*texts, **options):
    records = [(f"r{number}", text) for number, text in enumerate(texts)]
    options = {"k": 0, "device": "cpu"} | options
    return kmatch.pcr(kmatch.Genome.from_records(records), PAIR, **options)


@pytest.mark.parametrize("length", [50, 51, 300, 4999, 5000])
def test_a_product_at_its_limits(length):
    text = "TT" + amplicon(length) + "GG"
    made = found(text)
    assert (made.start.tolist(), made.end.tolist()) == ([2], [2 + length])
    assert made.strand.tolist() == ["+"]
    assert found(text, product=(length, length)).length.tolist() == [length]
    assert len(found(text, product=(length + 1, 9000))) == 0
    assert len(found(text, product=(1, length - 1))) == 0


def test_a_primer_that_overlaps_its_partner():
    text = "ACGTTGCAGTCCTGGACCAGTT"
    pair = {"dimer": (text[:14], naive.reverse_complement(text[8:]))}
    options = {"device": "cpu", "product": (0, 50)}
    assert products([("r", text)], pair, 0, **options).length.tolist() == [22]
    palindrome = {"self": ("GAATTC", "CCCCCC")}
    made = products([("r", "TTGAATTCTT")], palindrome, 0, **options, pairs="any")
    assert rows(made) == [(0, 2, 8, "+", (0, 2, 8, 0), (0, 2, 8, 0))]


def test_products_over_many_chunks():
    text = random_letters(3000, 5) + amplicon(2500) + random_letters(700, 6)
    records = [("r", text)]
    made = products(records, PAIR, 0, device="cpu", chunk_length=64, sequence=True)
    assert made.sequence.tolist() == [text[3000:5500]]


@pytest.mark.parametrize("algorithm", ["naive", "sequential"])
def test_published_algorithms(algorithm):
    edit, text = algorithm == "sequential", amplicon(100)
    here = {"k": 1, "edit": edit}
    assert len(found(text, **here, algorithm=algorithm, device="cpu")) == 1
    with pytest.raises(InputError, match="unknown algorithm"):
        found(text, **here, algorithm="row" if not edit else "naive")


def test_a_share_of_each_primer():
    text = amplicon(100)
    one = "T" + text[1:]
    assert [len(found(one, k=k)) for k in ("10%", "9%", 0)] == [1, 0, 0]


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


class TestTable:
    made = products(
        [("r0", amplicon(60)), ("r1", "ACG" + amplicon(70) + amplicon(90))],
        PAIR, 1, device="cpu", chunk_length=40, sequence=True,
    )  # fmt: skip

    def test_repr(self):
        assert repr(self.made).startswith("<Products: 4 products\n  record  start  end")

    def test_files(self):
        bed, tsv = io.StringIO(), io.StringIO()
        self.made[:1].to_bed(bed)
        self.made[:1].to_tsv(tsv)
        assert bed.getvalue() == "r0\t0\t60\tpair\t1000\t+\t0\t0\n"
        header, line = tsv.getvalue().splitlines()
        assert dict(zip(header.split("\t"), line.split("\t"), strict=True)) == {
            "sequence": "r0", "start": "0", "end": "60", "name": "pair", "length": "60",
            "strand": "+", "forward": "pair_F", "forward_start": "0", "forward_end": "10",
            "distance_forward": "0", "cigar_forward": "10=",
            "match_forward": FORWARD, "match_reverse": REVERSE, "reverse": "pair_R",
            "reverse_start": "50", "reverse_end": "60", "distance_reverse": "0",
            "cigar_reverse": "10=", "product": amplicon(60),
        }  # fmt: skip

    def test_no_text_that_was_not_asked_for(self):
        with pytest.raises(InputError, match="sequence=True"):
            found(amplicon(60)).sequence  # noqa: B018

    def test_nothing(self):
        none = found("ACGT")
        assert (len(none), list(none), none.name.tolist()) == (0, [], [])
        out = io.StringIO()
        none.to_tsv(out)
        assert out.getvalue().count("\n") == 1


@pytest.mark.parametrize(
    "options, message",
    [
        ({"product": (9, 8)}, "product: the least, 9, is more than the most, 8"),
        ({"product": 9}, "give two numbers, the least and the most"),
        ({"pairs": "all"}, "unknown pairs 'all'; use own or any"),
        ({"k": 10}, "10"),
        ({"exact_3p": 11}, "exact_3p 11"),
        ({"exact_3p": 11, "edit": True}, "exact_3p 11"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(InputError, match=message):
        found("ACGT", **options)


def test_products_that_hold_a_probe():
    """The closest probe inside, on either strand; any two primers are joined without one."""
    probe = "TTGGCCTAGGATCCA"
    near = "TTGGCGTAGGATCCA"
    records = [
        ("none", FORWARD + "A" * 60 + naive.reverse_complement(REVERSE)),
        ("both", FORWARD + near + "AA" + naive.reverse_complement(probe) + amplicon(60)[10:]),
        ("behind", amplicon(60) + probe),
    ]
    genome = kmatch.Genome.from_records(records)
    given = {"p": (FORWARD, REVERSE, [probe, "CCCCCCCCCCCCCCC"]), "q": (FORWARD, REVERSE)}
    options = {"k": 1, "device": "cpu", "product": (20, 200)}
    made = kmatch.pcr(genome, given, **options)
    assert list(zip(made.record, made.name, made.probe.tolist(), strict=True))[1] == (
        "both", "p", 0.0,
    )  # fmt: skip
    assert made.record[made.name == "p"].tolist() == ["both"]
    assert made.record[made.name == "q"].tolist() == ["none", "both", "behind"]
    out = io.StringIO()
    made.to_tsv(out)
    cells = [line.split("\t") for line in out.getvalue().splitlines()]
    assert cells[0][-1] == "probe" and [row[-1] for row in cells[1:]] == ["", "0", "", ""]
    mixed = kmatch.pcr(genome, {"p": given["p"]}, pairs="any", **options)
    assert mixed.record.tolist() == ["none", "both", "behind"] and np.isnan(mixed.probe).all()


@pytest.mark.parametrize(
    "above", ["id\tForward\tReverse", "name\tprimer1\tprimer2", "n\tfwd_seq\tR"]
)
def test_a_header_line_is_told_by_its_words(above, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(f"{above}\tx\nq\t{FORWARD}\t{REVERSE}\t\n")
    assert load_pairs(path).primers.names == ["q_F", "q_R"]
    path.write_text(f"q\t{FORWARD}\t{REVERSE}\tZZ\n")
    with pytest.raises(InputError, match="line 1: pattern 'q_P'") as error:
        load_pairs(path)
    assert "--column" not in str(error.value)
