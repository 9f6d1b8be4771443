"""Numbers, probabilities and lists as a person would write them: the only place that formats any."""

from __future__ import annotations

from collections.abc import Sequence


def number(value: float) -> str:
    """Three significant digits, without an exponent where a person would write none.

    >>> number(0.48271), number(12345.6), number(0.0000012)
    ('0.483', '12346', '1.2e-06')
    """
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3g}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def sure(p: float) -> str:
    """A probability in one word; a rounded 1.00 would claim too much.

    >>> sure(0.8123), sure(0.999), sure(0.001)
    ('p=.81', 'p>.99', 'p<.01')
    """
    return "p<.01" if p < 0.005 else "p>.99" if p >= 0.995 else f"p={p:.2f}".replace("0.", ".")


def percent(share: float) -> str:
    """A share as a whole percentage, without claiming none or all.

    >>> percent(0.004), percent(0.5), percent(0.999), percent(0.0), percent(1.0)
    ('< 1 %', '50 %', '> 99 %', '0 %', '100 %')
    """
    if 0 < share < 0.005:
        return "< 1 %"
    return "> 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def counted(count: int, what: str) -> str:
    """A number and its noun.

    >>> counted(1, "sample"), counted(3, "sample")
    ('1 sample', '3 samples')
    """
    return f"{count} {what}{'s' * (count != 1)}"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in one sentence.

    >>> listed(["entropy", "KL", "length"]), listed(["entropy"])
    ('entropy, KL and length', 'entropy')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}" if names else ""


def chance(p: float) -> str:
    """A probability or share in a running sentence.

    >>> chance(0.004), chance(0.22), chance(0.999)
    ('< 1 %', '22 %', '> 99 %')
    """
    return "< 1 %" if p < 0.005 else "> 99 %" if p > 0.995 else f"{100 * p:.0f} %"
