"""Names and letters that users choose by: guides with letters of their PAM, columns of tables."""

import pytest
from support.commands import failed, here

import kmatch
from kmatch.search.rules import beside_pams
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
