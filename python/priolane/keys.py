"""The keys of an experiment as types, for editors, type checkers and annotations:

    import priolane
    from priolane.keys import Group

    mice: Group = {"name": "mice", "hosts": "*", "app": "poisson", "load": {"of": "host", "value": 0.2}}

Times, rates and sizes are texts with a unit. `priolane keys` explains each key. tools/typed_keys.py writes this module.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict


Admit = TypedDict(
    "Admit",
    {
        # Step size: 0.05, literal 25 (Firapam §V).
        "a": float | str | Path,
        # Increase of the probability per window without a miss (Aequitas §6.1).
        "alpha": float | str | Path,
        # Weight of slack, for Gbit/s and seconds.
        "b": float | str | Path,
        # Minimum probability.
        "b_low": float | str | Path,
        # Maximum probability; at 2 no flow would keep its class.
        "b_up": float | str | Path,
        # Decrease of the probability per MTU of a flow that misses (Aequitas §6.1).
        "beta": float | str | Path,
        # Weight of loss.
        "c": float | str | Path,
        # The file and the class: `mine:Mine` is the class `Mine` in `mine.py`, beside the experiment.
        "class": str | type[Any],
        # The sample before the first of a destination and class: zero (no utility at no rate), or none, so that the
        # first sample changes nothing; literal only (Firapam Algorithm 1, which starts p alone).
        "first": Literal["zero", "none"],
        # Minimum probability. The paper states none; the default is that of the authors' simulator.
        "floor": float | str | Path,
        # Values for attributes of the class, by name.
        "keys": Mapping[str, Any],
        "kind": Literal["aequitas", "pase", "firapam", "none", "python"],
        # Number of classes (Firapam §II-A).
        "levels": int,
        # Monitor interval: rpc (a whole flow), rtt (the round trip of a small packet across the network), or a time of
        # at least 100 ns (Firapam §V-A).
        "mi": str | Path,
        # Method for the gradient: literal (Algorithm 1) or analytic (derivative, bounded steps).
        "mode": Literal["analytic", "literal"],
        # Maximum decrease per miss, whatever the size of the flow.
        "most": float | str | Path,
        # Unit of targets: each mtu of a flow, or an rpc (Aequitas §5.1).
        "per": Literal["mtu", "rpc"],
        # Percentage of flows that shall meet the target; determines the window (Aequitas §5.1).
        "percentile": float | str | Path,
        # At_issue: a flow keeps its class; per_mi: running flows are remapped.
        "remap": Literal["at_issue", "per_mi"],
        # Maximum change of a probability per update; analytic only.
        "step": float | str | Path,
        # Exponent of the utility (Firapam §V).
        "t": float | str | Path,
        # Target of each class except the lowest, class 0 first (Aequitas §5.1).
        "targets": Sequence[str],
        # Event that starts a window, besides an increase.
        "update": Literal["prose", "simulator", "literal"],
        # Time between increases, instead of percentile (Aequitas §5.1).
        "window": str,
    },
    total=False,
)

class Controller(TypedDict, total=False):
    bounds: Sequence[str]
    """The smallest and the largest threshold."""
    delay: str
    """One-way delay of a message between host and controller, at least the engine's lookahead window."""
    load: float | str | Path
    """Load that solvers assume; by default that of the traffic, computed when the experiment is planned."""
    max_age: int
    """Periods after which a report expires."""
    min_samples: int
    """Minimum number of flows for new thresholds: of one host for its own, of all hosts for those of switches."""
    period: str
    """Time between two reports of a host (NOS2 (GLOBECOM 2019) §IV)."""
    report_jitter: str
    """Maximum extra delay of a report, uniformly distributed."""
    report_loss: float | str | Path
    """Probability that a report is lost."""
    window: int
    """Number of flows in a host's estimate."""

Tail = TypedDict(
    "Tail",
    {
        # The quantile.
        "from": float | str | Path,
        # The largest observed size.
        "max": str,
        # The factor; below 1 the tail is underestimated.
        "times": float | str | Path,
    },
    total=False,
)

Thresholds = TypedDict(
    "Thresholds",
    {
        # Result of the solver; omitted in files.
        "bytes": Sequence[str],
        # Scope of the sizes and load: global, local or a group.
        "from": str | Path,
        # Solver for the sizes and loads for which `solver` has no thresholds; without one, these are an error.
        "otherwise": Literal["equal_split", "opt", "basin_hopping"],
        # The variant; its keys are in the same table.
        "solver": str | Path,
        # Tail that the solver assumes for these sizes, if it differs from the actual one.
        "tail": Any | Tail,
    },
    total=False,
)

Assign = TypedDict(
    "Assign",
    {
        # Beta: the added constant (Firapam Eqs. 6, 8).
        "base": float | str | Path,
        # Computed thresholds; omitted in files.
        "bytes": Sequence[str],
        # The file and the class: `mine:Mine` is the class `Mine` in `mine.py`, beside the experiment.
        "class": str | type[Any],
        # The class of each group, in the order of the file; groups beyond the list have its last class.
        "classes": Sequence[int],
        # How class and host-level thresholds adapt to the workload; without it they are fixed (NOS2 (GLOBECOM 2019)
        # §IV).
        "controller": Controller,
        # Definition of bytes sent (PIAS-NS2).
        "count": Literal["stream_offset", "bytes_sent"],
        # Largest factor of errors in the known sizes, up or down.
        "error": float | str | Path,
        # The exponent e (Firapam Eqs. 6, 8).
        "exponent": float | str | Path,
        # The class in which flows of each group begin, by its name; they are demoted from there at the same thresholds.
        # Groups without an entry begin in class 0.
        "first": Mapping[str, int],
        # Share of flows of each class, class 0 first, summing to 1 (Firapam §V, Table II).
        "fractions": Sequence[float | str | Path],
        # Scope of the sizes that thresholds are computed from: global, local or a group.
        "from": str | Path,
        # Values for attributes of the class, by name.
        "keys": Mapping[str, Any],
        "kind": Literal["size", "coflow_size", "flow_fraction", "equal_bytes", "random_fraction", "deadlines_first", "deadline", "deadline_rank", "demand_rate", "power_law", "paid_weight", "group", "none", "bytes_sent", "python"],
        # Number of classes (Firapam §II-A).
        "levels": int,
        # A measure of a flow.
        "of": Literal["size", "deadline"],
        # Alpha: sizes up to it get the highest class (Firapam Eq. 6).
        "offset": str,
        # 1 / gamma: the divisor of sizes.
        "scale": str,
        # Upper bound of the size of each class except the last (Firapam Table I).
        "thresholds": Sequence[str] | Thresholds,
        # Lower bound of the weight of each class except the last.
        "weights": Sequence[float | str | Path],
    },
    total=False,
)

class Host(TypedDict, total=False):
    kind: Literal["round_robin", "mlfq", "srpt", "las", "fifo", "own"]
    levels: int
    """Number of levels (NOS2 §III-A)."""
    thresholds: Sequence[str] | Thresholds
    """Thresholds in bytes, one fewer than levels, or { solver = SOLVER, from = global | local | GROUP } (priolane list
    solvers) (NOS2 §III-B, PIAS (NSDI 2015) §4)."""

Map = TypedDict(
    "Map",
    {
        "class": Literal["queue"] | Sequence[int],
    },
    total=False,
)

class Ecn(TypedDict, total=False):
    at: Mapping[str, str]
    """Marking threshold for each link rate (RFC 8257 §3.1)."""
    average: float | str | Path
    """Weight of an arriving packet in an exponentially weighted average of the backlog (w_q), by which packets are then
    marked, rounded to millionths. Without it, they are marked by the backlog itself (Floyd and Jacobson (1993) §4)."""
    full: Mapping[str, str]
    """Backlog above which every packet is marked (Kmax), for link rates of `at` (Kmin); other rates follow in
    proportion. Between both, packets are marked with a probability that grows from 0 to `p_max`. Without it, all
    packets above `at` are marked (DCQCN (SIGCOMM 2015) §3.1)."""
    p_max: float | str | Path
    """Probability of a mark at the backlog of `full` (Pmax), rounded to millionths (DCQCN (SIGCOMM 2015) §3.1)."""
    per: Literal["port", "queue"]
    """Backlog that the threshold applies to."""

