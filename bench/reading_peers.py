"""What else reads such runs: rldoctor 0.2.0 where it is installed, and the fixed thresholds people pass around."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable

import numpy as np

from leadline.run import Run

NAMES = {
    "reward/mean": "reward",
    "reward/std": "reward_std",
    "kl/ref": "kl",
    "entropy": "entropy",
    "loss/policy": "loss",
    "loss/total": "loss",
    "grad_norm": "grad_norm",
    "len/response_mean": "completions/mean_length",
    "len/response_max": "completions/max_length",
    "len/response_clip_frac": "completions/clipped_ratio",
    "group/zero_std_frac": "frac_reward_zero_std",
    "clip/frac": "clip_ratio/region_mean",
    "lr": "learning_rate",
    "time/step": "step_time",
}
SETTINGS = {"algo": "algorithm", "G": "num_generations", "beta": "beta", "lr": "learning_rate", "clip": "epsilon"}


def rldoctor() -> Callable[[Run], bool] | None:
    """Whether rldoctor warns of anything (WARNING or worse) in a run; None where it is not installed."""
    try:
        from rl_doctor import Severity, diagnose, run_from_records
    except ImportError:
        return None

    def warns(run: Run) -> bool:
        rows: dict[int, dict[str, float]] = {}
        for series in run.series:
            name = NAMES.get(series.name) or ("eval_score" if series.name.startswith("eval/") else None)
            if name is not None:
                for step, value in zip(series.steps.tolist(), series.values.tolist(), strict=True):
                    rows.setdefault(step, {"step": step})[name] = value
        settings = {"max_steps": run.config.planned_steps or run.last_step}
        settings |= {theirs: run.config.raw[ours] for ours, theirs in SETTINGS.items() if ours in run.config.raw}
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            found = diagnose(run_from_records([rows[step] for step in sorted(rows)], config=settings))
        return any(one.severity >= Severity.WARNING for one in found.findings)

    return warns


def thresholds(run: Run) -> bool:
    """Numbers from tutorials: KL above .1, entropy below .1, over half truncated, gradient norm above 10, reward a
    fifth below its best smoothed value."""

    def late(name: str) -> float:
        series = run.get(name)
        values = series.values[series.finite] if series is not None else np.empty(0)
        return float(np.mean(values[-10:])) if len(values) else float("nan")

    reward = run.get("reward/mean")
    values = reward.values[reward.finite] if reward is not None else np.empty(0)
    smooth = np.convolve(values, np.ones(10) / 10, mode="valid") if len(values) > 10 else values
    dropped = len(smooth) > 0 and smooth[-1] < smooth.max() - 0.2 * max(abs(float(smooth.max())), 1e-9)
    high = late("kl/ref") > 0.1 or late("len/response_clip_frac") > 0.5 or late("grad_norm") > 10
    return bool(dropped or high or late("entropy") < 0.1)
