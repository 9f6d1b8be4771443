"""The rules of the house that no import contract can see: who touches a curve's paths, who opens files, who writes
sentences. An entry of the allowlist that is not needed any more has to go."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from package import trees

SQL = re.compile(r"[\s(]*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|WITH|PRAGMA|FROM|WHERE|ORDER|ON CONFLICT)\b")
OF_FILES = ("options", "watch", "found")
# What only `curve/` and `questions/` look at: the posterior paths of a curve and what is cut out of them.
PATHS = {"paths", "seen", "summit", "climb", "speed", "bend", "trendless", "at_rest", "levels_at"}

# Who may open files: what reads logs, follows and records runs, writes reports; and some that read the package itself.
OPENERS = ("sources/", "live/", "inside/", "recorder/", "cli/", "fleet/")
OPENS: dict[str, str] = {
    "curve/posterior.py": "its own table, from the package",
    "report/html/page.py": "its own static parts, from the package",
    "vocabulary/dialect.py": "its own tables, from the package",
    "vocabulary/names.py": "its own words, from the package",
    "review/model.py": "replies of a model, an address",
    "review/store.py": "what readers said of a run",
    "serve/app.py": "its own static parts, from the package",
    "state.py": "files that are replaced as a whole: reports, answers, reviews",
}
OPENING = {
    "open",
    "read_text",
    "read_bytes",
    "write_text",
    "write_bytes",
    "fdopen",
    "mkstemp",
    "load_file",
    "from_file",
}

# Where a sentence is no place: these hold data, compute, or lay out.
WORDLESS = ("curve/", "questions/", "text/", "reading/", "judgement/", "report/", "shelf/", "contract.py")
SENTENCE = re.compile(r"[A-Za-z']{2,},? (?:[a-z']+,? ){1,}[a-z']{2,}")  # three words in a row
MARKUP = re.compile(r"<\w|: ?#|;[a-z-]+:|--\w+:|^[\w./-]+$|\\[sSdAZ]|\(\?")  # HTML, CSS, a regular expression


def modules(*under: str) -> Iterator[tuple[str, ast.Module]]:
    return ((name, tree) for name, tree in trees().items() if not under or name.startswith(under))


def offenders(found: dict[str, list[str]], allowed: set[str]) -> None:
    new = {name: places for name, places in found.items() if name not in allowed}
    assert new == {}
    assert allowed - found.keys() == set(), "these keep the rule now: take them off the list"


def test_only_curve_and_questions_look_at_the_paths_of_a_curve() -> None:
    found: dict[str, list[str]] = {}
    for name, tree in modules():
        # Those of the last three are paths of files.
        if not name.startswith(("curve/", "questions/", "comparison/", "sources/", "inventory", "fleet/")):
            places = [f"{node.lineno}: {ast.unparse(node)}" for node in _paths(tree)]
            if places:
                found[name] = places
    assert found == {}


def _paths(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Where a curve's paths are looked at. Those of `OF_FILES` are paths of files, and what was seen of them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in PATHS and not ast.unparse(node.value).endswith(OF_FILES):
            yield node


# Who asks for more than the part of a run that counts, and why.
WHOLE = {
    "findings/policy_frozen.py": "a policy is as far from its reference as it has come since the first step",
    "findings/policy_loss_jump.py": "a jump may have begun the part that counts",
    "findings/resources_memory_growth.py": "memory knows no prompts",
    "sections.py": "the loss is read with every jump in it",
}


def test_findings_and_sections_look_at_the_part_of_the_run_that_counts() -> None:
    found: dict[str, list[str]] = {}
    for name, tree in modules("findings/", "sections.py", "judgement/", "expected.py"):
        places = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        asked = [place for place in places if place.endswith("whole.of")]
        if asked:
            found[name] = asked
    offenders(found, set(WHOLE))


def test_only_sources_and_writers_open_files() -> None:
    found: dict[str, list[str]] = {}
    for name, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and not name.startswith(OPENERS):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if called in OPENING:
                    found.setdefault(name, []).append(f"{node.lineno}: {called}")
    offenders(found, set(OPENS))


def test_sentences_are_written_in_words_alone() -> None:
    found: dict[str, list[str]] = {}
    for name, tree in modules(*WORDLESS):
        if name == "report/files.py":
            continue  # it writes files, and all its texts are errors
        places = [f"{node.lineno}: {text}" for node, text in _texts(tree) if SENTENCE.search(text)]
        if places:
            found[name] = places
    assert found == {}


def _texts(tree: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    """Every text that could be shown: no docstring, no part of an error, no markup. Of an f-string its fixed parts."""
    open_: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while open_:
        node, outer = open_.pop()
        if isinstance(node, ast.Raise) or _is_error(node):
            continue
        open_ += [(child, node) for child in ast.iter_child_nodes(node)]
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if isinstance(outer, (ast.Expr, ast.JoinedStr)):
                continue  # a docstring, or a part of an f-string
            text = node.value
        else:
            continue
        if not MARKUP.search(text) and not SQL.match(text):
            assert isinstance(node, ast.expr)
            yield node, text


def _is_error(node: ast.AST) -> bool:
    """What makes an error, or asks for a package and says why."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in ("need", "_cannot", "CannotWrite") or name.startswith("Bad") or name.endswith(("Error", "Missing"))


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ('says = f"Reward has fallen from {a} to {b}."', True),
        ('"""Reward has fallen from here to there."""', False),
        ('raise ValueError("steps must increase here")', False),
        ('page = "<p style=\\"margin:0 auto\\">so it is</p>"', False),
        ('name = "reward/mean"', False),
    ],
)
def test_the_search_for_sentences_finds_them(code: str, told: bool) -> None:
    assert any(SENTENCE.search(text) for _, text in _texts(ast.parse(code))) is told


def test_the_search_for_paths_finds_them() -> None:
    assert len(list(_paths(ast.parse("curve.paths[:, -1]; self.curve.seen; options.paths; curve.points")))) == 2
