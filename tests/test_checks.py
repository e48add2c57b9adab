"""Searches that are likely not what was meant are told."""

import pytest
from support.commands import failed, fasta, here, random_letters

LETTERS = random_letters(3_000)
GUIDES = ("ACGTTACGTTACGTTACGTT", "GGATCCTTAACGATCGATTA")


@pytest.fixture
def genome(tmp_path):
    path = tmp_path / "genome.fa"
    path.write_bytes(fasta([("chr1", LETTERS), ("chr2", LETTERS[:40])]))
    return path


def panel(*patterns):
    return [word for pattern in patterns for word in ("-p", pattern)]


def beside(letters, pam, side):
    return pam + letters if side == "5p" else letters + pam


@pytest.mark.parametrize("pam, here_too", [("NGG", "TGG"), ("TTTV", "TTTA"), ("NNGRRT", "ACGRRT")])
@pytest.mark.parametrize("side", ["3p", "5p"])
def test_the_pam_is_asked_for_once(genome, pam, here_too, side):
    options = ("-k", 2, "--pam", pam, "--pam-side", side)
    twice = [beside(guide, here_too, side) for guide in GUIDES]
    end = "begin" if side == "5p" else "end"
    failed(here("multi", genome, *panel(*twice), *options), f"2 patterns {end}", pam)
    single = here("multi", genome, *panel(twice[0]), *options)
    assert single.status == 0
    assert single.err.startswith(b"kmatch: warning: pattern ") and b"with the PAM" in single.err
    assert here("multi", genome, *panel(twice[0]), *options, "-q").err == b""
    other = "3p" if side == "5p" else "5p"
    for right in (GUIDES, (twice[0], beside(GUIDES[1], here_too, other))):
        assert here("multi", genome, *panel(*right), *options).err == b""


def test_a_pam_that_any_letter_is(genome):
    assert here("multi", genome, *panel(*GUIDES), "-k", 2, "--pam", "N").err == b""


@pytest.mark.parametrize("command", ["hamming", "multi"])
@pytest.mark.parametrize("option", ["--exact-5p", "--exact-3p"])
def test_an_exact_end_is_part_of_the_pattern(genome, command, option):
    words = (command, genome, "-p", "ACGTTGACCA", "-k", 1, option)
    assert here(*words, 10).status == 0
    failed(here(*words, 11), "'ACGTTGACCA'", "10 letters", f"{option} 11")


@pytest.mark.parametrize("command", ["hamming", "multi", "edit", "best"])
@pytest.mark.parametrize("packed", [False, True])
def test_patterns_longer_than_every_record(tmp_path, genome, command, packed):
    text = tmp_path / "text.fa"
    text.write_bytes(fasta([("a", LETTERS[:50]), ("b", LETTERS[100:160]), ("empty", "")]))
    if packed:
        assert here("pack", text).status == 0
        text = f"{text}.kmatch"
    k = () if command == "best" else ("-k", 1)
    options = ("-p", LETTERS[:61], "-p", LETTERS[1:62], *k)
    said = here(command, text, *options).err.decode()
    assert said.startswith(f"kmatch: warning: pattern '{LETTERS[:61]}' of 61 letters, and 1 more")
    assert f"every record of {text}, at most 60; are genome and patterns exchanged?" in said
    assert said.count("exchanged?") == 1
    assert here(command, text, *options, "-q").err == b""
    for enough in (LETTERS[100:160], LETTERS[:50]):
        assert b"exchanged" not in here(command, text, "-p", enough, *k).err
    assert b"exchanged" not in here(command, genome, *options).err


def test_a_genome_of_many_chunks_has_long_records(tmp_path):
    path = tmp_path / "long.fa"
    path.write_bytes(fasta([("a", LETTERS), ("b", random_letters(400_000))]))
    assert here("hamming", path, "-p", LETTERS * 2, "-k", 1).err == b""


def test_exchanged_files(tmp_path, genome):
    (tmp_path / "guides.fa").write_bytes(fasta([(f"g{i}", g) for i, g in enumerate(GUIDES)]))
    for text in (tmp_path / "guides.fa", "-"):
        said = here("hamming", text, genome, "-k", 1, stdin=(tmp_path / "guides.fa").read_bytes())
        assert (said.status, said.out) == (0, b"")
        assert b"'chr1' of 3,000 letters" in said.err and said.err.count(b"exchanged?") == 1


def test_exchanged_files_are_told_before_the_search(tmp_path, genome, monkeypatch):
    (tmp_path / "guides.fa").write_bytes(fasta([("g", GUIDES[0])]))
    monkeypatch.setattr("kmatch.search.best.choose_algorithm", None)
    said = here("best", tmp_path / "guides.fa", genome).err
    assert said.index(b"exchanged?") < said.index(b"kmatch: error: a defect")
