"""`leadline watch`: read runs while they train."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..records import dataclass, replace
from .options import (
    Number,
    budget_option,
    joining_of,
    joining_options,
    map_option,
    no_color_option,
    price_option,
    taking,
)
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
    help="Read runs, actions, and channels from the [watch] table of a leadline.toml.",
)
@click.option("--headless", is_flag=True, help="Print one line per check; no live view.")
@click.option(
    "--state",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="State file [default: under ~/.local/state/leadline].",
)
@click.option(
    "--interval",
    "every",
    type=Number(0.1),
    metavar="SECONDS",
    help="Check at least every SECONDS while the log grows.",
)
@click.option(
    "--notify",
    "tell",
    multiple=True,
    metavar="CHANNEL",
    help="Send alerts to CHANNEL: stdout, desktop, webhook:$NAME, slack:$NAME, discord:$NAME, mail:ADDRESS, or "
    "command:... Repeatable.",
)
@click.option(
    "--act", metavar="ACTION", help="Stop the run once the evidence is strong enough (e.g. stop); dry run by default."
)
@click.option("--dry-run/--no-dry-run", default=True, show_default=True, help="Only report what --act would do.")
@click.option(
    "--then", type=click.Choice(["sigkill", "sigterm"]), help="Escalate with this signal if the run survives --act."
)
@click.option(
    "--after",
    type=Number(1),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds to wait before --then.",
)
@click.option(
    "--verdict-file",
    "answer",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the latest verdict to FILE as JSON.",
)
@click.option("--state-near", type=click.Path(path_type=Path), hidden=True)  # in that folder, if its disk is local
@click.option("--heartbeat", type=click.Path(path_type=Path), hidden=True)  # a file to touch, for the sidecar
@click.option("--share", type=Number(0.001, 1), hidden=True)  # of one core that its checks may take
@click.option(
    "--metrics",
    metavar="[HOST:]PORT",
    help="Serve Prometheus metrics; beyond this machine only with $LEADLINE_METRICS_TOKEN.",
)
@click.option("--record", is_flag=True, help="Also record the machine, like `leadline record`.")
@budget_option
@price_option
@map_option
@joining_options
@no_color_option
@taking(WatchOptions)
def verb(options: WatchOptions) -> None:
    """Monitor runs while they train; send alerts and, if asked, stop them.

    Waits for paths that don't exist yet. Press l or send SIGUSR1 to check now.

    Example: leadline watch outputs/* --notify 'slack:$SLACK_URL'
    """
    from ..live.entries import Options, WatchEntry, load
    from ..live.places import local_place
    from ..live.session import run
    from ..sources.mapping import parse_mapping

    if "-" in options.paths:
        raise click.UsageError("`watch` can't read stdin; pass the log file")
    if bool(options.paths) == (options.config is not None):
        raise click.UsageError("pass the paths to watch, or --config FILE")
    same = (options.act, options.dry_run, options.then, options.after, options.tell, options.budget, options.price)
    if options.config is None:
        wanted = Options(tuple(WatchEntry(path, *same) for path in dict.fromkeys(options.paths)))
    elif options.act or options.tell or options.budget or options.price or options.then:
        raise click.UsageError("with --config, set options per run in its table")
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
