"""Genes and regions of rows, against all features one by one."""

import gzip
import random

import naive_scores
import numpy as np
import pytest

from kmatch.results.annotation import Annotation
from kmatch.results.batches import Batch, Origin


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
