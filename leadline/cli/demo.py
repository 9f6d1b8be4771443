"""`leadline demo`: three bundled real runs, one screen each."""

from __future__ import annotations

from importlib.resources import as_file, files

import click

from .options import NO_COLOR, command
from .screen import color, height, width

PROMPT = 2  # lines: the question whether to go on, and one to part it from the rest
SCENES = (  # a run, a step at which it is read, and what to look at
    ("healthy", 250, "A healthy run with a third of its planned steps left: see how little they can still gain."),
    (
        "collapsed",
        230,
        "A run that learned well until its learning rate jumped 30×, 27 steps ago: see the cause and the step to keep.",
    ),
    (
        "hacked",
        400,
        "A run whose reward accepts any response that contains the right number: reward and eval look fine, the "
        "samples don't.",
    ),
)


@command("demo")
def verb(no_color: bool = NO_COLOR) -> None:
    """Walk through three real runs: healthy, collapsed, and reward-hacked.

    Example: leadline demo
    """
    from .. import pipeline
    from ..report import terminal
    from ..report.lines import field, page

    colored, wide = color(no_color), width()
    with as_file(files("leadline") / "examples") as examples:
        for number, (run, until, look) in enumerate(SCENES, 1):
            if number > 1:
                click.pause("Any key shows the next one.")  # not where nobody could press one
            shown = f"leadline read {examples / run} --until {until}"
            head = page(
                [field(f"{number} of {len(SCENES)}", look, "bold"), field("now", shown)], color=colored, width=wide
            )
            reading = pipeline.read(examples / run, until=until, charts="main")
            room = height() - head.count("\n") - PROMPT
            click.echo(head + terminal.render(reading, color=colored, width=wide, height=room))
    click.echo("Your own: leadline read PATH, a log file or the output folder of a run.")
