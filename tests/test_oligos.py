"""Oligos in the forms in which people keep them, and what is said of those that cannot be read."""

import subprocess
import sys
import warnings

import pytest
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord
from hypothesis import given
from hypothesis import strategies as st
from support.commands import fasta, here, random_letters

from kmatch.errors import InputError, KmatchWarning
from kmatch.sequences.fasta import LONGEST_HEADER
from kmatch.sequences.labels import without_labels
from kmatch.sequences.oligos import FORWARD, PROBE, REVERSE, load_pairs, role_of
from kmatch.sequences.patterns import load_patterns

F, R, P = "GAGTTTTATCGCTTCCATGA", "CCATCTCGAAGGAGTCGCCA", "ATCTCGAAGGAGTCGCCAGC"
SPACED = "CCA TCT CGA AGG AGT CGC CA"
PAIR = [("a", "a_F", F), ("a", "a_R", R)]
ASSAY = [*PAIR, ("a", "a_P", P)]
BED = "M\t1\t9\t{}\t1\t+\t{}\n"


def read(text, folder):
    """(oligos, warnings): (pair, name, letters) of each oligo of a file, and what was said."""
    path = folder / "oligos"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        pairs = load_pairs(path)
    oligos = zip(pairs.pair.tolist(), pairs.primers.names, pairs.primers.sequences, strict=True)
    told = [str(warning.message).removeprefix(f"{path}: ") for warning in heard]
    return [(pairs.names[pair], name, letters) for pair, name, letters in oligos], told


def named(*names):
    """The oligos of names in the order of F, R, P: (pair, name, letters)."""
    letters = zip(names, (F, R, P), strict=False)
    return [(role_of(name)[0], name, sequence) for name, sequence in letters]


# What a table holds, the oligos that are read, and what is said.
PLAIN = {
    "tabs": (f"a\t{F}\t{R}\t{P}\n", ASSAY),
    "commas": (f"a,{F}, {R},{P}\n", ASSAY),
    "semicolons, and commas inside": (f"a;{F};{R};{P}\n# 1,2\n", ASSAY),
    "blanks": (f"a {F}  {R}\r\n", PAIR),
    "blanks below a header": (f"name forward reverse\na {F} {R}\n", PAIR),
    "quotes": (f'"a", "{F}","{R}",""\n', PAIR),
    "words in the plural": (f"Names,Forward primers,Reverse primers\na,{F},{R}\n", PAIR),
    "eight letters": (f"a,{F},{R[:8]}\n", [PAIR[0], ("a", "a_R", R[:8])]),
    "a name of a sequence": (
        f"Primer,Sequence,Forward sequence name\nx_F,{F},y\nx_R,{R},y\n",
        named("x_F", "x_R"),
    ),
    "a quoted name": (f'"a, b","{F}","{R}"\n', [("a, b", "a, b_F", F), ("a, b", "a, b_R", R)]),
    "trailing tabs": (f"a\t{F}\t{R}\t\t\t\n", PAIR),
    "empty rows of a spreadsheet": (f"name,forward,reverse\n,,\na,{F},{R}\n,,\n", PAIR),
    "a header without a probe": (f"assay\tForwardPrimer\tReversePrimer\na\t{F}\t{R}\n", PAIR),
    "a header of two lines": (f"name,\"Forward\n(5'-3')\",Reverse\na,{F},{R}\n", PAIR),
    "numbered rows": (f"No\tName\tForward\tReverse\n1\ta\t{F}\t{R}\n", PAIR),
    "primer3's": (f"ID,PRIMER_LEFT_SEQUENCE,PRIMER_RIGHT_SEQUENCE\na,{F},{R}\n", PAIR),
    "FP and RP": (f"Assay\tFP\tRP\tProbe\na\t{F}\t{R}\t{P}\n", ASSAY),
    "spaced triplets": (f"a\t{F}\t{SPACED}\n", PAIR),
    "spaced tens with commas": (
        f"a,{F[:10]} {F[10:]},{R[:10]} {R[10:]},{P[:10]} {P[10:]}\n",
        ASSAY,
    ),
    "one of several names": (f"Target,Name,F,R\nx,a,{F},{R}\n", PAIR),
    "names and sequences": (f"n_1_LEFT\t{F}\nn_1_RIGHT\t{R}\n", named("n_1_LEFT", "n_1_RIGHT")),
    "VarSkip": (f"v-1_01_LEFT {F}\nv-1_01_RIGHT {R}\n", named("v-1_01_LEFT", "v-1_01_RIGHT")),
    "a scheme as CSV": (
        f"name,pool,seq,size,%gc\nn_1_LEFT,1,{F},20,40\nn_1_RIGHT,1,{R},20,60\n",
        named("n_1_LEFT", "n_1_RIGHT"),
    ),
    "words of an order": (
        f"Primer name;Primer sequence (5' to 3');Scale\nx.F;{F};25\nx.R;{R};25\n",
        named("x.F", "x.R"),
    ),
    "FASTA": (f">x_F\n{F[:9]}\n{F[9:]}\n>x_R two\n{R}\n>x_P\n{P}\n", named("x_F", "x_R", "x_P")),
    "WHO": (f">N1_F1\n{F}\n>N1_R1\n{R}\n>N1_P1\n{P}\n", named("N1_F1", "N1_R1", "N1_P1")),
    "dashes": (f">x-F1\n{F}\n>x-R2\n{R}\n", named("x-F1", "x-R2")),
    "second words": (
        f"; mine\n>x Forward primer\n{F}\n>x reverse\n{R}\n>x_Probe x\n{P}\n",
        named("x Forward", "x reverse", "x_Probe"),
    ),
    "first words that have an ending": (
        f">x_F reverse\n{F}\n>x_R forward\n{R}\n",
        named("x_F", "x_R"),
    ),
    "BED of forward primers": (
        BED.format("a_1_LEFT", F) + BED.format("b_1_LEFT", R),
        named("a_1_LEFT", "b_1_LEFT"),
    ),
    "BED": (
        "track name=x\n#c\t1\n" + BED.format("x_LEFT", F) + BED.format("x_RIGHT", R),
        named("x_LEFT", "x_RIGHT"),
    ),
    "inosine": (f"a\tGAGTTiIATCG\t{R}\n", [("a", "a_F", "GAGTTnNATCG"), PAIR[1]]),
}
for _none in ("", "-", "NA", "nan", "None", "."):
    PLAIN[f"no probe, {_none}"] = (f"a,{F},{R},{_none}\nb,{F},{R},{P}\n", [
        *PAIR, ("b", "b_F", F), ("b", "b_R", R), ("b", "b_P", P)])  # fmt: skip

