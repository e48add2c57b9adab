"""k-difference primers in tests: agreed cases, strategies for more, and primers as rows."""

import naive
from hypothesis import strategies as st

import kmatch
from support.cases import edited
from support.hooks import hooked_primer


def records(*texts):
    return [(f"r{i}", text) for i, text in enumerate(texts)]


def primer(target, background, k, **options):
    genomes = (kmatch.Genome.from_records(texts) for texts in (target, background))
    return hooked_primer(*genomes, k, **{"device": "cpu", **options})


def rows(found):
    columns = (found.record_number, found.start, found.end, found.strand)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _case(target, background, k, **options):
    return records(*target), records(*background), k, options


CASES = {
    "as published": _case(["ACTG"], ["AGCAAG"], 2, background_strand="+"),
    "both strands": _case(["ACTGACTTACCAGT"], ["AGCAAG", "TTGACC"], 2, both_strands=True),
    "no background": _case(["ACTGA"], [""], 3),
    "no background record": _case(["ACTGA"], [], 3),
    "empty records": _case(["", "ACTGA", "", "ACT"], ["", "ACT", ""], 2),
    "only empty records": _case(["", ""], ["ACT"], 2),
    "no target record": _case([], ["ACT"], 2),
    "target shorter than k": _case(["ACT", "ACTGACT"], ["G"], 5),
    "k = 1": _case(["ACGTACGTAAAACCCC"], ["ACGTAC"], 1),
    "N in the target": _case(["ACGTNNACGTACGNTAC"], ["ACGTACGT"], 2),
    "N in the background": _case(["ACGTACGTACGTAC"], ["ACNNACGT", "NNNN"], 2),
    "lower case, U and other letters": _case(["acguRACGTAC-gta"], ["ACGUacgtYY"], 2),
    "target inside the background": _case(["ACGTTGCATTAGCC"], ["GGTACGTTGCATTAGCCTT"], 2),
    "minus strand inside the background": _case(["ACGTTGCATT"], ["GGAATGCAACGTCC"], 1),
    "a repeat": _case(["A" * 30 + "C" + "A" * 9], ["A" * 25], 2),
    "satellites": _case(["AATGG" * 12], ["AATGG" * 3, "AATCG" * 9], 3),
    "max length": _case(["ACGTTGCATTAGCCAACTGTTG"], ["ACGTTGCATTAGC"], 3, max_length=6),
    "max length = k": _case(["ACGTTGCATTAGCCAACTGTTG"], ["CC"], 3, max_length=3),
    "k of a whole word": _case(["ACGTTGCATTAGCCAGTA" * 6], ["ACTTGCATAGCCATA" * 4], 64),
}


_units = st.text("ACGT", min_size=1, max_size=5)
_edits = st.lists(
    st.tuples(st.integers(0, 99), st.sampled_from("XID"), st.sampled_from("ACGTN")), max_size=5
)


@st.composite
def primer_cases(draw, longest=70):
    """(target, background, k, options): random letters, repeats, and edited pieces in common.

    longest: letters of a target record; one of the background has up to 20 more.
    """
    piece = (
        st.text("ACGT", max_size=40)
        | st.text("ACGTNacgu", max_size=9)
        | st.builds(lambda unit, times: unit * times, _units, st.integers(0, 12))
    )
    targets = draw(st.lists(st.lists(piece, max_size=3).map("".join), min_size=1, max_size=3))
    target = [text[:longest] for text in targets]
    copies = st.builds(edited, st.sampled_from(target), _edits)
    turned = copies.map(lambda text: naive.reverse_complement(naive.known(text)))
    texts = st.lists(st.lists(piece | copies | turned, max_size=3).map("".join), max_size=3)
    background = [text[: longest + 20] for text in draw(texts)]
    k = draw(st.sampled_from([1, 2, 3, 4, 7, 8, 9, 17]))
    options = {
        "background_strand": draw(st.sampled_from(["both", "+"])),
        "both_strands": draw(st.booleans()),
        "max_length": draw(st.sampled_from([None, None, k, k + 1, k + 9])),
    }
    return records(*target), records(*background), k, options


def related(rng, text, share):
    """A text in which a share of the letters was changed, left out or doubled."""
    wrong = rng.random(len(text)) < share
    return "".join(
        rng.choice(["", "A", "C", "GT"]) if bad else letter
        for letter, bad in zip(text, wrong, strict=True)
    )
