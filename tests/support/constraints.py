"""Differences beside a PAM, with exact ends and with bounds: cases, and strategies for more."""

from hypothesis import strategies as st

from support.cases import edit_cases


def _case(texts, patterns, k, **options):
    return [(f"r{i}", text) for i, text in enumerate(texts)], patterns, k, options


CASES = {
    "a PAM at the end": _case(
        ["TTACGTTGG", "TTACGTTG", "ACTAGG", "GGACGTT"], ["ACGT"], 2, pam="NGG"
    ),
    "a PAM at 0 on the strand -": _case(["CCAACTGTTT", "CATACGT"], ["ACAGT", "AAAC"], 1, pam="NGG"),
    "a PAM before": _case(
        ["TTTAACTGG", "TTTTACGT", "ACGTTAAA"], ["ACGT", "CGTG"], 1, pam="TTTV", pam_side="5p"
    ),
    "a PAM before, minima": _case(
        ["TTTATTTACGTACGTTTATTTATAAACGT"], ["ACGT"], 2, pam="TTTV", pam_side="5p", report="minima"
    ),
    "a PAM before, loci": _case(
        ["GATCACGTGATCGATCGGATC", "GATTCACGT"], ["ACGT"], 2, pam="GA", pam_side="5p", report="loci"
    ),
    "a palindromic PAM": _case(["ACGTGATCACGTGATC"], ["ACGT", "TTTT"], 1, pam="GATC"),
    "a PAM, minima": _case(["ACGGGGGGGTACGTTGGG"], ["ACGTT"], 3, pam="GG", report="minima"),
    "a PAM, loci": _case(["ACGTGGACGTGGGACGTTGG"], ["ACGT"], 2, pam="GG", report="loci"),
    "a PAM across records": _case(["ACGT", "AGG", "CCT", "ACGT"], ["ACGT"], 3, pam="NGG"),
    "a PAM and N": _case(["ACGTNGGACGTANGACNTAGG", "NNNNNNN"], ["ACGT", "NNNN"], 2, pam="NGG"),
    "several PAMs": _case(
        ["ACGTAGGACGTTAGACGTCCC", "CCTACGTCTTACGT"], ["ACGT", "AGTC"], 1, pam=["NGG", "NAG"]
    ),
    "several PAMs, one within another": _case(
        ["ACGTTGGGACGTTGGCACGTGG"], ["ACGTT"], 1, pam=["NGGG", "GG", "NGG"]
    ),
    "several PAMs before": _case(
        ["TTTAACGTTTGACGTAATTAACGT"], ["ACGT"], 1, pam=["TTTV", "TV"], pam_side="5p"
    ),
    "several PAMs, hits with both ends in common": _case(
        ["TGGCAG", "CTGCCA"], ["CTGG"], 3, pam=["RY", "NGG", "NNNNA"], pam_side="5p"
    ),
    # Minima that have both ends in common: their anchors decide.
    "equal ends, 5p": _case(
        ["TTCCGACAAATATGATTAAT"], ["ACAAA"], 2, pam=["NNA", "Y", "NNY", "NNNNT"], pam_side="5p"
    ),
    "equal ends, loci": _case(
        *(["TTCCGACAAATATGATTAAT"], ["ACAAA"], 2),
        **{"pam": ["NNA", "Y", "NNY", "NNNNT"], "pam_side": "5p", "report": "loci"},
    ),
    "equal ends, 3p": _case(
        ["TTAAAAATAATATTTTTAAT"], ["AATAT"], 2, pam=["NNR", "R", "NNNNA", "NNNR"], report="minima"
    ),
    "equal ends, loci, 3p": _case(
        ["TTAAAAATAATATTTTTAAT"], ["AATAT"], 2, pam=["NNR", "R", "NNNNA", "NNNR"], report="loci"
    ),
    "equal ends on a border of chunks": _case(
        *(["TCTCTAATAAATTTGCA"], ["TAATA"], 2),
        **{"pam": ["NNNNY", "NNNR", "NNT", "R"], "pam_side": "5p", "report": "minima"},
    ),
    "exact 3'": _case(["ACGTTGCAACGTAGCAACGTGTGC"], ["ACGTTGC"], 3, exact_3p=3, report="ends"),
    "exact 5'": _case(["ACGTTGCAACGTAGCAACGGTTGC"], ["ACGTTGC"], 3, exact_5p=3, report="ends"),
    "exact both": _case(["ACGTTGCAACTAGCAACGGTTGC"], ["ACGTTGC"], 3, exact_5p=2, exact_3p=2),
    "exact, loci": _case(["ACGTTGCAACTAGCAACGGTTGC"], ["ACGTTGC"], 3, exact_3p=2, report="loci"),
    "all letters exact": _case(["ACGTTGCAACTTGC"], ["ACGTTGC"], 3, exact_5p=4, exact_3p=5),
    "all but k exact": _case(["GTTGCTTGCCTTGC"], ["ACGTTGC"], 5, exact_3p=4, report="ends"),
    "a PAM and exact ends": _case(
        ["ACGTTGAGGACGTTCAGGTCGTTGAGGACTTGAGG"], ["ACGTTG"], 3, pam="NGG", exact_5p=1, exact_3p=2
    ),
    "a PAM before and exact ends": _case(
        ["TTTAACGTTCGTTTAACGGTTG"], ["ACGTTG"], 3, pam="TTN", pam_side="5p", exact_5p=2, exact_3p=1
    ),
    "mismatches alone": _case(
        ["ACGTTGCAACTAGCAACGGTTGC"],
        ["ACGTTGC", "GTAGCT"],
        3,
        max_insertions=0,
        max_deletions=0,
        report="ends",
    ),
    "one bulge": _case(
        ["ACGTTGCAACTAGCAACGGTTGCGG"], ["ACGTTGC"], 4, max_mismatches=2, max_deletions=1
    ),
    "bulges alone": _case(["ACGTTGCAACTAGCAACGGTTGC"], ["ACGTTGC"], 3, max_mismatches=0),
    "bounds at the border of a record": _case(
        ["CGTTGC", "ACGTTG", "GTTGC", "AACGTAGC"], ["ACGTTGC"], 2, max_insertions=0, report="ends"
    ),
    "bounds and a PAM": _case(
        ["ACGTTGCAGGACGTGCTGGACGTTTGCCGGACCTTGCGG"],
        ["ACGTTGC"],
        3,
        pam="NGG",
        max_mismatches=1,
        max_insertions=1,
        max_deletions=1,
    ),
    "more than sixty-four letters": _case(
        ["TT" + "ACGTTGCATTAGCCAGTACTGAACCGG" * 3 + "TAGG"],
        ["ACGTTGCATTAGCCAGTACTGAACCGG" * 2 + "ACGTTGCTTAGCCAGTACTGAACCGG"],
        2,
        pam="NGG",
        report="ends",
    ),
}

pams = st.sampled_from(
    ["NGG", "TTV", "GATC", "N", "RY", ["NG", "NA"], ["A", "NNG", "GT"], ["NNNNNNNNA", "C"]]
)


@st.composite
def constrained_cases(draw, longest=9):
    """(records, patterns, k, options) of `edit`."""
    records, patterns, k, options = draw(edit_cases(longest=longest))
    shortest = min(map(len, patterns))
    options["report"] = draw(st.sampled_from([None, "ends", "minima", "loci"]))
    if draw(st.booleans()):
        options["pam"] = draw(pams)
        options["pam_side"] = draw(st.sampled_from(["3p", "5p"]))
    for name in ("exact_5p", "exact_3p"):
        options[name] = min(draw(st.sampled_from([0, 0, 1, 2, 30])), shortest)
    for name in ("max_mismatches", "max_insertions", "max_deletions"):
        options[name] = draw(st.none() | st.integers(0, k))
    return records, patterns, k, options
