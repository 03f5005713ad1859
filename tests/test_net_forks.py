"""Processes that are forked, or spawned, from one with open hosts."""

import subprocess
import sys

import pytest

_HEAD = """
import asyncio, gc, os, signal, sys
from priolane import net

a, b = net.Host("dctcp"), net.Host("dctcp")
receipt = a.send(("127.0.0.1", 9), b"nobody answers")

def in_child(act):
    # SIGALRM ends a child that hangs.
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        act()
        sys.exit(0)
    return os.waitpid(child, 0)[1]

def forked(call, *arguments):
    try:
        call(*arguments)
    except net.Forked as error:
        assert error.kind == "forked" and "bind a host here" in str(error), error
    else:
        raise AssertionError(call)
"""
_TAIL = """
print(in_child(act), flush=True)
delivery = a.send(b.address, b"after").wait(60)
assert b.recv(60).data == b"after"
"""

CALLS = """
def act():
    forked(a.send, b.address, b"x")
    for call in (a.recv, a.poll, a.flush, a.stats, receipt.wait, receipt.poll):
        forked(call)
    forked(a.abort, receipt.id)
    forked(a.set_priority, receipt.id, 1)
    assert a.address != b.address
    with net.Host("dctcp") as own, net.Host("dctcp") as other:
        own.send(other.address, b"own")
        assert other.recv(50).data == b"own"
"""
CLOSE = """
def act():
    a.close()
    a.close()
    b.close()
"""
GARBAGE = """
def act():
    global a, b, receipt
    del a, b, receipt
    gc.collect()
"""
EXIT = """
def act():
    pass
"""
ASYNC = """
waiting = []

async def parent():
    host = net.AsyncHost("dctcp")
    waiting.append(asyncio.ensure_future(host.recv()))
    await asyncio.sleep(0.05)
    return host

loop = asyncio.new_event_loop()
host = loop.run_until_complete(parent())

async def child():
    for call in (host.send(b.address, b"x"), host.recv(), host.flush(), net.AsyncReceipt(receipt._receipt).wait()):
        try:
            await call
        except net.Forked:
            continue
        raise AssertionError
    await host.close()
    async with net.AsyncHost("dctcp") as own, net.AsyncHost("dctcp") as other:
        await own.send(other.address, b"own")
        assert (await asyncio.wait_for(other.recv(), 50)).data == b"own"

def act():
    asyncio.run(child())
    waiting.clear()
    gc.collect()
"""


def _run(program: str) -> str:
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300)
    assert (process.returncode, process.stderr) == (0, ""), process.stderr
    return process.stdout


@pytest.mark.parametrize("act", [CALLS, CLOSE, GARBAGE, EXIT], ids=["calls", "close", "garbage", "exit"])
def test_a_forked_process_is_refused_or_silent_and_its_parent_goes_on(act: str) -> None:
    assert _run(_HEAD + act + _TAIL) == "0\n"


def test_hosts_of_asyncio_are_refused_in_a_forked_process_which_may_bind_its_own() -> None:
    close = (
        "\nwaiting[0].cancel()\nloop.run_until_complete(asyncio.gather(*waiting, return_exceptions=True))\nloop.close()"
    )
    assert _run(_HEAD + ASYNC + _TAIL + close) == "0\n"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_multiprocessing_end_in_silence(method: str) -> None:
    program = f"""{_HEAD}
import multiprocessing

if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    with context.Pool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]
    process = context.Process(target=print, args=("child",))
    process.start()
    process.join()
    assert process.exitcode == 0
    delivery = a.send(b.address, b"after").wait(60)
    assert b.recv(60).data == b"after"
"""
    assert _run(program) == "child\n"
