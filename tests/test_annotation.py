"""Genes and regions of rows, against all features one by one."""

import gzip
import random

import naive_scores
import numpy as np
import pytest

from kmatch.errors import InputError, KmatchWarning
from kmatch.results.annotation import Annotation, gene_name
from kmatch.results.batches import Batch, Origin


def rows(start, end, record=0, circles=None):
    start, end = np.array(start, np.int64), np.array(end, np.int64)
    numbers = np.full(len(start), record, np.int64)
    return Batch(numbers, start, end, {record: "chr1"}, origin=Origin(circles=circles))


def columns(path, batch):
    """The genes and regions of the rows of a batch."""
    return [cells.names.array[cells.which].tolist() for cells in Annotation(path).columns(batch)]


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


def test_gtf_with_genes_made_of_their_parts(tmp_path):
    path = tmp_path / "a.gtf"
    path.write_text(
        '#!genome\nchr1\tx\ttranscript\t11\t50\t.\t+\t.\tgene_id "E1"; gene_name "one; 1";\n'
        'chr1\tx\texon\t11\t20\t.\t+\t.\tgene_id "E1"; gene_name "one; 1";\n'
        'chr1\tx\texon\t41\t50\t.\t+\t.\tgene_id "E1"; gene_name "one; 1";\n'
        'chr1\tx\tstart_codon\t1\t3\t.\t+\t.\tgene_id "E9";\n'
    )
    genes, regions = columns(path, rows([0, 9, 20, 49, 50], [3, 11, 40, 60, 60]))
    assert genes == ["", "one; 1", "one; 1", "one; 1", ""]
    assert regions == ["intergenic", "exon", "intron", "exon", "intergenic"]


def test_bed_has_no_regions(tmp_path):
    path = tmp_path / "a.bed"
    path.write_text("track name=x\nchr1\t10\t20\tpeak\nchr1\t15\t30\nchr2\t0\t9\tother\n")
    genes, regions = columns(path, rows([0, 9, 19], [10, 11, 21]))
    assert genes == ["", "peak", "peak,."]
    assert set(regions) == {""}


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        ("ID=gene-b0001;Name=thrL;gene=x;locus_tag=b0001", "thrL"),
        ("ID=gene:E1;gene_id=E1", "E1"),
        ("ID=a%2Cb", "a,b"),
        ('gene_id "E1"; gene_name "TP53"', "TP53"),
        ("", "."),
    ],
)
def test_names(attributes, name):
    assert gene_name(attributes) == name


@pytest.mark.parametrize(
    ("text", "part"),
    [("", "no features"), ("chr1\tx\ty\n", "line 1: neither"), ("# only\n", "no features")],
)
def test_what_is_no_annotation(tmp_path, text, part):
    path = tmp_path / "a"
    path.write_text(text)
    with pytest.raises(InputError, match=part):
        Annotation(path)


def test_other_names_of_records_are_told(tmp_path):
    path = tmp_path / "a.bed"
    path.write_text("1\t10\t20\n")
    found = Annotation(path)
    assert found.columns(rows([12], [15]))[0].names.words == [""]
    with pytest.warns(KmatchWarning, match="the file has '1', the table 'chr1': names of records"):
        found.check()
