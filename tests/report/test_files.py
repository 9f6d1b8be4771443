"""Where reports are written: refused before the run is read, and no failure hides what was read."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import EXAMPLES

from leadline.cli import main
from leadline.errors import CannotWrite
from leadline.report.files import check_file, make_folder, write_whole

HEALTHY = ["read", str(EXAMPLES / "healthy"), "--until", "30"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--html", "nowhere/x.html"], "nowhere doesn't exist"),
        (["--md", "nowhere/x.md"], "nowhere doesn't exist"),
        (["--html", "folder"], "not a regular file"),
        (["--html", "-"], "needs a file name"),
        (["--html", "x" * 300], "name too long"),
    ],
)
def test_a_bad_target_is_refused_before_the_run_is_read(
    options: list[str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file").touch()
    assert main(["read", "there is no such run", *options]) == 2  # 3 would be said of the run
    told = capsys.readouterr()
    assert says in told.err.lower()
    assert told.out == ""
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file", "folder"]


def test_a_full_disk_does_not_hide_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(self: Path, other: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert main([*HEALTHY, "--html", str(tmp_path / "x.html")]) == 2
    told = capsys.readouterr()
    assert told.out.startswith("CONTINUE")
    assert "No space left on device" in told.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    write_whole(tmp_path / "a" / "b" / "x", b"x")
    check_file(tmp_path / "a" / "b" / "x")  # a report may be written again
    with pytest.raises(CannotWrite, match="Not a directory"):
        make_folder(tmp_path / "a" / "b" / "x" / "y")


def test_a_folder_that_is_closed_to_us_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda folder, how: False)  # root may write anywhere
    with pytest.raises(CannotWrite, match=f"no permission to write in {tmp_path}"):
        check_file(tmp_path / "x")
