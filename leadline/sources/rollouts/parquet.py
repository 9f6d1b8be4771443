"""Parquet, through pyarrow where it is installed (the extra `parquet`)."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...errors import need

MARK = b"PAR1"  # at both ends of a whole file


def at_hand(files: Iterable[Path], notes: list[str]) -> bool:
    """Whether Parquet can be read here; if not, and there is some, that is said."""
    if not (files := list(files)):
        return False
    if importlib.util.find_spec("pyarrow") is not None:
        return True
    notes.append(f"{len(files)} Parquet files of samples were left out: pip install 'leadline[parquet]' reads them")
    return False


def whole(file: Path) -> bool:
    """Whether the file was written to its end."""
    try:
        with file.open("rb") as opened:
            start = opened.read(4)
            opened.seek(0, 2)
            opened.seek(max(opened.tell() - 4, 0))
            return start == MARK and opened.read(4) == MARK
    except OSError:
        return False


def opened(file: Path) -> Any:
    """pyarrow's view of the file, or None when it is not what its name says."""
    module = need("pyarrow.parquet", extra="parquet", to="read samples kept as Parquet")
    arrow = need("pyarrow", extra="parquet", to="read samples kept as Parquet")
    try:
        return module.ParquetFile(file)
    except (arrow.ArrowException, OSError, ValueError):
        return None


def rows(file: Path, most: int, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """The first `most` rows, a batch at a time. What cannot be decoded ends it quietly."""
    table = opened(file)
    if table is None:
        return
    arrow = need("pyarrow", extra="parquet", to="read samples kept as Parquet")
    try:
        for batch in table.iter_batches(batch_size=256, columns=columns):
            for row in batch.to_pylist():
                if most <= 0:
                    return
                most -= 1
                yield row
    except (arrow.ArrowException, OSError, ValueError):
        return
