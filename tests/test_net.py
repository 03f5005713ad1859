"""Hosts that send messages over UDP, from Python."""

import asyncio
import dataclasses
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import documents
from priolane import InputError, net

ROOT = Path(__file__).parent.parent
PATIENCE_S = 60.0
KEY = bytes(range(32))


@contextmanager
def pair(transport: str = "dctcp", **settings: Any) -> Iterator[tuple[net.Host, net.Host]]:
    config = net.Config(transport, **settings)
    with net.Host(config) as client, net.Host(config) as server:
        yield client, server


def _rust_defaults(of: str) -> dict[str, float]:
    """The fields of `impl Default` of a struct of priolane-net, spans in seconds."""
    text = (ROOT / "crates" / "priolane-net" / "src" / "config.rs").read_text(encoding="utf-8")
    (body,) = re.findall(rf"impl Default for {of} \{{.*?Self \{{(.*?)\}}", text, re.DOTALL)
    value = re.compile(r"(\w+): (?:Duration::from_secs\()?([\d_]+)\)?(?: << (\d+))?,")
    return {name: int(number) << int(shift or 0) for name, number, shift in value.findall(body)}


@pytest.mark.parametrize("of", [net.Limits, net.Patience])
def test_defaults_are_those_of_the_rust_library(of: type[net.Limits | net.Patience]) -> None:
    assert dataclasses.asdict(of()) == _rust_defaults(of.__name__)


def test_a_message_arrives_whole_with_its_sender_and_the_receipt_tells() -> None:
    data = bytes(range(256)) * 1000
    with pair() as (client, server):
        receipt = client.send(server.address, memoryview(data), priority=3, deadline=1.0)
        message = server.recv(PATIENCE_S)
        delivery = receipt.wait(PATIENCE_S)
        assert (message.data, message.sender, message.missing) == (data, client.address, 0)
        assert 0 <= time.monotonic() - message.arrived < PATIENCE_S
        assert 0 < delivery.rtt < delivery.elapsed
        assert receipt.poll() == delivery
        assert client.flush(PATIENCE_S)
        assert client.stats()["delivered_bytes"] == len(data)
        assert server.poll() is None


@pytest.mark.parametrize(
    "transport", ["swift", "top", "homa", "ndp", "paccp", "prioplus_swift", "cubic", "dcqcn", "nscc"]
)
def test_each_family_of_transports_carries_messages_both_ways(transport: str) -> None:
    with pair(transport) as (client, server):
        client.send(server.address, b"a" * 30_000, weights=net.Weights(1_000_000, 2.5))
        server.send(client.address, b"b" * 30_000)
        assert server.recv(PATIENCE_S).data == b"a" * 30_000
        assert client.recv(PATIENCE_S).data == b"b" * 30_000


def test_datagrams_that_the_kernel_cuts_are_counted() -> None:
    with pair("newreno", segmentation="kernel", receive_offload="kernel") as (client, server):
        client.send(server.address, b"a" * 300_000).wait(PATIENCE_S)
        assert server.recv(PATIENCE_S).data == b"a" * 300_000
        counts = client.stats()
        assert (counts["segments"] > 0, counts["segmentation_refused"]) == (True, 0)
        counts = server.stats()
        assert (counts["groups_received"] > 0, counts["receive_offload_refused"]) == (True, 0)


