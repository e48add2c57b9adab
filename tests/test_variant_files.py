"""Files of variants as they come: forms of VCF, several files, orders of records, frequencies."""

import gzip
import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from support.commands import here

import kmatch

# In each record the pattern is at 2, and one allele at 12 makes it again.
#             0         1         2
#             0123456789012345678901234
LETTERS = "TTACGTACGTCCTTACGTCCGTCCTT"
PATTERN = "ACGTACGT"
HEAD = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"


def line(record="a", info=".", genotypes=("1|1",), pos=19, ref="C", alt="A"):
    cells = [record, pos, ".", ref, alt, ".", "PASS", info]
    return "\t".join(map(str, [*cells, *(["GT", *genotypes] if genotypes else [])]))


def write(path, *lines, samples=("S",), head="##fileformat=VCFv4.4\n"):
    columns = [HEAD, "FORMAT", *samples] if samples else [HEAD]
    path.write_text(head + "\t".join(columns) + "\n" + "".join(f"{each}\n" for each in lines))
    return path


def search(variants, records=("a",), only=None, **options):
    genome = kmatch.Genome.from_records([(name, LETTERS) for name in records])
    given = kmatch.Variants(variants, **options)
    hits = kmatch.hamming(genome, [PATTERN], 1, strand="+", variants=given, records=only)
    return hits[hits.variants != ""]


def names(hits):
    return hits.variants.tolist()


def test_an_allele_makes_a_hit(tmp_path):
    # TTACGTACGTCCTTACGTCCGTCCTT      at 14: ACGTCCGT, two letters off; with A at 18 one
    hits = search(write(tmp_path / "x.vcf", line()))
    assert hits.start.tolist() == [14] and names(hits) == ["a:19:C:A"]


@pytest.mark.parametrize("text", ["|1|1", "/1/1", "|0|1", "1"])
def test_genotypes_with_a_leading_phase_mark_are_read(text, tmp_path):
    assert names(search(write(tmp_path / "x.vcf", line(genotypes=[text])))) == ["a:19:C:A"]


def test_trailing_tabs_blank_lines_and_a_missing_first_line_do_not_matter(tmp_path):
    path = write(tmp_path / "x.vcf", "", line() + "\t", "", "\t", head="")
    text = path.read_text().replace("FORMAT\tS\n", "FORMAT\tS\t\n")
    path.write_text(text)
    hits = search(path)
    assert names(hits) == ["a:19:C:A"] and hits.samples.tolist() == ["S"]


def test_telomeres_are_left_out(tmp_path):
    lines = [line(pos=0, ref="N", alt="]a:5]N"), line(), line(pos=27, ref="N", alt="N[a:5[")]
    with pytest.warns(UserWarning, match="left out: 2 at telomeres"):
        assert names(search(write(tmp_path / "x.vcf", *lines))) == ["a:19:C:A"]


def test_blanks_for_tabs_are_told(tmp_path):
    path = write(tmp_path / "x.vcf", line().replace("\t", " "))
    with pytest.raises(kmatch.InputError, match="line 3: blanks stand between the columns"):
        search(path)
    path.write_text(path.read_text().replace("\t", " "))
    with pytest.raises(kmatch.InputError, match="blanks stand between the columns, where VCF has"):
        search(path)


def test_a_second_header_says_where_another_file_begins(tmp_path):
    path = write(tmp_path / "x.vcf", line())
    path.write_text(path.read_text() * 2)
    with pytest.raises(kmatch.InputError, match="line 4: another VCF begins here"):
        search(path)


def test_what_is_no_vcf_is_told(tmp_path):
    path = tmp_path / "x.vcf"
    for text in (">a\nACGT\n", "##gff-version 3\na\t.\n", "a\t1\n"):
        path.write_text(text)
        with pytest.raises(kmatch.InputError, match="it is no VCF"):
            search(path)
    path.write_text("##fileformat=VCFv4.2\na\t1\n")
    with pytest.raises(kmatch.InputError, match="has no line #CHROM"):
        search(path)


