"""What was set before the first step, from whatever says so: a config file, a tracker's record, a model card.

Settings come as nested or flat mappings under the framework's own names. Nothing is ever unpickled:
`training_args.bin` stays closed.
"""

from __future__ import annotations

import csv
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..records import dataclass, fields, replace
from ..run import Config, Series
from ..vocabulary.names import listed, tokens
from .number import FURTHEST, as_number, as_step, content_of, loads
from .paths import may_hold_settings

Flat = Mapping[str, object]  # settings under dotted names
Names = tuple[str, ...]
NAMED = (*("signs", "algorithm", "group_size", "planned_steps", "length_cap", "learning_rate", "reference_sync_steps"),)
TABLE = Path(__file__).with_name("config_keys.csv")
LARGEST = 1 << 22  # bytes of a settings file
MOST = 20_000  # settings of one run; aliases in YAML can unfold without end
DEEPEST = 40
DONE, EPOCH = "progress/done_frac", "progress/epoch"  # share of the run that is done, and epochs
EPOCHS = ("num_train_epochs", "num_epochs", "total_epochs", "trainer.total_epochs", "max_epochs", "epochs")
# Words of a setting that says how many steps there are to be, and which may stand beside them.
COUNTS, STEPS = {"n", "num", "number", "max", "total", "planned"}, {"step", "iteration", "update"}
OF_PLANS = COUNTS | STEPS | {*listed("beside a plan")}
WRAPPERS = ("args", "config", "hparams", "hyperparameters", "settings", "params")
CARD = re.compile(r"^[-*] (\w+): (\S.*)$", re.MULTILINE)
TAGS = re.compile(r"\A---\n(?:.*\n)*?tags:\n((?:- .+\n)+)")
# Trackers and model cards write everything as text.
WORDS = {"None": None, "null": None, "True": True, "False": False, "true": True, "false": False}
ALGORITHMS = {"gae": "ppo", "group_norm": "grpo", "reinforce_plus_plus": "reinforce++", "rpp": "reinforce++"}
TRL_TAGS = {"grpo": "grpo", "rloo": "rloo", "ppo": "ppo", "online-dpo": "onlinedpo"}  # to what we call the trainer


@dataclass(frozen=True, slots=True)
class ConfigKeys:
    """How one framework calls its settings: a line of config_keys.csv, the most telling signs first.

    `|` parts names of one thing, of which the first that is set stands; `;` parts ways to know it. `updates` and `plan`
    are products and ratios of settings. `kl` says where the penalty is and what its coefficient is called: `loss NAME`,
    `reward NAME`, `? NAME` if that is not told, `if SWITCH loss NAME` if a switch has to be on, and `off SWITCH` if
    there is none unless a switch before was on."""

    signs: Names  # of which one proves it
    algorithm: Names
    group_size: Names
    planned_steps: Names
    length_cap: Names
    learning_rate: Names
    reference_sync_steps: Names
    is_called: str | None  # the algorithm, where the settings do not name it
    places_of_kl: str
    ways_to_updates: str  # on one batch of samples: how often it is gone through, in how many parts
    ways_to_plan: str  # where no setting counts the steps themselves

    def kl(self, flat: Flat) -> tuple[float | None, str | None]:
        """Return the coefficient of the KL penalty, and where it is."""
        for way in filter(None, self.places_of_kl.split("; ")):
            words = way.split()
            if words[0] == "off":
                return (0.0, None) if any(name in flat for name in _names(words[1])) else (None, None)
            switch = _names(words.pop(1)) if words[0] == "if" else ()
            place, names = words[-2:]
            coefficient = number(flat, _names(names))
            if any(flat.get(name) is True for name in switch) or (not switch and coefficient is not None):
                return coefficient, place if place != "?" and (switch or coefficient) else None
        return None, None


def _names(told: str) -> Names:
    return tuple(filter(None, told.split("|")))


def number(flat: Flat, keys: Sequence[str]) -> float | None:
    for key in keys:
        value = flat.get(key)
        if value is not None and not isinstance(value, bool):
            found = as_number(value)
            if found is not None and math.isfinite(found):
                return found
    return None


def whole(flat: Flat, keys: Sequence[str]) -> int | None:
    """Return the first positive whole number; -1 and 0 are how frameworks say "not set"."""
    for key in keys:
        found = as_step(value) if (value := flat.get(key)) is not None else None
        if found is not None and found > 0:
            return found
    return None


