"""Runs in processes of this machine, which share its files, and calls through an executor of the user's."""

import concurrent.futures
import contextlib
import multiprocessing
import os
import queue
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from multiprocessing.process import BaseProcess

from priolane import unit, worker
from priolane.signals import deferred, ignored
from priolane.sweep import Call, Completion

# How often a waiting parent looks up: short enough that Ctrl-C ends a grid within a second.
_POLL_S = 0.1
# How long workers may take to stop before they are killed; they look every tenth of a second.
_PATIENCE_S = 3.0


def in_processes(
    todo: list[worker.Job], jobs: int, moved: Callable[[str, float, int, int], None]
) -> Iterator[worker.Finished]:
    """Carries out `todo` in `jobs` processes; `moved` takes the progress of runs."""
    context = multiprocessing.get_context("spawn")
    stop, outbox = context.Event(), context.Queue()

    def drain() -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                moved(*outbox.get_nowait())

    others = set(multiprocessing.active_children())
    pool = concurrent.futures.ProcessPoolExecutor(
        jobs, mp_context=context, initializer=worker.prepare, initargs=(stop, outbox, os.getpid())
    )
    try:
        # Workers inherit the mask: a Ctrl-C while their interpreters start is not theirs.
        with deferred(signal.SIGINT, signal.SIGTERM), _main_left_out():
            waiting = {pool.submit(worker.carry_out, job) for job in todo}
        yield from _completed(waiting, drain)
    finally:
        with ignored(signal.SIGINT):
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            _end(set(multiprocessing.active_children()) - others)
            pool.shutdown(wait=True)
            outbox.close()


@contextlib.contextmanager
def _main_left_out() -> Iterator[None]:
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


def _end(workers: Iterable[BaseProcess]) -> None:
    """Waits a while for workers that were told to stop, and kills those that are left: a run is written whole or not
    at all, whenever its writer is killed."""
    end = time.monotonic() + _PATIENCE_S
    for each in workers:
        each.join(max(0.0, end - time.monotonic()))
    for each in workers:
        if each.is_alive():
            each.kill()


def _completed(
    waiting: set[concurrent.futures.Future[worker.Finished]], meanwhile: Callable[[], None]
) -> Iterator[worker.Finished]:
    """Yields what finishes; an error or Ctrl-C cancels what has not begun."""
    try:
        while waiting:
            done, waiting = concurrent.futures.wait(
                waiting, timeout=_POLL_S, return_when=concurrent.futures.FIRST_COMPLETED
            )
            meanwhile()
            for future in done:
                yield future.result()
    finally:
        for future in waiting:
            future.cancel()


class Through:
    """Calls through any `concurrent.futures.Executor`."""

    def __init__(self, executor: concurrent.futures.Executor, function: Callable[..., bytes] = unit.run) -> None:
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
        """What is done."""
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
