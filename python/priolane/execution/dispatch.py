"""Carries out many runs on an execution engine. A bounded number is in flight, and each is accepted once.

A run is a pure function of its unit, and its id names the result: a unit may be carried out twice, and an answer may
come twice. What was accepted is on the disk. The same command continues with the rest.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from priolane._core import Damaged, RunFailed
from priolane.execution import work_unit
from priolane.execution.worker import JobResult

# Calls under way at least, and for each worker.
WINDOW = 64
PER_WORKER = 4
# How often a unit is sent again whose worker died or whose answer was damaged.
_RETRIES = 3
_POLL_S = 0.1
# How often workers are counted, and how long none may be there before that is said.
_COUNT_S = 2.0
_PATIENCE_S = 5.0


class WorkerDied(Exception):
    """The engine gave a call up, since the workers that had it ended."""


@dataclass(frozen=True)
class Call:
    """A unit on its way to a worker."""

    run_id: str
    attempt: int
    """From 0, counting what was sent of this run before."""
    text: str
    texts: Mapping[str, str] | None = None
    """Files by SHA-256 that a worker asked for."""


@dataclass(frozen=True)
class Completion:
    """The outcome of a call: bytes, or an error."""

    run_id: str
    value: bytes = b""
    error: BaseException | None = None


class RemoteWorkers(Protocol):
    """An engine that carries calls to workers and answers back."""

    name: str
    """The name of the call in messages."""

    def submit(self, calls: Sequence[Call]) -> None:
        """Takes calls over, in the order in which they are to begin."""

    def completions(self, timeout_s: float) -> Sequence[Completion]:
        """The outcomes since the last time; waits so long if there are none. Raises `RunFailed` if the engine is
        lost."""

    def workers(self) -> int | None:
        """The number of workers; `None` if it is not known."""

    def cancel(self) -> None:
        """Drops what has not begun."""


@dataclass(frozen=True)
class CallSource:
    """The call that is carried out."""

    call: Callable[[str], str]
    """The call of a run."""
    accept: Callable[[str, bytes], JobResult]
    """Takes the answer of a run; raises `Damaged` if it is none."""
    texts: Callable[[], Mapping[str, str]]
    """The files that runs name, by SHA-256."""


class Dispatcher:
    """The runs that are left, and those that are under way."""

    def __init__(self, remote: RemoteWorkers, work: CallSource, notify: Callable[[str], None]) -> None:
        """`notify` takes a line for the user."""
        self._remote, self._work, self._notify = remote, work, notify
        self._todo: deque[tuple[str, Mapping[str, str] | None]] = deque()
        self._under_way: set[str] = set()
        self._sent: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._workers: int | None = None
        self._counted = self._idle_since = time.monotonic()
        self._idle_reported = False

    def execute(self, run_ids: Sequence[str]) -> Iterator[JobResult]:
        """Carries out runs in this order and yields them as they are accepted."""
        self._todo.extend((run_id, None) for run_id in run_ids)
        self._workers = self._remote.workers()
        try:
            while self._todo or self._under_way:
                self._submit_calls()
                for completion in self._remote.completions(_POLL_S):
                    self._idle_reported, self._idle_since = False, time.monotonic()
                    finished = self._accept(completion)
                    if finished is not None:
                        yield finished
                self._count_workers()
        finally:
            self._remote.cancel()

    def _submit_calls(self) -> None:
        window = max(WINDOW, PER_WORKER * (self._workers or 0))
        calls = []
        while self._todo and len(self._under_way) < window:
            run_id, texts = self._todo.popleft()
            calls.append(Call(run_id, self._sent[run_id], self._work.call(run_id), texts))
            self._sent[run_id] += 1
            self._under_way.add(run_id)
        if calls:
            self._remote.submit(calls)

    def _accept(self, completion: Completion) -> JobResult | None:
        if completion.run_id not in self._under_way:
            return None
        self._under_way.discard(completion.run_id)
        if isinstance(completion.error, WorkerDied):
            self._retry(completion.run_id, str(completion.error))
            return None
        if isinstance(completion.error, ImportError):
            raise RunFailed(f"{self._remote.name}: {cannot_import(completion.error)}") from completion.error
        if completion.error is not None:
            raise completion.error
        digests = work_unit.requested_files(completion.value)
        if digests is not None:
            texts = self._work.texts()
            self._todo.appendleft((completion.run_id, {digest: texts[digest] for digest in digests}))
            return None
        try:
            finished = self._work.accept(completion.run_id, completion.value)
        except Damaged as error:
            self._retry(completion.run_id, str(error))
            return None
        # 10^5 runs are not remembered beyond their end.
        del self._sent[completion.run_id]
        return finished

    def _retry(self, run_id: str, why: str) -> None:
        self._failed[run_id] += 1
        if self._failed[run_id] > _RETRIES:
            raise RunFailed(f"{why}; given up after {self._failed[run_id]} times")
        self._notify(f"{why}; sent again")
        self._todo.appendleft((run_id, None))

    def _count_workers(self) -> None:
        now = time.monotonic()
        if now - self._counted < _COUNT_S:
            return
        self._counted, self._workers = now, self._remote.workers()
        if self._workers != 0:
            self._idle_reported, self._idle_since = False, now
        elif not self._idle_reported and now - self._idle_since >= _PATIENCE_S:
            self._idle_reported = True
            self._notify(
                f"{self._remote.name} has 0 workers: {len(self._todo) + len(self._under_way)} runs wait for one "
                "(Ctrl-C stops)"
            )


def cannot_import(error: ImportError) -> str:
    """Says that a worker has no priolane, or a broken one."""
    release = work_unit.identity()[0].partition("+")[0]
    return f"a worker cannot load priolane ({error}); install there: pip install 'priolane[cluster]=={release}'"