NicMap = TypedDict(
    "NicMap",
    {
        # The queue of each class, class 0 first, or `"queue"` for class c to queue c.
        "class": Sequence[int],
    },
    total=False,
)

class Buffer(TypedDict, total=False):
    alpha: float | str | Path
    """Alpha: the limit of a queue as a multiple of the free bytes."""
    at: Mapping[str, str]
    """Capacity at specific link rates."""
    capacity: str
    """Capacity of the switch, the sum of the rates of its links, that the size is for; a larger switch has more, in
    proportion. Without it, all switches have the size."""
    dynamic: str
    """Size of the switch's buffer in bytes."""
    per_queue: str
    """Capacity of each queue, at link rates not listed in `at`."""
    push_out: str
    """Capacity of all queues together, at link rates not listed in `at`."""
    rate: str
    """The link rate that the capacity is for. Ports of faster links that `at` does not list hold more, in proportion to
    the next slower rate that is stated. Without it, they hold the same."""
    shared: str
    """Capacity of all queues together, at link rates not listed in `at`."""
    zero_loss: str
    """Additional bytes for signals."""

class Watchdog(TypedDict, total=False):
    action: Literal["drop", "forward"]
    """What happens to packets of the class in a storm: drop, or forward as if it were not paused."""
    after: str
    """Time for which a class has to be paused until its port is in a storm."""
    restore: str
    """Time for which the pause has to be absent until the storm ends."""

class Pfc(TypedDict, total=False):
    classes: Sequence[int]
    """The lossless classes, below 8; up to 15 with headroom = free, which no real switch supports (IEEE 802.1Q-2018
    clause 36)."""
    headroom: Literal["charged", "free"]
    """Where headroom is taken from."""
    headroom_least: str
    """Minimum headroom of a class at an ingress port, even if the link needs less."""
    headroom_round_trips: float | str | Path
    """The same as a multiple of 2 C d: what the link carries while a bit goes there and back."""
    watchdog: Watchdog
    """Watchdog of ports that stay paused, as in switches; without it, a cycle of pauses lasts."""
    xoff: float | str | Path
    """Threshold above which a class of an ingress port is paused."""
    xon_below: str
    """Bytes below that threshold at which it is resumed."""

class Port(TypedDict, total=False):
    buffer: Literal["unbounded"] | Buffer
    """Buffer: { shared = LIMIT } over all queues, { per_queue = LIMIT }, { push_out = LIMIT } over all queues of a
    strict port, where better packets push out worse ones, { dynamic = SIZE, alpha } shared by all ports of a switch, {
    zero_loss = SIZE } for the data requested by tokens plus SIZE for signals, or unbounded; at = { RATE = LIMIT } if it
    depends on the link rate. The packet in transmission is not counted (docs/assumptions.md#buffers,
    docs/assumptions.md#push-out, docs/assumptions.md#dynamic-thresholds)."""
    burst: int
    """Burst in tokens after a pause; with 1, the delay of a token behind a frame in transmission is not made up."""
    classes: int
    """K, the number of token classes, served in strict priority (TOP §3.1)."""
    clock: Literal["virtual", "aequitas_compat"]
    """The clock for the finish tags of packets."""
    data_queues: int
    """Number of data queues, in strict priority by rank: rank r uses the r-th queue, larger ranks the last. TOP rejects
    more than one (TOP §3.1)."""
    depth: int
    """Capacity per class in tokens; a token that finds the queue full is dropped (TOP §3.1)."""
    detour: Literal["off", "0ps"] | str
    """Delay of a token through an auxiliary switch, from the limiter to the single token queue of the link; tokens then
    do not expire here (TOP §4.2)."""
    ecn: Ecn
    """ECN: an arriving packet that makes the backlog exceed the threshold is marked (RFC 8257 §3.1)."""
    expiry: Literal["off", 0] | int
    """Slots of s + F bytes after which a queued token is discarded (TOP §3.1)."""
    headers: str
    """Capacity of the queue of headers and control packets."""
    k: float | str | Path
    """Fraction of the buffer up to which every packet is admitted, in thousandths (AIFO §6)."""
    kind: str | Path
    """The variant; its keys are in the same table."""
    mode: Literal["a", "b", "unlimited_data_high", "unlimited_data_low", "per_class_split", "ingress_blind"]
    """Service order and rate limits (TOP Fig. 3)."""
    order: Literal["class", "rank"]
    """The order in which tokens are served."""
    overflow: Literal["drop", "return"]
    """What happens to data whose header finds no room. A host's own queue always drops it: there is no earlier hop to
    return it from (NDP (SIGCOMM 2017) §3.2.4)."""
    pfc: Pfc
    """Classes that are paused upstream (PFC) and never dropped; requires buffer = { dynamic } (IEEE 802.1Q-2018 clause
    36; HPCC (SIGCOMM 2019) §5.1)."""
    queues: int
    """Number of queues, 1 to 16 (NOS2 §III-A)."""
    sample: int
    """Sampling interval: one of this many packets enters W."""
    strict: int
    """Number of strict queues, the first ones: the weighted queues share what they leave. 0 for weighted queues
    alone."""
    token: str
    """S, the mean token size on the wire: tokens get s / (s + F) of the link rate, F the largest packet (ExpressPass
    §3.1)."""
    weights: Sequence[int]
    """Weight of each queue that is not strict, the best first: integers above 0 with a least common multiple of at most
    2^40."""
    window: int
    """Number of ranks in the window W, from which quantiles are computed (AIFO §6)."""

class Nic(TypedDict, total=False):
    ecn: Literal[False] | Ecn
    """ECN marking thresholds of the transmit queue, or false."""
    limit: str
    """Capacity of the transmit queue."""
    map: NicMap
    """Queues of this port, if they differ from those of switches: { class = [queue of class 0, ...] }."""
    per_flow_limit: str
    """Limit of one flow's packets in the transmit queue; the transport holds back the rest (Linux's TCP small
    queues)."""
    port: Port
    """The port, of any kind except tokens. Only switches support buffer = { dynamic }, pfc and overflow = "return"."""
    queue: Literal["fifo", "host", "ports"]
    rate: str
    """The link rate that the capacity is for: the queue of a faster link holds more, in proportion. Without it, all
    hold the same."""

