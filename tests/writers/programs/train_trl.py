"""Trains a tiny language model with a real TRL trainer and says what the trainer held at the end.

    python train_trl.py OUT {grpo,rloo,sft,dpo} [--beta B] [--steps N] [--report TRACKER ...] [--resume] [--pause S]

OUT/model holds the model, OUT/run is the trainer's output folder, OUT/held.json its `state.log_history`. Nothing is
downloaded: a two-layer GPT-2 with random weights and a word-level tokenizer are built here, saved and loaded again.
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
from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer, SFTConfig, SFTTrainer

WORDS = [f"w{number}" for number in range(40)]
LENGTH_CAP = 8


def build_model(place: Path) -> None:
    names = ["<pad>", "<eos>", "<unk>", *WORDS]
    words = Tokenizer(models.WordLevel({name: number for number, name in enumerate(names)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", bos_token="<eos>", unk_token="<unk>"
    )
    tokenizer.save_pretrained(place)
    torch.manual_seed(0)
    shape = GPT2Config(
        vocab_size=len(names), n_positions=64, n_embd=32, n_layer=2, n_head=2, bos_token_id=1, eos_token_id=1
    )
    GPT2LMHeadModel(shape).save_pretrained(place)


def even_words(completions: list[str], **_: object) -> list[float]:
    """The share of words with an even number."""
    return [_share(text, lambda word: int(word[1:]) % 2 == 0) for text in completions]


def low_words(completions: list[str], **_: object) -> list[float]:
    return [_share(text, lambda word: int(word[1:]) < 20) for text in completions]


def _share(text: str, good: object) -> float:
    words = [word for word in text.split() if word in WORDS]
    return sum(map(good, words)) / max(len(words), 1)  # type: ignore[call-overload]


class Pause(TrainerCallback):
    """Slows the run down, so that somebody can read along."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def on_step_end(self, *_: object, **__: object) -> None:
        time.sleep(self.seconds)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("trainer", choices=["grpo", "rloo", "sft", "dpo"])
    parser.add_argument("--beta", type=float, default=0.05)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--report", nargs="*", default=[])
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--pause", type=float, default=0.0)
    asked = parser.parse_args()
    place = asked.out / "model"
    if not place.exists():
        build_model(place)
    model, tokenizer = AutoModelForCausalLM.from_pretrained(place), AutoTokenizer.from_pretrained(place)
    prompts = [f"{WORDS[number]} {WORDS[-number]}" for number in range(1, 33)]
    common = {
        "output_dir": str(asked.out / "run"),
        "max_steps": asked.steps,
        "per_device_train_batch_size": 4,
        "logging_steps": 1,
        "save_steps": asked.steps // 2,
        "learning_rate": 1e-3,
        "report_to": asked.report or "none",
        "use_cpu": True,
        "dataloader_pin_memory": False,
        "seed": 1,
    }
    sampled = {"num_generations": 4, "max_completion_length": LENGTH_CAP, "beta": asked.beta, "log_completions": True}
    rewarded = {
        "model": model,
        "processing_class": tokenizer,
        "reward_funcs": [even_words, low_words],
        "train_dataset": Dataset.from_dict({"prompt": prompts}),
    }
    match asked.trainer:
        case "grpo":
            held_out = {"eval_strategy": "steps", "eval_steps": asked.steps // 2, "per_device_eval_batch_size": 4}
            trainer = GRPOTrainer(
                args=GRPOConfig(**common, **sampled, **held_out),
                eval_dataset=Dataset.from_dict({"prompt": prompts[:2]}),
                **rewarded,
            )
        case "rloo":
            trainer = RLOOTrainer(args=RLOOConfig(**common, **sampled), **rewarded)
        case "sft":
            texts = Dataset.from_dict({"text": [f"{prompt} w2 w4" for prompt in prompts]})
            trainer = SFTTrainer(model=model, args=SFTConfig(**common), train_dataset=texts, processing_class=tokenizer)
        case "dpo":
            pairs = Dataset.from_dict(
                {"prompt": prompts, "chosen": [" w2 w4"] * len(prompts), "rejected": [" w3 w5"] * len(prompts)}
            )
            trainer = DPOTrainer(
                model=model, args=DPOConfig(**common, beta=asked.beta), train_dataset=pairs, processing_class=tokenizer
            )
    if asked.pause:
        trainer.add_callback(Pause(asked.pause))
    trainer.train(resume_from_checkpoint=asked.resume or None)
    (asked.out / "held.json").write_text(json.dumps(trainer.state.log_history))


if __name__ == "__main__":
    main()
