"""TCP Vegas (SIGCOMM 1994), equal to the bit to the crate in examples/own-scheme."""


class Vegas:
    alpha, beta, gamma = 1.0, 3.0, 1.0  # packets that a flow keeps in queues: keys of the transport

    def __init__(self, flow):
        self.mss, self.cwnd = flow.mss, max(flow.first_window, 2 * flow.mss)
        self.slow, self.grows, self.base, self.least, self.end = True, True, None, None, 0

    def on_ack(self, ack):
        if ack.rtt_ps is not None:
            self.base = min(self.base or ack.rtt_ps, ack.rtt_ps)
            self.least = min(self.least or ack.rtt_ps, ack.rtt_ps)
        if self.slow and self.grows:
            self.cwnd += min(ack.acked, self.mss)
        if ack.una >= self.end:
            self.end, least, self.least = ack.next, self.least, None
            if least is not None:
                self.after_round_trip(least)

    def after_round_trip(self, rtt):
        queued_bytes = float(self.cwnd) * (rtt - self.base) / rtt
        queued = queued_bytes / self.mss
        if self.slow and queued > self.gamma:
            self.cwnd -= int(queued_bytes)
            self.slow = False
        elif self.slow:
            self.grows = not self.grows
        elif queued < self.alpha:
            self.cwnd += self.mss
        elif queued > self.beta:
            self.cwnd -= self.mss
        self.cwnd = max(self.cwnd, 2 * self.mss)

    def on_loss(self, loss):
        self.slow = False
        self.cwnd = max(self.cwnd * 3 // 4, 2 * self.mss)

    def on_timeout(self, loss):
        if not loss.again:
            self.slow = self.grows = True
        self.cwnd = 2 * self.mss
