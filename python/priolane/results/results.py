"""Opening what a grid left: summaries, tables of flows and ports, the report.

Every file is checked as it is read: records and reports against the checksum in them, tables against the hash that the
run's record states. A damaged file raises `InputError`.
"""

import hashlib
import html
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from priolane import _core
from priolane._core import InputError
from priolane.model.experiment import Options, PlannedRun, Reading
from priolane.results.frames import load_pandas
from priolane.results.report import Report
from priolane.results.shape import LOOKS
from priolane.storage import shapes
from priolane.storage.directory import GRID_FILE, REPORT_FILE, RUN_FILE, read_json, read_record, run_id
from priolane.storage.files import write_whole
from priolane.storage.parquet_table import read_parquet
from priolane.storage.run_files import RunFile, RunFiles, RunPlace
from priolane.storage.url import is_url
from priolane.text.command_line import command_line, path_word
from priolane.text.csv_text import csv_cell

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


Table = Literal["summary", "flows", "ports", "series", "coflows", "bills"]
# The shape of the note of a grid.
_TEXTS = shapes.many(shapes.text)
_RUNS = shapes.many(
    shapes.members({"id": run_id, "scheme": shapes.text, "point": shapes.by_name(shapes.value), "seed": shapes.whole})
)
_NOTE = shapes.members(
    {
        "source": shapes.text,
        "title": shapes.text,
        "options": shapes.members(
            {
                "sets": shapes.many(_TEXTS),
                "seeds": shapes.value,
                "schemes": shapes.optional(_TEXTS),
                "size": shapes.text,
            }
        ),
        "runs": _RUNS,
    },
    {
        "alone": _RUNS,
        "readings": shapes.many(
            shapes.members({"name": shapes.text, "evidence": shapes.text, "decides": shapes.text, "leads": shapes.flag})
        ),
    },
)
# Columns of the summary that notebooks show.
_SHOWN = ("flows", "unfinished", "mean_fct_s", "p99_fct_s", "mean_slowdown")


