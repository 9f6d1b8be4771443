"""From logs as they were written to a `Run` with typed series and known events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ..errors import NotAnRLRun
from ..records import dataclass, field, replace
from ..run import (
    REWARD,
    Checkpoint,
    Config,
    Question,
    Rollouts,
    Run,
    Series,
    Steps,
    Telemetry,
    Values,
)  # fmt: skip
from ..vocabulary import Meaning, detect, dialects, families, family_of, translate
from ..vocabulary.guess import Guessed, by_words, cannot_be_reward, may_be_reward, meant, of_tools, other_training
from ..vocabulary.names import prefixes, tokens
from ..vocabulary.rules import ruled
from . import settings
from .events import damage_and_end, resumes
from .mapping import ATTEMPT, STEP, attempt_in, check, named
from .number import as_step
from .row import NO_LOGS, computed, is_held_out, settled
from .source import Log
from .table import Column, joined

# What is read where the first was not logged.
STANDS_IN = {"reward/mean": ("reward/episode", "reward/after_kl_mean", "reward/after_kl")}
MOST_ASKED = 6  # keys that a question names
FAILED_CALLS = "tools/failure_frac"
# What words are asked for even of a framework that is known: whoever writes the environment or the loop names these.
OF_ANY_FRAMEWORK = (REWARD, "reward/accuracy", "entropy", FAILED_CALLS, "tools/calls_per_sample")
HELD_OUT_SCORE = re.compile(r"eval/(?:.+/)?(?:acc|em|f1)/mean|eval/(?:gold|golden|oracle)\b.*")
TOLD = -1  # rank of what the user says: before everything a dialect knows
# Which columns are the running mean or a copy of another.
FIRST = 8  # values by which it is told: a window that is longer is still filling
FEWEST = 4
ROUNDED = 1e-6  # of a value: what single precision rounds off
DIGITS = 1e-3  # of the spread: what printing may have rounded off
MOST = 40  # columns that are compared


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All that was found around the logs of a run; nothing for a log that came through a pipe."""

    config: Config = field(default_factory=Config)
    checkpoints: tuple[Checkpoint, ...] = ()
    rollouts: Rollouts = field(default_factory=Rollouts)
    telemetry: Telemetry = field(default_factory=Telemetry)
    evaluations: Mapping[str, Column] = field(default_factory=dict)
    rollout_format: str | None = None
    settings_files: tuple[Path, ...] = ()
    telemetry_files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Understood:
    """One column and what it means; meaning None: nobody told us."""

    key: str
    column: Column
    meaning: Meaning | None
    written: Steps  # the step of every row of it, in the most trusted log that has it


@dataclass(frozen=True, slots=True, eq=False)
class LogView:
    """One log and the dialect it is read in."""

    log: Log
    dialect: str | None
    columns: Mapping[str, Column]
    written: Mapping[str, Column]  # the same before rows of earlier attempts and copies were left out
    prefix: str = ""  # the name of a run or a worker that stands before every key in the log, and is left out here

    @property
    def standing(self) -> tuple[bool, bool, bool, bool, bool, float, int]:
        """How far it is to be trusted beside other logs of the run: what was logged before a copy of what was printed,
        a framework's own log before one whose keys are guessed at, one with a reward, one that names its steps, exact
        before rounded, the later attempt, the longer."""
        attempt = -np.inf if self.log.attempt is None else self.log.attempt
        last = max((int(column.steps.max()) for column in self.columns.values() if len(column.steps)), default=0)
        rewarded = "reward/mean" in meant(self.columns, self.dialect)
        exact = self.log.trust == "exact"
        known_by = self.dialect is not None
        return not self.log.captured, known_by, rewarded, not self.log.counts_rows, exact, attempt, last


