"""Results in an object store: a mirror on this machine, and what goes to the store and comes back.

    URL/<run id>/...    as in the mirror: tables first and run.json last, so that a run is there when its run.json is
    URL/grid.json, report.json, report.html, figures/...    notes and outputs

The mirror of s3://bucket/path is stores/s3/bucket/path below the user's cache. fsspec carries the bytes; it is imported
where a URL is given.
"""

import hashlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from priolane import directory as layout
from priolane._core import InputError, Stopped
from priolane.files import cache
from priolane.printable import message
from priolane.settings import Settings
from priolane.url import URL, is_url

T = TypeVar("T")

# Files that go to the store at once, and how long to wait before each further attempt.
_AT_ONCE = 4
_WAITS_S = (0.5, 1.0, 2.0, 4.0)


class StoreError(OSError):
    """The store could not be read or written; what was made is in the mirror."""


def display_name(directory: Path) -> str:
    """How results are named to the user: the URL of a mirror, and any other directory as it is."""
    with suppress(ValueError):
        protocol, *parts = directory.absolute().relative_to(_mirrors().absolute()).parts
        return f"{protocol}://" + "/".join(map(unquote, parts))
    return str(directory)


def _mirrors() -> Path:
    return cache() / "stores"


class ObjectStore:
    """The results at a URL and their mirror. Used by one command; `upload` may be called by several threads."""

    def __init__(self, url: str) -> None:
        """`url` is that of the results, as `s3://bucket/path`; raises `InputError` if it is none that can be opened."""
        self.url = url.rstrip("/")
        found = URL.fullmatch(self.url)
        parts = found[2].split("/") if found else []
        if found is None or not all(parts) or {".", ".."} & set(parts):
            raise InputError(f"{url}: this is no place of results; write it as in s3://bucket/path")
        self.directory = _mirrors().joinpath(found[1], *(quote(part, safe=" +=@,") for part in parts))
        self._files, self._root = _file_system(self.url, found[1])
        self._remote_names: set[str] = set()
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="priolane-store")
        self._uploads: list[Future[None]] = []
        self._ended = threading.Event()
        self._failure: StoreError | None = None

    def fetch(self, *, refresh: bool = False) -> None:
        """Brings runs that the store has and the mirror has not, and notes and outputs of grids that are new here.

        With `refresh` it brings those of all grids, and removes outputs that the store has no more.

        A run that is damaged in the store is reported and not taken. Raises `StoreError` if the store cannot be read.
        """
        self._remote_names = self._retry("read", self._listed)
        names = [PurePosixPath(name) for name in self._remote_names]
        runs = [name.parent for name in names if name.name == layout.RUN_FILE and layout.is_run(name.parent.name)]
        grids = {name.parent for name in names if name.name == layout.GRID_FILE}
        known = set() if refresh else {grid for grid in grids if (self.directory / grid / layout.GRID_FILE).exists()}
        notes = [name for name in names if layout.is_note(name) and known.isdisjoint(name.parents)]
        with TemporaryDirectory(dir=_ensure_directory(_mirrors()), prefix=".incoming-") as incoming:
            wanted = [run for run in runs if not (self.directory / run).exists()]
            tasks = [self._threads.submit(self._fetch_run, run, Path(incoming)) for run in wanted]
            tasks += [self._threads.submit(self._fetch_note, name, Path(incoming)) for name in notes]
            for task in tasks:
                task.result()
        if refresh:
            self._forget_outputs(grids)

    def _forget_outputs(self, grids: set[PurePosixPath]) -> None:
        """Removes outputs of these grids from the mirror that the store does not have."""
        for grid in grids:
            for path in self.directory.joinpath(grid).rglob("*"):
                name = PurePosixPath(path.relative_to(self.directory).as_posix())
                if layout.is_output(name) and str(name) not in self._remote_names:
                    path.unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        """Whether the store had a file when it was last looked at."""
        return name in self._remote_names

    def upload(self, path: Path) -> None:
        """Takes a run of the mirror to the store while the command goes on, and a file beside runs at once.

        Raises `StoreError` for a file: the note of a grid comes before its runs, and shows whether the store can be
        written.
        """
        if path.is_dir():
            self._uploads.append(self._threads.submit(self._put, path))
            return
        self._put(path)
        self._raise()

    def finish(self) -> None:
        """Takes to the store what it has not, notes and outputs last, and removes outputs that are no more.

        Raises `StoreError`, which says where the mirror is, if anything is not there after some attempts.
        """
        notes: list[Path] = []
        for path in sorted(self.directory.rglob("*")):
            name = PurePosixPath(path.relative_to(self.directory).as_posix())
            if path.is_dir() and layout.is_run(path.name) and layout.is_whole_run(path):
                self.upload(path)
            elif path.is_file() and (layout.is_note(name) or name.suffix == ".html"):
                notes.append(path)
        self._wait()
        # What names the others comes last, when all of them are there.
        naming = (layout.GRID_FILE, layout.REPORT_FILE)
        for last in (False, True):
            batch = [path for path in notes if (path.name in naming) == last]
            self._uploads = [self._threads.submit(self._put, path) for path in batch]
            self._wait()
        for old in sorted(self._remote_names):
            if layout.is_output(PurePosixPath(old)) and not (self.directory / old).exists():
                self._retry("remove", partial(self._files.rm_file, f"{self._root}/{old}"))

    def close(self, *, wait: bool) -> None:
        """Ends: what has been offered is taken to the store first if `wait`, and else dropped if it has not begun."""
        if not wait:
            self._ended.set()
        self._threads.shutdown(wait=wait, cancel_futures=not wait)

    def _wait(self) -> None:
        uploads, self._uploads = self._uploads, []
        for upload in uploads:
            upload.result()
        self._raise()

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _listed(self) -> set[str]:
        self._files.invalidate_cache()
        try:
            found = self._files.find(self._root)
        except FileNotFoundError:
            return set()
        names = {str(name)[len(self._root) + 1 :] for name in found}
        # A store may have names that no directory has.
        return {name for name in names if {"", ".", ".."}.isdisjoint(name.split("/"))}

    def _fetch_run(self, run: PurePosixPath, incoming: Path) -> None:
        draft = _ensure_directory(_draft(run, incoming))
        record = draft / layout.RUN_FILE
        self._get(run / layout.RUN_FILE, record)
        try:
            for file in layout.read_json(record)["files"]:
                table = draft / PurePosixPath(str(file["name"])).name
                self._get(run / table.name, table)
                if hashlib.sha256(table.read_bytes()).hexdigest() != file["sha256"]:
                    raise InputError(f"{table.name} is not what {layout.RUN_FILE} says")
        except (InputError, KeyError, TypeError, FileNotFoundError) as error:
            # It is run again, and put in the place of what is there.
            self._remote_names.discard(str(run / layout.RUN_FILE))
            _print_notice(f"{self.url}/{run}: damaged ({error}); it is not taken")
            return
        target = self.directory / run
        _ensure_directory(target.parent)
        # Another command on this machine may have brought it in the meantime.
        with suppress(FileExistsError):
            draft.rename(target)

    def _fetch_note(self, name: PurePosixPath, incoming: Path) -> None:
        draft = _draft(name, incoming)
        self._get(name, draft)
        target = self.directory / name
        _ensure_directory(target.parent)
        draft.replace(target)

    def _get(self, name: PurePosixPath, target: Path) -> None:
        self._retry("read", partial(self._files.get_file, f"{self._root}/{name}", str(target)))

    def _put(self, path: Path) -> None:
        name = path.relative_to(self.directory).as_posix()
        if self._failure is not None or f"{name}/{layout.RUN_FILE}" in self._remote_names:
            return
        files = [path]
        if path.is_dir():
            files = sorted(path.iterdir(), key=lambda file: (file.name == layout.RUN_FILE, file.name))
        try:
            for file in files:
                remote = file.relative_to(self.directory).as_posix()
                self._retry("write", partial(self._files.put_file, str(file), f"{self._root}/{remote}"))
                self._remote_names.add(remote)
        except StoreError as error:
            self._failure = error

    def _retry(self, doing: str, attempt: Callable[[], T]) -> T:
        """What `attempt` returns, which is tried some times.

        Raises `StoreError`, and `FileNotFoundError` for a file that is to be read and is not there.
        """
        for wait_s in (*_WAITS_S, None):
            try:
                return attempt()
            # Each store has errors of its own.
            except Exception as error:
                if doing == "read" and isinstance(error, FileNotFoundError):
                    raise
                if wait_s is None or self._ended.wait(wait_s):
                    raise StoreError(self._message(doing, error)) from error
        raise AssertionError

    def _message(self, doing: str, error: Exception) -> str:
        why = " ".join(str(error).split()) or type(error).__name__
        if doing == "read":
            return f"cannot read {self.url}: {why}"
        return (
            f"cannot {doing} {self.url}: {why}; what is missing there is in {self.directory}, and the same command "
            "takes it there"
        )


