"""`priolane import fct`: completion times of another simulator, as results that `compare` reads."""

import argparse
import json
from typing import TYPE_CHECKING, Any

from priolane import _core
from priolane._core import InputError
from priolane.cli import show
from priolane.results.numbers import format_value, short

if TYPE_CHECKING:
    from priolane.results.foreign import ForeignFlows, ForeignRun
    from priolane.results.results import Results

ABOUT = "completion times of HPCC and relatives (fct.txt), or CSV: a directory for `compare`; --scheme, --seed, --like"
OPTIONS = ("scheme", "seed", "like")
_SCHEME = "imported"
_BOUNDS = {"below", "above", "from", "to"}


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments that only results have."""
    command.add_argument("--scheme", metavar="NAME", help="fct: the scheme that the file has results of")
    command.add_argument(
        "--like", metavar="DIR", help="fct: results of the same experiment, whose size classes are taken"
    )


def execute(args: argparse.Namespace) -> int:
    """Writes the run, then says what it holds."""
    import numpy as np  # noqa: PLC0415 - slow to load

    from priolane.advice.fabric import in_class  # noqa: PLC0415
    from priolane.results.foreign import read_flows, summaries, write_run  # noqa: PLC0415
    from priolane.results.results import load  # noqa: PLC0415

    flows = read_flows(args.file)
    like = None if args.like is None else load(args.like)
    run = _run(args, like)
    classes = run.merged.get("metrics", {}).get("classes") or json.loads(_core.usual_classes())
    chosen_flows = {"all": np.ones(len(flows), dtype=bool)}
    # Groups, and what else a class may name, are unknown here.
    known = {name: of for name, of in classes.items() if of and not set(of) - _BOUNDS}
    sizes = flows.sizes.astype(np.float64).reshape(-1)
    chosen_flows |= {name: in_class(sizes, of) for name, of in known.items()}
    summary = summaries(flows, chosen_flows)
    name = write_run(args.out, flows, run, summary)
    if args.json:
        show.json_lines({"run": name, "scheme": run.scheme, "seed": run.seed, "summary": summary}, indent=2)
    else:
        _present(args, flows, run, summary)
    return 0


def _run(args: argparse.Namespace, like: "Results | None") -> "ForeignRun":
    """The run that the file is; with `like`, one of its schemes, whose merged experiment is taken."""
    from priolane.results.foreign import ForeignRun  # noqa: PLC0415

    seed = 1 if args.seed is None else args.seed
    if not 0 <= seed < 1 << 63:
        raise InputError(f"--seed {seed}: the seed is out of range. Use a number from 0.")
    if like is None:
        return ForeignRun(args.scheme or _SCHEME, seed, {}, {})
    schemes = list(dict.fromkeys(run.scheme for run in like.runs))
    scheme = args.scheme or (schemes[0] if len(schemes) == 1 else None)
    if scheme is None:
        names = [f"`--scheme {name}`" for name in schemes]
        raise InputError(
            f"--like: {args.like} has {len(schemes)} schemes. Say which one the file is of: "
            f"{', '.join(names[:-1])} or {names[-1]}."
        )
    runs = [run for run in like.runs if run.scheme == scheme and run.id in like.records]
    if not runs:
        raise InputError(f"--scheme: {args.like} has no runs of {scheme}. Use one of {', '.join(schemes)}.")
    if len({json.dumps(run.point, sort_keys=True) for run in runs}) > 1:
        raise InputError(f"--like: {args.like} sweeps keys. Use results of one sweep point.")
    return ForeignRun(runs[0].scheme, seed, runs[0].point, like.records[runs[0].id]["merged"])


def _present(
    args: argparse.Namespace, flows: "ForeignFlows", run: "ForeignRun", summary: dict[str, dict[str, Any]]
) -> None:
    from priolane.results.foreign import End  # noqa: PLC0415 - numpy is slow to load

    total = format_value(float(flows.sizes.sum()), "B")
    finished = f"{len(flows)} flow{'' if len(flows) == 1 else 's'} that finished"
    show.line(f"{finished}, {total}, as scheme {run.scheme}, seed {run.seed}")
    rows = []
    for name, values in summary.items():
        cells = [_cell(values.get(key), "s") for key in ("mean_fct_s", "p50_fct_s", "p99_fct_s")]
        slowdowns = [_cell(values.get(key), "") for key in ("mean_slowdown", "p99_slowdown")]
        rows.append([name, str(values["flows"]), *cells, *slowdowns])
    show.table(["class", "flows", "mean FCT", "p50", "p99", "mean slowdown", "p99"], rows)
    if flows.ideal is None:
        show.line("note: the file has no times of idle networks (ideal_ns), so there are no slowdowns")
    if flows.ends is End.ACKED:
        show.line("note: in these files a flow ends with its last ACK: compare means with mean_fct_acked_s")
    show.line("note: flows that did not finish are not in such a file, and are not counted")
    show.line(f"beside your own results: `priolane compare {args.like or 'RESULTS'} {args.out}`")


def _cell(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    return format_value(value, unit) if unit else short(value)