TOLD = {
    f"a\t{F}\t{R}\na\t{F}\t{P}\n": (
        [*PAIR, ("a", "a_F", F), ("a", "a_R", P)],
        "'a_F', 'a_R': the name stands for more than one primer; all are searched",
    ),
    "Assay\tForward primer\tProbe\tReverse primer\n" + f"a\t{F}\t{P}\t{R}\n": (
        ASSAY,
        "columns by line 1: name is 'Assay', forward is 'Forward primer', reverse is "
        "'Reverse primer', probe is 'Probe'",
    ),
    f"FORWARD;REVERSE;NAME\n{F};{R};a\n": (
        PAIR,
        "columns by line 1: name is 'NAME', forward is 'FORWARD', reverse is 'REVERSE'",
    ),
    f"#name\treverse\tforward\na\t{R}\t{F}\n": (
        PAIR,
        "columns by line 1: name is 'name', forward is 'forward', reverse is 'reverse'",
    ),
    f"Gene,F (5'-3'),R (5'-3')\na,{F},{R}\n": (
        PAIR,
        "columns by line 1: name is 'Gene', forward is 'F (5'-3')', reverse is 'R (5'-3')'",
    ),
    f"Fwd,Rev\n{F},{R}\n": (
        [("pair_1", "pair_1_F", F), ("pair_1", "pair_1_R", R)],
        "columns by line 1: forward is 'Fwd', reverse is 'Rev'",
    ),
    f"id\tF\tR\tFAM probe\na\t{F}\t{R}\t{P}\n": (
        PAIR,
        "columns of sequences that are left alone: 'FAM probe'",
    ),
    f"a\t5'-{F}-3'\t5’ {R} 3’\tVIC-{P}-MGB\n": (
        ASSAY,
        "labels were taken off the oligos: '5'-', '-3'', '5’', '3’', 'VIC-', '-MGB'",
    ),
    f">x_F1\n{F}\n>x_F2\n{P}\n>x_R\n{R}\n": (
        [("x", "x_F1", F), ("x", "x_F2", P), ("x", "x_R", R)],
        "names that differ in a number or in alt are alternates of one pair, all of which are "
        "joined: 'x'",
    ),
    BED.format("abc_1_LEFT_1", F) + BED.format("xyz_1_RIGHT_1", R): (
        [("abc_1", "abc_1_LEFT_1", F), ("abc_1", "xyz_1_RIGHT_1", R)],
        "pairs joined by record and number of amplicon: 'xyz_1 to abc_1'",
    ),
    BED.format("b_12_RIGHT", R) + BED.format("a_12_LEFT", F) + BED.format("c_12_PROBE", P): (
        [("a_12", "a_12_LEFT", F), ("a_12", "b_12_RIGHT", R), ("a_12", "c_12_PROBE", P)],
        "pairs joined by record and number of amplicon: 'b_12 to a_12', 'c_12 to a_12'",
    ),
    BED.format("a_1_LEFT", F) + BED.format("a_1_RIGHT", R) + BED.format("b_1_LEFT_2", P): (
        [("a_1", "a_1_LEFT", F), ("a_1", "b_1_LEFT_2", P), ("a_1", "a_1_RIGHT", R)],
        "pairs joined by record and number of amplicon: 'b_1 to a_1'",
    ),
}  # fmt: skip

