"""The effect of SIGINT and SIGTERM on a command.

The first signal raises `KeyboardInterrupt`, and the command ends in order. A second signal kills the worker processes,
which is what an orderly end waits for. Both ends are bounded in time: a thread ends the process if it is still there.
"""

import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator

INTERRUPTED = 130
# Seconds that an orderly end may take, and an end after a second signal.
_ORDERLY_S = 30.0
_HURRIED_S = 1.5
# Seconds for the semaphores of worker pools, which the system keeps otherwise.
_SEMAPHORES_S = 0.3


class Interrupted(KeyboardInterrupt):
    """The exception that the first signal raises.

    A `KeyboardInterrupt` itself that passes through `exec` of a text, as dataclasses do at import, makes Python
    end by SIGINT even where the exception was caught (`unhandled_keyboard_interrupt` in CPython's
    `run_eval_code_obj`).
    """


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Handles SIGINT and SIGTERM as this module says, within the context. After a signal it does so until the process
    ends, whose end is bounded as well."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # What the parent process ignores, as a shell does for jobs in the background, stays ignored.
    signals = [each for each in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(each) is not signal.SIG_IGN]
    watchdog = _Watchdog()

    def interrupt(number: int, frame: object) -> None:  # noqa: ARG001
        if watchdog.interrupted:
            _kill_workers()
            return
        watchdog.interrupted = True
        raise Interrupted

    before = {each: signal.signal(each, interrupt) for each in signals}
    try:
        yield
    finally:
        watchdog.unreported = False
        if watchdog.interrupted:
            # Python ends by a signal that comes while it finalizes, unless the signal is ignored.
            for each in signals:
                signal.signal(each, signal.SIG_IGN)
            watchdog.hurry()
        else:
            for each, handler in before.items():
                if signal.getsignal(each) is interrupt:
                    signal.signal(each, handler)
            watchdog.close()


def _kill_workers() -> None:
    """Kills worker processes: a run is written whole or not at all, whenever its writer is killed."""
    # Where it is not loaded, there are none.
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None:
        for worker in multiprocessing.active_children():
            worker.kill()


class _Watchdog:
    """A thread that ends the process some time after a signal, whatever the other threads wait for."""

    def __init__(self) -> None:
        self.interrupted = False
        """Whether a signal was handled."""
        self.unreported = True
        """Whether the command has not yet printed that it was interrupted."""
        # Python's own handler writes the number of each signal to a pipe, also while no Python code runs.
        self._reader, self._writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        # Signals are for the main thread, whose system calls they are to end.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        threading.Thread(target=self._watch, name="priolane-watchdog", daemon=True).start()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def hurry(self) -> None:
        """Bounds the end of the process as a second signal does."""
        os.write(self._writer, bytes([signal.SIGINT]))

    def close(self) -> None:
        """Ends the thread."""
        signal.set_wakeup_fd(self._before)
        os.close(self._writer)

    def _watch(self) -> None:
        if self._next_signal(None):
            if self._next_signal(_ORDERLY_S):
                threading.Event().wait(_HURRIED_S)
            self._end_process()
        os.close(self._reader)

    def _next_signal(self, timeout_s: float | None) -> bool:
        """Waits for SIGINT or SIGTERM; `False` after the time, or if the thread is to end."""
        while select.select([self._reader], [], [], timeout_s)[0]:
            # One byte at a time: the next call is for the next signal.
            byte = os.read(self._reader, 1)
            if not byte or byte[0] in (signal.SIGINT, signal.SIGTERM):
                return bool(byte)
        return False

    def _end_process(self) -> None:
        if self.unreported:
            os.write(2, b"priolane: interrupted\n")
        util = sys.modules.get("multiprocessing.util")
        if util is not None:
            cleaner = threading.Thread(target=util._run_finalizers, args=(0,), daemon=True)
            cleaner.start()
            cleaner.join(_SEMAPHORES_S)
        os._exit(INTERRUPTED)
