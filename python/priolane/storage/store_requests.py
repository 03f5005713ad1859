"""Requests to an object store: each has a time limit, and one that fails is repeated within a stated budget.

All threads are daemons, so a store that stops answering does not keep the process from ending.
"""

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """The budget of a request."""

    attempts: int = 4
    """The number of times that a request is tried, at least 1."""
    attempt_s: float = 40.0
    """Seconds after which one attempt is abandoned, beside the time for its bytes."""
    total_s: float = 120.0
    """Seconds for all attempts and the waits between them, beside the time for the bytes."""
    slowest_bytes_per_s: float = 100_000.0
    """The rate below which a transfer counts as stuck."""
    wait_s: float = 0.5
    """Seconds before the second attempt. The wait doubles before each further attempt."""


LIMITS = Limits()
CONNECT_S, READ_S = 10, 30
"""Seconds until a connection is made, and until the next bytes come, where a file system has such limits."""


class RequestFailed(Exception):
    """A request had no success within its budget, which the message states."""


class Abandoned(Exception):
    """The command ends, and the request was not waited for."""


class TooSlow(Exception):
    """An attempt exceeded its time limit."""


class Requests:
    """Requests of one command and the threads that wait for them. Its methods may be called from any thread."""

    def __init__(self, at_once: int, limits: Limits | None = None) -> None:
        """At most `at_once` tasks run at a time, and each makes one request at a time."""
        self._limits = LIMITS if limits is None else limits
        self._at_once = at_once
        self._tasks: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._news = threading.Condition()
        self._abandoned = False

    def submit(self, task: Callable[[], T]) -> "Future[T]":
        """Carries out a task, which may call `request`, when a thread is free."""
        future: Future[T] = Future()
        self._tasks.put((future, task))
        with self._lock:
            if len(self._threads) < self._at_once:
                self._threads.append(_daemon(self._work))
        return future

    def request(self, attempt: Callable[[], T], size: int = 0, arrived: Callable[[], int] | None = None) -> T:
        """The result of `attempt`, which transfers `size` bytes and is repeated if it fails or takes too long.

        A `size` that the other side states gives time only for bytes that have come, whose number in the last attempt
        `arrived` returns. Without `arrived`, all of `size` gives time.

        An attempt that takes too long goes on in the background: attempts must not disturb each other. Raises
        `FileNotFoundError` and `PermissionError` of an attempt at once, since a repetition does not change them;
        `RequestFailed` when the budget is spent; `Abandoned` if the command ends meanwhile.
        """
        limits, begun = self._limits, time.monotonic()

        def transfer_s() -> float:
            counted = size if arrived is None else min(size, arrived())
            return max(0, counted) / limits.slowest_bytes_per_s

        tried, wait_s = 0, limits.wait_s
        while True:
            end = min(time.monotonic() + limits.attempt_s, begun + limits.total_s)
            tried += 1
            try:
                return self._attempt(attempt, partial(_later, end, transfer_s))
            except (Abandoned, FileNotFoundError):
                raise
            # Each file system has errors of its own.
            except Exception as error:
                took_s = time.monotonic() - begun
                total_s = limits.total_s + transfer_s()
                final = isinstance(error, PermissionError) or tried == limits.attempts
                if final or took_s + wait_s >= total_s:
                    raise RequestFailed(
                        f"{_reason(error)}; given up after {tried} of at most {limits.attempts} attempts and "
                        f"{took_s:.0f} of at most {total_s:.0f} s"
                    ) from error
            self._pause(wait_s)
            wait_s *= 2

    @property
    def abandoned(self) -> bool:
        """Whether `abandon` was called."""
        return self._abandoned

    def abandon(self) -> None:
        """Ends all waiting: requests raise `Abandoned` now and later, and tasks that have not begun are dropped."""
        with self._news:
            self._abandoned = True
            self._news.notify_all()

    def close(self) -> None:
        """Ends the threads when the tasks that were submitted are done, or at once after `abandon`. Does not wait."""
        with self._lock:
            for _ in self._threads:
                self._tasks.put(None)

    def _attempt(self, attempt: Callable[[], T], deadline: Callable[[], float]) -> T:
        """The result of `attempt` before `deadline`, which may move while the attempt makes progress."""
        begun = time.monotonic()
        outcome: Future[T] = Future()

        def make() -> None:
            _carry_out(outcome, attempt)
            with self._news:
                self._news.notify_all()

        with self._news:
            if self._abandoned:
                raise Abandoned
            _daemon(make)
            while not outcome.done() and not self._abandoned:
                left_s = deadline() - time.monotonic()
                if left_s <= 0:
                    raise TooSlow(f"no answer within {time.monotonic() - begun:.0f} s")
                self._news.wait_for(lambda: outcome.done() or self._abandoned, left_s)
            if outcome.done():
                return outcome.result()
        raise Abandoned

    def _pause(self, wait_s: float) -> None:
        with self._news:
            if self._news.wait_for(lambda: self._abandoned, wait_s):
                raise Abandoned

    def _work(self) -> None:
        while (item := self._tasks.get()) is not None:
            future, task = item
            if self._abandoned:
                future.set_exception(Abandoned())
            else:
                _carry_out(future, task)


def _later(instant: float, by_s: Callable[[], float]) -> float:
    return instant + by_s()


def _carry_out(outcome: "Future[T]", call: Callable[[], T]) -> None:
    try:
        outcome.set_result(call())
    # The thread that waits raises it.
    except BaseException as error:  # noqa: BLE001
        outcome.set_exception(error)


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _daemon(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, name="priolane-store", daemon=True)
    thread.start()
    return thread
