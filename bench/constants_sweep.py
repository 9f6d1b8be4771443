"""What changes when a constant is halved and doubled: `python bench/constants.py --sweep`."""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import ast
import importlib
import sys
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import ClassVar, NamedTuple

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

from constants import LOOKS, SAMPLE, Constant

from leadline.curve.curve import Curve
from leadline.kept import forget
from leadline.pipeline import read_run
from leadline.questions import level
from leadline.run import Run, Series
from leadline.sources import open_run, read_samples


class Look(NamedTuple):
    """A run, its samples read, the step up to which it is read, and how long it is to be, if that is told."""

    run: Run
    step: int
    planned: int | None = None


class Told(NamedTuple):
    """What is said at a look."""

    shape: str  # the word for the reward
    concerns: frozenset[str]
    verdict: str
    kept: int | None  # the step to keep


Said = dict[str, Told]  # by look

ENGINE = "leadline.curve"
FACTORS = (0.5, 2.0)


def sweep(found: Sequence[Constant], zoo: Path, processes: int) -> Iterator[tuple[Constant, list[str]]]:
    """What changes with each constant halved and doubled, as it becomes known. Every variation is a child of this
    process, which has opened the runs, and fitted the curves that constants outside the engine leave alone."""
    base = read_first(_of_zoo(zoo))
    for one, told in varied(found, processes):
        yield one, [_in_words(base, other) for other in told]


def read_first(looks: dict[str, Look]) -> Said:
    """What is said of the looks that all variations are read at, before anything is changed."""
    Sample.take(looks)
    base = {look: Sample.first(look) for look in looks}
    for look in looks:  # children find the curves as they are
        say(look)
    return base


def varied(found: Sequence[Constant], processes: int) -> Iterator[tuple[Constant, list[Said | None]]]:
    """What is said with each constant at each of the FACTORS, as it becomes known."""
    with get_context("fork").Pool(processes, maxtasksperchild=1) as pool:
        told = pool.imap(_variation, [(one.module, one.name, factor) for one in found for factor in FACTORS])
        for one in found:
            yield one, [next(told) for _ in FACTORS]


def _of_zoo(zoo: Path) -> dict[str, Look]:
    looks = {}
    for name in SAMPLE:
        run = open_run(zoo / name)
        run = read_samples(run, run.rollouts.steps)
        looks |= {f"{name}@{part}": Look(run, round(part * (run.last_step or 0))) for part in LOOKS}
    return looks


def _variation(job: tuple[str, str, float]) -> Said | None:
    """What is said with one constant changed of the looks in which it is used; None where that fails."""
    try:
        changed = change(*job)
        forget()
        if job[0].startswith(ENGINE):
            Sample.forget()
        return {look: say(look) for look in Sample.looks if not changed.isdisjoint(Sample.names[look])}
    except Exception:  # a value that makes no sense is a result
        return None


class Sample:
    """The looks that are read, and the curves fitted so far."""

    looks: ClassVar[dict[str, Look]] = {}
    names: ClassVar[dict[str, set[str]]] = {}  # by look: what the functions name that run in it
    curves: ClassVar[dict[tuple[object, ...], Curve]] = {}

    @classmethod
    def take(cls, looks: dict[str, Look]) -> None:
        cls.looks = looks
        fit = level.fit_curve

        def once(series: Series, **how: object) -> Curve:
            key = (series.name, series.steps.tobytes(), series.values.tobytes(), repr(sorted(how.items())))
            if key not in cls.curves:
                cls.curves[key] = fit(series, **how)  # type: ignore[arg-type]
            return cls.curves[key]

        level.fit_curve = once  # type: ignore[assignment]

    @classmethod
    def first(cls, look: str) -> Told:
        """What is said of a look before anything is changed, and what its functions name."""
        names, calls = cls.names.setdefault(look, set()), set()

        def seen(frame: FrameType, event: str, _: object) -> None:
            code = frame.f_code
            if event == "call" and code not in calls and "leadline" in code.co_filename:
                calls.add(code)
                names.update(code.co_names)

        forget()  # what is kept is not asked again
        cls.forget()
        sys.setprofile(seen)
        try:
            return say(look)
        finally:
            sys.setprofile(None)

    @classmethod
    def forget(cls) -> None:
        """All that was made with the constants as they were."""
        cls.curves.clear()
        for module in [other for key, other in list(sys.modules.items()) if key.startswith(ENGINE) and other]:
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def _in_words(base: Said, other: Said | None) -> str:
    if other is None:
        return "fails"
    if not other:
        return "unused"
    words = sum(base[look].shape != told.shape for look, told in other.items())
    came = sum(len(told.concerns - base[look].concerns) for look, told in other.items())
    gone = sum(len(base[look].concerns - told.concerns) for look, told in other.items())
    verdicts = sum(base[look].verdict != told.verdict for look, told in other.items())
    parts = [f"{words} words"] * bool(words) + [f"{verdicts} verdicts"] * bool(verdicts)
    parts += [f"+{came}"] * bool(came) + [f"-{gone}"] * bool(gone)
    return " ".join(parts) or "same"


def say(look: str) -> Told:
    """What is said of a look."""
    run, step, planned = Sample.looks[look]
    reading = read_run(run.until(step), budget=planned)
    ids = frozenset(one.id for one in reading.findings if one.severity != "note")
    best = reading.judgement.best_checkpoint
    return Told(reading.reward.shape, ids, reading.judgement.verdict, None if best is None else best.step)


def change(module: str, name: str, factor: float) -> set[str]:
    """Multiply a constant where it stands, wherever it was imported by name, and what is set to it; return all names
    that it goes by."""
    old = getattr(importlib.import_module(module), name)
    new, names = _times(old, factor), {name}
    for loaded in [other for key, other in list(sys.modules.items()) if key.startswith("leadline") and other]:
        if loaded.__name__ == module or (module, name) in _imported(loaded):
            setattr(loaded, name, new)
        for other in _set_to(loaded, name):
            if getattr(loaded, other) is old:
                names |= change(loaded.__name__, other, factor)
    return names


def _set_to(module: object, name: str) -> list[str]:
    """The constants of a module that are another one by that name."""
    file = str(getattr(module, "__file__", ""))
    nodes = ast.parse(Path(file).read_text(encoding="utf-8")).body if file.endswith(".py") else []
    given = [node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    same = [node for node in given if ast.unparse(node.value).rpartition(".")[2] == name]
    return [ast.unparse(node.targets[0]) for node in same]


def _times(value: object, factor: float) -> object:
    if isinstance(value, tuple):
        return tuple(_times(one, factor) for one in value)
    if isinstance(value, int):
        return max(round(value * factor), 1)
    return value * factor  # type: ignore[operator]


def _imported(module: object) -> set[tuple[str, str]]:
    """What a module imports by name from another of ours: (module, name)."""
    file = getattr(module, "__file__", None)
    if not file or not str(file).endswith(".py"):
        return set()
    package = module.__package__ or ""  # type: ignore[attr-defined]
    found = set()
    for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
            source = ".".join(part for part in (base if node.level else "", node.module or "") if part)
            found |= {(source, alias.name) for alias in node.names}
            # What a package passes on from one of its modules is that module's.
            loaded = sys.modules.get(source)
            if (
                loaded is not None
                and str(getattr(loaded, "__file__", "")).endswith("__init__.py")
                and loaded is not module
            ):
                found |= {
                    (origin, name) for origin, name in _imported(loaded) if any(a.name == name for a in node.names)
                }
    return found
