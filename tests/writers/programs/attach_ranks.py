"""Trains nothing in several processes with `leadline.attach` in each: torchrun --nproc-per-node 2 attach_ranks.py OUT.

OUT/RANK.json says at which step each process stopped. The answer is given at step 33, to the process that writes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
import torch.distributed

import leadline


def main(out: Path) -> None:
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    run = leadline.attach("run", out, look=False, stop=True)
    stopped = None
    for step in range(1, 400):
        total = torch.ones(1)
        torch.distributed.all_reduce(total)  # as the gradients of a step: a process that stops alone hangs the others
        run.log(step, {"reward": float(total), "step_of": step})
        if step == 33 and run.folder is not None:
            token = json.loads((run.folder / "journal.jsonl").read_text().splitlines()[0])["token"]
            told = {"step": 33, "verdict": "stop", "act": True, "to": token}
            (run.folder / "answer.json").write_text(json.dumps(told))
        if run.should_stop():
            stopped = step
            break
    (out / f"{rank}.json").write_text(json.dumps(stopped))
    run.close()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
