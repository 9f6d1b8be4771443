"""The published JSON Schema describes what is printed: all of it, and nothing else."""

from __future__ import annotations

import copy
import dataclasses
import importlib.util
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import EXAMPLES, ROOT
from extras import needs
from strange import STRANGE

from leadline.cli import main
from leadline.contract import Band
from leadline.pipeline import read
from leadline.report import data

SCHEMA = json.loads((ROOT / "leadline" / "schema-2.json").read_text())
DEFS = {"$defs": SCHEMA["$defs"]}
jsonschema = needs("jsonschema")
CHECK = jsonschema.Draft202012Validator(SCHEMA)
LOOKS = [("healthy", 0), ("healthy", 30), ("healthy", 354), ("collapsed", 230), ("hacked", 300), ("hacked", 679)]


def printed(path: Path, **options: int) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(data.render(read(path, **options)))
    return told


def undescribed(value: object, schema: dict[str, Any], where: str = "") -> Iterator[str]:
    """Fields that the schema lets pass and does not name."""
    if "anyOf" in schema:
        fitting = [one for one in schema["anyOf"] if jsonschema.Draft202012Validator(one | DEFS).is_valid(value)]
        schema = min(fitting, key=lambda one: len(list(undescribed(value, one))))
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    if isinstance(value, dict):
        facts = [
            one["then"] for one in schema.get("allOf", ()) if one["if"]["properties"]["id"]["const"] == value["id"]
        ]
        schema = schema | {"properties": schema.get("properties", {}) | (facts[0]["properties"] if facts else {})}
        for key, inner in value.items():
            below = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if below is None:
                yield f"{where}.{key}"
            else:
                yield from undescribed(inner, below, f"{where}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from undescribed(inner, schema["items"], f"{where}[]")


def content(told: dict[str, Any]) -> None:
    CHECK.validate(told)
    assert list(undescribed(told, SCHEMA)) == []


def test_the_schema_is_made_from_the_contract(ends_with: Callable[..., object]) -> None:
    assert ends_with("docs/schema.py", "--check") == 0, "the contract has changed: run python docs/schema.py"


def numbers_that_are_none(value: object) -> Iterator[float]:
    if isinstance(value, float) and not math.isfinite(value):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from numbers_that_are_none(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers_that_are_none(inner)


def test_what_is_no_number_is_none_already_in_the_plain_data() -> None:
    reading = read(EXAMPLES / "hacked", until=300)
    lost = np.full(3, np.nan)
    band = Band(np.arange(3.0), lost, lost, np.array([1.0, np.inf, 2.0]), 2, (math.nan,))
    charts = dataclasses.replace(reading.chart_data, bands={"reward/mean": band})
    upside = dataclasses.replace(reading.judgement.upside, mean=math.nan, p90=math.inf)
    judgement = dataclasses.replace(reading.judgement, upside=upside)
    told = data.as_data(dataclasses.replace(reading, chart_data=charts, judgement=judgement))
    assert list(numbers_that_are_none(told)) == []
    assert told["chart_data"]["bands"]["reward/mean"]["high"] == [1.0, None, 2.0]  # type: ignore[index]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(("run", "until"), LOOKS)
def test_bundled_runs_are_as_described(run: str, until: int) -> None:
    content(printed(EXAMPLES / run, until=until))


@pytest.mark.parametrize("run", ["telemetry_merger", "telemetry_plain"])
def test_runs_with_telemetry_are_as_described(run: str) -> None:
    content(printed(ROOT / "tests" / "reading" / "runs" / run))


@pytest.mark.parametrize("case", STRANGE)
def test_strange_runs_are_as_described(case: str, trl: Callable[..., Path]) -> None:
    content(printed(trl(STRANGE[case], max_steps=20 if case == "past the plan" else 200)))


def test_hostile_text_is_as_described() -> None:
    spec = importlib.util.spec_from_file_location("renderers", ROOT / "tests" / "contracts" / "test_renderers.py")
    assert spec is not None
    assert spec.loader is not None
    renderers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(renderers)
    content(json.loads(data.render(renderers.nasty_reading(renderers.NASTY))))


def test_samples_are_described_too() -> None:
    told = printed(EXAMPLES / "hacked", until=300)
    assert any("samples" in evidence for finding in told["findings"] for evidence in finding["evidence"])


WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "no verdict": lambda told: told["judgement"].pop("verdict"),
    "an unknown verdict": lambda told: told["judgement"].update(verdict="maybe"),
    "a probability above one": lambda told: told["findings"][0].update(p=1.5),
    "an unknown severity": lambda told: told["findings"][0].update(severity="fatal"),
    "a regime of no sort": lambda told: told["kl_reward"].update(regime="up/down"),
    "a step that is text": lambda told: told["run"].update(last_step="300"),
    "another schema": lambda told: told.update(schema=1),
    "no run": lambda told: told.pop("run"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_refused(wrong: str) -> None:
    told = copy.deepcopy(hacked())
    WRONG[wrong](told)
    with pytest.raises(jsonschema.ValidationError):
        CHECK.validate(told)


_HACKED: list[dict[str, Any]] = []


def hacked() -> dict[str, Any]:
    if not _HACKED:
        _HACKED.append(printed(EXAMPLES / "hacked", until=300))
    return _HACKED[0]


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA
