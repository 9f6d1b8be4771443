"""A rise that is that of one component alone, while another, which was meant to be paid too, earns next to nothing; and
components that never paid at all."""

from __future__ import annotations

from ...facts import Evidence, Finding
from ...facts.reward import NeverPaid, PartOfReward, RiseOfOnePart
from ...questions.bars import EVEN, NOTICEABLE, SAID, USUAL
from ...questions.level import level_now, start_of, steps_seen
from ...questions.stuck import p_goes_on
from ...questions.way import p_climbed
from ...run import Series
from ..view import HEADLINE, View
from .apart import COMPONENT, component_names


def rise_of_one_part(view: View) -> tuple[Finding, ...]:
    """The component that rose with the reward, where another that can pay still pays almost nothing."""
    reward, logged = view.curve(HEADLINE), view.run.get(HEADLINE)
    if reward is None or logged is None or not reward.decidable or p_climbed(reward) <= SAID:
        return ()
    rise = level_now(reward, logged) - start_of(reward, logged)
    parts = _parts(view)
    carrier, p = max(parts, key=lambda item: item[0].now - item[0].start, default=(None, 0.0))
    idle = tuple(part for part, _ in parts if part is not carrier and _size(part) <= NOTICEABLE * rise)
    if carrier is None or not idle or carrier.now - carrier.start < EVEN * rise or p <= SAID:
        return ()
    facts = RiseOfOnePart(carrier, idle)
    span = steps_seen(reward)
    evidence = tuple(Evidence(f"reward/component/{part.name}/mean", *span) for part in (carrier, *idle))
    return (Finding("reward.one_part", round(p * p_climbed(reward), 4), "note", evidence=evidence, facts=facts),)


def never_paid(view: View) -> tuple[Finding, ...]:
    """The components that were exactly 0 all along, beside others that were not."""
    found = {match["name"]: series for series in view.run.series if (match := COMPONENT.fullmatch(series.name))}
    still = {name: series for name, series in found.items() if _is_nothing(series)}
    if not still or len(still) == len(found):
        return ()
    points = min(int(series.finite.sum()) for series in still.values())
    spans = ((series, series.steps[series.finite]) for series in still.values())
    evidence = tuple(Evidence(series.name, int(steps[0]), int(steps[-1])) for series, steps in spans)
    facts = NeverPaid(tuple(still), points)
    return (Finding("reward.never_paid", round(p_goes_on(points), 4), "note", evidence=evidence, facts=facts),)


def _is_nothing(series: Series) -> bool:
    values = series.values[series.finite]
    return len(values) >= USUAL and not values.any()


def _size(part: PartOfReward) -> float:
    """How much it pays or takes: a penalty is not idle."""
    return max(abs(part.start), abs(part.now))


def _parts(view: View) -> list[tuple[PartOfReward, float]]:
    """The components that pay at least something at times, with their levels and how sure it is that each rose."""
    found = []
    for name, key in component_names(view).items():
        curve, series = view.curve(key), view.run.get(key)
        if curve is None or series is None or not curve.decidable or not (series.values[series.finite] > 0).any():
            continue
        found.append((PartOfReward(name, start_of(curve, series), level_now(curve, series)), p_climbed(curve)))
    return found
