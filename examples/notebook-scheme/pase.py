"""PASE's mapping (Firapam, Table I). Flows get the same classes as with `admit = { kind = "pase" }`."""


class Pase:
    def __init__(self, host):
        self.capacity, self.lowest = host.rate, host.levels - 1
        self.flows, self.given = {}, {}

    def map(self, flow):
        own = (*self.flows[flow][:3], flow)
        ahead = sum(demand for other, (*rank, demand) in self.flows.items() if (*rank, other) < own)
        return 0 if ahead <= self.capacity else self.lowest

    def open(self, flow, u):
        demand = self.capacity
        if flow.size is not None and flow.deadline_ps is not None and flow.deadline_ps > flow.start_ps:
            demand = min(demand, -(-flow.size * 8 * 10**12 // (flow.deadline_ps - flow.start_ps)))
        deadline = 2**64 if flow.deadline_ps is None else flow.deadline_ps
        left = 2**64 if flow.size is None else flow.size
        self.flows[flow.id] = min(flow.priority, self.lowest), deadline, left, demand
        self.given[flow.id] = self.map(flow.id)
        return self.given[flow.id]

    def on_report(self, report):
        rank, deadline, _, demand = self.flows[report.id]
        self.flows[report.id] = rank, deadline, report.remaining, demand
        level, self.given[report.id] = self.given[report.id], self.map(report.id)
        return None if self.given[report.id] == level else self.given[report.id]

    def on_completed(self, report):
        self.on_aborted(report.id)

    def on_aborted(self, flow):
        self.flows.pop(flow, None)
