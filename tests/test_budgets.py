"""How much there is to read. A figure may only go down: who lowers it lowers its budget here too."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from conftest import EXAMPLES, ROOT
from package import PACKAGE, texts, trees

BUDGETS = {
    "lines of the package": 44000,
    "files run by one read": 126,
    "functions run by one read": 815,
    "class names defined twice": 0,
    "functions over 60 lines": 0,
    "functions over 8 parameters": 0,
    "longest import chain": 18,
}
SLACK = 0.03  # of a budget: what it may stand above its figure before it has to be lowered

RUN = """
import json, sys
from leadline.cli import main
from leadline.kept import forget
main(["read", sys.argv[1]])  # what is imported late is imported now
forget()
files, functions = {}, set()
def seen(frame, event, arg):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(sys.argv[2]):
        files.setdefault(code.co_filename)
        if not code.co_name.startswith("<"):
            functions.add((code.co_filename, code.co_firstlineno))
sys.setprofile(seen)
main(["read", sys.argv[1]])
sys.setprofile(None)
print(json.dumps([list(files), len(functions)]), file=sys.stderr)
"""


@cache
def nodes(*kinds: type[ast.AST]) -> list[ast.AST]:
    return [node for tree in trees().values() for node in ast.walk(tree) if isinstance(node, kinds)]


@cache
def one_read(example: str) -> tuple[list[str], int]:
    """Files that a read of a bundled run calls, in the order of their first call, and how many functions."""
    command = [sys.executable, "-c", RUN, str(EXAMPLES / example), str(PACKAGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    files, functions = json.loads(done.stderr.strip().splitlines()[-1])
    return [Path(file).relative_to(ROOT).as_posix() for file in files], functions


def class_names_twice() -> int:
    names = Counter(node.name for node in nodes(ast.ClassDef) if isinstance(node, ast.ClassDef))
    return sum(count > 1 for count in names.values())


def parameters(node: ast.AST) -> int:
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return sum(name not in ("self", "cls") for name in names)


def length(node: ast.AST) -> int:
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def longest_chain() -> int:
    """Modules of the longest way along imports at the top of files."""
    known = {_module(name): name for name in trees()}
    imports = {module: _imported(module, trees()[name], known) for module, name in known.items()}
    depth: dict[str, int] = {}

    def deep(module: str, above: frozenset[str]) -> int:
        if module not in depth:
            below = [deep(each, above | {module}) for each in sorted(imports[module]) if each not in above]
            depth[module] = 1 + max(below, default=0)
        return depth[module]

    return max(deep(module, frozenset({module})) for module in sorted(imports))


def _module(name: str) -> str:
    return ".".join(("leadline", *Path(name).with_suffix("").parts)).removesuffix(".__init__")


def _imported(module: str, tree: ast.Module, known: dict[str, str]) -> set[str]:
    """Modules of the package that are imported as soon as this one is; a package imports only itself, not its parts."""
    package = module.split(".") if known[module].endswith("__init__.py") else module.split(".")[:-1]
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])
            names = {f"{base}.{alias.name}" for alias in node.names}
            found |= (names & known.keys()) or ({base} & known.keys())
    return found - {module}


FIGURES = {
    "lines of the package": lambda: sum(len(text.splitlines()) for text in texts().values()),
    "files run by one read": lambda: len(one_read("collapsed")[0]),
    "functions run by one read": lambda: one_read("collapsed")[1],
    "class names defined twice": class_names_twice,
    "functions over 60 lines": lambda: sum(length(node) > 60 for node in nodes(ast.FunctionDef, ast.AsyncFunctionDef)),
    "functions over 8 parameters": lambda: sum(
        parameters(node) > 8 for node in nodes(ast.FunctionDef, ast.AsyncFunctionDef)
    ),
    "longest import chain": longest_chain,
}


@pytest.mark.parametrize("figure", FIGURES)
def test_a_budget_is_kept(figure: str) -> None:
    measured, budget = FIGURES[figure](), BUDGETS[figure]
    assert measured <= budget, f"{figure}: {measured} of {budget}. Delete something, or say why in docs/decisions"
    assert measured >= budget * (1 - SLACK) - 1, f"{figure}: {measured}, so its budget of {budget} can be lowered"


def test_the_walk_of_the_architecture_page_is_the_one_a_trace_shows() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    walk = re.findall(r"^\d+\. `(leadline/[^`]+)`", page, re.MULTILINE)
    files, _ = one_read("healthy")
    assert len(walk) <= 20
    assert [file for file in files if file in walk] == walk
