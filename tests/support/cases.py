"""Cases of the k-mismatches problem that every device has to pass, and strategies for more."""

from hypothesis import strategies as st

LETTERS = "ACGTUNRYacgtn-"
IUPAC = "ACGTURYSWKMBDHVN"


def _case(records, patterns, k, **options):
    named = [(f"r{i}", text) for i, text in enumerate(records)]
    return named, patterns, k, options


HAMMING = {
    "at 0": _case(["ACGTTTTTTT"], ["ACGA"], 1),
    "at the end": _case(["TTTTTTTACGT"], ["ACGA"], 1),
    "m = 1": _case(["ACGTNACGT"], ["A", "N", "R"], 0),
    "m = n": _case(["ACGTTGCA"], ["ACGTTGCA", "ACGTTGCC"], 1),
    "m > n": _case(["ACGT"], ["ACGTA", "ACGTACGTAC"], 4),
    "m far beyond n": _case(["ACGT", "A"], ["ACGT" * 60], 3),
    "k = 0": _case(["ACGTACGTACGA"], ["ACGT", "CGTACG"], 0),
    "k = m - 1": _case(["ACGTNNACGTAC"], ["AC", "ACG"], 1),
    "palindrome": _case(["TTGAATTCTTGAATTC"], ["GAATTC"], 2),
    "runs of N": _case(["NNNNNNNNACGTNNNNNNN"], ["NNNN", "ACGT"], 2),
    "an N inside": _case(["ACGTNACGTACNT"], ["ACGTAACGT", "NNNNN"], 1),
    "lower case and U": _case(["acguacgUACGT"], ["acgU", "ACGT"], 1),
    "gaps and other letters": _case(["AC-GT*ACGT.RYACGT"], ["ACGT"], 1),
    "empty records": _case(["", "ACGT", "", "", "CGTA", ""], ["ACG", "CGT"], 1),
    "one-letter records": _case(list("ACGTNACGT"), ["A", "AC"], 0),
    "no letters at all": _case(["", ""], ["ACG"], 1),
    "records apart": _case(["ACG", "TAC", "GTA"], ["ACGTAC", "GTAC"], 2),
    "thousands of tiny records": _case(["ACGTACGTA"[: i % 9] for i in range(2500)], ["CGTA"], 1),
    "duplicate patterns": _case(["ACGTACGT"], ["ACGT", "ACGT", "acgt"], 1),
    "mixed lengths": _case(["ACGTTGCAACGTTGCA"], ["ACG", "ACGTTGCA", "TG", "GCAACGT"], 1),
    "exact 3'": _case(["ACGTTGCAACGTAGCA"], ["ACGTTG"], 2, exact_3p=2),
    "exact 5'": _case(["ACGTTGCAACGTAGCA"], ["ACGTTG"], 2, exact_5p=3),
    "exact both, over all letters": _case(["ACGTTGCAACGTAGCA"], ["ACG"], 2, exact_5p=2, exact_3p=3),
    "plus only": _case(["ACGTTGCA"], ["ACGT", "TTG"], 1, strand="+"),
    "minus only": _case(["ACGTTGCA"], ["ACGT", "TTG"], 1, strand="-"),
    "every counter width": _case(["ACGTTGCATTAGCCAGT" * 8], ["ACGTTGCATTAGCCAGTACGTTGCA"], 19),
    "sixteen letters exactly": _case(["ACGTTGCATTAGCCAG" * 3], ["ACGTTGCATTAGCCAG"], 5),
    "long pattern": _case(["ACGTTGCATTAGCCAGTA" * 30], ["ACGTTGCATTAGCCAGTT" * 12], 40),
    "IUPAC": _case(["ACGTTGCATTAGCCAGTA" * 2], ["RYSWKM", "BDHVN", "NNNN", "ANNT"], 2),
}

sequences = st.text(LETTERS, max_size=60)
repeats = st.builds(
    lambda unit, times: unit * times, st.text("ACGT", min_size=1, max_size=4), st.integers(0, 20)
)
texts = sequences | repeats | st.builds(lambda a, b: a + "N" * 9 + b, sequences, repeats)


