"""Signals that are handled later, in the main thread."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def deferred(*signals: signal.Signals) -> Iterator[None]:
    """Handles `signals` only after the context; processes that are started within it inherit them as blocked.

    The mask of this thread alone does not hold them back: another thread receives them, and Python runs the handler
    here.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    handlers = {each: signal.signal(each, lambda number, _: received.append(number)) for each in signals}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for each, handler in handlers.items():
            signal.signal(each, signal.SIG_DFL if handler is None else handler)
        for number in dict.fromkeys(received):
            signal.raise_signal(number)


@contextlib.contextmanager
def hastened(act: Callable[[], object], *signals: signal.Signals) -> Iterator[None]:
    """Calls `act` at once for each of `signals` that comes within the context, and handles it after the context."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def handle(number: int, frame: object) -> None:  # noqa: ARG001
        received.append(number)
        act()

    handlers = {each: signal.signal(each, handle) for each in signals if signal.getsignal(each) is not signal.SIG_IGN}
    try:
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, signal.SIG_DFL if handler is None else handler)
        for number in dict.fromkeys(received):
            signal.raise_signal(number)
