"""What a watch says of its own work: a run that is silent, a path that hangs, a state file that cannot be written."""

from __future__ import annotations

from .numbers import duration, number


def age(seconds: float) -> str:
    """How long ago something was, as coarse as one reads it.

    >>> age(2.4), age(660), age(7500)
    ('2 s', '11 min', '2 h 5 min')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def silence(seconds: float, step: int, gap: float | None) -> str:
    """A run that logs nothing any more.

    >>> silence(660, 40, 12.0), silence(1800, 2, None)
    ('No row was logged for 11 min after step 40; before, one came every 12 s.', \
'No row was logged for 30 min after step 2; how long a step takes is not known yet.')
    """
    if gap is None:
        before = "how long a step takes is not known yet"
    else:
        before = f"before, one came every {duration(gap)}" if gap >= 0.5 else "before, several came every second"
    return f"No row was logged for {age(seconds)} after step {step}; {before}."


def cost_of_going_on(step: int, hours: float, price: float) -> str:
    return f"Going on to step {step} takes about {number(hours)} h and costs about {number(hours * price)}."


def hangs(path: str, seconds: float) -> str:
    return f"{path} has not answered for {age(seconds)}; the others are followed meanwhile."


def answers_again(path: str) -> str:
    return f"{path} answers again."


def state_not_written(path: object, error: Exception) -> str:
    return f"The state file {path} cannot be written now: {error}. Trying again."


def look_failed(name: str, error: Exception) -> str:
    return f"A look at {name} failed: {type(error).__name__}: {error}"


def cannot_follow(path: str, error: Exception) -> str:
    return f"{path} cannot be followed: {type(error).__name__}: {error}"
