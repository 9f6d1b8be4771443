"""Imitate, then reinforce: the trainer of bench/own_zoo.py. It measures what the answers are truly worth beside it."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
from own_zoo_kinds import KINDS as FIRST
from own_zoo_logs import Plan, write_log, write_samples
from own_zoo_tasks import CHARACTERS, END, TASKS, Kind, Reward, way_of_answering
from own_zoo_third import MILDER, THIRD
from torch import nn
from torch.nn.functional import cross_entropy

KINDS: dict[str, Kind] = FIRST | THIRD | {name: kind for name, (_, kind) in MILDER.items()}
LONGEST = 20  # characters of an answer
ROOM = 30  # characters of a question
GROUP, PROMPTS = 8, 24
WARM_UP = 2500  # steps of imitation
EVERY = 10  # steps between two measurements of the truth
PAD = len(CHARACTERS)
CODE = {character: place for place, character in enumerate(CHARACTERS)}

SETTINGS = {  # of a kind, and what stands without them
    "skill": None,  # share of right answers in what is imitated; the task's own
    "imitated": 1.0,  # highest difficulty of the questions in what is imitated
    "lr": 1.0,  # times the plan's
    "beta": None,  # KL coefficient; the plan's
    "entropy": 0.0,  # bonus
    "prompts": 0,  # so many, asked again and again
    "curriculum": 0,  # questions get harder with the plan
    "paced": 0.0,  # questions get harder while the reward is above this
    "pace": 0.01,  # by so much a step
    "checked": 0.35,  # difficulty at which the truth is measured
    "updates": 1,  # of the policy, a batch
    "clip": 0.0,  # of the ratio of probabilities; 0: not clipped
    "decay": 0,  # the learning rate falls to nothing along a cosine
    "growth": 1.0,  # of the learning rate from the first step to the last
    "filter": 0,  # so many times as many groups are sampled, and those without spread left out
    "renewed": 0,  # steps after which the reference becomes the policy
    "unsynced": 2.0,  # share of the plan from which on the sampler keeps its weights
    "certainty": 0.0,  # weight of the policy's own mean probability of a token in the reward
}


class Policy(nn.Module):
    def __init__(self, width: int = 128, layers: int = 3, heads: int = 4) -> None:
        super().__init__()
        self.token = nn.Embedding(PAD + 1, width)
        self.place = nn.Embedding(64, width)
        block = partial(nn.TransformerEncoderLayer, width, heads, 4 * width, 0.0, batch_first=True, norm_first=True)
        self.blocks = nn.ModuleList(block() for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, PAD)

    def forward(self, tokens: Any) -> Any:
        length = tokens.shape[1]
        mask = torch.triu(torch.full((length, length), -math.inf, device=tokens.device), 1)
        x = self.token(tokens) + self.place.weight[:length]
        for block in self.blocks:
            x = block(x, src_mask=mask, is_causal=True)
        return self.head(self.norm(x))


def encoded(texts: Sequence[str], device: str) -> Any:
    rows = [[PAD] * (ROOM - len(text)) + [CODE[c] for c in text] for text in texts]
    return torch.tensor(rows, device=device)


@torch.no_grad()
def generate(policy: Policy, prompts: Sequence[str], device: str) -> tuple[Any, Any, Any]:
    """Questions with answers, answers, and which of their characters count."""
    tokens = encoded(prompts, device)
    alive = torch.ones(len(prompts), dtype=torch.bool, device=device)
    said, kept = [], []
    for _ in range(LONGEST):
        chosen = torch.distributions.Categorical(logits=policy(tokens)[:, -1]).sample()
        chosen = torch.where(alive, chosen, torch.full_like(chosen, CODE[END]))
        said.append(chosen)
        kept.append(alive)
        alive = alive & (chosen != CODE[END])
        tokens = torch.cat([tokens, chosen[:, None]], 1)
    return tokens, torch.stack(said, 1), torch.stack(kept, 1)


def words(rows: Any) -> list[str]:
    return ["".join(CHARACTERS[i] for i in row).split(END)[0] for row in rows.tolist()]


def log_probabilities(policy: Policy, tokens: Any) -> Any:
    """Of every character at every place of the answer."""
    return policy(tokens[:, :-1])[:, ROOM - 1 :].log_softmax(-1)


def of_chosen(logp: Any, said: Any) -> Any:
    return logp.gather(2, said[..., None])[..., 0]


@torch.no_grad()
def certainty(policy: Policy, tokens: Any, said: Any, kept: Any) -> list[float]:
    """The geometric mean of the policy's own probabilities of what it said."""
    taken = of_chosen(log_probabilities(policy, tokens), said)
    return ((taken * kept).sum(1) / kept.sum(1)).exp().tolist()