@st.composite
def hamming_cases(draw):
    """(records, patterns, k, options): patterns random, or cut out of the text and changed."""
    records = [
        (f"r{i}", text) for i, text in enumerate(draw(st.lists(texts, min_size=1, max_size=5)))
    ]
    joined = "".join(text for _, text in records).upper().translate(str.maketrans("-", "N"))
    patterns = []
    for _ in range(draw(st.integers(1, 4))):
        if joined and draw(st.booleans()):
            start = draw(st.integers(0, len(joined) - 1))
            patterns.append(joined[start : start + draw(st.integers(1, 40))])
        else:
            patterns.append(draw(st.text(IUPAC, min_size=1, max_size=24)))
    shortest = min(map(len, patterns))
    k = draw(st.integers(0, shortest - 1))
    options = {
        "strand": draw(st.sampled_from(["both", "+", "-"])),
        "exact_5p": min(draw(st.sampled_from([0, 0, 1, 3])), shortest),
        "exact_3p": min(draw(st.sampled_from([0, 0, 2, 30])), shortest),
    }
    return records, patterns, k, options


MULTI = {
    "a PAM at the end": _case(["TTACGTTGG", "TTACGTTG", "ACGTAGG"], ["ACGT", "ACGA"], 1, pam="NGG"),
    "a PAM at 0 on the strand -": _case(["CCAACGTTT", "CATACGT"], ["ACGT", "AAAC"], 1, pam="NGG"),
    "a PAM before": _case(
        ["TTTAACGTGG", "TTTTACGT", "ACGTTAAA"], ["ACGT", "CGTG"], 1, pam="TTTV", pam_side="5p"
    ),
    "a PAM before, one strand": _case(
        ["TTTAACGTGGTACGTTAAA"], ["ACGT"], 1, pam="TTTV", pam_side="5p", strand="-"
    ),
    "a palindromic PAM": _case(["ACGTGATCACGTGATC"], ["ACGT", "TTTT"], 1, pam="GATC"),
    "all palindromic": _case(["GATCACGTGATC"], ["ACGT"], 0, pam="GATC", pam_side="5p"),
    "N in sites": _case(["ACGTNGGACGTANGACNTAGG", "NNNNNNN"], ["ACGT", "NNNN"], 1, pam="NGG"),
    "a PAM of all letters": _case(["ACGTTGCATTAGNCAGTA"], ["ACGT", "TTGC"], 2, pam="NNN"),
    "an IUPAC PAM": _case(["ACGTTAGAGTACGTCGGGATACTCGAACGT"], ["ACGT", "RYSW"], 1, pam="NNGRRT"),
    "a PAM in lower case and U": _case(["acguuggg"], ["acgU"], 0, pam="ugg"),
    "overlapping sites": _case(["ACACGGGGGGGGCCCCCCCTGT"], ["CGGG", "ACAC"], 2, pam="GG"),
    "no site": _case(["ACGTACGTACGTATATAT", "", "ACGT"], ["ACGT"], 1, pam="GGG"),
    "a PAM, k = 0": _case(["ACGTAGGACGAAGGCCTACGT"], ["ACGT", "ACGA"], 0, pam="NGG"),
    "a PAM and exact ends": _case(
        ["ACGTTGAGGACGTTCAGGTCGTTGAGG"], ["ACGTTG"], 2, pam="NGG", exact_5p=1, exact_3p=2
    ),
    "a PAM and duplicates": _case(["ACGTAGG"], ["ACGT", "ACGA", "ACGT"], 1, pam="NGG"),
    "a PAM longer than the pattern": _case(["ACGTTGCATTAG"], ["AC", "GC"], 1, pam="RNNNNNNNN"),
    "a PAM across records": _case(["ACGT", "AGG", "CCT", "ACGT"], ["ACGT"], 3, pam="NGG"),
    "m + PAM > n": _case(["ACGTAG", "ACGTAGG"], ["ACGT"], 1, pam="NGG"),
    "many sites": _case(["ACGGTTGGACCAGG" * 30], ["CGGT", "GACC"], 1, pam="NGG"),
    "several PAMs": _case(
        ["ACGTAGGACGTTAGACGTCCC", "CCTACGTCTTACGT"], ["ACGT", "AGAC"], 1, pam=["NGG", "NAG"]
    ),
    "several PAMs at one site": _case(
        ["ACGTAGGACGTTAGACGTCCC"], ["ACGT"], 1, pam="AGG,NGG,NRG", pam_side="5p"
    ),
    "a long pattern and a PAM": _case(
        ["ACGTTGCATTAGCCAGTA" * 30], ["ACGTTGCATTAGCCAGTT" * 9], 12, pam="ACG"
    ),
}


