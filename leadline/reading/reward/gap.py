"""Training reward up or holding while held-out reward falls: what is learned no longer carries over."""

from __future__ import annotations

import numpy as np

from ...curve import Curve
from ...facts import BAR, Evidence, Finding
from ...questions.classes import FELL
from ...questions.fall import has_fallen
from ...questions.paths import cells_at, level_at, share, span_of
from ..view import View
from .apart import held_out_names
from .reading import HEADLINE
from .words import number


def train_eval_gap(view: View, train: Curve) -> tuple[Finding, ...]:
    """The held-out set on which the gap is surest, where the paths agree on one."""
    if not train.decidable:
        return ()
    curves = [curve for name in held_out_names(view) if (curve := view.curve(name)) is not None and curve.decidable]
    gaps = [(share(_parted(train, curve)), curve) for curve in curves]
    sure = 1 - (1 - BAR) / max(len(gaps), 1)  # the worst of many sets is often bad by chance
    found = [(p, curve) for p, curve in gaps if p > sure]
    if not found:
        return ()
    p, curve = max(found, key=lambda pair: pair[0])
    return (_finding(train, curve, p, others=len(found) - 1),)


def _parted(train: Curve, held_out: Curve) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Pairs of paths on which held-out reward has come down from its highest point while train reward has not come
    down since that step. A held-out curve that is only noisy has no path that fell beyond its noise."""
    then = cells_at(train, held_out.grid[held_out.summit])
    change = train.seen[:, -1] - level_at(train, then)
    kept = change > -np.maximum(FELL * train.span, train.last.noise)
    return np.asarray(has_fallen(held_out) & kept & ~has_fallen(train))


def _finding(train: Curve, held_out: Curve, p: float, others: int) -> Finding:
    fallen = held_out.seen[has_fallen(held_out)].mean(axis=0)
    top = int(fallen.argmax())
    step, last = round(float(held_out.grid[top])), span_of(held_out)[1]
    then, now = float(train.at(step).mean()), float(train.seen[:, -1].mean())
    more = f" So do {others} other held-out sets." if others > 1 else " So does another." if others else ""
    says = (
        f"Held-out reward ({held_out.metric}) has fallen from {number(fallen[top])} around step {step} to "
        f"{number(fallen[-1])}, while training reward went from {number(then)} to {number(now)}: "
        f"what is gained in training no longer carries over.{more}"
    )
    evidence = (Evidence(held_out.metric, step, last), Evidence(HEADLINE, step, last))
    return Finding("signal.train_eval_gap", round(p, 4), "concern", says, step, evidence)
