"""Which knob is suspect, by what was found: one table, most serious finding first, never more than two."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts import Finding
from ..facts.judgement import Advice, Knob

MOST = 2  # a longer list is a checklist, not advice

SUSPECTS: dict[str, tuple[Knob, str]] = {
    "kl.destructive": ("learning_rate", "lower"),
    "kl.frozen": ("learning_rate", "raise"),
    "kl.pinned": ("kl_coefficient", "lower"),
    "kl.over_optimisation": ("kl_coefficient", "raise"),
    "kl.drift_without_benefit": ("reward_function", "check"),
    "signal.clipping": ("learning_rate", "lower"),
    "signal.gradient": ("learning_rate", "lower"),
    "generation.truncation": ("length_cap", "check"),
    "generation.shortcut": ("reward_function", "check"),
    "generation.diversity": ("reward_function", "check"),
    "reward.gamed": ("reward_function", "check"),
    "reward.component": ("reward_function", "check"),
    "reward.outage": ("reward_function", "check"),
    "signal.train_eval_gap": ("data", "check"),
    "signal.no_learning_signal": ("data", "check"),
    "reward.prompts_changed": ("data", "check"),
}


PAID_FOR = ("reward.gamed", "generation.shortcut", "generation.diversity")  # what a score would have paid for


def advise(findings: Sequence[Finding], *, fallen: bool = False) -> tuple[Advice, ...]:
    """The knobs that the serious findings speak of, each once; `findings` by weight. `fallen`: the score was lost with
    the text, so it paid for nothing and is not suspect."""
    found: dict[Knob, Advice] = {}
    for finding in findings:
        if fallen and finding.id in PAID_FOR:
            continue
        if finding.id in SUSPECTS and finding.severity != "note":
            knob, way = SUSPECTS[finding.id]
            found.setdefault(knob, Advice(knob, way, finding.id))  # type: ignore[arg-type]
    return tuple(found.values())[:MOST]