COLUMNS = "write NAME, FORWARD, REVERSE and PROBE, or name the columns in a header line, or give "
BAD = {
    "": f"no primers; {COLUMNS}",
    "# nothing\n\n": f"no primers; {COLUMNS}",
    "name,forward,reverse\n": f"no primers; {COLUMNS}",
    "a\tACGT\tGGTA\n": "line 1 has no cell of 8 or more bases, and as a header names no column "
    "forward and no column reverse: 'a', 'ACGT', 'GGTA'; write",
    "target\tNA\tNA\n": "no column forward and no column reverse: 'target', 'NA', 'NA'; write",
    f"name,P1,P2\na,{F},{R}\n": "no column forward and no column reverse: 'name', 'P1', 'P2'",
    f"name,forward,probe\na,{F},{R}\n": "no column reverse: 'name', 'forward', 'probe'; write",
    f"name,F,fwd primer,R\na,{F},{F},{R}\n": "line 1 names more than one column forward: 'F', "
    "'fwd primer'; leave one of them",
    f"name,F,R,TaqMan,P\na,{F},{R},{P},{P}\n": "more than one column probe: 'TaqMan', 'P'",
    f"name,seq,oligo sequence\na_F,{F},{F}\n": "more than one column sequence: 'seq', 'oligo sequ",
    f"seq,size\n{F},20\n": "no column name: 'seq', 'size'",
    f"{F}\t{R}\tMRSA\n": f"line 1: '{F}' stands where the name is expected; {COLUMNS}",
    f"{F}\t{R}\n": "stands where the name is expected",
    f"a\t{F}\tMRSA\n": "line 1: oligo 'a_R' has 4 letters, 'MRSA', where oligos have 8 or more: a "
    f"column was misread; {COLUMNS}",
    f"a\t{F}\t{R}\n\nb\t{F}\t{R}\tSARS\n": "line 3: oligo 'b_P' has 4 letters",
    f">x_F\n{F}\n>x_R\nACG\n": "line 3: oligo 'x_R' has 3 letters",
    f"a\t{F}\n": "primers without a partner: 'a'; names of a pair end in _F and _R, _1 and _2 or",
    f"a\t{F}\t{R}\t{P}\t{P}\n": "line 1 has 5 columns; write",
    f"a\t{F}\t{R}\nb\t{F}\n": "line 2 has 2 columns; write",
    f"a_F\t{F}\na_R\t{R}\t20\n": "line 2 has 3 columns; write",
    f'name,"Forward\nprimer",R\n\na,{F},MRSA\n': "line 4: oligo 'a_R' has 4 letters",
    f"name,forward,reverse\nCDC,,\na,{F},{R}\n": "line 2: oligo 'CDC_F' has no letters; give them",
    f"name,forward,reverse\n,{F},{R}\n": "line 2 has no name; write one",
    f"name,seq\n,{F}\n": "line 2: an oligo has no name; write one",
    f">\n{F}\n": "line 1: an oligo has no name; write one",
    f">x_F\n>x_R\n{R}\n": "line 1: oligo 'x_F' has no letters; give them",
    f"a\t{F}\tFAM-\n": "oligo 'a_R' has no letters but labels, 'FAM-'; give them",
    f"a\t{F}\tACGTACG-ACGTACG\n": "line 1: oligo 'a_R' has '-' at position 8 of 'ACGTACG-ACGTACG', "
    "which is no IUPAC letter; leave gaps out; labels stand at the ends, as in FAM-ACGTTGCATT-BHQ1",
    f"a\t{F}\tACGTACG[GT]ACG\n": "'[' at position 8 of 'ACGTACG[GT]ACG', which is no IUPAC letter; "
    "write N for any base, R for [AG], and for a modified base its letter; labels are FAM-, ",
    f"a\t{F}\t(GT)ACGTACGT\n": "'(' at position 1",
    f"a\t{F}\tACG/iBiodT/ACGTACG\n": "'/' at position 4 of 'ACG/iBiodT/ACGTACG'",
    f"a\t{F}\tACGTACGT/ACGTACGA/ACGTACGC\n": "'/' at position 9",
    f"a\t{F}\tACGTACGT-TACG\n": "'-' at position 9",
    f"a\t{F}\tFAM-ACGTXACGTACG-BHQ1\n": "'X' at position 5 of 'ACGTXACGTACG', which is no IUPAC "
    "letter; if this is no sequence, name the columns in a header line",
    f"a\t{F}\tAC\u212aTACGTACG\n": "'\u212a' at position 3",
    f'a,{F},{R},"12\nb,{F},{R},\n': "line 1: a cell that begins with a quote does not end "
    "with one (unexpected end of data)",
    f"c\t1\t20\tx_F\t1\t+\t{F}\nc\t30\t50\tx_R\t1\t-\n": "line 2 is no BED with the sequence in "
    "column 7, as those above are; complete it",
    BED.format("a_1_LEFT", F) + BED.format("b_2_RIGHT", R): "without a partner: 'a_1_LEFT', 'b_2_R",
    "".join(BED.format(f"{pair}_1_{side}", letters) for pair in "ab" for side, letters in
            (("LEFT", F), ("RIGHT", R))) + BED.format("c_1_LEFT", F):
    "primers without a partner: 'c_1_LEFT'",
    BED.format("a_1_LEFT", F) + BED.format("b_1_RIGHT", R).replace("M", "L"):
    "primers without a partner: 'a_1_LEFT', 'b_1_RIGHT'",
}  # fmt: skip