def assemble(
    path: str, logs: Log | Sequence[Log], around: Surroundings, *, mapping: Mapping[str, str] | None = None
) -> Run:
    """Return the run behind one log or several logs of it, and what lies around them. Several are merged by trust:
    where two give a value for the same step of the same series, the more trusted one stands."""
    told = named(mapping) if mapping else {}
    every = [logs] if isinstance(logs, Log) else logs
    algorithm = settings.merged([around.config, *(settings.config_from(log.settings) for log in every)]).algorithm
    views = [_view(log, algorithm, told) for log in every]
    if len(views) > 1:
        views.sort(key=lambda view: view.standing, reverse=True)
    best = views[0]
    # Rows that were only counted have no place on the clock of another log's steps.
    views = [best, *(view for view in views[1:] if view.log.counts_rows == best.log.counts_rows)]
    if told:
        keys = {view.prefix + key for view in views for key in view.columns}
        check(told, keys, max(view.log.attempts for view in views))
    updates = around.config.updates_per_batch or _updates_from(best)
    merged, questions = _merged(views, told)
    if around.evaluations:
        merged += _evaluated(around, merged)
    series, unread = _series(merged, updates)
    said = {key: value for view in reversed(views) for key, value in view.log.settings.items()}
    config = settings.merged([around.config, settings.config_from(said)])
    last = max((int(one.steps[-1]) for one in series if one.points), default=0)
    if config.planned_steps is not None and best.dialect is None and config.planned_steps + 1 < last:
        config = replace(config, planned_steps=None)  # the run has passed it: it counts something else
    if config.planned_steps is None:
        planned = as_step(said.get("max_steps", "")) or 0
        worked_out = settings.plan_in(series, config.raw, known=best.dialect is not None)
        config = replace(config, planned_steps=planned if planned > 0 else worked_out)
    if config.algorithm is None and best.dialect is not None and best.dialect.startswith("trl-"):
        config = replace(config, algorithm=best.dialect.removeprefix("trl-"))
    # Two logs of one run may tell of the same resume; a copy of what was printed tells nothing of the kind.
    telling = [view.log for view in views if view is best or not view.log.captured]
    events = dict.fromkeys(event for log in telling for event in (*resumes(log), *damage_and_end(log)))
    machine = around.telemetry
    if any(view.log.telemetry for view in views):
        from .telemetry import join  # only for runs whose tracker watched the machine

        machine = join([machine, *(view.log.telemetry for view in views)])
    return Run(
        path,
        framework=best.dialect,
        series=series,
        unread=unread,
        rollouts=around.rollouts,
        telemetry=machine,
        checkpoints=around.checkpoints,
        config=replace(config, raw={**said, **config.raw}),
        events=tuple(sorted(events, key=lambda event: event.step)),
        notes=(
            *map(_said, questions),
            *around.notes,
            *machine.notes,
            *(note for view in views for note in view.log.notes),
        ),
        questions=questions,
    )


def refuse_other_training(logs: Iterable[Log], *, path: str) -> None:
    """Raise where no log is of an RL run, but one is of another kind of training, and say which."""
    kinds = {log.not_rl or other_training(keys) for log in logs if (keys := set(log.table.keys()))}
    if kinds and None not in kinds:
        kind = min(map(str, kinds))
        no_log = kind in NO_LOGS
        raise NotAnRLRun(
            f"{path} is {kind}{', not a training log.' if no_log else '; Leadline reads online RL only.'}",
            next_step="pass the log or folder of a run." if no_log else "if it is RL, pass --map reward=KEY.",
        )


def _view(log: Log, algorithm: str | None, told: Mapping[str, str]) -> LogView:
    """Return the dialect is told from the first steps alone, up to the one that holds a reward: what is logged later
    cannot change how a run is read."""
    if STEP in told:
        log = replace(log, table=log.table.stepped_by(told[STEP]), counts_rows=False)
    dialect, family = log.dialect, None
    if dialect in families():  # the carrier proves the framework, not which of its trainers
        dialect, family = None, log.dialect
    elif dialect is not None and family_of(dialect) is None:
        dialect = None
    if dialect is None:
        dialect = _told(log, algorithm, family)
    if dialect is None and family is not None and log.table:
        dialect = dialects(family)[0]
    prefix = ""
    if dialect is None:
        keys = sorted(log.table.keys())
        for head in prefixes(keys):
            common = all(key.startswith(head) for key in keys)
            if is_held_out(head) or len({key.removeprefix(head) for key in keys}) < len(keys):
                continue  # that one says what the numbers are of
            dialect = _told(log, algorithm, family, head)
            if dialect is not None or common:
                prefix = head
                break
    log, table = settled(log, attempt_in(told) if told else None)
    columns = {key.removeprefix(prefix): column for key, column in computed(log.table).items()}
    if table is log.table:
        return LogView(log, dialect, columns, columns, prefix)
    written = {key.removeprefix(prefix): column for key, column in computed(table).items()}
    return LogView(log, dialect, columns, written, prefix)


def _told(log: Log, algorithm: str | None, family: str | None, prefix: str = "") -> str | None:
    """Return the dialect that the first rows are written in. An evaluation before the first step tells little, so rows
    are taken in until they tell, or hold what is plainly a reward."""
    for written in log.table.keys_as_they_came():
        keys = frozenset(key.removeprefix(prefix) for key in written)
        dialect = detect(keys, algorithm=algorithm, family=family)
        if dialect is not None:
            return dialect
        if "reward/mean" in meant(keys):
            return None
    return None


