"""Jupyter notebooks: what a run printed into their cells, and the tables the Trainer draws there."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from ..records import replace
from . import console, delimited
from .json_document import Document
from .source import BLANK, Log
from .table import Table
from .text import TRAINED

ROW = re.compile(r"<tr[^>]*>(.*?)</tr>", re.DOTALL | re.IGNORECASE)
CELL = re.compile(r"<t[dh][^>]*>(.*?)</t[dh]>", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"<[^>]+>")
BAR = re.compile(r"<progress value='(\d{1,12})' max='(\d{1,12})'")  # above the table, as the Trainer draws it
ENOUGH = 5  # rows of a table that may be a run of its own


def recognises(path: Path, head: bytes) -> bool:
    start = head.lstrip(BLANK)
    # What a notebook says of itself may be longer than what is looked at here, and come before its cells.
    return start.startswith(b"{") and (path.suffix == ".ipynb" or (b'"cell_type"' in head and b'"cells"' in head))


class Notebook(Document):
    """The outputs of a notebook, each read as the console or table it is. The fullest one is the run."""

    def log(self) -> Log:
        value, torn = self.value()
        found = [Log(Table(), torn=torn, notes=self.notes)]
        printed = console.parser()
        for kind, text in (output for cell in _cells(value) for output in _outputs(cell)):
            if kind == "text/html":
                bar = BAR.search(text)
                done = bar is not None and bar[1] == bar[2]
                for table in _tables(text):
                    separated = delimited.parser()
                    separated.feed(table.encode())
                    planned = {"max_steps": int(bar[2])} if bar else {}
                    found.append(replace(separated.log(), settings=planned, ended="completed" if done else None))
            else:
                printed.feed(text.encode("utf-8", errors="replace") + b"\n")
        found.append(printed.log())
        best = max(found, key=lambda log: log.table.size)
        others = sum(len(log.table) >= ENOUGH for log in found if log is not best)
        said = (f"{others} other table{'s' * (others > 1)} of numbers in the notebook not read",)
        return replace(best, notes=(*best.notes, *said * bool(others)))


def printed_in(data: bytes) -> str:
    """Return what the cells of a notebook printed, with TRAINED behind the last one that drew a table of steps."""
    document = Document()
    document.feed(data)
    text = ""
    for cell in _cells(document.value()[0]):
        outputs = [*_outputs(cell)]
        text += "\n".join(printed for kind, printed in outputs if kind != "text/html") + "\n"
        if any(table.startswith("Step\t") for kind, page in outputs if kind == "text/html" for table in _tables(page)):
            text = text.replace(TRAINED, "") + TRAINED + "\n"
    return text


def _cells(notebook: object) -> list[object]:
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    return cells if isinstance(cells, list) else []


def _outputs(cell: object) -> Iterator[tuple[str, str]]:
    """Yield every text and table that a cell of a notebook shows, in order."""
    outputs = cell.get("outputs") if isinstance(cell, dict) else None
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        yield "text/plain", _text(output.get("text"))
        data = output.get("data")
        if isinstance(data, dict):
            kind = "text/html" if "text/html" in data else "text/plain"
            yield kind, _text(data.get(kind))


def _text(lines: object) -> str:
    if isinstance(lines, list):
        return "".join(line for line in lines if isinstance(line, str))
    return lines if isinstance(lines, str) else ""


def _tables(text: str) -> Iterator[str]:
    """Yield the tables of a page as tab-separated values."""
    for table in re.split(r"<table", text, flags=re.IGNORECASE)[1:]:
        rows = [[_plain(cell) for cell in CELL.findall(row)] for row in ROW.findall(table)]
        if len(rows) > 1:
            yield "".join("\t".join(row) + "\n" for row in rows)


def _plain(cell: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(TAG.sub("", cell))).strip()


parser = Notebook
