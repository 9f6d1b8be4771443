"""`leadline review`: a reader's word about what the policy wrote."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from .options import taking, until_option
from .screen import color, width


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    path: Path
    answer: str | None
    since: int | None
    grades: str | None
    reader: str
    note: str
    beside: bool
    forget: bool
    until: int | None
    blind: bool
    as_json: bool
    no_color: bool


@click.command("review")
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("answer", required=False, type=click.Choice(["ok", "hacked"]))
@click.option("--since", type=int, metavar="STEP", help="With `hacked`: last step before the hacking began.")
@click.option(
    "--grades", metavar="A,B,...", help="How well the task is done in each stretch shown, 0 to 1, or ? to skip one."
)
@click.option("--reader", default="", metavar="NAME", help="Who reviewed it.")
@click.option("--note", default="", metavar="TEXT", help="A remark to keep with the review.")
@click.option("--beside", is_flag=True, help="Save the review beside the run, so that it travels with it.")
@click.option("--forget", is_flag=True, help="Delete all reviews of this run.")
@until_option
@click.option("--blind", is_flag=True, help="Hide scores.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--no-color", is_flag=True, help="Print plain text.")
@taking(ReviewOptions)
def verb(options: ReviewOptions) -> None:
    """Judge sampled responses side by side; your answer counts in every later verdict: `ok`, `hacked`, or grades.

    Without an answer it shows early and late responses of equal score, then five stretches of the run with responses of
    the highest and lowest score. Saved answers count in every later verdict on this run.

    Example: leadline review outputs/grpo-run --grades 0.2,0.6,0.9,0.5,0.1
    """
    from ..report import review as report
    from ..report.data import dump
    from ..review import answered, store
    from ..sources import open_run
    from ..words import review as words

    if options.forget and (options.answer is not None or options.grades is not None):
        raise click.UsageError("give an answer, --grades, or both, or --forget")
    if options.answer == "hacked" and options.since is None:
        raise click.UsageError("say since when: hacked --since STEP")
    if options.answer != "hacked" and options.since is not None:
        raise click.UsageError("--since goes with `hacked`")
    if options.forget:
        click.echo(words.forgotten(store.forget(str(options.path))))
        return
    run = open_run(options.path).until(options.until)
    if options.answer is None and options.grades is None:
        sheet, kept = answered.sheet_to_read(run), store.load_of(run)
        if options.as_json:
            shown = dump(report.as_data(sheet, kept, blind=options.blind))
        else:
            colored = color(options.no_color)
            shown = report.render(sheet, kept, str(options.path), blind=options.blind, color=colored, width=width())
        click.echo(shown, nl=False)
        return
    review, says = answered.review_of(
        run, answer=options.answer, since=options.since, grades=options.grades, reader=options.reader
    )
    file = store.add(run.path, store.as_seen(review, run.rollouts), note=options.note, beside=options.beside)
    if options.as_json:
        click.echo(dump({**report.review_data(review), "note": options.note, "file": str(file)}), nl=False)
    else:
        click.echo("\n".join(filter(None, (words.said(review, options.note), says, words.saved(str(file))))))