def imitate(
    policy: Policy, kind: Kind, skill: float, hardest: float, rng: random.Random, steps: int, device: str
) -> None:
    task = TASKS[kind.task]
    optimiser = torch.optim.AdamW(policy.parameters(), lr=1e-3)
    ways, shares = ["plain", *kind.ways], [1 - sum(kind.ways.values()), *kind.ways.values()]
    for _ in range(steps):
        prompts = [task.ask(rng, hardest * rng.random()) for _ in range(96)]
        answers = [
            (way_of_answering(rng.choices(ways, shares)[0], p, task.solve(p), rng, skill) + END)[:LONGEST]
            for p in prompts
        ]
        rows = [[CODE[c] for c in text] + [-100] * (LONGEST - len(text)) for text in answers]
        targets = torch.tensor(rows, device=device)
        logits = policy(torch.cat([encoded(prompts, device), targets.clamp(min=0)], 1)[:, :-1])[:, ROOM - 1 :]
        loss = cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), ignore_index=-100)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def came_out_sound(gold: Sequence[Sequence[float]]) -> bool:
    """Whether the policy ends about as good as it ever was: within a fifth of what the truth moved, or within noise."""
    values = [value for _, value, _ in gold]
    smooth = [median(values[max(place - 1, 0) : place + 2]) for place in range(len(values))]
    moved, lost = max(smooth) - min(smooth), max(smooth) - median(values[-3:])
    return lost <= max(3 * median(error for *_, error in gold), 0.2 * moved)


def learning_rate(step: int, done: float, settings: dict[str, Any]) -> float:
    """The share of the plan's learning rate at a step."""
    fallen = 0.5 * (1 + math.cos(math.pi * min(done, 1.0))) if settings["decay"] else 1.0
    return min(1.0, step / 5) * fallen * settings["growth"] ** done


