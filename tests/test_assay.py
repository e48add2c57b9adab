"""`kmatch assay` and `kmatch.assay`, against every product of an oracle."""

import io
import random

import naive
import numpy as np
import pytest
from Bio.Seq import Seq
from Bio.SeqUtils.MeltingTemp import Tm_NN
from support.commands import fasta, here, random_letters

import kmatch
from kmatch.errors import InputError
from kmatch.results.melting import SALTS, Salts, codes_of, melting_temperatures
from kmatch.search import best
from kmatch.sequences.alphabet import encode_text

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


def duplex_temperature(oligo, site, salts=SALTS):
    letters = (np.frombuffer(each.encode(), np.uint8) for each in (oligo, site))
    codes = [codes_of(encode_text(each)) for each in letters]
    return melting_temperatures(*codes, np.array([0]), np.array([len(oligo)]), salts)[0]


@pytest.mark.parametrize("salts", [SALTS, Salts(magnesium=0, dntps=0)])
def test_melting_temperatures_are_biopythons(salts):
    """Of many stretches at once, with mismatches inside and at their ends."""
    rng, half = random.Random(7), salts.oligos / 2
    mixed = {"dnac1": half, "dnac2": half, "Na": salts.monovalent, "Mg": salts.magnesium}
    oligos, sites, expected = [], [], []
    for _ in range(300):
        oligo = rng.choices("ACGT", k=rng.randint(2, 12))
        site = [rng.choice("ACGTN") if rng.random() < 0.1 else letter for letter in oligo]
        oligos.append("".join(oligo))
        sites.append("".join(site))
        try:
            tm = Tm_NN(oligos[-1], c_seq=Seq(sites[-1]).complement(), saltcorr=5,
                       dNTPs=salts.dntps, **mixed) if "N" not in site else np.nan  # fmt: skip
        except (ValueError, KeyError, IndexError):  # no parameters
            tm = np.nan
        expected.append(tm)
    letters = [np.frombuffer("".join(each).encode(), np.uint8) for each in (oligos, sites)]
    ends = np.cumsum(list(map(len, oligos)))
    codes = [codes_of(encode_text(each)) for each in letters]
    found = melting_temperatures(*codes, np.append(0, ends[:-1]), ends, salts)
    assert 20 < np.isnan(expected).sum() < 200
    np.testing.assert_allclose(found, expected, rtol=1e-9)


# calc_tm of primer3-py 2.4.0 with 1.5 mM Mg and 0.6 mM dNTPs, its defaults, and with other salts.
PRIMER3 = {
    "ACAGGTACGTTAATAGTTAATAGCGT": (58.2928957293754, 62.9710703098084),
    "GACCCCAAAATCAGCGAAAT": (56.674076070161334, 61.705809715768055),
    "TCTGGTTACTGCCAGTTGAATCTG": (60.80392434640186, 65.6332450632907),
    "GGATTACCAGTTGCA": (46.037429652810886, 51.48659804899421),
}


@pytest.mark.parametrize("oligo", PRIMER3)
def test_melting_temperatures_of_perfect_duplexes(oligo):
    salts = Salts(monovalent=100, magnesium=3, dntps=0.2, oligos=200)
    found = duplex_temperature(oligo, oligo), duplex_temperature(oligo, oligo, salts)
    assert found == pytest.approx(PRIMER3[oligo], abs=1e-9)


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
    assert values[0, 2] == 25 and not values.mask.any()
    for path in (table, positions):
        picture = tmp_path / "a.svg"
        assert here("plot", path, "-o", picture).status == 0
        assert b"two" in picture.read_bytes()
    part = found[found.assay == "two"][1:4]
    part.to_matrix(handle := io.BytesIO())
    assert handle.getvalue() == b"assay\tg1\tg2\tg3\ntwo\t2\t1\t0\nthree\t\t\t\n"
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
    assert [line[-1] for line in lines] == ["0"] * 6 + ["1"] + ["0"] * 8
    assert all(line[3:5] == ["1", "0"] for line in lines)
