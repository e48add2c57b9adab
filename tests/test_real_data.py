"""Real genomes, held against independent answers."""

import gzip

import naive
import numpy as np
import pytest
from support.commands import fasta, here

import kmatch

# The source gives 64_LEFT an end that does not fit its sequence.
WRONG = "SARS-CoV-2_64_LEFT"


def read(path):
    """(name, sequence) of each record, without kmatch or Biopython."""
    entries = gzip.decompress(path.read_bytes()).decode().split(">")[1:]
    split = [entry.split("\n", 1) for entry in entries]
    return [(title.split()[0], "".join(body.split())) for title, body in split]


def test_artic_primers_in_place(real):
    lines = real("tables/artic_ncov_V4.1.primer.bed").read_text().splitlines()
    primers = {row[3]: row for row in (line.split("\t") for line in lines)}
    assert len(lines) == len(primers) == 209
    del primers[WRONG]
    panel = {name: row[6] for name, row in primers.items()}
    hits = kmatch.hamming(real("sarscov2_mn908947.fa.gz"), panel, k=0)
    columns = (hits.record, hits.start.tolist(), hits.end.tolist(), hits.pattern, hits.strand)
    places = set(zip(*columns, strict=True))
    expected = {
        (record, int(start), int(end), name, strand)
        for record, start, end, name, _, strand, _ in primers.values()
    }
    assert len(expected) == 208
    assert expected <= places
    assert set(hits.distance.tolist()) == {0}


def scan(text, pattern, k):
    """(start, distance) of every window of `text`, uint8, with at most k mismatches."""
    windows = len(text) - len(pattern) + 1
    wrong = np.zeros(windows, np.uint8)
    for offset, letter in enumerate(pattern.encode()):
        wrong += text[offset : offset + windows] != letter
    starts = np.flatnonzero(wrong <= k)
    return zip(starts.tolist(), wrong[starts].tolist(), strict=True)


@pytest.fixture
def changed_pieces():
    def cut(text, rng):
        start = int(rng.integers(len(text) - 20))
        piece = text[start : start + 20].copy()
        for at in rng.choice(20, rng.integers(1, 4), replace=False):
            piece[at] = rng.choice([letter for letter in b"ACGT" if letter != piece[at]])
        return piece.tobytes().decode()

    return cut


def test_a_naive_scan_of_e_coli(real, changed_pieces):
    path = real("ecoli_k12_mg1655.fa.gz")
    ((name, sequence),) = read(path)
    text = np.frombuffer(sequence.encode(), np.uint8)
    rng = np.random.default_rng(12)
    patterns = [changed_pieces(text, rng) for _ in range(10)]
    expected = []
    for number, pattern in enumerate(patterns):
        for strand, letters in (("+", pattern), ("-", naive.reverse_complement(pattern))):
            expected += [
                (start, start + 20, strand, number, distance)
                for start, distance in scan(text, letters, 3)
            ]
    expected.sort()
    hits = kmatch.hamming(path, patterns, k=3, strand="both")
    columns = (hits.start, hits.end, hits.strand, hits.pattern_number, hits.distance)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected
    assert len(expected) >= 10 and {row[3] for row in expected} == set(range(10))
    assert set(hits.record) == {name}


def test_mers_records_with_iupac_letters(real, tmp_path):
    chosen = []
    for name, sequence in read(real("mers_cov_panel.fa.gz")):
        odd = [i for i, letter in enumerate(sequence.upper()) if letter in "YMRKW"]
        if odd:
            begin = max(odd[0] - 150, 0)
            chosen.append((name, sequence[begin : begin + 400], odd[0] - begin))
    assert len(chosen) >= 5
    records = [(name, sequence) for name, sequence, _ in chosen[:8]]
    (_, first, at), (_, second, other) = chosen[0], chosen[1]
    # One pattern spans an IUPAC letter of the text, which no letter of it can match.
    patterns = [
        first[at - 9 : at].upper() + "N" + first[at + 1 : at + 11].upper(),
        naive.reverse_complement(second[other - 15 : other].upper()),
    ]
    expected = naive.hamming(records, patterns, 3)
    distances = {row[4] for row in expected}
    assert {0, 1} <= distances
    path = tmp_path / "mers.fa"
    path.write_bytes(fasta(records))
    names = ["spanning", "beside"]
    panel = tmp_path / "panel.txt"
    panel.write_text("".join(f"{n}\t{p}\n" for n, p in zip(names, patterns, strict=True)))
    for form in ("bed", "tsv"):
        table = getattr(naive, form)(records, names, patterns, expected)
        assert here("hamming", path, panel, "-k", 3, "--format", form).out.decode() == table
    hits = kmatch.hamming(real("mers_cov_panel.fa.gz"), patterns, k=3)
    assert set(hits.record) >= {record[0] for record in records[:2]}


def test_runs_of_n_are_no_hits(real):
    path = real("human_mito_rcrs.fa.gz")
    ((name, sequence),) = read(path)
    unknown = sequence.upper().index("N")
    hits = kmatch.hamming(path, ["N" * 20], k=0)
    windows = set(range(len(sequence) - 19)) - set(range(unknown - 19, unknown + 1))
    assert hits.start[hits.strand == "+"].tolist() == sorted(windows)
    assert hits.start[hits.strand == "-"].tolist() == sorted(windows)
    assert set(hits.record) == {name}


def test_many_records(real):
    path = real("bacillus_anthracis_fragments.fa.gz")
    records = read(path)
    pattern = records[-1][1][5:25].upper()
    hits = kmatch.hamming(path, [pattern], k=2, strand="+")
    expected = [
        (number, start, distance)
        for number, (_, sequence) in enumerate(records)
        for start, distance in scan(np.frombuffer(sequence.upper().encode(), np.uint8), pattern, 2)
    ]
    found = (hits.record_number, hits.start, hits.distance)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected
    assert expected
