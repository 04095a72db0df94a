"""One history from its seed to its end, and what must be so then."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from pipeline.errors import InputError, RescoreError
from pipeline.store import leases
from pipeline.store.s3 import Bucket
from tests.simulation import checks, faulty, people, seams
from tests.simulation.checks import BadEndError
from tests.simulation.faulty import FakeS3, Faults, Objects, Plain, Requests
from tests.simulation.inputs import Inputs
from tests.simulation.seams import MEMORY
from tests.simulation.spec import DAY_S, Event, Spec, drawn
from tests.simulation.world import Process, StuckError, World

UNCOMPARED = ("refs", "reports", "runs", "leases")
"""Folders whose objects say what was before or what it took."""
_UNDISTURBED: dict[Any, dict[str, bytes]] = {}
_MOST_KEPT = 500
seams.ON_CHANGE += [_UNDISTURBED.clear, checks.forget]


@dataclass
class Played:
    """How a history went."""

    spec: Spec
    bad: BadEndError | None
    faults: dict[int, str]
    counts: Counter[str]
    n_requests: int
    n_steps: int
    elapsed_s: float
    trail: str = ""


class Held(MutableMapping[str, Any]):
    """The leases of the process that asks."""

    def __init__(self, world: World) -> None:
        self._world, self._nobody = world, Process("nobody")

    def _own(self) -> dict[str, Any]:
        actor = self._world.current
        return (self._nobody if actor is None else actor.process).leases

    def __getitem__(self, key: str) -> Any:
        return self._own()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._own()[key] = value

    def __delitem__(self, key: str) -> None:
        del self._own()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._own())

    def __len__(self) -> int:
        return len(self._own())


class History:
    """The world of a history, with the store and what people do to it."""

    def __init__(self, spec: Spec) -> None:
        self.spec, self.world, self.inputs, self.objects = spec, World(spec.seed), Inputs(), Objects()
        self.faults = Faults(spec.seed, spec.rate, spec.kinds, spec.most_deaths, spec.outages, spec.only)
        self.ask = Requests(self.world, self.objects, self.faults)
        self.bad: BadEndError | None = None
        self.here: dict[str, bool] = {}
        self.objects.watchers.append(self._watch_commits)
        self._place: Any = None

    @contextmanager
    def simulated(self) -> Iterator[None]:
        """The product works in this world meanwhile."""
        world = self.world
        MEMORY.forget_much()
        MEMORY.live, MEMORY.actor = self._live, lambda: world.current
        clock = SimpleNamespace(time=lambda: world.now_s, sleep=world.pause)
        given = {
            "held": Held(world),
            "renewing": self._renewing,
            "watch_flow": people.watched_flow(world),
            "is_small": lambda *_: self._is_here(),
        }
        with seams.simulated(clock, people.flow(world), self.inputs.evaluation, given):
            fs = FakeS3(self.ask, "store")
            seams.s3_is(fs)
            self._place = Bucket(seams.ROOT) if self.spec.bucket else Plain(self.ask)
            seams.many_tasks(self.spec.parts)
            yield

    def _live(self, question: tuple[Any, ...]) -> Any:
        """What the world answers."""
        try:
            return "ok", self._answered(*question)
        except Exception as error:  # noqa: BLE001 - it is raised where it was asked
            return "error", error

    def _answered(self, what: str, *rest: Any) -> Any:
        actor = self.world.current
        cache = actor.process.cache if actor is not None else {}
        if what == "input":
            return self.inputs.files.get(rest[0])
        if what == "held":
            return rest[0](rest[1])
        if what == "cached":
            if rest[0] in cache:
                cache.move_to_end(rest[0])  # type: ignore[union-attr]
            return rest[0] in cache
        if what == "cache":
            cache[rest[0]] = None
            same = [key for key in cache if key[0] == rest[0][0]]
            for key in same[: max(0, len(same) - rest[1])]:
                del cache[key]
            return None
        if what == "uncache":
            for key in [key for key in cache if key[0] == rest[0]]:
                del cache[key]
            return None
        found = getattr(self._place, what)(*rest)
        return list(found) if what == "entries" else found

    @contextmanager
    def _renewing(self, lease: Any) -> Iterator[None]:
        """The thread that renews a lease, as an actor."""
        ended = [False]

        def beat() -> None:
            while not ended[0]:
                self.world.pause(leases.BEAT_S)
                if not ended[0]:
                    leases.renew_if_possible(lease)

        actor = self.world.current
        beating = self.world.spawn("lease", actor.process, beat) if actor is not None else None
        try:
            yield
        finally:
            ended[0] = True
            if beating is not None:
                beating.due_s = min(beating.due_s, self.world.now_s)

    def _is_here(self) -> bool:
        actor = self.world.current
        return actor is None or self.here.get(actor.process.name, True)

    def _watch_commits(self, path: str) -> None:
        """At the instant at which a reference appears, all that it reaches is there."""
        if path.startswith("refs/") and self.bad is None:
            actor, self.world.current = self.world.current, None
            try:
                checks.whole(self.objects, path)
            except BadEndError as bad:
                self.bad = BadEndError(f"commit {bad.kind}", str(bad))
            finally:
                self.world.current = actor

    def begin(self, number: int, event: Event) -> None:
        """Have something happen at its time."""
        how = dict(event.how)
        process = Process(f"{event.what} {number}", dies_at=how.get("dies_at"))  # type: ignore[arg-type]
        self.here[process.name] = bool(how.get("here", True))
        acts: dict[str, Callable[[], object]] = {
            "run": lambda: people.run(self.world),
            "watch": lambda: self._watch(how),
            "gc": lambda: people.gc(self.world, how["older_than_s"], how["keep"]),  # type: ignore[arg-type]
            "promote": lambda: people.publish(self.world),
            "key": lambda: self.inputs.correct(int(str(how["to"]))),
            "output": lambda: self.inputs.replace(int(str(how["to"]))),
            "system": lambda: setattr(self.inputs, "n_systems", int(str(how["to"])) + 1),
            "cost": lambda: setattr(self.inputs, "cost", how["to"]),
            "rot": lambda: self._rot(number),
        }
        self.world.spawn(process.name, process, lambda: self._ended(process, acts[event.what]), after_s=event.at_s)

    def _watch(self, how: dict[str, Any]) -> None:
        self.inputs.publication = how["publication"]
        people.watch(self.world, how["rounds"])

    def _ended(self, process: Process, act: Callable[[], object]) -> None:
        """What a process may end with: done, or an error that says that the platform failed."""
        try:
            act()
        except RescoreError as error:
            self.world.counts[f"ended with {type(error).__name__}"] += 1
            if isinstance(error, InputError) or error.exit_code != 3:
                raise
        if process.leases:
            raise BadEndError("lease", f"{process.name} ended and holds {process.leases}")

    def _rot(self, number: int) -> None:
        """An object is spoiled where it lies, or gone."""
        chance = random.Random(f"rot {self.spec.seed} {number}")
        paths = sorted(path for path in self.objects.data if not path.startswith("leases/"))
        if not paths:
            return
        path = paths[chance.randrange(len(paths))]
        kind = chance.choice(("flipped", "short", "gone"))
        self.world.counts[f"rot {kind}"] += 1
        self.objects.rotten.add(path)
        if kind == "gone":
            del self.objects.data[path]
        else:
            self.objects.data[path] = faulty.spoiled(self.objects.data[path], kind, chance)


def play(spec: Spec | int) -> Played:
    """Play a history, then look at its end."""
    history = History(drawn(spec) if isinstance(spec, int) else spec)
    world = history.world
    with history.simulated():
        try:
            for number, event in enumerate(history.spec.events):
                history.begin(number, event)
            world.run()
            _look(history)
            _settle(history)
        except StuckError as error:
            history.bad = BadEndError("stuck", str(error))
        except BadEndError as bad:
            history.bad = history.bad or bad
    return Played(
        history.spec,
        history.bad,
        dict(history.faults.done),
        world.counts,
        history.faults.n_requests,
        world.n_steps,
        world.now_s,
    )


def _look(history: History) -> None:
    """At the end of the disturbance, before anything is mended."""
    if history.bad is not None:
        raise history.bad
    for actor, error in history.world.errors:
        if isinstance(error, BadEndError):
            raise error
        raise BadEndError(f"error {type(error).__name__}", f"{actor.name} raised {error}") from error
    history.world.current = None
    for reference in checks.references(history.objects):
        checks.whole(history.objects, reference)


def _settle(history: History) -> None:
    """The faults are over: a clean run, whose bytes are those of an undisturbed one, and a collection."""
    world, objects = history.world, history.objects
    history.faults.is_over = True
    history.inputs.publication = "open"
    world.now_s += DAY_S
    _alone(history, "clean run", lambda: people.run(world))
    latest = max(path for path in checks.references(objects) if path.startswith("refs/grid/"))
    found = {path: objects.data[path] for path, _ in checks.reached(objects, latest) if path in objects.data}
    found = {path: data for path, data in found.items() if path.partition("/")[0] not in UNCOMPARED}
    wanted = undisturbed(history.inputs)
    for path in sorted((found.keys() | wanted.keys()) - objects.rotten):
        if found.get(path) != wanted.get(path):
            what = "is lacking" if path not in found else "is one more" if path not in wanted else "is another"
            raise BadEndError("bytes", f"{path} {what} after a clean run")
    n_written = objects.n_written
    _alone(history, "idle run", lambda: people.run(world))
    if objects.n_written > n_written + 1:  # the plan
        raise BadEndError("idle", f"{objects.n_written - n_written} objects were written where there was nothing to do")
    if not objects.rotten:
        _alone(history, "collection", lambda: people.gc(world, 0.0, None))
        if left := sorted(path for path in objects.data if path.startswith("leases/")):
            raise BadEndError("lease", f"{left} outlived their owners by a day and a collection")
    for reference in checks.references(objects):
        checks.whole(objects, reference)


def _alone(history: History, name: str, act: Callable[[], object]) -> None:
    """Something that happens without disturbance, and must be well."""
    world = history.world
    world.errors.clear()
    world.spawn(name, Process(name), act)
    world.run()
    if history.bad is not None:
        raise history.bad
    if world.errors:
        error = world.errors[0][1]
        raise BadEndError(f"{name} {type(error).__name__}", f"{name} raised {error}") from error


def undisturbed(inputs: Inputs) -> dict[str, bytes]:
    """What a run that nobody disturbs makes of inputs, by path."""
    key = inputs.snapshot()
    if key not in _UNDISTURBED:
        if len(_UNDISTURBED) >= _MOST_KEPT:
            _UNDISTURBED.clear()
        spec = Spec(0, bucket=False, parts=False, rate=0.0, kinds=(), most_deaths=0, outages=(), events=())
        history = History(spec)
        history.inputs = inputs.copy()
        before = MEMORY.live, MEMORY.actor
        with history.simulated():
            _alone(history, "undisturbed run", lambda: people.run(history.world))
        MEMORY.live, MEMORY.actor = before
        latest = max(checks.references(history.objects))
        found = dict.fromkeys(path for path, _ in checks.reached(history.objects, latest))
        _UNDISTURBED[key] = {
            path: history.objects.data[path] for path in found if path.partition("/")[0] not in UNCOMPARED
        }
    return _UNDISTURBED[key]
