"""A small GRPO loop on one GPU, told to Leadline by `leadline.attach`: python train.py FOLDER MINUTES.

A transformer with random weights learns to write even numbers. The run in tests/inside/data/h200 is this one.
"""

from __future__ import annotations

import sys
import time

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

import leadline

VOCABULARY, WIDTH, LAYERS, HEADS, LENGTH, PROMPT = 64, 1024, 8, 16, 48, 4
PROMPTS, GROUP, MICRO, RATE = 64, 16, 256, 2e-6


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.heads, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, time_, _ = x.shape
        q, k, v = (
            part.view(batch, time_, HEADS, -1).transpose(1, 2) for part in self.heads(self.before(x)).chunk(3, -1)
        )
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, time_, WIDTH))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH + PROMPT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.words(x) + self.places(torch.arange(x.shape[1], device=x.device))
        return self.head(self.norm(self.blocks(y)))


@torch.no_grad()
def generate(policy: Policy, x: torch.Tensor) -> torch.Tensor:
    for _ in range(LENGTH):
        with torch.autocast("cuda", torch.bfloat16):
            logits = policy(x)[:, -1].float()
        x = torch.cat([x, torch.multinomial(logits.softmax(-1), 1)], 1)
    return x


def log_probabilities(policy: Policy, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    with torch.autocast("cuda", torch.bfloat16):
        logits = policy(x[:, :-1]).float()[:, PROMPT - 1 :]
    every = logits.log_softmax(-1)
    return every.gather(-1, x[:, PROMPT:, None])[..., 0], -(every.exp() * every).sum(-1)


def main(folder: str, minutes: float) -> None:
    torch.manual_seed(0)
    policy, reference = Policy().cuda(), Policy().cuda()
    reference.load_state_dict(policy.state_dict())
    optimizer = torch.optim.AdamW(policy.parameters(), lr=RATE)
    settings = {"algorithm": "grpo", "lr": RATE, "group": GROUP, "prompts": PROMPTS, "beta": 0.0}
    run = leadline.attach("h200", folder, planned_steps=1000, config=settings, watch=False, resume=True)
    until = time.time() + 60 * minutes
    step = 0
    while time.time() < until:
        step += 1
        begun = time.time()
        prompts = torch.randint(VOCABULARY, (PROMPTS, PROMPT), device="cuda").repeat_interleave(GROUP, 0)
        with run.phase("gen"):
            x = generate(policy, prompts)
            torch.cuda.synchronize()
        with run.phase("reward"):
            reward = (x[:, PROMPT:] % 2 == 0).float().mean(1)
            grouped = reward.view(PROMPTS, GROUP)
            spread = grouped.std(1, keepdim=True) + 1e-4
            advantage = ((grouped - grouped.mean(1, keepdim=True)) / spread).view(-1)
            torch.cuda.synchronize()
        with run.phase("ref"), torch.no_grad():
            expected, _ = log_probabilities(reference, x)
            torch.cuda.synchronize()
        with run.phase("update_actor"):
            optimizer.zero_grad()
            kl = entropy = loss = 0.0
            share = MICRO / len(x)
            for part in (slice(at, at + MICRO) for at in range(0, len(x), MICRO)):
                found, spreads = log_probabilities(policy, x[part])
                one = -(advantage[part, None] * (found - found.detach()).exp()).mean() * share
                one.backward()
                apart = expected[part] - found.detach()
                kl += share * (apart.exp() - apart - 1).mean().item()
                entropy += share * spreads.mean().item()
                loss += one.item()
            norm = nn.utils.clip_grad_norm_(policy.parameters(), 1.0).item()
            optimizer.step()
            torch.cuda.synchronize()
        row = {
            "reward": reward.mean().item(),
            "reward_std": reward.std().item(),
            "kl": kl,
            "entropy": entropy,
            "loss": loss,
            "grad_norm": norm,
            "completion_length": float(LENGTH),
            "step_time": time.time() - begun,
        }
        run.log(step, row)
        if step % 40 == 0:
            texts = [" ".join(map(str, one)) for one in x[:8].tolist()]
            run.log_rollouts(
                step,
                [
                    {
                        "prompt": " ".join(text.split()[:PROMPT]),
                        "output": " ".join(text.split()[PROMPT:]),
                        "score": round(reward[place].item(), 4),
                    }
                    for place, text in enumerate(texts)
                ],
            )
        if step % 50 == 0 or step < 3:
            print(step, {key: round(value, 4) for key, value in row.items()}, flush=True)
    run.close()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
