"""Messages over UDP by the transports of priolane, between processes and machines (Linux).

    from priolane import net

    with net.Host("dctcp") as server, net.Host("dctcp") as client:
        receipt = client.send(server.address, b"hello", priority=1)
        assert server.recv().data == b"hello"
        print(receipt.wait().elapsed)

Hosts run the endpoints that simulations run, each on one thread of its own. `AsyncHost` is the same for asyncio.
A process that is forked has no hosts of its parent: their methods raise `Forked` there, and `close` does nothing.
docs/real-hosts.md says what is guaranteed.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

from priolane import _core
from priolane._core import DeliveryError, Forked, HostClosed, QueueFull

__all__ = [
    "Address",
    "AsyncHost",
    "AsyncReceipt",
    "Config",
    "Delivery",
    "DeliveryError",
    "Forked",
    "Host",
    "HostClosed",
    "Limits",
    "Message",
    "Patience",
    "QueueFull",
    "Receipt",
    "Weights",
]

# IP address and port.
Address = tuple[str, int]
_MILLI = 1000
_SLICE_S = 0.1


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on the memory of a host. Counts are of bytes unless they say otherwise."""

    #: The bytes of the longest message, sent or received.
    message: int = 1 << 30
    #: The bytes of messages that were sent and are not yet delivered; `send` waits at the limit. One message may exceed
    #: it.
    queued: int = 64 << 20
    #: The number of messages that were sent and are not yet delivered.
    messages: int = 65_536
    #: The bytes of the incomplete messages of one sender; the oldest message may exceed the limit.
    sender: int = 64 << 20
    #: The bytes of one message that may be stored beyond the part that has arrived without gaps.
    ahead: int = 16 << 20
    #: Memory for incomplete messages of all senders together, with the bookkeeping; at least 1 MiB. A message that is
    #: longer than half of that room is refused.
    receiving: int = 2 << 30
    #: The memory for messages that have arrived and wait for `recv`. No payload is accepted while the limit is reached.
    #: The sum of `receiving` and `arrived` always holds.
    arrived: int = 256 << 20
    #: The memory for datagrams that a testbed holds back, as if a line were longer.
    held: int = 64 << 20
    #: The number of messages under way at once between this host and one other, in each direction.
    flows: int = 4_096
    #: The number of other hosts that are known, at most 65,534.
    peers: int = 4_096
    #: The bytes of each socket buffer, if the system permits that size.
    socket: int = 4 << 20


@dataclass(frozen=True, slots=True)
class Patience:
    """The times for which a host waits for others, in seconds."""

    #: The time to wait for the answer of a host that is not known yet.
    greeting: float = 5.0
    #: The time without any datagram from a host to which messages are under way, after which these messages fail.
    silence: float = 10.0
    #: The time without further payload after which an incomplete message is dropped.
    idle: float = 60.0


@dataclass(frozen=True, slots=True)
class Weights:
    """The share of the capacity for a message, for transports that honour it (PACCP)."""

    #: The minimum rate in bit/s; `None` for no minimum.
    min_rate: int | None = None
    #: The share of the capacity that the minimum rates leave, relative to 1 for a best-effort message.
    weight: float = 1.0


_BEST_EFFORT = Weights()


@dataclass(frozen=True, slots=True)
class Message:
    """A message that arrived."""

    #: The address of the host that sent it.
    sender: Address
    data: bytes
    #: The bytes that the sender gave up, which are zeros in `data`. Above 0 only with `reliable = False`.
    missing: int
    #: The time at which the last byte arrived, by `time.monotonic()`.
    arrived: float


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that was delivered, as its sender saw it. Times are in seconds."""

    #: The time from the call that sent the message until the sender knew that it had arrived.
    elapsed: float
    #: The smoothed round-trip time at the end; 0 if the transport does not measure one.
    rtt: float
    #: The number of packets that were retransmitted.
    retransmits: int
    #: The number of retransmission timeouts.
    timeouts: int


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration of a host."""

    #: A name that `priolane list` shows, such as `dctcp`, `swift`, `top` or `homa`; the same at all hosts.
    transport: str
    #: The keys of the transport, as in a scheme's `transport` table: `{"min_rto": "5ms"}`.
    keys: Mapping[str, Any] = field(default_factory=dict)
    #: The address to bind to, where port 0 means any free one. Without a key, leave the loopback interface only where
    #: all hosts are trusted.
    address: Address = ("127.0.0.1", 0)
    #: The rate of the host's line, which it does not exceed.
    line: str = "10Gbps"
    #: The size of the largest IP packet in bytes, which must be the same at all hosts.
    mtu: int = 1500
    #: The order of messages, where the transport does not define one: `round_robin`, `srpt`, `las` or `mlfq`.
    order: str = "round_robin"
    #: The bytes sent at which a message falls to the next class (PIAS), at most 15 numbers.
    thresholds: Sequence[int] = ()
    #: The bytes sent at which a message falls to the next level inside the host, for `mlfq`.
    levels: Sequence[int] = ()
    #: Whether packets of window and token transports carry their rank, by which switches sort; the same at all hosts.
    ranks: bool = False
    #: The DSCP of each of the 16 classes, the same at all hosts; `None` for 60 - 4 `c` for class `c`.
    dscp: Sequence[int] | None = None
    #: A secret of at least 16 bytes, or its hexadecimal digits, that all hosts share. All datagrams are encrypted with
    #: it.
    key: bytes | str | None = None
    limits: Limits = Limits()
    patience: Patience = Patience()
    #: The priority from 1 to 99 with which the host's thread runs before ordinary ones, if the system permits that.
    real_time: int | None = None
    #: The time in seconds for which the thread polls for datagrams before it sleeps.
    spin: float = 0.0
    #: The component that cuts outgoing data for one host into datagrams: `host`, or `kernel` (UDP_SEGMENT), which takes
    #: less CPU.
    segmentation: Literal["host", "kernel"] = "host"
    #: Whether the kernel passes datagrams that arrive together as one: `off`, or `kernel` (UDP_GRO), which takes less
    #: CPU.
    receive_offload: Literal["off", "kernel"] = "off"