class SchemePort(TypedDict, total=False):
    buffer: Literal["unbounded"] | Buffer
    """Buffer: { shared = LIMIT } over all queues, { per_queue = LIMIT }, { push_out = LIMIT } over all queues of a
    strict port, where better packets push out worse ones, { dynamic = SIZE, alpha } shared by all ports of a switch, {
    zero_loss = SIZE } for the data requested by tokens plus SIZE for signals, or unbounded; at = { RATE = LIMIT } if it
    depends on the link rate. The packet in transmission is not counted (docs/assumptions.md#buffers,
    docs/assumptions.md#push-out, docs/assumptions.md#dynamic-thresholds)."""
    burst: int
    """Burst in tokens after a pause; with 1, the delay of a token behind a frame in transmission is not made up."""
    classes: int
    """K, the number of token classes, served in strict priority (TOP §3.1)."""
    clock: Literal["virtual", "aequitas_compat"]
    """The clock for the finish tags of packets."""
    data_queues: int
    """Number of data queues, in strict priority by rank: rank r uses the r-th queue, larger ranks the last. TOP rejects
    more than one (TOP §3.1)."""
    depth: int
    """Capacity per class in tokens; a token that finds the queue full is dropped (TOP §3.1)."""
    detour: Literal["off", "0ps"] | str
    """Delay of a token through an auxiliary switch, from the limiter to the single token queue of the link; tokens then
    do not expire here (TOP §4.2)."""
    ecn: Ecn
    """ECN: an arriving packet that makes the backlog exceed the threshold is marked (RFC 8257 §3.1)."""
    expiry: Literal["off", 0] | int
    """Slots of s + F bytes after which a queued token is discarded (TOP §3.1)."""
    headers: str
    """Capacity of the queue of headers and control packets."""
    k: float | str | Path
    """Fraction of the buffer up to which every packet is admitted, in thousandths (AIFO §6)."""
    kind: Literal["fifo", "strict", "wfq", "trimming", "tokens", "ranked", "pifo", "aifo", "pfabric", "sp_pifo"]
    mode: Literal["a", "b", "unlimited_data_high", "unlimited_data_low", "per_class_split", "ingress_blind"]
    """Service order and rate limits (TOP Fig. 3)."""
    order: Literal["class", "rank"]
    """The order in which tokens are served."""
    overflow: Literal["drop", "return"]
    """What happens to data whose header finds no room. A host's own queue always drops it: there is no earlier hop to
    return it from (NDP (SIGCOMM 2017) §3.2.4)."""
    pfc: Pfc
    """Classes that are paused upstream (PFC) and never dropped; requires buffer = { dynamic } (IEEE 802.1Q-2018 clause
    36; HPCC (SIGCOMM 2019) §5.1)."""
    queues: int
    """Number of queues, 1 to 16 (NOS2 §III-A)."""
    sample: int
    """Sampling interval: one of this many packets enters W."""
    strict: int
    """Number of strict queues, the first ones: the weighted queues share what they leave. 0 for weighted queues
    alone."""
    token: str
    """S, the mean token size on the wire: tokens get s / (s + F) of the link rate, F the largest packet (ExpressPass
    §3.1)."""
    weights: Sequence[int]
    """Weight of each queue that is not strict, the best first: integers above 0 with a least common multiple of at most
    2^40."""
    window: int
    """Number of ranks in the window W, from which quantiles are computed (AIFO §6)."""

