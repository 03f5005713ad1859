"""A switch as it is configured (`config_db.json` of SONiC), as values of an experiment: buffer, marks, queues, pauses.

An experiment has the traffic of some code points, so it is their queues that count: `DSCP` 0 unless others are stated.
Ports that differ from most are listed, and so is everything that a simulation cannot do (`not_simulated`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from priolane._core import InputError
from priolane.export import configured_pause
from priolane.export.configured_rows import Rows
from priolane.export.plan import ROUTING_LEVEL, Port
from priolane.export.present import QUEUES, Present, Row, read_configured
from priolane.export.quantity import Frame, rate_text

ETHERNET = Frame(mtu=1500, payload=1460, stored=1518, wire=1538)
_CERTAIN = 100
_T = TypeVar("_T")


@dataclass(frozen=True)
class ConfiguredQueue:
    """A queue of most ports that something leads to: its number, what leads there, and how it is served and marks."""

    number: int
    leads: str
    served: str
    wred: str
    is_lossless: bool


@dataclass(frozen=True)
class Configured:
    """The configuration of a switch for the traffic of some code points.

    `buffer`, `ecn` and `pfc` are keys of experiment files, `None` where the file says nothing that can be simulated.
    `port` has the kind of the ports, their queues and weights; `places` is the queue of each code point among these,
    the best 0. `free` counts the queues that nothing leads to. `rates` are those of ports in bits per second.
    """

    path: Path
    dscps: tuple[int, ...]
    queues: tuple[ConfiguredQueue, ...]
    rates: tuple[int, ...]
    free: int
    port: Mapping[str, Any]
    places: tuple[int, ...]
    buffer: Mapping[str, Any] | None
    ecn: Mapping[str, Any] | None
    pfc: Mapping[str, Any] | None
    missing: tuple[str, ...]
    not_simulated: tuple[str, ...]


@dataclass(frozen=True)
class _Served:
    """The queue of each code point at a port, the schedulers of these queues, and which of them a pause holds."""

    numbers: tuple[int, ...]
    schedulers: tuple[tuple[str, int], ...]
    lossless: tuple[int, ...]


@dataclass(frozen=True)
class _Marks:
    """Marks of a queue in bytes that a switch stores: from `least` on, with `percent` at `most`, of all above."""

    least: int
    most: int
    percent: int


def read(path: Path, dscps: Sequence[int] = (0,), frame: Frame = ETHERNET) -> Configured:
    """Reads a configuration for the traffic of code points, the class 0 first.

    Bytes of a switch count packets of `frame` as it stores them, those of an experiment as they are on the line.
    Raises `InputError` with a line for each mistake.
    """
    rows = Rows(read_configured(path))
    return _Reader(rows, tuple(dscps), frame).read()


class _Reader:
    """A configuration while it is read."""

    def __init__(self, rows: Rows, dscps: tuple[int, ...], frame: Frame) -> None:
        self.rows, self.dscps, self.frame = rows, dscps, frame
        self.present: Present = rows.present
        self.missing: list[str] = []
        self.ports = self._read_ports()

    def read(self) -> Configured:
        """Everything; ports that are not as most are, are left out from here on."""
        served = self._served()
        numbers = sorted(set(served.numbers), reverse=True)
        port, order = self._port(dict(zip(served.numbers, served.schedulers, strict=True)), numbers)
        names = [port.name or "" for port in self.ports]
        pause = configured_pause.read(self.rows, names, numbers, self.missing)
        buffer = self._buffer(numbers, pause)
        return Configured(
            path=self.present.path,
            dscps=self.dscps,
            queues=self._all_queues(),
            rates=self.present.switch.rates,
            free=self._free(),
            port=port,
            places=tuple(order.index(number) for number in served.numbers),
            buffer=buffer,
            ecn=self._ecn(numbers),
            pfc=None if pause is None else pause.keys(self.dscps, served.numbers),
            missing=tuple(self.missing),
            not_simulated=tuple(self.rows.unread.lines()),
        )

    def _read_ports(self) -> list[Port]:
        """The ports that are up, or all if none is."""
        ports = list(self.present.switch.ports)
        rows = self.present.table("PORT")
        up = [port for port in ports if rows[port.name or ""].get("admin_status") != "down"]
        if not ports:
            raise InputError(f"{self.present.path}: PORT has no port to another device")
        if not up:
            self.rows.unread.say("PORT: all ports are down: simulated as if they were up")
            return ports
        if len(up) < len(ports):
            self.rows.unread.say(f"PORT: {len(ports) - len(up)} of {len(ports)} ports are down, and were not read")
        return up

    def _served(self) -> _Served:
        """The service that most ports give the traffic. Other ports are listed and left out."""
        of = {port: self._served_at(port.name or "") for port in self.ports}
        usual = _usual(of.values())
        others = [port.name or "" for port, own in of.items() if own != usual]
        if others:
            self.rows.unread.say(
                f"ports {_names(others)}: they serve DSCP {_numbers(self.dscps)} otherwise than most ports, which are "
                "simulated"
            )
        self.ports = [port for port, own in of.items() if own == usual]
        names = [port.name or "" for port in self.ports]
        for name in names:
            self.rows.use_maps(name)
        for number in usual.numbers:
            without = [name for name in names if not self.rows.use_scheduler(name, number)]
            if without:
                self.rows.unread.say(
                    f"QUEUE {_names(without)}: no row for queue {number}: weight 1, as orchagent has it"
                )
        return usual

    def _served_at(self, port: str) -> _Served:
        maps = self.present.maps(port)
        numbers = tuple(maps.queue_of(maps.class_of(dscp)) for dscp in self.dscps)
        paused = self.rows.lossless_queues(port)
        return _Served(
            numbers,
            tuple(self.rows.scheduler(port, number) for number in numbers),
            tuple(number for number in numbers if number in paused),
        )

    def _port(self, schedulers: Mapping[int, tuple[str, int]], numbers: list[int]) -> tuple[dict[str, Any], list[int]]:
        """The kind of the ports, and the numbers of its queues from the best; strict queues go before weighted ones."""
        if len(numbers) == 1:
            return {"kind": "fifo"}, numbers
        strict = [number for number in numbers if schedulers[number][0] == "STRICT"]
        weighted = [number for number in numbers if number not in strict]
        if not weighted:
            return {"kind": "strict", "queues": len(strict)}, strict
        if any(schedulers[number][0] == "WRR" for number in weighted):
            self.rows.unread.say(f"SCHEDULER: WRR of queues {_numbers(weighted)}: weights are of bytes, not of packets")
        self.rows.unread.say(
            f"SCHEDULER: DWRR of queues {_numbers(weighted)}: the shares are the same, not the order in a round"
        )
        port: dict[str, Any] = {"kind": "wfq", "queues": len(numbers)}
        if strict:
            port["strict"] = len(strict)
        return {**port, "weights": [schedulers[number][1] for number in weighted]}, [*strict, *weighted]

    def _ecn(self, numbers: list[int]) -> dict[str, Any] | None:
        """Marks by rate, of the queue of class 0 or the first that marks."""
        rates = sorted({port.rate for port in self.ports})
        by_rate: dict[int, _Marks] = {}
        for bps in rates:
            names = [port.name or "" for port in self.ports if port.rate == bps]
            of = {(name, number): self._marks(name, number) for name in names for number in numbers}
            marking = [marks for marks in of.values() if marks is not None]
            if not marking:
                continue
            by_rate[bps] = _usual(marking)
            others = [f"{name}|{number}" for (name, number), marks in of.items() if marks != by_rate[bps]]
            if others:
                self.rows.unread.say(
                    f"QUEUE {_names(others)}: other marks than most queues at {rate_text(bps)}: all queues of a rate "
                    "have the same"
                )
        if not by_rate:
            return None
        without = [rate_text(bps) for bps in rates if bps not in by_rate]
        if without:
            self.rows.unread.say(f"ports of {', '.join(without)} mark nothing: simulated in proportion to the others")
        return self._ecn_keys(by_rate)

    def _ecn_keys(self, by_rate: Mapping[int, _Marks]) -> dict[str, Any]:
        ramps = {bps: marks for bps, marks in by_rate.items() if marks.most > marks.least}
        keys: dict[str, Any] = {
            "per": "queue",
            "at": {rate_text(bps): f"{self._wire(marks.least)}B" for bps, marks in by_rate.items()},
        }
        if not ramps:
            return keys
        percent = _usual(marks.percent for marks in ramps.values())
        others = [rate_text(bps) for bps, marks in ramps.items() if marks.percent != percent]
        steps = [rate_text(bps) for bps in by_rate if bps not in ramps]
        for which, what in ((others, "another probability"), (steps, "one threshold")):
            if which:
                self.rows.unread.say(
                    f"WRED_PROFILE: ports of {', '.join(which)} have {what}: simulated with {percent} %, and from "
                    "green_min_threshold to green_max_threshold in proportion to the other rates"
                )
        keys["full"] = {rate_text(bps): f"{self._wire(marks.most)}B" for bps, marks in ramps.items()}
        if percent != _CERTAIN:
            keys["p_max"] = percent / _CERTAIN
        return keys

    def _wire(self, stored: int) -> int:
        """Bytes on the line of so many that a switch stores, rounded down: `Limit.stored` is the way back."""
        return stored * self.frame.wire // self.frame.stored

    def _marks(self, port: str, number: int) -> _Marks | None:
        """The marks of a queue; `None`, and said, for a profile that marks nothing."""
        profile = self.rows.wred(port, number)
        if profile is None:
            return None
        where, row = profile
        least, most = (self.rows.number(where, row, f"green_{end}_threshold") for end in ("min", "max"))
        percent = self.rows.number(where, row, "green_drop_probability")
        ecn, is_on = row.get("ecn", "ecn_none"), row.get("wred_green_enable") == "true"
        marks = ecn == "ecn_all" or "green" in ecn.split("_")
        unread = self.rows.unread
        if not is_on or least is None or most is None:
            unread.say(f"{where}: wred_green_enable or a threshold of green is missing: it does nothing")
            return None
        if not marks:
            unread.say(f"{where}: ecn is {ecn}: it drops, and a queue drops what does not fit alone")
            return None
        if least > most:
            raise InputError(f"{self.present.path}: {where}: green_min_threshold is above green_max_threshold")
        unread.say(f"{where}: it drops packets that cannot be marked; the simulation queues these")
        if percent is None:
            unread.say(f"{where}: green_drop_probability is missing: 100, as SAI has it")
            percent = _CERTAIN
        return _Marks(most, most, _CERTAIN) if percent == 0 else _Marks(least, most, percent)

    def _buffer(self, numbers: list[int], pause: configured_pause.Paused | None) -> dict[str, Any] | None:
        """The memory of the pool, or room for each queue: that of lossless queues where there are some."""
        paused = self.rows.lossless_queues(self.ports[0].name or "")
        # A lossless queue is limited where its packets come in.
        limits = {number: self._limit(number, self._profile(number)) for number in numbers if number not in paused}
        stated = [limit for limit in limits.values() if limit is not None]
        if pause is not None:
            self.rows.unread.say(
                "BUFFER_QUEUE: lossless queues are limited where packets come in, and not where they leave"
            )
            if pause.memory is None:
                return None
            alpha = next((limit["alpha"] for limit in stated if "alpha" in limit), None)
            return {"dynamic": f"{pause.memory}B", "alpha": self._lossy_alpha() if alpha is None else alpha}
        if not stated or len(stated) < len(limits):
            return None
        others = [number for number, limit in limits.items() if limit != stated[0]]
        if others:
            self.rows.unread.say(f"BUFFER_QUEUE: queues {_numbers(others)} have another limit: all have the same")
        return stated[0]

    def _profile(self, number: int) -> tuple[str, Row] | None:
        """The profile that a queue has at most ports that state one; the others are listed."""
        names = [port.name or "" for port in self.ports]
        of = {name: self.rows.profile("BUFFER_QUEUE", name, number) for name in names}
        stated = [profile for profile in of.values() if profile is not None]
        if not stated:
            return None
        where = _usual(profile[0] for profile in stated)
        others = [f"{name}|{number}" for name, profile in of.items() if profile is None or profile[0] != where]
        if others:
            self.rows.unread.say(f"BUFFER_QUEUE {_names(others)}: another profile than {where}, which all ports have")
        return next(profile for profile in stated if profile[0] == where)

    def _lossy_alpha(self) -> int | str:
        """Alpha of the first lossy queue, which lossless queues do not obey."""
        name = self.ports[0].name or ""
        for number in range(QUEUES):
            row = self.rows.profile("BUFFER_QUEUE", name, number)
            exponent = None if row is None else self.rows.number(*row, "dynamic_th")
            if row is not None and exponent is not None and "xoff" not in row[1]:
                return power(exponent)
        self.rows.unread.say("alpha of lossy queues is not stated: 1, which no lossless queue obeys")
        return 1

    def _limit(self, number: int, row: tuple[str, Row] | None) -> dict[str, Any] | None:
        if row is None:
            self.missing.append(
                f"BUFFER_QUEUE has no profile for queue {number}: state the memory of the switch, from its "
                'data sheet or `show buffer configuration`, as [switch] buffer = { dynamic = "12MB", alpha = 1 }'
            )
            return None
        where, profile = row
        exponent, fixed = (self.rows.number(where, profile, key) for key in ("dynamic_th", "static_th"))
        pool = self.rows.pool(profile)
        size = None if pool is None else self.rows.number(*pool, "size")
        if exponent is not None and size is not None:
            return {"dynamic": f"{size}B", "alpha": power(exponent)}
        if fixed is not None:
            if size is not None:
                self.rows.unread.say(f"{where}: queues hold static_th each: the size of their pool is no limit of all")
            return {"per_queue": f"{self._wire(fixed)}B"}
        what = f"{where} has no threshold" if exponent is None else f"the pool of {where} has no size"
        self.missing.append(
            f'{what}: the switch calculates it; state [switch] buffer = {{ dynamic = "12MB", alpha = 1 }}, with the '
            "size that `show buffer information` prints"
        )
        return None

    def _free(self) -> int:
        used = {number for port in self.ports for number in self.present.queues_of_others(port.name or "", ())}
        return sum(number not in used for number in range(QUEUES))

    def _all_queues(self) -> tuple[ConfiguredQueue, ...]:
        name = self.ports[0].name or ""
        leads = self.present.queues_of_others(name, ())
        paused = self.rows.lossless_queues(name)
        queues = []
        for number in sorted(leads, reverse=True):
            kind, weight = self.rows.scheduler(name, number)
            profile = self.rows.wred(name, number, is_read=False)
            stated = number != ROUTING_LEVEL or self.present.row_of("QUEUE", name, number) is not None
            served = "strict" if kind == "STRICT" else f"weight {weight}"
            queues.append(
                ConfiguredQueue(
                    number,
                    leads[number],
                    served if stated else "-",
                    "-" if profile is None else profile[0].partition("|")[2],
                    number in paused,
                )
            )
        return tuple(queues)


def power(exponent: int) -> int | str:
    """Two to a power, as alpha is written: 8, or `1/8`."""
    fraction = Fraction(2) ** exponent
    return int(fraction) if fraction.denominator == 1 else f"{fraction.numerator}/{fraction.denominator}"


def _usual(of: Iterable[_T]) -> _T:
    """The most frequent one, of equals the first."""
    return Counter(of).most_common(1)[0][0]


def _numbers(of: Iterable[int]) -> str:
    return ", ".join(map(str, of))


def _names(of: Sequence[str], most: int = 4) -> str:
    more = f" and {len(of) - most} more" if len(of) > most else ""
    return ", ".join(of[:most]) + more
