"""Several genomes: each is searched as if alone, in the order given, and named in a column."""

import os

import naive
import pytest
from support.commands import fasta, here, misused, random_letters

import kmatch

PATTERN = "ACGTTGCATTAGCCAGTACT"
SITE = naive.reverse_complement(PATTERN)
TEXTS = [PATTERN + "ACA", random_letters(70), "", SITE, PATTERN[:9] + "A" + PATTERN[10:]]
FILES = [[("r", text), ("s", "ACGTAC")] for text in TEXTS]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of genomes, one of them packed, and a list of them."""
    monkeypatch.chdir(tmp_path)
    for number, records in enumerate(FILES):
        (tmp_path / f"g{number}.fa").write_bytes(fasta(records))
    assert here("pack", "g3.fa", "-o", "g3.kmatch").status == 0
    (tmp_path / "list").write_text("# genomes\n\n" + "\n".join(NAMES) + "\n")
    return tmp_path


NAMES = ["g0.fa", "g1.fa", "g2.fa", "g3.kmatch", "g4.fa"]
ONE = ("-p", PATTERN, "-k", 1)


@pytest.mark.parametrize("name", ["g1.fa", "list", "./g3.kmatch"])
def test_no_output_is_one_of_them(folder, name):
    os.link(name, "linked.bed")
    before = (folder / name).read_bytes()
    misused(here("hamming", "@list", *ONE, "-o", "linked.bed"), "is read")
    assert (folder / name).read_bytes() == before


def test_progress_goes_over_the_list(folder):
    heard = []
    kmatch.hamming("@list", [PATTERN], 0, on_progress=lambda *sizes: heard.append(sizes))
    total = sum(os.path.getsize(name) for name in NAMES)
    assert {size for _, size in heard} == {total}
    consumed = [done for done, _ in heard]
    assert consumed == sorted(consumed) and consumed[-1] == total and len(heard) >= 5
