"""Why it matters that something was not found, and what would let it be seen next time."""

from __future__ import annotations

from ..facts.missing import Missing

WHY = {
    "reward": "without the training reward there is nothing to judge",
    "held-out reward": "a reward that is gamed on the training prompts cannot be told from a real gain",
    "independent score": "the held-out score is the training reward again: what one cannot see, neither can the other",
    "reference KL": "drift has to be read from entropy, length and the text",
    "rollouts": "what the policy writes could not be checked, so a gamed reward could hardly be seen",
    "checkpoints": "which steps could be rolled back to is unknown",
    "planned steps": "the remaining budget is unknown; --budget STEPS sets it",
    "telemetry": "GPU, memory and background processes could not be checked",
}
# What keeps the samples, by framework.
KEEP = {
    "trl": "log_completions=True",
    "unsloth": "log_completions=True",
    "ms-swift": "--log_completions true",
    "verl": "trainer.rollout_data_dir=DIR",
    "rllm": "trainer.rollout_data_dir=DIR",
    "skyrl": "trainer.dump_eval_results=true",
    "roll": "rollout_dump_dir: DIR",
    "open-instruct": "--save_traces --rollouts_save_path DIR",
    "nemo-rl": "keep train_data_step*.jsonl beside the log",
    "prime-rl": "keep the folder rollouts beside the log",
    "areal": "keep the folder rollout beside the log",
    "tinker-cookbook": "keep the folders iteration_* beside the log",
}
ANY = "rollouts/STEP.jsonl beside the log, a line a sample: prompt, response, reward"


def why(missing: Missing) -> str:
    said = WHY.get(missing.what, "")
    return f"{said}; to keep them: {keep(missing.framework)}" if missing.what == "rollouts" else said


def keep(framework: str | None) -> str:
    """The setting that keeps samples. The trainers of one library are one framework."""
    return KEEP.get(framework or "", KEEP.get((framework or "").split("-")[0], ANY))


def blind(missing: tuple[Missing, ...]) -> str:
    """What could not be seen for want of text; empty where there is some."""
    lacking = next((one for one in missing if one.what == "rollouts"), None)
    if lacking is None:
        return ""
    return f"without samples a gamed reward is hardly seen; to keep them: {keep(lacking.framework)}"
