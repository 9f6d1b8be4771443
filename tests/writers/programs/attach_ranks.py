"""Trains a sharded line (FSDP) in several processes with `leadline.attach` in each.

    torchrun --nproc-per-node 2 attach_ranks.py OUT

OUT/RANK.json says at which step each process stopped. The answer is given at step 33, to the process that writes.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import torch
import torch.distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

import leadline


def main(out: Path) -> None:
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    run = leadline.attach("run", out, watch=False, stop=True)
    line = torch.nn.Linear(8, 8)
    fully_shard(line, mesh=init_device_mesh("cpu", (torch.distributed.get_world_size(),)))
    assert isinstance(line.weight, DTensor)
    optimizer = torch.optim.SGD(line.parameters(), lr=0.01)
    stopped = None
    for step in range(1, 400):
        loss = (line(torch.ones(2, 8)) - 1).square().mean()
        loss.backward()  # gathers and reduces: a process that stops alone hangs the others
        optimizer.step()
        optimizer.zero_grad()
        run.log(step, {"reward": -loss.item(), "step_of": step})
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
    os._exit(0)  # gloo's threads abort a process that winds down while they still hold a tensor (torch 2.13)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
