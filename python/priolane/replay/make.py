"""Making the page: the run is repeated with all flows traced, and the page is written."""

from dataclasses import dataclass, replace
from pathlib import Path

from priolane.execution.flow_trace import NETWORK_TABLES
from priolane.model.experiment import Options
from priolane.replay.extent import Extent, Which
from priolane.replay.page import notes, page
from priolane.replay.recording import Part, record
from priolane.report.generator import refuse_replacing
from priolane.storage.written_files import write_alone, writing
from priolane.text.command_line import command_line, option, path_word


@dataclass(frozen=True)
class Replay:
    """The tables and the page, in this order, and what the page lacks, in sentences."""

    files: tuple[Path, ...]
    lacks: tuple[str, ...]


def replay(  # noqa: PLR0913 - keyword arguments
    path: str | Path,
    flows: tuple[int, ...],
    to: str | Path,
    *,
    extent: Extent,
    out: str | Path,
    options: Options | None = None,
    run: Which | None = None,
) -> Replay:
    """Writes the page `to` that plays `extent` of a run of the experiment at `path`; its tables go to `out`.

    The state of the senders of `flows` is drawn. If the hops are used up before the end of `extent`, the run is made
    again from `extent.later_ps`. Raises `InputError` as `priolane.trace`
    does, also if `to` is a file that is no page of priolane's, and `NotWritten` if the page cannot be written.
    """
    which, options = run or Which(), options or Options()
    part = Part(flows, extent.from_ps, extent.until_ps, extent.most_hops, which.seed, which.point)
    place = Path(to)
    refuse_replacing(place, "name another page with --page")
    with writing(Path(out), NETWORK_TABLES):
        recording = record(Path(path), part, Path(out), options)
        if recording.full_ps is not None and extent.later_ps is not None:
            recording = record(Path(path), replace(part, from_ps=extent.later_ps), Path(out), options)
    write_alone(place, page(recording, _command(Path(path), recording.part, options)))
    return Replay((*recording.files, place), tuple(notes(recording)))


def _command(path: Path, part: Part, options: Options) -> str:
    """The command that makes the page again."""
    words = ["priolane", "trace", path_word(path)]
    words += [word for flow in part.flows for word in ("--flow", str(flow))]
    words += option("--scheme", options.schemes[0]) if options.schemes else []
    words += ["--seed", str(part.seed)] if part.seed is not None else []
    words += [word for key, value in part.point for word in option("--point", f"{key}={value}")]
    words += [word for key, value in options.sets for word in option("--set", f"{key}={value}")]
    words += option("--reading", options.reading) if options.reading else []
    words += [f"--{options.size}"] if options.size != "default" else []
    words += ["--page", "replay.html", "--from", f"{part.from_ps}ps", "--until", f"{part.until_ps}ps"]
    return command_line(*words, "--most-hops", str(part.most_hops))
