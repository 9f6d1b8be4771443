"""Numbers as they are written: for people, for other programs, and for charts.

Processors and versions of numpy round differently, so the same sum may differ in its last digits: after a whole reading
in the eleventh or so. What is written for programs is cut well before, and a number that lies on the edge between two
printed ones is first put there exactly.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

WRITTEN = 7  # significant digits in what other programs read
LARGE = 1e7  # from here on three more: a time in seconds since 1970 is exact to the second
DRAWN = 5  # significant digits of a point in a chart: a screen of 2,000 lines shows four
TENS = np.array([float(f"1e{power}") for power in range(301)])  # exact, which numpy's powers are not everywhere
ROUNDING = 1e-9  # of the highest value: closer ones are as high
LOG_ROUNDING = 1e-12  # of a logarithm: a power of ten is never the largest of the digits before
REPEATABLE = 12  # significant digits that a plain mean of logged values has on every machine
UNITS = (86400, "days"), (3600, "h"), (60, "min"), (0, "s")
NAMED = 6  # names a line of a short text can hold
LONGEST_NAME = 120  # characters

Told = TypeVar("Told")


def number(value: float) -> str:
    """Format a number with three significant digits, without an exponent where a person would write none.

    >>> number(0.48271), number(12345.6), number(0.0000012), number(-0.0)
    ('0.483', '12346', '1.2e-06', '0')
    """
    value = settled(value) + 0.0  # no minus before a zero
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3g}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def apart(first: float, second: float) -> tuple[str, str]:
    """Format two numbers of one sentence: where three digits hide that they differ, with as many as show it.

    >>> apart(1.0859, 1.0943), apart(0.2, 0.4), apart(0.5, 0.5)
    (('1.086', '1.094'), ('0.2', '0.4'), ('0.5', '0.5'))
    """
    told = number(first), number(second)
    for digits in (4, 5, 6):
        if told[0] != told[1]:
            return told
        told = f"{settled(first):.{digits}g}", f"{settled(second):.{digits}g}"
    return told if told[0] != told[1] else (number(first), number(second))


def sure(p: float) -> str:
    """Format a probability as a whole percentage; none is ever certain.

    >>> sure(0.8123), sure(0.999), sure(0.001)
    ('81%', '>99%', '<1%')
    """
    return percent(min(max(p, 0.001), 0.999))


def percent(share: float) -> str:
    """Format a share as a whole percentage, without claiming none or all.

    >>> percent(0.004), percent(0.5), percent(0.999), percent(-0.0), percent(1.0)
    ('<1%', '50%', '>99%', '0%', '100%')
    """
    if -0.005 <= share <= 0:  # no minus before a zero
        return "0%"
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{100 * share:.0f}%"


def times(factor: float) -> str:
    """Format a factor.

    >>> times(1.754), times(29.98), times(2.0), times(1234.5)
    ('1.8×', '30×', '2×', '1234×')
    """
    return f"{factor:.0f}×" if factor >= 9.95 else f"{factor:.1f}".removesuffix(".0") + "×"


def counted(count: int, what: str) -> str:
    """Format a number and its noun.

    >>> counted(1, "sample"), counted(3, "sample")
    ('1 sample', '3 samples')
    """
    return f"{count} {what}{'s' * (count != 1)}"


def several(names: Sequence[str], most: int = NAMED) -> str:
    """Return the first few names, each of a length that a line can hold, and how many there are besides.

    >>> several(["a", "b", "c"], 2)
    'a, b, and 1 more'
    """
    shown = [shortened(name, LONGEST_NAME) for name in names[:most]]
    return ", ".join(shown) + (f", and {len(names) - most} more" if len(names) > most else "")


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters: a longer one loses its middle.

    >>> shortened("a" + "b" * 50, 5)
    'ab…bb'
    """
    tail = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def duration(seconds: float) -> str:
    """Format seconds as a person would say them.

    >>> duration(5.67), duration(42), duration(122), duration(600), duration(9000), duration(123456), duration(1e6)
    ('5.7 s', '42 s', '2 min', '10 min', '2.5 h', '34 h', '12 days')
    """
    least, unit = next(one for one in UNITS if seconds >= 2 * one[0])
    value = seconds / max(least, 1)
    if value < 1:
        return f"{settled(value):.2g} {unit}"
    return f"{value:.0f} {unit}" if value >= 9.95 else f"{value:.1f}".removesuffix(".0") + f" {unit}"


