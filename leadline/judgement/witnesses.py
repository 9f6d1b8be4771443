"""How findings move the judgement: one table, read from top to bottom.

A finding is evidence with a probability. It can mean one of three things for the question of going on:

* `proxy`: since its onset the reward no longer says what the policy is worth. A gain to come is then no gain, and a
  checkpoint after the onset is no longer worth its reward.
* `dead`: nothing can be learned any more, so no gain can come.
* `lost`: value that was there is gone. The paths of the reward show how much, so nothing is discounted; but what was
  lost needs no long plateau to be believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..facts import Finding

Meaning = Literal["proxy", "dead", "lost"]

SERIOUS = ("concern", "critical")  # a note is no witness


@dataclass(frozen=True, slots=True)
class Witness:
    """What a finding means for the judgement."""

    meaning: Meaning
    alone: bool = True  # heard without a second one
    echo: bool = False  # made from the other witnesses: it is no second one, and is heard only with one of them


WITNESSES: dict[str, Witness] = {
    # The text decays: different prompts get the same answer.
    "generation.diversity": Witness("proxy"),
    # The text has left what the run wrote at first: decay, or a policy that improves its style.
    "generation.coherence": Witness("proxy", alone=False),
    # Reward rose while the text was lost: says no more than the two above.
    "generation.shortcut": Witness("proxy", echo=True),
    # Cut-off answers may be getting better all the same; where they are not, the judged score shows it.
    "generation.truncation": Witness("proxy", alone=False),
    # The policy wanders and nothing came of it; the reading asks for half of the plan before it says so.
    "kl.drift_without_benefit": Witness("proxy"),
    # More KL, no more held-out score: the part beyond the frontier is not progress.
    "kl.over_optimisation": Witness("proxy", alone=False),
    # Training reward up, held-out down. Where the held-out score is judged its own paths say it too.
    "signal.train_eval_gap": Witness("proxy"),
    # Every advantage is zero.
    "signal.no_learning_signal": Witness("dead"),
    # Reward fell, and KL rose with it.
    "kl.destructive": Witness("lost"),
    "reward.declining": Witness("lost"),
    "reward.peaked": Witness("lost"),
}


@dataclass(frozen=True, slots=True)
class Testimony:
    """What the witnesses say together."""

    p_proxy: float = 0.0  # that reward no longer says what the policy is worth
    onset: int | None = None  # step since when: the earliest that a heard witness names
    p_dead: float = 0.0
    dead_since: int | None = None
    p_lost: float = 0.0
    heard: tuple[Finding, ...] = ()

    @property
    def against(self) -> tuple[Finding, ...]:
        """Those who say that the reward no longer says what the policy is worth."""
        return tuple(one for one in self.heard if WITNESSES[one.id].meaning == "proxy")

    @property
    def p_against(self) -> float:
        """That no gain can come of going on, whatever the reward does."""
        return 1 - (1 - self.p_proxy) * (1 - self.p_dead)


def hear(findings: Sequence[Finding]) -> Testimony:
    """The testimony of all serious findings that the table knows. Witnesses of one decay are not independent, so the
    surest speaks for all."""
    known = [(one, WITNESSES[one.id]) for one in findings if one.id in WITNESSES and one.severity in SERIOUS]
    proxies = [(one, witness) for one, witness in known if witness.meaning == "proxy"]
    first_hand = [(one, witness) for one, witness in proxies if not witness.echo]
    seconded = len({one.id for one, _ in first_hand}) > 1
    heard = [one for one, witness in first_hand if witness.alone or seconded]
    heard += [one for one, witness in proxies if witness.echo and heard]
    dead = [one for one, witness in known if witness.meaning == "dead"]
    lost = [one for one, witness in known if witness.meaning == "lost"]
    return Testimony(
        max((one.p for one in heard), default=0.0),
        min((one.since_step for one in heard if one.since_step is not None), default=None),
        max((one.p for one in dead), default=0.0),
        min((one.since_step for one in dead if one.since_step is not None), default=None),
        max((one.p for one in lost), default=0.0),
        (*heard, *dead, *lost),
    )