@pytest.mark.parametrize("form", PLAIN)
def test_forms_that_are_plain(form, tmp_path):
    text, oligos = PLAIN[form]
    assert read(text, tmp_path) == (oligos, [])


@pytest.mark.parametrize("text", TOLD)
def test_what_is_not_plain_is_said(text, tmp_path):
    oligos, message = TOLD[text]
    assert read(text, tmp_path) == (oligos, [message])


@pytest.mark.parametrize("text", BAD)
def test_what_cannot_be_read_is_an_error(text, tmp_path):
    (tmp_path / "oligos").write_text(text)
    with pytest.raises(InputError) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        load_pairs(tmp_path / "oligos").check_partners()
    start = "" if "without a partner" in BAD[text] else f"{tmp_path}/oligos: "
    assert str(caught.value).startswith(start) and BAD[text] in str(caught.value)


#  5'-FAM-ACG TTG CAG /ZEN/ TCC ATT-BHQ1-3'
#         ACG TTG CAG       TCC ATT
LABELS = {
    "FAM-ACGTTGCAG-BHQ1": ["FAM-", "-BHQ1"],
    "/56-FAM/ACGT/ZEN/TGCAG/3IABkFQ/": ["/56-FAM/", "/ZEN/", "/3IABkFQ/"],
    "(6FAM)ACGTTGCAG(BHQ1)": ["(6FAM)", "(BHQ1)"],
    "[FAM] ACG TTG CAG [BHQ-1]": ["[FAM]", "[BHQ-1]"],
    "5'-ACGTTGCAG-3'": ["5'-", "-3'"],
    "5′ACGTTGCAG3′": ["5′", "3′"],
    "5'-6-FAM-ACGTTGCAG-MGB-NFQ-3'": ["5'-", "6-", "FAM-", "-3'", "-NFQ", "-MGB"],
    "Texas Red–ACGTTGCAG–BHQ2": ["Texas Red–", "–BHQ2"],
    "vic-ACGTTGCAG-tamra": ["vic-", "-tamra"],
    "5'-/56-FAM/ACGTTGCAG/3BHQ_1/-3'": ["/56-FAM/", "/3BHQ_1/", "5'-", "-3'"],
    "FAM--ACGTTGCAG-": ["FAM-", "-", "-"],
    "ACG TTG CAG": [],
}


