"""What halving and doubling the constants of the judgement does to its score."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

from tables import Table

import leadline.judgement
from leadline.judgement import judge
from leadline.reading import View

SWEPT = (  # all that touch the verdict or the named checkpoint
    "BARELY",
    "NOTICEABLE",
    "COMES",
    "EARLY",
    "BAR",
    "EVEN",
    "SPAN",
    "MOST",
    "FELL",
    "CLEARLY",
    "WINDOW",
    "LOCAL",
    "PRICE",
    "AHEAD",
)
SHARES = ("COMES", "EVEN", "MOST", "CLEARLY")  # of these, which cannot be doubled, the odds are
UNTOUCHED = ("CLOSE", "SHOWN", "SOONEST", "NAMED")  # decide what is listed and when to look again


def table(score: Any, truths: dict[str, Any], jobs: Sequence[Any], processes: int) -> Table:
    said: dict[str, dict[str, list[dict[str, Any]]]] = {}
    with ProcessPoolExecutor(processes) as pool:
        for job, answers in zip(jobs, pool.map(_swept, jobs), strict=True):
            for name, lines in answers.items():
                said.setdefault(name, {})[job.run] = lines
    rows = []
    for name, given in said.items():
        cells = [name]
        for kind in ("zoo", "public"):
            scored = [
                {"run": run, "kind": kind, "family": truths[run][0].family, **score.score_run(truths[run][1], lines)}
                for run, lines in given.items()
                if truths[run][0].kind == kind
            ]
            if scored:
                figures = score.summary(scored)
                cells += [f"{figures[key]:.3f}" for key in ("U", "false_stop", "missed", "select")]
        rows.append(cells)
    kinds = [kind for kind in ("zoo", "public") if any(run.kind == kind for run, _ in truths.values())]
    columns = ["constant", *(f"{kind} {key}" for kind in kinds for key in ("U", "false", "missed", "select"))]
    note = f"Not swept, since no verdict and no named checkpoint depends on them: {', '.join(UNTOUCHED)}."
    return Table("Halved and doubled", "U changes by less than .02", columns, rows, note)


def _swept(job: Any) -> dict[str, list[dict[str, Any]]]:
    run, clock = job.open()
    said: dict[str, list[dict[str, Any]]] = {}
    for step in job.steps:
        view = View(run.until(clock.ours_at(step)))  # fits each stretch once, however often it is judged
        for name, changes in _variants().items():
            with _set(changes):
                one = judge(view, job.found_by(step), planned=clock.planned)
            best = None if one.best_checkpoint is None else clock.theirs_at(one.best_checkpoint.step)
            said.setdefault(name, []).append({"run": job.run, "step": step, "verdict": one.verdict, "best_step": best})
    return said


def _variants() -> dict[str, dict[str, float]]:
    values = {name: _value(name) for name in SWEPT}
    variants: dict[str, dict[str, float]] = {"as it is": {}}
    for name, value in values.items():
        for times in (0.5, 2.0):
            new = times * value
            if name in SHARES:
                new = new / (1 - value + new)
            variants[f"{name} {value:g} -> {new:.3g}"] = {name: type(value)(new)}
    return variants


def _modules() -> list[Any]:
    path = leadline.judgement.__path__
    return [importlib.import_module(f"leadline.judgement.{one.name}") for one in pkgutil.iter_modules(path)]


def _value(name: str) -> float:
    value: float = next(getattr(module, name) for module in _modules() if hasattr(module, name))
    return value


@contextmanager
def _set(changes: dict[str, float]) -> Iterator[None]:
    """The constants as changed, in every module of the judgement that knows them."""
    kept = [(module, name, getattr(module, name)) for module in _modules() for name in changes if hasattr(module, name)]
    for module, name, _ in kept:
        setattr(module, name, changes[name])
    try:
        yield
    finally:
        for module, name, value in kept:
            setattr(module, name, value)