def _bound(config_or_address: Config | str) -> _core.NetHost:
    config = Config(config_or_address) if isinstance(config_or_address, str) else config_or_address
    ip, port = config.address
    scheme = {
        "transport": {"kind": config.transport, **config.keys},
        "order": config.order,
        "class": {"thresholds": list(config.thresholds), "count_retransmissions": False},
        "host_level": {"thresholds": list(config.levels), "count_retransmissions": False},
        "ranks": config.ranks,
    }
    settings = {
        "scheme": scheme,
        "ip": ip,
        "port": port,
        "line": config.line,
        "mtu": config.mtu,
        "dscp": None if config.dscp is None else list(config.dscp),
        "key_hex": config.key.hex() if isinstance(config.key, bytes) else config.key,
        "limits": asdict(config.limits),
        "patience": asdict(config.patience),
        "real_time": config.real_time,
        "spin_s": config.spin,
        "segmentation": config.segmentation,
        "receive_offload": config.receive_offload,
    }
    return _core.NetHost(json.dumps(settings))


def _sending(
    to: Address, priority: int, deadline: float | None, weights: Weights
) -> tuple[str, int, int, float | None, int | None, int]:
    return (*to, priority, deadline, weights.min_rate, round(weights.weight * _MILLI))


def _message(received: tuple[str, int, bytes, int, float]) -> Message:
    ip, port, data, missing, age = received
    return Message((ip, port), data, missing, time.monotonic() - age)


class Receipt:
    """Tells what becomes of a message. Dropping it changes nothing for the message."""

    def __init__(self, receipt: _core.NetReceipt) -> None:
        """Hosts make receipts."""
        self._receipt = receipt

    @property
    def id(self) -> int:
        """The number of the message, unique at its host."""
        return self._receipt.id

    def wait(self, timeout: float | None = None) -> Delivery:
        """Waits until the message is delivered.

        Raises `DeliveryError` if it is not, and `TimeoutError` if that is not known after `timeout` seconds.
        """
        receipt = self._receipt.wait(timeout)
        if receipt is None:
            raise TimeoutError(f"message {self.id} is still under way")
        return Delivery(*receipt)

    def poll(self) -> Delivery | None:
        """The delivery, `None` while the message is under way. Raises as `wait`."""
        receipt = self._receipt.wait(0.0)
        return None if receipt is None else Delivery(*receipt)


class _Control:
    """The common part of both kinds of hosts, besides sending and receiving."""

    def __init__(self, host: _core.NetHost) -> None:
        """Controls a host of the compiled module."""
        self._host = host

    @property
    def address(self) -> Address:
        """The address to which the host is bound, and to which other hosts send."""
        return self._host.address

    @property
    def real_time(self) -> bool:
        """Whether the thread of the host runs before all ordinary threads."""
        return self._host.scheduling()[0]

    @property
    def why_not_real_time(self) -> str | None:
        """The reason why the thread is an ordinary one although `real_time` was asked for, and the remedy."""
        return self._host.scheduling()[1]

    def abort(self, message: int) -> None:
        """Gives up a message of this host, by its number. It may arrive all the same."""
        self._host.abort(message)

    def set_weights(self, message: int, weights: Weights) -> None:
        """Changes the minimum rate and the weight of a message under way, by its number."""
        self._host.set_weights(message, weights.min_rate, round(weights.weight * _MILLI))

    def set_priority(self, message: int, priority: int) -> None:
        """Changes the class of a message under way, 0 served first, at most 15."""
        self._host.set_class(message, priority)

    def stats(self) -> dict[str, int]:
        """The counters of the host since it was bound; docs/real-hosts.md explains the names."""
        return dict(self._host.stats())


