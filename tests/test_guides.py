"""`kmatch guides` and `kmatch.guides`, against plain enumeration."""

import random
from collections import Counter

import naive_scores
import numpy as np
import pytest
from support.commands import fasta, random_letters

import kmatch
from kmatch.errors import InputError

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
    search, how = (kmatch.edit, how) if any(bulges) else (kmatch.multi, {})
    guides = list(dict.fromkeys(found.guide.tolist()))
    hits = search(genome, guides, 3, pam="NGG", score="cfd", device="cpu", **how)
    for guide, specificity, exact in zip(found.guide, found.specificity, found.d0, strict=True):
        mine = hits[hits.pattern == guide]
        scores = np.nan_to_num(mine.cfd).tolist()
        scores.remove(max(scores[i] for i in np.flatnonzero(mine.distance == 0)))
        assert specificity == pytest.approx(1 / (1 + sum(scores)))
        assert exact == (mine.distance == 0).sum()