@dataclass(frozen=True, repr=False)
class Results:
    """The results of one grid, read from its directory as they are asked for."""

    directory: Path
    source: Path
    title: str
    options: Options
    runs: tuple[PlannedRun, ...]
    readings: tuple[Reading, ...] = ()
    damaged: Mapping[str, str] = field(default_factory=dict)
    """Runs that are left out since they are damaged: what is wrong with each, by run id."""
    imported: bool = False
    """Whether another simulator made these results (`priolane import fct`)."""
    alone: tuple[PlannedRun, ...] = ()
    """Runs beside the grid in which only some groups send, with which metrics compare."""

    def missing(self) -> list[PlannedRun]:
        """The runs of the grid, and of groups alone, that are not there yet or are left out."""
        self._files.read_again()
        return [run for run in self.runs + self.alone if not self._has(run.id)]

    def _has(self, run_id: str) -> bool:
        return run_id not in self.damaged and self.place(run_id).file(RUN_FILE).is_file()

    @cached_property
    def _files(self) -> RunFiles:
        return RunFiles(self.directory)

    def place(self, run_id: str) -> RunPlace:
        """The place of the files of a run: a directory, or a pack of many small runs."""
        return self._files.place(run_id)

    def judged(self) -> Report | None:
        """The report, or `None` if runs are missing or the report is damaged."""
        try:
            return self.report
        except InputError:
            return None

    def without_damaged(self, *, with_tables: bool = False) -> "Results":
        """The same results without the runs whose record is damaged, or one of whose tables `with_tables`.

        Reads the records, and all tables if asked for.
        """
        damaged = {**self.damaged, **{text.partition(":")[0]: text for text in self._files.damage}}
        for run in self.runs + self.alone:
            if not self._has(run.id):
                continue
            try:
                record = read_record(self.place(run.id).file(RUN_FILE))
                for file in record["files"] if with_tables else ():
                    self._checked(self.place(run.id).file(file["name"]), file["sha256"])
            except InputError as error:
                damaged[run.id] = str(error)
        return replace(self, damaged=damaged)

    @cached_property
    def records(self) -> dict[str, dict[str, Any]]:
        """The content of each run's `run.json`, by run id, in the order of the plan; raises `InputError` if one is
        damaged."""
        present = (run for run in self.runs if self._has(run.id))
        return {run.id: read_record(self.place(run.id).file(RUN_FILE)) for run in present}

    def require(self, shape: shapes.Shape) -> None:
        """Raises `InputError`, which names the place, for the first record that does not have a shape."""
        for name, record in self.records.items():
            try:
                shape(record, "")
            except ValueError as error:
                path = self.place(name).file(RUN_FILE)
                raise InputError(
                    f"{path}: damaged: it is not the record of a run: {error}; `{self.rerun_command()}`"
                ) from error

    def verify(self) -> None:
        """Reads all files of all runs that are there; raises `InputError` for the first that is damaged or missing."""
        for name, record in self.records.items():
            for file in record["files"]:
                self.checked(name, file["name"])

    def checked(self, run_id: str, name: str) -> RunFile:
        """The file of a table, after its content was compared with the hash in the run's record.

        Raises `InputError` if it is damaged or missing, `KeyError` if the run has no table of that name.
        """
        stated = {file["name"]: file["sha256"] for file in self.records[run_id]["files"]}[name]
        return self._checked(self.place(run_id).file(name), stated)

    def _checked(self, path: RunFile, stated: str) -> RunFile:
        try:
            with path.open() as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise InputError(f"{path}: this table is missing; `{self.rerun_command()}`") from error
        except OSError as error:
            raise InputError(f"{path}: damaged: {error.strerror}; `{self.rerun_command()}`") from error
        if digest != stated:
            raise InputError(f"{path}: damaged: it has changed since it was written; `{self.rerun_command()}`")
        return path

    @property
    def experiment(self) -> dict[str, Any]:
        """The merged experiment of the first run: defaults, scheme and overrides in place."""
        first: dict[str, Any] = next(iter(self.records.values()), {}).get("merged", {})
        return first

    def summary(self) -> "pd.DataFrame":
        """One row per run and size class: flows, mean and percentile FCT in seconds, slowdowns.

        Sweep keys are columns under their dotted names. Points that share a run have a row each. Raises `ImportError`
        with what to install where there is no pandas.
        """
        frame: pd.DataFrame = load_pandas("summary").DataFrame(self._summary(self.runs))
        return frame

    def _summary(self, runs: Sequence[PlannedRun]) -> list[dict[str, Any]]:
        return [
            {"run": run.id, "scheme": run.scheme, **run.point, "seed": run.seed, "class": name, **values}
            for run in runs
            if run.id in self.records
            for name, values in self.records[run.id]["summary"].items()
        ]

    def to_arrow(
        self, table: Table = "summary", scheme: str | None = None, point: Mapping[str, Any] | None = None
    ) -> "pa.Table":
        """A table of all runs, or of those of one `scheme` and sweep `point`, as Arrow.

        Values of a swept key that have no common type are JSON text in "summary". Raises `InputError` if no
        run is of the scheme and point, `KeyError` if none that is has the table.
        """
        if table != "summary":
            return self._table(f"{table}.parquet", scheme, point)
        import pyarrow as pa  # noqa: PLC0415

        rows = self._summary(self._chosen(scheme, point))
        if not rows:
            raise KeyError(f"no run of {self.directory} has a summary for that scheme and point")
        columns: dict[str, pa.Array] = {}
        for name in dict.fromkeys(name for row in rows for name in row):
            values = [row.get(name) for row in rows]
            try:
                columns[name] = pa.array(values)
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                columns[name] = pa.array([json.dumps(value) for value in values])
        return pa.table(columns)

    def to_pandas(
        self, table: Table = "summary", scheme: str | None = None, point: Mapping[str, Any] | None = None
    ) -> "pd.DataFrame":
        """`to_arrow` as a pandas data frame; raises `ImportError` with what to install where there is no pandas."""
        load_pandas("to_pandas")
        frame: pd.DataFrame = self.to_arrow(table, scheme, point).to_pandas()
        return frame

    def to_polars(
        self, table: Table = "summary", scheme: str | None = None, point: Mapping[str, Any] | None = None
    ) -> Any:
        """`to_arrow` as a polars data frame; raises `ImportError` with what to install where there is no polars."""
        try:
            import polars  # noqa: PLC0415
        except ImportError as error:
            raise ImportError("to_polars needs polars, which is not installed; pip install polars") from error
        return polars.from_arrow(self.to_arrow(table, scheme, point))

    def to_csv(
        self,
        path: str | Path,
        table: Table = "summary",
        scheme: str | None = None,
        point: Mapping[str, Any] | None = None,
    ) -> Path:
        """Writes `to_arrow` as CSV with a header, whole or not at all; returns the path.

        Raises `WriteError` if the disk is full or must not be written.
        """
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.csv as pc  # noqa: PLC0415

        stream = pa.BufferOutputStream()
        pc.write_csv(_without_formulas(self.to_arrow(table, scheme, point)), stream)
        write_whole(Path(path), stream.getvalue().to_pybytes())
        return Path(path)

    def __repr__(self) -> str:
        """One line: title, how many runs are there, where."""
        return f"<Results {self.title!r}: {self._there()} in {self.directory}>"

    def _repr_html_(self) -> str:
        """For notebooks: the same line, claims as sentences, the first figure, and a table of the means over seeds by
        scheme, sweep point and size class. Without pandas, a line says what the table takes."""
        from priolane.report.notebook import claims_html, figure_html  # noqa: PLC0415 - it imports this module

        line = f"<p><b>{html.escape(self.title)}</b>: {self._there()} in {html.escape(str(self.directory))}</p>"
        with suppress(InputError):
            line += claims_html(self.report) + figure_html(self)
        try:
            pd = load_pandas("the table of means")
        except ImportError as error:
            return f"{line}<p>{html.escape(str(error))}</p>"
        frame = self.summary()
        if frame.empty:
            return line
        by = [name for name in frame.columns if name in {"scheme", "class", *self._swept()}]
        for name in by:
            frame[name] = frame[name].map(lambda value: value if isinstance(value, int | float) else str(value))
        shown = [name for name in _SHOWN if name in frame.columns]
        values = frame[by].join(frame[shown].apply(pd.to_numeric))
        means = values.groupby(by, sort=False, as_index=False)[shown].mean()
        table: str = means.to_html(index=False, border=0, escape=True, na_rep="–", float_format="{:.4g}".format)
        return line + table

    def _there(self) -> str:
        count = len(self.runs) + len(self.alone)
        return f"{count - len(self.missing())} of {count} runs"

    def _swept(self) -> set[str]:
        return {key for run in self.runs for key in run.point}

    def flows(self, scheme: str | None = None, point: Mapping[str, Any] | None = None) -> "pa.Table":
        """The flows of all runs, or of those of one `scheme` and sweep `point`: one row per flow and run.

        The columns `run`, `scheme` and `seed` distinguish the runs; docs/results.md describes the others.
        `.to_pandas()` gives a data frame.
        """
        return self._table("flows.parquet", scheme, point)

    def ports(self, scheme: str | None = None, point: Mapping[str, Any] | None = None) -> "pa.Table":
        """The service of each class at each egress port, chosen and distinguished as in `flows`."""
        return self._table("ports.parquet", scheme, point)

    def series(self, scheme: str | None = None, point: Mapping[str, Any] | None = None) -> "pa.Table":
        """Samples over simulated time, where the experiment asked for them, chosen and distinguished as in `flows`."""
        return self._table("series.parquet", scheme, point)

    def coflows(self, scheme: str | None = None, point: Mapping[str, Any] | None = None) -> "pa.Table":
        """The coflows, where flows belong to some: one row per coflow and run, chosen as in `flows`."""
        return self._table("coflows.parquet", scheme, point)

    def bills(self, scheme: str | None = None, point: Mapping[str, Any] | None = None) -> "pa.Table":
        """The bills of machines and flows, where the experiment has prices, chosen and distinguished as in `flows`."""
        return self._table("bills.parquet", scheme, point)

    def select(self, scheme: str | None = None, point: Mapping[str, Any] | None = None) -> list[PlannedRun]:
        """The runs of one scheme, of a sweep point (a part of its keys is enough), or of both."""
        wanted = dict(point or {})
        return [
            run
            for run in self.runs
            if (scheme is None or run.scheme == scheme)
            and all(run.point.get(key) == value for key, value in wanted.items())
        ]

    def _chosen(self, scheme: str | None, point: Mapping[str, Any] | None) -> list[PlannedRun]:
        """Those of `select`; raises `InputError`, which says what there is, if there are none."""
        runs = self.select(scheme, point)
        if runs:
            return runs
        schemes = ", ".join(sorted({run.scheme for run in self.runs}))
        keys = ", ".join(sorted({key for run in self.runs for key in run.point}))
        swept = f"`point` has values of {keys}" if keys else "nothing is swept"
        raise InputError(f"{self.directory}: no run has that scheme and point. Use a scheme of {schemes}; {swept}")

    def judge(self) -> Report:
        """Weighs the runs against the experiment's claims, keeps the outcome beside them and returns it."""
        looks = json.dumps(earlier_looks(self.directory / REPORT_FILE))
        text = _core.verdicts(self.source, self.options.to_json(), self.directory, looks)
        report = Report.from_json(text)
        write_whole(self.directory / REPORT_FILE, _core.with_checksum(text))
        self.__dict__.pop("report", None)
        return report

    @cached_property
    def report(self) -> Report:
        """Claims, panels, checks and warnings, as `judge` left them; raises `InputError` before the grid is whole."""
        if self.imported:
            place = path_word(str(self.directory))
            raise InputError(
                f"{self.directory}: results of another simulator, which have no report. "
                f"Use `priolane results {place}`, or `priolane compare OWN {place}`."
            )
        path = self.directory / REPORT_FILE
        missing = self.missing()
        if missing and self._files.damage:
            raise InputError(f"{self._files.damage[0]}; `{self.rerun_command()}`")
        if missing or not path.is_file():
            count = len(self.runs) + len(self.alone)
            raise InputError(
                f"{self.directory}: {count - len(missing)} of {count} runs are there and no report yet; "
                f"`{self.rerun_command()}` does the rest"
            )
        try:
            return Report.from_json(_core.read_checked(path))
        except InputError as error:
            raise InputError(f"{error}; `{self.rerun_command()}`") from error
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: not a report of this version ({error}); `{self.rerun_command()}`") from error

    def rerun_command(self) -> str:
        """The command line that makes these results again."""
        from priolane.storage.object_store import display_name  # noqa: PLC0415 - it imports much

        place = path_word(display_name(self.directory))
        if self.imported:
            return command_line("priolane", "import", "fct", path_word(self.source), "-o", place)
        return command_line("priolane", "run", path_word(self.source), *self.options.arguments(), "-o", place)

    def _table(self, name: str, scheme: str | None, point: Mapping[str, Any] | None) -> "pa.Table":
        import pyarrow as pa  # noqa: PLC0415

        tables = list(self._tables(name, self._chosen(scheme, point)))
        if not tables:
            raise KeyError(f"no run of {self.directory} has a {name} for that scheme and point")
        return pa.concat_tables(tables)

    def _tables(self, name: str, runs: list[PlannedRun]) -> Iterator["pa.Table"]:
        import pyarrow as pa  # noqa: PLC0415

        column: dict[str, Callable[[PlannedRun], str | int]] = {
            "run": lambda run: run.id,
            "scheme": lambda run: run.scheme,
            "seed": lambda run: run.seed,
        }
        for run in runs:
            if not any(file["name"] == name for file in self.records.get(run.id, {}).get("files", [])):
                continue
            table = read_parquet(self.checked(run.id, name))
            for at, (key, value) in enumerate(column.items()):
                kind = pa.uint64() if key == "seed" else pa.string()
                table = table.add_column(at, key, pa.repeat(pa.scalar(value(run), kind), table.num_rows))
            yield table