def test_frequencies_that_are_none(tmp_path):
    """Percent would pass for a frequency that any allele has."""
    for number in ("25", "-0.5", "nan"):
        path = write(tmp_path / "x.vcf", line(info=f"AF={number}"))
        with pytest.raises(kmatch.InputError, match=f"AF is '{number}', and no number from 0 to 1"):
            search(path)
    assert search(write(tmp_path / "x.vcf", line(info="AF=1.0000001"))).af.tolist() == [1.0000001]


def test_two_records_of_one_name(tmp_path):
    path = write(tmp_path / "x.vcf", line())
    said = "two records of the genome or more are named 'a', and alleles may be of any"
    for records, outcome in ((("a", "a"), pytest.raises(kmatch.InputError, match=said)),
                             (("a", "b", "b"), nullcontext())):  # fmt: skip
        with pytest.warns(UserWarning, match="rows do not tell them apart"), outcome:
            assert len(search(path, records=records)) == 1


def test_two_samples_of_one_name(tmp_path):
    path = write(tmp_path / "x.vcf", line(genotypes=("1|1", "0|0")), samples=("S", "S"))
    with pytest.raises(kmatch.InputError, match="#CHROM names two samples or more 'S'; rename one"):
        search(path)


def test_other_lengths_of_contigs_are_one_warning(tmp_path):
    head = "##contig=<ID=a,length=25>\n##contig=<ID=b,length=9>\n##contig=<ID=c>\n"
    path = write(tmp_path / "x.vcf", line(), head=head)
    match = "'a' has 25 letters by ##contig, and 26 in the genome, and 1 more differ; each REF"
    with pytest.warns(UserWarning, match=match) as seen:
        assert len(search(path, ("a", "b", "c"))) == 1
    assert len(seen) == 1


def test_several_files_have_a_record_each(tmp_path):
    paths = [
        write(tmp_path / "b.vcf", line("b", genotypes=["0|1"]), samples=["B"]),
        write(tmp_path / "ac.vcf", line("a"), line("c"), samples=["A"]),
    ]
    hits = search(paths, ("a", "b", "c"))
    assert names(hits) == ["a:19:C:A", "b:19:C:A", "c:19:C:A"]
    assert hits.samples.tolist() == ["A", "B", "A"]
    # A file of records that are not searched is none from which alleles were left out.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert names(search(paths, ("a", "b", "c"), only="a")) == ["a:19:C:A"]
    with pytest.warns(UserWarning, match=r"ac.vcf: no allele is left"):
        assert names(search(paths, ("a", "b", "c"), samples=["B"])) == ["b:19:C:A"]
    with pytest.raises(kmatch.InputError, match="no sample 'D'; the files have 'B', 'A'"):
        search(paths, ("a", "b", "c"), samples=["B", "D"])
    again = write(tmp_path / "c.vcf", line("c"))
    with pytest.raises(kmatch.InputError, match=r"'c' is in .*ac.vcf and in .*c.vcf"):
        search([*paths, again], ("a", "b", "c"))


def test_a_command_takes_several_files(tmp_path):
    genome = tmp_path / "genome.fa"
    genome.write_text("".join(f">{name}\n{LETTERS}\n" for name in "ab"))
    samples = tmp_path / "samples"
    samples.write_text("A\tpopulation\n# others\nB 2\n")
    words = ["hamming", genome, "-p", PATTERN, "-k", 1, "--strand", "+", "--samples", samples]
    for name in "ba":
        path = write(tmp_path / f"{name}.vcf", line(name), samples=[name.upper(), "X"][:1])
        words += ["--variants", path]
    result = here(*words, "--columns", "sequence,variants,samples")
    rows = [row.split("\t") for row in result.out.decode().splitlines()[1:]]
    assert [row for row in rows if row[1]] == [["a", "a:19:C:A", "A"], ["b", "b:19:C:A", "B"]]


