"""Genes and regions of rows, against all features one by one."""

import gzip
import random

import naive_scores
import numpy as np
import pytest

from kmatch.errors import InputError
from kmatch.results.annotation import Annotation, Exons, Genes, GeneSets, Intervals
from kmatch.results.batches import Batch, Origin
from kmatch.sequences.annotation import Feature, read_features, tag


def rows(start, end, record=0, circles=None, name="chr1"):
    start, end = np.array(start, np.int64), np.array(end, np.int64)
    numbers = np.full(len(start), record, np.int64)
    return Batch(numbers, start, end, {record: name}, origin=Origin(circles=circles))


def columns(path, batch):
    """The genes and regions of the rows of a batch."""
    return [[each.names.words[n] for n in each.which] for each in Annotation([path]).columns(batch)]


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
        exons = exons or [genes[0][:2]]  # as genes alone tell nothing of introns
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


def lines(*rows):
    """Lines of GFF3 or GTF from (type, start, end, tags), with positions from 1."""
    return "".join(f"chr1\tx\t{k}\t{a}\t{b}\t.\t+\t.\t{tags}\n" for k, a, b, tags in rows)


def test_features_of_each_format(tmp_path):
    bed = read(tmp_path / "a", "track x\nchr1\t5\t9\tone\nchr1\t7\t8\n")
    assert not bed.tells_exons and not bed.exons
    assert [each.name for each in bed.genes] == ["one", "."]
    gff = lines(("gene", 3, 30, "ID=g;Name=a%2Cb"), ("exon", 3, 9, "Parent=g"))
    found = read(tmp_path / "a", gff + lines(("intron", 9, 12, "Parent=g")) + ">chr1\nACGT\n")
    assert found.genes == [Feature("chr1", 2, 30, "a_b")]
    assert found.exons == [Feature("chr1", 2, 9, "")] and found.tells_exons


