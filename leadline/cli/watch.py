"""`leadline watch`: read runs while they train."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .options import SHARE, STEPS, joining_of, joining_options
from .screen import color


@click.command("watch")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Watch the runs in the [watch] table of a leadline.toml, each with its own process, policy and channels.",
)
@click.option("--headless", is_flag=True, help="Print a line a look instead of the live view, as for a service.")
@click.option(
    "--state",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Keep what is remembered there; below ~/.local/state/leadline when not given.",
)
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    metavar="SECONDS",
    help="Look at least so often while rows come in, beside the looks that are due by themselves.",
)
@click.option(
    "--tell",
    multiple=True,
    metavar="CHANNEL",
    help="Send alerts there: stdout, desktop, webhook:$NAME, slack:$NAME, discord:$NAME, mail:ADDRESS, command:...",
)
@click.option("--act", metavar="ORDER", help="Stop the run when the bar for that is reached (docs/live.md).")
@click.option(
    "--dry-run/--no-dry-run", default=True, show_default=True, help="Only say what --act would do, or really do it."
)
@click.option(
    "--then",
    type=click.Choice(["sigkill", "sigterm"]),
    help="Send this to a training that still runs after --act.",
)
@click.option(
    "--after",
    type=click.FloatRange(min=1),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="Wait so long before --then.",
)
@click.option(
    "--answer", type=click.Path(path_type=Path), metavar="FILE", help="Write what the last look said to FILE, as JSON."
)
@click.option("--state-near", type=click.Path(path_type=Path), hidden=True)  # in that folder, if its disk is local
@click.option("--heartbeat", type=click.Path(path_type=Path), hidden=True)  # a file to touch, for the sidecar
@click.option(
    "--metrics",
    metavar="[HOST:]PORT",
    help="Serve Prometheus metrics there; beyond this machine to whoever has $LEADLINE_METRICS_TOKEN.",
)
@click.option("--record", is_flag=True, help="Record what the machine does, as `leadline record` does.")
@click.option("--budget", type=STEPS, metavar="STEPS", help="As for `leadline read`.")
@click.option("--price", type=SHARE, metavar="SHARE", help="As for `leadline read`.")
@click.option("--map", "told", multiple=True, metavar="NAME=KEY", help="As for `leadline read`.")
@joining_options
@click.option("--no-color", is_flag=True, help="Draw without colour.")
def verb(
    paths: tuple[str, ...],
    config: Path | None,
    headless: bool,
    state: Path | None,
    every: float | None,
    tell: tuple[str, ...],
    act: str | None,
    dry_run: bool,
    then: str | None,
    after: float,
    answer: Path | None,
    state_near: Path | None,
    heartbeat: Path | None,
    metrics: str | None,
    record: bool,
    budget: int | None,
    price: float | None,
    told: tuple[str, ...],
    join: bool,
    separate: bool,
    no_color: bool,
) -> None:
    """Follow the runs at PATHS while they train, and look at them again when there is something new to say.

    Paths that are not there yet are waited for. SIGUSR1, or the key l, asks for a look now.

    Example: leadline watch outputs/* --tell 'slack:$SLACK_URL'
    """
    from ..live.entries import load
    from ..live.places import local_place
    from ..live.session import Options, run
    from ..sources.mapping import parse_mapping

    if "-" in paths:
        raise click.UsageError("a watch follows files; pass the log itself instead of -")
    if bool(paths) == (config is not None):
        raise click.UsageError("name the paths to watch, or a table of them with --config")
    if config is not None and (act or tell or budget or price or then):
        raise click.UsageError("with --config, what is wanted of each run stands in the table")
    wanted = None if config is None else load(config)
    if wanted is not None:
        paths = tuple(entry.path for entry in wanted.entries)
        state, every, metrics, answer = (
            state or wanted.state,
            every or wanted.every,
            metrics or wanted.metrics,
            answer or wanted.answer,
        )
    run(
        Options(
            paths=tuple(dict.fromkeys(paths)),
            entries=() if wanted is None else wanted.entries,
            state=state if state_near is None else local_place(state_near, "state.db"),
            headless=headless or not sys.stdout.isatty(),
            every=every,
            mapping=parse_mapping(told),
            joining=joining_of(join, separate),
            budget=budget,
            price=price,
            tell=tell,
            act=act,
            dry_run=dry_run,
            then=then,
            after=after,
            heartbeat=heartbeat,
            answer=answer,
            metrics=metrics,
            record=record,
            color=color(no_color),
        )
    )
