"""Runs in processes of this machine, which share its files, and calls through an executor of the user's.

The processes are those of `concurrent.futures`. loky 3.7 was tried in their place, with two processes on Linux
(medians of six starts). It takes 1.15 s of CPU time from start to end, not 0.79 s: every process imports it, and it
starts a resource tracker of its own. Its processes outlive a parent that is killed, because they have no sentinel of
the parent. A killed process breaks both pools. loky would replace `_without_main_module` here, and nothing else.
"""

import concurrent.futures
import contextlib
import heapq
import itertools
import multiprocessing
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from priolane.execution import work_unit, worker
from priolane.execution.dispatch import Call, Completion
from priolane.execution.signals import deferred, hastened

P = ParamSpec("P")
T = TypeVar("T")

# Ranks of what waits.
_CALL, _RUN = 0, 1
# Calls that the pool has, for each of its processes: one that it carries out, and one that follows at once.
_AHEAD = 2

# How often a waiting parent looks up: short enough that Ctrl-C ends a grid within a second.
_POLL_S = 0.1
# How long workers may take to stop before they are killed; they look every tenth of a second.
_PATIENCE_S = 3.0


@dataclass(order=True)
class _Task:
    """A call that waits for a process: of lower rank first, then in the order of their numbers."""

    rank: int
    number: int
    function: Callable[[], Any] = field(compare=False)
    future: "concurrent.futures.Future[Any]" = field(compare=False, default_factory=concurrent.futures.Future)


