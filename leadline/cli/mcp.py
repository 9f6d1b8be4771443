"""`leadline mcp`: serve coding agents."""

from __future__ import annotations

import os
from pathlib import Path

import click

from .options import argument, command, option

TOKEN = "LEADLINE_MCP_TOKEN"


@command("mcp")
def verb(
    roots: tuple[Path, ...] = argument(nargs=-1, metavar="[ROOT]..."),
    http: str | None = option(
        "--http", metavar="HOST:PORT", help="Serve streamable HTTP at HOST:PORT/mcp instead of standard input."
    ),
    names: tuple[str, ...] = option("--allowed-host", metavar="HOST", help="Extra host name to accept. With --http."),
) -> None:
    """Serve read-only tools to coding agents over MCP, for the runs below each ROOT.

    Without a ROOT it is the working folder. Nothing outside of the roots can be read, and nothing is written but
    reviews, to your own state folder. Off loopback, HTTP needs a token: LEADLINE_MCP_TOKEN, or one that is printed.

    Example: leadline mcp outputs
    """
    from ..errors import need

    need("mcp.server", extra="mcp", to="serve agents")
    import anyio

    from ..agents.library import Library
    from ..agents.roots import Roots
    from ..agents.server import build, http_app, serve_stdio

    library = Library(Roots.of(roots or (Path(),)), may_review=True)
    os.chdir(library.roots.folders[0])  # a leadline.toml of the folder it was started in is not below the roots
    server = build(library)
    if http is None:
        anyio.run(serve_stdio, server)
        return
    import uvicorn

    from ..agents.server import PATH
    from ..serve.guard import Guard, doors_for

    host, port = _address(http)
    given = os.environ.get(TOKEN) or None
    doors = doors_for(host, port, names, token=given, programs=(PATH,))
    made = f" with token {doors.token}" if doors.token != given else ""
    click.echo(f"serving {', '.join(map(str, library.roots.folders))} on http://{http}{PATH}{made}", err=True)
    uvicorn.run(Guard(http_app(server), doors), host=host, port=port, log_level="warning")


def _address(told: str) -> tuple[str, int]:
    host, colon, port = told.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise click.UsageError(f"--http takes HOST:PORT, such as 127.0.0.1:8321; got {told!r}")
    return host.strip("[]"), int(port)
