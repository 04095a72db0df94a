"""Deterministic functions whose work is done once: what they ask of the world is asked each time, and answered anew.

A function is remembered as a tree: what it asks first, for every answer what it asks next, and at the ends what it
returns or raises. Called again, it walks down the tree, asking the world itself; where the world answers as never
before, the function runs from its beginning, is given the answers that were had, and goes on from there. So all that a
function does to a store happens, fault by fault, while parsing and drawing are done once for thousands of histories.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from functools import wraps
from typing import Any

from pipeline.engine.plan import Plan
from pipeline.engine.work import Work
from pipeline.store.blobs import Store

Question = tuple[Any, ...]
MOST_NODES = 400_000


class Node:
    """A place in a function's tree."""

    __slots__ = ("answers", "end", "question")

    def __init__(self) -> None:
        self.question: Question | None = None
        self.answers: dict[Any, Node] = {}
        self.end: tuple[bool, Any] | None = None


class NotTheSameError(BaseException):
    """A function asked something else for the same answers: it cannot be remembered, and no seed replays."""


class Frame:
    """A function at work: the answers that it is to be given again, then those that it gets."""

    def __init__(self, node: Node, given: list[tuple[Question, Any]]) -> None:
        self.node, self.given, self.at = node, given, 0


class Memory:
    """What is remembered, for all histories of a process. ``live`` answers what nobody remembers."""

    def __init__(self) -> None:
        self.live: Callable[[Question], Any] = lambda question: ("error", RuntimeError(question[0]))
        self.frames: dict[Any, list[Frame]] = {}
        self.actor: Callable[[], Any] = lambda: None
        self.salt: Callable[[], Any] = lambda: None
        """What functions depend on beside arguments and answers."""
        self.values: dict[Any, Any] = {}
        self._roots: dict[Any, Node] = {}
        self._n_nodes = 0

    def forget(self) -> None:
        """Everything."""
        self._roots.clear()
        self.values.clear()
        self._n_nodes = 0

    def forget_much(self) -> None:
        """Everything where it has become much; between histories only."""
        self.frames.clear()
        if self._n_nodes > MOST_NODES:
            self.forget()

    def ask(self, *question: Any) -> Any:
        """The world's answer; raises what it raises."""
        frames = self.frames.get(self.actor(), [])
        return _given(self._answer(frames, len(frames) - 1, question))

    def remembered(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function``, of whose arguments stores do not matter."""

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            key = (function.__module__, function.__qualname__, self.salt(), key_of((args, sorted(kwargs.items()))))
            root = self._roots.setdefault(key, Node())
            frames = self.frames.setdefault(self.actor(), [])
            node, given = self._walked(root, frames)
            if node.end is None:
                frames.append(Frame(node, given))
                try:
                    end = True, function(*args, **kwargs)
                except Exception as error:  # noqa: BLE001 - it is raised again below
                    end = False, error
                finally:
                    frame = frames.pop()
                if frame.at != len(frame.given):
                    cause = None if end[0] else end[1]
                    raise NotTheSameError(f"{key[1]} asked less than before: {cause!r}") from cause
                frame.node.end = end
                node = frame.node
            fine, value = node.end or (False, None)
            if fine:
                return value
            raise value.with_traceback(None)

        return call

    def _walked(self, node: Node, frames: list[Frame]) -> tuple[Node, list[tuple[Question, Any]]]:
        given: list[tuple[Question, Any]] = []
        while node.end is None and node.question is not None:
            answer = self._answer(frames, len(frames) - 1, node.question)
            given.append((node.question, answer))
            node = self._after(node, answer)
        return node, given

    def _after(self, node: Node, answer: Any) -> Node:
        key = _key_of_answer(answer)
        if key not in node.answers:
            node.answers[key] = Node()
            self._n_nodes += 1
        return node.answers[key]

    def _answer(self, frames: list[Frame], at: int, question: Question) -> Any:
        if at < 0:
            return self.live(question)
        frame = frames[at]
        if frame.at < len(frame.given):
            known, answer = frame.given[frame.at]
            if known != question:
                raise NotTheSameError(f"{question[:2]} was asked where {known[:2]} was before")
            frame.at += 1
            return answer
        answer = self._answer(frames, at - 1, question)
        if frame.node.question is not None and frame.node.question != question:
            raise NotTheSameError(f"{question[:2]} was asked where {frame.node.question[:2]} was before")
        frame.node.question = question
        frame.node = self._after(frame.node, answer)
        frame.given.append((question, answer))
        frame.at += 1
        return answer


def _given(answer: Any) -> Any:
    kind, value = answer
    if kind == "error":
        raise value.with_traceback(None)
    return value


def _key_of_answer(answer: Any) -> Any:
    kind, value = answer
    if kind == "error":
        return "error", type(value).__name__, str(value)
    if isinstance(value, list):  # entries: when they were written is nothing that a remembered function asks
        return tuple((entry.path, entry.n_bytes) for entry in value)
    return value


class _KeyPickler(pickle.Pickler):
    """Bytes that are equal where arguments are: without stores, without the order of sets, without what work cost."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Store):
            return str, ("store",)
        if isinstance(value, Plan):
            return str, (f"plan {value.address}",)
        if isinstance(value, Work):
            return tuple, (
                (tuple(sorted(value.made.items())), tuple(sorted(value.reused)), tuple(sorted(value.damaged))),
            )
        return NotImplemented


def key_of(arguments: Any) -> bytes:
    """What names a call."""
    made = io.BytesIO()
    pickler = _KeyPickler(made, 5)
    pickler.fast = True  # identity of parts plays no part
    pickler.dump(arguments)
    return made.getvalue()
