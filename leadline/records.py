"""Dataclasses that cost little to define.

`dataclasses` writes and compiles up to seven methods whenever a class is defined, and describes each field. That was
half of the time it took to import what reads a run, and most of those classes are made few times or never in a process.
Here a field is described when somebody asks, `__init__` is compiled for classes that are made often, and the other
methods are shared by all. `fields`, `replace`, `asdict`, pickles, and signatures work as ever.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, asdict, astuple, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

__all__ = ["asdict", "astuple", "dataclass", "field", "fields", "replace"]

OFTEN = 64  # instances: compiling an `__init__` takes as long as filling some hundred without


class _Factory:
    """Stands in a signature for a default that is made anew each time."""

    def __repr__(self) -> str:
        return "<factory>"


OMITTED = _Factory()

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True) -> Callable[[type], type]:
        """Do what `dataclasses.dataclass` does."""
        return lambda kind: _record(kind, frozen=frozen, slots=slots, eq=eq)


def _record(kind: type, *, frozen: bool, slots: bool, eq: bool) -> type:
    members = dict(vars(kind))
    types = {name: hint for name, hint in kind.__annotations__.items() if "ClassVar" not in str(hint)}
    own = {name: members.pop(name, MISSING) for name in types}
    methods: dict[str, Any] = {"__repr__": _repr}
    if eq:
        methods |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
    if frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
    if frozen and slots:
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    for name, method in methods.items():
        if members.get(name) is None:  # a class that compares by itself has a hash of None
            members[name] = method
    for name in ("__dict__", "__weakref__"):
        members.pop(name, None)
    if slots:
        inherited = {name for base in kind.__mro__[1:] for name in getattr(base, "__slots__", ())}
        members["__slots__"] = tuple(name for name in own if name not in inherited)
    described = _Fields(types, own, [vars(base).get("__dataclass_fields__") for base in kind.__mro__[:0:-1]])
    made = type(kind)(kind.__name__, kind.__bases__, members)
    made.__qualname__ = kind.__qualname__
    type.__setattr__(made, "__dataclass_fields__", described)
    type.__setattr__(made, "__init__", _Init(made, described.defaults))
    return made


class _Fields:
    """The fields of a class: what they are when they are not given, and all about them for who asks."""

    def __init__(self, types: dict[str, Any], own: dict[str, Any], bases: list[_Fields | None]) -> None:
        self.types, self.own, self.bases = types, own, [base for base in bases if base is not None]
        self.described: dict[str, Field[Any]] | None = None
        self.defaults: dict[str, Any] = {}
        for fields_of_base in self.bases:
            self.defaults |= fields_of_base.defaults
        self.defaults |= own

    def __get__(self, record: object, kind: type | None = None) -> dict[str, Field[Any]]:
        if self.described is None:
            given = {name: default for name, default in self.own.items() if default is not MISSING}
            alone = type("_", (), {"__doc__": "Fields.", "__annotations__": self.types, **given})
            described = fields(dataclasses.dataclass(init=False, repr=False, eq=False)(alone))
            self.described = {name: one for base in self.bases for name, one in base.__get__(None).items()}
            self.described |= {one.name: one for one in described}
        return self.described


class _Init:
    """An `__init__` that fills the fields one by one, and is compiled for who looks at it or makes many."""

    def __init__(self, kind: type, defaults: dict[str, Any]) -> None:
        self.kind, self.defaults, self.made = kind, defaults, 0

    def __get__(self, record: object, kind: type | None = None) -> Any:
        self.made += 1
        if isinstance(record, self.kind) and self.made <= OFTEN:
            return partial(self.fill, record)
        written = _written(self.kind)
        type.__setattr__(self.kind, "__init__", written)
        return written if record is None else written.__get__(record, kind)

    def fill(self, record: Any, /, *given: object, **named: object) -> None:
        """Do what the compiled one does, which also refuses what was given wrongly."""
        put, values, taken = object.__setattr__, iter(given), 0
        for name, default in self.defaults.items():
            value: object = MISSING
            if default.__class__ is not Field or default.init:
                value = next(values, MISSING)
                if value is MISSING and name in named:
                    value, taken = named[name], taken + 1
            if value is MISSING:
                value = default
                if default.__class__ is Field:
                    value = default.default if default.default_factory is MISSING else default.default_factory()
                if value is MISSING:
                    break
            put(record, name, value)
        else:
            if taken == len(named) and next(values, MISSING) is MISSING:
                if hasattr(self.kind, "__post_init__"):
                    record.__post_init__()
                return
        self.__get__(None)(record, *given, **named)


def _written(kind: type) -> Any:
    """Compile the `__init__` of a class from its fields."""
    known: dict[str, Any] = {"_put": object.__setattr__, "_omitted": OMITTED}
    arguments, lines = ["self"], []
    for one in fields(kind):
        made = one.default_factory is not MISSING
        known[f"_{one.name}"] = one.default_factory if made else one.default
        fresh = f"_{one.name}()" if made else f"_{one.name}"
        if not one.init:
            lines.append(f"_put(self, {one.name!r}, {fresh})")
            continue
        given = f"{fresh} if {one.name} is _omitted else {one.name}" if made else one.name
        default = "_omitted" if made else "" if one.default is MISSING else fresh
        arguments.append(f"{one.name}={default}" if default else one.name)
        lines.append(f"_put(self, {one.name!r}, {given})")
    if hasattr(kind, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__({', '.join(arguments)}):\n  " + "\n  ".join(lines or ["pass"]), known)
    init = known["__init__"]
    init.__qualname__, init.__module__ = f"{kind.__qualname__}.__init__", kind.__module__
    init.__annotations__ = {one.name: one.type for one in fields(kind) if one.init} | {"return": None}
    return init


def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _compared(record: Any) -> tuple[object, ...]:
    return tuple(getattr(record, one.name) for one in fields(record) if one.compare)


def _eq(self: object, other: object) -> bool:
    return _compared(self) == _compared(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: object) -> int:
    return hash(_compared(self))


def _refuse(self: object, name: str, value: object = None) -> None:
    raise FrozenInstanceError(f"cannot change field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, one.name) for one in fields(self)]


def _restore(self: object, state: list[object]) -> None:
    for one, value in zip(fields(self), state, strict=True):  # type: ignore[arg-type]
        object.__setattr__(self, one.name, value)
