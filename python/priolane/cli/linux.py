"""`priolane linux`: an experiment on hosts in network namespaces of this machine, or on several machines."""

import argparse
import signal
from collections.abc import Callable
from pathlib import Path

from priolane import _core
from priolane.cli import arguments, show
from priolane.cli.doctor import UNFIT
from priolane.cli.finish import add_figures, prepare, present
from priolane.cli.progress import progress
from priolane.execution.grid import run_plan
from priolane.execution.settings import Settings
from priolane.hosts import linux
from priolane.model.definition import experiment_name
from priolane.model.experiment import Options, Plan, plan
from priolane.results.results import Results
from priolane.study import catalogue
from priolane.text.command_line import command_line, operands

_MOST_SCALE = 1_000_000


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.description = (
        "The flows of an experiment over real sockets and queues: hosts are processes in network namespaces, switches "
        "are qdiscs of this kernel or processes that run the ports of the simulator. With --machines, hosts are on "
        "other machines, and switches those between them (docs/real-hosts.md). "
        f"Exit code {UNFIT} if this machine cannot."
    )
    actions = command.add_subparsers(dest="action", required=True, metavar="WHAT")
    run = actions.add_parser("run", help="measure an experiment; results go where those of `run` would, and look alike")
    _add_experiment(run)
    run.add_argument(
        "-o", "--out", type=arguments.output, metavar="DIR", help="where results go (default: below runs/)"
    )
    _add_machines(run)
    add_figures(run)
    arguments.add_verbose(run)
    run.set_defaults(execute=_exit_code(_run))
    agree = actions.add_parser("agree", help="simulate and measure an experiment, and say how far they are apart")
    agree.description = (
        "Both by tolerances that were fixed before (docs/real-hosts.md). `all` is the shipped scenarios, one after "
        "another; `agreement/NAME` is one of them. The page has both curves in each figure."
    )
    _add_experiment(agree)
    agree.add_argument(
        "-o", "--out", type=arguments.output, metavar="DIR", help="where both results go (default: below runs/)"
    )
    _add_machines(agree)
    agree.add_argument("--json", action="store_true", help="as JSON")
    agree.set_defaults(execute=_exit_code(_agree))
    up = actions.add_parser("up", help="make the testbed of an experiment; it stays until `down`")
    _add_experiment(up)
    up.add_argument("--name", default="lab", metavar="NAME", help="name of the testbed (default: lab)")
    up.add_argument("--dry-run", action="store_true", help="only print the commands that make it")
    up.set_defaults(execute=_exit_code(_up))
    down = actions.add_parser("down", help="remove a testbed, also one whose maker was killed")
    down.add_argument("name", nargs="?", default="lab", metavar="NAME", help="name of the testbed (default: lab)")
    down.set_defaults(execute=_exit_code(_down))
    status = actions.add_parser("status", help="the testbeds of this machine")
    status.set_defaults(execute=_exit_code(_status))
    agent = actions.add_parser("agent", help="run hosts of this machine for a `linux run --machines` on another")
    agent.description = (
        "Speaks on standard input and output, which end with the controller: ssh starts it so. With --socket it "
        "listens until it is ended."
    )
    agent.add_argument(
        "--socket",
        type=arguments.output,
        metavar="PATH",
        help="listen on a Unix socket that only this user may use, for one controller after another",
    )
    agent.set_defaults(execute=_agent)


def _add_experiment(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "experiment", metavar="FILE.toml", help="an experiment, or the name of a shipped one such as top/fig11"
    )
    command.add_argument(
        "--scheme",
        dest="schemes",
        action="append",
        metavar="NAME",
        help="a scheme of the experiment (repeatable; default: all)",
    )
    command.add_argument(
        "--scale",
        type=arguments.whole(1, _MOST_SCALE),
        metavar="N",
        help="divide rates and multiply times by N (default: hosts then have lines of 100 Mbit/s)",
    )
    command.add_argument(
        "--switch",
        choices=("kernel", "user"),
        help="of the kernel, or in user space, where they can be any port (default: kernel where it can be the ports)",
    )
    arguments.add_options(command)


def _add_machines(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--machines",
        type=Path,
        metavar="FILE",
        help="run hosts on the machines of this TOML file, by an agent on each; no switch is made (default: all here)",
    )


def _exit_code(execute: Callable[[argparse.Namespace], int | None]) -> Callable[[argparse.Namespace], int]:
    """Wraps a command: its exit code, or `UNFIT` where the machine cannot run testbeds."""

    def run(args: argparse.Namespace) -> int:
        try:
            return execute(args) or 0
        except _core.CannotHere as error:
            show.note(f"priolane: {error}")
            return UNFIT

    return run