@pytest.mark.parametrize("text", LABELS)
def test_labels(text):
    assert without_labels(text) == ("ACGTTGCAG", LABELS[text])


@pytest.mark.parametrize(
    "text", ["AC-ACGTTGCAG", "ACGTTGCAG-N", "(AT)ACGTTG", "AC/AT/GG", "AC/iMe-dC/GG", "ACGTX-ACGT"]
)
def test_what_is_part_of_an_oligo_stays(text):
    assert without_labels(text) == (text, [])


ROLES = {
    "x_F": ("x", FORWARD),
    "x_r": ("x", REVERSE),
    "x_F_R": ("x_F", REVERSE),
    "x/1": ("x", FORWARD),
    "x.2": ("x", REVERSE),
    "x_1_2": ("x_1", REVERSE),
    "x_P3": ("x", PROBE),
    "x probe": ("x", PROBE),
    "x_Fwd": ("x", FORWARD),
    "x-REV2": ("x", REVERSE),
    "x_F_2": ("x", FORWARD),
    "x_F_alt2": ("x", FORWARD),
    "x_F2_alt1": ("x", FORWARD),
    "x/2_alt": ("x", REVERSE),
    "nCoV_76_LEFT_alt1": ("nCoV_76", FORWARD),
    "nCoV_76_RIGHT_alt": ("nCoV_76", REVERSE),
    "s_400_12_RIGHT_1": ("s_400_12", REVERSE),
    **dict.fromkeys(["_F", "LEFT", "x_12", "x_13_1_", "27F", "xF", "x_FOR", "x_F_1_2_3"]),
}


@pytest.mark.parametrize("name", ROLES)
def test_names_tell_pairs(name):
    assert role_of(name) == ROLES[name]


WORDS = {
    "name": ["name", "id", "assay", "target"],
    "forward": ["forward", "fwd", "f", "left"],
    "reverse": ["reverse", "rev", "r", "right"],
    "probe": ["probe", "p", "taqman"],
}
FILLERS = ["", "primer", "oligo", "sequence", "seq"]
CELLS = {"name": "x", "forward": F, "reverse": R, "probe": P, "other": "60.1"}


@st.composite
def headers(draw):
    """The cells of a header in any order, and what their columns hold."""
    columns = draw(st.permutations(["name", "forward", "reverse", "probe", "other", "other"]))
    cells = []
    for column in columns:
        if column == "other":
            cells.append(draw(st.sampled_from(["Tm", "%gc", "R2", "Probe dye", "F length", ""])))
            continue
        words = [draw(st.sampled_from(WORDS[column])), draw(st.sampled_from(FILLERS))]
        words = draw(st.permutations([word for word in words if word]))
        case = draw(st.sampled_from([str.upper, str.lower, str.title]))
        bracket = draw(st.sampled_from(["", " (5'-3')", " [nM]", " 5'->3'", "(F)"]))
        cells.append(case(draw(st.sampled_from(["", " ", "_", "-"])).join(words)) + bracket)
    return cells, columns


@given(headers(), st.sampled_from("\t,;"))
def test_headers_in_any_order(tmp_path_factory, header, delimiter):
    cells, columns = header
    rows = [cells, [CELLS[column] for column in columns]]
    text = "\n".join(delimiter.join(row) for row in rows)
    oligos, told = read(text, tmp_path_factory.getbasetemp())
    assert oligos == [("x", "x_F", F), ("x", "x_R", R), ("x", "x_P", P)]
    places = [columns.index(column) for column in WORDS]
    assert len(told) == (places != sorted(places))


