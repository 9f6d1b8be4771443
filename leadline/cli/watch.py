"""`leadline watch`: read runs while they train."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..records import dataclass, replace
from .options import (
    BUDGET,
    FILE,
    JOIN,
    MAP,
    NO_COLOR,
    PRICE,
    SEPARATE,
    Number,
    argument,
    command,
    joining_of,
    option,
)  # fmt: skip
from .screen import color


@dataclass(frozen=True, slots=True)
class WatchOptions:
    paths: tuple[str, ...] = argument(nargs=-1, metavar="PATH...")
    config: Path | None = option(
        "--config",
        type=FILE,
        metavar="FILE",
        help="Read runs, actions, and channels from the [watch] table of a leadline.toml.",
    )
    headless: bool = option("--headless", help="Print one line per check; no live view.")
    state: Path | None = option(
        "--state", type=FILE, metavar="FILE", help="State file [default: under ~/.local/state/leadline]."
    )
    every: float | None = option(
        "--interval", type=Number(0.1), metavar="SECONDS", help="Check at least every SECONDS while the log grows."
    )
    tell: tuple[str, ...] = option(
        "--notify",
        metavar="CHANNEL",
        help="Send alerts to CHANNEL: stdout, webhook:$NAME, slack:$NAME, discord:$NAME, mail:ADDRESS, or "
        "command:... Repeatable.",
    )
    act: str | None = option(
        "--act",
        metavar="ACTION",
        help="Stop the run once the evidence is strong enough (e.g. stop); dry run by default.",
    )
    dry_run: bool | None = option("--dry-run/--no-dry-run", default=None, help="Only report what --act would do.")
    then: str | None = option(
        "--then", type=click.Choice(["sigkill", "sigterm"]), help="Escalate with this signal if the run survives --act."
    )
    after: float = option(
        "--after",
        type=Number(1),
        default=300.0,
        metavar="SECONDS",
        help="Seconds to wait before --then.",
    )
    answer: Path | None = option("--verdict-file", metavar="FILE", help="Write the latest verdict to FILE as JSON.")
    heartbeat: Path | None = option("--heartbeat", hidden=True)  # a file to touch, for the sidecar
    share: float | None = option("--share", type=Number(0.001, 1), hidden=True)  # of one core that its checks may take
    metrics: str | None = option(
        "--metrics",
        metavar="[HOST:]PORT",
        help="Serve Prometheus metrics; beyond this machine only with $LEADLINE_METRICS_TOKEN.",
    )
    budget: int | None = BUDGET
    price: float | None = PRICE
    told: tuple[str, ...] = MAP
    separate: bool = SEPARATE
    join: bool = JOIN
    no_color: bool = NO_COLOR


@command("watch", WatchOptions)
def verb(options: WatchOptions) -> None:
    """Monitor runs while they train; send alerts and, if asked, stop them.

    Waits for paths that don't exist yet. Press l or send SIGUSR1 to check now.

    Example: leadline watch outputs/* --notify 'slack:$SLACK_URL'
    """
    from ..live.entries import Options, WatchEntry, load
    from ..live.session import run
    from ..sources.mapping import parse_mapping

    if "-" in options.paths:
        raise click.UsageError("`watch` can't read stdin; pass the log file")
    if bool(options.paths) == (options.config is not None):
        raise click.UsageError("pass the paths to watch, or --config FILE")
    dry = options.dry_run is not False
    same = (options.act, dry, options.then, options.after, options.tell, options.budget, options.price)
    if options.config is None:
        wanted = Options(tuple(WatchEntry(path, *same) for path in dict.fromkeys(options.paths)))
    elif options.dry_run is not None or any((options.act, options.tell, options.budget, options.price, options.then)):
        raise click.UsageError("with --config, set options per run in its table")
    else:
        wanted = load(options.config)
    run(
        replace(
            wanted,
            state=options.state or wanted.state,
            headless=options.headless or not sys.stdout.isatty(),
            every=options.every or wanted.every,
            mapping=parse_mapping(options.told),
            joining=joining_of(options.join, options.separate),
            heartbeat=options.heartbeat,
            answer=options.answer or wanted.answer,
            metrics=options.metrics or wanted.metrics,
            share=options.share,
            color=color(options.no_color),
        )
    )
