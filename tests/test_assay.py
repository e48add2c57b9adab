"""`kmatch assay` and `kmatch.assay`, against every product of an oracle."""

import io
import random
import warnings
from types import SimpleNamespace

import naive
import numpy as np
import pytest
from support.commands import failed, fasta, here, random_letters
from support.duplexes import duplex_temperature

import kmatch
from kmatch.apps import assay as assay_search
from kmatch.apps.assay import Grid
from kmatch.apps.duplexes import Comparer
from kmatch.engine.types import Columns, Texts
from kmatch.errors import InputError
from kmatch.results.assays import VERDICTS, Assays
from kmatch.results.batches import NO, SEEN, UNKNOWN, YES, AssayBatch, HitBatch
from kmatch.results.melting import SALTS, Salts
from kmatch.search import best
from kmatch.search.query import Query
from kmatch.sequences.oligos import load_pairs

OLIGOS = ("ACGTTGCAGTCCATT", "GGATTACCAGTTGCA", "TTGGCCTAGGATCCA")


def amplicon(inside="", errors=()):
    """A product of the first two of OLIGOS around the third, with letters changed."""
    forward, reverse, probe = OLIGOS
    text = list(forward + inside + probe + "ACCA" + naive.reverse_complement(reverse))
    for at in errors:
        text[at] = "ACGT"["ACGT".index(text[at]) - 1]
    return "".join(text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Assays, five genomes in one file and in a file each, their list, and names of targets."""
    folder = tmp_path_factory.mktemp("assays")
    rows = [("two", *OLIGOS[:2], ""), ("three", *OLIGOS)]
    lines = ["assay\tForwardPrimer\tReversePrimer\tProbe\n", *("\t".join(r) + "\n" for r in rows)]
    (folder / "assays.tsv").write_text("".join(lines))
    around = [random_letters(300, seed) for seed in range(5)]
    inside = "TGCATGCATTGGACCATT"
    texts = [
        amplicon(inside),
        amplicon(inside, [2, 14]),
        naive.reverse_complement(amplicon(inside, [3, 35, 40])),
        amplicon(inside, [36, 38, 40]),
        "",
    ]
    records = [(f"g{n}", part[:150] + text + part[150:]) for n, (text, part) in
               enumerate(zip(texts, around, strict=True))]  # fmt: skip
    (folder / "all.fa").write_bytes(fasta(records))
    for name, text in records:
        (folder / f"{name}.fa").write_bytes(fasta([(name, text)]))
    (folder / "list").write_text("".join(f"{folder}/g{n}.fa\n" for n in range(5)))
    (folder / "targets").write_text("g0\n# and those of a patient\ng3\ng4\n")
    return folder


def test_codes_of_some_bases_hide_less_than_n():
    """Behind N a code goes on asking: no primer ends in Y, R and Y at once.

    record   N N N N N N Y R Y T T A A      6 letters that may be any, and 3 codes
    """
    pairs = {"a": ("CCRAAAAA", "CCRAAARAA", "TAARRTAAAAA")}
    how = {"product": (5, 50), "edit": True, "device": "cpu"}
    for text, expected in (("NNNNNNYRYTTAA", "no"), ("NNNNNNNNNTTAA", "unknown")):
        genome = kmatch.Genome.from_records([("g", text)])
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # of masked letters
            assert kmatch.assay(pairs, genome, 0, **how).amplifies.tolist() == [expected]


def test_targets_that_are_no_genomes(folder, tmp_path):
    """One of several may be missing; where none is a genome the file names something else."""
    (tmp_path / "targets").write_text("g0.fa\ng3.fa\n")
    asked = (folder / "assays.tsv", folder / "all.fa", "-k", 2, "--each", "record")
    done = here("assay", *asked, "--targets", tmp_path / "targets", "-o", tmp_path / "a.tsv")
    failed(done, "no target is a genome: the targets are 'g0.fa', 'g3.fa', the genomes 'g0',")
    assert not (tmp_path / "a.tsv").exists()


def test_records_of_one_name_in_several_genomes(folder):
    asked = (folder / "assays.tsv", folder / "g0.fa", folder / "all.fa", "-k", 2)
    assert here("assay", *asked).err == b""
    told = here("assay", *asked, "--each", "record").err.decode()
    assert "two genomes or more have a record named 'g0'; rows do not tell them apart" in told


def test_melting_temperatures_of_sites():
    """Letters for several bases melt as what they stand against; a skipped letter has none."""
    forward, reverse, probe = "ACGTTRCAGTCCATT", *OLIGOS[1:]
    text = amplicon("TGCATG", [3]).replace(probe, probe[:7] + probe[8:])
    genome = kmatch.Genome.from_records([("r", text)])
    given = {"a": (forward, reverse, probe)}
    found = kmatch.assay(given, genome, 1, edit=True, product=(9, 99), device="cpu")
    assert found.probe.tolist() == [1] and np.isnan(found.tm_probe).all()
    site = text[:15]
    resolved = forward.replace("R", site[5])
    assert found.tm_forward[0] == pytest.approx(duplex_temperature(resolved, site))
    salty = kmatch.assay(given, genome, 1, edit=True, product=(9, 99), magnesium=6, device="cpu")
    tm = duplex_temperature(reverse, reverse, Salts(magnesium=6))
    assert salty.tm_reverse[0] == pytest.approx(tm)
    with pytest.raises(kmatch.OutputError, match="no BED"):
        found.to_bed(io.StringIO())
    with pytest.raises(InputError, match="unknown each"):
        kmatch.assay(given, genome, 2, each="genome", device="cpu")


def test_slots_of_a_grid():
    """
                   two       three
                   F  R  P   F  R  P
    genome 0       0  1  2   3  4  5        records 0 and 1
    genome 1       6  7  8   9 10 11        record 2
    """
    pairs = load_pairs({"two": OLIGOS[:2], "three": OLIGOS})
    units = np.array([0, 0, 1])
    window = SimpleNamespace(names=["g0", "g1"], units=lambda record: units[record])
    grid = Grid(window, pairs)
    assert grid.cell_count == 4
    assert grid.cell_genomes.tolist() == [0, 0, 1, 1] and grid.cell_assays.tolist() == [0, 1, 0, 1]
    oligo = np.array([0, 1, 2, 3, 4, 0, 4])  # two_F two_R three_F three_R three_P two_F three_P
    sites = SimpleNamespace(record=np.array([0, 1, 0, 1, 0, 2, 2]), pattern=oligo)
    assert grid.cells(sites).tolist() == [0, 0, 1, 1, 1, 2, 3]
    assert grid.slots(sites).tolist() == [0, 1, 3, 4, 5, 6, 11]


INSIDE = "TGCATGCATTGGACCATTGC"
AROUND = (random_letters(90, 11), random_letters(90, 12))


def verdicts(text, given=OLIGOS, k=1, **how):
    """(amplifies, reason) of an assay in a record."""
    genome = kmatch.Genome.from_records([("r", text)])
    how = {"product": (40, 120), "device": "cpu"} | how
    found = kmatch.assay({"a": given}, genome, k, **how)
    return found.amplifies[0], found.reason[0]


def masked(text, start, end):
    return text[:start] + "N" * (end - start) + text[end:]


def test_unknown_letters_hide_oligos():
    """
    |=======>--TGCATGCATTGGACCATTGC--(=======)--ACCA--<=======|
    0      15                        35      50       54      69
    NNNNN                                                          forward
                                     NNNNN            NNNNN        reverse,probe
    """
    left, right = AROUND
    whole = amplicon(INSIDE)
    assert verdicts(left + whole + right) == ("yes", "")
    assert verdicts(left + masked(whole, 0, 5) + right) == ("unknown", "forward")
    text = masked(masked(whole, 35, 40), 54, 59)
    assert verdicts(left + text + right) == ("unknown", "reverse,probe")
    assert verdicts(naive.reverse_complement(left + text + right)) == ("unknown", "reverse,probe")
    # What an unknown letter may be decides: R is no C, which the oligo has there.
    for letter, expected in (("Y", "unknown"), ("R", "no")):
        text = whole[:4] + letter + whole[5:]
        assert whole[1] == "C" and whole[4] == "T"
        assert verdicts(left + text + right, k=0)[0] == expected
    # Letters that match would not be enough, or stand elsewhere.
    assert verdicts(left + whole[:15] + "N" * 10 + right) == ("no", "reverse,probe")


def test_the_end_of_a_record_hides_half_of_an_oligo():
    """
    r                                |=======>--…--<====
    the end                                             ^ 8 of 15 letters are there, or 7
    """
    left, _ = AROUND
    whole = amplicon(INSIDE)
    for shown, expected in ((15, "yes"), (8, "unknown"), (7, "no")):
        text = left + whole[: len(whole) - 15 + shown]
        reason = {"yes": "", "no": "reverse", "unknown": "reverse"}[expected]
        assert verdicts(text, k=0) == (expected, reason)
        assert verdicts(naive.reverse_complement(text), k=0) == (expected, reason)
    # A circle has no end.
    text = left + whole[: len(whole) - 7]
    assert verdicts(text, k=0, circular=True)[0] == "no"
    assert verdicts(text, OLIGOS, k=2, edit=True)[0] == "unknown"


@pytest.mark.filterwarnings("ignore:nothing but masked")
def test_a_verdict_does_not_depend_on_other_assays():
    """Each oligo has half of its own letters behind an end, whatever the longest one has."""
    text = "GAAAGNGCTACTGACTANTAGTCAGTAGCN"
    given = {"a": ("GTTGAAAG", "TRGCCCGC", "TAGCGRATR"), "b": (OLIGOS[0] * 2, OLIGOS[1])}
    genome = kmatch.Genome.from_records([("r", text)])
    how = {"edit": True, "product": (5, 110), "device": "cpu"}
    alone, both = (kmatch.assay(each, genome, 1, **how) for each in ({"a": given["a"]}, given))
    assert alone.amplifies[0] == both.amplifies[0] == "unknown"
    assert alone.reason[0] == both.reason[0] == "forward,reverse,probe"


def test_an_amplicon_of_unknown_letters_in_small_and_large_genomes(monkeypatch):
    """With one oligo on known letters it is unknown in either, with none in small ones alone."""
    left, right = AROUND
    whole = amplicon(INSIDE)
    everything = left + "N" * 69 + right
    with pytest.warns(kmatch.errors.KmatchWarning, match="nothing but masked letters .* 1 row"):
        assert verdicts(everything) == ("unknown", "forward,reverse,probe")
    monkeypatch.setattr(assay_search, "LARGE", 100)
    assert verdicts(everything)[0] == "no"
    assert verdicts(left + whole[:15] + "N" * 54 + right) == ("unknown", "reverse,probe")
    assert verdicts(left + "N" * 69 + right, product=(70, 120))[0] == "no"


def test_why_an_assay_does_not_amplify():
    left, right = AROUND
    whole = left + amplicon(INSIDE) + right
    other = random_letters(300, 99)
    forward, reverse, probe = OLIGOS
    assert verdicts(other) == ("no", "forward,reverse,probe")
    assert verdicts(whole, (forward, other[:15], probe)) == ("no", "reverse")
    assert verdicts(whole, (forward, reverse, other[:15])) == ("no", "probe")
    assert verdicts(whole + probe, (forward, reverse, probe), product=(10, 30)) == ("no", "length")
    assert verdicts(whole, OLIGOS[:2], product=(80, 120)) == ("no", "length")
    written = (forward, naive.reverse_complement(reverse))  # as the template reads
    assert verdicts(whole, written) == ("no", "facing")
    away = naive.reverse_complement(reverse) + other[:50] + forward
    assert verdicts(away, OLIGOS[:2]) == ("no", "facing")
    assert verdicts(away + other, OLIGOS[:2], circular=True) == ("no", "length")
    # The probe is elsewhere, and the product does not hold it.
    emptied = left + forward + INSIDE + "A" * 20 + naive.reverse_complement(reverse) + right + probe
    assert verdicts(emptied) == ("no", "probe")


def test_the_last_letters_of_primers_have_to_match():
    """
    ACGTTGCAGTCCATT
    ||||||||||||||x     the last letter of the forward primer
    """
    left, right = AROUND
    text = left + amplicon(INSIDE, [14]) + right
    assert verdicts(text, exact_3p=0) == ("yes", "")
    assert verdicts(text, exact_3p=1) == ("no", "forward")
    assert verdicts(masked(text, len(left) + 14, len(left) + 15), exact_3p=1)[0] == "unknown"


@pytest.mark.parametrize("edit", [False, True])
def test_a_probe_has_no_last_letters_that_have_to_match(edit):
    """
    TTGGCCTAGGATCCA
    ||||||||||||||x     the last letter of the probe
    """
    left, right = AROUND
    text = left + amplicon(INSIDE, [49]) + right
    genome = kmatch.Genome.from_records([("r", text)])
    how = {"product": (40, 120), "exact_3p": 3, "edit": edit, "device": "cpu"}
    found = kmatch.assay({"a": OLIGOS}, genome, 1, **how)
    assert found.amplifies.tolist() == ["yes"] and found.column("probe").tolist() == [1]
    (product,) = kmatch.pcr(genome, {"a": OLIGOS}, 1, **how)
    assert (product.start, product.end) == (90, 159)
    # Where the letter before it is unknown, the same probe is masked.
    assert verdicts(masked(text, 90 + 47, 90 + 48), **how) == ("unknown", "probe")


def test_positions_count_every_genome():
    """Of two alternates one is in the product; of a genome without a product the closest sites."""
    left, right = AROUND
    forward, reverse, _ = OLIGOS
    other = "C" + forward[1:]
    texts = [amplicon(INSIDE), "T" + amplicon(INSIDE)[1:], forward[:7] + "NNTT" + forward[7:]]
    records = [(f"g{number}", left + text + right) for number, text in enumerate(texts)]
    records.append(("empty", ""))
    genome = kmatch.Genome.from_records(records)
    given = {"a": ([forward, other], reverse)}
    found = kmatch.assay(given, genome, 1, each="record", product=(40, 120), device="cpu")
    found.to_positions(handle := io.BytesIO())
    header, *lines = [line.split("\t") for line in handle.getvalue().decode().splitlines()]
    assert header[3:] == [*("match", "differ"), *"ACGT", *("unknown", "-", "+", "absent")]
    for line in lines:
        match, differ, a, c, g, t, unknown, skipped, added, absent = map(int, line[3:])
        assert match + differ + unknown + absent == 4
        assert a + c + g + t + skipped == match + differ and added <= 4
        assert absent >= 1
    first = [line[3:] for line in lines if line[1] == "1"]
    assert first[0][:2] == ["2", "1"] and int(first[1][1]) >= 2
    # Four letters behind the seventh are one genome.
    assert lines[6][11] == "1"


def aligned_site(ops, text, oligo=0):
    """A site of an oligo with its alignment."""
    one = np.zeros(1, np.int64)
    texts = [Texts(np.array([0, len(each)]), np.frombuffer(each.encode(), np.uint8))
             for each in (ops, text)]  # fmt: skip
    number = np.array([oligo], np.int32)
    distance = np.array([len(ops) - ops.count("=")], np.int32)
    place = (one, one, one + len(text), {0: "r"})
    return HitBatch(*place, number, distance, np.zeros(1, np.uint8), Columns(*texts))


def test_what_a_site_has_at_each_letter_of_its_oligo():
    """
    oligo     A C G - T T A
    site      A C T G T - A
    columns   = = X D = I =
    """
    oligos = load_pairs({"pair": ("GGG", "ACGTTA")}).primers
    site = aligned_site("==XD=I=", "ACTGTA", oligo=1)
    letter, seen = Comparer(oligos, SALTS)._letters_seen(site)
    assert (letter - 3).tolist() == [0, 1, 2, 2, 3, 4, 5]
    assert "".join(SEEN[number] for number in seen.tolist()) == "ACT+T-A"


def test_sites_are_compared_with_their_oligos():
    """One that is the same, one with another letter, and one of an oligo with a letter for two.

    ACGTTGCA      ACGTTGCA      GGATRCCA
    ||||||||      |||x||||      ||||||||
    ACGTTGCA      ACGATGCA      GGATACCA
    """
    oligos = load_pairs({"pair": ("ACGTTGCA", "GGATRCCA")}).primers
    text = "ACGTTGCA" + "ACGATGCA" + "GGATACCA"
    genomes = kmatch.genome.as_genomes(kmatch.Genome.from_records([("r", text)]))
    sites = HitBatch(
        record=np.zeros(3, np.int64),
        start=np.array([0, 8, 16]),
        end=np.array([8, 16, 24]),
        names={0: "r"},
        pattern=np.array([0, 0, 1], np.int32),
        distance=np.array([0, 1, 0], np.int32),
        minus=np.zeros(3, np.uint8),
    )
    comparer = Comparer(oligos, SALTS)
    compared = comparer.compare(sites, Query("hamming", oligos, 1), genomes, 1)
    assert compared.same_rows.tolist() == [0] and compared.other_rows.tolist() == [1, 2]
    duplexes = comparer.duplexes(compared)
    assert duplexes.distance.tolist() == [0, 1, 0] and duplexes.distance_3p.tolist() == [0, 1, 0]
    pairs = (("ACGTTGCA", "ACGTTGCA"), ("ACGTTGCA", "ACGATGCA"), ("GGATACCA", "GGATACCA"))
    assert duplexes.tm.tolist() == [duplex_temperature(*pair) for pair in pairs]
    counts = comparer.letter_counts(compared, np.array([True, False, True]))
    assert counts.sum(axis=1).tolist() == [1] * 16
    counts = comparer.letter_counts(compared, np.ones(3, bool))
    assert counts.sum(axis=1).tolist() == [2] * 8 + [1] * 8
    assert counts[3].tolist() == [1, 0, 0, 1, 0, 0, 0]  # A and T
    assert counts[12].tolist() == [1, 0, 0, 0, 0, 0, 0]


def test_the_closest_product_counts_and_of_equal_ones_the_first():
    """The differences of primers and probe are added:

    ==x==>--(==x==)--<=====     2
    =====>--(=====)--<==x==     1, the first of two
    ==x==>--(=====)--<=====     1
    """
    products = [amplicon("TGCATG", errors) for errors in ([2, 25], [42], [3])]
    between = "TTTTCCCCTTTT" * 9
    genome = kmatch.Genome.from_records([("r", between.join(["", *products, ""]))])
    found = kmatch.assay({"a": OLIGOS}, genome, 2, product=(40, 60), device="cpu")
    assert found.start.tolist() == [2 * len(between) + len(products[0])]
    assert (found.forward[0], found.reverse[0], found.probe[0]) == (0, 1, 0)


def test_the_closest_of_alternates_counts_where_nothing_amplifies():
    forwards = [OLIGOS[0][:3] + "GG" + OLIGOS[0][5:], OLIGOS[0][:3] + "A" + OLIGOS[0][4:]]
    genome = kmatch.Genome.from_records([("r", "TTTTTTTT" + OLIGOS[0] + "TTTTTTTT")])
    given = {"a": (forwards, OLIGOS[1]), "b": (forwards[::-1], OLIGOS[1])}
    found = kmatch.assay(given, genome, 0, device="cpu")
    assert found.amplifies.tolist() == ["no", "no"] and found.forward.tolist() == [1, 1]


def assay_batch(rows):
    """An AssayBatch of rows (genome, assay, answer, differences of each oligo)."""
    genome, assay, answer, distance = zip(*rows, strict=True)
    count = len(rows)
    is_product = np.array(answer) == YES
    return AssayBatch(
        record=np.where(is_product, 0, -1),
        start=np.where(is_product, 5, -1),
        end=np.where(is_product, 65, -1),
        names={0: "r", -1: ""},
        units=["g0", "g1", "g2"],
        genome=np.array(genome),
        assay=np.array(assay),
        answer=np.array(answer),
        reason=np.zeros(count, np.int64),
        distance=np.array(distance),
        distance_3p=np.array(distance),
        tm=np.full((count, 3), np.nan),
        positions=np.zeros((len("".join(OLIGOS)) + 30, 7), np.int64),
    )


def test_facts_and_matrix():
    """
             two     three
    g0       1       4           g0 is a target
    g1       no      0
    g2       ?       no
    """
    pairs = load_pairs({"two": OLIGOS[:2], "three": OLIGOS})
    rows = [(0, 0, YES, (0, 1, -1)), (0, 1, YES, (0, 1, 3)),
            (1, 0, NO, (2, 9, -1)), (1, 1, YES, (0, 0, 0)),
            (2, 0, UNKNOWN, (1, 1, -1)), (2, 1, NO, (1, 1, 1))]  # fmt: skip
    table = Assays([assay_batch(rows)], pairs, ["g0", "g2"])
    assert table.length.tolist()[:2] == [60, 60] and np.isnan(table.length[2])
    table.to_matrix(handle := io.BytesIO())
    assert handle.getvalue() == b"assay\tg0\tg1\tg2\ntwo\t1\tno\tunknown\nthree\t4\t0\tno\n"
    np.testing.assert_array_equal(table.matrix, [[1, np.nan, np.nan], [4, 0, np.nan]])
    assert [[fact[answer] for answer in ("amplified", *VERDICTS)] for fact in table.facts] == [
        [1, 1, 0, 0, 1, 1],
        [2, 1, 1, 1, 0, 0],
    ]


@pytest.mark.filterwarnings("ignore:pattern")
def test_each_record_by_itself(monkeypatch):
    """The same as a search of every record alone, whatever is searched together."""
    rng = random.Random(1)
    for number in range(6):
        texts = ["".join(rng.choices("ACGTN", k=rng.randrange(200))) for _ in range(6)]
        records = [(f"r{at}", text) for at, text in enumerate(texts)]
        patterns = ["".join(rng.choices("ACGTR", k=rng.randrange(3, 25))) for _ in range(4)]
        monkeypatch.setattr(best, "WINDOW", [300, 1 << 20][number % 2])
        how = {"device": "cpu", "circular": number % 3 == 0, "exact_3p": rng.choice([0, 0, 2])}
        genome = kmatch.Genome.from_records(records)
        found = kmatch.best(genome, patterns, each="record", **how)
        alone = [
            kmatch.best(kmatch.Genome.from_records([each]), patterns, **how) for each in records
        ]
        assert list(found) == [hit for hits in alone for hit in hits]
        assert found.cigar.tolist() == [cigar for hits in alone for cigar in hits.cigar]
        regions = [("r1", 0, len(texts[1]) // 2)]
        inside = kmatch.best(genome, patterns, each="record", regions=regions, **how)
        assert list(inside) == [
            hit for hit in found if hit.record == "r1" and hit.end <= regions[0][2]
        ]


def test_pictures(folder, tmp_path):
    """The table and --matrix draw the same; the longer side is rows, empty cells have no colour."""
    pytest.importorskip("matplotlib")
    from kmatch.pictures.tables import read_table

    table, matrix, positions = (tmp_path / f"{name}.tsv" for name in "tmp")
    here(
        *("assay", folder / "assays.tsv", folder / "all.fa", "-k", 2, "--each", "record"),
        *("-o", table, "--matrix", matrix, "--positions", positions),
    )
    expected = [[0, 0], [2, 2], [1, 3], [0, np.nan], [np.nan, np.nan]]
    found = kmatch.assay(folder / "assays.tsv", folder / "all.fa", 2, each="record")
    for figure in (read_table(table).draw(), read_table(matrix).draw(), found.plot()):
        axes = figure.axes[0]
        names = [
            [tick.get_text() for tick in ticks()]
            for ticks in (axes.get_yticklabels, axes.get_xticklabels)
        ]
        assert names == [[f"g{n}" for n in range(5)], ["two", "three"]]
        assert figure.get_suptitle().endswith("7 pairs of 10 amplify")
        values = axes.images[0].get_array().filled(np.nan)
        np.testing.assert_array_equal(values, expected)
    values = read_table(positions).draw().axes[0].images[0].get_array()
    assert values[0, 2] == 20 and not values.mask.any()
    for path in (table, positions):
        picture = tmp_path / "a.svg"
        assert here("plot", path, "-o", picture).status == 0
        assert b"two" in picture.read_bytes()
    part = found[found.assay == "two"][1:4]
    part.to_matrix(handle := io.BytesIO())
    assert handle.getvalue() == b"assay\tg1\tg2\tg3\ntwo\t2\t1\t0\nthree\tno\tno\tno\n"
    assert [row["amplified"] for row in part.facts] == [3, 0]
    with pytest.raises(kmatch.OutputError, match="all rows together"):
        part.to_positions(handle)
    assert len(found[:0].plot().axes) == 1 and len(list(found)) == 10 and "three" in repr(found)


def test_over_the_origin_and_with_a_letter_more():
    """A product whose probe begins a turn later, and an oligo in which the genome has a letter."""
    text = amplicon("TGCATG")
    turned = text[18:] + "AAAA" + text[:18]  # the probe is behind the origin
    genome = kmatch.Genome.from_records([("r", turned)])
    given, how = {"a": OLIGOS}, {"product": (9, 99), "device": "cpu"}
    assert kmatch.assay(given, genome, 0, **how).amplifies.tolist() == ["no"]
    found = kmatch.assay(given, genome, 0, circular=True, **how)
    assert found.amplifies.tolist() == ["yes"] and found.length.tolist() == [len(text)]
    longer = kmatch.Genome.from_records([("r", text[:7] + "A" + text[7:])])
    found = kmatch.assay(given, longer, 1, edit=True, **how)
    handle = io.BytesIO()
    found.to_positions(handle)
    lines = [line.split("\t") for line in handle.getvalue().decode().splitlines()[1:16]]
    assert [line[-2] for line in lines] == ["0"] * 6 + ["1"] + ["0"] * 8
    assert all(line[3:5] == ["1", "0"] for line in lines)


def test_a_masked_circle_that_is_shorter_than_an_oligo():
    """Around the origin all letters are unknown: no site lacks the ones before it."""
    records = [("c", 10 * "N")]
    given = {"a": ("AATAAAARAAA", "AAAAAAAA")}
    how = {"circular": True, "edit": True, "exact_3p": 2, "product": (5, 110), "device": "cpu"}
    found = kmatch.assay(given, kmatch.Genome.from_records(records), 1, **how)
    assert list(zip(found.amplifies, found.reason, strict=True)) == [("no", "forward,reverse")]
