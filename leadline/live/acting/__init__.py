"""Stopping a run where its user asked for it: when that may be, how it is done, and what is written down about it."""

from .actor import Actor, Records
from .bar import ENDS, Decision, Said, may_act, said
from .deed import Action, Life, alert_of
from .orders import FORMS, SIGNALS, Order, parse
from .ties import RunFiles

__all__ = [
    "ENDS",
    "FORMS",
    "SIGNALS",
    "Action",
    "Actor",
    "Decision",
    "Life",
    "Order",
    "Records",
    "RunFiles",
    "Said",
    "alert_of",
    "may_act",
    "parse",
    "said",
]