Transport = TypedDict(
    "Transport",
    {
        # A of the logarithm.
        "a": float | str | Path,
        # How long a receiver may delay an ACK if `ack_every` is above 1 (RFC 9293 §3.8.6.3).
        "ack_delay": str,
        # ACK every n-th packet in order; 1 acknowledges each. A change of the CE mark is always acknowledged
        # immediately (RFC 8257 §3.2).
        "ack_every": int,
        # Whether a window that is not a whole number of packets also waits after the last ACK, in the released variant
        # (released code).
        "ack_pacing": bool,
        # R_AI, the step of additive increase (DCQCN (SIGCOMM 2015) §4.2).
        "additive": str,
        # Segments that arrive between two increases, at most T apart (uet-htsim initNsccParams).
        "adjust_every": int,
        # Additive increase per round trip below the target (Swift (SIGCOMM 2020) Alg. 1).
        "ai": str,
        # Segments by which the window may exceed the data in flight (RFC 6817 §2.5).
        "allowed_increase": float | str | Path,
        # Weight of the newest RTT difference.
        "alpha": float | str | Path,
        # The estimate of the marked fraction before the first window (RFC 8257 §3.3; paper presets state 0).
        "alpha_0": float | str | Path,
        # K, the time without a CNP after which alpha decays, and the time between decays (DCQCN (SIGCOMM 2015) §3.1).
        "alpha_timer": str,
        # B of the logarithm.
        "b": float | str | Path,
        # Length of each of the ten intervals of the base history; "path" uses the delay of the empty path instead (RFC
        # 6817 §3.4.1).
        "base_interval": str,
        # Tolerance above the empty path's delay within which the path counts as empty (released code).
        "base_tolerance": str,
        # Bandwidth-delay product in packets; auto for that of each flow's path. It sets the number of free tokens, the
        # number of tokens that may be unused, the limit of short flows, and the unit of `relax`.
        "bdp": Literal["auto", 0] | int,
        # Multiplicative decrease factor: the decrease is this times the relative excess delay.
        "beta": float | str | Path,
        # B, the bytes of payload sent between increases of the rate, at most one a packet; `"off"` for increases by
        # time alone (DCQCN (SIGCOMM 2015) §4.2).
        "byte_counter": Literal["off", "0B"] | str,
        # C, the steepness of the cubic function in segments per cubic second (RFC 9438 §5).
        "c": float | str | Path,
        # Whether there are channels; without them only the inner controller acts (PrioPlus §4.3).
        "channels": bool,
        # Whether each CNP sets R_T to R_C; otherwise the first CNP after an increase does (DCQCN (SIGCOMM 2015) Eq. 1).
        "clamp_target": bool,
        # The file and the class: `mine:Mine` is the class `Mine` in `mine.py`, beside the experiment.
        "class": str | type[Any],
        # Decrease of the target per class below the best; for controllers without channels (PrioPlus (EuroSys 2025)
        # Fig. 3 and 12, its baseline).
        "class_step": str,
        # K, the number of token classes (TOP §3.1).
        "classes": int,
        # Class of CNPs as packets of their own, at most one per `cnp_interval` and connection. Without it, marked ACKs
        # are CNPs (DCQCN (SIGCOMM 2015) §3.1).
        "cnp_class": int,
        # N, the least time between two CNPs of a flow (DCQCN (SIGCOMM 2015) §3.1).
        "cnp_interval": str,
        # Class of ACKs, handshake packets and replies to probes: a number, or `"flow"` for the class of the packet that
        # is answered.
        "control_class": Literal["flow"] | int,
        # Maximum message length of each unscheduled class but the last, in ascending order; by default chosen so that
        # each class carries the same number of unscheduled bytes (Homa (SIGCOMM 2018) §3.4).
        "cutoffs": Sequence[str],
        # Time to the deadline at their upper end.
        "deadline_max": str,
        # Time to the deadline at the lower end of the logarithmic classes.
        "deadline_min": str,
        # Window decrease in segments per round trip when queueing is twice the target; may exceed `gain` (RFC 6817
        # §2.4.2).
        "decrease_gain": float | str | Path,
        # The delay that the controller uses (Swift (SIGCOMM 2020) §3.2).
        "delay": Literal["rtt", "one_way"],
        # Weight of a sample in the average delay (uet-htsim initNsccParams).
        "delay_alpha": float | str | Path,
        # Maximum delay that all channels together may add (PrioPlus §4.3.2).
        "delay_budget": Literal["off", "0ps"] | str,
        # Additive increase step (TIMELY (SIGCOMM 2015) §4.3).
        "delta": str,
        # The divisor of what an ACK adds to the window.
        "divisor": Literal["window", "window_and_packet"],
        # Duplicate ACKs, or segments selectively acknowledged above a hole, that indicate loss (RFC 5681 §3.2).
        "dup_threshold": int,
        # Whether ACKs and handshake packets of an ECN transport are ECN-capable (RFC 3168 §6.1.4; true as ns-3's DCTCP
        # mode).
        "ecn_control": bool,
        # Target for the delay in hosts; off to use the fabric delay only (Swift (SIGCOMM 2020) §3.2).
        "endpoint_target": Literal["off", "0ps"] | str,
        # Target utilization (HPCC (SIGCOMM 2019) §5.1).
        "eta": float | str | Path,
        # Decrease of the target utilization per class below the best; no class has a target below 0.05 (PrioPlus
        # (EuroSys 2025) §6.2, its baseline: 0.88 to 0.95).
        "eta_step": float | str | Path,
        # Whether congestion avoidance uses Eq. 11 instead of Eq. 14, its approximation for large windows (PACCP §III,
        # Eq. 11).
        "exact_cap": bool,
        # Number of samples at or above D_limit that make a flow yield (PrioPlus §4.3.2).
        "exceed_limit": int,
        # Lifetime of a token, in packet times, rounded to thousandths (pHost (CoNEXT 2015) §3.1).
        "expiry": Literal["switch", "end_host"] | float | str | Path,
        # Queueing delay below which a whole window begins fast increase (uet-htsim fast_increase).
        "fast_below": str,
        # Whether a flow that loses packets below its former maximum aims below its window (fast convergence) (RFC 9438
        # §4.7).
        "fast_convergence": bool,
        # The rule by which a flow's rate follows the loss of its tokens (ExpressPass §3.2).
        "feedback": Literal["paper", "ns2"],
        # Segments that a round trip of unmarked ACKs above the target adds in the reference network (uet-htsim
        # initNsccParams).
        "fi": float | str | Path,
        # Bytes that fast increase adds per byte that arrived in the reference network (uet-htsim initNsccParams).
        "fi_scale": float | str | Path,
        # Initial window of a flow; at least one packet is sent (pHost (CoNEXT 2015) §4.1).
        "first_window": str,
        # A: the delay variation that the controller causes, above 0 (PrioPlus §4.3.2, App. D).
        "fluctuation": str,
        # Which flows get free tokens (pHost (CoNEXT 2015) §4.1).
        "free": Literal["every", "short_only"],
        # Whose size distribution the cut-offs are computed from: global, local or a group.
        "from": str | Path,
        # Window above which flow scaling adds nothing; above `fs_min` (Swift (SIGCOMM 2020) Fig. 5).
        "fs_max": str,
        # Window at which flow scaling adds the whole `fs_range` (Swift (SIGCOMM 2020) Fig. 5).
        "fs_min": str,
        # Maximum that flow scaling adds to the target; off for no flow scaling (Swift (SIGCOMM 2020) §3.5, Fig. 5).
        "fs_range": Literal["off", "0ps"] | str,
        # Weight of a new sample in the estimate of the marked fraction (RFC 8257 §4.2).
        "g": float | str | Path,
        # Window increase in segments per round trip without queueing (RFC 6817 §2.5).
        "gain": float | str | Path,
        # Part of the excess over the target, relative to the average delay, by which a marked ACK reduces the window
        # (uet-htsim initNsccParams).
        "gamma": float | str | Path,
        # The handshake before the first data packet (RFC 9293 §3.5).
        "handshake": Literal["none", "1rtt", "reuse"],
        # Increase of the target per link of the path (Swift (SIGCOMM 2020) §3.5).
        "hop": str,
        # R_HAI, the step of hyper increase.
        "hyper": str,
        # Whether the first slow start is that of HyStart++ (RFC 9438 §4.10).
        "hystart": bool,
        # MIN_RTT_DIVISOR: between these bounds, the rise is this part of the last round's round-trip time (RFC 9406
        # §4.3).
        "hystart_divisor": int,
        # L, the most segments that one ACK adds to the window (RFC 9406 §4.3).
        "hystart_limit": int,
        # MAX_RTT_THRESH, the largest rise that it takes (RFC 9406 §4.3).
        "hystart_max_rise": str,
        # MIN_RTT_THRESH, the least rise of the round-trip time that ends the standard phase (RFC 9406 §4.3).
        "hystart_min_rise": str,
        # CSS_ROUNDS, the rounds of the conservative phase (RFC 9406 §4.3).
        "hystart_rounds": int,
        # N_RTT_SAMPLE, the samples of a round after which it is judged (RFC 9406 §4.3).
        "hystart_samples": int,
        # CSS_GROWTH_DIVISOR, the divisor of growth in the conservative phase (RFC 9406 §4.3).
        "hystart_slowing": int,
        # In which round trips adaptive increase acts (PrioPlus §4.3.1).
        "increase": Literal["dual_rtt", "every_rtt"],
        # Initial window of a flow, at least one packet (RFC 6928 §2).
        "init_window": str,
        # Timeout before the first round-trip sample (RFC 6298 §2.1 has 1 s).
        "initial_rto": str,
        # J: gaps between tokens vary uniformly by up to this fraction in both directions.
        "jitter": float | str | Path,
        # Whether a loss leaves at least the window of the minimum rate, or all if the window is smaller.
        "keep_minimum": bool,
        # Values for attributes of the class, by name.
        "keys": Mapping[str, Any],
        "kind": Literal["newreno", "dctcp", "paccp", "paccp_dctcp", "d2tcp", "swift", "ledbat", "hpcc", "pfabric", "prioplus_swift", "prioplus_ledbat", "timely", "cubic", "dcqcn", "nscc", "python", "phost", "ndp", "homa", "expresspass", "top"],
        # The urgency d of a flow whose deadline has passed.
        "late": float | str | Path,
        # T = d + |P| th (+ D), from when a token leaves its NIC (TOP §4.2).
        "lifetime": str,
        # W_max, the first window and its ceiling, in bandwidth-delay products of the base round trip (uet-htsim
        # initNscc).
        "max_bdp": float | str | Path,
        # Ceiling of the window.
        "max_cwnd": str,
        # Maximum decrease, as a fraction of the window.
        "max_mdf": float | str | Path,
        # Ceiling of the backed-off timeout (RFC 6298 §2.5 allows a ceiling).
        "max_rto": str,
        # Additive increases in a row before a multiplicative adjustment (HPCC (SIGCOMM 2019) §5.1).
        "max_stage": int,
        # Maximum bytes in flight, in addition to the congestion window; the receiver's window (RFC 9293 §3.8.6).
        "max_window": Literal["unbounded"] | str,
        # M of a light tail: the size over which the exponential falls by a factor of e.
        "mean": float | str | Path,
        # Floor of the window (Swift (SIGCOMM 2020) §3.4).
        "min_cwnd": str,
        # Least part of the window that a marked ACK leaves (uet-htsim multiplicative_decrease).
        "min_factor": float | str | Path,
        # Floor of the rate.
        "min_rate": str,
        # Floor of the retransmission timeout.
        "min_rto": str,
        # The minimum RTT that gradients are normalized by; without it, or with "0ps", the round-trip time of the flow's
        # empty path (TIMELY (SIGCOMM 2015) §4.3).
        "min_rtt": Literal["auto", "0ps"] | str,
        # Floor of the window after a reduction (Linux).
        "min_window": int | float | str | Path,
        # Number of best classes that start at line rate and never yield; at most `priorities` (released code).
        "never_yield": int,
        # B: the error of delay measurements at hosts (PrioPlus §4.3.2).
        "noise": str,
        # Number of messages granted concurrently (Homa (SIGCOMM 2018) §3.5).
        "overcommit": int,
        # P of floor(K log_p(a x + b)): the largest flow (TOP §3.2).
        "p": float | str | Path,
        # How packets are routed (TOP §3.3).
        "paths": Literal["symmetric", "spray", "round_robin", "drill"],
        # Source of the default values.
        "preset": Literal["paper", "prioplus_baseline", "lite", "paper", "connectx", "hpcc"],
        # Number of channels; class 0 has the highest (PrioPlus §4.3.2).
        "priorities": int,
        # The property by which receivers rank flows (TOP §3.2).
        "priority": Literal["single", "asked", "size", "attained", "deadline", "exact_remaining", "exact_size", "exact_deadline", "exact_coflow"],
        # Timeouts in a row after which the flow only probes.
        "probe_after": int,
        # When a yielding flow probes (PrioPlus §4.2).
        "probes": Literal["apart", "each_rtt"],
        # The order in which a receiver pulls flows (NDP (SIGCOMM 2017) §3.2).
        "pull": Literal["fair", "by_class"],
        # Pull rate as a fraction of the link rate, rounded to millionths; csg-htsim: 0.99 (NDP (SIGCOMM 2017) §3.2).
        "pull_rate": float | str | Path,
        # The window adapts quickly if fewer than W_max / 2^qa_gate bytes arrived in a base round trip and a target
        # (uet-htsim initNsccParams).
        "qa_gate": int,
        # Delay above which the window adapts quickly, in targets (uet-htsim initNsccParams).
        "qa_threshold": float | str | Path,
        # Growth factor of a window below that of its minimum rate (PACCP §III, Eq. 8).
        "r_cos": float | str | Path,
        # Which packets carry these ranks if they are classes (TOP §3.1).
        "ranks": Literal["tokens", "data"],
        # T, the time between increases of the rate (DCQCN (SIGCOMM 2015) §4.2).
        "rate_timer": str,
        # How losses are detected and repaired (RFC 2018, RFC 6675, RFC 6582).
        "recovery": Literal["sack", "newreno", "gbn", "trims", "selective", "gbn"],
        # F, the stages of fast recovery (DCQCN (SIGCOMM 2015) §3.1).
        "recovery_stages": int,
        # How a reduction for marks takes effect (RFC 8257 §3.3, RFC 6937 §3).
        "reduction": Literal["at_once", "proportional", "ns3"],
        # How long a flow that left its tokens unused gets none, in multiples of BDP packet times, rounded to
        # thousandths (pHost (CoNEXT 2015) §4.1).
        "relax": float | str | Path,
        # Whether lost data is retransmitted; false for UDP-like traffic, not with recovery = gbn (PACCP §III).
        "reliable": bool,
        # Number of later packets that must arrive before a missing packet counts as lost.
        "reordering": int,
        # Time after which a receiver requests missing data again (Linux: 5 ms).
        "resend": str,
        # Time without packets from the receiver after which a sender repeats its request.
        "retry": str,
        # Timeouts in a row after which the window is set to the floor.
        "retx_reset": int,
        # Time without a reply after which a packet is retransmitted (NDP (SIGCOMM 2017) §3.2).
        "rto": str,
        # The round-trip time used to convert a minimum rate into a window (PACCP §III, Eq. 12).
        "rtt": Literal["smoothed", "base", "auto", "path"] | str,
        # Payload bytes that a message may have sent or been granted beyond what has arrived, rounded up to full
        # packets; auto for the bandwidth-delay product of its path. At most 65,535 packets (Homa (SIGCOMM 2018) §3.3).
        "rtt_bytes": Literal["auto", "0B"] | str,
        # Number of classes for granted packets, after the unscheduled ones.
        "scheduled_classes": int,
        # Initial window of a flow.
        "start": Literal["init_window", "line_rate"],
        # W_AI, the additive increase (HPCC (SIGCOMM 2019) §3.3, §5.1).
        "step": str,
        # Who ends the tokens of a flow.
        "stop": Literal["sender", "complete", "token_need_cap"],
        # Round-trip time above which the rate decreases regardless of the gradient (TIMELY (SIGCOMM 2015) §4.4).
        "t_high": str,
        # Round-trip time below which the rate increases regardless of the gradient (TIMELY (SIGCOMM 2015) §4.4).
        "t_low": str,
        # Model of the distribution of flow sizes (TOP §3.2).
        "tail": Literal["heavy", "light"],
        # Base target, without the parts for hops and small windows (Swift (SIGCOMM 2020) §3.5).
        "target": Literal["auto", "0ps"] | float | str | Path,
        # What the target is relative to.
        "target_from": Literal["total", "base"],
        # Thresholds between classes, in place of p, tail, mean, a and b (TOP §3.2).
        "thresholds": Sequence[int],
        # Maximum size of a token on the wire; the mean of minimum and maximum is the port's s (ExpressPass §3.1).
        "token_max": str,
        # Minimum size of a token on the wire (ExpressPass (SIGCOMM 2017) §3.1).
        "token_min": str,
        # Number of classes for unscheduled packets, from class 0 on.
        "unscheduled_classes": int,
        # M: flows of at most this many packets are sent immediately, through a one-packet queue served last (TOP §3.3).
        "unscheduled_packets": int,
        # Whether to follow the paper or the released code.
        "variant": Literal["paper", "released"],
        # Initial value of w.
        "w_init": float | str | Path,
        # W_LS of the best quarter of classes: the linear-start increase per round trip (PrioPlus §4.4).
        "w_ls_high": float | str | Path,
        # W_LS of the other classes (PrioPlus §4.4).
        "w_ls_low": float | str | Path,
        # W_LS of the classes below those, up to five eighths of all classes (PrioPlus §4.4).
        "w_ls_medium": float | str | Path,
        # Whether windows are whole numbers of bytes: what an ACK adds or leaves is rounded down.
        "whole_bytes": bool,
        # Whether windows are rounded down to whole packets, at least one.
        "whole_packets": bool,
        # Initial window in packets; auto for the bandwidth-delay product of the path. (The paper: 30 packets of 9 kB.)
        # (TOP §4; NDP (SIGCOMM 2017) §6 has 30).
        "window": Literal["auto", 0] | int,
    },
    total=False,
)

