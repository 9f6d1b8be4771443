"""What agents pay: the part `tokens` of bench/agents.py."""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import backtest_sets as sets
import numpy as np
from tables import Table

EXAMPLES = Path(__file__).resolve().parent.parent / "leadline" / "examples"
CUTS = (0.1, 0.4, 0.7, 1.0)
MOST = 800
Call = tuple[str, dict[str, Any]]


def count(text: str) -> int:
    """By parts: the tokenizer takes no more than 200 000 tokens at once."""
    import bpe_openai

    encoding = bpe_openai.get_encoding("o200k_base")
    return sum(len(encoding.encode(text[start : start + 100_000])) for start in range(0, len(text), 100_000))


def tokens(arguments: argparse.Namespace) -> None:
    print(_beside_the_log().text())
    folders = [file.parent for name in ("zoo_dev", "zoo2_dev") for file in sorted(sets.root(name).glob("*/truth.json"))]
    folders += [folder for root in arguments.also for folder in sorted(root.iterdir())]
    chosen = folders[:: arguments.every]
    paid: dict[str, list[tuple[int, str]]] = {}
    with ProcessPoolExecutor(arguments.processes) as pool:
        for number, told in enumerate(pool.map(_asked, chosen), 1):
            for tool, price, what in told:
                paid.setdefault(tool, []).append((price, what))
            print(f"\r{number}/{len(chosen)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    rows = []
    for tool, prices in sorted(paid.items()):
        told = np.array([price for price, _ in prices])
        rows.append([tool, str(len(told)), f"{np.median(told):.0f}", str(max(prices)[0]), str((told > MOST).sum())])
    note = f"dearest: {max(entry for prices in paid.values() for entry in prices)[1]}"
    head = ["asked", "answers", "median", "most", f"over {MOST}"]
    print(Table(f"tokens (o200k) over {len(chosen)} places", f"an answer <= {MOST}", head, rows, note).text())


def _beside_the_log() -> Table:
    import anyio
    from mcp import Client

    from leadline.agents.library import Library
    from leadline.agents.roots import Roots
    from leadline.agents.server import build

    rows = []

    async def counted() -> None:
        async with Client(build(Library(Roots.of([EXAMPLES])))) as client:
            tools = (await client.list_tools()).tools
            written = json.dumps([tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools])
            rows.append(["all tool definitions", "", str(count(written)), "", ""])
            for name in ("healthy", "collapsed", "hacked"):
                logs = [EXAMPLES / name / log for log in ("trainer_state.json", "metrics.jsonl")]
                raw = count(next(log for log in logs if log.exists()).read_text())
                texts = sum(count(file.read_text()) for file in (EXAMPLES / name / "rollouts").iterdir())
                for tool, asked in (
                    ("read_run", {}),
                    ("read_run", {"detail": "high"}),
                    ("samples", {}),
                    ("sources", {}),
                ):
                    answer = (await client.call_tool(tool, {"path": name, **asked})).content[0].text
                    paid, beside = count(answer), texts if tool == "samples" else raw
                    told = f"{tool} {' '.join(asked.values())}".strip()
                    rows.append([name, told, str(paid), str(beside), f"{beside / paid:.0f}x"])

    anyio.run(counted)
    head = ["run", "asked", "answer", "raw log", "less"]
    return Table("tokens (o200k)", "definitions <= 1900, an answer <= 800", head, rows)


def _asked(folder: Path) -> list[tuple[str, int, str]]:
    """What each tool's answers about one run cost."""
    import anyio
    from mcp import Client

    from leadline.agents.library import Library
    from leadline.agents.roots import Roots
    from leadline.agents.server import build

    paid: list[tuple[str, int, str]] = []
    os.chdir(folder.parent)

    async def ask(client: Client, called: str, tool: str, **asked: Any) -> Any:
        answer = await client.call_tool(tool, {"path": folder.name, **asked})
        paid.append((called if not answer.is_error else "refusals", count(answer.content[0].text), f"{folder} {asked}"))
        return answer.structured_content or {}

    async def run() -> None:
        async with Client(build(Library(Roots.of([folder.parent])))) as client:
            whole = await ask(client, "read_run", "read_run")
            last = int(whole.get("run", "").partition(" to ")[2].split(" ")[0] or 0)
            for cut in CUTS:
                until = {} if cut == 1 else {"until": max(round(cut * last), 1)}
                await ask(client, "read_run", "read_run", **until)
                await ask(client, "read_run, high", "read_run", detail="high", **until)
            for found in {entry["id"] for entry in whole.get("findings", ())}:
                await ask(client, "evidence", "evidence", finding=found)
            await ask(client, "sources", "sources")
            for way in ({}, {"score": "high"}, {"score": "low"}, {"step": last // 2}, {"search": "1"}):
                await ask(client, "samples", "samples", **way)

    anyio.run(run)
    return paid