def _merged(views: Sequence[LogView], told: Mapping[str, str]) -> tuple[list[Understood], tuple[Question, ...]]:
    """Return every column of the views, the most trusted first, and what is left to ask. The same number in two logs
    becomes one column."""
    merged: list[Understood] = []
    places: dict[object, int] = {}  # a key, or a meaning that one key alone has
    names: set[str] = set()
    questions: tuple[Question, ...] = ()
    for view in views:
        columns = view.columns
        if view.log.repeats == "parts":
            columns = {key: _whole_steps(column) for key, column in columns.items()}
        meanings = _meanings(view, columns, told, taken=names)
        fresh: dict[object, int] = {}
        for key, column in columns.items():
            meaning = meanings.get(key)
            same = None if meaning is None else (meaning.canonical, meaning.kind, meaning.rule)
            called = view.prefix + key
            place = places.get(called, places.get(same) if same is not None else None)
            if place is None:
                fresh[called] = len(merged)
                if same is not None:
                    fresh.setdefault(same, len(merged))
                merged.append(Understood(called, column, meaning, view.written[key].steps))
            else:
                # As if the less trusted log had been written first: of a step that both hold, the better stands.
                merged[place] = replace(merged[place], column=joined([column, merged[place].column], by_rows=False))
        places.update(fresh)
        if view is views[0]:
            questions = tuple(_questions(view, columns, meanings))
        names |= {meaning.canonical for meaning in meanings.values()}
    for view in views:
        for key, steps in view.log.table.words().items():
            nothing = np.full(len(steps), np.nan)
            merged.append(Understood(key, Column(steps, nothing, nothing), None, steps))
    return merged, questions


def _evaluated(around: Surroundings, merged: Sequence[Understood]) -> list[Understood]:
    """Return what files of evaluations add to the logs: scores that no log holds."""
    known = {one.meaning.canonical for one in merged if one.meaning is not None}
    guessed = by_words(around.evaluations).meanings
    return [
        Understood(key, column, meaning, column.steps)
        for key, column in around.evaluations.items()
        if (meaning := guessed.get(key)) is None or meaning.canonical not in known
    ]


def _meanings(
    view: LogView, columns: Mapping[str, Column], told: Mapping[str, str], taken: set[str]
) -> dict[str, Meaning]:
    """Return what the user says, then what the dialect knows, then what is likely by the words of a key. Of a framework
    that is known, words are asked for no more than its reward."""
    said = {name: key.removeprefix(view.prefix) for name, key in told.items() if name not in (STEP, ATTEMPT)}
    meanings = {key: Meaning(name, "as you say", TOLD) for name, key in said.items()}
    for key in columns:
        if key not in meanings and view.dialect and (meaning := translate(key, view.dialect)):
            meanings[key] = meaning
    known = taken | {meaning.canonical for meaning in meanings.values()}
    likely = _guessed(view, columns, meanings).meanings
    meanings |= {key: meaning for key, meaning in likely.items() if meaning.canonical not in known}
    # Words leave open what numbers tell: a share of failed calls is never above one, a count of them is.
    for key, meaning in meanings.items():
        if meaning.canonical == FAILED_CALLS and key in columns and np.nanmax(columns[key].values, initial=0.0) > 1:
            counted = "tools/failures_per_sample", "guess: failed tool calls of a sample"
            meanings[key] = replace(meaning, canonical=counted[0], kind=counted[1])
    return meanings


def _guessed(view: LogView, columns: Mapping[str, Column], meanings: Mapping[str, Meaning]) -> Guessed:
    """Return what the words of the remaining keys say."""
    # A dialect may hand a number about tools through from the environment.
    points = {
        key: len(column.steps)
        for key, column in columns.items()
        if key not in meanings or (meanings[key].canonical.startswith("env/") and of_tools(tokens(key)) is not None)
    }
    known = any(one.canonical == REWARD for key, one in meanings.items() if key not in points)
    tell = partial(by_words, points=points, averages=running_means(columns), rewarded=known)
    guessed = tell(points)
    asked = guessed.unclear.get(REWARD, ())
    if asked and (twice := copies({key: columns[key] for key in asked})):
        guessed = tell(points.keys() - twice)
    chosen = next((key for key, one in guessed.meanings.items() if one.canonical == REWARD), None)
    if chosen is not None:  # one number under several names is no part of itself, and no other choice
        said = {key: columns[key] for key in points}
        twice = frozenset(key for key in said if key != chosen and copies({chosen: said[chosen], key: said[key]}))
        guessed = tell(points.keys() - twice) if twice else guessed
    if view.dialect is None:
        return guessed
    held_out = any(meaning.canonical.startswith("eval/") for meaning in meanings.values())
    wanted = OF_ANY_FRAMEWORK if held_out else (*OF_ANY_FRAMEWORK, "eval/reward/mean")
    return replace(
        guessed,
        meanings={
            key: one
            for key, one in guessed.meanings.items()
            if one.canonical in wanted or HELD_OUT_SCORE.fullmatch(one.canonical)
        },
    )


