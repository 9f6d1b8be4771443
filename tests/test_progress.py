"""How far a reading is: told while files are read and curves are fitted, to whoever listens."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from conftest import EXAMPLES, verl_bytes

from leadline.pipeline import read
from leadline.progress import heard_by, tell
from leadline.report.progress import each, progress_bar

LONG = verl_bytes([(step, {"critic/score/mean": step / 7}) for step in range(1, 200_000)])  # more than one block


def heard(path: Path) -> list[tuple[str, int, int]]:
    told: list[tuple[str, int, int]] = []
    with heard_by(lambda *one: told.append(one)):
        read(path, until=50)
    return told


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_followed_to_its_end(packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leadline.sources.text.BLOCK", 1 << 18)  # what is packed is smaller than one block
    path = tmp_path / ("metrics.jsonl.gz" if packed else "metrics.jsonl")
    path.write_bytes(gzip.compress(LONG, 1) if packed else LONG)
    shares = [(done, of) for what, done, of in heard(path) if what == f"reading {path.name}"]
    assert len(shares) > 1
    assert [done for done, _ in shares] == sorted(done for done, _ in shares)
    assert shares[-1] == (path.stat().st_size, path.stat().st_size)


def test_curves_are_counted() -> None:
    fitted = [(done, of) for what, done, of in heard(EXAMPLES / "healthy") if what == "fitting curves"]
    assert [done for done, _ in fitted] == list(range(1, len(fitted) + 1))
    assert all(done <= of for done, of in fitted)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("waits", "shown"), [(0.0, True), (60.0, False)])
def test_a_bar_is_shown_only_when_it_takes_long(waits: float, shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leadline.report.progress.SHOWN_AFTER", waits)
    monkeypatch.setattr("sys.stderr", screen := Terminal())
    with progress_bar():
        tell("reading [bold]\x1b[31mx", 1, 4)
    said = screen.getvalue()
    assert (r"reading [bold]\x1b[31mx" in said and "25%" in said) == shown
    assert shown or said == ""


def test_each_piece_of_work_comes_through() -> None:
    assert list(each(iter([3, 1, 2]))) == [3, 1, 2]
