"""Outputs never take the place of inputs or of each other, and their suffix names a format."""

import os
from pathlib import Path

import pytest
from support.commands import fasta, here, process, random_letters, shell

GENOME = fasta([("chr1", random_letters(3_000))])
PANEL = b"a\tACGTTGC\nb\tTTGACCA\n"
COMMANDS = {
    "hamming": ("genome.fa", "patterns.txt", "-k", 1),
    "multi": ("genome.fa", "patterns.txt", "-k", 1),
    "edit": ("genome.fa", "patterns.txt", "-k", 1),
    "best": ("genome.fa", "patterns.txt"),
    "pcr": ("genome.fa", "patterns.txt", "-k", 1),
    "primer": ("genome.fa", "patterns.txt", "-k", 2),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "genome.fa").write_bytes(GENOME)
    (tmp_path / "patterns.txt").write_bytes(PANEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(result, *words):
    message = result.err.decode()
    assert (result.status, result.out) == (2, b""), message
    for word in words:
        assert word in message
    assert Path("genome.fa").read_bytes() == GENOME
    assert Path("patterns.txt").read_bytes() == PANEL


def other_name(path, way):
    if way == "hard link":
        os.link(path, "other.bed")
    elif way == "symbolic link":
        os.symlink(path, "other.bed")
    else:
        return {"itself": path, "another path": f"../{os.path.basename(os.getcwd())}/{path}"}[way]
    return "other.bed"


WAYS = ("itself", "another path", "hard link", "symbolic link")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("read", ["genome.fa", "patterns.txt"])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_input_is_not_written(command, read, way):
    os.rename(read, f"{read}.bed")
    os.symlink(f"{read}.bed", read)
    name = other_name(f"{read}.bed", way)
    refused(here(command, *COMMANDS[command], "-o", name), "-o", "is read")


@pytest.mark.parametrize(
    "command, option", [("multi", "--summary"), ("primer", "--regions"), ("bench", "--json")]
)
@pytest.mark.parametrize("way", WAYS)
def test_nor_by_other_options(command, option, way):
    words = COMMANDS.get(command, ("--genome", "genome.fa", "hamming", "--size", 1000))
    refused(here(command, *words, option, other_name("genome.fa", way)), option, "is read")


@pytest.mark.parametrize("way", WAYS)
def test_pack_does_not_replace_its_genome(way):
    refused(here("pack", "genome.fa", "-o", other_name("genome.fa", way)), "is read")
    os.symlink("genome.fa", "genome.fa.kmatch")
    refused(here("pack", "genome.fa"), "is read")


@pytest.mark.parametrize(
    "genome, streams",
    [
        ("-", "-o genome.fa.bed < genome.fa"),
        ("-", "< genome.fa >> genome.fa"),
        ("genome.fa", "1<> genome.fa"),
    ],
)
def test_standard_streams_count(genome, streams):
    os.link("genome.fa", "genome.fa.bed")
    refused(shell(f'"$@" {streams}', "hamming", genome, "patterns.txt", "-k", 1), "is read")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("command, option", [("multi", "--summary"), ("primer", "--regions")])
def test_two_outputs_are_two_files(command, option, way):
    Path("out.bed").touch()
    words = (*COMMANDS[command], "-o", "out.bed", option, other_name("out.bed", way))
    refused(here(command, *words), "-o", option, "the same file")
    assert os.path.getsize("out.bed") == 0


@pytest.mark.parametrize("command, option", [("multi", "--summary"), ("primer", "--regions")])
def test_two_outputs_that_are_not_there_yet(command, option):
    words = (*COMMANDS[command], "-o", "out.bed", option, "./out.bed")
    refused(here(command, *words), "the same file")
    refused(here(command, *COMMANDS[command], option, "-"), "the same file")


def test_devices_take_any_number_of_outputs():
    nowhere = ("-o", "/dev/null", "--summary", "/dev/null")
    assert here("multi", *COMMANDS["multi"], *nowhere) == (0, b"", b"")
    assert shell('"$@" > /dev/null', "multi", *COMMANDS["multi"], *nowhere).status == 0
    assert process("hamming", "/dev/stdin", "-p", "ACGT", "-k", 1, stdin=GENOME).status == 0
    script = 'cat patterns.txt | "$@" | cat; exit ${PIPESTATUS[1]}'
    assert shell(script, "hamming", "genome.fa", "-", "-k", 1).status == 0


@pytest.mark.parametrize("name", ["hits.csv", "hits.csv.gz", "hits.bam", "hits.tsv.bz2", "a.chr1"])
@pytest.mark.parametrize("form", [(), ("--format", "bed")])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_suffix_that_names_no_format(command, name, form):
    refused(here(command, *COMMANDS[command], "-o", name, *form), name, ".tsv")
    assert not os.path.exists(name)


def test_a_device_or_pipe_may_have_any_suffix():
    os.symlink("/dev/null", "null.csv")
    assert here("hamming", *COMMANDS["hamming"], "-o", "null.csv") == (0, b"", b"")


def test_nothing_is_read_before_usage_is_right():
    words = ("missing.fa", "missing.txt", "-k", 1)
    assert here("hamming", *words, "-o", "hits.csv").status == 2
    assert here("multi", *words, "-o", "a.bed", "--summary", "a.bed").status == 2
    assert here("hamming", *words, "-o", "missing.txt").status == 2


@pytest.mark.parametrize("command", ["primer", "pcr"])
@pytest.mark.parametrize("name", ["hits.sam", "hits.gff3", "hits.gff.gz"])
def test_formats_of_hits_are_no_others(command, name):
    refused(here(command, *COMMANDS[command], "-o", name), name, ".tsv")
