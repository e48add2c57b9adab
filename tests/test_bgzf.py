"""BGZF that threads inflate gives the records and the errors that it gives in turn."""

import gzip
from itertools import accumulate, pairwise

import pytest
from support.commands import blocked, compressed, fasta, random_letters

from kmatch.engine.workers import Workers
from kmatch.errors import InputError
from kmatch.results.bgzf import block_of
from kmatch.sequences import bgzf
from kmatch.sequences.others import read_parts
from kmatch.sequences.parts import FilePart
from kmatch.sequences.records import in_turn, whole_records

FASTA = fasta([("one", random_letters(150)), ("two >2", random_letters(90, 2))])
TEXTS = [FASTA[start : start + 20] for start in range(0, len(FASTA), 20)]
BLOCKS = [block_of(text) for text in TEXTS]
END = block_of(b"")
DATA = b"".join(BLOCKS) + END


@pytest.fixture(autouse=True)
def few_blocks(monkeypatch):
    """Have three blocks inflated at once, and blocks of small files too."""
    monkeypatch.setattr("kmatch.sequences.bgzf.BLOCKS", 3)
    monkeypatch.setattr("kmatch.sequences.files._SMALL", 1)
    monkeypatch.setattr("kmatch.sequences.fasta.BLOCK", 32)


def read(path, ahead):
    """The records of a file, as (name, letters), and what its error says."""
    records = []
    try:
        for name, letters in whole_records(read_parts(path, ahead=ahead)):
            records.append((name, bytes(letters)))
    except InputError as error:
        return records, str(error)
    return records, None


def read_alike(path, data):
    """What is read, which is the same by threads and in turn."""
    path.write_bytes(data)
    found = read(path, Workers(2).ahead)
    assert found == read(path, in_turn)
    return found


def test_blocks_are_inflated_by_threads(tmp_path):
    """All but the last ones, behind which no other block is:

    blocks     0 1 2 | 3 4 5 | … | 12 13      and the empty one
    threads    ^^^^^   ^^^^^   …
    """
    path = tmp_path / "blocks"
    path.write_bytes(DATA)
    with open(path, "rb", buffering=0) as file:
        calls = list(bgzf._calls(FilePart(file, "blocks", 0, len(DATA))))
        stretches = [call() for call in calls]
    assert len(BLOCKS) == 13
    bounds = [0, *accumulate(map(len, BLOCKS))]
    sizes = [bounds[first + 3] - bounds[first] for first in (0, 3, 6, 9)]
    texts = [b"".join(TEXTS[first : first + 3]) for first in (0, 3, 6, 9)]
    assert stretches == list(zip(sizes, texts, strict=True))


def test_a_file_cut_anywhere(tmp_path):
    records, error = read_alike(tmp_path / "data", DATA)
    assert [name for name, _ in records] == ["one", "two"] and error is None
    whole = {0, *accumulate(map(len, BLOCKS)), len(DATA)}
    for size in range(len(BLOCKS[0]), len(DATA) + 1):
        _, error = read_alike(tmp_path / "data", DATA[:size])
        assert (error is None) == (size in whole)
        assert size in whole or "the compressed file is truncated" in error


@pytest.mark.parametrize("bit", [0, 2, 7])
def test_any_byte_damaged(tmp_path, bit):
    errors = set()
    for place in range(len(DATA)):
        data = bytearray(DATA)
        data[place] ^= 1 << bit
        errors.add(read_alike(tmp_path / "data", data)[1])
    assert len(errors) > 3 and None in errors  # of fields that are not looked at


@pytest.mark.parametrize("damaged", range(len(BLOCKS)))
def test_a_sum_that_is_wrong(tmp_path, damaged):
    block = bytearray(BLOCKS[damaged])
    block[-8] ^= 1
    blocks = [*BLOCKS[:damaged], bytes(block), *BLOCKS[damaged + 1 :], END]
    _, error = read_alike(tmp_path / "data", b"".join(blocks))
    assert "data: damaged" in error


BEHIND = {
    "gzip": gzip.compress(b">three\nACGT\n"),
    "BGZF": blocked(b">three\nACGT\n", 3),
    "zeros": bytes(70),
    "zeros and BGZF": bytes(7) + blocked(b">three\nACGT\n", 3),
    "empty blocks": END * 9,
    "empty blocks and BGZF": END * 9 + blocked(b">three\nACGT\n", 3),
    "a large block": compressed("bgzf", b">three\n" + b"ACGT" * 5_000),
    "a block that holds too much": block_of(b">three\n" + b"A" * 100_000) + END * 9,
    "garbage": b"$i is here",
    "a header": END[:18],
    "blocks and garbage": blocked(b">three\nACGT\n", 3) + b"$i is here",
    "a block that is longer than it says": END[:16] + b"\x10" + END[17:] + END * 9,
    "a block that is shorter than it says": END[:16] + b"\x1e" + END[17:] + b"..." + END * 9,
}


@pytest.mark.parametrize("name", BEHIND)
def test_what_follows(tmp_path, name):
    records, error = read_alike(tmp_path / "data", DATA + BEHIND[name])
    if name in ("garbage", "a header", "blocks and garbage") or "shorter" in name:
        assert "damaged: what follows" in error or "truncated" in error
    else:
        assert error is None
        others = name == "empty blocks" or name == "zeros" or "longer" in name
        assert [name for name, _ in records] == ["one", "two", "three"][: 3 - others]


def test_no_empty_block_at_the_end(tmp_path):
    records, error = read_alike(tmp_path / "data", b"".join(BLOCKS))
    assert len(records) == 2 and error is None


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 5, 7, 64])
def test_lines_across_blocks(tmp_path, size, line_end):
    found = read_alike(tmp_path / "data", blocked(FASTA.replace(b"\n", line_end), size))
    assert found == read_alike(tmp_path / "data", FASTA)
    assert [len(letters) for _, letters in found[0]] == [150, 90]


def test_progress(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(DATA)
    heard = []
    list(read_parts(path, on_progress=lambda *read: heard.append(read), ahead=Workers(2).ahead))
    assert all(before <= after for (before, _), (after, _) in pairwise(heard))
    assert heard[-1] == (len(DATA), len(DATA))
