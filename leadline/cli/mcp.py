"""`leadline mcp`: serve coding agents."""

from __future__ import annotations

import os
from pathlib import Path

import click

TOKEN = "LEADLINE_MCP_TOKEN"


@click.command("mcp")
@click.argument("roots", nargs=-1, type=click.Path(path_type=Path), metavar="[ROOT]...")
@click.option("--http", metavar="HOST:PORT", help="Serve streamable HTTP there, at /mcp, instead of standard input.")
@click.option(
    "--name", "names", multiple=True, metavar="HOST", help="A further host name it is called by. With --http."
)
@click.option(
    "--allow-act",
    metavar="RUN=ORDER",
    help="Let agents ask that RUN be ended: sigterm:PID, sigint:PID, sigkill:PID, file:PATH. Done as by a watch.",
)
@click.option(
    "--no-dry-run", is_flag=True, help="With --allow-act: really do it, instead of saying what would be done."
)
def verb(
    roots: tuple[Path, ...], http: str | None, names: tuple[str, ...], allow_act: str | None, no_dry_run: bool
) -> None:
    """Serve read-only tools to coding agents over MCP, for the runs below each ROOT.

    Without a ROOT it is the working folder. Nothing outside of the roots can be read, and nothing is written but
    reviews, to your own state folder. Where others can reach it, HTTP needs a token in LEADLINE_MCP_TOKEN.

    Example: leadline mcp outputs
    """
    from ..errors import need

    need("mcp.server", extra="mcp", to="serve agents")
    import anyio

    from ..agents.library import Library
    from ..agents.roots import Roots
    from ..agents.server import build, http_app, serve_stdio
    from ..agents.tools import TOOLS

    library = Library(Roots.of(roots or (Path(),)), may_review=True)
    tools = TOOLS
    if allow_act is not None:
        from ..agents.act import Permission

        tools = (*TOOLS, Permission.of(allow_act, library.roots, dry=not no_dry_run).tool())
    os.chdir(library.roots.folders[0])  # a leadline.toml of the folder it was started in is not below the roots
    server = build(library, tools)
    if http is None:
        anyio.run(serve_stdio, server)
        return
    host, port = _address(http)
    app = http_app(server, host, port, token=os.environ.get(TOKEN) or None, names=names)
    import uvicorn

    click.echo(f"serving {', '.join(map(str, library.roots.folders))} on http://{http}/mcp", err=True)
    uvicorn.run(app, host=host, port=port, log_level="warning")


def _address(told: str) -> tuple[str, int]:
    host, colon, port = told.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise click.UsageError(f"--http takes HOST:PORT, such as 127.0.0.1:8321; got {told!r}")
    return host.strip("[]"), int(port)
