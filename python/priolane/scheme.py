"""The types of parts of schemes that are Python classes: congestion controllers, rules and admission policies.

A congestion controller is named by `transport = { kind = "python", class = ... }`, a rule that assigns priorities by
`assign = { kind = "python", class = ..., levels = 3 }`, and an admission policy by
`admit = { kind = "python", class = ..., levels = 3 }`. A controller:

    from priolane.scheme import Ack, CongestionControl, Flow, Loss

    class Halving(CongestionControl):
        def __init__(self, flow: Flow) -> None:
            self.mss, self.cwnd = flow.mss, flow.first_window

        def on_ack(self, ack: Ack) -> None:
            if ack.may_grow:
                self.cwnd += self.mss * ack.acked // self.cwnd

        def on_loss(self, loss: Loss) -> None:
            self.cwnd = max(loss.in_flight // 2, 2 * self.mss)

        def on_timeout(self, loss: Loss) -> None:
            self.cwnd = self.mss

See docs/notebook-scheme.md.
"""

from abc import abstractmethod
from typing import ClassVar, Protocol

from priolane._core import Ack, Flow, Host, Loss, Report, Request

__all__ = ["Ack", "Admission", "CongestionControl", "Flow", "Host", "Loss", "Report", "Request", "Rule"]


class CongestionControl(Protocol):
    """The congestion controller of one flow. A class with these members is one, whether it has this base or not.

    After each call, `cwnd` is read. A class with an attribute `rate` after `__init__`, in bit/s, is also paced by it.
    State is kept in `self`: a class that computes from other state is refused by the verification of its first run.
    """

    ecn: ClassVar[bool] = False
    """Whether packets are ECN-capable, so that ports mark them. Stated in the class as True or False."""
    cwnd: float
    """The congestion window in bytes, from 0; parts of a byte are dropped. With nothing in flight, one segment may be
    sent regardless."""

    @abstractmethod
    def __init__(self, flow: Flow) -> None:
        """Called when the flow starts; sets `cwnd`."""

    @abstractmethod
    def on_ack(self, ack: Ack) -> None:
        """Called for each ACK, duplicate or not."""

    @abstractmethod
    def on_loss(self, loss: Loss) -> None:
        """Called when a loss is inferred from ACKs, once per recovery. The transport retransmits by itself."""

    @abstractmethod
    def on_timeout(self, loss: Loss) -> None:
        """Called when the retransmission timer expires; `loss.again` if it did before for the same data."""

    def rank(self, offset: int, una: int) -> int:
        """The rank of the data packet that begins at byte `offset`: ports of the kind `ranked` serve lower ranks first.
        `una` is the first byte that is not acknowledged. By default, the rank is the bytes from `offset` to the end of
        the flow."""

    def on_recovered(self, in_flight: int) -> None:
        """Called when fast recovery without selective ACKs (`recovery = "newreno"`) ends with `in_flight` bytes
        outstanding. Does nothing by default."""


class Rule(Protocol):
    """A rule that assigns a priority to each flow when it starts.

    It is called for all flows of a run before the run begins, and once more with a new object: a rule whose answers
    differ is refused.
    """

    @abstractmethod
    def priority(self, flow: Request, u: float) -> int:
        """The priority of `flow`, 0 first and below the key `levels`. `u` is drawn for the flow, uniform in [0, 1)."""


class Admission(Protocol):
    """The admission policy of one host. State is kept in `self`."""

    @abstractmethod
    def __init__(self, host: Host) -> None:
        """Called before the first flow of the host."""

    @abstractmethod
    def open(self, flow: Request, u: float) -> int:
        """The priority that `flow`, which requests `flow.priority` now, gets: 0 first and below `host.levels`. `u` is
        drawn for the flow, uniform in [0, 1)."""

    @abstractmethod
    def on_completed(self, report: Report) -> None:
        """Called when the sender of a flow knows that it is delivered."""

    def on_report(self, report: Report) -> int | None:
        """Called at the end of each monitor interval (the key `mi`) of a flow that runs. Returns another priority for
        the flow, or `None` to leave it. Leaves it by default."""

    def on_aborted(self, flow: int) -> None:
        """Called when the flow of this number is aborted or waits to ask again. Does nothing by default."""
