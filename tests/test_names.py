"""Names and letters that users choose by: guides with letters of their PAM, columns of tables."""

import re
from pathlib import Path

import pytest
from support.commands import compressed, failed, fasta, here, random_letters, twobit

import kmatch
from kmatch.packed.writer import write_packed
from kmatch.search import best
from kmatch.search.rules import beside_pams
from kmatch.sequences.oligos import load_pairs
from kmatch.sequences.patterns import load_patterns

GUIDE = "CTAACAGTTGCTTTTATCAC"
# position            10        20
#           0123456789012345678901234567890123456789012
BESIDE = "TTTTTTTTTT" + GUIDE + "AGGTTTTTATTTTT"


@pytest.fixture
def genome():
    return kmatch.Genome.from_records([("c", BESIDE)])


@pytest.fixture
def file(tmp_path):
    (tmp_path / "c.fa").write_text(f">c\n{BESIDE}\n")
    return tmp_path / "c.fa"


# Cas-OFFinder and CRISPRme have letters N where the PAM is.
@pytest.mark.parametrize(
    ("given", "pams", "side", "left"),
    [
        # GUIDE NNN        NGG behind
        ({"a": GUIDE + "NNN"}, "NGG", "3p", {"a": GUIDE}),
        ([GUIDE + "nnn"], "NGG", "3p", {GUIDE: GUIDE}),
        # TTTV before       NNNN GUIDE
        ([f"NNNN{GUIDE}"], "TTTV", "5p", {GUIDE: GUIDE}),
        # several lengths of guides, and of PAMs, of which the longest counts
        (["ACGTNNNNNN", "TACGTNNNNNN"], "NGG,NNGRRT", "3p", {"ACGT": "ACGT", "TACGT": "TACGT"}),
        (["ACGTNNN", "TACGTNNN"], "NGG,NNGRRT", "3p", None),
        # one without them, the other side, fewer of them, nothing but them
        ([GUIDE + "NNN", GUIDE + "AGG"], "NGG", "3p", None),
        ([GUIDE + "NNN"], "NGG", "5p", None),
        ([GUIDE + "NN"], "NGG", "3p", None),
        (["NNNNNNN"], "NGG", "3p", None),
        (["NNN"], "NGG", "3p", None),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_patterns_are_taken_without_the_letters_of_a_pam(given, pams, side, left):
    patterns = load_patterns(given)
    found = beside_pams(patterns, pams, side)
    if left is None:
        assert found is patterns
    else:
        assert dict(zip(found.names, found.sequences, strict=True)) == left


def test_a_note_says_that_letters_of_a_pam_are_left_out(genome):
    # 10         30 33
    # |--GUIDE----|AGG
    with pytest.warns(UserWarning, match=r"ends with NNN, .* searched without these") as heard:
        hits = kmatch.multi(genome, GUIDE + "NNN", 2, pam="NGG")
    assert len(heard) == 1
    assert (hits.start.tolist(), hits.end.tolist()) == ([10], [33])
    assert hits.pattern.tolist() == [GUIDE]
    with pytest.warns(UserWarning, match="all 2 patterns end with NNN"):
        hits = kmatch.edit(genome, [GUIDE[1:] + "NNN", GUIDE + "NNN"], 0, pam=["NGG", "NAG"])
    assert sorted(hits.start.tolist()) == [10, 11]


def test_letters_of_a_pam_that_only_some_patterns_have(genome):
    """As in a file of Cas-OFFinder without its first line: the line of the PAM comes first."""
    panel = ["N" * 21 + "GG", GUIDE + "NNN"]
    with pytest.warns(UserWarning, match="1 of 2 patterns end with NNN, .* as they stand") as heard:
        hits = kmatch.multi(genome, panel, 0, pam="NGG")
    assert len(heard) == 1 and GUIDE + "NNN" not in hits.pattern.tolist()


def test_the_command_line_takes_letters_of_a_pam_off_too(file):
    result = here("multi", file, "-p", f"{GUIDE}NNN", "-k", 2, "--pam", "NGG")
    assert result.out.decode() == f"c\t10\t33\t{GUIDE}\t1000\t+\t0\n"
    assert result.err.count(b"warning") == 1


def test_patterns_that_end_with_a_pam_are_searched_with_a_warning(genome):
    near = [GUIDE[:-2] + "GG", GUIDE[1:-2] + "AGG"]
    with pytest.warns(UserWarning, match="all 2 patterns end with the PAM NGG; only") as heard:
        hits = kmatch.multi(genome, near, 3, pam="NGG")
    assert len(heard) == 1
    assert hits.start.tolist() == [10]


def test_lengths_of_a_panel_beside_a_pam(file):
    result = here("multi", file, "-p", GUIDE, "-p", GUIDE[1:], "-k", 2, "--pam", "NGG")
    failed(result, "kmatch edit --max-insertions 0 --max-deletions 0, or each length by itself")
    arguments = ("-p", GUIDE, "-p", GUIDE[1:], "-k", 0, "--pam", "NGG")
    result = here("edit", file, *arguments, "--max-insertions", 0, "--max-deletions", 0)
    assert result.out.decode().split("\n")[0].startswith("c\t10\t33")
    assert result.out.decode().split("\n")[1].startswith("c\t11\t33")
    failed(here("multi", file, "-p", GUIDE, "-p", GUIDE[1:], "-k", 2), "others with kmatch hamming")


@pytest.mark.parametrize("name", ["track 5", "browser", "browser 2"])
def test_names_of_patterns_that_begin_as_lines_of_a_browser_do(name, file, tmp_path):
    panel = tmp_path / "panel.tsv"
    panel.write_text(f'track name=x description="a, b"\nbrowser hide all\n{name}\t{GUIDE}\n')
    result = here("multi", file, panel, "-k", 2, "--pam", "NGG")
    assert (result.status, result.out.decode()) == (0, f"c\t10\t33\t{name}\t1000\t+\t0\n")


def test_a_column_of_names(file, tmp_path):
    table = tmp_path / "guides.csv"
    table.write_text(f"id,Who,guide\n1,me,{GUIDE}\n")
    arguments = ("multi", file, table, "-k", 2, "--pam", "NGG")
    result = here(*arguments, "--column", "guide", "--name-column", "who")
    assert result.out == b"c\t10\t33\tme\t1000\t+\t0\n"
    assert b"\t1\t" in here(*arguments, "--column", "guide").out
    result = here(*arguments, "--column", "guide", "--name-column", "gene")
    failed(result, "no column 'gene' in the header, line 1", "'Who'")
    result = here(*arguments, "--name-column", "who")
    assert result.status == 2 and b"--column" in result.err
    table.write_text(f"guide,who\n{GUIDE}\n")
    result = here(*arguments, "--column", "guide", "--name-column", "who")
    failed(result, "line 2 has 1 of the header's columns; complete it up to 'who'")
    barcodes = tmp_path / "barcodes.csv"
    barcodes.write_text(f"seq,id,sample\n{GUIDE},1,mine\n")
    result = here("demux", file, barcodes, "-k", 0, "--column", "seq", "--name-column", "sample")
    assert b"\tmine\t" in result.out


# Records by globs of their names: what is found is what a file of these records alone gives.

PATTERN = "ACGTTGCATTAGCCAGTACT"
REPEAT = PATTERN[:9] + "C" + PATTERN[10:]
PAIR = {"a": (PATTERN, "CAGGATTACCAGGTTACCAT")}
ALL = ["chr1", "chr2", "chr2_alt", "chrM", "CHR3", "chrU[1]"]
GLOBS = {
    "one": ({"records": "chrM"}, ["chrM"]),
    "several": ({"records": "chr[0-9]*,chrM"}, ["chr1", "chr2", "chr2_alt", "chrM"]),
    "without": ({"skip_records": "*_alt,chr1"}, ["chr2", "chrM", "CHR3", "chrU[1]"]),
    "both": ({"records": "chr2*", "skip_records": "*_alt"}, ["chr2"]),
    "quoted": ({"records": "chrU[[]1]"}, ["chrU[1]"]),
}
SEARCHES = {
    "hamming": ("hamming", "-p", PATTERN, "-k", 2),
    "sam": ("hamming", "-p", PATTERN, "-k", 2, "--format", "sam"),
    "limit": ("multi", "-p", PATTERN, "-k", 2, "--limit", 1),
    "summary": ("multi", "-p", PATTERN, "-k", 2, "--summary-only"),
    "edit": ("edit", "-p", PATTERN, "-k", 3, "--format", "tsv"),
    "best": ("best", "-p", REPEAT[:-1], "--format", "tsv"),
    "best each": ("best", "-p", REPEAT[:-1], "--each", "record", "--format", "tsv"),
}


def parts():
    """Records, of which one has several chunks and the others share one."""
    for number, name in enumerate(ALL):
        text = random_letters(60_000 if name == "chr2_alt" else 700, seed=number)
        yield name, text[:300] + PATTERN + text[:80] + REPEAT + text[300:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same genome in several formats, and for each case a file of its records alone."""
    folder = tmp_path_factory.mktemp("records")
    (folder / "g.fa").write_bytes(fasta(list(parts())))
    (folder / "g.2bit").write_bytes(twobit(list(parts())))
    (folder / "g.fa.gz").write_bytes(compressed("gz", fasta(list(parts()))))
    with open(folder / "g.kmatch", "wb") as handle:
        write_packed(kmatch.Genome(folder / "g.fa").parts(), handle, length=1 << 12)
    for case, (_, names) in GLOBS.items():
        some = [record for record in parts() if record[0] in names]
        (folder / f"{case}.fa").write_bytes(fasta(some))
    return folder


def options_of(case):
    """The options of a case as they are typed."""
    chosen, _ = GLOBS[case]
    return [
        word for name, globs in chosen.items() for word in (f"--{name.replace('_', '-')}", globs)
    ]


def lines(result):
    """The lines of a result, without the one that has the command."""
    assert result.status == 0, result.err
    return [line for line in result.out.split(b"\n") if not line.startswith(b"@PG")]


@pytest.mark.parametrize("source", ["g.fa", "g.fa.gz", "g.2bit", "g.kmatch", "-"])
@pytest.mark.parametrize("case", GLOBS)
def test_records_by_globs_of_their_names(source, case, folder):
    for name, (command, *words) in SEARCHES.items():
        if name == "sam" and source == "-":
            continue
        stdin = (folder / "g.fa").read_bytes() if source == "-" else b""
        genome = source if source == "-" else folder / source
        found = here(command, genome, *words, *options_of(case), stdin=stdin)
        alone = here(command, folder / f"{case}.fa", *words)
        assert lines(found) == lines(alone), name
        assert (b"chr" in found.out) == (name != "summary"), name


@pytest.mark.parametrize("packed", [False, True])
def test_applications_search_some_records(folder, packed):
    whole = kmatch.Genome(folder / ("g.kmatch" if packed else "g.fa"))
    alone = kmatch.Genome(folder / "without.fa")
    chosen, _ = GLOBS["without"]
    products = kmatch.pcr(whole, PAIR, 9, product=(20, 900), sequence=True, **chosen)
    assert repr(list(products)) == repr(
        list(kmatch.pcr(alone, PAIR, 9, product=(20, 900), sequence=True))
    )
    found = kmatch.assay(PAIR, [whole], 3, each="record", **chosen)
    assert found.genome.tolist() == GLOBS["without"][1]
    target = kmatch.Genome.from_records([("t", random_letters(60, seed=1) + PATTERN)])
    primers = kmatch.primer(target, whole, 4, **chosen)
    assert primers.end.tolist() == kmatch.primer(target, alone, 4).end.tolist()
    assert primers.end.tolist() != kmatch.primer(target, whole, 4).end.tolist()
    guides = kmatch.guides(whole, whole, 2, regions=[("chr1", 0, 400)], **chosen)
    expected = kmatch.guides(whole, alone, 2, regions=[("chr1", 0, 400)])
    assert guides.d0.tolist() == expected.d0.tolist()
    assert guides.start.tolist() == expected.start.tolist()


def test_globs_in_python(folder):
    genome = kmatch.Genome(folder / "g.fa")
    one = kmatch.hamming(genome, PATTERN, 1, records=["chr1", "chr2"])
    assert one.record.tolist() == ["chr1"] * 2 + ["chr2"] * 2
    with pytest.raises(kmatch.InputError, match="searches of different genomes"):
        one + kmatch.hamming(genome, PATTERN, 1)
    for odd in ("", "chr1,", [], 3, [3]):
        with pytest.raises(kmatch.InputError, match="give globs"):
            kmatch.hamming(genome, PATTERN, 1, records=odd)


SKIPPED = ("--skip-records", "chr*")


def test_a_glob_that_fits_no_record_is_an_error_at_the_end(folder, tmp_path):
    out = tmp_path / "hits.bed"
    words = ("hamming", folder / "g.fa", "-p", PATTERN, "-k", 1, "-o", out)
    failed(here(*words, "--records", "chr1,chr3"), "fits 'chr3'", "'chr1', 'chr2', 'chr2_alt'")
    failed(here(*words, "--skip-records", "*_fix"), "fits '*_fix'")
    for name in ("g.fa", "g.2bit", "g.kmatch"):
        none_left = here(words[0], folder / name, *words[2:], "--records", "chr1", *SKIPPED)
        failed(none_left, "no record is left to search: each that fits 'chr1' fits 'chr*', and is")
    failed(here(*words, "--skip-records", "*"), "left to search: each fits '*', and is skipped")
    failed(here(*words, "--skip-records", "chr*,CHR3"), "each fits one of 'chr*', 'CHR3', and is")
    assert not out.exists()
    words = ("-k", 3, "--records", "chr1, chr3")
    failed(here("primer", folder / "one.fa", folder / "g.fa", *words), "fits 'chr3'")
    # of several genomes one has it
    (tmp_path / "list").write_text(f"{folder / 'one.fa'}\n{folder / 'both.fa'}\n")
    words = ("hamming", f"@{tmp_path / 'list'}", "-p", PATTERN, "-k", 0, "--records")
    assert here(*words, "chr2").out.count(b"\n") == 1
    result = here(*words, "chr2,chr1")
    assert result.status == 1 and b"fits 'chr1'" in result.err


def test_names_of_records_that_are_skipped(folder, tmp_path):
    bed = tmp_path / "in.bed"
    bed.write_text("chr1\t0\t400\nchr2\t300\t320\n")
    words = ("hamming", folder / "g.fa", "-p", PATTERN, "-k", 0, "--regions", bed)
    result = here(*words, "--records", "chr1")
    assert result == (0, f"chr1\t300\t320\t{PATTERN}\t1000\t+\t0\n".encode(), b"")
    failed(here(*words, "--records", "chrM"), "no region is in a record that is searched")
    words = ("hamming", folder / "g.fa", "-p", PATTERN, "-k", 0, "--circular", "chr1,chrM")
    assert here(*words, "--records", "chr1").out.count(b"\n") == 1
    result = here(*words[:-1], "chr1,chr9", "--records", "chr*")
    assert result.status == 1 and b"no record is named 'chr9'" in result.err


@pytest.mark.parametrize("packed", [False, True])
def test_variants_of_records_that_are_skipped(folder, tmp_path, packed):
    letters = dict(parts())
    vcf = tmp_path / "x.vcf"
    head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    # the place of PATTERN's tenth letter, of which REPEAT has another
    rows = [f"{name}\t310\t.\t{letters[name][309]}\tG\t.\tPASS\t.\n" for name in ("chrM", "chr1")]
    vcf.write_text(head + "".join(rows))
    genome = folder / ("g.kmatch" if packed else "g.fa")
    pattern = PATTERN[:9] + "G" + PATTERN[10:]
    words = ("hamming", genome, "-p", pattern, "-k", 0, "--variants", vcf, "--format", "tsv")
    found = here(*words, "--records", "chr1")
    assert found.err == b""
    assert [line.split(b"\t")[0] for line in found.out.splitlines()[1:]] == [b"chr1"]
    assert here(*words, "--records", "chr2").out.count(b"\n") == 1


def test_plot_says_most(folder, tmp_path):
    pytest.importorskip("matplotlib")
    hits = tmp_path / "hits.tsv"
    words = ("hamming", folder / "g.fa", "-p", PATTERN, "-k", 1, "-o", hits)
    assert here(*words).status == 0
    assert here("plot", hits, "-o", tmp_path / "a.svg", "--most", 2).err == b""
    result = here("plot", hits, "-o", tmp_path / "b.svg", "--records", 2)
    assert result.status == 0 and b"--records N is --most N now" in result.err
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    result = here("plot", hits, "-o", tmp_path / "b.svg", "--records", 2, "--most", 2)
    assert result.status == 2


def test_the_limit_of_hits_in_each_record(folder, monkeypatch):
    near = PATTERN[:9] + "G" + PATTERN[10:]  # as far from PATTERN as from REPEAT
    words = ("best", folder / "g.fa", "-p", near, "-p", PATTERN, "--each", "record")
    rows = [line.split("\t") for line in here(*words).out.decode().splitlines()]
    first = {(row[0], row[3]): row for row in reversed(rows)}  # each has some as close
    assert len(first) == 2 * len(ALL) < len(rows)
    result = here(*words, "--limit", 1)
    assert [line.split("\t") for line in result.out.decode().splitlines()] == [
        row for row in rows if row is first[row[0], row[3]]
    ]
    assert b"of which the limit keeps 6, at most 1 in a record" in result.err
    monkeypatch.setattr(best, "UNITS", 2)  # records of a window
    assert here(*words, "--limit", 1) == result
    assert here(*words, "--limit", 99).out.count(b"\n") == len(rows)
    words = [kmatch.Genome(folder / "g.fa"), [near, PATTERN]]
    with pytest.warns(UserWarning, match="1 in a record"):
        hits = kmatch.best(*words, each="record", limit=1)
    assert hits.record.tolist() == [row[0] for row in rows if row is first[row[0], row[3]]]


# Tables of barcodes: which column names them, and which lines are rows.

SHEET = "Lane,Sample_ID,index\n1,S1,ACGTACGT\n1,S2,TTGGCCAA\n"


@pytest.fixture
def reads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reads.fa").write_text(">r1\nACGTACGTAAAA\n>r2\nTTGGCCAAAAAA\n")


def barcodes_of(sheet, *options):
    """Return the barcodes of both reads by demux, or its message."""
    Path("sheet").write_text(sheet)
    done = here("demux", "reads.fa", "sheet", "-k", 0, "--columns", "barcode", *options)
    return done.err.decode() if done.status else done.out.decode().split("\n")[1:3]


def test_a_first_column_that_repeats_names_no_barcodes(reads):
    """The lane of Illumina's sample sheets would make one barcode of all samples."""
    said = barcodes_of(SHEET, "--column", "index")
    assert "line 3: '1' repeats in 'Lane', the first column" in said and "--name-column" in said
    by_name = ("--column", "index", "--name-column")
    assert barcodes_of(SHEET, *by_name, "sample_id") == ["S1", "S2"]
    assert barcodes_of(SHEET, *by_name, "Lane") == ["1", "1"]  # asked for, alternates
    assert barcodes_of(SHEET.replace("Lane", "Id"), "--column", "index") == ["1", "1"]
    assert barcodes_of(SHEET.replace("1,S2", "2,S2"), "--column", "index") == ["1", "2"]


def test_the_header_below_other_parts_of_a_sample_sheet(reads):
    said = barcodes_of(f"[Header],,\n[Data],,\n{SHEET}", "--column", "index")
    assert "no column 'index' in the header, line 1" in said
    assert "line 3 has it: leave out the lines above that one" in said
    said = barcodes_of("name,seq,seq\nS1,ACGTACGT,TTGGCCAA\n", "--column", "seq")
    assert "the header, line 1, has 2 columns 'seq'; rename all but one" in said


def test_comments_below_a_header_are_no_rows(reads):
    sheet = "name,seq\nS1,ACGTACGT\n#S2,TTGGCCAA\n\n# end\n"
    assert barcodes_of(sheet, "--column", "seq") == ["S1", ""]


@pytest.mark.parametrize("word", ["NA", "NaN", "nan"])
def test_missing_values_are_no_patterns(reads, word):
    """N and A would be everywhere."""
    sheet = f"name,seq\nS1,{word}\nS2,TTGGCCAA\n"
    assert f"line 2: pattern 'S1' is '{word}', which" in barcodes_of(sheet, "--column", "seq")
    assert f"line 1: pattern 'S1' is '{word}'" in barcodes_of(f"S1\t{word}\nS2\tTTGGCCAA\n")
    failed(here("hamming", "reads.fa", "sheet", "-k", 0), f"pattern 'S1' is '{word}', which tables")
    assert here("hamming", "reads.fa", "-p", word, "-k", 0).status == 0  # which is typed
    Path("sheet").write_text(f">S1\n{word}\n")
    assert here("hamming", "reads.fa", "sheet", "-k", 0).status == 0  # which is no table


@pytest.mark.parametrize(
    ("sequence", "bases", "letter"),
    [
        ("rUrGrCrArUrGrGrA", "rUrG", "r"),  # RNA
        ("mUmGmCrArUrGrGrA", "mUmG", "m"),  # 2'-O-methyl RNA
        ("GCAUGCAUGGACUdTdT", "dTdT", "d"),  # DNA behind RNA
    ],
)
def test_bases_as_they_are_ordered(sequence, bases, letter):
    """Each r would be an A or G of its own, and nothing would be found."""
    said = f"has '{bases}', as RNA and modified bases are ordered; leave each '{letter}' out"
    with pytest.raises(kmatch.InputError, match=re.escape(said)):
        load_patterns(["ACGTTGCA", sequence])
    with pytest.raises(kmatch.InputError, match=re.escape(said)):
        load_pairs({"pair": ("ACGTTGCATT", sequence)})


@pytest.mark.parametrize("sequence", ["acgtrACGTacgt", "ACGTrACGTACGT", "acgurymkdacgu"])
def test_small_letters_that_mark_no_base(sequence):
    assert load_patterns([sequence]).lengths.tolist() == [len(sequence)]
