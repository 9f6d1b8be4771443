"""Lay out the pages as HTML. All text from logs, paths and people goes through `h`."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode

from ..digits import dated
from ..facts.judgement import calls_for
from ..live.history import Spell
from ..records import dataclass
from ..report.plain import line
from ..shelf.people import Note
from ..shelf.query import BY, FILTERS, GROUPS, SORTS, Asked, Group, Needy, RowNow, Together
from ..shelf.row import Row
from ..words import serve as words

NOT_SORTED = ("spark", "why")
VIEW = ("words", *FILTERS, "sort", "first", "size")
WIDTH, HEIGHT = 120, 24  # of a sparkline


@dataclass(frozen=True, slots=True)
class Visitor:
    """A reader of a page, with permissions."""

    may_act: bool = False
    name: str = ""  # as given the last time
    since: float | None = None  # their last visit


def h(text: object, most: int = 400) -> str:
    """Return a text as it may stand in a page: nothing invisible, nothing endless, nothing a browser would obey."""
    return html.escape(line(str(text), most))


def page(title: str, body: str, *, here: str = "", change: int = 0, news: str = "/news") -> str:
    links = (("/", "Triage"), ("/runs", "All runs"))
    nav = "".join(f'<a href="{to}"{" aria-current=page" if to == here else ""}>{h(name)}</a>' for to, name in links)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f'<title>{h(title)} · {words.TITLE}</title><link rel="stylesheet" href="/static/app.css">'
        '<script src="/static/app.js" defer></script></head>'
        f'<body data-change="{change}" data-news="{h(news)}"><a class="skip" href="#main">Skip to content</a>'
        f'<header><strong>{words.TITLE}</strong><nav aria-label="Pages">{nav}</nav>{"" if here == "/runs" else SEARCH}'
        '<span id="status" role="status"></span></header>'
        f'<main id="main" tabindex="-1">{body}</main></body></html>\n'
    )


SEARCH = (
    '<form class="find" action="/runs" role="search"><input type="search" name="q" placeholder="Search ( / )"'
    ' aria-label="Search runs" aria-keyshortcuts="/"></form>'
)


def triage(
    counts: Mapping[Group, int],
    new: Sequence[RowNow],
    fresh: int,
    needy: Sequence[Needy],
    now: float,
    visitor: Visitor,
) -> str:
    tiles = "".join(
        f'<li class="tile {group}"><a href="/runs?{urlencode({"group": group})}"><b>{counts.get(group, 0)}</b> '
        f"<span>{h(words.GROUPS[group])}</span></a></li>"
        for group in GROUPS
        if counts.get(group) or group == "person"
    )
    groups = f'<nav aria-label="Groups"><ul class="tiles">{tiles}</ul></nav>'
    if not needy:
        says = words.NOTHING_NEEDED if sum(counts.values()) else words.NOTHING_KEPT
        return f"<h1>{h(words.GROUPS['person'])}</h1>{groups}<p>{h(says)}</p>"
    parts = []
    if new:
        seen = f'<button type="button" id="seen">{h(words.MARK_SEEN)}</button>'
        count = f'<span class="count">{h(words.found(len(new), fresh))}</span>'
        parts.append(
            f'<section class="new"><h2>{h(words.new_since(visitor.since, now))} {count} {seen}</h2>'
            f"{_listed(new, now, visitor, mixed=True)}</section>"
        )
    for title, over in ((words.STILL_RUNNING, False), (words.ENDED_LATELY, True)):
        reasons = [reason for reason in needy if reason.over == over]
        if reasons:
            parts.append(f"<h2>{h(title)}</h2>{''.join(_needy(reason, now, visitor) for reason in reasons)}")
    listed = "".join(parts)
    if visitor.may_act:
        listed = (
            f'<form class="says" method="post" action="/say"><div class="bar">{_bulk(visitor)}</div>{listed}</form>'
        )
    return f"<h1>{h(words.GROUPS['person'])}</h1>{groups}{listed}"


def _signed(visitor: Visitor) -> str:
    """Return the field that says who sends a form."""
    return (
        f'<label>Your name<input name="who" required maxlength="80" autocomplete="username" value="{h(visitor.name)}">'
        "</label>"
    )


def _bulk(visitor: Visitor) -> str:
    """Return what can be done with the runs that are selected, and by whom."""
    return (
        f'{_signed(visitor)}<button name="what" value="acknowledge">{h(words.ACKNOWLEDGE_SELECTED)}</button>'
        f'<button name="what" value="mute">{h(words.MUTE_SELECTED)}</button>'
    )


def _needy(reason: Needy, now: float, visitor: Visitor) -> str:
    to = urlencode({"group": "person", "need": reason.need})
    more = (
        f' <a href="/runs?{h(to)}">{h(words.ALL_OF.format(reason.count))}</a>'
        if reason.count > len(reason.lines)
        else ""
    )
    all_of_them = (
        f'<button name="what" value="acknowledge need:{h(reason.need)}:{int(reason.over)}">'
        f"{h(words.ACKNOWLEDGE_ALL.format(reason.count))}</button>"
        if visitor.may_act and reason.count > 1
        else ""
    )
    do = words.need_do(reason.need, ended=reason.over)
    return (
        f'<section class="need-{h(reason.need)}"><h3><span class="badge">{h(words.need_called(reason.need))}</span> '
        f'<span class="count">{reason.count}</span> <span class="do">{h(do)}</span>{more}{all_of_them}</h3>'
        f"{_listed(reason.lines, now, visitor)}</section>"
    )


def _listed(lines: Sequence[RowNow], now: float, visitor: Visitor, *, mixed: bool = False) -> str:
    listed = "".join(_urgent(one, now, visitor, mixed=mixed) for one in lines)
    return f'<ol class="urgent">{listed}</ol>' if listed else ""


def _urgent(one: RowNow, now: float, visitor: Visitor, *, mixed: bool) -> str:
    row, need, heading = one.row, one.need or "", "h3" if mixed else "h4"  # below the title of its need, if it has one
    facts = [
        f"step {words.steps(row.last_step, row.planned_steps)}",
        f"{words.amount(row.gpu_hours_left)} GPU-h left" if row.gpu_hours_left else "",
        words.ago(row.last_at, now),
        one.handed_to or "",
    ]
    badge = mixed and need in words.NOT_IN_HEADLINE
    called = f'<span class="badge">{h(words.need_called(need))}</span> ' if badge else ""
    box = button = ""
    if visitor.may_act:
        box = f'<input type="checkbox" name="run" value="{one.key}" aria-label="Select {h(row.name, 160)}">'
        button = (
            f'<button name="what" value="acknowledge {one.key}" aria-label="Acknowledge {h(row.name, 160)}">'
            f"{h(words.ACKNOWLEDGE)}</button>"
        )
    return (
        f'<li class="need-{h(need)}">{box}<{heading} title="{h(row.name)}">'
        f'<a href="/run/{one.key}">{h(row.name, 160)}</a></{heading}>{spark(row)}'
        f'<p class="why" title="{h(f"{row.says}. {_do(row, need)}")}">{called}{_headline(row)}</p>'
        f'<p class="facts">{"".join(f"<span>{h(fact)}</span>" for fact in facts if fact)}</p>{button}</li>'
    )


def _do(row: Row, need: str) -> str:
    kept = row.best_step is not None and row.best_step > (row.first_step or 0)  # better than where it began
    return words.need_do(need, ended=row.ended is not None, kept=kept)


def spark(row: Row) -> str:
    """Return the few points of the row as a line; gaps stay gaps."""
    pairs = [row.spark[at : at + 2] for at in range(0, len(row.spark), 2)]
    pieces: list[list[str]] = [[]]
    across = WIDTH / max(len(pairs) - 1, 1)
    for place, pair in enumerate(pairs):
        if pair.isdigit():
            pieces[-1].append(f"{place * across:.0f},{HEIGHT - 2 - int(pair) * (HEIGHT - 4) / 99:.1f}")
        elif pieces[-1]:
            pieces.append([])
    drawn = "".join(f'<polyline points="{" ".join(piece)}"/>' for piece in pieces if piece)
    label = h(words.drawn(row.name, row.verdict, row.outcome), 200)
    return (
        f'<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img"'
        f' aria-label="{label}">{drawn}</svg>'
    )


def table(
    lines: Sequence[RowNow],
    total: int,
    asked: Asked,
    choices: dict[str, list[str]],
    now: float,
    visitor: Visitor,
) -> str:
    form = _form(asked, choices)
    heads = "".join(_head(name, title, asked) for name, title in words.COLUMNS.items())
    body = "".join(_line(one, now) for one in lines)
    shown = asked.first + len(lines)
    more = ""
    if shown < total:
        to = address(asked, first=shown)
        more = f'<p><a id="more" rel="next" href="/runs?{h(to, 4000)}">More</a></p>'
    empty = "" if lines else f"<p>{h(words.NOTHING_FOUND)}</p>"
    begin = '<form action="/compare">'
    if visitor.may_act:
        begin = '<form class="says" method="post" action="/say">'
    return (
        f'<h1>Runs</h1>{form}{begin}<div class="bar"><span id="count">{h(words.found(shown, total))}</span>'
        f'{_bulk(visitor) if visitor.may_act else ""}<button name="what" value="{words.COMPARE}">'
        f'{h(words.COMPARE_SELECTED)}</button></div><div class="scroll" tabindex="0" role="region" aria-label="Runs">'
        '<table><thead><tr><th scope="col"><input type="checkbox" id="all" aria-label="Select all rows shown"></th>'
        f"{heads}</tr></thead><tbody>{body}</tbody></table></div>{empty}{more}</form>"
    )


def address(asked: Asked, **changes: object) -> str:
    """Return a view as an address: what differs from the usual one, so that it can be kept and sent."""
    told = {("q" if name == "words" else name): getattr(asked, name) for name in VIEW}
    told |= {"down": int(asked.down), **changes}
    usual = {"sort": "urgency", "down": 0, "first": 0, "size": 100}
    return urlencode({key: value for key, value in told.items() if value not in ("", usual.get(key))})


def _head(name: str, title: str, asked: Asked) -> str:
    if name in NOT_SORTED:
        return f'<th scope="col"{" class=drawn" if name == "spark" else ""}>{h(title)}</th>'
    mine = asked.sort == name
    way = ' aria-sort="descending"' if mine and asked.down else ' aria-sort="ascending"' if mine else ""
    to = address(asked, sort=name, down=int(mine and not asked.down), first=0)
    return f'<th scope="col"{way}><a href="/runs?{h(to, 4000)}">{h(title)}</a></th>'


def _line(one: RowNow, now: float) -> str:
    row, name = one.row, h(one.row.name, 160)
    return (
        f'<tr class="{one.group}">'
        f'<td><input type="checkbox" name="run" value="{one.key}" aria-label="Select {name}"></td>'
        f'<th scope="row"><a href="/run/{one.key}">{name}</a></th><td class="drawn">{spark(row)}</td>'
        f'<td class="why">{_headline(row)}</td>'
        f"<td class=number>{h(words.steps(row.last_step, row.planned_steps))}</td>"
        f"<td class=number>{h(words.ago(row.last_at, now))}</td><td>{h(words.amount(row.gpu_hours_left))}</td></tr>"
    )


def _headline(row: Row) -> str:
    """Return the headline, its first part in the color of what the run came to."""
    if row.state == "unreadable":
        return f"{_colored(row, row.state)} {h(row.problem, 240)}"
    first, dot, rest = row.headline.partition(" · ")
    return f"{_colored(row, first)}{h(f'{dot}{rest}', 240)}"


def _colored(row: Row, says: str) -> str:
    shade = calls_for(row.verdict or row.state, row.outcome)
    return f'<span class="verdict {h(shade)}">{h(says)}</span>'


def _form(asked: Asked, choices: dict[str, list[str]], by: str = "") -> str:
    def select(name: str, label: str, options: Iterable[str], chosen: str) -> str:
        listed = "".join(
            f'<option value="{h(one)}"{" selected" if one == chosen else ""}>{h(words.CHOICES.get(one, one)) or "any"}'
            "</option>"
            for one in ("", *options)
        )
        return f'<label>{label}<select name="{name}">{listed}</select></label>'

    filters = "".join(
        select(name, "Reason" if name == "need" else name.capitalize(), options, getattr(asked, name))
        for name, options in choices.items()
    )
    chosen = by or any(getattr(asked, name) for name in FILTERS) or asked.sort != "urgency"
    return (
        f'<form class="filters" action="/runs" role="search"><label>Search<input type="search" name="q"'
        f' value="{h(asked.words)}"></label><details{" open" if chosen else ""}><summary>Filters, order'
        f'</summary><div class="filters">{filters}{select("by", "Group by", BY, by)}'
        f"{select('sort', 'Sort by', SORTS, asked.sort)}<button>Show</button></div></details></form>"
    )


def grouped(groups: Sequence[Together], by: str, asked: Asked, choices: dict[str, list[str]]) -> str:
    rows = []
    for one in groups:
        name = h(one.name or "none", 160)
        if by in FILTERS and one.name:
            name = f'<a href="/runs?{h(urlencode({by: one.name}), 4000)}">{name}</a>'
        rows.append(
            f'<tr><th scope="row">{name}</th>'
            f"<td>{one.runs}</td><td>{one.person}</td><td>{h(words.spread(one.lowest, one.mean, one.highest))}</td>"
            f"<td>{one.steps if one.steps is not None else ''}</td><td>{one.verdicts}</td></tr>"
        )
    heads = "".join(
        f'<th scope="col">{h(name)}</th>'
        for name in (by.capitalize(), "Runs", "Need attention", "Level", "Steps", "Distinct verdicts")
    )
    return (
        f"<h1>Runs by {h(by)}</h1>{_form(asked, choices, by)}"
        '<div class="scroll" tabindex="0" role="region" aria-label="Groups"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def run(
    one: RowNow, said: Sequence[Note], looks: Sequence[Spell], now: float, visitor: Visitor, unreadable: str
) -> str:
    row = one.row
    need = '<p id="needs" hidden></p>'
    if one.need:
        do = _do(row, one.need)
        badge = f'<span class="badge">{h(words.need_called(one.need))}</span>'
        need = f'<p id="needs" class="need-{h(one.need)}">{badge} {h(do)}</p>'
    report = (
        f'<iframe id="report" title="Report of {h(row.name, 160)}" src="/run/{one.key}/report"></iframe>'
        if not unreadable
        else f"<p>{h(unreadable)}</p><p>{h(row.headline)}</p>"
    )
    notes = "".join(
        f"<li><time>{h(dated(note.at))}</time> <b>{h(words.SAID.get(note.what, note.what))}</b> by"
        f" {h(note.who, 80)}{f' until {dated(note.until)}' if note.until else ''} {h(note.note, 2000)}</li>"
        for note in said
    )
    notes = f'<ol class="timeline">{notes}</ol>' if notes else ""
    return (
        f"<h1>{h(row.name, 160)}</h1>{need}"
        f'<p id="about" class="facts"><span>step {h(words.steps(row.last_step, row.planned_steps))}</span>'
        f"<span>{h(row.framework or '')}</span><span>{h(words.ago(row.last_at, now))}</span>"
        f"<span>{h(row.identity, 300)}</span></p>{report}"
        '<div class="beside"><section aria-label="Checks"><h2>Past verdicts, and what happened next</h2>'
        f'<div id="looks">{_looks(looks)}</div></section>'
        f'<section aria-label="People"><h2>People</h2>{_acting(one, visitor)}'
        f'<div id="said">{notes}</div></section></div>'
    )


def _looks(spells: Sequence[Spell]) -> str:
    if not spells:
        return "<p>Not watched yet: run leadline watch PATH.</p>"
    listed = ""
    for spell in spells:
        first, end = spell.first, spell.end
        same = first.judged == end.judged and first.step != end.step and not spell.anew
        came = words.came_of(
            looks=spell.looks,
            last_step=spell.last.step,
            then=None if spell.then is None else (spell.then.verdict, spell.then.step),
            anew=spell.anew,
            levels=(first.level, end.level) if same and first.level is not None and end.level is not None else None,
        )
        listed += (
            f'<li><time>{h(dated(spell.at))}</time> step {first.step} <span class="verdict'
            f' {h(calls_for(first.verdict, first.outcome))}">{h(spell.says)}</span><p class="since">{h(came)}</p></li>'
        )
    return f'<ol class="timeline">{listed}</ol>'


def _acting(one: RowNow, visitor: Visitor) -> str:
    if not visitor.may_act:
        return f"<p>{h(words.READ_ONLY)}</p>"
    buttons = "".join(f'<button name="what" value="{what}">{h(says)}</button>' for what, says in words.BUTTONS.items())
    return (
        f'<form class="act" method="post" action="/run/{one.key}/say">{_signed(visitor)}'
        f'<input type="hidden" name="about" value="{h(one.need or "")}">'
        '<label>Note or assignee<input name="note" maxlength="2000"></label>'
        f'<div class="buttons">{buttons}</div></form>'
    )