def dated(at: float) -> str:
    """Return a time as this machine's clock shows it."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return names in one sentence.

    >>> listed(["entropy", "KL", "length"]), listed(["entropy", "KL"]), listed(["entropy"])
    ('entropy, KL, and length', 'entropy and KL', 'entropy')
    """
    if len(names) < 3:
        return f" {last} ".join(names)
    return f"{', '.join(names[:-1])}, {last} {names[-1]}"


def interval(middle: float, low: float, high: float) -> str:
    """
    Format a level and the interval it lies in.

    >>> interval(0.5, 0.25, 0.751), interval(-2.5, -2.61, -2.4)
    ('0.500 (0.250–0.751)', '-2.50 (-2.61 to -2.40)')
    """
    first, last = (on_scale(end, max(abs(middle), abs(low), abs(high))) for end in (low, high))
    return f"{level(middle)} ({first}{' to ' if high < 0 else '–'}{last})"


def axis_label(value: float, room: int) -> str:
    """Format a number beside an axis: as exact as so many columns allow.

    >>> axis_label(0.981, 7), axis_label(-0.000847, 7)
    ('0.981', '-8e-04')
    """
    written = (number(value), f"{value:.2g}", f"{value:.1e}", f"{value:.0e}")
    return next((text for text in written if len(text) <= room), written[-1])


def span(first: int, last: int) -> str:
    """Format steps from one to another.

    >>> span(90, 133), span(7, 7)
    ('90–133', '7')
    """
    return f"{first}–{last}" if first != last else str(first)


def steps(first: int | None, last: int | None) -> str:
    """Format the same with what it counts.

    >>> steps(1, 25), steps(3, 3), steps(None, None)
    ('steps 1–25', 'step 3', 'no step')
    """
    return "no step" if first is None or last is None else f"step{'s' * (first != last)} {span(first, last)}"


def went(before: float, after: float) -> str:
    """Format a number and what it became, with as many decimals.

    >>> went(0.982, 0.00842), went(0.00652, 3.52), went(0.544, 0.95), went(-1.44, 0.3), went(0.81, 0)
    ('0.982 → 0.008', '0.007 → 3.52', '0.544 → 0.950', '-1.44 → 0.30', '0.810 → 0')
    """
    scale = max(abs(before), abs(after))
    first, second = on_scale(before, scale), on_scale(after, scale)
    if first == second:
        return " → ".join(apart(before, after))
    if "e" not in first + second and abs(before) >= 0.1 * scale <= abs(after):
        shown = max(len(first.partition(".")[2]), len(second.partition(".")[2]))
        decimals = min(shown, max(3 - math.ceil(math.log10(scale)), 0))
        first = first if before == round(before) else f"{settled(before):.{decimals}f}"
        second = second if after == round(after) else f"{settled(after):.{decimals}f}"
    return f"{first} → {second}"


def on_scale(value: float, scale: float) -> str:
    """Format a value of a metric of that size: to a thousandth of it or so.

    >>> on_scale(0.000374, 0.98), on_scale(0.0986, 0.612), on_scale(0.34, 0.98), on_scale(0.00153, 0.0478)
    ('0.000', '0.099', '0.340', '0.002')
    """
    if not 1e-4 <= scale < 1000 or value == round(value):
        return number(value)
    small = 1 - math.floor(math.log10(scale)) if scale < 0.01 else 3
    decimals = small if scale < 10 else 2 if scale < 100 else 1
    if abs(value) >= 0.1 * scale:
        decimals = min(decimals, max(2 - math.floor(math.log10(abs(value))), 0))
    plain = f"{settled(value):.{decimals}f}"
    return plain.removeprefix("-") if float(plain) == 0 else plain