def earlier_looks(report: Path) -> list[dict[str, Any]]:
    """The looks at the claims of a directory that its report tells of; none without a report.

    A report that cannot be read, or is of a version that did not count looks, counts as one look without a plan.
    """
    if not report.is_file():
        return []
    try:
        read = json.loads(_core.read_checked(report))
        LOOKS(read["looks"], "")
        looks: list[dict[str, Any]] = read["looks"]
    except (InputError, KeyError, TypeError, ValueError):
        return [{"seeds": [], "runs": "", "share": _core.first_share(1)}]
    return looks


def load(directory: str | Path) -> Results:
    """Opens the results in `directory`, or at a URL, of which all that is new there is fetched.

    Runs that are damaged at a URL are left out.

    Raises `InputError` if no grid was run there, `StoreError` (an `OSError`) if a URL cannot be read.
    """
    damaged: Mapping[str, str] = {}
    if isinstance(directory, str) and is_url(directory):
        from priolane.storage.object_store import fetch_results  # noqa: PLC0415 - it imports much

        directory, damaged = fetch_results(directory)
    root = Path(directory)
    path = root / GRID_FILE
    try:
        note = read_json(path)
        _NOTE(note, "")
        return Results(
            directory=root,
            source=root / note["source"],
            title=note["title"],
            options=Options.from_json(json.dumps(note["options"])),
            runs=_planned(note["runs"]),
            alone=_planned(note.get("alone", [])),
            readings=tuple(Reading(**reading) for reading in note.get("readings", [])),
            damaged=damaged,
            imported=note.get("imported") is True,
        )
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(
            f"{root}: no results here (no {GRID_FILE}); give a directory that `priolane run` wrote"
        ) from error
    except InputError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not a grid note of priolane ({error}); run the experiment again") from error


def _planned(lines: Sequence[Mapping[str, Any]]) -> tuple[PlannedRun, ...]:
    return tuple(PlannedRun(id=run["id"], scheme=run["scheme"], point=run["point"], seed=run["seed"]) for run in lines)


def _without_formulas(table: "pa.Table") -> "pa.Table":
    """The table with the texts that a spreadsheet would calculate as `csv_text` writes them."""
    import pyarrow as pa  # noqa: PLC0415

    for nth, column in enumerate(table.schema):
        if not (pa.types.is_string(column.type) or pa.types.is_dictionary(column.type)):
            continue
        cells = {text: csv_cell(str(text)) for text in table.column(nth).unique().to_pylist() if text is not None}
        if any(text != cell for text, cell in cells.items()):
            texts = [cells.get(text) for text in table.column(nth).to_pylist()]
            table = table.set_column(nth, column.name, pa.array(texts, pa.string()))
    return table
