"""The directory of a grid: whose it is, the note of what is in it, the files beside the runs, and their checksums.

    DIR/grid.json      the note: the experiment, its options, its runs, and the outputs that priolane may replace
    DIR/.grid.lock     locked while one process fills the directory
    DIR/<run id>/      the runs, written by the compiled module
    DIR/runs-<n>.tar   packs of many small runs, likewise (`run_files`)
    DIR/report.json, DIR/report.html, DIR/figures/...    the outputs

A directory is priolane's if it has a note, or a whole run, or nothing but files whose names only priolane gives.
Nothing is written to any other directory unless it is empty. Only outputs that the note lists are replaced or removed.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any

from priolane import _core
from priolane._core import InputError
from priolane.storage.files import (
    LOCK_FILE,
    MOST_JSON_BYTES,
    parse_json,
    read_regular,
    sole_writer,
    to_json,
    write_whole,
)
from priolane.storage.record_shape import require_record
from priolane.storage.run_files import RunFile, RunFiles

GRID_FILE = "grid.json"
REPORT_FILE = "report.json"
PAGE_FILE = "report.html"
RUN_FILE = "run.json"
FIGURES = "figures"

CHECKSUM = "file_sha256"
_NOTE_KEYS = {"source", "title", "options", "runs"}
_RUN_ID = re.compile(r"[0-9a-f]{16}")
_PACK = re.compile(r"runs-\d+\.tar")
# Names that only priolane gives, in an interrupted grid before the first run is whole.
_OWN_NAME = re.compile(
    rf"{re.escape(LOCK_FILE)}|\.lock|[0-9a-f]{{16}}(\.verified)?|\.(tmp|mark|aside)-[0-9a-f]{{16}}-\d+-\d+"
    rf"|\.grid\.json\.[a-z0-9_]{{8}}|{_PACK.pattern}"
)
# That both engines gave a run.
_MARK = re.compile(r"[0-9a-f]{16}\.verified")
_FIGURE = r"(panel-\d+|figure)\.(png|pdf)|panel-\d+\.svg|(panel|table)-\d+\.csv|results\.csv"
_OUTPUT = re.compile(rf"report\.json|report\.html|{FIGURES}/({_FIGURE})")
# The directories that this command has had to itself.
_written: set[Path] = set()
_TEMPORARY = re.compile(rf"\.(grid\.json|report\.json|report\.html|{_FIGURE})\.[a-z0-9_]{{8}}")


@contextmanager
def exclusive_writer(directory: Path) -> Iterator[None]:
    """Keeps other processes from writing `directory` while the context lasts; makes the directory if it is missing.

    Removes temporary files that a killed process left. Raises `InputError` if the directory is not empty and not
    priolane's, `DirectoryInUse` if another process is filling it, `WriteError` if it cannot be written.
    """
    refuse_foreign(directory)
    with sole_writer(directory):
        _written.add(directory)
        for folder in (directory, directory / FIGURES):
            if folder.is_dir() and not folder.is_symlink():
                for path in folder.iterdir():
                    if _TEMPORARY.fullmatch(path.name):
                        path.unlink(missing_ok=True)
        yield


def refuse_foreign(directory: Path) -> None:
    """Raises `InputError` if `directory` is a file, or holds anything and is not priolane's."""
    if not os.path.lexists(directory):
        return
    if not directory.is_dir():
        raise InputError(f"{directory}: this is no directory; choose another one with -o")
    names = sorted(path.name for path in directory.iterdir())
    foreign = [name for name in names if not _OWN_NAME.fullmatch(name)]
    if foreign and _note(directory) is None and not _has_whole_run(directory):
        raise InputError(
            f"{directory}: this directory has files that priolane did not write, such as {foreign[0]!r}; "
            "choose an empty or a new one with -o"
        )


def forget_written() -> None:
    """Begins a command: `keeps_runs` is about what is written from now on."""
    _written.clear()


def keeps_runs() -> bool:
    """Whether a directory that this command has written has complete runs, which the same command does not repeat."""
    return any(_has_whole_run(directory) for directory in _written if directory.is_dir())


def is_run(name: str) -> bool:
    """Whether a directory of this name is a run's."""
    return _RUN_ID.fullmatch(name) is not None


def is_pack(path: PurePath) -> bool:
    """Whether a file is a pack of runs, by the end of its path."""
    return _PACK.fullmatch(path.name) is not None


def is_output(path: PurePath) -> bool:
    """Whether a file is an output beside runs, by the end of its path."""
    parts = path.parts
    return any(_OUTPUT.fullmatch("/".join(parts[-many:])) for many in (1, 2))


def is_note(path: PurePath) -> bool:
    """Whether a file is a note of a grid or of a run, or an output, by the end of its path."""
    return path.name == GRID_FILE or _MARK.fullmatch(path.name) is not None or is_output(path)


def _has_whole_run(directory: Path) -> bool:
    packed = (place.file(RUN_FILE) for place in RunFiles(directory).packed())
    return any(map(_is_record, packed)) or any(map(is_whole_run, _runs(directory)))


