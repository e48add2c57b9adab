"""k differences in real genomes: what was planted is found, and nothing else is."""

import gzip

import naive
import numpy as np
import pytest
from support.differences import anchors, check_alignments, edited, far_ends, rows

import kmatch


def read(path):
    """(name, sequence) of each record, without kmatch or Biopython."""
    entries = gzip.decompress(path.read_bytes()).decode().split(">")[1:]
    split = [entry.split("\n", 1) for entry in entries]
    return [(title.split()[0], "".join(body.split()).upper()) for title, body in split]


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
    from support.hooks import edit_batches

    from kmatch.results.table import Hits
    from kmatch.sequences.patterns import load_patterns

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


def test_nothing_is_found_in_runs_of_n(real):
    path = real("human_mito_rcrs.fa.gz")
    ((_, sequence),) = read(path)
    unknown = sequence.index("N")
    pattern = sequence[unknown - 12 : unknown] + "A" + sequence[unknown + 1 : unknown + 13]
    ((*place, cigar),) = rows(kmatch.edit(path, [pattern], 2))
    assert place == [0, unknown - 12, unknown + 13, 0, 1, "+"] and cigar == "12=1X12="
