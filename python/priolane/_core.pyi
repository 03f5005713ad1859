"""The compiled module: JSON strings in, JSON strings out."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from random import Random
from typing import Any

# IP address, port, class, seconds until the deadline, minimum rate in bit/s, weight in thousandths.
_Sending = tuple[str, int, int, float | None, int | None, int]

class Ack:
    """An ACK. Times are in seconds, and in whole picoseconds with `_ps`; positions are bytes of the flow's payload."""

    @property
    def now(self) -> float:
        """The time at which the ACK is processed."""
    @property
    def now_ps(self) -> int:
        """`now` in picoseconds."""
    @property
    def acked(self) -> int:
        """Bytes that this ACK acknowledges cumulatively for the first time; 0 for a duplicate."""
    @property
    def una(self) -> int:
        """The first byte that is not yet acknowledged, after this ACK."""
    @property
    def next(self) -> int:
        """The first byte that is not yet sent. A round trip ends when `una` reaches the `next` of its start."""
    @property
    def marked(self) -> bool:
        """Whether the ACK echoes an ECN mark."""
    @property
    def may_grow(self) -> bool:
        """Whether the window may grow: it limited the sender, and the flow is not in fast recovery."""
    @property
    def rtt(self) -> float | None:
        """The round-trip time of the acknowledged packet, if it could be measured."""
    @property
    def rtt_ps(self) -> int | None:
        """`rtt` in picoseconds."""
    @property
    def srtt(self) -> float:
        """The smoothed round-trip time (RFC 6298), this sample included; 0 before the first."""
    @property
    def srtt_ps(self) -> int:
        """`srtt` in picoseconds."""
    @property
    def one_way(self) -> float:
        """From the packet's transmission to its arrival, by the clocks of the two hosts."""
    @property
    def one_way_ps(self) -> int:
        """`one_way` in picoseconds."""

class Loss:
    """A loss that was inferred from ACKs, or a timeout."""

    @property
    def now(self) -> float:
        """The time of the inference, or of the timeout, in seconds."""
    @property
    def now_ps(self) -> int:
        """`now` in picoseconds."""
    @property
    def in_flight(self) -> int:
        """Bytes sent and not acknowledged (`FlightSize` of RFC 5681)."""
    @property
    def next(self) -> int:
        """The first byte that is not yet sent: a reduction covers everything before it."""
    @property
    def again(self) -> bool:
        """Whether the timer expired before for the same data; false for a loss."""

class Host:
    """The host of an admission policy."""

    @property
    def rate(self) -> int:
        """The rate of its link in bit/s; in a simulation, that of the first host."""
    @property
    def mtu(self) -> int:
        """Payload bytes per MTU."""
    @property
    def levels(self) -> int:
        """The number of priorities: the key `levels`."""

class Request:
    """A flow that its application requests."""

    @property
    def id(self) -> int:
        """The number of the flow in the run."""
    @property
    def src(self) -> int:
        """The number of the sending host."""
    @property
    def dst(self) -> int:
        """The number of the receiving host."""
    @property
    def size(self) -> int | None:
        """Payload bytes; `None` for an endless flow."""
    @property
    def start(self) -> float:
        """The time at which the flow starts, in seconds."""
    @property
    def start_ps(self) -> int:
        """`start` in picoseconds."""
    @property
    def deadline(self) -> float | None:
        """The time by which the last byte should arrive, in seconds; `None` without a deadline."""
    @property
    def deadline_ps(self) -> int | None:
        """`deadline` in picoseconds."""
    @property
    def priority(self) -> int:
        """The priority that the flow requests, 0 first."""
    @property
    def group(self) -> int:
        """The number of its group in the experiment, from 0."""
    @property
    def weight(self) -> float:
        """Its weight, for which it may pay."""
    @property
    def min_rate(self) -> int:
        """Its minimum rate in bit/s, for which it may pay; 0 for best effort."""

class Report:
    """A report of a flow to the admission policy of its host, at the end of a monitor interval or when the flow is
    delivered."""

    @property
    def id(self) -> int:
        """The number of the flow in the run."""
    @property
    def now(self) -> float:
        """The time of the report in seconds."""
    @property
    def now_ps(self) -> int:
        """`now` in picoseconds."""
    @property
    def acked(self) -> int:
        """Payload bytes acknowledged so far."""
    @property
    def remaining(self) -> int | None:
        """Payload bytes that are not acknowledged yet; `None` for an endless flow."""
    @property
    def rate(self) -> int:
        """The mean goodput since the start of the flow, in bit/s."""
    @property
    def retransmitted(self) -> int:
        """Retransmitted payload bytes."""
    @property
    def timeouts(self) -> int:
        """Retransmission timeouts."""
    @property
    def srtt(self) -> float:
        """The smoothed round-trip time in seconds; 0 before the first sample."""
    @property
    def srtt_ps(self) -> int:
        """`srtt` in picoseconds."""
    @property
    def elapsed(self) -> float:
        """Time in seconds since the application started the flow; when it is delivered, its completion time."""
    @property
    def elapsed_ps(self) -> int:
        """`elapsed` in picoseconds."""