def _file(args: argparse.Namespace) -> Path:
    """The experiment that is asked for; a name without `.toml` that is not a file is that of a shipped one."""
    path = Path(args.experiment)
    if path.suffix == ".toml" or path.exists():
        return path
    experiment = None if catalogue.is_group(args.experiment) else catalogue.find(args.experiment)[0].experiment
    if experiment is None:
        raise _core.InputError(f"{path}: there is no such file, and no figure has this name; one is top/fig11")
    return experiment


def _results(args: argparse.Namespace, suffix: str) -> Path:
    """The directory of results: `runs/fig11-linux` for `fig11.toml`, `runs/top-fig11-linux` for `top/fig11`."""
    path = Path(args.experiment)
    name = experiment_name(path) if path.suffix == ".toml" else args.experiment.replace("/", "-")
    out: Path = args.out or Path("runs") / f"{name}-{suffix}"
    return out


def _planned(args: argparse.Namespace) -> tuple[Plan, Options]:
    stated = arguments.options(args)
    schemes = tuple(args.schemes) if args.schemes else None
    options = Options(sets=stated.sets, seeds=stated.seeds, schemes=schemes, reading=stated.reading, size=stated.size)
    with arguments.naming_scheme():
        return plan(_file(args), options), options


def _measured(grid: Plan, options: Options, out: Path, args: argparse.Namespace) -> Results:
    if args.machines is None:
        jobs = linux.jobs(grid, linux.own_name(), args.scale, args.switch)
    elif args.switch is None:
        jobs = linux.jobs_on_machines(grid, args.machines, args.scale)
    else:
        raise _core.InputError("--switch: with --machines, switches are those between the machines. Use one of both")
    for note in linux.notes(jobs):
        show.note(f"priolane: {note}")
    show.note(f"priolane: {len(jobs)} runs, at most {sum(job.at_most_s for job in jobs.values()):.0f} s")
    with progress(near_end=prepare) as watcher:
        return linux.measure(grid, out, options, jobs, watcher, args.switch)


def _run(args: argparse.Namespace) -> None:
    grid, options = _planned(args)
    results = _measured(grid, options, _results(args, "linux"), args)
    show.line(f"{results.title}: {len(results.runs)} runs on Linux in {results.directory}")
    present(results, args)


def _both(args: argparse.Namespace, out: Path) -> tuple[Results, Results]:
    """The experiment as it is simulated and as it is measured."""
    grid, options = _planned(args)
    measured = _measured(grid, options, out / "measured", args)
    return run_plan(grid, out / "simulated", options, Settings()), measured


def _agree(args: argparse.Namespace) -> int:
    from priolane.cli import agree  # noqa: PLC0415 - it imports much
    from priolane.hosts.agreement_scenarios import named  # noqa: PLC0415

    wanted = named(args.experiment)
    if wanted:
        return agree.scenarios(wanted, args, _both)
    out = _results(args, "agree")
    return agree.one(_both(args, out), out, args)


def _up(args: argparse.Namespace) -> None:
    grid, _ = _planned(args)
    job = next(iter(linux.jobs(grid, args.name, args.scale, args.switch).values()))
    if args.dry_run:
        for step in _core.linux_steps(job.testbed, linux.PROGRAM):
            show.line(step)
        return
    for note in job.notes:
        show.note(f"priolane: {note}")
    _core.linux_up(job.testbed, linux.PROGRAM)
    down = command_line("priolane", "linux", "down", *operands(args.name))
    show.line(f"{args.name} is up for {grid.runs[0].scheme} at scale {job.scale}: {down}")


def _down(args: argparse.Namespace) -> None:
    for removed in _core.linux_down(args.name):
        show.line(f"removed what a killed process left: {removed}")


def _agent(args: argparse.Namespace) -> None:
    # Hosts end with their standard input: nothing is left to clean up.
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.SIG_DFL)
    _core.linux_agent(linux.PROGRAM, args.socket, 0)


def _status(args: argparse.Namespace) -> None:  # noqa: ARG001
    for testbed in linux.status():
        used = ", in use" if testbed["in_use"] else ""
        show.line(f"{testbed['name']}: {testbed['there']} of {testbed['planned']} namespaces are there{used}")
        for warning in testbed["warnings"]:
            show.line(f"{testbed['name']}: {warning}")
    for left in linux.leftovers():
        show.line(
            f"left by a killed process, removed by the next `priolane linux down` or `priolane linux run`: {left}"
        )
