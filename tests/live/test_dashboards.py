"""The rules and the dashboard for Prometheus and Grafana: what they ask for is served and understood."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from live.growing import settle, write_rows

from leadline.facts.judgement import ENDED_BADLY
from leadline.live.heartbeat import Heartbeat
from leadline.live.metrics import HELP, samples_of, written
from leadline.live.records import Alert
from leadline.live.watch import Watch

SERVED = written((name, {"state": "failed", "verdict": "stop", "outcome": "ok"}, 1.0) for name in HELP)
NAME = re.compile(r"\bleadline_\w+")


def expressions(root: Path) -> list[str]:
    dashboard = json.loads((root / "docs" / "service" / "grafana.json").read_text())
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


def test_all_that_is_asked_for_is_served(root: Path) -> None:
    served = set(re.findall(r"# TYPE (\w+)", SERVED))
    rules = re.findall(r"expr: ((?:>-\n(?: {10}.*\n)+)|.*)", (root / "docs" / "service" / "alerts.yml").read_text())
    asked = {name for text in (*rules, *expressions(root)) for name in NAME.findall(text)}
    assert asked <= served
    assert len(rules) >= 6


def test_every_panel_has_its_own_place(root: Path) -> None:
    panels = json.loads((root / "docs" / "service" / "grafana.json").read_text())["panels"]
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken
        assert all(x < 24 for x, _ in cells)
        taken |= cells
    assert len({panel["id"] for panel in panels}) == len(panels)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool (Debian: prometheus)")
def test_prometheus_understands_the_rules_the_dashboard_and_the_figures(root: Path, tmp_path: Path) -> None:
    service = root / "docs" / "service"
    subprocess.run(["promtool", "check", "rules", service / "alerts.yml"], check=True, capture_output=True)
    subprocess.run(["promtool", "test", "rules", service / "alerts_test.yml"], check=True, capture_output=True)
    asked = [text.replace("$run", ".*") for text in expressions(root)]
    rules = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(asked)]
    (tmp_path / "panels.json").write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    subprocess.run(["promtool", "check", "rules", tmp_path / "panels.json"], check=True, capture_output=True)
    subprocess.run(["promtool", "check", "metrics"], input=SERVED.encode(), check=True, capture_output=True)


def test_the_rule_for_runs_that_ended_badly_names_every_such_outcome(root: Path) -> None:
    (named,) = re.findall(r'outcome=~"([^"]*)"', (root / "docs" / "service" / "alerts.yml").read_text())
    assert set(named.split("|")) == set(ENDED_BADLY)


def test_every_metric_comes_from_a_watch(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    log = tmp_path / "metrics.jsonl"
    write_rows(log, range(1, 60), fall_after=30)
    one = watch(log)
    settle(one)
    (number,) = one.store.names().values()
    one.store.record_action(number, {"state": "dry"}, 0.0)
    one.store.put_alerts(number, [Alert("a", "x", 1, None, "concern", "", (), None, "k")], ["stdout"], 0.0)
    with Heartbeat(one.store.path, [str(log)]):
        served = written(samples_of(list(one.runs.values()), one.store, polled=1.0, hanging=0))
    assert set(re.findall(r"# TYPE (\w+)", served)) == set(HELP)
    assert "leadline_runs 1\n" in served
    assert 'leadline_actions_total{state="dry"} 1\n' in served
