"""Write docs/cli.md, python.md, and json.md: `python docs/reference.py`; `--check` says if they are out of date.

The command line comes from its own help, the Python page from signatures and docstrings of `leadline.__all__`, and the
page of `--json` from the JSON Schema that `leadline schema` prints.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import leadline
from leadline.api import RunComparison
from leadline.cli import verbs
from leadline.contract import SCHEMA
from leadline.inside.attached import Attached

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "docs"
RETURNED = {"attach": Attached, "compare": RunComparison}  # what a public function hands out is public, too
EXIT_CODES = """
## Exit codes

| exit code | meaning |
|---|---|
| 0 | done |
| 2 | wrong usage |
| 3 | nothing readable at the path, or an optional package is missing |
| 4 | the output can't be written: the disk is full, or it was closed |
| 10, 11 | `read --exit-code`: stop; roll back, or a finished run that ended badly |
"""


def cli() -> str:
    """Return the page of the command line: every command with its help."""
    head = "# Command line\n\nMade by `python docs/reference.py` from `leadline --help`; do not edit.\n"
    root = click.Context(verbs, info_name="leadline", terminal_width=100, **verbs.context_settings)
    return head + _block(verbs, root) + "".join(_commands(verbs, root)) + EXIT_CODES


def _commands(group: click.Group, above: click.Context) -> Iterator[str]:
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        if command is None or command.hidden:
            continue
        context = click.Context(command, info_name=name, parent=above)
        yield f"\n## {context.command_path}\n{_block(command, context)}"
        if isinstance(command, click.Group):
            yield from _commands(command, context)


def _block(command: click.Command, context: click.Context) -> str:
    return f"\n```text\n{command.get_help(context).rstrip()}\n```\n"


def python() -> str:
    """Return the page of `import leadline`: every public name with its signature and docstring."""
    head = "# Python\n\nMade by `python docs/reference.py` from the docstrings; do not edit. All else is internal.\n"
    things = [(name, getattr(leadline, name)) for name in sorted(leadline.__all__, key=str.lower)]
    return head + "".join(_thing(name, thing) for name, thing in things if callable(thing))


def _thing(name: str, thing: Callable[..., object]) -> str:
    text = f"\n## leadline.{name}\n\n{_signature(name, thing)}\n\n{inspect.getdoc(thing) or ''}\n"
    kind = RETURNED.get(name, thing)
    own = {} if not inspect.isclass(kind) or issubclass(kind, BaseException) else _members(kind)
    return text + "".join(_member(*member) for member in own.items())


def _members(kind: type) -> dict[str, object]:
    """Return documented methods and properties of a class and of its bases in this package."""
    ours = [each for each in reversed(kind.__mro__) if each.__module__.startswith("leadline.")]
    every = {name: member for each in ours for name, member in vars(each).items()}
    public = {name: member for name, member in every.items() if not name.startswith("_")}
    return {name: member for name, member in public.items() if _is_ours(member) and inspect.getdoc(member)}


def _is_ours(member: object) -> bool:
    return isinstance(member, property) or inspect.isfunction(member)


def _member(name: str, member: object) -> str:
    signature = "" if isinstance(member, property) else f"{_signature(name, member)}\n\n"
    return f"\n### {name}\n\n{signature}{inspect.getdoc(member)}\n"


def _signature(name: str, thing: object) -> str:
    """Return a call as code, with annotations as they are written: a signature quotes those that are text."""
    signature = str(inspect.signature(thing)) if callable(thing) else ""
    plain = re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature)
    return f"```py\n{name}{plain}\n```"


JSON = f"""# JSON

Made by `python docs/reference.py` from `leadline schema`; do not edit. This is what `leadline read PATH --json` prints,
schema {SCHEMA}. A number that is not finite is `null`. Depend on ids and facts: sentences (`says`, `headline`) may
improve.

```sh
leadline read PATH --json --no-charts | jq '.judgement | .verdict, .outcome, .headline'
```
"""
FACTS = """
## Facts of each finding

The fields of `facts`, by finding id. [Findings and verdicts](findings.md) says what each id means.

| id | facts |
|---|---|
"""


def described() -> str:
    """Return the page of the JSON form: every object with its fields, the outermost first."""
    whole = json.loads((ROOT / "leadline" / f"schema-{SCHEMA}.json").read_text(encoding="utf-8"))
    kinds = whole["$defs"]
    facts = {
        rule["if"]["properties"]["id"]["const"]: _type(rule["then"]["properties"]["facts"])
        for rule in kinds["Finding"]["allOf"]
    }
    order = _reached(whole, kinds)
    text = JSON + "\n## The whole\n" + _fields(whole)
    text += "".join(f"\n## {name}\n\n{kinds[name].get('description', '')}\n{_fields(kinds[name])}" for name in order)
    return text.replace("\n\n\n", "\n\n") + FACTS + "".join(f"| `{name}` | {kind} |\n" for name, kind in facts.items())


def _reached(whole: dict[str, Any], kinds: dict[str, Any]) -> list[str]:
    """Return the names of all objects, those of the whole first, those of the facts last."""
    order = list(_named(whole["properties"]))
    for name in order:
        order += [one for one in _named(kinds[name]) if one not in order]
    return [name for name in dict.fromkeys(order) if "properties" in kinds[name]]


def _named(value: object) -> Iterator[str]:
    """Yield the names of the objects that a part of the schema refers to."""
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"].rpartition("/")[2]
        yield from (name for one in value.values() for name in _named(one))
    elif isinstance(value, list):
        yield from (name for one in value for name in _named(one))


def _fields(kind: dict[str, Any]) -> str:
    rows = "".join(
        f"| `{name}` | {_type(field)} | {_meaning(name, field, kind)} |\n" for name, field in kind["properties"].items()
    )
    return f"\n| field | type | meaning |\n|---|---|---|\n{rows}" if rows else ""


def _meaning(name: str, field: dict[str, Any], kind: dict[str, Any]) -> str:
    marks = ["optional"] * (name not in kind["required"]) + ["deprecated"] * field.get("deprecated", False)
    said = field.get("description", "").replace("|", "\\|").replace("<", "&lt;")
    return f"{said} ({', '.join(marks)})".strip() if marks else said


def _type(field: dict[str, Any]) -> str:
    """Return the type of a field as one would write it in a table."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return name if name[0].islower() else f"[{name}](#{name.lower().replace('.', '')})"
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(map(_type, field["anyOf"])))
    if "enum" in field:
        return ", ".join(f"`{word}`" for word in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    kind = field["type"]
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array":
        return f"array of {_type(field['items'])}" if "items" in field else "array"
    inside = field.get("additionalProperties")
    return f"object: name → {_type(inside)}" if isinstance(inside, dict) else str(kind)


PAGES = {"cli.md": cli, "python.md": python, "json.md": described}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is out of date")
    asked = parser.parse_args()
    stale = [name for name, page in PAGES.items() if not (HERE / name).exists() or (HERE / name).read_text() != page()]
    for name in stale:
        print(f"docs/{name}: {'out of date' if asked.check else 'written'}")
        if not asked.check:
            (HERE / name).write_text(PAGES[name]())
    return int(asked.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