ENSEMBL = lines(  # exons of one transcript, and UTRs of another, as some releases have them
    ("chromosome", 1, 900, "ID=chromosome:1"),
    ("gene", 11, 100, "ID=gene:E1;Name=BRCA1;gene_id=E1"),
    ("mRNA", 11, 100, "ID=transcript:T1;Parent=gene:E1;Name=BRCA1-201"),
    ("five_prime_UTR", 11, 20, "Parent=transcript:T1"),
    ("CDS", 21, 40, "ID=CDS:P1;Parent=transcript:T1"),
    ("exon", 81, 100, "Parent=transcript:T1;Name=X1"),
    ("ncRNA_gene", 201, 260, "ID=gene:E2;gene_id=E2"),
    ("lnc_RNA", 201, 260, "ID=transcript:T2;Parent=gene:E2"),
    ("pseudogene", 301, 360, "ID=gene:E3;gene_id=E3"),
    ("pseudogene", 301, 350, "ID=transcript:E3;Parent=gene:E3"),
)
GENCODE = lines(
    ("gene", 11, 100, 'gene_id "E1"; gene_type "x"; gene_name "BR;C%25A1";'),
    ("transcript", 11, 100, 'gene_id "E1"; transcript_id "T1"; gene_name "BR;C%25A1";'),
    ("exon", 11, 40, 'gene_id "E1"; transcript_id "T1";'),
    ("UTR", 11, 20, 'gene_id "E1"; transcript_id "T1";'),
    ("transcript", 51, 60, 'gene_id "E1"; transcript_id "T2";'),
)
UCSC = lines(
    ("transcript", 11, 100, 'gene_id "N1"; transcript_id "N1";'),
    ("5UTR", 11, 20, 'gene_id "N1"; transcript_id "N1";'),
    ("3UTR", 91, 100, 'gene_id "N1"; transcript_id "N1";'),
)
REFSEQ = lines(
    ("region", 1, 900, "ID=NC_1:1..900"),
    ("gene", 11, 100, "ID=gene-b1;Name=thrA;gene=thrA;locus_tag=b1"),
    ("CDS", 11, 100, "ID=cds-1;Parent=gene-b1;Name=NP_1.1;gene=thrA;locus_tag=b1"),
    ("gene", 201, 260, "ID=gene-b2;Name=rrsH;locus_tag=b2"),
    ("rRNA", 201, 260, "ID=rna-b2;Parent=gene-b2;locus_tag=b2"),
    ("exon", 201, 260, "ID=exon-b2;Parent=rna-b2"),
    ("pseudogene", 301, 360, "ID=gene-b3;Name=insX;locus_tag=b3"),
)
PROKKA = lines(
    ("CDS", 11, 100, "ID=P_1;Name=dnaA;gene=dnaA_1;locus_tag=P_1"),
    ("tRNA", 201, 260, "ID=P_2;locus_tag=P_2;product=tRNA-Ala"),
    ("gene", 301, 360, "ID=P_3_gene;locus_tag=P_3"),
    ("rRNA", 301, 360, "ID=P_3;locus_tag=P_3;product=16S"),
)
SGD = lines(
    ("gene", 11, 100, "ID=YAL1W;Name=YAL1W;gene=PAU8"),
    ("mRNA", 11, 100, "ID=YAL1W_mRNA;Parent=YAL1W"),
    ("CDS", 11, 40, "Parent=YAL1W_mRNA;Name=YAL1W_CDS"),
    ("CDS", 81, 100, "Parent=YAL1W_mRNA;Name=YAL1W_CDS"),
    ("tRNA_gene", 201, 260, "ID=tA1;Name=tA1"),
    ("noncoding_exon", 201, 220, "Parent=tA1;Name=tA1_noncoding_exon"),
)
TAIR = lines(
    ("gene", 11, 100, "ID=AT1G1;Note=protein_coding_gene;Name=AT1G1"),
    ("protein", 11, 90, "ID=AT1G1.1-Protein;Name=AT1G1.1;Derives_from=AT1G1.1"),
    ("mRNA", 11, 100, "ID=AT1G1.1;Parent=AT1G1;Name=AT1G1.1"),
    ("CDS", 11, 40, "Parent=AT1G1.1,AT1G1.1-Protein;"),
    ("pseudogene", 201, 260, "ID=AT1G2;Name=AT1G2"),
    ("pseudogenic_transcript", 201, 260, "ID=AT1G2.1;Parent=AT1G2;Name=AT1G2.1"),
    ("pseudogenic_exon", 201, 220, "Parent=AT1G2.1"),
)
BAKTA = lines(  # which writes no gene lines, and the product as Name
    ("CDS", 11, 40, "ID=E_05;Name=hypothetical protein;locus_tag=E_05"),
    ("CDS", 101, 120, "ID=E_10;Name=Aspartokinase;locus_tag=E_10;gene=thrA"),
    ("tRNA", 201, 220, "ID=E_15;Name=tRNA-Ile;locus_tag=E_15;gene=trnI"),
    ("tRNA", 401, 420, "ID=E_20;Name=tRNA-Ile;locus_tag=E_20;gene=trnI"),
    ("CDS", 501, 560, "ID=E_25;Name=hypothetical protein;locus_tag=E_25"),
)
COPIES = lines(  # of a gene without a gene line: transcripts that overlap are one
    ("exon", 11, 20, 'gene_id "M"; transcript_id "M";'),
    ("exon", 91, 100, 'gene_id "M"; transcript_id "M";'),
    ("exon", 51, 60, 'gene_id "M"; transcript_id "M_2";'),
    ("exon", 201, 220, 'gene_id "M"; transcript_id "M_dup1";'),
)
FORMS = {  # the genes (start, end, name), and the exons, positions from 1
    "Ensembl": (
        ENSEMBL,
        [(11, 100, "BRCA1"), (201, 260, "E2"), (301, 360, "E3")],
        [(11, 20), (21, 40), (81, 100), (201, 260), (301, 350)],
    ),
    "GENCODE": (GENCODE, [(11, 100, "BR;C%25A1")], [(11, 40), (11, 20), (51, 60)]),
    "UCSC": (UCSC, [(11, 100, "N1")], [(11, 20), (91, 100)]),
    "RefSeq": (
        REFSEQ,
        [(11, 100, "thrA"), (201, 260, "rrsH"), (301, 360, "insX")],
        [(11, 100), (201, 260), (301, 360)],
    ),
    "Prokka": (
        PROKKA,
        [(301, 360, "P_3"), (11, 100, "dnaA_1"), (201, 260, "P_2")],
        [(11, 100), (201, 260), (301, 360)],
    ),
    "Bakta": (
        BAKTA,
        [
            (11, 40, "hypothetical protein"),
            (101, 120, "thrA"),
            (201, 220, "trnI"),
            (401, 420, "trnI"),
            (501, 560, "hypothetical protein"),
        ],
        [(11, 40), (101, 120), (201, 220), (401, 420), (501, 560)],
    ),
    "copies": (
        COPIES,
        [(11, 100, "M"), (201, 220, "M")],
        [(11, 20), (91, 100), (51, 60), (201, 220)],
    ),
    "SGD": (SGD, [(11, 100, "YAL1W"), (201, 260, "tA1")], [(11, 40), (81, 100), (201, 220)]),
    "TAIR": (TAIR, [(11, 100, "AT1G1"), (201, 260, "AT1G2")], [(11, 40), (201, 220)]),
    "genes alone": (lines(("gene", 11, 100, "ID=a")), [(11, 100, "a")], []),
    "names that would part cells": (
        lines(("gene", 11, 100, "ID=a;Name=x%09y%0Az%2C"), ("CDS", 11, 40, "Parent=a")),
        [(11, 100, "x_y_z_")],
        [(11, 40)],
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_files_as_their_makers_write_them(form, tmp_path):
    text, genes, exons = FORMS[form]
    found = read(tmp_path / "a.gff", text)
    assert [(each.start + 1, each.end, each.name) for each in found.genes] == genes
    assert [(each.start + 1, each.end) for each in found.exons] == exons
    assert found.tells_exons == bool(exons)


def genbank(features, name="X"):
    """A record of GenBank of 100 letters; features: its lines."""
    return (
        f"LOCUS       {name}                100 bp    DNA     linear   BCT 01-JAN-2026\n"
        f"ACCESSION   {name}\nVERSION     {name}.1\nFEATURES             Location/Qualifiers\n"
        f"{features}ORIGIN\n        1 {'a' * 100}\n//\n"
    )


def test_genbank(tmp_path):
    """
    gene A   11 |-----------------| 60        the parts of its CDS are exons
    CDS         |----|      |-----|           11-20, 41-60
    tRNA     71 |--| 80                       without a gene line
    """
    text = genbank(
        '     gene            11..60\n                     /gene="A"\n'
        '     CDS             join(11..20,41..60)\n                     /gene="A"\n'
        '     tRNA            71..80\n                     /locus_tag="L2"\n'
    )
    found = read(tmp_path / "a.gb", text)
    assert found.genes == [Feature("X.1", 10, 60, "A"), Feature("X.1", 70, 80, "L2")]
    assert [each[1:3] for each in found.exons] == [(10, 20), (40, 60), (70, 80)]


def test_genbank_without_names(tmp_path):
    """Each feature is a gene of its own, which is not named."""
    text = genbank(
        '     CDS             join(11..20,31..40)\n                     /label="AmpR"\n'
        '     CDS             71..80\n                     /label="AmpR"\n'
    )
    found = read(tmp_path / "a.gb", text)
    assert found.genes == [Feature("X.1", 10, 40, "."), Feature("X.1", 70, 80, ".")]


def test_features_of_one_name_in_other_places(tmp_path):
    """Nothing joins lines of two records, nor a CDS with a gene line that lies elsewhere.

    record X   gene A |-----|      CDS A |---|
    record Y   CDS A  |---|
    """
    line = '     {:<16}{}\n                     /gene="A"\n'.format
    first = line("gene", "11..40") + line("CDS", "11..40") + line("CDS", "61..80")
    text = genbank(first) + genbank(line("CDS", "21..50"), "Y")
    found = read(tmp_path / "a.gb", text)
    genes = [("X.1", 10, 40, "A"), ("X.1", 60, 80, "A"), ("Y.1", 20, 50, "A")]
    assert found.genes == [Feature(*gene) for gene in genes]
    assert [each[:3] for each in found.exons] == [gene[:3] for gene in genes]

    lines_of_two = lines(("gene", 11, 40, "ID=g;Name=A"), ("CDS", 11, 40, "Parent=g"))
    lines_of_two += lines(("gene", 11, 90, "ID=g;Name=B")).replace("chr1", "chr2")
    found = read(tmp_path / "a.gff3", lines_of_two)
    assert [each[:3] for each in found.exons] == [("chr1", 10, 40), ("chr2", 10, 90)]


def test_damaged_genbank(tmp_path):
    """Features need no sequence; what is no GenBank any more is an error that names the file."""
    text = (
        "LOCUS       X                100 bp    DNA     linear   BCT 01-JAN-2026\n"
        "ACCESSION   .\nVERSION     .\nFEATURES             Location/Qualifiers\n"
        '     gene            11..60\n                     /gene="A"\n'
        "CONTIG      join(U00096.3:1..100)\n//\n"
    )
    assert read(tmp_path / "a.gb", text).genes == [Feature("X", 10, 60, "A")]
    fewer = "ORIGIN\n        1 acgt\n//\n"
    for damaged in (text[:-4], text.replace("CONTIG", "//"), text.replace("//\n", fewer)):
        with pytest.raises(InputError, match=r"a\.gb: (damaged or cut genbank|the genbank .* cut)"):
            read(tmp_path / "a.gb", damaged)


def test_the_span_of_parts(tmp_path):
    """
    parts of A   |---|     |---|          3-6, 12-15
    of B             |-------------|      7-20
    """
    line = 'chr1\tx\texon\t{}\t{}\t.\t+\t.\tgene_id "{}";\n'.format
    parts = line(4, 6, "A") + line(8, 20, "B") + line(13, 15, "A")
    genes = read(tmp_path / "parts.gtf", parts).genes
    assert [(each.name, each.start, each.end) for each in genes] == [("A", 3, 15), ("B", 7, 20)]


def test_tags():
    assert tag("ID=x;Parent=y%20z;gene=w", "Parent") == "y z"
    assert tag('gene_id "E;1"; gene_name "A%20C";', "gene_name") == "A%20C"
    assert tag('transcript_gene_id "no"; gene_id "E;1"', "gene_id") == "E;1"
    assert tag("note=ID", "ID") == ""


@pytest.mark.parametrize("circle", [None, 1_000])
def test_nearest_genes_against_every_gene(tmp_path, circle):
    """As `bedtools closest -d`: the letters between two intervals and 1, 0 where they overlap."""
    rng = random.Random(14)
    for case in range(40):
        genes = []
        for number in range(rng.randrange(0, 8)):
            start = rng.randrange(1_000)
            genes.append((start, min(1_000, start + rng.choice([1, 5, 60])), f"g{number % 5}"))
        genes.sort(key=lambda gene: gene[:2])
        elsewhere = "chr2\tx\tgene\t5\t9\t.\t+\t.\tName=other\n"
        path = tmp_path / f"{case}.gff3"
        path.write_text("\n".join([*gff_lines(genes, [])[:-3], elsewhere]))
        start = [rng.randrange(1_000) for _ in range(60)]
        end = [a + rng.randrange(1, 40) for a in start]
        if circle is None:
            end = [min(b, 1_000) for b in end]
        batch = rows(start, end, circles=circle and {0: circle})
        named, distance = Annotation([path]).nearest(batch)
        found = [named.names.words[number] for number in named.which]
        for row in range(60):
            expected = naive_scores.nearest(genes, start[row], end[row], circle)
            assert (found[row], int(np.nan_to_num(distance[row], nan=-1))) == expected


CIRCLE = "chr1\tx\tregion\t1\t100\t.\t+\t.\tID=chr1;Is_circular=true\n"


def test_gff3_counts_on_behind_the_origin_of_a_circle(tmp_path):
    """
    circle of 100   gene A of phiX174's kind      80 |------- 110
    features                               0 |--| 10    80 |--| 100
    """
    lines = (
        "chr1\tx\tgene\t81\t110\t.\t+\t.\tID=a;Name=A\n"
        "chr1\tx\tCDS\t81\t95\t.\t+\t0\tParent=a\nchr1\tx\tCDS\t105\t110\t.\t+\t0\tParent=a\n"
    )
    found = read(tmp_path / "a.gff3", CIRCLE + lines)
    assert [each[1:] for each in found.genes] == [(80, 100, "A"), (0, 10, "A")]
    assert [each[1:3] for each in found.exons] == [(80, 95), (4, 10)]
    for circles in (None, {0: 100}):
        batch = rows([2, 6, 50, 97], [4, 8, 52, 99], circles=circles)
        assert columns(tmp_path / "a.gff3", batch) == [
            ["A", "A", "", "A"],
            ["intron", "exon", "intergenic", "intron"],
        ]
    found = read(tmp_path / "line.gff3", lines)  # which is no circle, and is left as it is
    assert [each[1:] for each in found.genes] == [(80, 110, "A")]
    whole = read(tmp_path / "b.gff3", CIRCLE + "chr1\tx\tgene\t21\t170\t.\t+\t.\tName=B\n")
    assert [each[1:3] for each in whole.genes] == [(20, 100), (0, 20)]


@pytest.mark.parametrize(
    ("location", "more", "genes"),
    [
        ("join(91..100,1..5)", "", [(90, 100), (0, 5)]),
        ("complement(join(91..100,1..5))", "", [(90, 100), (0, 5)]),
        ("join(complement(1..5),complement(91..100))", "", [(90, 100), (0, 5)]),
        ("join(81..90,1..5,11..20)", "", [(80, 100), (0, 20)]),
        ("join(11..20,41..50)", "", [(10, 50)]),
        ("join(complement(41..50),11..20)", "", [(10, 50)]),
        ("join(41..50,11..20)", "/trans_splicing", [(10, 50)]),
    ],
)
def test_genbank_over_the_origin_of_a_circle(location, more, genes, tmp_path):
    """A CDS over the origin lies at both ends of the record, and not over all of it."""
    text = (
        "LOCUS       X                100 bp    DNA     circular BCT 01-JAN-2026\n"
        "ACCESSION   X\nVERSION     X.1\nFEATURES             Location/Qualifiers\n"
        f'     CDS             {location}\n                     /gene="A"\n'
        + (f"                     {more}\n" if more else "")
        + f"ORIGIN\n        1 {'a' * 100}\n//\n"
    )
    found = read(tmp_path / "a.gb", text)
    assert [each[1:3] for each in found.genes] == genes
    linear = read(tmp_path / "b.gb", text.replace("circular", "linear  "))
    assert len(linear.genes) == 1


def test_the_region_beside_bed_and_beside_a_list_of_genes(tmp_path):
    """
    genes.gff3   gene |---------|  exon |---|        10-40, 10-20
    peaks.bed                |-------------|         30-60, no gene
    list.gff3                            |------|    50-80, tells no exons
    """
    line = "chr1\tx\t{}\t{}\t{}\t.\t+\t.\tName={}\n".format
    exon = "chr1\tx\texon\t11\t20\t.\t+\t.\tParent=a\n"
    texts = {
        "genes.gff3": line("gene", 11, 40, "A;ID=a") + exon,
        "peaks.bed": "chr1\t30\t60\tpeak\n",
        "list.gff3": line("gene", 51, 80, "B"),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    batch = rows([12, 32, 45, 52, 70, 90], [14, 34, 47, 54, 72, 92])
    annotation = Annotation([tmp_path / name for name in texts])
    named = annotation.columns(batch)
    genes, regions = ([each.names.words[n] for n in each.which] for each in named)
    assert genes == ["A", "A,peak", "peak", "peak,B", "B", ""]
    assert regions == ["exon", "intron", "intergenic", "", "", "intergenic"]
    without = Annotation([tmp_path / "peaks.bed", tmp_path / "list.gff3"]).columns(batch)[1]
    assert {without.names.words[n] for n in without.which} == {""}


def test_the_region_in_a_record_that_no_file_knows(tmp_path):
    """Beside a file of other records; a line of any type makes a record known."""
    line = "{}\tx\t{}\t11\t40\t.\t+\t.\tID=A\n".format
    (tmp_path / "genes.gff3").write_text(line("chr2", "CDS") + line("chr3", "region"))
    (tmp_path / "peaks.bed").write_text("chr1\t30\t60\tpeak\n")
    known = ["exon", "intergenic"], ["intergenic", "intergenic"]
    for name, expected in zip(("chr1", "chr2", "chr3"), (["", ""], *known), strict=True):
        batch = rows([32, 70], [34, 72], name=name)
        (_, region) = Annotation([*tmp_path.iterdir()]).columns(batch)
        assert [region.names.words[n] for n in region.which] == expected


@pytest.mark.parametrize(
    ("place", "distance"), [(95, 5), (99, 1), (100, 0), (110, 0), (120, 0), (121, 1), (130, 10)]
)
def test_a_feature_without_letters_as_bedtools_has_it(place, distance, tmp_path):
    (tmp_path / "a.bed").write_text(f"chr1\t{place}\t{place}\tz\n")
    annotation = Annotation([tmp_path / "a.bed"])
    batch = rows([100], [120])
    names, distances = annotation.nearest(batch)
    assert names.names.words[names.which[0]] == "z" and distances.tolist() == [distance]
    genes, _ = annotation.columns(batch)
    assert genes.names.words[genes.which[0]] == ("" if distance else "z")


@pytest.mark.parametrize(
    "line", ["chr1\t60\t30\tx\n", "chr1\tx\tgene\t61\t30\t.\t-\t.\tID=x\n"], ids=["bed", "gff3"]
)
def test_a_feature_that_ends_before_it_begins(line, tmp_path):
    """A gene that is lost so would leave its hits intergenic. An insertion has no letters."""
    good = "chr1\t10\t10\tx\n" if line.startswith("chr1\t60") else line.replace("61", "31")
    read(tmp_path / "good", good)
    with pytest.raises(InputError, match="line 2: the feature ends before it begins"):
        read(tmp_path / "bad", good + line)
