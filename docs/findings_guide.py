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
    "reward.blind_parted": Entry(
        "A second reader, who graded answers without knowing step or score, sees them get worse while the score rises.",
        "`leadline audit`: its grades as a series of their own, heard only where it tells planted samples apart.",
        "Read the pairs that are shown. If the grader is right, the reward function pays for something else.",
    ),
    "reward.break": Entry(
        "The reward changed its level from one step to the next.",
        "A break in the fitted curve of the reward, and whether KL, entropy and gradients broke with it.",
        "If the policy's own numbers did not move, compare prompts, reward code and sampler settings on both sides of "
        "the step. If they did, look at the learning rate and at the batch of that step.",
    ),
    "reward.peaked": Entry(
        "The reward rose, reached a peak, and has fallen since.",
        "The share of posterior curves that stand clearly below their own highest point.",
        "Go back to a checkpoint near the peak. A sudden fall points to one update; a slow one to a learning rate or a "
        "KL coefficient that does not hold the policy.",
    ),
    "reward.declining": Entry(
        "The reward has fallen from where it started.",
        "The share of posterior curves that stand clearly below their own highest point.",
        "Check the sign of the reward and of the advantages, then the learning rate.",
    ),
    "reward.prompts_changed": Entry(
        "The prompts of the kept samples are of another kind than before.",
        "The words of the prompts before and after.",
        "Compare rewards within one stretch only. If no change was intended, look at the data loader.",
    ),
    "reward.component": Entry(
        "One component of the reward rises while another falls.",
        "The curves of the logged components, and how much each varies between samples.",
        "Reweigh the components, or rescale them so that the one you care about has the larger spread.",
    ),
    "reward.one_part": Entry(
        "The reward rose by one of its components; another one that can pay still pays almost nothing.",
        "The curves of the logged components against that of the reward.",
        "Ask whether the component that rose is the one you care about. If not, reweigh them, or begin with easier "
        "prompts on which the other one pays at times.",
    ),
    "reward.never_paid": Entry(
        "A component of the reward has been exactly 0 at every point, while others were not.",
        "The logged components.",
        "Check that the component can match at all: a format that is asked for in no prompt, or a check that no answer "
        "passes, teaches nothing. A penalty that was never taken is fine.",
    ),
    "reward.gamed": Entry(
        "Proof of reward hacking: the responses are degenerate whatever the task, and the reward holds. If the reward "
        "dropped with them, the policy broke.",
        "Loops, responses that copy or ignore their prompt, one response to every prompt, fixed prompts that lack the "
        "training gain, and truncation, against the run's own first samples: one that moved far, or two that agree.",
        "Read the two samples. Fix the reward function, and resume from a checkpoint before it began. If the responses "
        "are right, say so: `leadline review RUN ok`.",
    ),
    "generation.changed": Entry(
        "The responses changed, by learning or by a shortcut. Only a reader can tell, so it never moves the verdict.",
        "The same relations as `reward.gamed`, too small for proof, words that recur, or responses that surprise the "
        "reference policy.",
        "Read early and late samples side by side: `leadline review RUN`. Answer `ok` or `hacked`; the verdict counts "
        "it.",
    ),
    "reward.reviewed": Entry(
        "A reader of the samples, a person or an agent, found the reward hacked.",
        "The last review of the run (`leadline review`).",
        "Fix the reward function, and resume from a checkpoint before the step that the reader names. "
        "`leadline review RUN --forget` deletes the review.",
    ),
    "reward.outage": Entry(
        "The reward function returned one and the same value, or most tool calls failed, for a stretch of steps.",
        "A constant reward between two stretches in which it varies, or a share of failed tool calls that jumped.",
        "Check the grader's or the tools' log of that time. The rewards of these steps are ignored.",
    ),
    "reward.levels": Entry(
        "The score takes only a few values.",
        "The scores of the samples.",
        "Nothing. It tells what a step of the mean reward is made of.",
    ),
    "reward.noisy_labels": Entry(
        "Equal answers to one prompt are scored differently.",
        "Pairs of equal answers among the samples.",
        "Expect a ceiling below the highest score; make the scorer deterministic if you can.",
    ),
    "signal.repeated_prompts": Entry(
        "Prompts come round again.",
        "The prompts of the samples, and what new and repeated ones score at the same steps.",
        "If repeated ones score higher, part of the reward is memory: look at a held-out set.",
    ),
    "signal.knob_moved": Entry(
        "A setting was changed on the way.",
        "A logged setting that is not constant.",
        "Compare levels before and after with care.",
    ),
    "signal.train_eval_gap": Entry(
        "Held-out reward has fallen while the training reward has not.",
        "Both curves since the held-out peak.",
        "Go back to the held-out peak. More or other prompts help; a longer run does not.",
    ),
}
