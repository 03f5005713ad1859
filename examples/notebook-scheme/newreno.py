"""TCP NewReno (RFC 5681, RFC 6582), equal to the bit to `transport = { kind = "newreno" }`."""


class NewReno:
    def __init__(self, flow):
        self.mss, self.cwnd, self.ssthresh, self.credit = flow.mss, flow.first_window, 2**64 - 1, 0

    def on_ack(self, ack):
        if ack.acked == 0 or not ack.may_grow:
            return
        acked = ack.acked
        if self.cwnd < self.ssthresh:
            acked = min(acked, self.mss)
            grown = min(acked, self.ssthresh - self.cwnd)
            self.cwnd += grown
            acked -= grown
        self.credit += acked
        while self.credit >= self.cwnd:
            self.credit -= self.cwnd
            self.cwnd += self.mss

    def on_loss(self, loss):
        self.ssthresh = self.cwnd = max(loss.in_flight // 2, 2 * self.mss)
        self.credit = 0

    def on_timeout(self, loss):
        if not loss.again:
            self.ssthresh = max(loss.in_flight // 2, 2 * self.mss)
        self.cwnd, self.credit = self.mss, 0

    def on_recovered(self, in_flight):
        self.cwnd = max(min(self.ssthresh, max(in_flight, self.mss) + self.mss), self.mss)
