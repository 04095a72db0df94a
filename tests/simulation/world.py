"""A world of one process: actors with a baton on a virtual clock. Who goes on next is drawn from the seed."""

from __future__ import annotations

import random
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MOST_STEPS = 60_000
"""A history that takes more waits for something that never comes."""


class DiedError(BaseException):
    """The process of an actor ended at this instant: nothing of it does anything more."""


class StuckError(Exception):
    """Nobody can go on."""


@dataclass
class Process:
    """What a process of the operating system is to a history: it may die, and what it keeps in memory dies with it."""

    name: str
    is_alive: bool = True
    dies_at: int | None = None
    """The request at which it ends, where that is settled beforehand."""
    n_requests: int = 0
    cache: OrderedDict[Any, None] = field(default_factory=OrderedDict)
    leases: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Actor:
    """A thread of a process. Only one in the world runs at a time."""

    name: str
    process: Process
    work: Callable[[], object]
    due_s: float
    ready: Callable[[], bool] | None = None
    gate: threading.Lock = field(default_factory=threading.Lock)
    is_done: bool = False


class World:
    """The clock and who is in it. ``seed`` decides every turn."""

    def __init__(self, seed: int, begin_s: float = 1_800_000_000.0) -> None:
        self.now_s = begin_s
        self.current: Actor | None = None
        self.errors: list[tuple[Actor, BaseException]] = []
        self.n_steps = 0
        self.counts: Counter[str] = Counter()
        self._turns = random.Random(f"turns {seed}")
        self._actors: list[Actor] = []
        self._main = threading.Lock()
        self._main.acquire()
        self._failure: BaseException | None = None

    def spawn(self, name: str, process: Process, work: Callable[[], object], after_s: float = 0.0) -> Actor:
        """An actor that begins some time from now."""
        actor = Actor(name, process, work, self.now_s + after_s)
        actor.gate.acquire()
        self._actors.append(actor)
        threading.Thread(target=self._live, args=(actor,), name=name, daemon=True).start()
        return actor

    def run(self) -> None:
        """Until everybody is done. Raises ``StuckError`` where somebody never will be."""
        following = self._next()
        if following is not None:
            following.gate.release()
            self._main.acquire()
        if self._failure is not None:
            raise self._failure

    def latency_s(self) -> float:
        """How long a request is on its way."""
        return self._turns.uniform(0.005, 0.1)

    def pause(self, seconds: float = 0.0) -> None:
        """The actor goes on after some time, and others meanwhile."""
        if self.current is not None:
            self.current.due_s = self.now_s + seconds
            self._hand_over(self.current)

    def wait(self, ready: Callable[[], bool]) -> None:
        """The actor goes on when something is so."""
        actor = self.current
        assert actor is not None
        if not ready():
            actor.ready = ready
            self._hand_over(actor)

    def _hand_over(self, actor: Actor) -> None:
        following = self._next()
        if following is not actor:
            self.current = None
            (self._main if following is None else following.gate).release()
            actor.gate.acquire()
        self.current, actor.ready = actor, None
        if not actor.process.is_alive:
            raise DiedError(actor.name)

    def _next(self) -> Actor | None:
        self.n_steps += 1
        while self._actors and self._failure is None:
            awake = [one for one in self._actors if one.ready is None or not one.process.is_alive or one.ready()]
            if not awake or self.n_steps > MOST_STEPS:
                names = ", ".join(one.name for one in self._actors)
                self._failure = StuckError(f"after {self.n_steps} steps nobody goes on: {names}")
                break
            due = [one for one in awake if one.due_s <= self.now_s]
            if due:
                return due[self._turns.randrange(len(due))] if len(due) > 1 else due[0]
            self.now_s = min(one.due_s for one in awake)
        return None

    def _live(self, actor: Actor) -> None:
        actor.gate.acquire()
        self.current = actor
        try:
            if actor.process.is_alive:
                actor.work()
        except DiedError:
            pass
        except BaseException as error:  # noqa: BLE001 - whatever it is, the history ends badly
            self.errors.append((actor, error))
        actor.is_done = True
        self._actors.remove(actor)
        self.current = None
        following = self._next()
        (self._main if following is None else following.gate).release()
