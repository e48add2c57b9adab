"""Unknown letters that match what they may stand for: --max-unknown."""

import random
from functools import partial
from unittest import mock

import naive
import naive_unknown
import numpy as np
import pytest
from support.commands import here
from support.searches import aligned, hooked, packed

import kmatch
from kmatch.genome import as_genomes
from kmatch.sequences.unknown import unknown_letters

GENERATIONS = 60


def drawn_text(rng, patterns, length):
    """Letters with copies of patterns, masked letters, IUPAC letters and runs of N."""
    text = rng.choices("ACGT", k=length)
    for _ in range(length // 25):
        copy = list(rng.choice(patterns))
        if rng.random() < 0.5:
            copy = list(naive.reverse_complement("".join(copy)))
        copy = [rng.choice(naive.IUPAC[letter]) for letter in copy]
        kind = rng.randrange(4)
        place = rng.randrange(len(copy))
        if kind == 0:
            copy[place] = rng.choice("ACGT")
        elif kind == 1:
            del copy[place]
        elif kind == 2:
            copy.insert(place, rng.choice("ACGTN"))
        start = rng.randrange(length)
        text[start : start + len(copy)] = copy
    for _ in range(length // 12):
        text[rng.randrange(len(text))] = rng.choice("NRYSWKMBDHVnry*X")
    for _ in range(length // 60):
        start = rng.randrange(length)
        text[start : start + rng.randint(2, 14)] = "N" * rng.randint(2, 14)
    return "".join(text)


def drawn_case(seed):
    rng = random.Random(seed)
    size = rng.randint(4, 9)
    patterns = ["".join(rng.choices("ACGTACGTACGTNRY", k=size)) for _ in range(rng.randint(1, 3))]
    records = [
        (f"r{i}", drawn_text(rng, patterns, rng.choice([0, 3, 40, 90, 170])))
        for i in range(rng.randint(1, 4))
    ]
    k = rng.randint(0, min(2, size - 2))
    most = rng.randint(0, size - k - 1)
    return rng, records, patterns, k, most


def searched(rng, records, problem, patterns, k, circular, **options):
    """Yield what searches find, by numbers with CIGARs and unknown letters, in memory and packed,
    in all ways, aligned at once or later, in chunks of any size."""
    for genome in genomes(rng, records):
        layout = rng.choice([{}, {"chunk_length": 64}, {"chunk_length": 101}, {"capacity": 3}])
        given = as_genomes(genome).with_circular(circular)
        for way in (None, "lookup", "filter"):
            hits = hooked(problem, given, patterns, k, way=way, device="cpu", **layout, **options)
            yield [(*row, count) for row, count in zip(aligned(hits), hits.unknown, strict=True)]
        # Patterns may hold their PAM.
        with mock.patch("kmatch.calls.beside_pams", lambda patterns, *_: patterns):
            search = getattr(kmatch, problem)
            hits = search(genome, patterns, k, circular=circular, device="cpu", **options)
        yield [(*row, count) for row, count in zip(aligned(hits), hits.unknown, strict=True)]


def genomes(rng, records):
    yield kmatch.Genome.from_records(records)
    yield packed(records, length=rng.choice([64, 100]), halo=rng.choice([64, 128]))


@pytest.mark.parametrize("seed", range(GENERATIONS))
def test_windows(seed):
    rng, records, patterns, k, most = drawn_case(seed)
    options = {"strand": rng.choice(["both", "+", "-"])}
    options["exact_3p"] = rng.choice([0, 0, 2])
    circular = rng.random() < 0.25
    oracle = naive_unknown.hamming
    if rng.random() < 0.5:
        options["pam"] = rng.choice(["NG", "AGG,CR", "TTV", "NG,NA"])
        if "," in options["pam"] and len({len(p) for p in options["pam"].split(",")}) > 1:
            options["pam"] = "AG,CR"
        options["pam_side"] = rng.choice(["3p", "5p"])
        oracle = naive_unknown.multi
    expected = []
    for hit in oracle(records, patterns, k, most, circular=circular, **options):
        expected.append((*hit[:6], naive_unknown.unknown_in(records, hit)))
    problem = "multi" if "pam" in options else "hamming"
    options |= {"max_unknown": most}
    for found in searched(rng, records, problem, patterns, k, circular, **options):
        assert [(*row[:6], row[7]) for row in found] == expected


RULES = (
    {},
    {},
    {"exact_3p": 2},
    {"exact_5p": 1},
    {"max_insertions": 0},
    {"max_deletions": 0, "max_mismatches": 1},
    {"pam": "NG"},
    {"pam": "TTV", "pam_side": "5p"},
    {"pam": "AG,CR"},
    {"pam": "AGG,CR", "pam_side": "3p"},
)


@pytest.mark.parametrize("seed", range(2 * GENERATIONS))
def test_ends(seed):
    rng, records, patterns, k, most = drawn_case(1_000 + seed)
    options = rng.choice(RULES) | {"strand": rng.choice(["both", "+", "-"])}
    options = {
        name: min(value, k) if name.startswith("max") else value for name, value in options.items()
    }
    options["report"] = rng.choice(["minima", "ends", "loci"])
    circular = rng.random() < 0.25 and options.get("pam") != "AGG,CR"
    expected = []
    for hit in naive_unknown.edit(records, patterns, k, most, circular=circular, **options):
        expected.append((*hit, naive_unknown.unknown_in(records, hit)))
    options |= {"max_unknown": most}
    for found in searched(rng, records, "edit", patterns, k, circular, **options):
        assert found == expected


# Drawn by hand

PATTERN = "ACGTTGCATTAG"


def table(*words, stdin=b""):
    result = here(*words, stdin=stdin)
    assert result.status == 0 and not result.err
    return result.out.decode().splitlines()


def test_what_unknown_letters_match():
    """
    a    ..ACGTNGCATTAG..      N for T
    b    ..ACRTTGCATTAG..      R for G
    c    ..ACYTTGCATTAG..      Y, which is no G: a mismatch
    d    ..ACGTNNNATTAG..      three
    """
    given = (
        b">a\nCCACGTNGCATTAGCC\n>b\nCCACRTTGCATTAGCC\n>c\nCCACYTTGCATTAGCC\n>d\nCCACGTNNNATTAGCC\n"
    )
    words = (
        "-p",
        PATTERN,
        "-k",
        1,
        "--strand",
        "+",
        "--columns",
        "sequence,distance,cigar,match,unknown",
    )
    expected = {
        "1": ["a 0 12= ACGTNGCATTAG 1", "b 0 12= ACNTTGCATTAG 1", "c 1 2=1X9= ACNTTGCATTAG 1"],
        "0": [],
        "3": ["a 0 12= ACGTNGCATTAG 1", "b 0 12= ACNTTGCATTAG 1", "c 1 2=1X9= ACNTTGCATTAG 1",
              "d 0 12= ACGTNNNATTAG 3"],
    }  # fmt: skip
    for most, rows in expected.items():
        for command in ("hamming", "edit", "multi"):
            found = table(command, "-", *words, "--max-unknown", most, stdin=given)[1:]
            assert [row.replace("\t", " ") for row in found] == rows
    found = table("hamming", "-", *words, stdin=given)[1:]
    assert [row.split("\t")[2] for row in found] == ["4=1X7=", "2=1X9=", "2=1X9="]


def test_alignments_reach_over_few_enough():
    """
    text       A C N G T T G C A T T A G      N is a C, or is not reached
    within 1     X = = = = = = = = = = =      distance 1
    within 0     I I = = = = = = = = = =      distance 2
    """
    given = b">a\nACNGTTGCATTAG\n"
    words = (
        "edit",
        "-",
        "-p",
        PATTERN,
        "-k",
        2,
        "--strand",
        "+",
        "--format",
        "tsv",
        "--max-unknown",
    )
    assert [row.split("\t")[1:7] for row in table(*words, 1, stdin=given)[1:]] == [
        ["1", "13", PATTERN, "1", "+", "1X11="]
    ]
    assert [row.split("\t")[1:7] for row in table(*words, 0, stdin=given)[1:]] == [
        ["3", "13", PATTERN, "2", "+", "2I10="]
    ]


def test_reads_of_sam():
    """Where a letter is unknown the read has the pattern's, that of a PAM the text's."""
    words = (
        "multi",
        "g.fa",
        "-p",
        PATTERN,
        "-k",
        0,
        "--pam",
        "NGG",
        "--max-unknown",
        2,
        "--format",
        "sam",
    )
    with_file = [row for row in table(*words) if not row.startswith("@")]
    assert [row.split("\t")[9] for row in with_file] == [f"{PATTERN}NGG"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.fa").write_bytes(b">a\nTTACGTNGCATTAGNGGTT\n")


def test_primers_and_reads():
    """A masked site, and a read with an N in its barcode."""
    site = "ACGTTGCATTAGCC"
    between = 30 * "T"
    other = "GGATCCTTAACGGA"
    text = f"AA{site[:4]}NN{site[6:]}{between}{naive.reverse_complement(other)}AA"
    primers = {"x": (site, other)}
    genome = kmatch.Genome.from_records([("a", text)])
    for edit in (False, True):
        call = partial(kmatch.pcr, genome, primers, 1, product=(20, 99), edit=edit, device="cpu")
        assert [len(call()), len(call(max_unknown=1)), len(call(max_unknown=2))] == [0, 0, 1]
    reads = f"@r\n{text}\n+\n{'I' * len(text)}\n".encode()
    for command in ("filter", "demux"):
        files = ("b.fa",) if command == "demux" else ("-p", site)
        with open("b.fa", "w") as handle:
            handle.write(f">one\n{site}\n")
        for more in ((), ("--edit",)):
            plain = here(command, "-", *files, "-k", 1, *more, stdin=reads)
            found = here(command, "-", *files, "-k", 1, "--max-unknown", 2, *more, stdin=reads)
            assert (plain.status, found.status) == (0, 0) and plain.out != found.out
            assert (b"@r" if command == "filter" else b"\tassigned\t") in found.out


def test_what_does_not_fit():
    few = here("hamming", "g.fa", "-p", "ACGTT", "-k", 2, "--max-unknown", 3)
    assert few.status == 1 and b"max_unknown = 3 and k = 2 must be fewer together" in few.err
    one = ("hamming", "g.fa", "-p", PATTERN, "-k", 1, "--max-unknown", 1)
    for more, said in (
        (("--algorithm", "sequential"), b"--max-unknown is not for --algorithm sequential"),
        (("--variants", "v.vcf"), b"--max-unknown is not for --variants"),
    ):
        result = here(*one, *more)
        assert result.status == 2 and said in result.err
    with pytest.raises(kmatch.InputError, match="max_unknown is not for algorithm 'sequential'"):
        kmatch.hamming("g.fa", PATTERN, 1, max_unknown=1, algorithm="sequential", device="cpu")
    with pytest.raises(kmatch.InputError, match="max_unknown is -1"):
        kmatch.edit("g.fa", PATTERN, 1, max_unknown=-1, device="cpu")


def test_long_runs_cost_nothing():
    """Of a run the letters at either end alone are in planes: no hit reaches further."""
    letters = np.frombuffer(b"ACGTRNN" + b"N" * 5_000 + b"KACGNNT", np.uint8)
    unknown = unknown_letters(letters)
    assert unknown.runs().begin.tolist() == [4, 5_011] and unknown.runs().end.tolist() == [
        5_008,
        5_013,
    ]
    places, masks = unknown.edges(2)
    assert dict(zip(places.tolist(), masks.tolist(), strict=True)) == {
        4: 0b0101, 5: 15, 5_006: 15, 5_007: 0b1100, 5_011: 15, 5_012: 15
    }  # fmt: skip
    counts = unknown.runs().counts(np.array([0, 3, 5, 5_008]), np.array([4, 6, 5_012, 5_008]))
    assert counts.tolist() == [0, 2, 5_004, 0]


def test_version_1_of_packed_genomes():
    """Of these, what is in no plane of a record is N, and what is between records nothing."""
    records = [("a", "NNACGTTNCATTAGNN"), ("b", "NACGTTGCANTAG")]
    genome = packed(records, length=64, halo=64)
    expected = aligned(kmatch.edit(genome, PATTERN, 1, max_unknown=1, device="cpu"))
    genome.file.version = 1
    found = kmatch.edit(genome, PATTERN, 1, max_unknown=1, device="cpu")
    assert aligned(found) == expected and {hit[0] for hit in expected} == {0, 1}
