"""What the user says a key means: `--map canonical=key`, or the [map] table of a leadline.toml."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from ..errors import BadMapping

FILE = "leadline.toml"
SHORT = {  # what people call the series they mean
    "reward": "reward/mean",
    "eval": "eval/reward/mean",
    "kl": "kl/ref",
    "loss": "loss/total",
    "policy_loss": "loss/policy",
    "length": "len/response_mean",
    "learning_rate": "lr",
    "time": "time/step",
    "clip_fraction": "clip/frac",
}
STEP = "step"  # not a series: the key to count steps by


def parse_mapping(options: Sequence[str]) -> dict[str, str]:
    """From `canonical=key` to a mapping.

    >>> parse_mapping(["reward=my/score", "kl/ref=a=b"])
    {'reward/mean': 'my/score', 'kl/ref': 'a=b'}
    """
    mapping = {}
    for option in options:
        name, equals, key = option.partition("=")
        if not (name.strip() and equals and key.strip()):
            raise BadMapping(
                f"--map {option!r} does not say which key means what.",
                tried="CANONICAL=KEY",
                next_step="write, for example, --map reward=my/score",
            )
        mapping[_full(name.strip())] = key.strip()
    return mapping


def mapping_near(place: Path, *, working: Path) -> dict[str, str]:
    """The [map] table of the leadline.toml in the run's folder, or else in the working directory."""
    folder = place if place.is_dir() else place.parent
    for file in (folder / FILE, working / FILE):
        if file.is_file():
            return _from_toml(file)
    return {}


def _from_toml(file: Path) -> dict[str, str]:
    try:
        table = _toml().loads(file.read_text(encoding="utf-8")).get("map", {})
    except (ValueError, OSError) as error:
        raise BadMapping(
            f"{file} could not be read: {error}.", tried="TOML", next_step="mend it or remove it"
        ) from error
    if not isinstance(table, Mapping) or not all(isinstance(key, str) for key in table.values()):
        raise BadMapping(
            f"The [map] of {file} does not give one key for each name.",
            tried='[map], then lines like: reward = "my/score"',
            next_step="write each key in quotes",
        )
    return {_full(name): key for name, key in table.items()}


def _toml() -> ModuleType:
    return importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def _full(name: str) -> str:
    return SHORT.get(name, name)
