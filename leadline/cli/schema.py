"""`leadline schema`: the JSON Schema of what `leadline read --json` prints."""

from __future__ import annotations

import click


@click.command("schema")
def verb() -> None:
    """Print the JSON Schema of `read --json`.

    Example: leadline schema > leadline-schema-2.json
    """
    from importlib.resources import files  # takes longer to import than --help should

    click.echo((files("leadline") / "schema-2.json").read_text(encoding="utf-8"), nl=False)