def _runs(directory: Path) -> Iterator[Path]:
    return (path for path in directory.iterdir() if is_run(path.name) and path.is_dir())


def is_whole_run(directory: Path) -> bool:
    """Whether `directory` has the record of a run with the checksum of its content."""
    return _is_record(RunFile(directory / RUN_FILE))


def _is_record(file: RunFile) -> bool:
    try:
        _read_json(file)
    except (OSError, ValueError):
        return False
    return True


def run_id(value: Any, place: str) -> None:
    """The shape of the id of a run, which is the name of its directory."""
    if not isinstance(value, str) or not is_run(value):
        raise ValueError(f"{place} is not the id of a run")


def read_json(path: Path) -> Any:
    """The content of a JSON file of priolane's, without its checksum.

    Raises `InputError` if it is damaged, is not JSON or cannot be read, and `FileNotFoundError` if it is not there.
    """
    return _read_json(RunFile(path))


def _read_json(path: RunFile) -> Any:
    try:
        value = parse_json(_checked_text(path))
    except (InputError, FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise InputError(f"{error}; make the file readable, or choose another directory") from error
    except ValueError as error:
        raise InputError(f"{path}: this is not JSON ({error}); run the experiment again") from error
    if isinstance(value, dict):
        value.pop(CHECKSUM, None)
    return value


def _checked_text(path: RunFile) -> str:
    if path.pack is None:
        return _core.read_checked(path.path)
    if path.length > MOST_JSON_BYTES:
        raise InputError(f"{path}: damaged: the file is larger than {MOST_JSON_BYTES} bytes")
    with path.open() as stream:
        return _core.checked_text(stream.read(), path.path)


def read_record(path: RunFile) -> dict[str, Any]:
    """The content of the record of a run, without its checksum, whose members have their types.

    Raises as `read_json` does.
    """
    record: dict[str, Any] = _read_json(path)
    try:
        require_record(record, "")
    except ValueError as error:
        raise InputError(
            f"{path}: damaged: it is not the record of a run: {error}; run the experiment again"
        ) from error
    return record


def write_json(path: Path, value: Any) -> None:
    """Writes a JSON object with its checksum; raises `WriteError` if the disk is full or must not be written."""
    write_whole(path, _core.with_checksum(to_json(value)))


def write_note(directory: Path, note: dict[str, Any]) -> None:
    """Writes the note of a grid that begins. It keeps the list of outputs of the grid before.

    The caller holds `exclusive_writer`. Raises `InputError` if the directory has a report that priolane did not write.
    """
    outputs = _outputs(directory)
    _refuse_replacing(directory, [REPORT_FILE], outputs)
    write_json(directory / GRID_FILE, note | {"outputs": sorted({*outputs, REPORT_FILE})})


def declare_outputs(directory: Path, names: Iterable[str]) -> None:
    """Notes the outputs that are about to be written, and removes those that the note has and that are no more.

    The caller holds `exclusive_writer`. Raises `InputError` if an output would replace a file that priolane did not
    write.
    """
    note = read_json(directory / GRID_FILE)
    before = _outputs(directory)
    wanted = list(names)
    if (directory / FIGURES).is_symlink():
        raise InputError(f"{directory / FIGURES}: this is a link; remove it, or choose another directory with -o")
    _refuse_replacing(directory, wanted, before)
    write_json(directory / GRID_FILE, note | {"outputs": sorted({*before, *wanted})})
    for name in before:
        if name not in wanted and _OUTPUT.fullmatch(name):
            (directory / name).unlink(missing_ok=True)
    write_json(directory / GRID_FILE, note | {"outputs": sorted(wanted)})


def _refuse_replacing(directory: Path, names: Iterable[str], own: Iterable[str]) -> None:
    for name in names:
        if name not in own and os.path.lexists(directory / name):
            raise InputError(
                f"{directory / name}: priolane did not write this file; move it away, or choose another directory "
                "with -o"
            )


def _outputs(directory: Path) -> list[str]:
    """The outputs that the note lists; those that stand there if the note is lost, or of an earlier version."""
    note = _note(directory)
    if note is not None and isinstance(note.get("outputs"), list):
        return [str(name) for name in note["outputs"]]
    paths = [directory / REPORT_FILE, directory / PAGE_FILE, *directory.glob(f"{FIGURES}/*")]
    names = [path.relative_to(directory).as_posix() for path in paths if os.path.lexists(path)]
    return [name for name in names if _OUTPUT.fullmatch(name)]


def _note(directory: Path) -> dict[str, Any] | None:
    """The note of a grid, of this or an earlier version, damaged or not, as long as it reads as one."""
    try:
        note = parse_json(read_regular(directory / GRID_FILE, MOST_JSON_BYTES))
    except (OSError, ValueError):
        return None
    return note if isinstance(note, dict) and note.keys() >= _NOTE_KEYS else None
