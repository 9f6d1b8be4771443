"""Trains a line with a Hugging Face Trainer in two processes, and stops it by an answer: python stop_two.py OUT.

It saves every fifth step and keeps one checkpoint; the answer recommends the first. OUT/0.json and OUT/1.json say at
which step each process ended.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

import torch
import torch.multiprocessing
from torch import nn
from transformers import Trainer, TrainerCallback, TrainingArguments

from leadline import LeadlineCallback


class Line(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.slope = nn.Linear(1, 1)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": ((self.slope(x) - labels) ** 2).mean()}


class SaysStop(TrainerCallback):
    """Stands for the sidecar: it recommends the first checkpoint at step 7, and to stop at step 20."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def on_step_end(self, args: object, state: object, control: object, **_: object) -> None:
        step = state.global_step  # type: ignore[attr-defined]
        if step in (7, 20) and state.is_world_process_zero:  # type: ignore[attr-defined]
            run = self.place / "leadline" / "run"
            token = json.loads((run / "journal.jsonl").read_text().splitlines()[0])["token"]
            best = {"step": 5, "path": str(self.place / "checkpoint-5")}
            told = {"step": step, "verdict": "stop" if step == 20 else "continue", "act": step == 20, "to": token}
            (run / "answer.json").write_text(json.dumps({**told, "best_checkpoint": best}))


def train(rank: int, out: Path, port: int) -> None:
    os.environ |= {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    ours = LeadlineCallback(watch=False, stop=True)
    rows = [{"x": torch.tensor([n / 64]), "labels": torch.tensor([n / 32])} for n in range(64)]
    arguments = TrainingArguments(
        output_dir=str(out / "run"),
        max_steps=2000,
        per_device_train_batch_size=4,
        logging_steps=1,
        save_strategy="steps",
        save_steps=5,
        save_total_limit=1,
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        ddp_backend="gloo",
        dataloader_pin_memory=False,
    )
    trainer = Trainer(Line(), arguments, train_dataset=rows, callbacks=[ours, SaysStop(out / "run")])
    trainer.train()
    (out / f"{rank}.json").write_text(json.dumps(trainer.state.global_step))
    # Ends without taking gloo down: its destructor joins a thread that waits for the GIL which the destructor holds.
    os._exit(0)


def main(out: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(train, (out, port), nprocs=2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