@contextmanager
def open_output(out: str | Path, settings: Settings, *, refresh: bool = False) -> Iterator[tuple[Path, Settings]]:
    """A directory for results, and settings that take them to the store if `out` is a URL; a path is the directory.

    With `refresh` the mirror has what the store has; without, what was made here counts.

    Raises as `ObjectStore` and its `fetch` and `finish` do.
    """
    if not is_url(out):
        yield Path(out), settings
        return
    store = ObjectStore(str(out))
    try:
        store.fetch(refresh=refresh)
        yield store.directory, replace(settings, on_saved=store.upload)
        store.finish()
    except (KeyboardInterrupt, Stopped):
        store.close(wait=False)
        raise
    except BaseException:
        store.close(wait=True)
        raise
    store.close(wait=True)


def fetch_results(url: str) -> Path:
    """The mirror with all that is at a URL.

    Raises `InputError` if no results are there, `StoreError` if it cannot be read.
    """
    store = ObjectStore(url)
    try:
        store.fetch(refresh=True)
    finally:
        store.close(wait=True)
    if not store.has(layout.GRID_FILE):
        raise InputError(f"{url}: no results here (no {layout.GRID_FILE}); give a URL that `priolane run -o` wrote")
    return store.directory


def _file_system(url: str, protocol: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    try:
        import fsspec  # noqa: PLC0415 - where a URL is given
    except ImportError as error:
        raise InputError(f"{url}: fsspec cannot be loaded ({error}); pip install 'priolane[store]'") from error
    options = {"auto_mkdir": True} if protocol in ("file", "local") else {}
    try:
        files, root = fsspec.core.url_to_fs(url, **options)
    except (ImportError, ValueError) as error:
        raise InputError(f"{url}: {error}; see docs/clusters.md#results-in-an-object-store") from error
    return files, str(root).rstrip("/")


def _draft(name: PurePosixPath, incoming: Path) -> Path:
    """The place of what comes: of its own for each name, as several grids may have a run of the same id."""
    return incoming / hashlib.sha256(str(name).encode()).hexdigest()


def _ensure_directory(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _print_notice(line: str) -> None:
    message(line)
