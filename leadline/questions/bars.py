"""The bars and scales that decide, each with one name and one meaning for the whole product. Probabilities are shares
of paths; shares of a range or of the run are of the run's own, so rescaling a metric or its clock changes nothing."""

from __future__ import annotations

EVEN = 0.5  # probability: likelier than not
SAID = 0.8  # probability from which on a finding is said; it carries its own p, so it may speak earlier than a word
CLEARLY = 0.9  # probability: what is so sure needs no second look
NOTICEABLE = 0.05  # of the run's own range: a smaller gain or loss is not worth acting on
