"""How an algorithm weighs its samples, as far as its name tells."""

from __future__ import annotations

from ..run import Run

CENTRED_ALGORITHMS = (
    "cispo",
    "dapo",
    "dr_grpo",
    "drgrpo",
    "gmpo",
    "gpg",
    "grpo",
    "gspo",
    "reinforce++",
    "reinforce_plus_plus",
    "reinforce_pp",
    "rloo",
)  # names: advantages sum to 0 over a group or a batch


def centred(run: Run) -> bool:
    """Whether advantages are centred within groups or batches. Both trainers that a bare TRL log may be do so."""
    return (run.config.algorithm or "").lower() in CENTRED_ALGORITHMS or run.framework == "trl"
