"""Arguments that several commands share, and what they mean."""

import argparse
import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from priolane._core import InputError
from priolane.execution.backend import FORMS, LOCAL, parse_backend
from priolane.execution.budget import LOOKS, Budget
from priolane.execution.settings import Settings
from priolane.model.experiment import Options, Size
from priolane.storage.url import is_url

Commands = argparse._SubParsersAction

_SCHEMES = re.compile(r"^--schemes: schemes\[\d+\]: ", re.MULTILINE)
_KEY = re.compile(r"[^=\s]+")


def add_grid(command: argparse.ArgumentParser, out: "Callable[[str], Path | str] | None" = None) -> None:
    """The arguments of commands that run a grid; `out` reads where results go, by default a directory."""
    or_url = "" if out is None else ", or a URL such as s3://bucket/path"
    command.add_argument(
        "-o", "--out", type=out or output, metavar="DIR", help=f"where results go{or_url} (default: below runs/)"
    )
    command.add_argument(
        "--jobs",
        type=_count,
        metavar="N",
        help="runs side by side (default: all cores, by the threads of a run)",
    )
    command.add_argument(
        "--threads", type=whole(1, 64), default=1, metavar="N", help="threads of each run (default: 1; see `check`)"
    )
    command.add_argument(
        "--on",
        default="local",
        metavar="PLACE",
        help=f"where runs are carried out: {FORMS} (default: local; docs/clusters.md)",
    )
    command.add_argument("--verify", action="store_true", help="run every run on both engines and compare them")
    add_options(command)
    add_looks(command)


def add_looks(command: argparse.ArgumentParser) -> None:
    """The arguments that add seeds."""
    command.add_argument(
        "--until",
        choices=("decided",),
        metavar="decided",
        help=f"double the seeds until every claim is decided, at most {LOOKS - 1} times, or the --budget is spent",
    )
    command.add_argument(
        "--budget",
        type=budget,
        metavar="AMOUNT",
        help="of --until: 200runs, 5e9hops (packet-hops of all runs), or CPU time of this command as 90s, 10min, 2h "
        "(then where it ends depends on the machine)",
    )
    command.add_argument(
        "--looks",
        type=whole(1, 100),
        metavar="N",
        help=f"how many times claims are judged while seeds are added (default: 1; {LOOKS} with --until)",
    )


def until(args: argparse.Namespace) -> Budget | None:
    """The budget of `--until decided`; `None` where seeds stay as they are."""
    if args.until is None:
        if args.budget is not None:
            raise InputError("--budget goes with --until decided; add that, or leave --budget out")
        return None
    if args.budget is None:
        raise InputError("--until decided takes a --budget, such as --budget 200runs or --budget 10min")
    if args.looks is not None:
        raise InputError(f"--until decided has {LOOKS} looks; leave --looks out")
    if args.budget.unit == "s" and parse_backend(args.on) != LOCAL:
        raise InputError("--budget in CPU time counts this machine's; with --on give runs or hops")
    budget: Budget = args.budget
    return budget


def settings(args: argparse.Namespace) -> Settings:
    """The way in which the runs are to be carried out."""
    threads: int = args.threads
    on = parse_backend(args.on)
    if args.jobs is not None and on != LOCAL:
        raise InputError(f"--jobs {args.jobs} counts processes of this machine; {on} has workers of its own")
    jobs: int = args.jobs or max(1, (os.cpu_count() or 1) // threads)
    return Settings(jobs=jobs, on=on, verify=args.verify, threads=threads)


def add_options(command: argparse.ArgumentParser) -> None:
    """The arguments that change an experiment."""
    seeds = command.add_mutually_exclusive_group()
    seeds.add_argument(
        "--seeds",
        dest="seeds",
        type=_seeds,
        metavar="K",
        help="number of seeds in place of the file's: the seeds 1 to K",
    )
    seeds.add_argument(
        "--seed-list",
        dest="seeds",
        type=_seed_list,
        metavar="N,N,...",
        help="the seeds themselves in place of the file's: --seed-list 7,8,9",
    )
    add_changes(command)


@contextmanager
def naming_scheme() -> Iterator[None]:
    """Mistakes in `schemes` of `Options` are those of `--scheme` here, which takes the name of a scheme."""
    try:
        yield
    except InputError as error:
        raise InputError(_SCHEMES.sub("--scheme: ", str(error))) from None


def add_changes(command: argparse.ArgumentParser) -> None:
    """The arguments that change what is run, whatever the number of runs."""
    command.add_argument(
        "--set",
        dest="sets",
        type=assignment,
        action="append",
        default=[],
        metavar="a.b=VALUE",
        help="set a key of the experiment, VALUE as in TOML: --set 'time.measure=\"2s\"' (repeatable)",
    )
    command.add_argument(
        "--reading",
        metavar="NAME",
        help="one of the file's readings of its paper, in place of the leading one; `reproduce` also takes `all`",
    )
    add_size(command)


def add_point(command: argparse.ArgumentParser) -> None:
    """The argument that chooses sweep points by their values."""
    command.add_argument(
        "--point",
        dest="points",
        type=assignment,
        action="append",
        default=[],
        metavar="a.b=VALUE",
        help="the sweep points with this value of a swept key; its last parts are enough (repeatable; default: all)",
    )


def add_verbose(command: "argparse.ArgumentParser | argparse._MutuallyExclusiveGroup") -> None:
    """The argument that asks for everything there is to print."""
    command.add_argument(
        "-v", "--verbose", action="store_true", help="print everything, not only the answer in at most 20 lines"
    )


def add_size(command: argparse.ArgumentParser) -> None:
    """The arguments that choose among an experiment's sizes."""
    size = command.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="size", action="store_const", const="quick", help="the file's [quick] values")
    size.add_argument("--full", dest="size", action="store_const", const="full", help="the file's [full] values")
    command.set_defaults(size="default")


