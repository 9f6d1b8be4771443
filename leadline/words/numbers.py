"""Numbers, probabilities, and lists as a person would write them: the only place that formats any."""

from __future__ import annotations

from collections.abc import Sequence

from ..digits import settled

NAMED = 6  # names a line of a short text can hold
LONGEST_NAME = 120  # characters


def number(value: float) -> str:
    """Three significant digits, without an exponent where a person would write none.

    >>> number(0.48271), number(12345.6), number(0.0000012)
    ('0.483', '12346', '1.2e-06')
    """
    value = settled(value)
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3g}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def apart(first: float, second: float) -> tuple[str, str]:
    """Two numbers of one sentence: where three digits hide that they differ, as many as show it.

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
    """A probability as a whole percentage; none is ever certain.

    >>> sure(0.8123), sure(0.999), sure(0.001)
    ('81%', '>99%', '<1%')
    """
    return percent(min(max(p, 0.001), 0.999))


def percent(share: float) -> str:
    """A share as a whole percentage, without claiming none or all.

    >>> percent(0.004), percent(0.5), percent(0.999), percent(0.0), percent(1.0)
    ('<1%', '50%', '>99%', '0%', '100%')
    """
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{100 * share:.0f}%"


def counted(count: int, what: str) -> str:
    """A number and its noun.

    >>> counted(1, "sample"), counted(3, "sample")
    ('1 sample', '3 samples')
    """
    return f"{count} {what}{'s' * (count != 1)}"


def several(names: Sequence[str], most: int = NAMED) -> str:
    """The first few names, each of a length that a line can hold, and how many there are besides.

    >>> several(["a", "b", "c"], 2)
    'a, b, and 1 more'
    """
    return ", ".join(map(_cut, names[:most])) + (f", and {len(names) - most} more" if len(names) > most else "")


def _cut(name: str) -> str:
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half + 1 :]}"


def capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def duration(seconds: float) -> str:
    """Seconds as a person would say them.

    >>> duration(42), duration(600), duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{number(seconds)} s"
    return f"{number(seconds / 60)} min" if seconds < 7200 else f"{number(seconds / 3600)} h"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in one sentence.

    >>> listed(["entropy", "KL", "length"]), listed(["entropy", "KL"]), listed(["entropy"])
    ('entropy, KL, and length', 'entropy and KL', 'entropy')
    """
    if len(names) < 3:
        return f" {last} ".join(names)
    return f"{', '.join(names[:-1])}, {last} {names[-1]}"


def interval(middle: float, low: float, high: float) -> str:
    """
    >>> interval(0.5, 0.25, 0.751)
    '0.5 (0.25–0.751)'
    """
    return f"{number(middle)} ({number(low)}–{number(high)})"


def axis_label(value: float, room: int) -> str:
    """A number beside an axis: as exact as so many columns allow.

    >>> axis_label(0.981, 7), axis_label(-0.000847, 7)
    ('0.981', '-8e-04')
    """
    written = (number(value), f"{value:.2g}", f"{value:.1e}", f"{value:.0e}")
    return next((text for text in written if len(text) <= room), written[-1])


def span(first: int, last: int) -> str:
    """Steps from one to another.

    >>> span(90, 133), span(7, 7)
    ('90–133', '7')
    """
    return f"{first}–{last}" if first != last else str(first)


def went(before: float, after: float) -> str:
    """A number and what it became.

    >>> went(0.982, 0.00842), went(0.00652, 3.52)
    ('0.982 → 0.008', '0.007 → 3.52')
    """
    scale = max(abs(before), abs(after))
    first, second = (on_scale(value, scale) for value in (before, after))
    return " → ".join(apart(before, after) if first == second else (first, second))


def on_scale(value: float, scale: float) -> str:
    """A value of a metric of that size: to a thousandth of it.

    >>> on_scale(0.000374, 0.98), on_scale(0.34, 0.98)
    ('0.000', '0.34')
    """
    if not 0.1 <= scale < 1000 or abs(value) >= scale:
        return number(value)
    decimals = 3 if scale < 10 else 2 if scale < 100 else 1
    plain = f"{settled(value):.{decimals}f}"
    return plain if abs(value) < 0.1 * scale and float(plain) != value else number(value)
