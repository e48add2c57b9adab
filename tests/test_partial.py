"""Files that take their place when they are whole."""

import os
import stat
from contextlib import contextmanager

import pytest

from kmatch.errors import OutputError
from kmatch.results.output import open_output


def write(path, data=b"new\n"):
    with open_output(path) as handle:
        handle.write(data)


@contextmanager
def mask(bits):
    before = os.umask(bits)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
@pytest.mark.parametrize("name", ["hits.bed", "hits.bed.gz"])
def test_a_replaced_file_keeps_its_mode(tmp_path, name, mode):
    path = tmp_path / name
    path.write_bytes(b"old\n")
    path.chmod(mode)
    with mask(0o022), open_output(path) as handle:
        (partial,) = tmp_path.glob("*.partial")
        assert stat.S_IMODE(partial.stat().st_mode) == mode  # at no time more may read it
        handle.write(b"new\n")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_follows_the_umask(tmp_path):
    with mask(0o027):
        write(tmp_path / "hits.bed")
    assert stat.S_IMODE((tmp_path / "hits.bed").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_replaced_file_keeps_its_owner(tmp_path):
    path = tmp_path / "hits.bed"
    path.write_bytes(b"old\n")
    os.chown(path, 1234, 2345)
    write(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)
    assert path.read_bytes() == b"new\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_another_group_may_not_read_what_the_old_one_might(tmp_path, monkeypatch):
    path = tmp_path / "hits.bed"
    path.write_bytes(b"old\n")
    os.chown(path, -1, 2345)
    monkeypatch.setattr(os, "fchown", lambda *_: os.stat(tmp_path / "nothing"))
    for mode, left in ((0o640, 0o600), (0o664, 0o644), (0o660, 0o600)):
        path.chmod(mode)
        os.chown(path, -1, 2345)
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == left


@pytest.mark.parametrize("name", ["n" * 255, "n" * 251 + ".bed", "ü" * 127, "n" * 248 + ".tsv.gz"])
def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path, name):
    write(tmp_path / name)
    write(tmp_path / name)
    assert os.listdir(tmp_path) == [name]


def test_a_name_that_is_too_long_is_an_error(tmp_path):
    with pytest.raises(OutputError, match="too long"):
        write(tmp_path / ("n" * 256))
    assert os.listdir(tmp_path) == []


def test_what_a_running_process_writes_is_left_alone(tmp_path):
    path = tmp_path / "hits.bed"
    with open_output(path) as first:
        first.write(b"first\n")
        write(path, b"second\n")
        assert path.read_bytes() == b"second\n"
    assert path.read_bytes() == b"first\n"
    assert os.listdir(tmp_path) == ["hits.bed"]


@pytest.mark.parametrize("name", ["hits.bed", "hits.bed.gz"])
def test_what_else_fails_is_not_the_output(tmp_path, name):
    for error in (OSError(28, "No space left on device"), ImportError("no"), RuntimeError("no")):
        with pytest.raises(type(error)) as raised, open_output(tmp_path / name) as handle:
            handle.write(b"half of it")
            raise error
        assert raised.value is error
        assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_of_two_outputs_the_one_that_is_full_is_reported(tmp_path):
    for size in (10, 1 << 20):
        with (
            pytest.raises(OutputError, match=r"/dev/full: .*No space"),
            open_output(tmp_path / "hits.bed") as hits,
            open_output("/dev/full") as full,
        ):
            hits.write(b"x" * size)
            full.write(b"x" * size)
        assert os.listdir(tmp_path) == []
