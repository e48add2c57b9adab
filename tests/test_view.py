"""Hits for eyes."""

import pytest
from support.commands import fasta, here

TEXT = "GGTACGTTGCAGGTTTTTTCCTGCAATGG"
VIEW = """\
one:3-13 + a, distance 1
pattern    AC-TTGCAGR
           || |||||||
text    ggtACGTTGCAGGttttt

one:19-27 - a, distance 1
pattern   ACTTGCAGR
          | |||||||
text    ccA-TTGCAGGaaaaa

"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.fa").write_bytes(fasta([("one", TEXT)]))
    (tmp_path / "p.txt").write_text("a\tACTTGCAGR\n")
    return tmp_path


SEARCH = ("edit", "g.fa", "p.txt", "-k", 1, "--format", "view")


def test_by_hand(folder):
    assert here(*SEARCH) == (0, VIEW.encode(), b"")
    assert here(*SEARCH, "-o", "hits.txt") == (0, b"", b"")
    assert (folder / "hits.txt").read_text() == VIEW


def test_nothing_is_around_in_a_pipe(folder):
    result = here("edit", "-", *SEARCH[2:], stdin=(folder / "g.fa").read_bytes())
    lines = result.out.decode().splitlines()
    assert lines[1:4] == ["pattern AC-TTGCAGR", "        || |||||||", "text    ACGTTGCAGG"]


@pytest.mark.parametrize("side, pam, place", [("3p", "GNT", "6-14"), ("5p", "TAC", "2-9")])
def test_a_pam_is_shown_as_it_stands(folder, side, pam, place):
    begin, end = map(int, place.split("-"))
    whole = TEXT[begin:end]
    core = whole[:-3] if side == "3p" else whole[3:]
    words = ("-p", core, "-k", 0, "--pam", pam, "--pam-side", side, "--strand", "+")
    result = here("multi", "g.fa", *words, "--format", "view", "-q")
    assert f"one:{place} + {core}, distance 0\n" in result.out.decode()
    assert f"\npattern {' ' * min(begin, 5)}{whole}\n" in result.out.decode()
