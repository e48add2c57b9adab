"""Real genomes, held against independent answers."""

import gzip
import re

import naive
import numpy as np
import pytest
from support.commands import fasta, here
from support.differences import anchors, check_alignments, edited, far_ends, rows
from support.hooks import edit_batches

import kmatch
from kmatch.results.table import Hits
from kmatch.sequences.patterns import load_patterns

# The source gives 64_LEFT an end that does not fit its sequence.
WRONG = "SARS-CoV-2_64_LEFT"


def read(path):
    """(name, sequence) of each record, without kmatch or Biopython."""
    entries = gzip.decompress(path.read_bytes()).decode().split(">")[1:]
    split = [entry.split("\n", 1) for entry in entries]
    return [(title.split()[0], "".join(body.split()).upper()) for title, body in split]


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
        odd = [i for i, letter in enumerate(sequence) if letter in "YMRKW"]
        if odd:
            begin = max(odd[0] - 150, 0)
            chosen.append((name, sequence[begin : begin + 400], odd[0] - begin))
    assert len(chosen) >= 5
    records = [(name, sequence) for name, sequence, _ in chosen[:8]]
    (_, first, at), (_, second, other) = chosen[0], chosen[1]
    # One pattern spans an IUPAC letter of the text, which no letter of it can match.
    patterns = [
        first[at - 9 : at] + "N" + first[at + 1 : at + 11],
        naive.reverse_complement(second[other - 15 : other]),
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
    unknown = sequence.index("N")
    hits = kmatch.hamming(path, ["N" * 20], k=0)
    windows = set(range(len(sequence) - 19)) - set(range(unknown - 19, unknown + 1))
    assert hits.start[hits.strand == "+"].tolist() == sorted(windows)
    assert hits.start[hits.strand == "-"].tolist() == sorted(windows)
    assert set(hits.record) == {name}


# k differences in real genomes: what was planted is found, and nothing else is.


@pytest.fixture
def e_coli(real):
    path = real("ecoli_k12_mg1655.fa.gz")
    ((name, sequence),) = read(path)
    return kmatch.Genome(path), name, sequence


@pytest.mark.parametrize("k", [0, 1, 3, 5])
def test_pieces_with_edits_are_found_where_they_were_cut(e_coli, k):
    genome, name, sequence = e_coli
    rng = np.random.default_rng(k)
    origins = []
    for number in range(16):
        size = int(rng.integers(20, 31))
        # A few lie at the very ends of the chromosome.
        start = {0: 0, 1: len(sequence) - size}.get(number, int(rng.integers(len(sequence) - size)))
        edits = number % (k + 1)
        pattern = edited(rng, sequence[start : start + size], edits)
        sign = "+-"[number // 2 % 2]
        pattern = pattern if sign == "+" else naive.reverse_complement(pattern)
        origins.append((pattern, sign, start, start + size, edits))
    patterns = [origin[0] for origin in origins]
    hits = kmatch.edit(genome, patterns, k)
    assert set(hits.record) == {name}
    for number, (_, sign, start, end, edits) in enumerate(origins):
        mine = (hits.pattern_number == number) & (hits.strand == sign) & (hits.distance <= edits)
        assert (mine & (hits.start < end) & (hits.end > start)).any(), origins[number]
    check_alignments([(name, sequence)], patterns, rows(hits))
    least = kmatch.best(genome, patterns)
    for number, (*_, edits) in enumerate(origins):
        mine = least.distance[least.pattern_number == number]
        assert len(mine) and mine.max() == mine.min() <= edits
        found = hits.distance[hits.pattern_number == number]
        assert found.min() == mine.min() and (found == mine.min()).sum() == len(mine)


def test_the_filter_and_the_scan_of_e_coli(e_coli):
    genome, _, sequence = e_coli
    panel = load_patterns([sequence[40_000:40_020], "GCTGGCGGCAAACGT", sequence[9_999:10_060]])
    found = [
        rows(Hits(edit_batches(genome, panel, 2, way=way, report="ends"), panel))
        for way in ("filter", "lookup", "scan")
    ]
    assert found[0] == found[1] and len(found[0]) > 50


def test_every_end_in_phage_lambda(real):
    path = real("lambda_phage.fa.gz")
    ((_, sequence),) = read(path)
    assert set(sequence) == set("ACGT")
    rng = np.random.default_rng(3)
    patterns = [edited(rng, sequence[at : at + 24], 2) for at in (0, 11_000, len(sequence) - 24)]
    patterns.append(edited(rng, sequence[30_000:30_150], 9))
    for k, few in ((4, False), (8, True)):
        found = rows(kmatch.edit(path, patterns, k, report="ends"))
        assert anchors(found) == far_ends(sequence, patterns, k)
        check_alignments([("lambda", sequence)], patterns, found)
        assert {row[3] for row in found} == {0, 1, 2} if not few else len(found) > 100


def test_minima_and_loci_of_phix(real):
    path = real("phix174.fa.gz")
    ((_, sequence),) = read(path)
    rng = np.random.default_rng(5)
    patterns = [edited(rng, sequence[2_000:2_018], 2), naive.reverse_complement(sequence[-12:])]
    for report in ("minima", "loci"):
        found = rows(kmatch.edit(path, patterns, 4, report=report))
        assert found == naive.edit([("phix", sequence)], patterns, 4, report)
        assert len(found) > 20
    assert rows(kmatch.best(path, patterns)) == naive.best([("phix", sequence)], patterns)


# Products in real genomes, held against what is known of them.


SCHEME, VIRUS = "tables/artic_ncov_V4.1.primer.bed", "sarscov2_mn908947.fa.gz"


def pairs_of(text, count, seed, lengths):
    """Pairs cut from a text at known distances, name → (forward, reverse), and their products."""
    rng = np.random.default_rng(seed)
    pairs, places = {}, []
    while len(pairs) < count:
        start, length = int(rng.integers(len(text) - 6000)), int(rng.integers(*lengths))
        product = text[start : start + length]
        if "N" not in product:
            places.append((start, start + length, f"p{len(pairs)}"))
            pairs[f"p{len(pairs)}"] = product[:22], naive.reverse_complement(product[-22:])
    return pairs, places


def exact_products(text, pairs):
    """(start, end, name) of the products of pairs that match without a mismatch."""
    hits = []
    for number, primer in enumerate(primer for pair in pairs.values() for primer in pair):
        for strand, letters in (("+", primer), ("-", naive.reverse_complement(primer))):
            hits += [
                (0, found.start(), found.start() + len(primer), number, 0, strand)
                for found in re.finditer(f"(?={letters})", text)
            ]
    roles = [(name, role) for name in pairs for role in "FR"]
    made = naive.pcr(hits, roles, (50, 5000))
    return [(start, end, roles[one[3]][0]) for _, start, end, _, one, _ in made]


def test_the_amplicons_of_artic(real):
    products = kmatch.pcr(real(VIRUS), real(SCHEME), k=0, product=(300, 500))
    rows = [line.split("\t") for line in real(SCHEME).read_text().splitlines()]
    assert set(products.name) == {f"SARS-CoV-2_{number}" for number in range(1, 100)}
    assert set(products.strand) == {"+"} and set(products.distance_forward) == {0}
    # Every pairing of alternates, within the lengths asked for; 64_LEFT has a wrong end in the
    # source, and its start is right.
    left, right = {}, {}
    for _, start, end, name, _, strand, _ in rows:
        sites, place = (left, start) if strand == "+" else (right, end)
        number = name.split("_")[1]
        sites.setdefault(number, []).append(int(place))
    expected = {
        (start, end, f"SARS-CoV-2_{number}")
        for number, starts in left.items()
        for start in starts
        for end in right[number]
        if 300 <= end - start <= 500
    }
    found = zip(products.start.tolist(), products.end.tolist(), products.name, strict=True)
    assert set(found) == expected
    assert len(products) == len(expected) == 113


def test_products_at_known_distances(real):
    path = real("ecoli_k12_mg1655.fa.gz")
    ((_, text),) = read(path)
    pairs, places = pairs_of(text, 20, 8, (60, 5000))
    products = kmatch.pcr(path, pairs, k=0, sequence=True)
    found = list(zip(products.start.tolist(), products.end.tolist(), products.name, strict=True))
    assert set(places) <= set(found)
    for start, end, strand, sequence in zip(
        products.start, products.end, products.strand, products.sequence, strict=True
    ):
        stretch = text[start:end]
        assert sequence == (stretch if strand == "+" else naive.reverse_complement(stretch))
    assert found == exact_products(text, pairs)
    turned = {name: pair[::-1] for name, pair in pairs.items()}
    mirrored = kmatch.pcr(path, turned, k=0)
    assert mirrored.start.tolist() == products.start.tolist()
    assert (mirrored.strand != products.strand).all()
