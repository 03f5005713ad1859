"""Aequitas (SIGCOMM 2022, Algorithm 1). Flows get the same classes as with `admit = { kind = "aequitas" }`."""


class Aequitas:
    alpha, beta, floor = 0.01, 0.01, 0.1
    targets_ps, windows_ps = (15_000_000, 25_000_000), (15_000_000_000, 25_000_000_000)  # at the 99.9th percentile

    def __init__(self, host):
        self.mtu, self.lowest = host.mtu, host.levels - 1
        self.p, self.raised, self.flows = {}, {}, {}

    def open(self, flow, u):
        wanted_level = min(flow.priority, self.lowest)
        granted = wanted_level
        if wanted_level != self.lowest and u > self.p.get((flow.dst, wanted_level), 1.0):
            granted = self.lowest
        self.flows[flow.id] = flow.dst, granted
        return granted

    def on_completed(self, report):
        key = self.flows.pop(report.id)
        if key[1] == self.lowest:
            return
        mtus = max(1, -(-report.acked // self.mtu))
        p = self.p.get(key, 1.0)
        if report.elapsed_ps >= self.targets_ps[key[1]] * mtus:
            p = max(p - min(self.beta * mtus, 1.0), self.floor)
        elif report.now_ps - self.raised.get(key, 0) > self.windows_ps[key[1]]:
            p, self.raised[key] = min(p + self.alpha, 1.0), report.now_ps
        self.p[key] = p

    def on_aborted(self, flow):
        self.flows.pop(flow, None)
