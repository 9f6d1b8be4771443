"""Why a missing input matters, and how to log it next time."""

from __future__ import annotations

from ..facts.missing import Missing

WHY = {
    "reward": "no verdict is possible without the training reward",
    "held-out reward": "reward hacking on train prompts would look like progress",
    "independent score": "the held-out eval tracks the training reward, so it shares its blind spots",
    "reference KL": "drift can only be read from entropy, length, and text",
    "rollouts": "responses could not be checked, so reward hacking is hard to detect",
    "checkpoints": "can't name a checkpoint to roll back to",
    "planned steps": "the remaining budget is unknown; set it with --budget STEPS",
    "telemetry": "GPU, memory, and background processes could not be checked",
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
    "nemo-rl": "keep train_data_step*.jsonl next to the log",
    "prime-rl": "keep the folder rollouts next to the log",
    "areal": "keep the folder rollout next to the log",
    "tinker-cookbook": "keep the folders iteration_* next to the log",
}
ANY = "rollouts/STEP.jsonl next to the log, one sample per line: prompt, response, reward"


def why(missing: Missing) -> str:
    said = WHY.get(missing.what, "")
    return f"{said}; to log them: {keep(missing.framework)}" if missing.what == "rollouts" else said


def keep(framework: str | None) -> str:
    """The setting that keeps samples. The trainers of one library are one framework."""
    return KEEP.get(framework or "", KEEP.get((framework or "").split("-")[0], ANY))


def blind(missing: tuple[Missing, ...]) -> str:
    """Return the blind spot of a run without samples; empty if it has some."""
    lacking = next((one for one in missing if one.what == "rollouts"), None)
    if lacking is None:
        return ""
    return f"without sampled responses, reward hacking is hard to detect; to log them: {keep(lacking.framework)}"
