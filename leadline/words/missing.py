"""Why it matters that something was not found, and what would let it be seen next time."""

from __future__ import annotations

from ..facts.missing import Missing

WHY = {
    "reward": "nothing to judge without it",
    "rollouts": "reward hacking is hard to detect",
    "held-out reward": "hacking on train prompts would look like progress",
    "independent score": "the held-out eval tracks the training reward and shares its blind spots",
    "reference KL": "drift must be read from entropy, length, and text",
    "planned steps": "remaining budget unknown; set it with --budget STEPS",
    "checkpoints": "can't name a checkpoint to roll back to",
    "telemetry": "GPU, memory, and background processes can't be checked",
}
ORDER = tuple(WHY)  # what hides most first
CALLED = {"held-out reward": "held-out eval", "rollouts": "sampled responses", "independent score": "independent eval"}
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
ANY = "log rollouts/STEP.jsonl (prompt, response, reward)"


def why(missing: Missing) -> str:
    said = WHY.get(missing.what, "")
    if missing.what != "rollouts":
        return said
    how = keep(missing.framework)
    return f"{said}; {how if how.startswith(('keep ', 'log ')) else f'set {how}'}"


def keep(framework: str | None) -> str:
    """The setting that keeps samples. The trainers of one library are one framework."""
    return KEEP.get(framework or "", KEEP.get((framework or "").split("-")[0], ANY))


def hidden(missing: tuple[Missing, ...]) -> str:
    """What was not found, with what the most important of it hides."""
    named = [
        one.what for one in sorted(missing, key=lambda one: ORDER.index(one.what) if one.what in ORDER else len(ORDER))
    ]
    first = next(one for one in missing if one.what == named[0])
    return ", ".join((f"{CALLED.get(named[0], named[0])} ({why(first)})", *(CALLED.get(one, one) for one in named[1:])))
