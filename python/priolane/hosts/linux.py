"""Runs of an experiment on a testbed of network namespaces, or on several machines.

The same flows, by the same transports, on real queues.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from priolane import _core
from priolane.execution.grid import Watcher, judge, require_same_experiment, write_grid
from priolane.execution.settings import Settings
from priolane.execution.worker import JobResult
from priolane.model.experiment import Options, Plan
from priolane.results.results import Results, load
from priolane.storage.directory import exclusive_writer

# What starts a host of a run, with the argument `host`, the guard of a testbed, or a switch in user space.
PROGRAM = (sys.executable, "-m", "priolane.hosts.linux_process")


@dataclass(frozen=True)
class Job:
    """The way in which a run is measured.

    `text` is the request to the testbed or to the agents of machines in JSON, `scale` what rates are divided by,
    `notes` what differs from the simulation, `at_most_s` how long it takes at most, in seconds.
    """

    text: str
    scale: int
    notes: tuple[str, ...]
    at_most_s: float

    @property
    def testbed(self) -> str:
        """The part of the command that makes the testbed, or that agents carry out."""
        return json.dumps(json.loads(self.text)["job"])

    @property
    def machines(self) -> tuple[str, ...]:
        """The machines that it takes; none for a testbed on this one."""
        return tuple(machine["name"] for machine in json.loads(self.text)["job"].get("machines", ()))

    @property
    def hosts(self) -> int:
        """The number of its hosts."""
        job = json.loads(self.text)["job"]
        return int(job.get("plan", job)["network"]["hosts"])


def own_name() -> str:
    """A name of a testbed that no other process takes."""
    return f"run{os.getpid()}"


def jobs(grid: Plan, name: str, scale: int | None, switch: str | None = None) -> dict[str, Job]:
    """The way in which each run of a grid is to be measured, by id.

    `switch` is `kernel` or `user`; without it, switches are of the kernel where they can be.

    Raises `InputError` with the reasons if a testbed cannot be what a run asks for, or if the usual scale is not the
    same for all.
    """
    request = json.dumps({"name": name, "scale": scale, "switch": switch})
    return _jobs(grid, lambda run_id: grid.core.linux_job(run_id, request))


def jobs_on_machines(grid: Plan, machines: Path, scale: int | None) -> dict[str, Job]:
    """The way in which each run of a grid is to be measured on the machines of a file, by id.

    Raises `InputError` with the reasons if hosts cannot do what a run asks for, with all mistakes of the file, or if
    the usual scale is not the same for all.
    """
    request = json.dumps({"scale": scale, "machines": str(machines)})
    return _jobs(grid, lambda run_id: grid.core.linux_job_on_machines(run_id, request))


def _jobs(grid: Plan, planned: Callable[[str], str]) -> dict[str, Job]:
    jobs = {}
    for run in grid.runs:
        text = planned(run.id)
        read = json.loads(text)
        jobs[run.id] = Job(text, read["scale"], tuple(read["notes"]), read["at_most_s"])
    scales = sorted({job.scale for job in jobs.values()})
    if len(scales) > 1:
        raise _core.InputError(f"points of the sweep have lines of other rates: give one --scale, such as {scales[-1]}")
    return jobs


def notes(planned: "dict[str, Job]") -> list[str]:
    """The differences from the simulation, each once."""
    return list(dict.fromkeys(note for job in planned.values() for note in job.notes))


def measure(
    grid: Plan, out: Path, options: Options, planned: "dict[str, Job]", watch: Watcher, switch: str | None = None
) -> Results:
    """Measures what is not there yet and returns the results; those that are complete are kept if it is interrupted.

    `switch` is the kind of switches that was asked for in `jobs`; results of another choice are other results.

    Raises `InputError` if the directory has other results, `CannotHere` if this machine cannot, `RunFailed` if a host
    or an agent ends.
    """
    watch.planned(grid)
    planned_job = next(iter(planned.values()))
    how: dict[str, Any] = {"on": "machines" if planned_job.machines else "linux", "scale": planned_job.scale}
    if planned_job.machines:
        how["machines"] = list(planned_job.machines)
    if switch is not None:
        how["switch"] = switch
    with exclusive_writer(out):
        require_same_experiment(out, grid, how)
        write_grid(out, grid, options, how)
        opened = grid.core.open(out, Settings().to_json())
        for run in grid.runs:
            ran = not opened.is_measured(run.id)
            if ran:
                job = planned[run.id]
                report = _reporter(run.id, job, watch)
                if job.machines:
                    measured = _core.linux_run_on_machines(job.testbed, report)
                else:
                    measured = _core.linux_run(job.testbed, PROGRAM, report)
                opened.measured(run.id, job.text, measured)
            watch.finished(run, JobResult(run.id, ran=ran))
        judge(out)
        return load(out)


def _reporter(run_id: str, job: Job, watch: Watcher) -> Callable[[float, int], bool]:
    hosts, scale = job.hosts, job.scale

    def report(elapsed_s: float, done: int) -> bool:
        watch.moved(run_id, elapsed_s / scale, done, hosts)
        return True

    return report


def status() -> Sequence[dict[str, Any]]:
    """The state of each testbed: its name, its existing and planned namespaces, its use, and warnings of its
    switches."""
    testbeds: list[dict[str, Any]] = json.loads(_core.linux_status())
    return testbeds


def leftovers() -> Sequence[str]:
    """The remains of killed processes on this machine, in words; `linux down` and the next run remove them."""
    return _core.linux_leftovers()
