"""`leadline watch`: read runs while they train."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..records import dataclass, replace
from .options import budget_option, joining_of, joining_options, map_option, price_option, renamed, taking
from .screen import color


@dataclass(frozen=True, slots=True)
class WatchOptions:
    paths: tuple[str, ...]
    config: Path | None
    headless: bool
    state: Path | None
    every: float | None
    tell: tuple[str, ...]
    act: str | None
    dry_run: bool
    then: str | None
    after: float
    answer: Path | None
    state_near: Path | None
    heartbeat: Path | None
    share: float | None
    metrics: str | None
    record: bool
    budget: int | None
    price: float | None
    told: tuple[str, ...]
    join: bool
    separate: bool
    no_color: bool


@click.command("watch")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Watch the runs in the [watch] table of a leadline.toml, each with its own process, policy and channels.",
)
@click.option("--headless", is_flag=True, help="Print one line per check; no live view.")
@click.option(
    "--state",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Keep what is remembered there; below ~/.local/state/leadline when not given.",
)
@renamed(
    "--interval",
    "--every",
    "every",
    type=click.FloatRange(min=0.1),
    metavar="SECONDS",
    help="Check at least every SECONDS while the log grows.",
)
@renamed(
    "--notify",
    "--tell",
    "tell",
    multiple=True,
    metavar="CHANNEL",
    help="Send alerts there: stdout, desktop, webhook:$NAME, slack:$NAME, discord:$NAME, mail:ADDRESS, command:...",
)
@click.option("--act", metavar="ORDER", help="Stop the run when the bar for that is reached (docs/live.md).")
@click.option("--dry-run/--no-dry-run", default=True, show_default=True, help="Only report what --act would do.")
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
@renamed(
    "--verdict-file",
    "--answer",
    "answer",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the latest verdict to FILE as JSON.",
)
@click.option("--state-near", type=click.Path(path_type=Path), hidden=True)  # in that folder, if its disk is local
@click.option("--heartbeat", type=click.Path(path_type=Path), hidden=True)  # a file to touch, for the sidecar
@click.option(
    "--share", type=click.FloatRange(0, 1, min_open=True), hidden=True
)  # of one core that its checks may take
@click.option(
    "--metrics",
    metavar="[HOST:]PORT",
    help="Serve Prometheus metrics there; beyond this machine to whoever has $LEADLINE_METRICS_TOKEN.",
)
@click.option("--record", is_flag=True, help="Record what the machine does, as `leadline record` does.")
@budget_option
@price_option
@map_option
@joining_options
@click.option("--no-color", is_flag=True, help="Print plain text.")
@taking(WatchOptions)
def verb(options: WatchOptions) -> None:
    """Monitor runs while they train; send alerts and, if asked, stop them.

    Paths that are not there yet are waited for. SIGUSR1, or the key l, asks for a check now.

    Example: leadline watch outputs/* --notify 'slack:$SLACK_URL'
    """
    from ..live.entries import Options, WatchEntry, load
    from ..live.places import local_place
    from ..live.session import run
    from ..sources.mapping import parse_mapping

    if "-" in options.paths:
        raise click.UsageError("a watch follows files; pass the log itself instead of -")
    if bool(options.paths) == (options.config is not None):
        raise click.UsageError("name the paths to watch, or a table of them with --config")
    same = (options.act, options.dry_run, options.then, options.after, options.tell, options.budget, options.price)
    if options.config is None:
        wanted = Options(tuple(WatchEntry(path, *same) for path in dict.fromkeys(options.paths)))
    elif options.act or options.tell or options.budget or options.price or options.then:
        raise click.UsageError("with --config, set what is wanted of each run in the table")
    else:
        wanted = load(options.config)
    near = options.state_near
    run(
        replace(
            wanted,
            state=options.state or wanted.state if near is None else local_place(near, "state.db"),
            headless=options.headless or not sys.stdout.isatty(),
            every=options.every or wanted.every,
            mapping=parse_mapping(options.told),
            joining=joining_of(options.join, options.separate),
            heartbeat=options.heartbeat,
            answer=options.answer or wanted.answer,
            metrics=options.metrics or wanted.metrics,
            record=options.record,
            share=options.share,
            color=color(options.no_color),
        )
    )
