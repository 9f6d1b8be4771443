"""`leadline skill`: teach a coding agent to read runs."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import click

NAME = "SKILL.md"
FOLDERS = {"claude": ".claude/skills", "codex": ".agents/skills", "cursor": ".cursor/skills"}  # where each one looks
SEAL = "<!-- leadline skill "


@click.group("skill")
def verb() -> None:
    """Install or show the Leadline skill for coding agents."""


@verb.command("install")
@click.option(
    "--agent",
    type=click.Choice([*FOLDERS, "all"]),
    default="all",
    show_default=True,
    help="Agent to install it for, in this project.",
)
@click.option("--user", is_flag=True, help="Install it for all projects of this user instead.")
def install(agent: str, user: bool) -> None:
    """Write SKILL.md where coding agents look for it. An edited file is not overwritten.

    Example: leadline skill install --agent claude
    """
    from ..errors import CannotWrite
    from ..report.files import make_folder, write_whole

    home = Path.home() if user else Path()
    text = sealed(source().read_text(encoding="utf-8"))
    for name, place in FOLDERS.items():
        if agent not in (name, "all"):
            continue
        file = home / place / "leadline" / NAME
        if file.exists() and not _ours(file):
            raise CannotWrite(
                f"{file} was edited, or is not ours.",
                tried="to replace it by this version's",
                next_step="move it away, then install again.",
            )
        make_folder(file.parent)
        write_whole(file, text)
        click.echo(f"{name}: {file}")


@verb.command("show")
def show() -> None:
    """Print the skill."""
    click.echo(source().read_text(encoding="utf-8"), nl=False)


def source() -> Path:
    """Return the skill inside the package."""
    return Path(__file__).parent.parent / "skill" / NAME


def sealed(text: str) -> str:
    """Return the text with a last line that tells whether it was changed since."""
    return f"{text.rstrip()}\n\n{SEAL}{_digest(text)} -->\n"


def _ours(file: Path) -> bool:
    """Return whether it is an unedited skill of ours, of any version."""
    try:
        text, seal, rest = file.read_text(encoding="utf-8").rpartition(SEAL)
    except (OSError, UnicodeDecodeError):
        return False
    return bool(seal) and rest == f"{_digest(text)} -->\n"


def _digest(text: str) -> str:
    return blake2b(text.rstrip().encode(), digest_size=8).hexdigest()
