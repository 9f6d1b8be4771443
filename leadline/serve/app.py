"""The dashboard as an application: routes, and what each asks the shelf for. Others may be mounted beside them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from urllib.parse import parse_qs, quote, unquote, urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from ..errors import LeadlineError
from ..live.history import Point, Spell, past_of, point_of, spells
from ..records import asdict, dataclass, field
from ..report.data import dump, plain
from ..report.html.page import colours
from ..shelf import people, query
from ..shelf.people import WHATS
from ..shelf.row import Row
from ..shelf.store import Shelf
from ..words import serve as words
from . import pages
from .guard import Doors, Guard
from .pages import Visitor
from .reports import PageCache, Reports, allowed, mark_of

URGENT = 6  # runs on the first page for each reason
DAY = 86400.0
MOST_COMPARED = 20
LARGEST_FORM = 65536  # bytes
WHO, SINCE, LAST = "leadline_who", "leadline_since", "leadline_last"  # cookies; the script writes the last two
YEAR = 365 * 86400
PAGES = 64  # of rows that are kept, a second each: what goes by the clock alone, such as silence, may be as old
FRAMED = {"content-security-policy": "frame-ancestors 'self'", "x-frame-options": "SAMEORIGIN"}
STATIC = {"app.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8"}


@dataclass(slots=True)
class State:
    """State that all requests share."""

    shelf: Shelf
    doors: Doors
    reports: Reports = field(default_factory=Reports)
    kept: PageCache = field(default_factory=lambda: PageCache(PAGES))


def application(shelf: Shelf, doors: Doors, agents: Starlette | None = None) -> Guard:
    """Return the page over a shelf. `agents`: the server for agents, which answers behind the same guard."""
    routes = [
        Route("/", _triage),
        Route("/runs", _runs),
        Route("/compare", _compare),
        Route("/news", _news),
        Route("/api/rows", _api_rows),
        Route("/run/{key}", _run),
        Route("/run/{key}/report", _report),
        Route("/run/{key}/news", _news),
        Route("/run/{key}/say", _say, methods=["POST"]),
        Route("/say", _say, methods=["POST"]),
        Route("/static/{name}", _static),
    ]
    if agents is not None:
        from ..agents.server import PATH  # only with the extra

        routes.append(Route(PATH, endpoint=agents))  # as it is: no slash to be sent on to
    app = Starlette(routes=routes, lifespan=None if agents is None else agents.router.lifespan_context)
    app.state.page = State(shelf, doors)
    return Guard(app, doors)


def _state(request: Request) -> State:
    state: State = request.app.state.page
    return state


def _failed(says: str, status: int = 404) -> HTMLResponse:
    return HTMLResponse(pages.page(says, f"<h1>{pages.h(says)}</h1>"), status)


# --- pages. Those that ask the database are no coroutines: Starlette runs them in threads.


def _json(value: object) -> Response:
    """Return JSON whatever names and numbers a run holds: one of them must not break all."""
    return Response(dump(plain(value), lines=True), media_type="application/json")


def _visitor(request: Request) -> Visitor:
    doors, told = _state(request).doors, request.cookies
    last = told.get(SINCE) or told.get(LAST) or ""
    since = float(last) if last.isdecimal() and len(last) < 12 else None
    return Visitor(doors.may_act, unquote(told.get(WHO, ""))[:80], since)


def _triage(request: Request) -> Response:
    shelf, now, visitor = _state(request).shelf, time.time(), _visitor(request)
    title = words.GROUPS["person"]
    return _kept(
        request, title, lambda: pages.triage(*query.triage(shelf, now, URGENT, visitor.since), now, visitor), visitor
    )


def _kept(request: Request, title: str, made: Callable[[], str], visitor: Visitor | None = None) -> Response:
    """Return a page of rows, with all that changed until now. The counter is asked first: what is newer is told."""
    state, here = _state(request), request.url.path
    change = state.shelf.change
    asked = (here, request.url.query, change, visitor, int(time.time()))
    return HTMLResponse(state.kept.get(asked, lambda: pages.page(title, made(), here=here, change=change)))


def _asked(request: Request) -> query.Asked:
    told = request.query_params

    def number(name: str, usual: int) -> int:
        text = told.get(name, "")
        return int(text) if text.isdecimal() and len(text) < 8 else usual

    return query.Asked(
        words=told.get("q", "")[:200],
        **{name: told.get(name, "")[:400] for name in query.FILTERS},  # type: ignore[arg-type]
        sort=told.get("sort", "urgency")[:20],
        down=told.get("down") == "1",
        first=number("first", 0),
        size=min(max(number("size", 100), 1), query.MOST),
    )


def _runs(request: Request) -> Response:
    shelf, now, asked, visitor = _state(request).shelf, time.time(), _asked(request), _visitor(request)
    by = request.query_params.get("by", "")

    def made() -> str:
        choices = query.choices(shelf)
        if by in query.BY:
            return pages.grouped(query.together(shelf, asked, by, now), by, asked, choices)
        return pages.table(*query.lines(shelf, asked, now), asked, choices, now, visitor)

    return _kept(request, "Runs", made, visitor)


def _api_rows(request: Request) -> Response:
    state, now = _state(request), time.time()
    lines, total = query.lines(state.shelf, _asked(request), now)
    rows = [{**asdict(one.row), "key": one.key, "group": one.group, "needs": one.need} for one in lines]
    return _json({"total": total, "change": state.shelf.change, "rows": rows})


def _line(request: Request) -> query.RowNow | None:
    return query.line_of(_state(request).shelf, request.path_params["key"], time.time())


def _run(request: Request) -> Response:
    state, one = _state(request), _line(request)
    if one is None:
        return _failed(words.NO_SUCH_RUN)
    unreadable = ""
    try:
        if one.row.state == "unreadable":
            unreadable = one.row.problem or words.FILES_GONE
        else:
            allowed(one.row)
    except LeadlineError as error:
        unreadable = f"{error.what} {words.FILES_GONE}"
    body = pages.run(
        one,
        people.said_of(state.shelf, one.row.identity),
        _looks(one.row),
        time.time(),
        _visitor(request),
        unreadable,
    )
    page = pages.page(one.row.name, body, change=state.shelf.change, news=f"/run/{one.key}/news")
    return HTMLResponse(page)


def _news(request: Request) -> Response:
    """Return the counter of changes, and what tells whether the files of a run changed: an open page asks again and
    again, and asks for itself when one of them is another."""
    if "key" not in request.path_params:
        return _json({"change": _state(request).shelf.change})
    one = _line(request)
    mark = None if one is None else mark_of(one.row)
    return _json({"change": _state(request).shelf.change, "mark": mark})


def _looks(row: Row) -> tuple[Spell, ...]:
    """Return what watches on this machine said of it, and how it went on: by later looks, and by its row."""
    try:
        watched = [past for past in past_of(row.identity) if past.run == row.identity and past.looks]
    except LeadlineError:
        return ()
    found: list[Spell] = []
    for past in watched:
        judged = point_of(past.looks[-1]).judged
        stands = Point(row.last_step or 0, row.verdict, row.level, judged, row.outcome) if row.verdict else None
        found += spells(past, stands)
    return tuple(found)


def _framed(made: Callable[[], str]) -> HTMLResponse:
    """Return a report to stand in a frame of ours. It names its scripts by their digests in itself; only who may frame
    it has to be said in a header."""
    try:
        page = made()
    except LeadlineError as error:
        return _failed(error.what)
    return HTMLResponse(page, headers=FRAMED)


def _report(request: Request) -> Response:
    one = _line(request)
    if one is None:
        return _failed(words.NO_SUCH_RUN)
    return _framed(lambda: _state(request).reports.of(one.row))


def _compare(request: Request) -> Response:
    state = _state(request)
    keys = list(dict.fromkeys(request.query_params.getlist("run")))[:MOST_COMPARED]
    found = [query.line_of(state.shelf, key, time.time()) for key in keys]
    rows = [one.row for one in found if one is not None]
    if len(rows) < 2:
        return _failed(words.COMPARE_TWO, 400)
    return _framed(lambda: state.reports.compared(rows))


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    return (
        Response(_asset(name), headers={"content-type": STATIC[name]}) if name in STATIC else Response(status_code=404)
    )


@cache
def _asset(name: str) -> bytes:
    """Return a part of the page, from the package."""
    text = files(__package__).joinpath(f"static/{name}").read_text(encoding="utf-8")
    return (f"{colours()}\n{text}" if name.endswith(".css") else text).encode()


# --- what people say


async def _say(request: Request) -> Response:
    """Write down what somebody says of one run, of those that are selected, or of all with the same need."""
    state = _state(request)
    if not state.doors.may_act:
        return _failed(words.READ_ONLY, 403)
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return Response(status_code=415)  # the guard lets JSON of programs pass, for agents
    if int(request.headers.get("content-length") or LARGEST_FORM + 1) > LARGEST_FORM:
        return Response(status_code=413)
    body = (await request.body()).decode("utf-8", errors="replace")
    try:
        form = parse_qs(body, keep_blank_values=True, max_num_fields=2000)
    except ValueError:
        return Response(status_code=413)
    told, _, about = form.get("what", [""])[0].partition(" ")
    if told == words.COMPARE:
        return RedirectResponse(f"/compare?{urlencode({'run': form.get('run', [])}, doseq=True)}", 303)
    what = next((one for one in WHATS if one == told), None)
    if what is None:
        return _failed(words.NO_SUCH_RUN)
    mine = request.path_params.get("key")
    keys = [mine] if mine is not None else [about] if about else form.get("run", [])
    who = form.get("who", [""])[0].strip()[:80] or _visitor(request).name or "somebody"
    seen, note = form.get("about", [""])[0], form.get("note", [""])[0]
    found = await run_in_threadpool(_say_of, state, keys, what, who, seen, note)
    if not found:
        return _failed(words.NO_SUCH_RUN if mine or about else words.NOTHING_SELECTED)
    if request.headers.get("accept") == "application/json":  # our script, which can take it back
        answer: Response = _json({"keys": found})
    else:
        answer = RedirectResponse("/" if mine is None else f"/run/{mine}", 303)
    answer.set_cookie(WHO, quote(who), max_age=YEAR, httponly=True, samesite="strict")
    return answer


def _say_of(state: State, keys: Sequence[str], what: people.What, who: str, seen: str, note: str) -> list[str]:
    """Say it of these runs, or of all with a need (`need:NAME:OVER`); return their keys. `seen`: the need that was
    shown."""
    now = time.time()
    if len(keys) == 1 and keys[0].startswith("need:"):
        _, need, over = f"{keys[0]}::".split(":")[:3]
        keys = query.keys_of(state.shelf, need, over=over == "1", now=now)
    until = now + DAY if what == "mute" else None
    lines = [one for key in dict.fromkeys(keys) if (one := query.line_of(state.shelf, key, now)) is not None]
    for one in lines:
        people.say(state.shelf, one.row.identity, what, who=who, about=seen or one.need, until=until, note=note)
    return [one.key for one in lines]