class Scheme(TypedDict, total=False):
    admit: Admit
    assign: Assign
    assumptions: Sequence[str]
    """Assumptions where the paper is silent: anchors of docs/assumptions.md."""
    base: str | Path
    """A shipped scheme, or the path of a scheme file."""
    host: Host
    map: Map
    """The queue of a port for each class."""
    nic: Literal["pull", "tokens"] | Nic
    paper: str | Path
    """The paper that the scheme implements."""
    pay: Literal["honoured", "ignored"]
    """Whether the scheme uses the weights and minimum rates that flows pay for; "honoured" by default."""
    port: SchemePort
    transport: Transport

class Agree(TypedDict, total=False):
    of: str | Path
    """The metric, at the claim's point."""
    values: Sequence[float | str | Path]
    """Reference values of seeds 1, 2, ... in the unit of the metric, each above zero."""
    within: float | str | Path
    """Relative tolerance."""

class Of(TypedDict, total=False):
    at: Mapping[str, Any]
    """Other values of swept keys than those of the claim's point; empty for the point itself."""
    metric: str | Path
    """The metric."""

class Bound(TypedDict, total=False):
    above: float | str | Path
    """Exclusive lower bound."""
    below: float | str | Path
    """Exclusive upper bound."""
    of: str | Path | Of
    """The metric, or the numerator."""
    over: str | Path | Of
    """The denominator."""

class Cause(TypedDict, total=False):
    evidence: str | Path
    """A sentence."""
    kind: Literal["paper", "unstated", "ours", "release", "finding"]
    """The part that decides the verdict."""
    proof: str | Path
    """A test, as `FILE::NAME`, or a metric that a panel of the figure draws as a bound."""
    reading: str | Path
    """The reading of the paper under which the claim is reproduced."""

class Equal(TypedDict, total=False):
    of: Sequence[str | Path | Of]
    """The metrics, at least two."""
    within: float | str | Path
    """Relative tolerance."""

class Ratio(TypedDict, total=False):
    of: str | Path | Of
    """The metric, or the numerator."""
    over: str | Path | Of
    """The denominator."""
    paper: float | str | Path
    """The number in the paper."""
    within: float | str | Path
    """Relative tolerance."""

class Trend(TypedDict, total=False):
    along: str | Path
    """The swept key."""
    goes: Literal["up", "down"]
    """Direction of the trend."""
    of: str | Path
    """The metric, at the points along the key."""

class Claim(TypedDict, total=False):
    agree: Agree
    """A metric agrees with reference values seed by seed, within a relative tolerance."""
    at: Mapping[str, Any]
    """Sweep points to which it is restricted: swept key and value."""
    bound: Bound
    """A metric (or the ratio of two) is above or below a bound, or between two bounds."""
    cause: Cause
    """The cause of its verdict; none by default."""
    equal: Sequence[str | Path | Of] | Equal
    """The metrics agree within a relative tolerance: a table, or a list of metrics."""
    fitted: str | Path
    """The parameter that was fitted to its number; none by default. Such a claim is not counted as reproduced."""
    lead: bool
    """Whether it is the claim that the figure is about: reports begin with it. At most one claim leads; by default it
    is the first one."""
    most: bool
    """Whether it must hold at more than half of its sweep points, as "in most cases" says, instead of at all of them.
    It needs a swept key that neither `at` nor `trend` sets."""
    order: Sequence[str | Path | Of]
    """The metrics are in decreasing order: at least two."""
    ratio: Ratio
    """A metric (or the ratio of two) equals the number in the paper, within a relative tolerance."""
    says: str | Path
    """The statement, in our words."""
    section: str | Path
    """Place of the statement in the paper, or a label of one's own; none by default."""
    source: Literal["paper", "ours"]
    """Source of the statement; claims of the two sources are counted separately."""
    trend: Trend
    """A metric increases or decreases along a swept key."""
    within: float | str | Path
    """The relative tolerance of a list of metrics in `equal`."""

