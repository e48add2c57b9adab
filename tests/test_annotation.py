"""Genes and regions of rows, against all features one by one."""

import gzip
import random

import naive_scores
import numpy as np
import pytest

from kmatch.results.annotation import Annotation, Exons, Genes, GeneSets, Intervals
from kmatch.results.batches import Batch, Origin
from kmatch.sequences.annotation import Feature, gene_name, read_features


def rows(start, end, record=0, circles=None):
    start, end = np.array(start, np.int64), np.array(end, np.int64)
    numbers = np.full(len(start), record, np.int64)
    return Batch(numbers, start, end, {record: "chr1"}, origin=Origin(circles=circles))


def columns(path, batch):
    """The genes and regions of the rows of a batch."""
    return [[each.names.words[n] for n in each.which] for each in Annotation(path).columns(batch)]


def gff_lines(genes, exons):
    lines = [f"chr1\tx\tgene\t{a + 1}\t{b}\t.\t+\t.\tID=i;Name={name}" for a, b, name in genes]
    lines += [f"chr1\tx\texon\t{a + 1}\t{b}\t.\t+\t.\tParent=i" for a, b in exons]
    return ["##gff-version 3", *lines, "##FASTA", ">chr1", "ACGT"]


@pytest.mark.parametrize("circle", [None, 1_000])
def test_gff3_against_every_feature(tmp_path, circle):
    rng = random.Random(13)
    for case in range(40):
        genes = []
        for number in range(rng.randrange(1, 12)):
            start = rng.randrange(1_000)
            genes.append((start, min(1_000, start + rng.choice([1, 5, 60, 500])), f"g{number % 7}"))
        exons = [(a, min(a + rng.choice([1, 30]), b)) for a, b, _ in genes if rng.random() < 0.8]
        path = tmp_path / f"{case}.gff3.gz"
        path.write_bytes(gzip.compress("\n".join(gff_lines(genes, exons)).encode()))
        start = [rng.randrange(1_000) for _ in range(100)]
        end = [a + rng.randrange(1, 40) for a in start]
        batch = rows(start, end, circles=circle and {0: circle})
        places = zip(start, end, strict=True)
        expected = [naive_scores.annotated(genes, exons, *place, circle) for place in places]
        assert list(zip(*columns(path, batch), strict=True)) == expected


def intervals(*pairs):
    start, end = np.array(pairs, np.int64).T
    return Intervals(start, end)


def test_genes_of_intervals():
    """
    genes       A 10 |------------| 23
                B      17 |----------| 28
    asked    a |---|                              2-10
             b     |--------|                    10-17
             c         |----------|              12-23
             d                         |--|      28-30
             e   |----------------------------|   2-30
    """
    genes = Genes(intervals((10, 23), (17, 28)))
    asked = intervals((2, 10), (10, 17), (12, 23), (28, 30), (2, 30))
    sets, which = genes.overlapping(asked)
    assert [sets[number] for number in which] == [[], [0], [0, 1], [], [0, 1]]


def test_genes_of_a_circle_come_one_behind_the_other():
    before = GeneSets([[], [7]], np.array([1, 0, 1]))
    behind = GeneSets([[0], []], np.array([0, 1, 1]))
    sets, which = before.followed_by(behind)
    assert [sets[number] for number in which] == [[7, 0], [], [7]]


def test_exons_of_intervals():
    """
    exons    2 |------| 9        15 |---| 19
                 4 |--| 7
    """
    exons = Exons(intervals((2, 9), (4, 7), (15, 19)))
    asked = intervals((0, 2), (1, 3), (8, 9), (9, 15), (9, 16), (19, 20))
    assert exons.overlap(asked).tolist() == [False, True, True, False, True, False]


def read(path, text):
    path.write_text(text)
    return read_features(path)


def test_features_of_each_format(tmp_path):
    bed = read(tmp_path / "a", "track x\nchr1\t5\t9\tone\nchr1\t7\t8\n")
    assert bed.is_bed and [each.name for each in bed.genes] == ["one", "."] and not bed.exons
    line = "chr1\tx\t{}\t{}\t{}\t.\t+\t.\t{}\n".format
    gff = line("gene", 3, 30, "ID=g;Name=a%2Cb") + line("exon", 3, 9, "Parent=g")
    found = read(tmp_path / "a", gff + line("intron", 9, 12, "Parent=g") + "##FASTA\nACGT\n")
    assert found.genes == [Feature("chr1", 2, 30, "ID=g;Name=a%2Cb", "gene")]
    assert [each[:3] for each in found.exons] == [("chr1", 2, 9)] and not found.is_bed
    assert found.genes[0].name == "a,b"


def test_the_span_of_parts(tmp_path):
    """
    parts of A   |---|     |---|          3-6, 12-15
    of B             |-------------|      7-20
    """
    line = 'chr1\tx\texon\t{}\t{}\t.\t+\t.\tgene_id "{}";\n'.format
    parts = line(4, 6, "A") + line(8, 20, "B") + line(13, 15, "A")
    genes = read(tmp_path / "parts.gtf", parts).genes
    assert [(each.name, each.start, each.end) for each in genes] == [("A", 3, 15), ("B", 7, 20)]


def test_the_best_of_the_names():
    assert gene_name("ID=x;Parent=y;gene=z") == "z"
    assert gene_name('gene_id "ENSG1"; gene_name "ABC";') == "ABC"
    assert gene_name("note=none") == "."
