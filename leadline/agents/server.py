"""The MCP server: tools. The protocol is the official package's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from .. import __version__
from ..errors import LeadlineError, need
from ..report.plain import line, printable
from ..report.plain import name as shown_name
from ..words import tools as words
from .answers import Plain
from .library import Library, with_links
from .roots import only_below
from .tools import TEXT, TOOLS, Tool

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.server.context import ServerRequestContext as Context
    from starlette.applications import Starlette

PATH = "/mcp"


def build(library: Library) -> Server[Any]:
    """Return the server for the runs below the roots."""
    need("mcp.server", extra="mcp", to="serve agents")
    import anyio.to_thread
    from mcp import types
    from mcp.server import Server
    from mcp.shared.exceptions import MCPError

    tools = {tool.name: tool for tool in TOOLS}

    async def list_tools(ctx: Context[Any], params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        told = [
            types.Tool(
                name=tool.name,
                description=words.TOOLS[tool.name],
                input_schema=tool.input_schema(),
                annotations=types.ToolAnnotations(read_only_hint=tool.read_only),
            )
            for tool in tools.values()
        ]
        return types.ListToolsResult(tools=told)

    async def call_tool(ctx: Context[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"no tool is called {shown_name(params.name)}")
        try:
            told = await anyio.to_thread.run_sync(_answer, library, tool, params.arguments or {})
        except LeadlineError as error:
            return types.CallToolResult(
                content=[types.TextContent(type="text", text=error.told(printable))], is_error=True
            )
        text = orjson.dumps(told).decode()
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=told)

    handlers: dict[str, Any] = {"on_list_tools": list_tools, "on_call_tool": call_tool}
    return Server("leadline", version=__version__, instructions=words.INSTRUCTIONS, **handlers)


def _answer(library: Library, tool: Tool, told: Mapping[str, Any]) -> Plain:
    """Return what a tool answers. It opens nothing outside of the roots, and says if a link there leads outside."""
    asked = _checked(tool, told)
    with only_below(library.roots) as links:
        try:
            answer = tool.ask(library, asked)
        except LeadlineError as error:
            raise with_links(error, links) from error
    return {**answer, "outside": line(words.links_outside(links), 400)} if links else answer


def _checked(tool: Tool, told: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments if they are as the tool's schema says; else raise what is wrong."""
    valid = need("jsonschema", extra="mcp", to="serve agents")
    exact = {name: {**shape, "additionalProperties": TEXT} for name, shape in tool.arguments.items()}  # tokens unspent
    schema = {**tool.input_schema(), "properties": exact, "additionalProperties": False}
    errors = [*valid.Draft202012Validator(schema).iter_errors(told)]
    if errors:
        wrong = "; ".join(line(": ".join([*map(str, error.path), error.message]), 200) for error in errors)
        raise LeadlineError(
            f"{tool.name} can't be called like this: {wrong}.",
            next_step=f"pass {', '.join(tool.arguments)} as the tool's definition says",
        )
    # A schema takes 100.0 for a whole number.
    return {name: int(held) if type(held) is float and held.is_integer() else held for name, held in told.items()}


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one agent on standard input and output."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def http_app(server: Server[Any]) -> Starlette:
    """Return the server as an app at PATH, to stand behind a guard that checks Host, Origin, and token."""
    from mcp.server.transport_security import TransportSecuritySettings

    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return server.streamable_http_app(streamable_http_path=PATH, transport_security=security)
