"""The part of a run that a page shows."""

from dataclasses import dataclass

from priolane._core import InputError
from priolane.execution.flow_trace import Trace

# Of a page: some megabytes, and some seconds of simulation.
MOST_HOPS = 200_000
_MARGIN = 10


@dataclass(frozen=True)
class Extent:
    """Picoseconds since the start of the run, `until_ps` not included, and the most hops that are taken.

    If the hops are used up before `until_ps`, the page begins at `later_ps` instead, unless that is `None`.
    """

    from_ps: int
    until_ps: int
    most_hops: int = MOST_HOPS
    later_ps: int | None = None

    @classmethod
    def around(cls, trace: Trace, from_ps: int | None = None, until_ps: int | None = None) -> "Extent":
        """The life of a traced flow with a tenth of that time before and after, or what is stated of both ends.

        If the past of the flow has more hops than are taken, the page begins with the flow, unless `from_ps` is stated.

        Raises `InputError` if nothing is left between the two.
        """
        start = int(trace.flow["start_ps"])
        life = trace.flow["fct_ps"]
        end = trace.stopped_at_ps if life is None else start + int(life)
        margin = max(1, (end - start) // _MARGIN)
        begins = max(0, start - margin) if from_ps is None else from_ps
        ends = min(trace.stopped_at_ps, end + margin) if until_ps is None else until_ps
        if begins >= min(ends, trace.stopped_at_ps):
            where = f"flow {trace.flow['id']} lives from {start / 1e6:,.3f} us to {end / 1e6:,.3f} us"
            key, what = (
                ("--from", "after the end of the page") if from_ps is not None else ("--until", "before its start")
            )
            raise InputError(
                f"{key}: it is {what}; {where}, and the run stops at {trace.stopped_at_ps / 1e6:,.3f} us. "
                "Use times around them."
            )
        return cls(begins, ends, later_ps=start if from_ps is None and start > begins else None)


@dataclass(frozen=True)
class Which:
    """A run of an experiment: its seed, and swept keys with the TOML text of their values."""

    seed: int | None = None
    point: tuple[tuple[str, str], ...] = ()