def test_sequences_of_biopython():
    """A SeqRecord iterates over its letters, which are no patterns and no alternates."""
    records = [SeqRecord(Seq(F), id="one"), SeqRecord(Seq(R))]
    panel = load_patterns(records)
    assert (panel.names, panel.sequences) == (["one", R], [F, R])
    assert load_patterns(records[0]).names == ["one"]
    assert load_patterns({"x": records[0], "y": Seq(P)}).sequences == [F, P]
    pairs = load_pairs({"x": (records[0], [records[1], Seq(P)], "FAM-ACG TTG-BHQ1"[4:11])})
    assert pairs.primers.sequences == [F, R, P, "ACGTTG"]
    assert pairs.primers.names == ["x_F", "x_R", "x_R_alt1", "x_P"]


def test_what_python_gives_is_cleaned_too():
    with pytest.warns(KmatchWarning, match="^labels were taken off the oligos: 'FAM-'$"):
        pairs = load_pairs({"x": ("ACG TTI", "AC", "FAM-ACGTTG")})
    assert pairs.primers.sequences == ["ACGTTN", "AC", "ACGTTG"]
    with pytest.raises(InputError, match=r"^oligo 'x_R' has '!' at position 2 of"):
        load_pairs({"x": ("ACGT", "A!")})


def test_long_headers_of_fasta(tmp_path):
    for length, is_read in ((LONGEST_HEADER, True), (LONGEST_HEADER + 1, False)):
        text = f">x_F {'y' * (length - 5)}\n{F}\n>x_R\n{R}\n"
        (tmp_path / "oligos").write_text(text)
        for load in (load_pairs, load_patterns):
            if is_read:
                load(tmp_path / "oligos")
            else:
                with pytest.raises(InputError, match="line 1: the header has more than 4,194,304"):
                    load(tmp_path / "oligos")


def test_only_fasta_imports_biopythons_parser(tmp_path):
    """Which takes as long as a small search."""
    (tmp_path / "g.fa").write_bytes(fasta([("r", random_letters(99))]))
    (tmp_path / "list").write_text(f"a_F\t{F}\na_R\t{R}\n")
    (tmp_path / "fasta").write_bytes(fasta([("a_F", F), ("a_R", R)]))
    script = (
        "import sys; from kmatch.cli.main import run; run(sys.argv[1:]); "
        "print('Bio.SeqIO' in sys.modules)"
    )
    for command, is_imported in (
        ("hamming g.fa -p ACGTTGCA -k 1", False),
        ("hamming g.fa list -k 1", False),
        ("pcr g.fa list -k 1", False),
        ("hamming g.fa fasta -k 1", True),
        ("pcr g.fa fasta -k 1", True),
    ):
        words = [sys.executable, "-c", script, *command.split(), "-o", "out.bed"]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=True)
        assert done.stdout == f"{is_imported}\n", (command, done.stderr)


def test_as_a_user(tmp_path, monkeypatch):
    """The same products and answers whatever the form."""
    monkeypatch.chdir(tmp_path)
    inside = random_letters(60)
    complement = str.maketrans("ACGT", "TGCA")
    product = F + inside + P + inside + R.translate(complement)[::-1]
    (tmp_path / "g.fa").write_bytes(fasta([("g", random_letters(99) + product)]))
    wanted = f"g\t99\t{99 + len(product)}\ta\t1000\t+\t0\t0\n".encode()
    texts = [text for text, oligos in PLAIN.values() if oligos == ASSAY]
    texts += [text for text, (oligos, _) in TOLD.items() if oligos == ASSAY]
    assert len(texts) > 6
    for text in texts:
        (tmp_path / "oligos").write_text(text)
        result = here("pcr", "g.fa", "oligos", "-k", 0)
        assert (result.status, result.out) == (0, wanted), text
        columns = "--columns", "assay,amplifies,forward,reverse,probe"
        answer = here("assay", "oligos", "g.fa", "-k", 0, *columns).out.splitlines()[1]
        assert answer == b"a\tyes\t0\t0\t0", text
    spaced = here("pcr", "g.fa", "-p", f"{F[:9]} {F[9:]}", SPACED, "-k", 0)
    assert spaced.out == wanted.replace(b"\ta\t", b"\tpair_1\t")