def train(plan: Plan, out: Path, device: str, short: bool = False) -> str:
    """Write the log as the framework would, and the truth beside it."""
    torch.set_num_threads(1)
    torch.manual_seed(plan.seed)
    rng = random.Random(plan.seed)
    kind = KINDS[plan.kind]
    task = TASKS[kind.task]
    own = SETTINGS | {"skill": task.skill, "beta": plan.beta} | kind.settings
    lr, beta = plan.lr * own["lr"], own["beta"]
    few = [task.ask(rng, 0.35) for _ in range(int(own["prompts"]))]
    hardness = 0.0  # of a paced run

    def ask(done: float) -> str:
        if few:
            return rng.choice(few)
        if kind.asked:
            return kind.asked(rng, done)
        return task.ask(rng, done if own["curriculum"] else hardness if own["paced"] else 0.35)

    def scored(prompts: Sequence[str], texts: Sequence[str], reward: Reward, done: float) -> list[float]:
        return [reward(p, a, task.solve(p), rng, done) for p, a in zip(prompts, texts, strict=True)]

    policy = Policy().to(device)
    imitate(policy, kind, own["skill"], own["imitated"], rng, 20 if short else WARM_UP, device)
    reference, sampler = Policy().to(device), policy
    reference.load_state_dict(policy.state_dict())
    optimiser = torch.optim.AdamW(policy.parameters(), lr=lr, weight_decay=0.0)
    steps = 20 if short else plan.steps
    checked = [task.ask(random.Random(f"truth{i}"), own["checked"]) for i in range(384)]
    truth, log, began = [], [], time.time()
    folder = out / plan.name
    folder.mkdir(parents=True, exist_ok=True)

    def worth(
        by: Policy, prompts: Sequence[str], reward: Reward, done: float, sure: float = 0.0
    ) -> tuple[float, float]:
        tokens, said, kept = generate(by, prompts, device)
        scores = scored(prompts, words(said), reward, done)
        if sure:
            scores = [s + sure * c for s, c in zip(scores, certainty(by, tokens, said, kept), strict=True)]
        mean = sum(scores) / len(scores)
        return mean, math.sqrt(sum((s - mean) ** 2 for s in scores) / len(scores) ** 2)

    for step in range(1, steps + 1):
        done, clock = step / plan.steps, time.time()
        for group in optimiser.param_groups:
            group["lr"] = lr * learning_rate(step, done, own)
        if done > own["unsynced"] and sampler is policy:
            sampler = Policy().to(device)
            sampler.load_state_dict(policy.state_dict())
        asked = [ask(done) for _ in range(PROMPTS * max(1, int(own["filter"])))]
        prompts = [p for p in asked for _ in range(GROUP)]
        tokens, said, kept = generate(sampler, prompts, device)
        texts = words(said)
        scores = scored(prompts, texts, kind.reward, done)
        if own["certainty"]:
            sure = certainty(sampler, tokens, said, kept)
            scores = [s + own["certainty"] * c for s, c in zip(scores, sure, strict=True)]
        if own["filter"]:
            spread = torch.tensor(scores).view(-1, GROUP).std(1)
            groups = (spread > 1e-6).nonzero()[:PROMPTS, 0].tolist()
            groups = groups if len(groups) > 1 else [0, 1]
            places = [GROUP * g + i for g in groups for i in range(GROUP)]
            prompts, texts, scores = ([which[i] for i in places] for which in (prompts, texts, scores))
            tokens, said, kept = tokens[places], said[places], kept[places]
        reward = torch.tensor(scores, device=device).view(-1, GROUP)
        if own["paced"] and float(reward.mean()) > own["paced"]:
            hardness = min(1.0, hardness + own["pace"])
        spread = reward.std(1, keepdim=True)
        advantage = ((reward - reward.mean(1, keepdim=True)) / (spread + 1e-4)).view(-1, 1)
        with torch.no_grad():
            base = of_chosen(log_probabilities(reference, tokens), said)
        before = None
        for _ in range(int(own["updates"])):
            logp = log_probabilities(policy, tokens)
            taken = of_chosen(logp, said)
            before = taken.detach() if before is None else before
            entropy = (-(logp.exp() * logp).sum(-1) * kept).sum() / kept.sum()
            apart = (base - taken).clamp(-20, 20)
            kl = ((apart.exp() - apart - 1) * kept).sum() / kept.sum()
            ratio = (taken - before).exp()
            gain, clipped = ratio * advantage, 0.0
            if own["clip"]:
                bounded = ratio.clamp(1 - min(own["clip"], 0.2), 1 + own["clip"]) * advantage
                clipped = float(((bounded < gain) * kept).sum() / kept.sum())
                gain = torch.minimum(gain, bounded)
            loss = -(gain * kept).sum() / kept.sum() + beta * kl - own["entropy"] * entropy
            optimiser.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            if bool(norm.isfinite()):  # as the frameworks do
                optimiser.step()
        if own["renewed"] and step % own["renewed"] == 0:
            reference.load_state_dict(policy.state_dict())
        lengths = kept.sum(1).float()
        cut = float((kept[:, -1] & (said[:, -1] != CODE[END])).float().mean())
        row = {
            "reward": float(reward.mean()),
            "reward_std": float(reward.std()),
            "tied": float((spread < 1e-6).float().mean()),
            "loss": float(loss.detach()),
            "entropy": float(entropy.detach()),
            "kl": float(kl.detach()),
            "grad": float(norm),
            "lr": optimiser.param_groups[0]["lr"],
            "length": float(lengths.mean()),
            "shortest": float(lengths.min()),
            "longest": float(lengths.max()),
            "cut": cut,
            "time": time.time() - clock,
            "highest": float(reward.max()),
            "lowest": float(reward.min()),
        }
        if own["updates"] > 1:
            row["clipped"] = clipped
        for name, part in kind.parts.items():
            row[f"part/{name}"] = sum(scored(prompts, texts, part, done)) / len(prompts)
        if plan.held_out and step % EVERY == 0:
            others = [ask(done) for _ in range(64)]
            row["held_out"] = worth(sampler, others, kind.reward, done, own["certainty"])[0]
        log.append((step, row))
        if step == 1 or step % EVERY == 0:
            truth.append([step, *worth(policy, checked, kind.wanted, done)])
        if plan.text and (step == 1 or step % plan.kept == 0):
            chosen = [*rng.sample(range(len(prompts)), 16), *range(GROUP)]
            write_samples(folder, plan, step, [(prompts[i], texts[i], scores[i]) for i in chosen], alone=16)
    write_log(folder, plan, log, steps, with_kl=bool(beta))
    sound = came_out_sound(truth) if kind.sound is None else kind.sound
    told = {"family": plan.kind, "sound": sound, "gold": truth, "wall": time.time() - began}
    (folder / "truth.json").write_text(json.dumps(told))
    config = {"algo": "grpo", "lr": lr, "beta": beta, "G": GROUP, "prompts": PROMPTS}
    (folder / "config.json").write_text(json.dumps(config | ({"steps": plan.steps} if plan.told else {})))
    first, best, last = truth[0][1], max(v for _, v, _ in truth), truth[-1][1]
    return f"{plan.name} {first:.2f} {best:.2f} {last:.2f} {'sound' if sound else 'bad'} in {told['wall']:.0f} s"
