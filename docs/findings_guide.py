"""What each finding and verdict means, what it rests on, and what to do about it: the words of docs/findings.md that no
code can know. An entry a finding id; a test says which one is missing."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    means: str
    rests_on: str
    do: str


VERDICTS: dict[str, Entry] = {
    "continue": Entry(
        "The rest of the plan is likely to improve the score by more than it costs.",
        "A forecast of the judged series to the planned end, and no finding that says the gain would not count.",
        "Let it run. Look again at the step that is named.",
    ),
    "stop": Entry(
        "There is probably nothing more to gain, and the last state is as good as any.",
        "The forecast, how long the score has been flat, and the price of the remaining steps (`--price`).",
        "Stop the run and keep the checkpoint that is named. If you know of a reason why it should still rise (a "
        'schedule, a curriculum), let it run to the step named under "what would change this".',
    ),
    "roll_back": Entry(
        "An earlier state is better than the present one, and going on will not repair it.",
        "A fall that is clear against the run's own noise, or proof of reward hacking.",
        "Stop the run. Evaluate the checkpoint that is named before you go on from it, and find the cause first: "
        "the same settings will lead to the same place.",
    ),
    "undecided": Entry(
        "It is too early or too noisy to say.",
        "A probability between the two bars, or too few points.",
        "Let it run and look again at the step that is named.",
    ),
    "finished": Entry(
        "The run has ended: its plan is done, the trainer said so, or nothing has been logged for a long time.",
        "The planned number of steps, the last line of the log, its time stamps.",
        "Keep the checkpoint that is named. The chance that going on would pay is given in case you extend it.",
    ),
}

FINDINGS: dict[str, Entry] = {
    "policy_loss.jump": Entry(
        "The policy loss changed its level or its spread at one step.",
        "A break in the level or the scatter of the logged loss.",
        "Look for what else changed there; the likely cause is named where one was found.",
    ),
    "policy_loss.reversed": Entry(
        "The policy loss turned round, where its direction means something.",
        "The direction of the logged loss before and after.",
        "Read it together with reward and KL; alone it decides nothing.",
    ),
    "generation.length": Entry(
        "Answers became longer or shorter, and how that goes with the reward.",
        "The logged response length, or the samples; rank correlation of length and reward within a step.",
        "If longer answers earn more without being better, the reward pays for length: normalise it.",
    ),
    "generation.truncation": Entry(
        "Many answers hit the length cap.",
        "The logged share of truncated answers.",
        "Raise the cap, or penalise length; scores of truncated answers are mostly noise.",
    ),
    "generation.diversity": Entry(
        "Responses to one prompt have become one response, and not the one that earns most.",
        "Differences within the groups of the samples, relative to the first ones.",
        "Raise the temperature or the entropy bonus. Groups of equal responses produce no gradient.",
    ),
    "generation.meaning": Entry(
        "Answers are closer in meaning than at the start (`--embeddings`).",
        "Distances between text embeddings.",
        "Read the samples; it never moves the verdict.",
    ),
    "generation.shortcut": Entry(
        "High-reward answers share something that the early ones lacked.",
        "Phrases that most high-reward samples have now and few had before.",
        "Read the samples: it may be what was learned. If the reward function pays for the phrase itself, it is a "
        "shortcut.",
    ),
    "signal.no_learning_signal": Entry(
        "Nothing, or nearly nothing, is being learned: rewards within a group are tied.",
        "Groups without spread in the log or in the samples, and where the reward stands.",
        "At the bottom: easier prompts, partial credit. At the top: harder prompts, or stop.",
    ),
    "signal.nan": Entry(
        "A series holds values that are no numbers.",
        "The log.",
        "Find the first step with one; go back to a checkpoint before it if gradients or loss are affected.",
    ),
    "signal.sampler_mismatch": Entry(
        "The sampler and the trainer do not agree on the probabilities of the same tokens.",
        "The logged difference of their log-probabilities.",
        "Check precision, weight synchronisation and the sampler's version; correct by importance weights.",
    ),
    "stability.grad_norm": Entry(
        "The gradient norm jumped or grew while the reward was lost.",
        "The logged norm and the reward.",
        "Clip gradients, lower the learning rate, and look at the batch of that step.",
    ),
    "stability.entropy": Entry(
        "Entropy collapsed or exploded while the reward was lost.",
        "The logged entropy and the reward.",
        "Collapsed: an entropy bonus or a higher temperature. Exploded: a lower learning rate.",
    ),
    "stability.clip": Entry(
        "More and more tokens are clipped while the reward was lost.",
        "The logged clip fraction.",
        "Fewer updates per batch, or a lower learning rate.",
    ),
    "stability.degrading": Entry(
        "Entropy, truncation, reward components, or tool failures get worse together while the reward is flat.",
        "Each logged series against its own best level; at least two that left it while the reward held.",
        "Go back to before it began. Lower the learning rate, or raise the KL coefficient.",
    ),
    "onset": Entry(
        "The order in which series changed around one step.",
        "The posterior of each series' break.",
        "Start with the first one: what moved later may only have followed.",
    ),
    "unexplained.contradiction": Entry(
        "The reward fell, and nothing else moved.",
        "KL, length and entropy beside the fall.",
        "Suspect the reward function or the data before the policy.",
    ),
    "unexplained.break": Entry(
        "A series broke and nothing in the log explains it.",
        "A break without a known cause.",
        "Look at what was changed outside: data, code, machine.",
    ),
    "unexplained.unread_key": Entry(
        "A key that was not understood moved with a serious finding.",
        "Its shift at the same step.",
        "Say what it is with `--map NAME=KEY`.",
    ),
    "resources.stall": Entry(
        "A long pause between two steps, or after the last one.",
        "Time stamps, and the GPUs' power meanwhile.",
        "Look at the job's log of that time: a hung worker, a full disk, a queue.",
    ),
    "resources.idle": Entry(
        "The GPUs draw little power in every phase.",
        "Sampled power against the limit or the most that was seen.",
        "Larger batches, more parallel environments, a faster reward.",
    ),
    "resources.uneven": Entry(
        "One GPU draws or holds less or more than the others.",
        "Sampled power and memory of each GPU.",
        "Check the placement of workers and the balance of shards.",
    ),
    "resources.memory_growth": Entry(
        "GPU memory grows from step to step.",
        "Sampled memory after the first step.",
        "Look for tensors that are kept; it will run out at about the step that is named.",
    ),
    "conflict.step_time": Entry(
        "Steps take longer while another process runs.",
        "Step times inside and outside its stretches, tested by shifting them around the run.",
        "Move the process elsewhere or to another time.",
    ),
    "conflict.memory": Entry(
        "Another process holds GPU memory.",
        "Sampled memory while it runs and while it does not.",
        "End it before memory runs out.",
    ),
    "conflict.evaluation": Entry(
        "Steps that also evaluate take longer.",
        "Step times at the rhythm of the evaluations.",
        "Nothing, or evaluate more rarely.",
    ),
    "conflict.checkpoint": Entry(
        "Steps that also save a checkpoint take longer.",
        "Step times at the rhythm of the checkpoints.",
        "Nothing, or save more rarely or in the background.",
    ),
    "generation.one_length": Entry(
        "All answers have one length.",
        "A mean length that is the same whole number at nearly every step.",
        "Check whether it is the length cap; fine where answers are labels.",
    ),
    "generation.truncated_throughout": Entry(
        "Nearly every answer, or most of them, have been cut off at the length cap since the first steps.",
        "The logged share of truncated answers.",
        "Raise the cap or shorten the prompt's demand, unless answers are meant to have a fixed length.",
    ),
    "signal.no_entropy": Entry(
        "Entropy fell to exactly 0: the policy gives one answer to each prompt.",
        "The logged entropy.",
        "Go back to a checkpoint before that step; raise the temperature or an entropy bonus.",
    ),
    "signal.effective_samples": Entry(
        "Importance weights leave few samples that count.",
        "The logged effective share of the samples, and the scatter of the gradient norm since.",
        "Fewer updates per batch, fresher samples, or a tighter clip of the ratios.",
    ),
    "signal.staleness": Entry(
        "Samples come from older versions of the policy than before.",
        "The logged age of the samples in versions of the policy.",
        "Give generation more GPUs, or bound the staleness of what is trained on.",
    ),
    "signal.dropped_reward": Entry(
        "What is dropped before training earns another reward than what is kept.",
        "The two logged mean rewards.",
        "Look at the filter: it shifts what the policy is trained towards.",
    ),
    "stability.spike": Entry(
        "A few single values are enormous by the series' own measure.",
        "Values twice as far from their neighbourhood as anything else and ten times as large as usual.",
        "Look at the batch of that step; clip gradients if the norm is among them.",
    ),
    "stability.stuck": Entry(
        "A series ends on one and the same number after it had moved.",
        "A run of equal values longer than any before.",
        "Check that the metric is still computed: a cached value or a dead worker looks like this.",
    ),
    "agent.turns": Entry(
        "Answers take many more or many fewer turns than at the start.",
        "The logged number of turns, and what the reward did meanwhile.",
        "Read a few long conversations; check the cap on turns.",
    ),
    "agent.tool_calls": Entry(
        "Answers call tools much more or much less often than at the start.",
        "The logged number of tool calls, and what the reward did meanwhile.",
        "Read a few answers: calls that stop or loop are a common shortcut.",
    ),
    "agent.tool_failures": Entry(
        "More tool calls fail than at the start.",
        "The logged share of failed calls.",
        "Look at the tools' own log first: a sandbox that is down looks like a policy that got worse.",
    ),
}