def _questions(view: LogView, columns: Mapping[str, Column], meanings: Mapping[str, Meaning]) -> Iterator[Question]:
    """Yield what was guessed and could be otherwise, and what has to be asked for."""
    for key, meaning in meanings.items():
        if meaning.instead:
            yield Question(
                meaning.canonical, tuple(view.prefix + one for one in meaning.instead), chosen=view.prefix + key
            )
    if not any(meaning.canonical == "reward/mean" for meaning in meanings.values()):
        asked = _candidates_for_reward(view, columns, meanings)
        if asked:
            yield Question("reward/mean", tuple(view.prefix + key for key in asked))


def _said(question: Question) -> str:
    """Return a question as a sentence, with the line to paste."""
    if question.chosen is None:
        # The line to paste first: a note may be cut where the screen ends.
        others = f", or another key: {', '.join(question.keys[1:])}" if question.keys[1:] else ""
        return f"No key is clearly {question.name}: try {question.answer}{others}."
    others = " or ".join(question.keys[:3])
    return f"Using {question.chosen} as {question.name} (best guess; could be {others}: {question.answer})."


def _candidates_for_reward(
    view: LogView, columns: Mapping[str, Column], meanings: Mapping[str, Meaning]
) -> tuple[str, ...]:
    """Return the keys to ask about: those that call themselves a reward, else whatever was logged most and not
    understood."""
    asked = _guessed(view, columns, meanings).unclear.get("reward/mean", ())
    if asked or any(meaning.canonical.startswith(("eval/", "reward/")) for meaning in meanings.values()):
        return asked
    open_ones = [key for key in columns if key not in meanings and not cannot_be_reward(key)]
    open_ones = [key for key in open_ones if not _counts(columns[key].values)]
    unknown = sorted(open_ones, key=lambda key: (-len(columns[key].steps), key))
    return tuple(unknown[:MOST_ASKED])


def _counts(values: Values) -> bool:
    """Return whether values stand still, or only go up by whole numbers: a setting, a clock, a count."""
    known = values[np.isfinite(values)]
    whole = np.all(known[1:] >= known[:-1]) and np.all(known == np.round(known))
    return bool(whole or np.all(known == known[:1]))


def _whole_steps(column: Column) -> Column:
    """Return one value for the rows that are parts of one step."""
    if len(column.steps) < 2 or not np.any(column.steps[1:] == column.steps[:-1]):
        return column
    starts = np.flatnonzero(np.append(True, column.steps[1:] != column.steps[:-1]))
    counts = np.diff(np.append(starts, len(column.steps)))
    with np.errstate(invalid="ignore", over="ignore"):
        means = np.add.reduceat(column.values, starts) / counts
    return Column(column.steps[starts], np.where(counts == 1, column.values[starts], means), column.walls[starts])


def _series(understood: Sequence[Understood], updates: float | None) -> tuple[tuple[Series, ...], tuple[Series, ...]]:
    """Return known series in the dialect's order, and those nobody told us the meaning of, by key."""
    known: list[tuple[tuple[int, int], Series]] = []
    unread: dict[tuple[str, str], Series] = {}
    groups = _groups(understood)
    for one in understood:
        if one.meaning is None:
            kind = "not a number" if np.isnan(one.column.values).all() and one.column.rows is None else "unknown"
            unread.setdefault((one.key, kind), _one(one, one.key, kind, one.column))
        else:
            known.append(((one.meaning.rank, one.meaning.place), _ruled(one, one.meaning, updates, groups)))
    known.sort(key=lambda pair: (pair[0], pair[1].key))
    series = [one for _, one in known]
    for wanted, others in STANDS_IN.items():
        for instead in others:
            if not any(one.name == wanted for one in series):
                series = [replace(one, name=wanted) if one.name == instead else one for one in series]
    return tuple(series), tuple(unread[place] for place in sorted(unread))


