"""Pictures as files beside a report: SVG always, PNG too where the extra `plots` is installed."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from ..contract import Reading
from ..errors import MissingExtra
from .files import make_folder, write_whole
from .pictures import pictures, span
from .png import as_png
from .svg import svg


def write_plots(reading: Reading, folder: Path) -> tuple[tuple[str, Path], ...]:
    """Draw reward, held-out reward and KL into `folder`. What each shows, and the file to link: the PNG where there is
    one, since chats show no SVG."""
    drawn = pictures(reading)
    make_folder(folder)
    made = []
    for one in drawn:
        file = folder / f"{one.file}.svg"
        write_whole(file, svg(one, span(drawn)))
        try:
            png = as_png(one, span(drawn))
        except MissingExtra:
            pass
        else:
            file = file.with_suffix(".png")
            write_whole(file, png)
        made.append((one.title, file))
    return tuple(made)


def address(file: Path, seen_from: Path) -> str:
    """The link to a file as a page in the folder `seen_from` has to write it."""
    return quote(Path(os.path.relpath(file, seen_from)).as_posix())
