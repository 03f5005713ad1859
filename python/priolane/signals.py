"""Signals held back or ignored for a while, in the main thread."""

import contextlib
import signal
import threading
from collections.abc import Iterator


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
def ignored(each: signal.Signals) -> Iterator[None]:
    """Ignores a signal within the context, where this is the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(each, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(each, before)