LONG = "ACGTTGCATTAGCCAGTACTGAACCGGTTAAGCTTCGATATCGGCTAAGGTCCATTGACGATGCAAGTC"  # 68 letters

EDIT = {
    "at 0": _case(["ACGTTTTTTT", "CGTTTTTTTT", "TTCGTTTTTT"], ["ACGAT"], 2),
    "at the end": _case(["TTTTTTTACGT", "TTTTTTTTACG", "TTTTTTTACGG"], ["ACGTA"], 2),
    "m = 1": _case(["ACGTNACGT"], ["A", "N", "R"], 0),
    "m = n": _case(["ACGTTGCA"], ["ACGTTGCA", "ACGTTGCC"], 3),
    "m > n": _case(["ACGT"], ["ACGTA", "ACGTACGTAC", "TTACGT"], 4),
    "m > n, k large enough": _case(["ACGT", "CG", "T"], ["TTACGTACGTAC"], 11),
    "m far beyond n": _case(["ACGT", "A"], ["ACGT" * 60], 3),
    "m far beyond n, k too": _case(["ACGT", "A", "GTAC" * 9], ["ACGT" * 20], 79),
    "k = 0": _case(["ACGTACGTACGA"], ["ACGT", "CGTACG"], 0),
    "k = m - 1": _case(["ACGTNNACGTAC", "NNACNN"], ["ACG", "TTT"], 2),
    "k = m - 1, two letters": _case(["ACGTNNACGTAC"], ["AC", "ACG"], 1),
    "palindrome": _case(["TTGAATTCTTGAATTC"], ["GAATTC"], 2),
    "nothing but N": _case(["NNNNNNNNNNNN", "N"], ["NNNN", "ACGT"], 3),
    "runs of N": _case(["NNNNNNNNACGTNNNNNNN"], ["NNNN", "ACGT"], 2),
    "an N inside": _case(["ACGTNACGTACNT", "ACGNNTACGT"], ["ACGTAACGT", "NNNNN"], 2),
    "N beside a repeat": _case(["N" * 30 + "AAAAAAA" + "N" * 30 + "AAA"], ["AAAAA", "TTTTT"], 2),
    "lower case and U": _case(["acguacgUACGTnacu"], ["acgU", "ACGT"], 1),
    "gaps and other letters": _case(["AC-GT*ACGT.RYACGT"], ["ACGT", "ACGRT"], 1),
    "empty records": _case(["", "ACGT", "", "", "CGTA", ""], ["ACG", "CGT"], 1),
    "one-letter records": _case(list("ACGTNACGT"), ["A"], 0),
    "one-letter records, two letters": _case(list("ACGTNACGT"), ["AC", "NN"], 1),
    "no letters at all": _case(["", ""], ["ACG"], 1),
    "records apart": _case(["ACG", "TAC", "GTA", "CGT"], ["ACGTAC", "GTAC", "ACGTACGTACGT"], 3),
    "records apart, k = m - 1": _case(["ACG", "TAC", "GTA"], ["ACGTACGTACGTACGTACGT"], 19),
    "hundreds of tiny records": _case(["ACGTACGTA"[: i % 9] for i in range(300)], ["CGTA"], 1),
    "duplicate patterns": _case(["ACGTACGT"], ["ACGT", "ACGT", "acgt"], 1),
    "mixed lengths": _case(["ACGTTGCAACGTTGCA"], ["ACG", "ACGTTGCA", "TG", "GCAACGT"], 1),
    "plus only": _case(["ACGTTGCA"], ["ACGT", "TTG"], 1, strand="+"),
    "minus only": _case(["ACGTTGCA"], ["ACGT", "TTG"], 1, strand="-"),
    "IUPAC": _case(["ACGTTGCATTAGCCAGTA" * 2], ["RYSWKM", "BDHVN", "NNNN", "ANNT"], 2),
    "a base left out": _case(["TTTTACGGCATTTTTACGCATTTT"], ["ACGTGCA"], 1),
    "a base too many": _case(["TTTTACGTTGCATTTTACGTGCAA"], ["ACGTGCA"], 1),
    "a plateau from 0 to the end": _case(["AAAAAAAA", "TTTTTTTT"], ["AAAA"], 3),
    "a plateau of mismatches": _case(["CAACAACAACAACC"], ["CAAG", "CTTG"], 1),
    "equal ends beside one another": _case(["GGGACGTAGGG"], ["ACGTCGG", "ACTTAGG"], 2),
    "poly-A": _case(["A" * 90], ["A" * 20, "A" * 12 + "C" + "A" * 7], 2),
    "poly-A on the strand -": _case(["C" + "A" * 200 + "GG"], ["T" * 13, "TTTTCTTTT"], 2),
    "poly-A and an N": _case(["A" * 40 + "N" + "A" * 33], ["A" * 9, "T" * 9], 3),
    "a pattern of one base elsewhere": _case(["ACGTTGCATTAGCCAGTA"], ["A" * 6, "C" * 9], 5),
    "satellites": _case(["AATGG" * 30], ["AATGGAATGGAATGG", "CCATTACATTCCATT"], 3),
    "dinucleotides": _case(["GT" * 40 + "N" + "AC" * 40], ["GTGTGTGTGTG", "ACACCACACA"], 3),
    "a locus over many chunks": _case(
        ["AATGG" * 12 + "AATCG" + "AATGG" * 25, "GG" + "CCATT" * 30], ["AATGGAATCGAATG"], 2
    ),
    "loci that only touch": _case(["ACGTACGTACGTTTACGTACGT"], ["ACGT"], 1),
    "loci in a chain": _case(["TTACGTGACGTGACGTGACGTTT"], ["ACGTGACGT", "CACGTCAC"], 2),
    "a tie in a locus": _case(["ACGTAACGTATTTTACGTTACGTT"], ["ACGTGACGT", "AACGTAACGT"], 3),
    "sixty-four letters": _case([LONG + "GG" + LONG[:20] + LONG[21:]], [LONG[:64]], 4),
    "more than sixty-four letters": _case(
        ["TTGACC" + LONG[:30] + "A" + LONG[30:] + "NN" + LONG[3:]], [LONG, LONG[:65]], 6
    ),
    "long, and short of every row": _case([LONG * 2 + "GTGTGT" + LONG[:50]], [LONG * 2], 30),
    "long and short together": _case([LONG + "ACGTTG"], [LONG, "ACGTTG", LONG[::-1]], 2),
    "long satellites": _case(["ACGTTGCATTAGCCAGTA" * 12], ["ACGTTGCATTAGCCAGTT" * 6], 20),
}


