"""The page of all runs: what it shows, and whom it lets in."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from extras import needs

from leadline.fleet.scan import scan
from leadline.live.records import Alert
from leadline.shelf import people, query
from leadline.shelf.row import Row, Unit, UnitOutcome
from leadline.shelf.store import Scope, Shelf, key_of

from .conftest import write_run
from .test_scan import Here

needs("starlette")
needs("httpx")
import httpx  # noqa: E402

from leadline.serve.app import application  # noqa: E402
from leadline.serve.guard import Doors, doors_for, names_of  # noqa: E402
from leadline.serve.reports import allowed  # noqa: E402

HOST = "127.0.0.1:7310"
ROW = Row(
    "/lab/x", "/lab", "/lab/x", "x", "lab", "x", None, "read", verdict="continue", headline="CONTINUE · reward rising"
)


def put(shelf: Shelf, *rows: Row) -> None:
    """Rows without runs behind them."""
    units = [Unit(row.root, row.place, "m") for row in rows]
    shelf.note(units, 1.0)
    shelf.claim(Scope(tuple({row.root for row in rows}), 0.0, maker="t"), "me", len(rows))
    for row, unit in zip(rows, units, strict=True):
        assert shelf.put(UnitOutcome(unit, (row,)), owner="me", maker="t")


@pytest.fixture
def shelf(tmp_path: Path, lab: Path) -> Iterator[Shelf]:
    with Shelf(str(tmp_path / "shelf.db")) as shelf:
        scan((str(lab),), shelf, Here())
        yield shelf


class Browser:
    """Asks the application as a browser would."""

    def __init__(self, shelf: Shelf, doors: Doors | None = None) -> None:
        self.doors = doors or Doors(frozenset({HOST}))
        self._app = application(shelf, self.doors)
        self._cookies = httpx.Cookies()

    def get(self, path: str, **headers: str) -> httpx.Response:
        return asyncio.run(self._ask("GET", path, headers))

    def post(self, path: str, data: dict[str, str], **headers: str) -> httpx.Response:
        return asyncio.run(self._ask("POST", path, headers, data))

    async def _ask(
        self, method: str, path: str, headers: dict[str, str], data: dict[str, str] | None = None
    ) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        transport = httpx.ASGITransport(app=self._app)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", cookies=self._cookies) as client:
            answer = await client.request(method, path, headers=named, data=data)
            self._cookies = client.cookies
            return answer


def test_the_first_page_counts_and_names_what_needs_a_person(shelf: Shelf) -> None:
    put(
        shelf,
        replace(ROW, need="falling", verdict="roll_back", headline="Reward has fallen", last_at=time.time()),
    )
    told = Browser(shelf).get("/").text
    assert "Needs attention" in told
    assert "Reward dropped" in told
    assert "Reward has fallen" in told
    assert "resume from the best checkpoint" in told
    assert re.search(r"<b>1</b> <span>Unreadable", told)


BAD = "FINISHED, COLLAPSED, keep step 132 · reward collapsed 0.982 → 0.008 since step ~205 · >99% confident"
WELL = "FINISHED, keep step 354 · reward saturated at 0.991 of 1 · <1% chance that extending helps"


def test_a_finished_run_is_listed_by_what_it_came_to(shelf: Shelf) -> None:
    shared = {"verdict": "finished", "ended": "plan", "last_at": time.time()}
    put(
        shelf,
        replace(ROW, identity="/lab/bad", place="/lab/bad", name="bad", outcome="collapsed", headline=BAD, **shared),
        replace(
            ROW, identity="/lab/well", place="/lab/well", name="well", outcome="saturated", headline=WELL, **shared
        ),
    )
    told = Browser(shelf).get("/runs").text
    assert '<span class="verdict roll_back">FINISHED, COLLAPSED, keep step 132</span> · reward collapsed' in told
    assert '<span class="verdict finished">FINISHED, keep step 354</span> · reward saturated' in told
    only = Browser(shelf).get("/runs?outcome=collapsed").text
    assert ">bad</a>" in only
    assert ">well</a>" not in only
    assert ">bad</a>" in Browser(shelf).get("/runs?q=COLLAPSED").text


def test_a_run_is_shown_by_its_report(shelf: Shelf, lab: Path) -> None:
    browser, key = Browser(shelf), key_of(str(lab / "web" / "only"))
    assert f'src="/run/{key}/report"' in browser.get(f"/run/{key}").text
    report = browser.get(f"/run/{key}/report")
    assert report.headers["x-frame-options"] == "SAMEORIGIN"
    assert report.headers["content-security-policy"] == "frame-ancestors 'self'"
    rules = report.text.partition('http-equiv="Content-Security-Policy" content="')[2].partition('">')[0]
    assert rules.startswith("default-src")
    assert "script-src 'sha256-" in rules
    assert "unsafe-inline" not in rules
    assert browser.get("/run/nothing").status_code == 404


def test_an_open_page_is_told_of_rows_that_were_written_and_of_files_that_grew(shelf: Shelf, lab: Path) -> None:
    browser, path = Browser(shelf), f"/run/{key_of(str(lab / 'web' / 'only'))}/news"
    before = browser.get(path).json()
    assert browser.get(path).json() == before
    assert f'data-change="{before["change"]}"' in browser.get("/").text
    write_run(lab / "web" / "only", steps=55)
    grown = browser.get(path).json()
    assert grown["mark"] != before["mark"]
    put(shelf, ROW)
    assert browser.get("/news").json() == {"change": browser.get(path).json()["change"]}
    assert browser.get("/news").json()["change"] > before["change"]


def test_two_runs_are_compared(shelf: Shelf, lab: Path) -> None:
    keys = [key_of(str(lab / "math" / name)) for name in ("grpo-seed0", "ppo-seed0")]
    answer = Browser(shelf).get(f"/compare?run={keys[0]}&run={keys[1]}")
    assert answer.status_code == 200
    assert "grpo-seed0" in answer.text
    assert Browser(shelf).get(f"/compare?run={keys[0]}").status_code == 400


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("q=GRPO", {"math/grpo-seed0", "math/grpo-seed1"}),
        ("q=math+seed0", {"math/grpo-seed0", "math/ppo-seed0"}),
        ("project=code&group=unreadable", {"code/broken"}),
        ("q=100%25", set()),
        ("q=%25_", set()),
        ("size=2&sort=name", {"code/a", "code/b"}),
        ("size=2&first=2&sort=name", {"code/broken", "math/grpo-seed0"}),
        ("sort=last_step%3B+DROP+TABLE+runs&size=1000000&first=-4&q=only", {"web/only"}),
    ],
)
def test_the_table_is_searched_filtered_and_sorted_by_the_server(shelf: Shelf, asked: str, names: set[str]) -> None:
    rows = Browser(shelf).get(f"/api/rows?{asked}").json()["rows"]
    assert {row["name"] for row in rows} == names


def test_groups_show_the_spread_within(shelf: Shelf) -> None:
    (one,) = [one for one in query.together(shelf, query.Asked(), "variant", time.time()) if one.name == "math/grpo"]
    assert one.runs == 2
    assert one.lowest is None or one.lowest <= (one.highest or 0)
    assert "math/grpo" in Browser(shelf).get("/runs?by=variant").text


def test_what_needs_a_person_depends_on_the_time(shelf: Shelf) -> None:
    now = time.time()
    rows = {
        "silent": replace(ROW, identity="/lab/1", place="/lab/1", name="silent", last_at=now - 4000, quiet_at=now - 9),
        "old": replace(ROW, identity="/lab/2", place="/lab/2", name="old", need="falling", last_at=now - 9 * 86400),
        "fine": replace(ROW, identity="/lab/3", place="/lab/3", name="fine", last_at=now, quiet_at=now + 600),
        "done": replace(ROW, identity="/lab/4", place="/lab/4", name="done", last_at=now, ended="plan"),
    }
    put(shelf, *rows.values())
    groups = {one.row.name: one.group for one in query.lines(shelf, query.Asked(), now)[0]}
    assert [groups[name] for name in rows] == ["person", "training", "training", "finished"]
    later = {one.row.name: one.group for one in query.lines(shelf, query.Asked(), now + 4 * 86400)[0]}
    assert [later[name] for name in ("silent", "fine")] == ["silent", "silent"]


def test_what_a_person_acknowledged_is_no_longer_urgent_until_something_else_is(shelf: Shelf) -> None:
    now = time.time()
    put(shelf, replace(ROW, need="wasting", verdict="stop", last_at=now))
    browser = Browser(shelf, Doors(frozenset({HOST}), may_act=True))
    key = key_of(ROW.identity)
    form = {"what": "acknowledge", "who": "Ada", "about": "wasting"}
    assert browser.post(f"/run/{key}/say", form, origin=f"http://{HOST}").status_code == 303
    line = query.line_of(shelf, key, now)
    assert line is not None
    assert line.group == "training"
    assert "Acknowledged</b> by Ada" in browser.get(f"/run/{key}").text
    shelf.base.run("UPDATE places SET done = NULL WHERE place = '/lab/x'")
    put(shelf, replace(ROW, need="falling", verdict="roll_back", last_at=now))
    line = query.line_of(shelf, key, now)
    assert line is not None
    assert line.group == "person"


def test_runs_are_acknowledged_and_muted_in_place_and_by_reason(shelf: Shelf) -> None:
    now = time.time()
    runs = [
        replace(ROW, identity=f"/lab/{name}", place=f"/lab/{name}", name=name, need=need, last_at=now)
        for name, need in (("a", "falling"), ("b", "falling"), ("c", "hacked"), ("d", "hacked"))
    ]
    put(shelf, *runs)
    browser = Browser(shelf, Doors(frozenset({HOST}), may_act=True))
    keys = {run.name: key_of(run.identity) for run in runs}

    def said(what: str, **more: str) -> int:
        form = {"what": what, **more}
        return browser.post("/say", form, origin=f"http://{HOST}").status_code

    assert said(f"acknowledge {keys['a']}", who="Ada") == 303
    assert 'value="Ada"' in browser.get("/").text  # the name is not asked again
    assert said("acknowledge") == said("acknowledge nowhere") == 404
    assert said("mute", run=keys["b"]) == 303
    assert said("acknowledge need:hacked:0") == 303
    left = {one.row.name for one in query.lines(shelf, query.Asked(group="person"), now)[0]}
    assert left.isdisjoint(keys)
    assert {note.who for key in "abcd" for note in people.said_of(shelf, f"/lab/{key}")} == {"Ada"}


def test_what_is_new_since_the_last_visit_comes_first(shelf: Shelf) -> None:
    now = time.time()
    put(shelf, replace(ROW, need="falling", verdict="roll_back", last_at=now))
    browser = Browser(shelf)
    assert "since your last visit" not in browser.get("/").text
    old = browser.get("/", cookie=f"leadline_since={int(now - 3600)}").text
    assert old.index("since your last visit") < old.index(key_of(ROW.identity)) < old.index("Running or interrupted")
    assert old.count(f"/run/{key_of(ROW.identity)}") == 1
    assert "since your last visit" not in browser.get("/", cookie=f"leadline_since={int(now + 3600)}").text


def test_one_odd_run_breaks_nothing_for_all(shelf: Shelf) -> None:
    odd = os.fsdecode(b"/lab/\xff<script>")
    put(shelf, replace(ROW, identity=odd, place=odd, name=odd, need="hacked", level=float("nan"), last_at=time.time()))
    browser = Browser(shelf)
    for path in ("/", "/runs", f"/run/{key_of(odd)}"):
        answer = browser.get(path)
        assert answer.status_code == 200
        assert "<script>" not in answer.text
    rows = browser.get("/api/rows").json()["rows"]
    assert next(row for row in rows if row["key"] == key_of(odd))["level"] is None


def test_an_unknown_host_name_is_told_what_to_do(shelf: Shelf) -> None:
    answer = Browser(shelf).get("/", host="runs.example.org:7310")
    assert answer.status_code == 421
    assert "--allowed-host runs.example.org:7310" in answer.text


def test_a_server_on_all_interfaces_is_known_by_its_addresses() -> None:
    doors = doors_for("0.0.0.0", 7310, ("runs.example.org",), token=None)
    assert {"127.0.0.1:7310", "runs.example.org", f"{socket.gethostname()}:7310"} <= doors.hosts
    assert all(f"{name}:7310" in doors.hosts for name in names_of("0.0.0.0"))


def test_a_watch_does_not_tell_what_was_acknowledged_or_muted(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LEADLINE_STORE", str(tmp_path / "none.db"))
    assert not people.is_muted("/lab/x", "silence", 5.0)
    monkeypatch.setenv("LEADLINE_STORE", str(shelf.file))
    put(shelf, ROW)
    assert not people.is_muted(ROW.identity, "silence", 5.0)
    people.say(shelf, ROW.identity, "acknowledge", who="Ada", about="silent")
    assert people.is_muted(ROW.identity, "silence", 5.0)
    assert not people.is_muted(ROW.identity, "verdict.stop", 5.0)
    people.say(shelf, ROW.identity, "mute", who="Ada", until=9.0)
    assert people.is_muted(ROW.identity, "verdict.stop", 5.0)
    assert not people.is_muted(ROW.identity, "verdict.stop", 10.0)
    people.say(shelf, ROW.identity, "unmute", who="Ada")
    assert not people.is_muted(ROW.identity, "silence", 5.0)


def test_a_muted_alert_is_kept_and_not_sent(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from leadline.live.store import Store

    monkeypatch.setenv("LEADLINE_STORE", str(shelf.file))
    put(shelf, ROW)
    people.say(shelf, ROW.identity, "mute", who="Ada", until=time.time() + 99)
    with Store(tmp_path / "w.db") as store:
        for number, name in enumerate((ROW.identity, "/lab/other")):
            alert = Alert(name, "silence", 7, None, "concern", "No row.", (), None, f"k{number}")
            store.put_alerts(store.run(name, 1.0), [alert], ["stdout"], time.time())
        assert len(store.alerts()) == 2
        assert [delivery.alert.run for delivery in store.pending_alerts(time.time())] == ["/lab/other"]


# --- who is let in


def test_a_name_that_was_bound_anew_is_refused(shelf: Shelf) -> None:
    for host in ("evil.example", "127.0.0.1", "127.0.0.1:80", f"{HOST}.evil.example", ""):
        assert Browser(shelf).get("/", host=host).status_code == 421


def test_a_foreign_page_can_neither_read_nor_act(shelf: Shelf) -> None:
    browser = Browser(shelf, Doors(frozenset({HOST}), may_act=True))
    put(shelf, ROW)
    path = f"/run/{key_of(ROW.identity)}/say"
    form = {"what": "note", "who": "Eve", "note": "x"}
    assert browser.get("/api/rows", origin="http://evil.example").status_code == 403
    assert browser.get("/api/rows", sec_fetch_site="cross-site", sec_fetch_mode="no-cors").status_code == 403
    assert browser.post(path, form, origin="http://evil.example").status_code == 403
    assert browser.post(path, form, origin="null").status_code == 403
    assert browser.post(path, form).status_code == 403
    assert browser.post(path, form, sec_fetch_site="cross-site", sec_fetch_mode="navigate").status_code == 403
    assert browser.post(path, form, sec_fetch_site="none").status_code == 403
    assert browser.post(path, form, content_type="application/json").status_code == 415  # as programs ask /mcp
    assert people.said_of(shelf, ROW.identity) == ()
    assert browser.post(path, form, origin=f"http://{HOST}").status_code == 303


def test_a_form_of_too_many_fields_is_refused(shelf: Shelf) -> None:
    browser = Browser(shelf, Doors(frozenset({HOST}), may_act=True))
    form = {f"run{number}": "a" for number in range(2500)}
    assert browser.post("/say", form, origin=f"http://{HOST}").status_code == 413


def test_it_is_read_only_unless_allowed(shelf: Shelf) -> None:
    put(shelf, ROW)
    browser = Browser(shelf)
    form = {"what": "note", "who": "Ada", "note": "x"}
    path = f"/run/{key_of(ROW.identity)}"
    assert browser.post(f"{path}/say", form, origin=f"http://{HOST}").status_code == 403
    assert '<form class="act"' not in browser.get(path).text


def test_off_loopback_a_token_is_demanded_and_leaves_the_address(shelf: Shelf) -> None:
    assert doors_for("127.0.0.1", 7310, (), token=None).token is None
    assert doors_for("localhost", 7310, (), token=None).token is None
    assert len(doors_for("0.0.0.0", 7310, (), token=None).token or "") >= 32
    browser = Browser(shelf, doors_for("0.0.0.0", 7310, ("lab.example",), token="let me in, please"))
    for path in ("/", "/runs", "/api/rows", "/news", "/static/app.js", "/?token=wrong"):
        answer = browser.get(path)
        assert answer.status_code in (401, 403)
        assert "<table" not in answer.text
    answer = browser.get("/?token=let+me+in,+please")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "let me in" not in cookie
    assert browser.get("/").status_code == 200  # the client keeps cookies
    assert browser.get("/api/rows", host="lab.example").status_code == 200
    assert Browser(shelf, browser.doors).get("/api/rows", authorization="Bearer let me in, please").status_code == 200
    assert Browser(shelf, browser.doors).get("/api/rows", authorization="Bearer other").status_code == 401


def test_every_answer_is_closed_to_scripts_and_frames(shelf: Shelf) -> None:
    for path in ("/", "/runs", "/api/rows", "/static/app.css", "/nowhere"):
        headers = Browser(shelf).get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/..%2f..%2fapp.py", "/run/..%2fetc%2fpasswd", "/%2e%2e/"]
)
def test_no_path_leads_out(shelf: Shelf, path: str) -> None:
    answer = Browser(shelf).get(path)
    assert answer.status_code == 404
    assert "root:" not in answer.text


def test_a_link_that_leads_out_of_the_root_is_not_opened(shelf: Shelf, lab: Path, tmp_path: Path) -> None:
    secret = write_run(tmp_path / "secret")
    row = next(row for row, _ in shelf.rows() if row.name == "web/only")
    assert allowed(row) == row.identity
    (lab / "web" / "only").rename(tmp_path / "moved")
    (lab / "web" / "only").symlink_to(secret)
    answer = Browser(shelf).get(f"/run/{key_of(row.identity)}/report")
    assert answer.status_code == 404
    assert "leads outside the scanned folder" in answer.text


def test_hostile_names_and_notes_are_text(shelf: Shelf) -> None:
    evil = "<img src=x onerror=alert(1)>\"'\u202e\x1b[2J"
    put(
        shelf, replace(ROW, name=evil, headline=evil, project=evil, framework=evil, need="falling", last_at=time.time())
    )
    people.say(shelf, ROW.identity, "note", who=evil, note=evil)
    browser = Browser(shelf, Doors(frozenset({HOST}), may_act=True))
    for path in ("/", "/runs", "/runs?by=project", f"/run/{key_of(ROW.identity)}", f"/runs?q={quote(evil)}"):
        told = browser.get(path).text
        assert "<img" not in told
        assert "\x1b" not in told
        assert "\u202e" not in told