def test_the_kernel_takes_only_datagrams_of_one_ecn_codepoint_together() -> None:
    """The property that hosts rely on when they give all datagrams of a group its one TOS."""
    program = [sys.executable, str(Path(__file__).parent / "support" / "kernel_groups.py")]
    ran = subprocess.run(program, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    if ran.returncode != 0:
        pytest.skip(f"no two network namespaces with a queue between them here: {ran.stderr.splitlines()[-1:]}")
    came, grouped, wrong = map(int, ran.stdout.split())
    assert wrong == 0
    assert came > 0
    if grouped == 0:
        pytest.skip("this kernel takes no datagrams of a veth together")


def test_hosts_with_one_key_talk_and_others_are_refused() -> None:
    with net.Host(net.Config("dctcp", key=KEY)) as server, net.Host(net.Config("dctcp", key=KEY.hex())) as client:
        client.send(server.address, b"secret").wait(PATIENCE_S)
        assert server.recv(PATIENCE_S).data == b"secret"
        with net.Host("dctcp") as stranger:
            with pytest.raises(net.DeliveryError, match="takes only messages with its key") as caught:
                stranger.send(server.address, b"open").wait(PATIENCE_S)
            assert caught.value.kind == "needs_key"
        assert server.poll() is None


def test_hosts_whose_packets_carry_ranks_talk_and_others_are_refused() -> None:
    with net.Host(net.Config("dctcp", ranks=True)) as server, net.Host(net.Config("dctcp", ranks=True)) as client:
        client.send(server.address, b"r" * 30_000).wait(PATIENCE_S)
        assert server.recv(PATIENCE_S).data == b"r" * 30_000
        with net.Host("dctcp") as other, pytest.raises(net.DeliveryError, match="ranks"):
            other.send(server.address, b"x").wait(PATIENCE_S)
    with pytest.raises(InputError, match="packets of ndp carry no rank"):
        net.Host(net.Config("ndp", ranks=True))


def test_a_host_that_does_not_answer_fails_the_message() -> None:
    with net.Host("dctcp") as gone:
        address = gone.address
    with net.Host(net.Config("dctcp", patience=net.Patience(greeting=0.2))) as client:
        receipt = client.send(address, b"anyone?")
        assert receipt.poll() is None
        with pytest.raises(net.DeliveryError, match="no answer") as caught:
            receipt.wait(PATIENCE_S)
        assert caught.value.kind == "no_answer"


def test_a_full_queue_makes_send_wait_and_says_so() -> None:
    limits = net.Limits(queued=1000)
    with net.Host("dctcp") as gone:
        address = gone.address
    with net.Host(net.Config("dctcp", limits=limits, patience=net.Patience(greeting=3.0))) as client:
        first = client.send(address, bytes(900))
        with pytest.raises(net.QueueFull, match="wait to be delivered"):
            client.send(address, bytes(900), timeout=0.0)
        # The first fails after its patience, which leaves room for the second.
        second = client.send(address, bytes(900), timeout=PATIENCE_S)
        assert second.id == first.id + 1
        with pytest.raises(net.DeliveryError):
            first.wait(0.0)


def test_an_aborted_message_fails() -> None:
    with net.Host("dctcp") as gone:
        address = gone.address
    with net.Host("dctcp") as client:
        receipt = client.send(address, b"never mind")
        client.set_priority(receipt.id, 2)
        client.set_weights(receipt.id, net.Weights(weight=3.0))
        client.abort(receipt.id)
        with pytest.raises(net.DeliveryError) as caught:
            receipt.wait(PATIENCE_S)
        assert caught.value.kind == "aborted"


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"transport": "dctpc"}, 'kind: there is no "dctpc"'),
        ({"keys": {"min_rto": "3"}}, 'min_rto: "3" has no unit'),
        ({"line": "fast"}, "line: "),
        ({"mtu": 50}, "MTU"),
        ({"address": ("localhost", 0)}, 'address: "localhost" is not an IP address'),
        ({"key": b"short"}, "key: a key of 5 bytes"),
        ({"dscp": [1, 2]}, "dscp: 2 numbers. Use 16"),
        ({"limits": net.Limits(queued=0)}, "limits.queued is 0"),
        ({"patience": net.Patience(idle=-1.0)}, "patience.idle: -1 is not a duration"),
        ({"real_time": 100}, "real_time is 100"),
        ({"segmentation": "nic"}, 'segmentation: "nic" is none. Use "host" or "kernel"'),
        ({"receive_offload": "nic"}, 'receive_offload: "nic" is none. Use "off" or "kernel"'),
        ({"thresholds": [5, 3]}, "none below the one before"),
    ],
)
def test_settings_out_of_range_are_refused_with_what_to_use(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text.replace("(", r"\(")):
        net.Host(net.Config(**{"transport": "dctcp", **settings}))


def test_what_cannot_be_sent_is_refused() -> None:
    with net.Host("dctcp") as host:
        wrong: list[tuple[net.Address, bytes, dict[str, Any], str]] = [
            (("127.0.0.1", 9), b"", {}, "at least one byte"),
            (("127.0.0.1", 9), b"x", {"priority": 16}, "class 16"),
            (("127.0.0.1", 9), b"x", {"weights": net.Weights(weight=0.0)}, "weight of 0"),
            (("127.0.0.1", 9), b"x", {"deadline": -1.0}, "deadline: -1 is not a duration"),
            (("::1", 9), b"x", {}, "same version of IP"),
            (host.address, b"x", {}, "own address"),
        ]
        for to, data, options, text in wrong:
            with pytest.raises(InputError, match=text):
                host.send(to, data, **options)
        with pytest.raises(OSError, match="cannot bind"):
            net.Host(net.Config("dctcp", address=host.address))