def test_records_in_another_order_are_told_before_the_first_row(tmp_path):
    path = write(tmp_path / "x.vcf", line("b"), line("a"))
    match = r"its records come as 'b', 'a', and in the genome as 'a', 'b'; .*tabix"
    with pytest.raises(kmatch.InputError, match=match):
        search(path, ("a", "b"))
    # Contigs in another order do no harm where the records that there are have the genome's.
    head = "##contig=<ID=b>\n##contig=<ID=a>\n"
    assert len(search(write(tmp_path / "y.vcf", line("a"), line("b"), head=head), ("a", "b"))) == 2
    genome = tmp_path / "genome.fa"
    genome.write_text("".join(f">{name}\n{LETTERS}\n" for name in "ab"))
    words = ["hamming", genome, "-p", PATTERN, "-k", 1, "--variants", path]
    result = here(*words)
    assert result.status == 1 and not result.out
    # Where the header is wrong the error comes on the way, and no file is left.
    head = "##contig=<ID=a>\n##contig=<ID=b>\n"
    write(path, line("b"), line("a"), head=head)
    assert here(*words, "-o", tmp_path / "hits.tsv").status == 1
    assert not (tmp_path / "hits.tsv").exists()


def test_a_record_that_comes_again_asks_for_sorting(tmp_path):
    path = write(tmp_path / "x.vcf", line("a"), line("b"), line("a"))
    with pytest.raises(kmatch.InputError, match="line 5: 'a' comes again after others; sort"):
        search(path, ("a", "b"))


def test_records_in_another_order_are_read_by_their_index(tmp_path):
    pysam = pytest.importorskip("pysam")
    path = write(tmp_path / "x.vcf", line("b"), line("a"))
    indexed = pysam.tabix_index(str(path), preset="vcf", keep_original=True)
    assert names(search(indexed, ("a", "b"))) == ["a:19:C:A", "b:19:C:A"]


