"""Dataclasses that are compiled late behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from typing import Any, ClassVar

import pytest

from leadline import records


class Plain:
    """Some fields."""

    KIND: ClassVar[str] = "plain"
    step: int
    name: str = "reward"
    notes: list[str] = field(default_factory=list)
    hidden: int = field(default=0, repr=False, compare=False)
    made: dict[str, int] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if self.step < 0:
            raise ValueError("a step is 0 or more")


OPTIONS = [
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "eq": False},
    {"slots": True},
]


def both(options: dict[str, bool]) -> tuple[Any, Any]:
    """The same class made by the standard library and by us."""
    made = []
    for make in (dataclasses.dataclass, records.dataclass):
        decorate: Callable[[type], type] = make(**options)  # type: ignore[call-overload]
        made.append(decorate(type("Plain", (), dict(vars(Plain)))))
    return made[0], made[1]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_record_is_made_shown_and_compared_as_a_dataclass_is(options: dict[str, bool]) -> None:
    theirs, ours = both(options)
    _alike(theirs, ours, options)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))  # compiles `__init__`
    _alike(theirs, ours, options)


def _alike(theirs: Any, ours: Any, options: dict[str, bool]) -> None:
    for given in ((3,), (3, "kl"), (3, "kl", ["a"], 7)):
        one, other = ours(*given), ours(*given)
        assert repr(one) == repr(theirs(*given))
        assert dataclasses.asdict(one) == dataclasses.asdict(theirs(*given))
        assert (one == other) == (theirs(*given) == theirs(*given))
        assert one != theirs(*given)
        assert one.notes is not ours(3).notes
        assert repr(records.replace(one, step=4)) == repr(replace(one, step=4)) == repr(replace(theirs(*given), step=4))
    assert (ours(3) == ours(3, hidden=1)) == options.get("eq", True)
    assert [one.name for one in fields(ours)] == [one.name for one in fields(theirs)]
    for wrong, named in (((), {}), ((-1,), {}), ((1, "a", [], 0, 5), {}), ((1,), {"odd": 1}), ((1,), {"step": 2})):
        with pytest.raises((TypeError, ValueError)) as refused:
            theirs(*wrong, **named)
        with pytest.raises(refused.type):
            ours(*wrong, **named)


@pytest.mark.parametrize("options", OPTIONS)
def test_a_record_is_hashed_as_a_dataclass_is(options: dict[str, bool]) -> None:
    for kind in both(options):
        one, other = (kind(3, "kl", ()) for _ in range(2))
        if options.get("eq", True) and not options.get("frozen"):
            with pytest.raises(TypeError):
                hash(one)
        elif options.get("eq", True):
            with pytest.raises(TypeError):  # `made` is a dict
                hash(one)
        else:
            assert hash(one) != hash(other)


def test_equal_records_have_one_hash() -> None:
    assert hash(Pair(1)) == hash(Pair(1)) != hash(Pair(2))
    assert len({Pair(1), Pair(1), Pair(2)}) == 2


def test_a_frozen_record_does_not_change() -> None:
    pair = Pair(1)
    with pytest.raises(FrozenInstanceError):
        pair.left = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del pair.left
    assert pair == Pair(1)


@records.dataclass(frozen=True, slots=True)
class Pair:
    left: int
    right: str = "b"


@records.dataclass(frozen=True, slots=True)
class Triple(Pair):
    last: float = 0.5


def test_a_record_survives_pickling_and_copying() -> None:
    triple = Triple(1, last=2.0)
    for other in (pickle.loads(pickle.dumps(triple)), copy.copy(triple), copy.deepcopy(triple)):
        assert other == triple
        assert repr(other) == "Triple(left=1, right='b', last=2.0)"
    assert triple != Pair(1)


def test_a_method_of_its_own_is_kept() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Named:
        name: str

        def __repr__(self) -> str:
            return self.name

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    assert (repr(Named("a")), Named("a") == Named("b"), hash(Named("a"))) == ("a", True, 7)


def test_only_what_is_made_often_is_compiled() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Named:
        name: str

    made = [Named("a") for _ in range(records.OFTEN)]
    assert isinstance(vars(Named)["__init__"], records._Init)
    made.append(Named("a"))
    assert inspect.isfunction(vars(Named)["__init__"])
    assert set(made) == {Named("a")}
