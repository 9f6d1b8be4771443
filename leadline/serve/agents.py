"""The MCP server beside the dashboard, for the folders that are scanned, behind the same guard."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..agents.library import Library
from ..agents.roots import Roots
from ..fleet.scan import settled
from ..shelf.store import Shelf
from ..sources.mapping import FILE

if TYPE_CHECKING:
    from starlette.applications import Starlette


def agents_app(shelf: Shelf, roots: Sequence[str]) -> Starlette | None:
    """Return the MCP server over the local folders among `roots`; None if there are none, or without the extra."""
    folders = [root for root in roots if Path(root).is_dir()]
    if not folders or importlib.util.find_spec("mcp") is None:
        return None
    from ..agents.server import build, http_app  # only with the extra

    # What the page's own folder says of keys holds for agents too: they see what the page shows.
    found = Roots.of(folders, files=[Path.cwd() / FILE])
    return http_app(build(Library(found, shelf=shelf, scanned=tuple(map(settled, folders)))))