class Pay(TypedDict, total=False):
    cos: Literal["BE", "DS", "MRG"]
    """The class of service: a check of `theta` and `w`, which decide it (PACCP §III)."""
    theta: str
    """The minimum rate that is paid for (PACCP §III)."""
    w: float | str | Path
    """The weight that is paid for, from 0.001 to 1000 (PACCP §III)."""

Control = TypedDict(
    "Control",
    {
        # True: the flow stops and never completes.
        "abort": bool,
        # Time at which it reaches the flows' senders.
        "at": str,
        # New class of the flow.
        "class": int,
        # The flow that changes, by its index in the flow list, from 0.
        "flow": int,
        # The group of which every flow changes.
        "group": str | Path,
        # New pair that the flow pays for; an empty table is best effort.
        "pay": Pay,
    },
    total=False,
)

class DelayNoise(TypedDict, total=False):
    scale: float | str | Path
    """Factor on the delays of the trace."""
    trace: str | Path
    """The shipped trace `host`, or the path of a CSV file with the columns ns and cdf."""

class Event(TypedDict, total=False):
    at: str
    """Time of the event, before the end of the run."""
    fail: str | Path
    """The element that fails: `link:leaf0-spine1` or `switch:spine1`."""
    reconvergence: str
    """Delay from failure or repair until switches have updated their routes."""
    set: Mapping[str, Any]
    """New values of `group.NAME.load.value` and `group.NAME.sizes`, of groups with the app poisson or on_off."""
    until: str
    """Time of the repair."""

class Frame(TypedDict, total=False):
    ack: str
    """ACKs and other control packets of the network layer."""
    gap: str
    """Preamble and gap between frames."""
    header: str
    """Headers of the network and transport layers in each data packet."""
    link: str
    """Header and checksum of the link layer."""
    minimum: str
    """Smallest frame of the link layer; shorter packets are padded."""
    mtu: str
    """Largest packet of the network layer, headers included."""
    syn: str
    """Packets that open a connection."""

class Activations(TypedDict, total=False):
    like: str | Path
    """The group whose value is copied."""
    part: float

Active = TypedDict(
    "Active",
    {
        # Start.
        "from": str,
        # The group whose value is copied.
        "like": str | Path,
        "part": float,
        # End: no flow starts at or after this time.
        "until": str,
    },
    total=False,
)

class Deadline(TypedDict, total=False):
    over: float | str | Path
    """Overload factor; above 0."""
    r_base: float | str | Path
    """Deadline at which all flows fit, in units of R_base; above 0."""
    share: float | str | Path
    """Fraction of the flows, above 0; all fractions sum to 1."""
    within: str
    """Deadline of the part; a part with neither `within` nor `r_base` has none."""

class GroupDeadline(TypedDict, total=False):
    at_least: str
    """Minimum deadline."""
    at_least_alone: float | str | Path
    """The least deadline of a flow as a multiple of its completion time in an idle network; 0 for none."""
    like: str | Path
    """The group whose value is copied."""
    mean: str
    """Mean of the exponential distribution of deadlines; in place of `rate`."""
    part: float
    rate: str
    """The rate, of payload, at which a flow meets its deadline; in place of `mean`."""
    split: Literal["none", "active"]
    """The way in which the rate is shared."""

RangeOfSizes = TypedDict(
    "RangeOfSizes",
    {
        # Minimum mean flow size.
        "from": str,
        # The group whose value is copied.
        "like": str | Path,
        "part": float,
        # Maximum mean flow size.
        "to": str,
    },
    total=False,
)

ListedFlow = TypedDict(
    "ListedFlow",
    {
        # Its class, 0 first.
        "class": int,
        # The receiving host.
        "dst": int,
        # Number of its equal-cost path if paths are pinned; `None` for a random path.
        "path": int,
        # Payload bytes; `None` for a flow without end.
        "size": str,
        # The sending host.
        "src": int,
        # Start time.
        "start": str,
    },
    total=False,
)

class Load(TypedDict, total=False):
    counts: Literal["payload", "wire"]
    """Which bytes it counts."""
    like: str | Path
    """The group whose value is copied."""
    of: Literal["host", "core"]
    """The links that the load is relative to."""
    part: float
    value: float | str | Path
    """The load as a fraction, above 0 and at most 20; above 1 is overload."""

class Mix(TypedDict, total=False):
    cos: Literal["BE", "DS", "MRG"]
    """The class of service: a check of `theta` and `w`, which decide it (PACCP §III)."""
    share: float | str | Path
    """Fraction of the flows, above 0; all fractions sum to 1."""
    theta: str
    """The minimum rate that is paid for (PACCP §III)."""
    w: float | str | Path
    """The weight that is paid for, from 0.001 to 1000 (PACCP §III)."""

class OnDowngrade(TypedDict, total=False):
    by: str
    """For `defer`: delay until the next request."""
    kind: Literal["ignore", "defer", "reclassify"]
    """The reaction of a group's applications to a notice."""
    lasts: str
    """For `reclassify`: duration of the reaction."""
    like: str | Path
    """The group whose value is copied."""
    part: float
    times: int
    """For `defer`: maximum number of deferrals."""

class Pairs(TypedDict, total=False):
    count: int
    """Number of flows."""
    dst: int
    """The receiving host."""
    path: int
    """Entropy of the flows if the topology pins paths by it; `None` draws it as for any flow."""
    src: int
    """The sending host, in the group or not."""

class GroupPairs(TypedDict, total=False):
    by: int
    """Number of positions in the list of hosts."""
    count: int
    """Number of flows per pair."""
    host: int
    """The destination host."""
    like: str | Path
    """The group whose value is copied."""
    part: float
    rule: Literal["all_pairs", "other_racks", "one_other_rack", "shift", "to_one"]
    """The rule that pairs the hosts of the group with destinations."""

class Sizes(TypedDict, total=False):
    csv: str | Path
    """A shipped table's name, or the path of a table."""
    interpolation: Literal["linear", "step"]
    """Distribution of probability mass between rows."""
    like: str | Path
    """The group whose value is copied."""
    max: str
    """Maximum size."""
    part: float
    scale_to_mean: str
    """Mean size that the table is scaled to."""

class GroupTransport(Transport, total=False):
    base: str | Path
    """A shipped scheme, or the path of a scheme file, whose transport it is."""

