"""The guard that holds back signals while workers are started."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from priolane.execution import pool
from priolane.execution.signals import deferred


@pytest.fixture
def receiver() -> Iterator[None]:
    """A thread that receives signals, as those of progress bars and of libraries do."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    yield
    done.set()
    thread.join()


@pytest.mark.usefixtures("receiver")
def test_a_signal_that_another_thread_receives_waits_for_the_end() -> None:
    steps = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the place where it is raised is what is tested
        with deferred(signal.SIGINT):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            steps.append("started")
        steps.append("not reached")
    assert steps == ["started"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_is_raised_without_a_signal() -> None:
    with deferred(signal.SIGINT, signal.SIGTERM):
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("patience_s", [0.0, 60.0])
def test_ctrl_c_while_workers_start_ends_them(monkeypatch: pytest.MonkeyPatch, patience_s: float) -> None:
    """Workers that outlive the pool do not find its semaphores, and write a traceback.

    They end by themselves, or are killed while they start.
    """
    monkeypatch.setattr(pool, "_PATIENCE_S", patience_s)

    @contextlib.contextmanager
    def interrupted() -> Iterator[None]:
        yield
        os.kill(os.getpid(), signal.SIGINT)

    others = set(multiprocessing.active_children())
    monkeypatch.setattr(pool, "_without_main_module", interrupted)
    with pytest.raises(KeyboardInterrupt), pool.ProcessPool(2, lambda *_: None):
        pytest.fail("the pool was entered")
    assert set(multiprocessing.active_children()) <= others


_INTERRUPTED = """
import multiprocessing.resource_tracker as tracker
import signal
import subprocess
import sys
from priolane.execution.pool import ProcessPool

register = tracker.register

def interrupt(name, kind):
    register(name, kind)
    tracker.register = register
    signal.raise_signal(signal.SIGINT)

tracker.register = interrupt
try:
    with ProcessPool(1, print):
        print("entered")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_while_a_semaphore_is_made_leaves_none() -> None:
    """A Ctrl-C between the registration of a semaphore and that of its finalizer left it in the system."""
    process = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED], capture_output=True, text=True, check=False, timeout=60
    )
    assert (process.stdout, process.stderr) == ("interrupted\n", "")