class Flow:
    """A flow when it starts to send."""

    @property
    def id(self) -> int:
        """The number of the flow in the run."""
    @property
    def dst(self) -> int:
        """The number of the receiving host."""
    @property
    def size(self) -> int | None:
        """Payload bytes; `None` for an endless flow."""
    @property
    def priority(self) -> int:
        """The requested class, 0 first."""
    @property
    def weight(self) -> float:
        """The weight that the flow pays for; 1 for best effort."""
    @property
    def min_rate(self) -> int:
        """The minimum rate that the flow pays for, in bit/s; 0 for best effort."""
    @property
    def mss(self) -> int:
        """The payload bytes of a full packet."""
    @property
    def first_window(self) -> int:
        """`init_window` in bytes, at least one packet."""
    @property
    def now(self) -> float:
        """The time, in seconds."""
    @property
    def now_ps(self) -> int:
        """`now` in picoseconds."""
    @property
    def deadline(self) -> float | None:
        """The time by which the last byte should have arrived, in seconds; `None` without a deadline."""
    @property
    def deadline_ps(self) -> int | None:
        """`deadline` in picoseconds."""
    @property
    def base_rtt(self) -> float:
        """The round-trip time of a full packet when nothing waits, in seconds."""
    @property
    def base_rtt_ps(self) -> int:
        """`base_rtt` in picoseconds."""
    @property
    def rate(self) -> int:
        """The rate of the slowest link of the path, in bit/s."""
    @property
    def hops(self) -> int:
        """The links of the path."""
    @property
    def random(self) -> Random:
        """The flow's own generator, seeded by the run. Other random numbers are refused by the verification."""

class Mistake:
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int | None: ...
    @property
    def key(self) -> str: ...
    @property
    def what(self) -> str: ...
    @property
    def advice(self) -> str: ...

class InputError(ValueError):
    mistakes: tuple[Mistake, ...]

class RunFailed(RuntimeError): ...
class CannotHere(RunFailed): ...
class Damaged(RunFailed): ...
class Stopped(Exception): ...

class DeliveryError(Exception):
    kind: str

class QueueFull(DeliveryError): ...
class HostClosed(DeliveryError): ...
class Forked(HostClosed): ...

class NetTask:
    def cancel(self) -> None: ...

class NetReceipt:
    @property
    def id(self) -> int: ...
    def wait(self, timeout: float | None) -> tuple[float, float, int, int] | None: ...
    def wait_async(self, done: Callable[[Any, BaseException | None], None]) -> NetTask: ...

class NetHost:
    def __new__(cls, settings: str) -> NetHost: ...
    @property
    def address(self) -> tuple[str, int]: ...
    def scheduling(self) -> tuple[bool, str | None]: ...
    def stats(self) -> list[tuple[str, int]]: ...
    def send(self, to: _Sending, data: bytes, timeout: float | None) -> NetReceipt: ...
    def send_async(self, to: _Sending, data: bytes, done: Callable[[Any, BaseException | None], None]) -> NetTask: ...
    def recv(self, timeout: float | None) -> tuple[str, int, bytes, int, float] | None: ...
    def recv_async(self, done: Callable[[Any, BaseException | None], None]) -> NetTask: ...
    def abort(self, message: int) -> None: ...
    def set_weights(self, message: int, min_rate_bps: int | None, weight_milli: int) -> None: ...
    def set_class(self, message: int, priority: int) -> None: ...
    def flush(self, timeout: float | None) -> bool: ...
    def close(self) -> None: ...

class Experiment:
    @staticmethod
    def from_path(path: str | PathLike[str]) -> Experiment: ...
    @staticmethod
    def from_text(name: str, text: str, folder: str | PathLike[str]) -> Experiment: ...
    @staticmethod
    def from_json(name: str, keys: str, folder: str | PathLike[str], texts: Mapping[str, str]) -> Experiment: ...
    def to_toml(self) -> str: ...
    def plan(self, options: str) -> Plan: ...
    def check(self, options: str) -> str: ...
    def network(self, options: str) -> str: ...
    def drawn(self, options: str) -> str: ...
    def promised(self, options: str) -> str: ...