Group = TypedDict(
    "Group",
    {
        # Bytes of the activations of a micro-batch, which a rank sends to the next stage.
        "activations": str | Activations,
        # Part of the run in which it starts flows.
        "active": Active,
        # Default notification delay for flows without a delay of their own; left out, 1 us.
        "after_delay": str | Activations,
        # The algorithm. A tree does all-reduces only, and an all-to-all has no other than `ring`: all messages at once
        # (Thakur, Rabenseifner and Gropp (IJHPCA 2005)).
        "algorithm": Literal["ring", "tree", "halving_doubling"] | Activations,
        "app": Literal["none", "poisson", "on_off", "incast", "permutation", "long_lived", "query", "ring", "collective", "pipeline", "coflow", "coflow_trace", "flows"],
        # When the coflows of a run start (TOP §3.2).
        "arrivals": Literal["poisson", "scaled"] | Activations,
        # Time that a rank computes backward for a micro-batch (Narayanan et al. (SC 2021)).
        "backward": str | Activations,
        # Number of flows in a burst, 1 to 10,000.
        "burst_flows": int | Activations,
        # Load within a burst, in the units of the mean load; from 1 to 100 times the mean load.
        "burst_load": float | str | Path | Activations,
        # Factor for the bytes of flows.
        "bytes_scale": float | str | Path | Activations,
        # Class that its flows request, 0 is the best; flows of a flow list have their own.
        "class": int | Activations,
        # Only the first coflows, up to this number; left out, all of them.
        "coflows": int | Activations,
        # Time from a worker's last part to its next iteration.
        "compute": str | Activations,
        # Number of concurrent requests of a client: loops, each with independent draws.
        "concurrency": int | Activations,
        # The connections that carry the messages.
        "connections": Literal["per_message", "per_pair", "listed", "per_pair"] | Activations,
        # The class of service: a check of `theta` and `w`, which decide it (PACCP §III).
        "cos": Literal["BE", "DS", "MRG"] | Activations,
        # Deadlines of its flows; without it, flows have those of their flow list, if any.
        "deadline": str | Sequence[Deadline] | GroupDeadline,
        # How sizes are drawn.
        "draw": Literal["independent", "strata"] | Activations,
        # The timing of epochs.
        "epochs": Literal["every", "poisson"] | Activations,
        # Senders per epoch, at least 1; hosts of the group other than the receiver.
        "fan_in": int | Activations,
        # Number of servers queried at the same time, at least 1.
        "fan_out": int | Activations,
        # Bounds on the mean flow size of a coflow.
        "flow_bytes": RangeOfSizes,
        # How the bytes of a coflow are divided among its flows.
        "flow_sizes": Literal["even", "drawn"] | Activations,
        # Time that a rank computes forward for a micro-batch.
        "forward": str | Activations,
        # Bytes of the gradients of a micro-batch, which a rank sends to the stage before.
        "gradients": str | Activations,
        # The hosts: `*` for all, hosts and ranges such as `0-15,20`, or the number of the first hosts.
        "hosts": str | Path | int | Activations,
        # Number of iterations; left out, as many as fit in the run.
        "iterations": int | Activations,
        # Maximum additional delay of a flow's start, drawn uniformly.
        "jitter": str | Activations,
        # The list.
        "list": str | Path | Sequence[ListedFlow] | Activations,
        # The long-run offered load.
        "load": Load,
        # Distribution of the number of senders.
        "mappers": int | str | Path | Activations,
        # Number of bytes per megabyte.
        "megabyte": str | Activations,
        # Number of micro-batches of an iteration.
        "micro_batches": int | Activations,
        # Pairs drawn per flow, in place of `cos`, `theta` and `w`: shares with the sum 1.
        "mix": Sequence[Mix] | Activations,
        # The way in which the pairs of `mix` are drawn.
        "mix_draw": Literal["independent", "by_size"] | Activations,
        # Added to the number in [0, 1) that decides a flow's pair of `mix`, modulo 1.
        "mix_offset": float | str | Path | Activations,
        # Name, unique in the experiment.
        "name": str | Path | Activations,
        # Reaction of its applications to a notice that a flow would run at a lower class than requested.
        "on_downgrade": Literal["ignore", "defer", "reclassify"] | OnDowngrade,
        # The collective.
        "operation": Literal["all_reduce", "reduce_scatter", "all_gather", "all_to_all"] | Activations,
        # The pairs of hosts.
        "pairs": Sequence[Pairs] | GroupPairs,
        # Time from the last answer to the next request.
        "pause": str | Activations,
        # The distribution of pauses.
        "pauses": Literal["exponential", "fixed"] | Activations,
        # The sources of bursts.
        "per": Literal["pair", "host"] | Activations,
        # Time between epochs, or its mean; by default computed from the load.
        "period": str | Activations,
        # The payer of the group's traffic (PACCP §IV).
        "plan": Literal["fbp", "vbp"] | Activations,
        # Payload bytes of a query to one server.
        "query": str | Activations,
        # The destinations of a host.
        "reach": Literal["any_host", "other_racks"] | Activations,
        # What follows a burst.
        "reading": Literal["bursts", "compat_yaps"] | Activations,
        # The receiver; without it a host that the group sends to is drawn at every epoch.
        "receiver": int | Activations,
        # G, the payload bytes reduced in an iteration.
        "reduced": str | Activations,
        # Distribution of the number of receivers.
        "reducers": int | str | Path | Activations,
        # Number of requests per loop; left out, as many as fit in the run.
        "requests": int | Activations,
        # With `vbp`: interval in which a virtual machine collects arrivals and departures before it recomputes shares.
        "resplit": str | Activations,
        # The order of a stage's computations (Narayanan et al. (SC 2021)).
        "schedule": Literal["gpipe", "1f1b"] | Activations,
        # Payload bytes per sender.
        "size": str | Activations,
        # Distribution of flow sizes: a shipped table, or { csv, interpolation, scale_to_mean, max }.
        "sizes": str | Path | Sizes,
        # With `vbp`: a virtual machine's own split of its pair, one for each flow in flow list order.
        "split": Sequence[Pay] | Activations,
        # Number of stages. The first hosts of the group are the first stage, the next ones the second, and so on.
        "stages": int | Activations,
        # The earliest start.
        "start": str | Activations,
        # The minimum rate that is paid for (PACCP §III).
        "theta": str | Activations,
        # Time from the arrival of a query to the start of its answer.
        "think": str | Activations,
        # Factor for arrival times.
        "time_scale": float | str | Path | Activations,
        # The destinations: `*` for every host, or the name of a group; `None` if the group only receives.
        "to": str | Path | Activations,
        # The path of a file in the format of the coflow benchmark.
        "trace": str | Path | Activations,
        "transport": GroupTransport,
        # The weight that is paid for, from 0.001 to 1000 (PACCP §III).
        "w": float | str | Path | Activations,
    },
    total=False,
)

class HostNic(TypedDict, total=False):
    ecn: Literal[False] | Ecn
    """ECN marking thresholds of the transmit queue, or false."""
    limit: str
    """Capacity of the transmit queue."""
    per_flow_limit: str
    """Limit of one flow's packets in the transmit queue; the transport holds back the rest (Linux's TCP small
    queues)."""
    rate: str
    """The link rate that the capacity is for: the queue of a faster link holds more, in proportion. Without it, all
    hold the same."""

class ExperimentHost(TypedDict, total=False):
    handshake: Literal["none", "1rtt", "reuse"]
    """Exchange of packets before the first payload packet."""
    initial_rto: str
    """Timeout before the first round-trip sample."""
    max_rto: str
    """Maximum of the backed-off timeout."""
    min_rto: str
    """Minimum of the retransmission timeout."""
    nic: Literal["pull"] | HostNic
    """The transmit queue: its capacity and marking threshold, or pull for none."""
    send_jitter: str
    """The longest random time between the end of a packet's transmission and its departure on the wire; packets keep
    their order. It ends phase effects, in which always the same one of several equal flows finds a full queue."""

Classes = TypedDict(
    "Classes",
    {
        # Exclusive lower bound of sizes; none by default.
        "above": str,
        # The class that flows request; any by default.
        "asked": int,
        # Exclusive upper bound of sizes; none by default.
        "below": str,
        # The class of service that a flow, or its virtual machine, pays for; any by default (PACCP §III).
        "cos": Literal["BE", "DS", "MRG"],
        # Inclusive lower bound of sizes; none by default.
        "from": str,
        # The class that flows are assigned when they start; any by default.
        "given": int,
        # The group, or a list of groups, whose flows count; all by default.
        "group": str | Path | Sequence[str | Path],
        # The class that ratios of this one are relative to.
        "over": str | Path,
        # Inclusive upper bound of sizes; none by default.
        "to": str,
    },
    total=False,
)

class Effective(TypedDict, total=False):
    every: str
    """Length of a bin."""
    to: str | Path
    """The group whose hosts' downlinks are the bottleneck."""

class Metrics(TypedDict, total=False):
    average_over: Sequence[str | Path]
    """Swept keys over whose values metrics are averaged, seed by seed: figures and claims have one point for all of
    them."""
    baseline: str | Path
    """The scheme that gains are relative to."""
    classes: Mapping[str, Classes]
    """Classes of flows by name, in the order of the file; `all` always exists."""
    effective: Effective
    """The bottleneck whose effective throughput is measured."""
    port: str | Path
    """The port at which costs of priorities are measured."""
    slowdown: Literal["bare", "with_handshake"]
    """The denominator of slowdowns."""

