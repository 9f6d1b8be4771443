"""`leadline mcp`: serve coding agents."""

from __future__ import annotations

import os
from pathlib import Path

from .options import argument, command


@command("mcp")
def verb(roots: tuple[Path, ...] = argument(nargs=-1, metavar="[ROOT]...")) -> None:
    """Serve read-only tools to coding agents over MCP, for the runs below each ROOT.

    Without a ROOT it is the working folder. Nothing outside of the roots can be read, and nothing is written but
    reviews, to your own state folder. It speaks on standard input and output; `leadline serve ROOT` over HTTP.

    Example: leadline mcp outputs
    """
    from ..errors import need

    need("mcp.server", extra="mcp", to="serve agents")
    import anyio

    from ..agents.library import Library
    from ..agents.roots import Roots
    from ..agents.server import build, serve_stdio

    library = Library(Roots.of(roots or (Path(),)), may_review=True)
    os.chdir(library.roots.folders[0])  # a leadline.toml of the folder it was started in is not below the roots
    anyio.run(serve_stdio, build(library))