def test_calls_that_wait_end_when_the_host_is_closed() -> None:
    host = net.Host("dctcp")
    raised: list[net.HostClosed] = []

    def wait() -> None:
        try:
            host.recv()
        except net.HostClosed as error:
            raised.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    with pytest.raises(TimeoutError):
        host.recv(0.05)
    host.close()
    waiting.join(PATIENCE_S)
    assert [error.kind for error in raised] == ["closed"]
    with pytest.raises(net.HostClosed):
        host.send(("127.0.0.1", 9), b"x")
    host.close()


def test_ctrl_c_ends_a_call_that_waits() -> None:
    program = "from priolane import net; host = net.Host('dctcp'); print(flush=True); host.recv()"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        os.kill(child.pid, signal.SIGINT)
        assert child.wait(PATIENCE_S) != 0
        assert b"KeyboardInterrupt" in child.stderr.read()


def test_many_messages_at_once_from_asyncio() -> None:
    async def talk() -> set[bytes]:
        async with net.AsyncHost("dctcp") as client, net.AsyncHost("dctcp") as server:
            texts = [f"{number}".encode() * 100 for number in range(300)]
            receipts = await asyncio.gather(*(client.send(server.address, text) for text in texts))
            arrived = await asyncio.gather(*(server.recv() for _ in texts))
            deliveries = await asyncio.gather(*(receipt.wait() for receipt in receipts))
            assert all(delivery.elapsed > 0 for delivery in deliveries)
            await client.flush()
            assert {message.data for message in arrived} == set(texts)
            return {message.data for message in arrived}

    assert len(asyncio.run(asyncio.wait_for(talk(), PATIENCE_S))) == 300


def test_cancelled_calls_lose_no_message() -> None:
    async def talk() -> list[int]:
        async with net.AsyncHost("dctcp") as client, net.AsyncHost("dctcp") as server:
            seen: list[int] = []
            total = 400

            async def receive() -> None:
                # Calls are cancelled at all moments: before, while and after a message arrives.
                for attempt in itertools.count():
                    if len(seen) == total:
                        return
                    call = asyncio.ensure_future(server.recv())
                    await asyncio.sleep(0.0002 * (attempt % 4))
                    if not call.done():
                        call.cancel()
                    try:
                        seen.append(int((await call).data))
                    except asyncio.CancelledError:
                        await asyncio.sleep(0)

            receiving = asyncio.ensure_future(receive())
            for number in range(total):
                await client.send(server.address, str(number).encode())
                await asyncio.sleep(0.0003)
            await receiving
            return seen

    assert sorted(asyncio.run(asyncio.wait_for(talk(), PATIENCE_S))) == list(range(400))


def test_a_message_that_is_there_when_its_call_is_cancelled_goes_to_the_next() -> None:
    async def talk() -> list[bytes]:
        async with net.AsyncHost("dctcp") as client, net.AsyncHost("dctcp") as server:
            seen: list[bytes] = []
            for number in range(10):
                call = asyncio.ensure_future(server.recv())
                await client.send(server.address, str(number).encode())
                # The message arrives while the loop is busy; its call has it, but has not gone on when it is cancelled.
                time.sleep(0.05)
                await asyncio.sleep(0)
                call.cancel()
                (outcome,) = await asyncio.gather(call, return_exceptions=True)
                cancelled = isinstance(outcome, asyncio.CancelledError)
                message = await asyncio.wait_for(server.recv(), PATIENCE_S) if cancelled else outcome
                assert isinstance(message, net.Message)
                seen.append(message.data)
            return seen

    assert asyncio.run(talk()) == [str(number).encode() for number in range(10)]


def test_the_blocks_of_the_page_print_what_it_shows(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "real-hosts.md").read_text(encoding="utf-8")
    section = tmp_path / "section.md"
    section.write_text(page.partition("## From Python\n")[2].partition("\n## ")[0], encoding="utf-8")
    assert documents.run_page(section, {}) == 2


def test_asyncio_calls_fail_when_the_host_is_closed() -> None:
    async def talk() -> str:
        host = net.AsyncHost("dctcp")
        call = asyncio.ensure_future(host.recv())
        await asyncio.sleep(0.05)
        await host.close()
        with pytest.raises(net.HostClosed) as caught:
            await call
        return str(caught.value.kind)

    assert asyncio.run(asyncio.wait_for(talk(), PATIENCE_S)) == "closed"
