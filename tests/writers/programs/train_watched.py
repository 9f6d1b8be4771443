"""Trains a tiny language model with TRL's GRPOTrainer and LeadlineCallback, and says how it ended.

    python train_watched.py OUT LEARNING_RATE [--steps N] [--stop] [--seed N] [--keep N] [--resume PATH]

OUT/run is the trainer's output folder, OUT/ended.json says at which step it ended, what it was told last and its log.
The model learns to write different words with low numbers, which takes it some hundred steps. The learning rate rises
over the first 100; where it rises far too high, the model learns at first and then writes one word for ever. Each step
waits a little, as one of a large model would, so that looks find the run under way.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # before the imports: the hub is asked on import otherwise

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    TrainerCallback,
)
from trl import GRPOConfig, GRPOTrainer

from leadline import LeadlineCallback
from leadline.inside import sidecar

sidecar.SHARE = 0.6  # its steps take a tenth of a second: with the usual share few checks would find the run under way

WORDS = [f"w{number}" for number in range(16)]
LENGTH = 6
PAUSE = 0.1  # seconds


def build_model(place: Path) -> None:
    names = ["<pad>", "<eos>", "<unk>", *WORDS]
    words = Tokenizer(models.WordLevel({name: number for number, name in enumerate(names)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", bos_token="<eos>", unk_token="<unk>"
    )
    shape = GPT2Config(
        vocab_size=len(names), n_positions=16, n_embd=16, n_layer=1, n_head=1, bos_token_id=1, eos_token_id=1
    )
    tokenizer.save_pretrained(place)
    GPT2LMHeadModel(shape).save_pretrained(place)


def different_low_words(completions: list[str], **_: object) -> list[float]:
    """How many different words with low numbers were written, of as many as could be. A policy that has collapsed
    writes one word again and again, and earns less than one that has learned nothing."""
    low = set(WORDS[: len(WORDS) // 2])
    return [len(low & set(text.split())) / LENGTH for text in completions]


class Pause(TrainerCallback):
    def on_step_end(self, *_: object, **__: object) -> None:
        time.sleep(PAUSE)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("rate", type=float)
    parser.add_argument("--steps", type=int, default=160)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stop", action="store_true")
    parser.add_argument("--keep", type=int, help="checkpoints that the Trainer keeps")
    parser.add_argument("--resume", type=Path, help="a checkpoint to go on from")
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    place = asked.out / "model"
    build_model(place)  # saved and loaded, as a model that was downloaded
    callback = LeadlineCallback(stop=asked.stop)
    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(place),
        processing_class=AutoTokenizer.from_pretrained(place),
        reward_funcs=[different_low_words],
        train_dataset=Dataset.from_dict({"prompt": [f"{one} {other}" for one in WORDS for other in WORDS]}),
        args=GRPOConfig(
            output_dir=str(asked.out / "run"),
            max_steps=asked.steps,
            per_device_train_batch_size=16,
            num_generations=8,
            max_completion_length=LENGTH,
            learning_rate=asked.rate,
            lr_scheduler_type="constant_with_warmup",
            warmup_steps=100,
            beta=0.0,
            logging_steps=1,
            save_steps=10,
            save_only_model=True,  # a run that is resumed has the learning rate it is given
            save_total_limit=asked.keep,
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
            dataloader_pin_memory=False,
            seed=asked.seed,
        ),
        callbacks=[callback, Pause()],
    )
    begun = time.monotonic()
    trainer.train(resume_from_checkpoint=None if asked.resume is None else str(asked.resume))
    (asked.out / "ended.json").write_text(
        json.dumps(
            {
                "step": trainer.state.global_step,
                "stopped_at": callback.stopped_at,
                "seconds": time.monotonic() - begun,
                "log": trainer.state.log_history,
            }
        )
    )


if __name__ == "__main__":
    main()
