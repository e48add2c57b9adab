"""Packed genomes that are cut, changed or of a newer version: an error that names the file."""

import struct
from zlib import crc32

import pytest
from support.commands import here, random_letters
from support.packing import packed

from kmatch.packed.writer import HEADER, MAGIC, SPARE, VERSION

TEXT = [("first", random_letters(5000)), ("second", "ACGTN" * 30)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a packed genome of three chunks."""
    path = tmp_path_factory.mktemp("whole") / "genome"
    file = packed(TEXT, length=2000, halo=64).file
    assert len(file.lengths) == 3
    path.write_bytes(file._map[:])
    assert found(path)[0] == 0
    return path.read_bytes()


def found(path):
    result = here("hamming", path, "-p", "ACGTNACGTN", "-k", 2)
    return result.status, result.out, result.err


def refused(path):
    """The error of a search, of one line that names the file."""
    status, _, error = found(path)
    assert status == 1 and error.count(b"\n") == 1
    assert error.startswith(f"kmatch: error: {path}: ".encode())
    return error


def test_cut(whole, tmp_path):
    places = {len(HEADER) - 1, len(HEADER), len(whole) - 1, *range(20, len(whole), 2999)}
    for place in sorted(places):
        path = tmp_path / "cut"
        path.write_bytes(whole[:place])
        assert b"is cut" in refused(path)


def test_longer(whole, tmp_path):
    (tmp_path / "longer").write_bytes(whole + b"\n")
    assert b"is cut or damaged" in refused(tmp_path / "longer")


def test_any_byte_changed(whole, tmp_path):
    index = len(whole) - 900
    places = {*range(len(HEADER)), *range(len(HEADER), index, 997), *range(index, len(whole), 7)}
    path = tmp_path / "changed"
    for place in sorted(places):
        path.write_bytes(
            whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :]
        )
        assert refused(path)
    assert b"in its chunk" in refused_at(whole, len(HEADER) + 5, path)


def refused_at(whole, place, path):
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
    return refused(path)


def test_damage_is_found_without_hits_and_in_every_command(whole, tmp_path):
    path = tmp_path / "changed"
    refused_at(whole, len(whole) // 2, path)
    for command in ("hamming", "multi", "edit", "best"):
        k = () if command == "best" else ("-k", 0)
        result = here(command, path, "-p", "A" * 40, *k)
        assert result.status == 1 and b"is damaged in its chunk 1" in result.err
    result = here("pack", path, "-o", tmp_path / "again")
    assert result.status == 1 and not (tmp_path / "again").exists()


def test_a_newer_version(whole, tmp_path):
    at = whole.index(bytes([VERSION, 0, 0, 0]))
    (tmp_path / "newer").write_bytes(whole[:at] + bytes([VERSION + 1]) + whole[at + 1 :])
    assert b"of version 2, and this kmatch reads version 1; use a newer" in refused(
        tmp_path / "newer"
    )


TAIL = struct.Struct(f"<QII{len(MAGIC)}s")
NO_PLACE = (3, 7)  # numbers of the index that lead nowhere: the gap, and one that is not used


@pytest.mark.parametrize("number", [-1, 1, 1 << 31, 1 << 61, -(1 << 62)])
def test_an_index_with_a_right_checksum_is_not_believed(whole, tmp_path, number):
    end = len(whole) - TAIL.size
    begin, _, version, magic = TAIL.unpack(whole[end:])
    path = tmp_path / "forged"
    for place in range(begin + SPARE, end - 11, 8):
        field = (place - begin - SPARE) // 8
        changed = whole[:place] + struct.pack("<q", number) + whole[place + 8 : end]
        tail = TAIL.pack(begin, crc32(changed[begin:]), version, magic)
        path.write_bytes(changed + tail)
        if found(path)[0]:
            refused(path)
        else:
            assert number == 1 or field in NO_PLACE or changed == whole[:end]