class ProcessPool:
    """Worker processes of this machine, which share its files. They carry out runs of any grid, and other calls.

    A context of the thread that is to receive signals; calls may come from several threads. Other calls begin before
    runs that wait, runs in the order in which they are asked for.
    """

    def __init__(self, number: int, moved: Callable[[str, float, int, int], None]) -> None:
        """`number` processes; `moved` takes the progress of runs, in the thread that waits for some."""
        self._number, self._moved = number, moved
        self._lock = threading.Lock()
        self._waiting: list[_Task] = []
        self._order = itertools.count()
        self._under_way = 0

    def __enter__(self) -> "ProcessPool":
        """Starts all of them."""
        context = multiprocessing.get_context("spawn")
        # A Ctrl-C between the registration of a semaphore and that of its finalizer would leave it in the system.
        with deferred(signal.SIGINT, signal.SIGTERM):
            self._stop, self._outbox = context.Event(), context.Queue()
            self._others = set(multiprocessing.active_children())
            self._pool = concurrent.futures.ProcessPoolExecutor(
                self._number,
                mp_context=context,
                initializer=worker.initialize,
                initargs=(self._stop, self._outbox, os.getpid()),
            )
        # Workers inherit the mask: a Ctrl-C while their interpreters start is not theirs. The pool starts one for each
        # call that finds none idle, and none is before its interpreter has started.
        try:
            with deferred(signal.SIGINT, signal.SIGTERM), _without_main_module():
                for _ in range(self._number):
                    self._pool.submit(worker.warm_up)
        except BaseException:
            # A Ctrl-C that was deferred. A worker that still starts would not find the semaphores of this pool.
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops runs that are under way, drops what has not begun, and ends the processes."""
        self._end()

    def _end(self) -> None:
        workers = set(multiprocessing.active_children()) - self._others
        # A second Ctrl-C: there is no time to let runs stop by themselves.
        with hastened(partial(_kill, workers), signal.SIGINT, signal.SIGTERM):
            self._stop.set()
            with self._lock:
                dropped, self._waiting = self._waiting, []
            for task in dropped:
                task.future.cancel()
            killer = threading.Timer(_PATIENCE_S, _kill, [workers])
            killer.start()
            # Returns when all workers have ended, by themselves or killed.
            self._pool.shutdown(wait=True, cancel_futures=True)
            killer.cancel()
            self._outbox.close()

    def execute(self, todo: Iterable[worker.Job]) -> Iterator[worker.JobResult]:
        """Carries out runs and yields what finishes; an error or Ctrl-C cancels those that have not begun."""
        done: queue.SimpleQueue[concurrent.futures.Future[worker.JobResult]] = queue.SimpleQueue()
        futures = [self._submit(_RUN, partial(worker.execute, job)) for job in todo]
        try:
            for future in futures:
                future.add_done_callback(done.put)
            left = len(futures)
            while left:
                try:
                    future = done.get(timeout=_POLL_S)
                except queue.Empty:
                    self._drain()
                    continue
                left -= 1
                self._drain()
                yield future.result()
        finally:
            for future in futures:
                future.cancel()

    def call(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """The result or the exception of `function`, of a module, in one of the processes."""
        return self._submit(_CALL, partial(function, *arguments, **named)).result()

    def _submit(self, rank: int, function: Callable[[], T]) -> "concurrent.futures.Future[T]":
        task = _Task(rank, next(self._order), function)
        with self._lock:
            heapq.heappush(self._waiting, task)
        self._start_waiting()
        return task.future

    def _start_waiting(self) -> None:
        """Gives the pool, which has no ranks, no more than is begun soon."""
        while True:
            with self._lock:
                if not self._waiting or self._under_way >= _AHEAD * self._number:
                    return
                task = heapq.heappop(self._waiting)
                if not task.future.set_running_or_notify_cancel():
                    continue
                self._under_way += 1
            try:
                inner = self._pool.submit(task.function)
            except RuntimeError as error:
                # The pool has ended, or a process of it.
                with self._lock:
                    self._under_way -= 1
                task.future.set_exception(error)
                continue
            inner.add_done_callback(partial(self._ended, task.future))

    def _ended(self, outer: "concurrent.futures.Future[Any]", inner: "concurrent.futures.Future[Any]") -> None:
        with self._lock:
            self._under_way -= 1
        self._start_waiting()
        if inner.cancelled():
            outer.set_exception(concurrent.futures.CancelledError())
        elif (error := inner.exception()) is not None:
            outer.set_exception(error)
        else:
            outer.set_result(inner.result())

    def _drain(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._moved(*self._outbox.get_nowait())


@contextlib.contextmanager
def _without_main_module() -> Iterator[None]:
    """Processes that are started within the context do not import the main module, of which they need nothing: a script
    without an `if __name__ == "__main__":` guard would run again in each of them.

    `multiprocessing.spawn` finds that module by its `__spec__` or its `__file__`.
    """
    main = sys.modules["__main__"]
    before = {name: getattr(main, name) for name in ("__spec__", "__file__") if hasattr(main, name)}
    main.__spec__ = None
    if "__file__" in before:
        del main.__file__
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(main, name, value)


def _kill(workers: Iterable[BaseProcess]) -> None:
    """Kills workers: a run is written whole or not at all, whenever its writer is killed."""
    for each in workers:
        each.kill()


class ExecutorWorkers:
    """Calls through any `concurrent.futures.Executor`."""

    def __init__(self, executor: concurrent.futures.Executor, function: Callable[..., bytes] = work_unit.run) -> None:
        """`function` is what workers do, by default a unit."""
        self.name = type(executor).__name__
        self._executor, self._function = executor, function
        self._done: queue.SimpleQueue[tuple[str, concurrent.futures.Future[bytes]]] = queue.SimpleQueue()
        self._waiting: set[concurrent.futures.Future[bytes]] = set()

    def submit(self, calls: Sequence[Call]) -> None:
        """Submits calls one by one."""
        for call in calls:
            future = self._executor.submit(self._function, call.text, call.texts)
            self._waiting.add(future)
            future.add_done_callback(partial(self._ended, call.run_id))

    def _ended(self, run_id: str, future: concurrent.futures.Future[bytes]) -> None:
        self._done.put((run_id, future))

    def completions(self, timeout_s: float) -> Sequence[Completion]:
        """The calls that are carried out."""
        done = []
        with contextlib.suppress(queue.Empty):
            done.append(self._completion(*self._done.get(timeout=timeout_s)))
            while True:
                done.append(self._completion(*self._done.get_nowait()))
        return done

    def _completion(self, run_id: str, future: concurrent.futures.Future[bytes]) -> Completion:
        self._waiting.discard(future)
        if future.cancelled():
            return Completion(run_id, error=concurrent.futures.CancelledError())
        error = future.exception()
        return Completion(run_id, error=error) if error is not None else Completion(run_id, future.result())

    def workers(self) -> int | None:
        """Not known of any executor."""
        return None

    def cancel(self) -> None:
        """Cancels what has not begun."""
        for future in self._waiting:
            future.cancel()
