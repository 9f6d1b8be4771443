"""Every sentence of the product. A finding's sentence is made from its facts by one function, chosen by its id; nothing
parses a sentence, and nothing outside this package builds one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..facts import Finding
from . import conflict, generation, kl, loss, machine, onset, reward, signal, stability

# id of a finding -> what makes its sentence from its facts. One table a topic; a new finding is a line in its topic.
SENTENCES: dict[str, Callable[[Any], str]] = {
    **reward.SENTENCES,
    **kl.SENTENCES,
    **loss.SENTENCES,
    **generation.SENTENCES,
    **signal.SENTENCES,
    **stability.SENTENCES,
    **onset.SENTENCES,
    **machine.SENTENCES,
    **conflict.SENTENCES,
}


def sentence(finding: Finding) -> str:
    """What a finding says."""
    if finding.facts is None:
        return finding.says  # TRANSITION
    return SENTENCES[finding.id](finding.facts)
