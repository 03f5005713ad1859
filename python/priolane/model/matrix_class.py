"""The classes of the parts `python` in the matrix of parts, which asks about schemes and runs none."""

from priolane.scheme import Ack, Admission, CongestionControl, Flow, Host, Loss, Report, Request, Rule


class Constant(CongestionControl):
    """A window that stays as it began."""

    def __init__(self, flow: Flow) -> None:
        """Takes the initial window."""
        self.cwnd = flow.first_window

    def on_ack(self, ack: Ack) -> None:
        """Does nothing."""

    def on_loss(self, loss: Loss) -> None:
        """Does nothing."""

    def on_timeout(self, loss: Loss) -> None:
        """Does nothing."""


class Level(Rule):
    """The priority that the flow requests."""

    def priority(self, flow: Request, u: float) -> int:
        """Returns it."""
        return flow.priority


class Admitted(Admission):
    """Every flow gets the priority that it requests."""

    def __init__(self, host: Host) -> None:
        """Keeps nothing."""

    def open(self, flow: Request, u: float) -> int:
        """Returns it."""
        return flow.priority

    def on_completed(self, report: Report) -> None:
        """Does nothing."""
