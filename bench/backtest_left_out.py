"""What was fitted, fitted again without each family or repository in turn, and judged there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from leadline.judgement.ending import BAR
from numpy.typing import NDArray

from leadline.questions.forecast import still_to_come

Floats = NDArray[np.float64]
Line = dict[str, Any]

COMES = np.arange(0.30, 0.81, 0.01)
EARLY = np.arange(1.0, 9.1, 0.25)
NEVER = 0.01  # no answer is held to be surer than this


@dataclass(frozen=True, slots=True)
class Fitted:
    """The two constants that were fitted."""

    comes: float
    early: float

    def p(self, grounds: Line) -> float:
        return 0.0 if grounds["over"] else self._gain(grounds["rises"], grounds["elapsed"]) * (1 - grounds["against"])

    def stops(self, grounds: Line) -> bool:
        """As `leadline.judgement.ending.should_stop`, with these constants."""
        if grounds["over"]:
            return True
        held = grounds["before"] is not None and self._gain(*grounds["before"]) < BAR
        return self.p(grounds) < BAR and (grounds["settled"] or held)

    def _gain(self, rises: float, elapsed: float) -> float:
        return rises + (1 - rises) * still_to_come(elapsed, self.comes, self.early)


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """All looks before the end, as columns; each run of the zoo and each repository weighs the same."""

    rises: Floats
    elapsed: Floats
    against: Floats
    came: Floats
    weight: Floats
    group: NDArray[np.str_]

    @classmethod
    def of(cls, truths: dict[str, Any], given: dict[str, list[Line]]) -> Looks:
        rows = []
        for name, lines in given.items():
            run, truth = truths[name]
            group = _group(run)
            unit = group if run.kind == "public" else name
            for line in lines:
                grounds = line["grounds"]
                if grounds is not None and line["step"] < truth.T:
                    came = gain_came(truth, line["step"])
                    rows.append((grounds["rises"], grounds["elapsed"], grounds["against"], came, run.kind, unit, group))
        rises, elapsed, against, came, kinds, units, groups = zip(*rows, strict=True)
        counts = {unit: units.count(unit) for unit in set(units)}
        shares = {kind: len({unit for unit, of in zip(units, kinds, strict=True) if of == kind}) for kind in set(kinds)}
        weight = [1 / counts[unit] / shares[kind] for unit, kind in zip(units, kinds, strict=True)]
        return cls(*map(np.asarray, (rises, elapsed, against, np.asarray(came, float), weight, groups)))

    def fit(self, inside: NDArray[np.bool_]) -> Fitted:
        """The constants under which what came was likeliest."""
        best, found = np.inf, Fitted(0.0, 0.0)
        for comes in COMES:
            for early in EARLY:
                waiting = comes * (1 - self.elapsed[inside]) ** early
                rises = self.rises[inside]
                p = (rises + (1 - rises) * waiting / (1 - comes + waiting)) * (1 - self.against[inside])
                right = np.where(self.came[inside] > 0, p, 1 - p)
                loss = -float((self.weight[inside] * np.log(np.clip(right, NEVER, 1 - NEVER))).sum())
                if loss < best:
                    best, found = loss, Fitted(round(float(comes), 2), float(early))
        return found


def gain_came(truth: Any, step: float) -> bool:
    """Whether a clear gain came after a step, as the score counts a false stop."""
    return bool(truth.late_gain(step) > max(3 * truth.se, 0.05 * truth.S))


def refitted(truths: dict[str, Any], given: dict[str, list[Line]]) -> dict[str, Fitted]:
    """The constants for each family or repository, from all the others; and from all, from the zoo, from the public
    runs alone."""
    looks = Looks.of(truths, given)
    groups = sorted(set(looks.group.tolist()))
    of_kind = {kind: np.char.startswith(looks.group, kind) for kind in ("zoo", "public")}
    found = {group: looks.fit(looks.group != group) for group in groups}
    found["all"] = looks.fit(np.ones(len(looks.group), dtype=bool))
    return {**found, **{f"{kind} alone": looks.fit(inside) for kind, inside in of_kind.items() if inside.any()}}


def judged_again(truths: dict[str, Any], given: dict[str, list[Line]], by: dict[str, Fitted]) -> dict[str, list[Line]]:
    """Every look with the constants that its own family had no part in."""
    return {name: _again(lines, by[_group(truths[name][0])]) for name, lines in given.items()}


def _group(run: Any) -> str:
    return f"{run.kind}: {run.family}"


def _again(lines: Sequence[Line], fitted: Fitted) -> list[Line]:
    return [line if line["grounds"] is None else _one_again(line, fitted) for line in lines]


def _one_again(line: Line, fitted: Fitted) -> Line:
    grounds = line["grounds"]
    verdict = "stop" if fitted.stops(grounds) else "undecided"
    return {**line, "verdict": verdict, "p_continue_pays": fitted.p(grounds)}
