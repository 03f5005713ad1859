"""The types of a congestion controller in Python: `transport = { kind = "python", class = ... }`.

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

from priolane._core import Ack, Flow, Loss

__all__ = ["Ack", "CongestionControl", "Flow", "Loss"]


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

    def on_recovered(self, in_flight: int) -> None:
        """Called when fast recovery without selective ACKs (`recovery = "newreno"`) ends with `in_flight` bytes
        outstanding. Does nothing by default."""
