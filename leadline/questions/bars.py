"""The bars and scales that decide, each with one name and one meaning for the whole product. Probabilities are shares
of paths; shares of a range or of the run are of the run's own, so rescaling a metric or its clock changes nothing."""

from __future__ import annotations

# Probabilities, and shares of points, steps, samples or of the run's own range.
RARE = 0.02  # share: what happens less often is an oddity, what moved by less has not moved
NOTICEABLE = 0.05  # share: a smaller gain, loss or remainder is not worth acting on
TENTH = 0.1  # share: where a reader would say that something has begun, or stands at an end
SELDOM = 0.2  # share: what so few have is lacking, and what is younger than this is recent
THIRD = 1 / 3  # share: a slow rise shows over so long, and a GPU that draws less waits
EVEN = 0.5  # probability or share: likelier than not, more of it than not
SAID = 0.8  # probability: a finding is said from here on; it carries its own p, so it may speak earlier than a word
CLEARLY = 0.9  # probability or share: what is so sure needs no second look, what so many do nearly all do

# Ratios to the run's own usual.
HALF_MORE = 1.5  # times: less is not worth a sentence
DOUBLED = 2.0  # times: less is within what another batch of prompts does
MANY_TIMES = 3.0  # times: gradient norms and pauses double and halve in every run
TENFOLD = 10.0  # times: so much larger or longer than usual is an event by itself

# Distances in units of the run's own noise.
FAR = 4.0  # standard errors: no chance, even where the place was chosen for it

# Counts.
TWO = 2  # series, batches: one may be blind or odd, two are unlikely to be
FEW = 3  # points, batches, samples: two may coincide, a third makes a level
HABIT = 5  # points: the run's own start; fewer show no habit
SPELL = 10  # points: a start or a present, however many follow or came before
USUAL = 20  # points: with fewer nothing is known about what is usual
