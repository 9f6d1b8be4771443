"""A run whose log was written by someone who means harm: markup, escapes, direction marks and endless words."""

from __future__ import annotations

import json
import math
from pathlib import Path

SCRIPT = "<script>window.hacked = 1; alert(1)</script>"
WORDS = (
    SCRIPT,
    "</script><script>window.hacked = 2</script>",
    "</textarea></pre></title><img src=x onerror='window.hacked = 3'>",
    "<!-- <script> --><svg onload='window.hacked = 4'>",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J",
    "\u202egnorw \u2066\u200f\u200b\u2028\u2029",
    "{{data}} {{script}} ${window.hacked = 5} `${1}` javascript:window.hacked=6",
    "&lt;b&gt; &amp; ' \" \\ \\u003cscript\\u003e",
    "\ud800 lone, \x00 nul, \r\n line",
)
ENDLESS = "w" * 1_000_000


def write_hostile(folder: Path, *, steps: int = 60) -> Path:
    """A verl run with hostile metric names, prompts, outputs and a hostile path."""
    run = folder / "<img src=x onerror='window.hacked = 7'> \u202egnp.\x1b[31m"
    (run / "rollouts").mkdir(parents=True)
    rows = []
    for step in range(1, steps + 1):
        data = {
            "critic/score/mean": 1 - math.exp(-step / 10) + 0.01 * math.sin(7 * step),
            "actor/ppo_kl": 0.001 * math.sin(step),
            "actor/kl_loss": 0.001 * step,
            "actor/entropy": 1 / step,
            **dict.fromkeys(WORDS, step * 1.0),
        }
        if step % 20 == 0:
            data[ENDLESS] = float(step)
        rows.append(json.dumps({"step": step, "data": data}))
    (run / "metrics.jsonl").write_text("\n".join(rows) + "\n")
    for step in range(10, steps + 1, 10):
        turned = [*WORDS[step // 10 :], *WORDS[: step // 10]]  # others at each step: few of a step are shown
        samples = [
            {"input": word, "output": f"{word} {turned[place - 1]} {step}", "score": float(place % 2), "step": step}
            for place, word in enumerate(turned)
        ]
        samples.append({"input": "long", "output": ENDLESS, "score": 1.0, "step": step})
        (run / "rollouts" / f"{step}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in samples))
    return run