def test_an_index_that_nobody_reads_is_no_help(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pysam", None)
    path = write(tmp_path / "x.vcf", line("b"), line("a"))
    packed = tmp_path / "x.vcf.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    (tmp_path / "x.vcf.gz.tbi").write_bytes(b"")
    with pytest.raises(kmatch.InputError, match="pysam, the extra vcf, reads the index"):
        search(packed, ("a", "b"))


def test_frequencies_are_those_of_a_key(tmp_path):
    infos = "##INFO=<ID=AF_joint,Number=A>\n##INFO=<ID=FREQ>\n##INFO=<ID=DP>\n"
    path = write(
        tmp_path / "x.vcf", line(info="AF_joint=0.3", genotypes=()), samples=(), head=infos
    )
    assert search(path, af_key="AF_joint").af.tolist() == [0.3]
    assert np.isnan(search(path).af).all()
    assert len(search(path, af_key="AF_joint", min_af=0.2)) == 1
    with pytest.warns(UserWarning, match="no allele is left"):
        assert len(search(path, af_key="AF_joint", min_af=0.4)) == 0
    with pytest.raises(kmatch.InputError, match="'AF_joint', 'FREQ': choose one with --af-key"):
        search(path, min_af=0.05)
    with pytest.raises(
        kmatch.InputError, match=r"no line has AF_x in INFO, .*'AF_joint', 'FREQ', 'DP'"
    ):
        search(path, af_key="AF_x")


def test_a_frequency_that_no_line_has_is_an_error_at_the_end(tmp_path):
    head = "##INFO=<ID=AF>\n##INFO=<ID=MAF>\n"
    lines = [line(genotypes=["./."]), line(pos=20, genotypes=["./."])]
    path = write(tmp_path / "x.vcf", *lines, head=head)
    with pytest.raises(kmatch.InputError, match=r"no allele has a frequency.* INFO has 'MAF'"):
        search(path, min_af=0.5)
    # One genotype is enough to count.
    path = write(tmp_path / "y.vcf", lines[0], line(pos=20, ref="C", alt="T", genotypes=["0|1"]))
    assert len(search(path, min_af=0.5)) == 0


def test_the_frequencies_of_equal_alleles_are_joined_before_any_is_left_out(tmp_path):
    # One allele, on two lines: 0.01 and 0.2.
    lines = [line(info="AF=0.01"), line(ref="CC", alt="AC", info="AF=0.2", genotypes=["0|0"])]
    hits = search(write(tmp_path / "x.vcf", *lines), min_af=0.05)
    assert names(hits) == ["a:19:C:A"] and hits.af.tolist() == [0.2]


def test_rows_of_alleles_that_say_the_same_are_one(tmp_path):
    # record    TTACGTACGTCCTTACGTCCGTCCTT
    # alleles                     A             at 19, on two lines, in two forms
    lines = [line(genotypes=["1|0", "0|0"]), line(genotypes=["0|0", "1|1"])]
    lines.append(line(ref="CC", alt="AC", genotypes=["0|1", "0|0"]))
    hits = search(write(tmp_path / "x.vcf", *lines, samples=["S", "T"]))
    assert names(hits) == ["a:19:C:A"] and hits.samples.tolist() == ["S,T"]
    assert hits.af.tolist() == [1.0]


@pytest.mark.parametrize(
    ("letters", "vcf_lines", "pattern", "expected"),
    [
        # C to CT and T to TT in a run of T: one allele
        (
            "GGACTTTTGACAGG",
            [(4, "C", "CT"), (8, "T", "TT")],
            "CTTTTTGA",
            ["a:4:C:CT"],
        ),
        # G to GG, GGG, GGGG under a hit that begins in them: three alleles, one row
        (
            "TTACAGTACCATGCTTAA",
            [(6, "G", "GG,GGG,GGGG")],
            "GGTACCAT",
            ["a:6:G:GG|a:6:G:GGG|a:6:G:GGGG"],
        ),
    ],
)
def test_alleles_under_one_hit(letters, vcf_lines, pattern, expected, tmp_path):
    lines = [
        line(pos=pos, ref=ref, alt=alt, genotypes=["/".join(map(str, range(alt.count(",") + 2)))])
        for pos, ref, alt in vcf_lines
    ]
    genome = kmatch.Genome.from_records([("a", letters)])
    vcf = write(tmp_path / "x.vcf", *lines)
    hits = kmatch.hamming(genome, [pattern], 0, strand="+", variants=vcf)
    assert hits.variants.tolist() == expected


PLACES = {
    # position        0         1
    # record      CAAAAAAAAAGGTT           G comes in behind 9
    "3p": ("CAAAAAAAAAGGTT", (10, "A", "AG"), "AAAAAAAA", "NGG", [(1, 12), (2, 12)]),
    # A hit of the reference that the allele's G moves, PAM and all, is none of the allele's.
    "moved": ("TTACGTACGCAGGTT", (11, "A", "AG"), "ACGTACGC", "NGG", [(2, 13)]),
    "5p": ("GGTTTACAGATTACAGG", (5, "T", "TT"), "CAGATTAC", "TTTV", [(2, 14)]),
}


@pytest.mark.parametrize("case", PLACES)
def test_hits_are_compared_where_their_patterns_end(case, tmp_path):
    letters, (pos, ref, alt), pattern, pam, expected = PLACES[case]
    vcf = write(tmp_path / "x.vcf", line(pos=pos, ref=ref, alt=alt))
    genome = kmatch.Genome.from_records([("a", letters)])
    options = {"pam": pam, "strand": "+", "pam_side": "5p" if case == "5p" else "3p"}
    hits = kmatch.multi(genome, [pattern], 0, variants=vcf, **options)
    assert [*zip(hits.start.tolist(), hits.end.tolist(), strict=True)] == expected


def test_a_long_insertion_with_many_sites_is_written_short(tmp_path):
    alt = "C" + "ACGTACGTTT" * 300
    hits = search(write(tmp_path / "x.vcf", line(alt=alt)))
    assert {"a:19:C:<INS:3000>"} == set(names(hits))
    assert len(hits) <= 4  # one row for hits that say the same