class Panel(TypedDict, total=False):
    at: Mapping[str, Any]
    """The sweep points to which it is restricted: swept keys and their values."""
    by: Literal["size"]
    """For `line`, in place of `x`: the property of flows along x. `size`: `fct`, `slowdown` or a percentile of them
    against flow size, in at most eight bins with equal numbers of flows."""
    kind: Literal["line", "bar", "cdf", "heat_map", "scatter", "table"]
    """Kind of plot."""
    log_y: bool
    """Whether the y axis is logarithmic."""
    metric: str | Path
    """The metric to plot: `quantity.class`, such as `fct.all`; or use `metrics`."""
    metrics: Sequence[str | Path]
    """The metrics to plot, at least one, if there are several."""
    published: str | Path
    """For `line`, `bar` or `cdf`: path of a CSV file with the values that a paper printed, drawn faintly."""
    rays: Sequence[float | str | Path]
    """For `scatter`: slopes of reference lines through the origin."""
    reference: float | str | Path
    """Position of a horizontal reference line."""
    schemes: Sequence[str | Path]
    """The schemes to plot."""
    title: str | Path
    """Title."""
    x: str | Path
    """The swept key on the x axis, or `time`; required for `line` and `heat_map`."""
    x_at: Mapping[str, Any]
    """For `scatter`: the point at which the metrics of the x axis and the area are evaluated, if it differs."""
    x_label: str | Path
    """Label of the x axis."""
    y_at: Mapping[str, Any]
    """For `scatter`: the point at which the metric of the y axis is evaluated, if it differs."""
    y_label: str | Path
    """Label of the y axis."""

class Price(TypedDict, total=False):
    charge: Literal["reserved", "sent"]
    """The bits to which P2 and P2s apply."""
    p0: float | str | Path
    """P0: price of a virtual machine, per second (PACCP §IV)."""
    p0s: float | str | Path
    """P0s: price of a flow (FBP) above best effort, per second (PACCP §IV)."""
    p1: float | str | Path
    """P1: price of a virtual machine (VBP), per second and unit of weight above 1 (PACCP §V-B)."""
    p1s: float | str | Path
    """P1s: price of a flow, per second and unit of weight above 1 (PACCP §IV)."""
    p2: float | str | Path
    """P2: price of a virtual machine (VBP), per gigabit (PACCP §IV)."""
    p2s: float | str | Path
    """P2s: price of a flow, per gigabit (PACCP §IV)."""

class Reading(TypedDict, total=False):
    decides: str | Path
    """The claims that depend on it, one sentence."""
    evidence: str | Path
    """Evidence for this reading, one sentence."""
    set: Mapping[str, Any]
    """The dotted keys that the reading sets; the leading reading, which is the file without changes, has none."""

class Switch(TypedDict, total=False):
    buffer: Literal["unbounded"] | Buffer
    """Buffer capacity of the ports, as `buffer` of a port."""
    ecn: Literal["auto"] | Ecn
    """Marking thresholds of the ports, as `ecn` of a port; auto: by queue, the thresholds of each scheme."""

class Time(TypedDict, total=False):
    arrivals: Literal["stop", "continue"]
    """Whether flows go on to start after the window, as they do in a steady state."""
    drain: bool
    """Whether the run continues after the window until the last measured flow has completed; with `arrivals = "stop"`,
    until every flow has."""
    flows: int
    """Number of flows, all of them measured, instead of a window."""
    limit: str
    """Latest end of the run."""
    measure: str
    """Duration in which flows start and are measured, after `warmup`."""
    start: Literal["empty", "warm", "warm_path"]
    """State of the network when the run begins. `warm` and `warm_path` start `app = "poisson"` with the flows that are
    under way in a steady state. With `warm` they wait at their busiest link only, with `warm_path` at every link of
    their path. Both shorten the warm-up to an eighth where flows have one bottleneck; `warm_path` shortens it to a
    fifth where senders and receivers have about the same load."""
    warmup: str
    """Duration in which flows start but are not measured."""

class Link(TypedDict, total=False):
    delay: str
    """Its propagation delay, above zero and at most 250 ms."""
    loss: float | str | Path
    """Probability that a packet is lost on the link, in [0, 1)."""
    rate: str
    """Its rate."""

class Topology(TypedDict, total=False):
    a: int
    """Routers per group."""
    aggs_per_pod: int
    """Aggregation switches of each pod, at least 1."""
    bottleneck: Link
    """The link between the switches."""
    core_link: Link
    """Each link between an aggregation and a core switch."""
    cores: int
    """Number of core switches, a multiple of `aggs_per_pod`."""
    fabric_link: Link
    """Each link between a leaf and a spine."""
    g: int
    """Number of groups, at most a h + 1."""
    global_link: Link
    """Each link between groups."""
    h: int
    """Global links per router."""
    host_link: Link
    """The link of each host."""
    hosts: int
    """Number of hosts, 1 to 65,536."""
    hosts_per_leaf: int
    """Hosts on each leaf, at least 1."""
    k: int
    """Number of ports per switch, even, 2 to 64; there are `k^3 / 4` hosts."""
    kind: Literal["leaf_spine", "fat_tree", "three_tier", "dragonfly", "dumbbell", "single_switch", "file"]
    leaves: int
    """Number of leaf switches, at least 1."""
    leaves_per_pod: int
    """Leaf switches of each pod, at least 1."""
    left: int
    """Number of hosts on the left, at least 1."""
    links_per_pair: int
    """Parallel links between each leaf and each spine, at least 1; usually 1."""
    local_link: Link
    """Each link between routers of a group."""
    p: int
    """Hosts per router."""
    path: str | Path
    """Its path, relative to the experiment file."""
    paths: Literal["hashed", "pinned", "splitmix64", "racks", "spray", "round_robin", "drill"]
    """Selection among equal-cost paths."""
    pod_link: Link
    """Each link between a leaf and an aggregation switch."""
    pods: int
    """Number of pods, at least 1."""
    right: int
    """Number of hosts on the right, at least 1."""
    spines: int
    """Number of spine switches, at least 1."""

class Keys(TypedDict, total=False):
    admission_every: str
    """Sampling interval of admission probabilities."""
    assumptions: Sequence[str | Path]
    """Anchors of docs/assumptions.md on which it relies, besides those of its schemes."""
    claim: Sequence[Claim]
    """A statement about the results, and its test."""
    clock_error: str
    """Maximum offset of a host's clock in either direction."""
    control: Sequence[Control]
    """A change of flows that are under way."""
    delay_noise: DelayNoise
    """Measurement error that hosts add to delays."""
    event: Sequence[Event]
    """A change of traffic or a failure during a run."""
    figure: str | Path
    """The figure or table of the paper that it reproduces."""
    frame: Frame
    """Packet sizes."""
    full: Mapping[str, Any]
    """Values for a long run."""
    group: Sequence[Group]
    """Hosts, and the flows that they start."""
    host: ExperimentHost
    """Settings of hosts for all schemes."""
    host_delay: str
    """Delay between a packet's arrival at a host and its delivery to the transport."""
    metrics: Metrics
    """Classes of flows, baseline and other settings of metrics."""
    panel: Sequence[Panel]
    """One part of a figure."""
    paper: str | Path
    """The paper that it reproduces."""
    price: Price
    """Prices of virtual machines and flows (PACCP §IV)."""
    quick: Mapping[str, Any]
    """Values for a short run."""
    quote: str | Path
    """A short quotation from the paper about the result."""
    rates_every: str
    """Interval at which senders report the acknowledged bytes of their flows."""
    reading: Mapping[str, Reading]
    """One of the readings of a paper."""
    sample_every: str
    """Sampling interval of queues."""
    scheme: Mapping[str, Scheme]
    """Schemes of the experiment, and its changes to shipped ones."""
    schemes: Sequence[str | Path]
    """The compared schemes, in order: shipped ones, those that `[scheme.NAME]` declares, or paths of scheme files."""
    seeds: int | Sequence[int]
    """The number of seeds of each point and scheme, 1 to 10000, which are then 1, 2, ...; or a list of seeds, each at
    least 1."""
    sweep: Mapping[str, Sequence[Any] | Mapping[str, Any]]
    """Keys that take several values."""
    switch: Switch
    """Settings of switches for all schemes."""
    time: Time
    """Warm-up, measurement and end of a run."""
    title: str | Path
    """The title of the report: what the experiment shows."""
    topology: Topology
    """The network; `kind` chooses the keys."""