def level(value: float) -> str:
    """Format a level of a metric, as `went` does.

    >>> level(0.94), level(0.0719), level(1.2), level(31.7), level(1), level(-0.0042)
    ('0.940', '0.072', '1.20', '31.7', '1', '-0.0042')
    """
    return on_scale(value, abs(value))


def settled(value: float) -> float:
    """Return the value without its last digits, so that 0.1235 is never 0.12349999999999998 when it is rounded for the
    eye.

    >>> settled(0.12349999999999998), settled(1 / 3)
    (0.1235, 0.333333333333)
    """
    return float(f"{value:.{REPEATABLE}g}")


def exact_sum(values: Iterable[float]) -> float:
    """Return the sum, rounded once. Python's own adds up differently since 3.12, and numpy's as the processor likes.

    >>> exact_sum([0.1] * 10), exact_sum([1e308, 1e308]), exact_sum([-math.inf, 1.0])
    (1.0, inf, -inf)
    """
    numbers = list(values)
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # too large to be added up, or infinite to both sides
        return float(sum(numbers))


def median(values: NDArray[np.float64]) -> float:
    """Return the median as `np.median` has it, which takes ten times as long for a few numbers.

    >>> median(np.array([3.0, 1.0, 2.0])), median(np.array([1.0, 4.0, 2.0, 3.0])), median(np.array([1.0, np.nan]))
    (2.0, 2.5, nan)
    """
    half, even = len(values) // 2, 1 - len(values) % 2
    ranked = np.partition(values, (half - even, half, len(values) - 1))
    return float(ranked[-1] if np.isnan(ranked[-1]) else (ranked[half - even] + ranked[half]) / 2)


def first_highest(values: NDArray[np.float64]) -> int:
    """Return the place of the highest value; of those that only rounding tells apart, the first.

    >>> first_highest(np.array([1.0, 0.3, 0.1 + 0.2, 0.3])), first_highest(np.array([0.3, 0.1 + 0.2]))
    (0, 0)
    """
    top = float(values.max())
    return int((values >= top - ROUNDING * abs(top)).argmax())


def written(data: Told) -> Told:
    """Plain data with its numbers as other programs get them.

    >>> written({"p": 0.123456789, "from": [1763244000.125, 12], "says": "so"})
    {'p': 0.1234568, 'from': [1763244000.0, 12], 'says': 'so'}
    """
    return _written(data)  # type: ignore[return-value] # the same kind of thing comes back


def _written(data: object) -> object:
    if isinstance(data, float):
        return float(f"{data:.{WRITTEN if abs(data) < LARGE else WRITTEN + 3}g}")
    if isinstance(data, dict):
        return {key: _written(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_written(value) for value in data]
    return data


def short(values: NDArray[np.floating] | NDArray[np.integer]) -> list[float | None]:
    """Return the values with DRAWN significant digits; None if one is not finite.

    >>> short(np.array([0.123456789, np.nan, 1234567.0]))
    [0.12346, None, 1234600.0]
    """
    numbers = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(numbers)
    known = np.where(finite & (numbers != 0), np.abs(numbers), 1.0)
    # Powers of ten are exact up to 1e22 in either direction of the division, so what is printed stays short.
    power = DRAWN - 1 - np.floor(np.log10(known) + LOG_ROUNDING).astype(np.intp)
    up, down = TENS[np.clip(power, 0, 300)], TENS[np.clip(-power, 0, 300)]
    # First to six places after the point: there a half is a half, whatever rounding made of it.
    shown = np.round(np.where(finite, numbers, 0.0) * up / down, 6)
    rounded = np.round(shown) / up * down
    return [one if good else None for one, good in zip(rounded.tolist(), finite.tolist(), strict=True)]
