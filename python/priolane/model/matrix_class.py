"""The class of the transport `python` in the matrix of parts, which asks about schemes and runs none."""

from priolane.scheme import Ack, CongestionControl, Flow, Loss


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