def options(args: argparse.Namespace) -> Options:
    """The options that were given."""
    size: Size = args.size
    stated = vars(args)
    looks = LOOKS if stated.get("until") else stated.get("looks") or 1
    return Options(sets=tuple(args.sets), seeds=args.seeds, reading=args.reading, size=size, looks=looks)


def output(text: str) -> Path:
    """Reads the path of an output; an empty one would be the current directory."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty; write . for the current directory")
    if is_url(text):
        raise argparse.ArgumentTypeError(f"{text} is a URL; this command takes a path of this machine")
    return Path(text)


def results(text: str) -> Path | str:
    """Reads where results are or go: a path, or a URL as it is."""
    return text if is_url(text) else output(text)


def budget(text: str) -> Budget:
    """Reads a budget: a number and its unit."""
    try:
        return Budget.read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def whole(least: int, most: int) -> Callable[[str], int]:
    """Reads a whole number in a range, both ends included; `least` is at least 1."""

    def read(text: str) -> int:
        number = int(text) if text.isdecimal() else 0
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} to {most}")
        return number

    return read


def positive(most: float) -> Callable[[str], float]:
    """Reads a number above zero, at most `most`."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = 0.0
        if not 0.0 < number <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and at most {most:g}")
        return number

    return read


def finite(text: str) -> float:
    """Reads a number that is neither infinite nor none."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return number


_count = whole(1, 1_000_000)

_MOST_SEEDS = 10_000
_LARGEST_SEED = 2**63 - 1


def _seeds(text: str) -> int:
    """Reads a number of seeds; a seed that was meant is told from it."""
    number = int(text) if text.isdecimal() else 0
    if number > _MOST_SEEDS:
        raise argparse.ArgumentTypeError(
            f"{number} seeds are asked for: K is how many, at most {_MOST_SEEDS}; --seed-list {number} runs this seed"
        )
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {_MOST_SEEDS}")
    return number


def _seed_list(text: str) -> tuple[int, ...]:
    """Reads seeds with commas between them, each at least 1 and there once."""
    seeds = []
    for item in text.split(","):
        seed = int(item) if item.strip().isdecimal() else 0
        if not 1 <= seed <= _LARGEST_SEED:
            raise argparse.ArgumentTypeError(f"{item!r} is not a seed: a whole number from 1, as in --seed-list 7,8,9")
        if seed in seeds:
            raise argparse.ArgumentTypeError(f"the seed {seed} is listed twice")
        seeds.append(seed)
    if len(seeds) > _MOST_SEEDS:
        raise argparse.ArgumentTypeError(f"{len(seeds)} seeds are listed, at most {_MOST_SEEDS} are run")
    return tuple(seeds)


def assignment(text: str) -> tuple[str, str]:
    """KEY=VALUE in two."""
    key, equals, value = text.partition("=")
    if not equals or not _KEY.fullmatch(key.strip()) or not value.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key.strip(), value.strip()


def part(text: str) -> float:
    """Reads a part above zero and below one, such as `10%` or `0.1`."""
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        number = 0.0
    if not 0.0 < number < 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a part above 0 and below 1, such as 10%")
    return number