def _computed(ways: str, flat: Flat) -> float | None:
    """Return what the first of several products comes to of which every part is known.

    >>> _computed("steps; a|b * c / d", {"b": 6, "c": 2, "d": 4})
    3.0
    """
    for way in filter(None, ways.split("; ")):
        result: float | None = 1.0
        for sign, names in re.findall(r"(^|\* |/ )(\S+)", way):
            found = number(flat, _names(names)) or 0.0
            result = None if found <= 0 or result is None else result / found if sign == "/ " else result * found
        if result and math.isfinite(result):
            return result
    return None


with TABLE.open(newline="", encoding="utf-8") as _rows:
    FRAMEWORKS = tuple(
        ConfigKeys(
            **{name: _names(row[name]) for name in NAMED},
            is_called=row["is_called"] or None,
            places_of_kl=row["kl"],
            ways_to_updates=row["updates"],
            ways_to_plan=row["plan"],
        )
        for row in csv.DictReader(_rows)
    )


def config_from(raw: Mapping[str, object]) -> Config:
    """Return what settings of any framework say; `raw` keeps all of them, nested ones under dotted names.

    >>> config_from({"algorithm": {"adv_estimator": "grpo"}, "actor_rollout_ref": {"rollout": {"n": 8}}}).group_size
    8
    """
    flat = flattened(raw)
    if not any(sign in flat for one in FRAMEWORKS for sign in one.signs):  # what all of them may be wrapped in
        heads = [f"{head}." for head in WRAPPERS]
        flat |= {key.removeprefix(head): flat[key] for head in heads for key in flat if key.startswith(head)}
    a_model = {"architectures", "model_type", "torch_dtype", "vocab_size"} & flat.keys()
    if not flat or (a_model and "output_dir" not in flat):
        # Hugging Face describes a model in a file of the same name; its trackers get both, mixed.
        return Config()
    keys = next((one for one in FRAMEWORKS if any(sign in flat for sign in one.signs)), None)
    if keys is None:
        return Config(raw=flat)
    kl_coefficient, kl_place = keys.kl(flat)
    words = (value.strip().lower() for key in keys.algorithm if isinstance(value := flat.get(key), str))
    named = next((word.rsplit(".", 1)[-1] for word in words if word), "")
    return Config(
        algorithm=ALGORITHMS.get(named, named) or keys.is_called,
        kl_coefficient=kl_coefficient,
        kl_place=kl_place,
        updates_per_batch=_computed(keys.ways_to_updates, flat),
        group_size=whole(flat, keys.group_size),
        planned_steps=whole(flat, keys.planned_steps) or _last_step(_computed(keys.ways_to_plan, flat)),
        length_cap=whole(flat, keys.length_cap),
        # TRL names an interval even where it never syncs.
        reference_sync_steps=None if flat.get("sync_ref_model") is False else whole(flat, keys.reference_sync_steps),
        learning_rate=number(flat, keys.learning_rate),
        raw=flat,
    )


def plan_in(logged: Sequence[Series], raw: Flat | None = None, *, known: bool = True) -> int | None:
    """Return how many steps there are to be, as a log shows that counts which part of the run is done or which epoch it
    is in, or as a plain setting says that the run has not passed; None if none does. `known`: the log is one of a
    framework, which calls other things so."""
    by_name = {series.name: series for series in logged}
    raw = raw or {}
    epochs = number(raw, EPOCHS)
    shares = (by_name.get(DONE), 1.0), (by_name.get(EPOCH), epochs)
    for series, whole_run in shares:
        if series is not None and whole_run and (planned := _plan_by_share(series, whole_run)) is not None:
            return planned
    last = max((int(series.steps[-1]) for series in logged if series.points), default=0)
    keys = ["steps", *([] if known else stated(raw))]
    told = {steps for key in keys if (steps := whole(raw, (key,))) is not None and steps >= last}
    return told.pop() if len(told) == 1 else None


def stated(raw: Flat) -> list[str]:
    """Return the settings that say in their words how many steps there are to be.

    >>> stated({"n_grpo_steps": 200, "max_iters": 9, "warmup_steps": 5, "env.max_steps": 40, "num_envs": 8})
    ['n_grpo_steps', 'max_iters']
    """
    said = {key: {*tokens(key.replace(".", "/"))} for key in raw}
    return [key for key, words in said.items() if words & COUNTS and words & STEPS and words <= OF_PLANS]