class Plan:
    def to_json(self) -> str: ...
    def costs(self) -> list[float]: ...
    def files(self) -> dict[str, str]: ...
    def texts(self) -> dict[str, str]: ...
    def python_schemes(self) -> list[str]: ...
    def linux_job(self, run_id: str, request: str) -> str: ...
    def linux_job_on_machines(self, run_id: str, request: str) -> str: ...
    def profile(
        self,
        run_id: str,
        out_dir: str | PathLike[str],
        progress: Callable[[float, int, int], bool] | None = None,
    ) -> str: ...
    def open(self, out_dir: str | PathLike[str], settings: str) -> Grid: ...

class Grid:
    def run(self, run_id: str, progress: Callable[[float, int, int], bool] | None = None) -> str: ...
    def answer(self, run_id: str, progress: Callable[[float, int, int], bool] | None = None) -> tuple[bytes, bool]: ...
    def ready(self, run_id: str) -> bool: ...
    def is_measured(self, run_id: str) -> bool: ...
    def measured(self, run_id: str, planned: str, measured: str) -> str: ...
    def unit(self, run_id: str) -> str: ...
    def accept(self, run_id: str, answer: bytes) -> str: ...

def verdicts(path: str | PathLike[str], options: str, out_dir: str | PathLike[str], earlier: str) -> str: ...
def trace(
    path: str | PathLike[str],
    options: str,
    request: str,
    out_dir: str | PathLike[str],
    progress: Callable[[float, int, int], bool] | None = None,
) -> str: ...
def trace_network(
    path: str | PathLike[str],
    options: str,
    request: str,
    out_dir: str | PathLike[str],
    progress: Callable[[float, int, int], bool] | None = None,
) -> str: ...
def catalogue() -> str: ...
def analyze(request: str, progress: Callable[[float, int, int], bool] | None = None) -> str: ...
def channels(request: str) -> str: ...
def plan_requirement(request: str) -> str: ...
def plan_top(request: str) -> str: ...
def summary_value(metric: str, summary: str) -> float | None: ...
def summary_nature(member: str) -> str: ...
def left_out(metric: str, means: str) -> str | None: ...
def is_per_arrival(name: str) -> bool: ...
def pooled(means: list[tuple[float, float]]) -> list[float]: ...
def first_share(planned: int) -> float: ...
def thresholds(request: str) -> str: ...
def holm(values: Sequence[float]) -> list[float]: ...
def import_flows(request: str) -> str: ...
def import_sizes(request: str) -> str: ...
def level() -> float: ...
def linux_agent(program: Sequence[str], socket: str | None, clock_shift_ns: int) -> None: ...
def linux_down(name: str) -> list[str]: ...
def linux_guard(name: str) -> None: ...
def linux_host() -> None: ...
def linux_leftovers() -> list[str]: ...
def linux_machine() -> str: ...
def linux_run(job: str, program: Sequence[str], progress: Callable[[float, int], bool]) -> str: ...
def linux_run_on_machines(job: str, progress: Callable[[float, int], bool]) -> str: ...
def linux_status() -> str: ...
def linux_steps(job: str, program: Sequence[str]) -> list[str]: ...
def linux_switch(directory: str, number: int) -> None: ...
def linux_up(job: str, program: Sequence[str]) -> None: ...
def metrics() -> str: ...
def not_results() -> list[str]: ...
def parts() -> str: ...
def schema(of: str) -> str: ...
def estimate(values: Sequence[float], nature: str) -> tuple[str, float, float | None, float | None]: ...
def change(
    first: Sequence[float], second: Sequence[float], nature: str
) -> tuple[tuple[str, float, float | None, float | None], float | None]: ...
def paired(differences: Sequence[float]) -> tuple[float, float, float, float]: ...
def bench(request: str) -> str: ...
def bench_flow_list(flows: int) -> str: ...
def bench_scenarios() -> list[str]: ...
def bench_side(flows: int) -> str: ...
def bench_threads(request: str) -> str: ...
def quantity(dimension: str, text: str) -> int: ...
def checked_text(content: bytes, path: str | PathLike[str]) -> str: ...
def packed_runs(
    directory: str | PathLike[str],
) -> tuple[list[tuple[str, Path, dict[str, tuple[int, int]]]], list[str]]: ...
def read_checked(path: str | PathLike[str]) -> str: ...
def run_unit(
    unit: str,
    settings: str,
    texts: dict[str, str],
    progress: Callable[[float, int, int], bool] | None = None,
) -> bytes: ...
def unprintable() -> list[tuple[int, int]]: ...
def usual_classes() -> str: ...
def version() -> str: ...

BUILD: str

def welch(first: Sequence[float], second: Sequence[float]) -> tuple[float, float, float, float]: ...
def with_checksum(text: str) -> str: ...
