"""`kmatch guides` and `kmatch.guides`, against plain enumeration."""

import random
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import naive
import naive_scores
import numpy as np
import pytest
from fuzzing.variants import vcf_of
from support.commands import fasta, here, random_letters

import kmatch
from kmatch.apps.guides import GuideOptions, best_first, distinct_guides, find_guides
from kmatch.errors import InputError
from kmatch.nucleases import NUCLEASES

pytestmark = pytest.mark.filterwarnings("ignore:pattern")


def rows(table) -> list[tuple]:
    columns = ("record", "start", "end", "guide", "pam", "strand")
    return list(zip(*(getattr(table, name).tolist() for name in columns), strict=True))


def test_guides_of_small_targets():
    rng = random.Random(38)
    for _ in range(60):
        texts = ("".join(rng.choices("ACGTGGN", k=rng.randrange(60))) for _ in range(3))
        records = [(f"r{number}", text) for number, text in enumerate(texts)]
        pams = rng.choice([["NGG"], ["TTV"], ["NGG", "NAG"], ["NG", "NGG"]])
        side, circular = rng.choice(["3p", "5p"]), rng.random() < 0.5
        length = rng.choice([4, 8])
        expected = naive_scores.guides(records, length, pams, side, circular)
        genome = kmatch.Genome.from_records(records)
        how = {"pam": pams, "pam_side": side, "circular": circular, "device": "cpu"}
        if not expected:
            with pytest.raises(InputError, match="there is no guide"):
                kmatch.guides(genome, genome, 1, length=length, **how)
            continue
        found = kmatch.guides(genome, genome, 1, length=length, **how)
        assert rows(found) == expected
        panel = sorted({*found.guide, "A" * length})  # which does not end with a PAM
        hits = kmatch.multi(genome, panel, 1, **how)
        counts = Counter(zip(hits.pattern.tolist(), hits.distance.tolist(), strict=True))
        for distance in (0, 1):
            sites = getattr(found, f"d{distance}").tolist()
            assert sites == [counts[guide, distance] for guide in found.guide]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A target and a genome that holds it, with some of its sites changed."""
    folder = tmp_path_factory.mktemp("guides")
    target = random_letters(400, seed=3)
    near = target[:150].replace("ACG", "AGG") + target[200:].replace("TTC", "TC")
    first, second = random_letters(2_000, 5) + target, near + random_letters(500, 6)
    (folder / "target.fa").write_bytes(fasta([("gene", target)]))
    (folder / "genome.fa").write_bytes(fasta([("chr1", first), ("chr2", second)]))
    (folder / "genes.bed").write_bytes(b"gene\t0\t200\tfirst\ngene\t100\t400\tsecond\n")
    return folder


@pytest.mark.parametrize("bulges", [(0, 0), (1, 1)])
def test_specificity_is_that_of_all_sites(files, bulges):
    target, genome = files / "target.fa", files / "genome.fa"
    how = dict(zip(("max_insertions", "max_deletions"), bulges, strict=True))
    found = kmatch.guides(target, genome, 3, device="cpu", **how)
    search, how = (kmatch.edit, how | {"report": "sites"}) if any(bulges) else (kmatch.multi, {})
    guides = list(dict.fromkeys(found.guide.tolist()))
    hits = search(genome, guides, 3, pam="NGG", score="cfd", device="cpu", **how)
    for guide, specificity, exact in zip(found.guide, found.specificity, found.d0, strict=True):
        mine = hits[hits.pattern == guide]
        scores = np.nan_to_num(mine.cfd).tolist()
        scores.remove(max(scores[i] for i in np.flatnonzero(mine.distance == 0)))
        assert specificity == pytest.approx(1 / (1 + sum(scores)))
        assert exact == (mine.distance == 0).sum()


def drawn_guides(table):
    """Guides of 20 letters as best_first sees them: rows of specificity, `-` where it is undefined,
    of how many letters are G or C, and of counts."""
    rows = [line.split() for line in table.strip().splitlines()]
    specificity = [float("nan") if row[0] == "-" else float(row[0]) for row in rows]
    counts = [[int(cell) for cell in row[2:]] for row in rows]
    strong = np.array([int(row[1]) for row in rows])
    return SimpleNamespace(
        specificity=np.array(specificity),
        counts=np.array(counts),
        strong=strong,
        length=np.full(len(rows), 20),
    )


def test_the_best_guide_is_the_first():
    """By specificity, then by the sites without differences, with one, and so on, and then by the
    share of G and C: 9 and 11 of 20 letters are as near to a half."""
    guides = drawn_guides("""
        0.5   10  2  0  0
        -     10  1  0  0
        0.5   10  1  3  0
        0.5    8  1  2  9
        0.9    1  7  7  7
        0.5   11  1  2  9
        0.5   10  1  2  8
        -     10  1  0  1
        0.0   10  1  0  0
        0.5    9  1  2  9
        0.5   11  1  2  9
    """)
    assert best_first(guides).tolist() == [4, 6, 5, 9, 10, 3, 2, 0, 8, 1, 7]


def test_specificities_that_differ_by_the_order_of_a_sum_are_equal():
    """Which differ in the last digit, as 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 do."""
    for pair in (("0.5", "0.5000000000000001"), ("0.5000000000000001", "0.5")):
        guides = drawn_guides(f"{pair[0]} 5 1 0\n{pair[1]} 10 1 0")
        assert best_first(guides).tolist() == [1, 0]


def test_the_best_of_guides_without_a_specificity():
    """The guides of another nuclease go by their sites, and as in the target where these, and G and
    C, are as many."""
    parts = ["TTAGACGTCATG", "TTAGCCATTGAC", "TTAGAGTTCCAA", "TTAGTCGGATCA", "TTAGCGGTACTT"]
    target = "CC".join(parts)
    near = ["TTAGACGTCATC", "TTAGACGTCATC", "TTAGCCATTGAG"]  # the last letter differs
    again = parts[2]
    genome = kmatch.Genome.from_records([("r", "CC".join([target, *near, again]))])
    how = {"pam": "TTAG", "pam_side": "5p", "length": 8, "device": "cpu"}
    given = kmatch.Genome.from_records([("t", target)])
    every = kmatch.guides(given, genome, 1, **how)
    counts = dict(zip(every.guide.tolist(), zip(every.d0, every.d1, strict=True), strict=True))
    guides = [part[4:] for part in parts]
    assert [counts[guide] for guide in guides] == [(1, 2), (1, 1), (2, 0), (1, 0), (1, 0)]
    best = kmatch.guides(given, genome, 1, best=4, **how)
    assert np.isnan(best.specificity).all()
    assert best.guide.tolist() == [guides[number] for number in (3, 4, 1, 0)]


def test_guides_that_are_twice_in_the_target_are_searched_once():
    guide = "ACGTTGCA"
    target = kmatch.Genome.from_records([("r", f"{guide}TGG{guide}AGG")])
    found = find_guides(target, GuideOptions(1, length=8))
    panel, rows = distinct_guides(found)
    assert panel.sequences[rows[0]] == guide and rows[0] == rows[1]
    assert len(panel) == len(set(panel.sequences))


def test_a_guide_and_its_pam():
    for text, side, pam in (
        # guide    PAM
        ("ACGTTACA" "TGG", "3p", "NGG"),
        ("TTC" "ACGTTACA", "5p", "TTV"),
    ):  # fmt: skip
        target = kmatch.Genome.from_records([("r", text)])
        found = kmatch.guides(target, target, 0, length=8, pam=pam, pam_side=side, device="cpu")
        expected = ("ACGTTACA", text.replace("ACGTTACA", ""))
        assert (found.guide.tolist(), found.pam.tolist()) == ([expected[0]], [expected[1]])


def test_cas9_cuts_a_circle_behind_one_of_its_positions():
    """Wherever the circle is opened the cut is behind one of the positions 1 … n, never at 0.

    guide of 20 letters    PAM
    ACGTTGCATTACGATTCAGA   TGG
                     |
                     cut, 17 letters behind the start
    """
    guide, rest = "ACGTTGCATTACGATTCAGA", "TATATATCATT"
    circle = guide + "TGG" + rest
    n = len(circle)
    turns = [circle[first:] + circle[:first] for first in range(n)]
    plus = [(f"r{first}", turn) for first, turn in enumerate(turns)]
    minus = [(name, naive.reverse_complement(turn)) for name, turn in plus]
    for strand, records in (("+", plus), ("-", minus)):
        genome = kmatch.Genome.from_records(records)
        hits = kmatch.multi(genome, [guide], 0, pam="NGG", circular=True, device="cpu")
        assert hits.strand.tolist() == [strand] * n
        before = [(17 - first) % n for first in range(n)]  # letters before the cut on +
        if strand == "-":
            before = [(n - letters) % n for letters in before]
        assert hits.cut.tolist() == [letters or n for letters in before]
        assert n in hits.cut.tolist() and 1 in hits.cut.tolist()


MITO = Path(__file__).parents[1] / "examples/data/human_mito_rcrs.fa.gz"
TARGET = "CTAACAGTTGCTTTTATCAC"


@pytest.mark.parametrize(("report", "d1"), [("sites", 0), ("ends", 1)])
def test_a_target_is_one_site_of_its_guide(report, d1):
    """With AGGG behind a guide it has a second end in the same place. The specificity is that of
    sites, whatever is reported."""
    genome = kmatch.Genome.from_records([("c", "T" * 12 + TARGET + "AGGGTTTT")])
    how = {"max_deletions": 1, "report": report, "device": "cpu"}
    found = kmatch.guides(genome, genome, 3, **how)
    row = found.guide.tolist().index(TARGET)
    assert (found.d0[row], found.d1[row], found.specificity[row]) == (1, d1, 1)


def test_targets_in_the_mitochondrion_count_once():
    """695 of its guides reach their target from two PAMs, where a letter may be deleted."""
    genome = kmatch.Genome(MITO)
    ends, sites = (
        kmatch.guides(genome, genome, 1, max_deletions=1, report=report, device="cpu")
        for report in ("ends", "sites")
    )
    assert (ends.d1 > 0).sum() == 695
    assert (len(sites), (sites.d0 == 1).sum(), sites.d1.sum()) == (2193, 2193, 0)
    assert (sites.specificity == 1).all() and (ends.specificity == 1).all()


def test_specificities_of_edit_are_of_sites(tmp_path):
    (tmp_path / "g.fa").write_bytes(fasta([("c", "T" * 12 + TARGET + "AGGGTTTT")]))
    for report, total in (("sites", 1), ("ends", 2), ("minima", 1), ("loci", 1)):
        command = ("edit", tmp_path / "g.fa", "-p", TARGET, "-k", 1, "--pam", "NGG")
        outputs = ("--summary", tmp_path / "sum.tsv", "-o", tmp_path / "hits.tsv")
        assert here(*command, "--score", "cfd", "--report", report, *outputs).status == 0
        row = (tmp_path / "sum.tsv").read_text().splitlines()[-1].split("\t")
        assert row[-2:] == [str(total), "1"]


@pytest.mark.parametrize("is_piped", [False, True])
@pytest.mark.parametrize(("report", "total"), [("ends", 5), ("minima", 5), ("loci", 1)])
def test_specificities_count_sites_that_are_not_reported(report, total, is_piped, tmp_path):
    # genome      TTGGAGGAGGAGGAGGAGGAGGAGGAGGAGGAGGAGGATT
    # sites         [------------------][ ]
    #                  [------------------][ ]              and three more
    genome = fasta([("c", "TT" + 12 * "GGA" + "TT")])
    (tmp_path / "g.fa").write_bytes(genome)
    source = {"stdin": genome} if is_piped else {}
    path = "-" if is_piped else tmp_path / "g.fa"
    command = ("edit", path, "-p", 6 * "GGA" + "GG", "-k", 0, "--pam", "NGG", "--score", "cfd")
    done = here(*command, "--report", report, "--summary-only", **source)
    row = done.out.decode().splitlines()[-1].split("\t")
    assert row[-2:] == [str(total), "0.2"]  # 1 / (1 + 4)


def test_variants_are_read_again_for_specificities(tmp_path, monkeypatch):
    """Not out of a pipe; and the alleles that are listed are of the search that is reported."""
    monkeypatch.chdir(tmp_path)
    letters = "TT" + 6 * "GGAGGC" + "TT"
    Path("g.fa").write_bytes(fasta([("c", letters)]))
    sites = [(place, "C", ["A"], None) for place in range(8, 40, 6)]
    Path("v.vcf").write_text(vcf_of({"c": sites}, []))
    command = (
        "edit",
        "g.fa",
        "-p",
        6 * "GGA" + "GG",
        "-k",
        2,
        "--pam",
        "NGG",
        "--report",
        "minima",
    )
    command += ("--max-haplotypes", 1, "--score", "cfd")
    plain = here(*command, "--variants", "v.vcf", "--dense-groups", "plain.tsv")
    summed = here(
        *(*command, "--variants", "v.vcf", "--dense-groups", "summed.tsv", "--summary", "sum.tsv")
    )
    assert (plain.status, summed.status, summed.err) == (0, 0, plain.err)
    assert b"combinations" in plain.err and summed.out == plain.out
    assert Path("summed.tsv").read_text() == Path("plain.tsv").read_text()
    piped = here(*command, "--variants", "-", "--summary-only", stdin=Path("v.vcf").read_bytes())
    assert piped.status == 1 and b"a pipe cannot be read twice; give a file" in piped.err


def test_names_count_the_guides_of_a_gene_or_record(files):
    """In the order of the target, before the best are chosen."""
    target = files / "target.fa"
    how = {"annotate": files / "genes.bed", "device": "cpu"}
    found = kmatch.guides(target, files / "genome.fa", 2, **how)
    seen = Counter()
    expected = []
    for gene in found.gene:
        label = gene.split(",")[0]
        seen[label] += 1
        expected.append(f"{label}_{seen[label]}")
    assert found.name.tolist() == expected and len(seen) == 2
    names = dict(zip(zip(found.start, found.strand, strict=True), expected, strict=True))
    best = kmatch.guides(target, files / "genome.fa", 2, best=5, **how)
    assert best.name.tolist() == [names[row] for row in zip(best.start, best.strand, strict=True)]
    plain = kmatch.guides(target, files / "genome.fa", 2, device="cpu")
    assert plain.name.tolist() == [f"gene_{number}" for number in range(1, len(plain) + 1)]


def test_four_t_end_transcription():
    guides = ["ACTTTTGA", "TTTTACGA", "ACGATTTT", "TTTACGTT", "ACGTACGA"]
    target = kmatch.Genome.from_records([("r", "C".join(f"{guide}AGG" for guide in guides))])
    found = kmatch.guides(target, target, 0, length=8, device="cpu")
    flags = dict(zip(found.guide.tolist(), found.tttt.tolist(), strict=True))
    assert [flags[guide] for guide in guides] == [1, 1, 1, 0, 0]
    assert found.tttt.tolist() == [int("TTTT" in guide) for guide in found.guide]


def test_sites_of_the_best_guides(files, tmp_path):
    """The genome is searched again for these, with the columns of annotation too."""
    command = ("guides", files / "target.fa", files / "genome.fa", "-k", 3)
    annotate = ("--annotate", files / "genes.bed")
    every_output = ("--hits", tmp_path / "all.tsv", "-o", tmp_path / "all_guides.tsv")
    assert here(*command, *annotate, *every_output).status == 0
    best_output = ("--hits", tmp_path / "best.tsv", "-o", tmp_path / "guides.tsv")
    assert here(*command, *annotate, "--best", 4, *best_output).status == 0
    guides = {line.split("\t")[3] for line in (tmp_path / "guides.tsv").read_text().splitlines()}
    header, *every = (tmp_path / "all.tsv").read_text().splitlines()
    assert header.split("\t")[-3:] == ["cfd", "gene", "region"]
    wanted = [line for line in every if line.split("\t")[3] in guides]
    assert (tmp_path / "best.tsv").read_text().splitlines() == [header, *wanted]
    assert 4 <= len(wanted) < len(every)


@pytest.mark.parametrize("name", NUCLEASES)
def test_a_nuclease_sets_pam_side_and_length(name, files):
    nuclease = NUCLEASES[name]
    paths = files / "target.fa", files / "genome.fa"
    found = kmatch.guides(*paths, 2, nuclease=name, device="cpu")
    how = {"pam": nuclease.pam, "pam_side": nuclease.side, "device": "cpu"}
    same = kmatch.guides(*paths, 2, length=nuclease.length, **how)
    assert rows(found) == rows(same) and found.d2.tolist() == same.d2.tolist()
    assert np.isnan(found.specificity).all() == (name != "cas9")
    guide = found.guide[0]
    hits = kmatch.multi(paths[1], guide, 2, nuclease=name, device="cpu")
    assert hits.match.tolist() == kmatch.multi(paths[1], guide, 2, **how).match.tolist()


def test_nucleases_that_cannot_be():
    genome = kmatch.Genome.from_records([("c", "T" * 12 + TARGET + "AGGGTTTT")])
    with pytest.raises(InputError, match=r"unknown nuclease 'cas13'; use cas9, .* or casx"):
        kmatch.guides(genome, genome, 1, nuclease="cas13")
    for given in ({"pam": "NGG"}, {"pam_side": "3p"}, {"length": 20}):
        with pytest.raises(InputError, match="leave one of them out"):
            kmatch.guides(genome, genome, 1, nuclease="cas9", **given)
    with pytest.raises(InputError, match="the score mit is for sites of SpCas9"):
        kmatch.guides(genome, genome, 1, nuclease="cas12a", score="mit")
    with pytest.raises(InputError, match="the score cfd is for sites of SpCas9"):
        kmatch.edit(genome, TARGET, 1, nuclease="cas9-vqr", score="cfd")


def test_pams_that_cas9_does_not_know_have_no_specificity(files):
    for pam, is_known in (("NGG", True), ("NGA", True), ("NGN", False), ("NAA", False)):
        found = kmatch.guides(files / "target.fa", files / "genome.fa", 2, pam=pam, device="cpu")
        assert np.isfinite(found.specificity).all() == is_known
        assert np.isnan(found.specificity).all() != is_known