def _plan_by_share(done: Series, whole_run: float) -> int | None:
    """Return the last step by a series that grows to `whole_run`. One that counts from 0 and has done a part at step 0
    is through one step earlier."""
    if done.finite.sum() < 2:
        return None
    steps, shares = done.steps[done.finite], done.values[done.finite] / whole_run
    if not (np.diff(shares) > 0).all() or not 0 <= shares[0] < shares[-1] <= 1:
        return None
    with np.errstate(over="ignore"):  # shares may be so small that the rest is beyond any number
        length = (steps[-1] - steps[0]) / (shares[-1] - shares[0])
        from_zero = steps[0] == 0 and shares[0] > 0
        return _last_step(np.round(steps[-1] + (1 - shares[-1]) * length) + from_zero)


def _last_step(computed: float | None) -> int | None:
    """Return a plan that was worked out and not written down; None if no run can have it, as with `--budget`."""
    return int(computed) if computed is not None and 1 <= computed < FURTHEST else None


def merged(configs: Iterable[Config]) -> Config:
    """Return one config out of several about the same run: what an earlier one says stands."""
    result = Config()
    for config in configs:
        said = {
            one.name: getattr(config, one.name)
            for one in fields(Config)
            if one.name != "raw" and getattr(result, one.name) is None
        }
        result = replace(result, **said, raw={**config.raw, **result.raw})
    return result


def beside(files: Sequence[Path], root: Path) -> list[Path]:
    """Return files that may hold settings: by name, and the only YAML file that lies with the log, whatever it is
    called."""
    named = [file for file in files if may_hold_settings(file)]
    free = [file for file in files if file.suffix in (".yaml", ".yml") and file.parent == root and file not in named]
    return named + (free if len(free) == 1 else [])


def toml(text: str) -> dict[str, Any]:
    """Return what a text in TOML holds."""
    if sys.version_info >= (3, 11):
        import tomllib  # here, as few runs have such a file
    else:  # pragma: no cover
        import tomli as tomllib
    return tomllib.loads(text)


def read(path: Path) -> Mapping[str, object]:
    """Return the settings in a file; none when it holds something else, is damaged or cannot be read."""
    data = content_of(path, LARGEST + 1)
    if len(data) > LARGEST:
        return {}
    try:
        if path.suffix == ".json":
            value = loads(data)
        elif path.suffix == ".toml":
            value = toml(data.decode("utf-8"))
        elif path.suffix == ".md":
            value = _from_card(data.decode("utf-8", errors="replace"))
        else:
            value = _from_yaml(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _from_card(text: str) -> dict[str, object]:
    """Return the settings in a model card, and which of TRL's trainers it is tagged with."""
    found: dict[str, object] = dict(CARD.findall(text))
    tags = re.findall(r"- (\S+)", tagged[1]) if (tagged := TAGS.match(text)) else []
    trainers = [TRL_TAGS[tag] for tag in tags if tag in TRL_TAGS]
    return {**found, "trl_trainer": trainers[0]} if "trl" in tags and len(trainers) == 1 else found


def _from_yaml(data: bytes) -> object:
    """Return plain data. What is tagged as some program's object is left out instead of ending the reading. Raises
    ValueError for what is no YAML."""
    import yaml  # only for YAML: it takes long to import

    class Plain(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # C where it was built
        pass

    Plain.add_multi_constructor("", lambda loader, suffix, node: None)
    try:
        return yaml.load(data, Loader=Plain)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def flattened(raw: Mapping[str, object]) -> dict[str, object]:
    """Return settings under dotted names, tracker wrappings taken off: `{"lr": {"value": 1}}`, `actor/optim/lr`."""
    flat: dict[str, object] = {}
    open_levels: list[tuple[str, Mapping[Any, object]]] = [("", raw)]
    while open_levels and len(flat) < MOST:
        prefix, level = open_levels.pop()
        for key, value in level.items():
            name = prefix + str(key).replace("/", ".")
            if name == "_wandb" or len(flat) >= MOST:
                continue
            if isinstance(value, Mapping):
                if set(value) <= {"value", "desc"} and "value" in value:
                    value = value["value"]
                if isinstance(value, Mapping):
                    if name.count(".") < DEEPEST:
                        open_levels.append((f"{name}.", value))
                    continue
            flat[name] = WORDS.get(value, value) if isinstance(value, str) else value
    return flat
