"""The MCP server beside the dashboard, for the folders that are scanned, behind the same guard."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..agents.answers import ANSWER, Triage, TriageRow, page, place_of, size
from ..agents.library import Library
from ..agents.roots import Roots, unguarded
from ..agents.tools import SENTENCE, TOOLS, Tool
from ..fleet.scan import settled
from ..report.plain import line
from ..shelf import query
from ..shelf.store import Shelf
from ..sources.mapping import FILE
from ..tokens import cut

if TYPE_CHECKING:
    from starlette.applications import Starlette

LISTED = 100  # rows asked of the shelf for one answer: more never fit


def agents_app(shelf: Shelf, roots: Sequence[str]) -> Starlette | None:
    """Return the MCP server over the local folders among `roots`; None if there are none, or without the extra."""
    folders = [root for root in roots if Path(root).is_dir()]
    if not folders or importlib.util.find_spec("mcp") is None:
        return None
    from ..agents.server import build, http_app  # only with the extra

    # What the page's own folder says of keys holds for agents too: they see what the page shows.
    library = Library(Roots.of(folders, files=[Path.cwd() / FILE]))
    scanned = tuple(map(settled, folders))
    tools = [_from_the_shelf(tool, shelf, scanned) if tool.name == "triage" else tool for tool in TOOLS]
    return http_app(build(library, tools))


def _from_the_shelf(tool: Tool, shelf: Shelf, scanned: tuple[str, ...]) -> Tool:
    """Runs are read already: the rows of the page, in its order."""
    return Tool(tool.name, tool.arguments, tool.answer, partial(_triage, shelf, scanned), tool.required)


def _triage(shelf: Shelf, scanned: tuple[str, ...], library: Library, asked: Mapping[str, Any]) -> Triage:
    now = time.time()
    with unguarded():
        _, total = query.lines(shelf, query.Asked(roots=scanned, size=1), now)
        start = place_of(asked.get("cursor"), total)
        lines, _ = query.lines(shelf, query.Asked(roots=scanned, first=start, size=LISTED), now)
    shown, _ = page([_row(library, told) for told in lines], None, ANSWER - 60, size)
    after = start + len(shown)
    return Triage(shown, total, None, str(after) if after < total else "")


def _row(library: Library, told: query.RowNow) -> TriageRow:
    row = told.row
    path = line(library.roots.shown(row.identity))
    if row.state == "unreadable":
        return TriageRow(path, "unreadable", cut(line(row.problem or ""), SENTENCE))
    return TriageRow(path, row.verdict or "undecided", cut(line(row.says), SENTENCE), row.last_step, row.outcome or "")