# A base that each IUPAC letter stands for.
_BASES = str.maketrans("URYSWKMBDHVN", "TACGATACAAAG")
_COMPLEMENTS = str.maketrans("ACGT", "TGCA")
_edits = st.lists(
    st.tuples(st.integers(0, 200), st.sampled_from("XID"), st.sampled_from("ACGTN")), max_size=4
)


def edited(text, edits):
    """A text with (position, kind, letter) edits, one after another."""
    for position, kind, letter in edits:
        at = position % (len(text) + 1)
        text = text[:at] + ("" if kind == "D" else letter) + text[at + (kind != "I") :]
    return text


@st.composite
def edit_cases(draw, longest=24):
    """(records, patterns, k, options): texts of random letters, repeats and edited patterns."""
    units = st.text("ACGT", min_size=1, max_size=4)
    patterns = draw(
        st.lists(
            st.text("ACGT", min_size=1, max_size=longest)
            | st.text(IUPAC, min_size=1, max_size=12)
            | st.builds(lambda unit, m: (unit * m)[:m], units, st.integers(1, 12)),
            min_size=1,
            max_size=3,
        )
    )
    plus = [pattern.translate(_BASES) for pattern in patterns]
    minus = [text[::-1].translate(_COMPLEMENTS) for text in plus]
    copies = st.sampled_from(plus + minus)
    part = (
        st.builds(edited, copies, _edits)
        | st.text("ACGT", max_size=20)
        | st.text(LETTERS, max_size=9)
        | st.builds(lambda unit, times: unit * times, units | st.just("N"), st.integers(0, 12))
    )
    texts = draw(st.lists(st.lists(part, max_size=6).map("".join), min_size=1, max_size=3))
    records = [(f"r{i}", text) for i, text in enumerate(texts)]
    most = min(map(len, patterns)) - 1
    k = min(draw(st.sampled_from([0, 1, 2, 3, 4, longest])), most)
    return records, patterns, k, {"strand": draw(st.sampled_from(["both", "both", "+", "-"]))}