def _ruled(one: Understood, meaning: Meaning, updates: float | None, groups: Mapping[int, float]) -> Series:
    """Return the series of a column, its numbers turned into canonical ones where the dialect names a rule."""
    name, column = meaning.canonical, one.column
    if not meaning.rule:
        return _one(one, name, meaning.kind, column)
    if meaning.rule == "share_of_groups" and not groups:
        return _one(one, f"{name.removesuffix('_frac')}_count", meaning.kind, column)
    steps, values, says = ruled(meaning.rule, column.steps, column.values, updates=updates, groups=groups)
    walls = column.walls if len(steps) == len(column.steps) else np.full(len(steps), np.nan)
    return _one(one, name, ", ".join(filter(None, (meaning.kind, says))), Column(steps, values, walls))


def _one(one: Understood, name: str, kind: str, column: Column) -> Series:
    walls = None if np.isnan(column.walls).all() else column.walls
    series = Series.from_log(name, one.key, kind, column.steps, column.values, walls)
    if len(one.written) <= series.points and np.all(one.written[1:] > one.written[:-1]):
        return series
    steps, counts = np.unique(one.written, return_counts=True)
    return replace(series, repeats=np.repeat(steps, counts - np.isin(steps, series.steps)))


def _groups(understood: Iterable[Understood]) -> dict[int, float]:
    """Return how many groups each step had, where the log counts the solved, the unsolved and the mixed ones."""
    counts = [one.column for one in understood if one.meaning is not None and one.meaning.rule == "share_of_groups"]
    if len(counts) < 3:
        return {}
    total: dict[int, float] = {}
    for column in counts:
        for step, value in zip(column.steps.tolist(), column.values.tolist(), strict=True):
            total[step] = total.get(step, 0.0) + value
    return total


def _updates_from(view: LogView) -> float | None:
    """Return how many optimizer updates a step has, from a ratio that is summed over them and begins near 1 for
    each."""
    for key, column in view.columns.items():
        meaning = translate(key, view.dialect) if view.dialect else None
        if meaning is not None and (meaning.canonical, meaning.rule) == ("is/update_ratio_mean", "sum_over_updates"):
            first = float(column.values[int(np.argmin(column.steps))]) if len(column.steps) else np.nan
            return max(1.0, float(round(first))) if np.isfinite(first) and first > 0 else None
    return None


def running_means(columns: Mapping[str, Column]) -> frozenset[str]:
    """Return the keys whose first values are the mean of another key's values so far, or a mean that forgets at a fixed
    pace. Only what may be a reward is compared. The first rows alone tell, so a growing log keeps its reading."""
    some = [(key, column) for key, column in sorted(columns.items()) if may_be_reward(key)][:MOST]
    return frozenset(
        key for key, mean in some if any(other != key and _is_mean_of(mean, column) for other, column in some)
    )


def copies(columns: Mapping[str, Column]) -> frozenset[str]:
    """Of the keys that may be the reward and begin with the same numbers, all but the first: one number, two names."""
    some = [(key, column) for key, column in sorted(columns.items()) if may_be_reward(key)][:MOST]
    return frozenset(
        key for place, (key, column) in enumerate(some) if any(_is_copy_of(column, other) for _, other in some[:place])
    )


def _first_of_both(one: Column, other: Column) -> tuple[Values, Values] | None:
    """Return the first values of two columns; None if they are few, or at different steps."""
    count = min(FIRST, len(one.steps), len(other.steps))
    if count < FEWEST or not np.array_equal(one.steps[:count], other.steps[:count]):
        return None
    return one.values[:count], other.values[:count]


def _is_copy_of(one: Column, other: Column) -> bool:
    both = _first_of_both(one, other)
    return both is not None and bool(np.ptp(both[0]) > 0 and np.allclose(*both, rtol=ROUNDED, atol=0.0))


def _is_mean_of(mean: Column, column: Column) -> bool:
    both = _first_of_both(mean, column)
    if both is None or not np.isfinite(both).all():
        return False
    smooth, values = both
    spread = float(np.ptp(values))
    if spread == 0.0 or np.allclose(smooth, values, rtol=0.0, atol=DIGITS * spread):
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near the largest are nobody's mean
        so_far = np.cumsum(values) / np.arange(1, len(values) + 1)
        if np.allclose(smooth, so_far, rtol=0.0, atol=DIGITS * spread):
            return True
        # One that forgets: every value moves it by the same share of its distance to it.
        moved, away = np.diff(smooth), values[1:] - smooth[:-1]
        share = float(moved @ away) / float(away @ away) if float(away @ away) > 0.0 else 0.0
        return 0.0 < share < 1.0 and bool(np.allclose(moved, share * away, rtol=0.0, atol=DIGITS * spread))
