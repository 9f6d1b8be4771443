"""`leadline demo`: three bundled real runs, one screen each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.resources import as_file, files

import click

from ..records import dataclass
from .options import NO_COLOR, command, option
from .screen import color, height, width

SMALL = 30  # lines of a screen that has room for little
PROMPT = 2  # lines: the question whether to go on, and one to part it from the rest


@dataclass(frozen=True, slots=True)
class Scene:
    """A run, a step at which it is read, one before it at which something else was said, and what to look at."""

    run: str
    before: int
    until: int
    look: str


SCENES = (
    Scene(
        "healthy",
        30,
        250,
        "A healthy run with a third of its planned steps left: see how little they can still gain.",
    ),
    Scene(
        "collapsed",
        200,
        230,
        "A run that learned well until its learning rate jumped 30×, 27 steps ago: see the cause and the step to keep.",
    ),
    Scene(
        "hacked",
        60,
        400,
        "A run whose reward accepts any response that contains the right number: reward and eval look fine, the "
        "samples don't.",
    ),
)


@command("demo")
def verb(
    no_wait: bool = option("--no-wait", help="Do not wait for Enter between the runs."), no_color: bool = NO_COLOR
) -> None:
    """Walk through three real runs: healthy, collapsed, and reward-hacked.

    Example: leadline demo --no-wait
    """
    waits = not no_wait and sys.stdin.isatty() and sys.stdout.isatty()
    with as_file(files("leadline") / "examples") as examples:
        for number, scene in enumerate(SCENES, 1):
            click.echo("\n".join(_shown(scene, str(examples), number, no_color=no_color)))
            if waits and number < len(SCENES):
                click.prompt("Enter shows the next one", default="", show_default=False, prompt_suffix=" ")
    click.echo("Your own: leadline read PATH, a log file or the output folder of a run.")


def _shown(scene: Scene, examples: str, number: int, *, no_color: bool) -> Iterator[str]:
    from .. import pipeline
    from ..report import lines, terminal
    from ..report.progress import each
    from ..words.verdict import headline

    path, colored, wide, high = f"{examples}/{scene.run}", color(no_color), width(), height()
    before, now = each(pipeline.read(path, until=step, charts="main") for step in (scene.before, scene.until))
    said = f"at step {scene.before}: {headline(before.judgement)}"
    page = lines.page(
        [
            lines.field(f"{number} of {len(SCENES)}", scene.look, "bold"),
            lines.field("at first", lines.shortened(said, wide - lines.MARGIN, 2 if high > SMALL else 1)),
            lines.field("now", f"leadline read {path} --until {scene.until}"),
        ],
        color=colored,
        width=wide,
    )
    yield page.rstrip("\n")
    yield terminal.render(now, color=colored, width=wide, height=high - page.count("\n") - PROMPT)