class Host(_Control):
    """A host that sends messages to other hosts and receives theirs. Its methods may be called from any thread."""

    def __init__(self, config: Config | str) -> None:
        """Binds a host and starts its thread. The name of a transport stands for the `Config` with that name.

        Raises `InputError` for what is out of range, `OSError` if the system refuses the address or a thread.
        """
        super().__init__(_bound(config))

    def send(
        self,
        to: Address,
        data: bytes | bytearray | memoryview,
        *,
        priority: int = 0,
        deadline: float | None = None,
        weights: Weights = _BEST_EFFORT,
        timeout: float | None = None,
    ) -> Receipt:
        """Sends a message; waits while too much is queued.

        priority: its class, 0 served first, at most 15.
        deadline: seconds within which it should arrive, for transports that honour deadlines (D2TCP, TOP).

        Raises `QueueFull` if there is no room after `timeout` seconds, and `InputError` for what cannot be sent.
        """
        sending = _sending(to, priority, deadline, weights)
        return Receipt(self._host.send(sending, bytes(data), timeout))

    def recv(self, timeout: float | None = None) -> Message:
        """The message that arrived first of those not yet received; waits until there is one.

        Raises `TimeoutError` if none has arrived after `timeout` seconds, `HostClosed` if the host is closed.
        """
        message = self._host.recv(timeout)
        if message is None:
            raise TimeoutError(f"no message arrived within {timeout} s")
        return _message(message)

    def poll(self) -> Message | None:
        """The message that arrived first of those not yet received; `None` if there is none."""
        message = self._host.recv(0.0)
        return None if message is None else _message(message)

    def flush(self, timeout: float | None = None) -> bool:
        """Waits until every message that was sent is delivered or has failed; `False` if `timeout` seconds passed."""
        return self._host.flush(timeout)

    def close(self) -> None:
        """Ends the host. Messages that are not delivered are lost; calls that wait raise `HostClosed`.

        A forked process cannot end the host of its parent: there, this does nothing.
        """
        self._host.close()

    def __enter__(self) -> Self:
        """Returns the host, which ends with the block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Closes the host."""
        self.close()


# What an asynchronous call of the compiled module reports: its value, or an error.
_Done = Callable[[Any, BaseException | None], None]


def _start(begin: Callable[[_Done], _core.NetTask], late: Callable[[Any], None]) -> "asyncio.Future[Any]":
    """A future of the running loop for an asynchronous call; when it is done or cancelled, so is the call.

    `late` takes what the call returns although its future is done: it was ready at the moment of the cancellation.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if future.done():
            if error is None:
                late(value)
        elif error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def done(value: Any, error: BaseException | None) -> None:
        # A loop that is closed takes no answer.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, value, error)

    task = begin(done)
    future.add_done_callback(lambda _: task.cancel())
    return future


def _ignore(_: Any) -> None:
    pass


class AsyncReceipt:
    """Tells what becomes of a message of an `AsyncHost`."""

    def __init__(self, receipt: _core.NetReceipt) -> None:
        """Hosts make receipts."""
        self._receipt = receipt

    @property
    def id(self) -> int:
        """The number of the message, unique at its host."""
        return self._receipt.id

    async def wait(self) -> Delivery:
        """Waits until the message is delivered; raises `DeliveryError` if it is not."""
        return Delivery(*await _start(self._receipt.wait_async, _ignore))


class AsyncHost(_Control):
    """A `Host` for asyncio. Its methods belong to one event loop."""

    def __init__(self, config: Config | str) -> None:
        """As `Host`."""
        super().__init__(_bound(config))
        # Calls of `recv` that wait, and messages whose call was cancelled at the moment of their arrival.
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._returned: deque[tuple[str, int, bytes, int, float]] = deque()

    async def send(
        self,
        to: Address,
        data: bytes | bytearray | memoryview,
        *,
        priority: int = 0,
        deadline: float | None = None,
        weights: Weights = _BEST_EFFORT,
    ) -> AsyncReceipt:
        """As `Host.send`. If it is cancelled, the message was not sent, unless there was room at that moment."""
        sending = _sending(to, priority, deadline, weights)
        content = bytes(data)
        return AsyncReceipt(await _start(lambda done: self._host.send_async(sending, content, done), _ignore))

    async def recv(self) -> Message:
        """As `Host.recv`. Cancelling it loses no message."""
        if self._returned:
            return _message(self._returned.popleft())
        future = _start(self._host.recv_async, self._pass_on)
        self._waiting.append(future)
        try:
            return _message(await future)
        except asyncio.CancelledError:
            # The message was there, and the caller was cancelled before it went on.
            if not future.cancelled() and future.done() and future.exception() is None:
                self._pass_on(future.result())
            raise
        finally:
            self._waiting.remove(future)

    def _pass_on(self, received: tuple[str, int, bytes, int, float]) -> None:
        """Gives a message whose call was cancelled to the call that has waited longest."""
        for future in self._waiting:
            if not future.done():
                future.set_result(received)
                return
        self._returned.append(received)

    async def flush(self) -> None:
        """Waits until every message that was sent is delivered or has failed."""
        while not await asyncio.to_thread(self._host.flush, _SLICE_S):
            pass

    async def close(self) -> None:
        """As `Host.close`."""
        await asyncio.to_thread(self._host.close)

    async def __aenter__(self) -> Self:
        """Returns the host, which ends with the block."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Closes the host."""
        await self.close()
