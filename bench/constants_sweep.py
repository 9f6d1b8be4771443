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
from typing import ClassVar

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

from constants import LOOKS, SAMPLE, Constant

from leadline.curve.curve import Curve
from leadline.pipeline import read_run
from leadline.reading import whole
from leadline.run import Run, Series
from leadline.sources import open_run, read_samples

Said = dict[str, tuple[str, frozenset[str], str]]  # by look: the word for the reward, the concerns, the verdict

ENGINE = "leadline.curve"
FACTORS = (0.5, 2.0)


def sweep(found: Sequence[Constant], zoo: Path, processes: int) -> Iterator[tuple[Constant, list[str]]]:
    """What changes with each constant halved and doubled, as it becomes known. Every variation is a child of this
    process, which has opened the runs, and fitted the curves that constants outside the engine leave alone."""
    _Sample.open(zoo)
    base = say()
    with get_context("fork").Pool(processes, maxtasksperchild=1) as pool:
        told = pool.imap(_variation, [(one.module, one.name, factor) for one in found for factor in FACTORS])
        for one in found:
            yield one, [_told(base, next(told)) for _ in FACTORS]


def _variation(job: tuple[str, str, float]) -> Said | None:
    """What is said of the sample with one constant changed; None where that fails."""
    try:
        change(*job)
        if job[0].startswith(ENGINE):
            _Sample.forget()
        return say()
    except Exception:  # a value that makes no sense is a result
        return None


class _Sample:
    """The runs that are read, and the curves fitted so far."""

    runs: ClassVar[dict[str, Run]] = {}
    curves: ClassVar[dict[tuple[object, ...], Curve]] = {}

    @classmethod
    def open(cls, zoo: Path) -> None:
        for name in SAMPLE:
            run = open_run(zoo / name)
            cls.runs[name] = read_samples(run, run.rollouts.steps)
        fit = whole.fit_curve

        def once(series: Series, **how: object) -> Curve:
            key = (series.name, series.steps.tobytes(), series.values.tobytes(), repr(sorted(how.items())))
            if key not in cls.curves:
                cls.curves[key] = fit(series, **how)  # type: ignore[arg-type]
            return cls.curves[key]

        whole.fit_curve = once  # type: ignore[assignment]

    @classmethod
    def forget(cls) -> None:
        """All that was made with the constants as they were."""
        cls.curves.clear()
        for module in [other for key, other in list(sys.modules.items()) if key.startswith(ENGINE) and other]:
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def _told(base: Said, other: Said | None) -> str:
    if other is None:
        return "fails"
    words = sum(base[look][0] != other[look][0] for look in base)
    came = sum(len(other[look][1] - base[look][1]) for look in base)
    gone = sum(len(base[look][1] - other[look][1]) for look in base)
    verdicts = sum(base[look][2] != other[look][2] for look in base)
    parts = [f"{words} words"] * bool(words) + [f"{verdicts} verdicts"] * bool(verdicts)
    parts += [f"+{came}"] * bool(came) + [f"-{gone}"] * bool(gone)
    return " ".join(parts) or "same"


def say() -> Said:
    """Reward word and concerns of every run and look of the sample."""
    said: Said = {}
    for name, run in _Sample.runs.items():
        for part in LOOKS:
            reading = read_run(run.until(round(part * (run.last_step or 0))))
            ids = frozenset(one.id for one in reading.findings if one.severity != "note")
            said[f"{name}@{part}"] = (reading.reward.shape, ids, reading.judgement.verdict)
    return said


def change(module: str, name: str, factor: float) -> None:
    """Multiply a constant where it stands and wherever it was imported by name."""
    old = getattr(importlib.import_module(module), name)
    new = _times(old, factor)
    for loaded in [other for key, other in list(sys.modules.items()) if key.startswith("leadline") and other]:
        if loaded.__name__ == module or (module, name) in _imported(loaded):
            setattr(loaded, name, new)


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
