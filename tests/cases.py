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
    "exact both and more than all": _case(["ACGTTGCAACGTAGCA"], ["ACG"], 2, exact_5p=2, exact_3p=5),
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
        "exact_5p": draw(st.sampled_from([0, 0, 1, 3])),
        "exact_3p": draw(st.sampled_from([0, 0, 2, 30])),
    }
    return records, patterns, k, options


geometries = st.fixed_dictionaries(
    {"chunk_length": st.integers(1, 200), "words": st.sampled_from([1, 2, 3, None])}
)
