"""Results in an object store: a mirror on this machine, and what goes to the store and comes back.

    URL/<run id>/...    as in the mirror: tables first and run.json last, so that a run is there when its run.json is
    URL/grid.json, report.json, report.html, figures/...    notes and outputs

The mirror of s3://bucket/path is stores/s3/bucket/path below the user's cache. fsspec carries the bytes; it is imported
where a URL is given. Each request has a time limit, and a command that is interrupted waits for none.
"""

import hashlib
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from priolane._core import InputError
from priolane.storage import directory as layout
from priolane.storage.files import cache
from priolane.storage.incoming import incoming
from priolane.storage.run_files import RunFile
from priolane.storage.store_requests import CONNECT_S, READ_S, Abandoned, RequestFailed, Requests
from priolane.storage.url import URL

T = TypeVar("T")

# The number of files that are transferred at the same time.
_AT_ONCE = 4
# The transfer size for which a listing gets time: the size of a list is not known in advance.
_LISTING_BYTES = 10_000_000


class StoreError(OSError):
    """The store could not be read or written; what was made is in the mirror."""


def display_name(directory: Path) -> str:
    """The name of results for the user: the URL of a mirror, and any other directory as it is."""
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
        match = URL.fullmatch(self.url)
        parts = match[2].split("/") if match else []
        if match is None or not all(parts) or {".", ".."} & set(parts):
            raise InputError(f"{url}: this is no place of results; write it as in s3://bucket/path")
        self.directory = _mirrors().joinpath(match[1], *(quote(part, safe=" +=@,") for part in parts))
        self._files, self._root = _file_system(self.url, match[1])
        self.damaged: dict[PurePosixPath, str] = {}
        """The mistakes in runs of the store that were not taken, by their paths below the URL."""
        self._remote_names: set[str] = set()
        self._sizes: dict[str, int] = {}
        self._requests = Requests(_AT_ONCE)
        self._uploads: list[Future[None]] = []
        self._offered: set[Path] = set()
        """The runs that this command has begun to send: the last look finds some of them under way."""
        self._failure: StoreError | None = None

    def fetch(self, *, refresh: bool = False) -> None:
        """Brings runs that the store has and the mirror has not, and notes and outputs of grids that are new here.

        With `refresh` it brings those of all grids, and removes outputs that the store has no more.

        A run that is damaged in the store is not taken; `damaged` says what is wrong with it. Raises `StoreError` if
        the store cannot be read.
        """
        self._sizes = self._request("read", self._listed, _LISTING_BYTES)
        self._remote_names = set(self._sizes)
        names = [PurePosixPath(name) for name in self._remote_names]
        runs = [name.parent for name in names if name.name == layout.RUN_FILE and layout.is_run(name.parent.name)]
        grids = {name.parent for name in names if name.name == layout.GRID_FILE}
        known = set() if refresh else {grid for grid in grids if (self.directory / grid / layout.GRID_FILE).exists()}
        notes = [name for name in names if layout.is_note(name) and known.isdisjoint(name.parents)]
        notes += [name for name in names if layout.is_pack(name) and not self._has_all_of(name)]
        with incoming(_ensure_directory(_mirrors())) as drafts:
            wanted = [run for run in runs if not (self.directory / run).exists()]
            tasks = [self._requests.submit(partial(self._fetch_run, run, drafts)) for run in wanted]
            tasks += [self._requests.submit(partial(self._fetch_note, name, drafts)) for name in notes]
            try:
                for task in tasks:
                    task.result()
            except BaseException:
                self._requests.abandon()
                raise
        if refresh:
            self._forget_outputs(grids)

    def _has_all_of(self, pack: PurePosixPath) -> bool:
        """Whether the mirror has a pack, to which nobody appends in a store, in its whole length."""
        path = self.directory / pack
        return path.is_file() and path.stat().st_size == self._sizes[str(pack)]

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
            if path not in self._offered:
                self._offered.add(path)
                self._uploads.append(self._requests.submit(partial(self._put, path)))
            return
        self._put(path)
        self._raise()

    def finish(self) -> None:
        """Takes to the store what it has not, notes and outputs last, and removes outputs that no longer exist.

        Raises `StoreError`, which says where the mirror is, if anything could not be taken there.
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
            self._uploads = [self._requests.submit(partial(self._put, path)) for path in batch]
            self._wait()
        for old in sorted(self._remote_names):
            if layout.is_output(PurePosixPath(old)) and not (self.directory / old).exists():
                # An earlier attempt may have removed it without an answer.
                with suppress(FileNotFoundError):
                    self._request("remove", partial(self._files.rm_file, f"{self._root}/{old}"))

    def close(self) -> None:
        """Ends after the uploads of runs that have been offered, which a failure cuts short."""
        uploads, self._uploads = self._uploads, []
        with suppress(Abandoned):
            for upload in uploads:
                upload.result()
        self._requests.close()

    def abandon(self) -> None:
        """Ends at once: requests under way are not waited for, and no other one begins.

        May be called from any thread. Threads that call `upload` get `Abandoned`.
        """
        self._requests.abandon()
        self._requests.close()

    def _wait(self) -> None:
        uploads, self._uploads = self._uploads, []
        for upload in uploads:
            upload.result()
        self._raise()

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _listed(self) -> dict[str, int]:
        """The names below the root, and the size of each file."""
        self._files.invalidate_cache()
        try:
            listing = self._files.find(self._root, detail=True)
        except FileNotFoundError:
            return {}
        sizes = {str(name)[len(self._root) + 1 :]: int(about.get("size") or 0) for name, about in listing.items()}
        # A store may have names that no directory has.
        return {name: size for name, size in sizes.items() if {"", ".", ".."}.isdisjoint(name.split("/"))}

    def _fetch_run(self, run: PurePosixPath, drafts: Path) -> None:
        draft = _ensure_directory(_draft(run, drafts))
        record = draft / layout.RUN_FILE
        self._get(run / layout.RUN_FILE, record)
        try:
            for file in layout.read_record(RunFile(record))["files"]:
                table = draft / PurePosixPath(str(file["name"])).name
                self._get(run / table.name, table)
                if hashlib.sha256(table.read_bytes()).hexdigest() != file["sha256"]:
                    raise InputError(f"{table.name} is not what {layout.RUN_FILE} says")
        except (InputError, KeyError, TypeError, FileNotFoundError) as error:
            if self._requests.abandoned:
                # The directory of drafts is gone.
                return
            # It is run again, and put in the place of what is there.
            self._remote_names.discard(str(run / layout.RUN_FILE))
            self.damaged[run] = f"{self.url}/{run}: damaged ({error})"
            return
        target = self.directory / run
        _ensure_directory(target.parent)
        # Another command on this machine may have brought it in the meantime.
        with suppress(FileExistsError):
            draft.rename(target)

    def _fetch_note(self, name: PurePosixPath, drafts: Path) -> None:
        draft = _draft(name, drafts)
        self._get(name, draft)
        target = self.directory / name
        _ensure_directory(target.parent)
        draft.replace(target)

    def _get(self, name: PurePosixPath, target: Path) -> None:
        remote, attempts = f"{self._root}/{name}", count()
        drafts = [target]
        size = self._sizes.get(str(name), 0)
        free = shutil.disk_usage(target.parent).free
        if size > free:
            raise StoreError(
                f"cannot read {self.url}: {name} has {size} bytes there, and {target.parent} has room for {free}"
            )

        def attempt() -> Path:
            # An attempt that was abandoned may still write: each has a file of its own.
            draft = target.with_name(f"{target.name}.{next(attempts)}")
            drafts.append(draft)
            self._files.get_file(remote, str(draft))
            return draft

        def arrived() -> int:
            try:
                return drafts[-1].stat().st_size
            except FileNotFoundError:
                return 0

        self._request("read", attempt, size, arrived).replace(target)

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
                put = partial(self._files.put_file, str(file), f"{self._root}/{remote}")
                self._request("write", put, file.stat().st_size)
                self._remote_names.add(remote)
        except StoreError as error:
            self._failure = error

    def _request(
        self, doing: str, attempt: Callable[[], T], size: int = 0, arrived: Callable[[], int] | None = None
    ) -> T:
        """The result of `attempt`, as `Requests.request` says.

        Raises `StoreError`, `FileNotFoundError` for a file that the store does not have, `Abandoned` after `abandon`.
        """
        try:
            return self._requests.request(attempt, size, arrived)
        except RequestFailed as error:
            raise StoreError(self._message(doing, error)) from error

    def _message(self, doing: str, why: RequestFailed) -> str:
        if doing == "read":
            return f"cannot read {self.url}: {why}"
        return (
            f"cannot {doing} {self.url}: {why}; what is missing there is in {self.directory}, and the same command "
            "takes it there"
        )


def fetch_results(url: str) -> tuple[Path, dict[str, str]]:
    """The mirror with all that is at a URL, and what is wrong with runs that are damaged there, by run id.

    Raises `InputError` if no results are there, `StoreError` if it cannot be read.
    """
    store = ObjectStore(url)
    try:
        store.fetch(refresh=True)
    finally:
        store.abandon()
    if not store.has(layout.GRID_FILE):
        raise InputError(f"{url}: no results here (no {layout.GRID_FILE}); give a URL that `priolane run -o` wrote")
    return store.directory, {run.name: what for run, what in store.damaged.items() if len(run.parts) == 1}


def _file_system(url: str, protocol: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    try:
        import fsspec  # noqa: PLC0415 - where a URL is given
    except ImportError as error:
        raise InputError(f"{url}: fsspec cannot be loaded ({error}); pip install 'priolane[store]'") from error
    options = _options(protocol, fsspec.config.conf)
    try:
        files, root = fsspec.core.url_to_fs(url, **options)
    except (ImportError, ValueError) as error:
        raise InputError(f"{url}: {error}; see docs/clusters.md#results-in-an-object-store") from error
    return files, str(root).rstrip("/")


def _options(protocol: str, configured: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a file system; what the user configured for fsspec comes before the time limits of this module."""
    if protocol in ("file", "local"):
        return {"auto_mkdir": True}
    if protocol in ("s3", "s3a"):
        # `Requests` counts attempts: those of botocore would multiply them.
        own = {"connect_timeout": CONNECT_S, "read_timeout": READ_S, "retries": {"total_max_attempts": 1}}
        return {"config_kwargs": own | dict(configured.get(protocol, {}).get("config_kwargs", {}))}
    return {}


def _draft(name: PurePosixPath, drafts: Path) -> Path:
    """The place of what comes: of its own for each name, as several grids may have a run of the same id."""
    return drafts / hashlib.sha256(str(name).encode()).hexdigest()


def _ensure_directory(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory
