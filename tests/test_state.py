"""Files that are replaced as a whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from leadline.state import replacing


def test_a_file_gets_the_bytes_as_they_are_and_the_mode_that_the_umask_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "open")  # it translates ends of lines on Windows, if it is not told that these are bytes
    place = tmp_path / "picture.png"
    place.write_bytes(b"old")
    with replacing(place) as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        assert place.read_bytes() == b"old"
    assert place.read_bytes() == b"\x89PNG\r\n\x1a\n"
    os.umask(mask := os.umask(0))
    assert stat.S_IMODE(place.stat().st_mode) == 0o666 & ~mask
    assert list(tmp_path.iterdir()) == [place]


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    def fail(place: Path) -> None:
        with replacing(place) as file:
            file.write(b"half")
            raise OSError("the disk is full")

    place = tmp_path / ("a" * 250)  # nearly as long as a name may be
    place.write_bytes(b"old")
    with pytest.raises(OSError, match="full"):
        fail(place)
    assert place.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [place]
