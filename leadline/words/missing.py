"""Why it matters that something was not found."""

from __future__ import annotations

WHY = {
    "reward": "without the training reward there is nothing to judge",
    "held-out reward": "a reward that is gamed on the training prompts cannot be told from a real gain",
    "reference KL": "drift has to be read from entropy, length and the text",
    "rollouts": "what the policy writes could not be checked",
    "checkpoints": "which steps could be rolled back to is unknown",
    "planned steps": "the remaining budget is unknown; --budget STEPS sets it",
    "telemetry": "GPU, memory and background processes could not be checked",
}


def why(what: str) -> str:
    return WHY.get(what, "")
