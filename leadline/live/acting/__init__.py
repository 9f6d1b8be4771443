"""Stopping a run where its user asked for it: when that may be, how it is done, and what is written down about it."""

from .actor import Actor
from .bar import ENDS, Decision, Said, may_act, said
from .orders import Action, Life, Order, parse
from .writer import RunFiles

__all__ = ["ENDS", "Action", "Actor", "Decision", "Life", "Order", "RunFiles", "Said", "may_act", "parse", "said"]
