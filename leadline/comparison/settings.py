"""Settings that differ between runs: what makes a config, and what only tells runs of one config apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..facts.comparison import Setting
from ..run import Run

# By the last part of a setting's name: where a run was put and what it was called changes nothing about its training.
BESIDE_THE_POINT = re.compile(
    r"(?:.*_)?seed(?:_.*)?|(?:.*_)?(?:output|log|logs|logging|save|saving|checkpoint|ckpt|cache|local|tensorboard|run)_?dir"
    r"|(?:run|exp|experiment|trial|project|group|entity|job|tracker)(?:_?name|_?id)?|(?:run|wandb|hub|git|slurm)_.*"
    r"|(?:.*_)?(?:port|host|hostname|addr|address|url)|timestamp|date|start_time|created(?:_at)?|user|username"
    r"|resume(?:_.*)?|report_to|push_to_hub|overwrite_output_dir|disable_tqdm|local_rank|notes|tags|command|argv"
)


def essential(run: Run) -> dict[str, object]:
    """Return the settings of a run that could change its training."""
    return {
        name: value
        for name, value in run.config.raw.items()
        if not BESIDE_THE_POINT.fullmatch(name.rsplit(".", 1)[-1].lower())
    }


def differing(groups: Sequence[tuple[str, Sequence[Run]]]) -> tuple[Setting, ...]:
    """Return the settings that are not the same in all runs, those that mark groups first. Runs that keep no settings
    are left aside; "not set" is a value."""
    kept = [(name, [essential(run) for run in runs if run.config.raw]) for name, runs in groups]
    kept = [(name, runs) for name, runs in kept if runs]
    names = dict.fromkeys(key for _, runs in kept for settings in runs for key in settings)
    found = []
    for name in names:
        values = {group: tuple(settings.get(name) for settings in runs) for group, runs in kept}
        told = [repr(value) for some in values.values() for value in some]
        if len(set(told)) < 2:
            continue
        steady = all(len({repr(value) for value in some}) == 1 for some in values.values())
        found.append(Setting(name, values, steady and len(kept) > 1))
    return tuple(sorted(found, key=lambda setting: (not setting.marks_groups, setting.name)))
