"""Files in a directory of the user: only those that priolane wrote there, and nobody changed since, are replaced.

    DIR/.priolane-files.json    the note: for each file by its path below DIR, the SHA-256 digests of what priolane
                                wrote there (two while a file is being replaced, `*` while it is written elsewhere)

A directory that holds anything else is used as it is, and what else it holds is left alone. The note is a file that
anybody can write: a path in it that leads out of the directory, through `..`, from the root or over a link, counts as
not noted.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath

from priolane._core import InputError
from priolane.storage.drafts import draft_folder
from priolane.storage.files import parse_json, to_json, write_whole
from priolane.storage.input_file import read_text_of_user

NOTE = ".priolane-files.json"
# In place of the digests of a file that is being written.
_ANY = "*"

Digests = dict[str, list[str]]


class NotWritten(OSError):
    """Files could not be written: what is on the disk is as before."""

    def __init__(self, path: Path, cause: OSError) -> None:
        """`path` is what was to be written, `cause` why it was not."""
        super().__init__(cause.errno, cause.strerror, str(path))

    def __str__(self) -> str:
        """One line: what, why, and what is left."""
        return f"cannot write {self.filename}: {self.strerror}; nothing was written"


def write_files(directory: Path, texts: Mapping[str, str], stale: Iterable[str] = ()) -> list[Path]:
    """Writes all files below `directory`, or none; returns their paths.

    `texts` has the content of each file by its path below the directory. A file of `stale` that priolane wrote and that
    is not written again is removed. Raises `InputError` if another file stands in the place of one of them,
    `NotWritten` if the disk is full or must not be written; no directory that was made then remains.
    """
    own = refuse_replacing(directory, texts)
    new = {name: [hashlib.sha256(text.encode()).hexdigest()] for name, text in texts.items()}
    gone = [
        name
        for name in stale
        if name in own
        and name not in texts
        and _obstacle(directory, name) is None
        and _is_own(directory / name, own[name])
    ]
    try:
        with _new_directories(directory, texts):
            _replace(directory, texts, own, new)
            for name in gone:
                (directory / name).unlink(missing_ok=True)
            kept = {name: digests for name, digests in own.items() if name not in gone}
            write_whole(directory / NOTE, to_json({**kept, **new}))
    except OSError as error:
        raise error if isinstance(error, NotWritten) else NotWritten(directory, error) from error
    return [directory / name for name in texts]


def write_alone(path: Path, text: str) -> None:
    """Writes one file that the caller has found to be priolane's or absent, and the directories that it needs.

    Raises `NotWritten` if the disk is full or must not be written; no directory that was made then remains.
    """
    try:
        with _new_directories(path.parent, []):
            write_whole(path, text)
    except OSError as error:
        raise error if isinstance(error, NotWritten) else NotWritten(path, error) from error


@contextmanager
def writing(directory: Path, names: Iterable[str]) -> Iterator[None]:
    """Notes the files that the context writes below `directory` itself, each whole or not at all.

    The note has the names before the context begins, so that a process that is killed leaves only files that may be
    replaced. Raises `InputError` at once if another file stands in the place of one of them, `NotWritten` if the note
    cannot be written; the files of the context are then removed. After an exception, the note is as before, and no
    directory that was made remains.
    """
    wanted = list(names)
    own = refuse_replacing(directory, wanted)
    with _new_directories(directory, wanted):
        try:
            _write_note(directory, {**own, **{name: [_ANY] for name in wanted}})
            yield
            paths = {name: directory / name for name in wanted}
            _write_note(directory, {**own, **{name: [_digest(path)] for name, path in paths.items() if path.is_file()}})
        except BaseException:
            if own:
                with suppress(OSError):
                    _write_note(directory, own)
            else:
                (directory / NOTE).unlink(missing_ok=True)
            raise


def _write_note(directory: Path, digests: Digests) -> None:
    try:
        write_whole(directory / NOTE, to_json(digests))
    except OSError as error:
        raise NotWritten(directory, error) from error


def refuse_replacing(directory: Path, names: Iterable[str]) -> Digests:
    """The note of the directory; raises `InputError` if a file that priolane did not write is in the place of one."""
    if os.path.lexists(directory) and not directory.is_dir():
        raise InputError(f"{directory}: this is no directory; choose another one with -o")
    own = _note(directory)
    for name in names:
        obstacle = _obstacle(directory, name)
        if obstacle is not None:
            raise InputError(f"{obstacle}: this is no directory; move it away, or choose another directory with -o")
        path = directory / name
        if os.path.lexists(path) and not _is_own(path, own.get(name, [])):
            raise InputError(
                f"{path}: priolane did not write this file, or it was changed since; move it away, or choose another "
                "directory with -o"
            )
    return own


def noted(directory: Path) -> list[str]:
    """The paths below the directory of files that priolane wrote there."""
    return list(_note(directory))


def _note(directory: Path) -> Digests:
    try:
        note = parse_json(read_text_of_user(directory / NOTE))
    except ValueError:
        # Also `InputError`: without a note, no file is priolane's.
        return {}
    if not isinstance(note, dict):
        return {}
    return {
        name: list(map(str, digests)) for name, digests in note.items() if isinstance(digests, list) and _is_below(name)
    }


def _is_below(name: str) -> bool:
    """Whether a path of a note is one that `write_files` could have written, if no part of it is a link."""
    path = PurePath(name)
    return path.as_posix() == name and bool(path.name) and not path.is_absolute() and ".." not in path.parts


def _obstacle(directory: Path, name: str) -> Path | None:
    """The first of the directories between `directory` and its file `name` that is a link or no directory."""
    places = (directory / part for part in reversed(list(PurePath(name).parents)[:-1]))
    return next(
        (place for place in places if os.path.lexists(place) and (place.is_symlink() or not place.is_dir())), None
    )


def _is_own(path: Path, digests: Iterable[str]) -> bool:
    try:
        return not path.is_symlink() and path.is_file() and (_ANY in digests or _digest(path) in digests)
    except OSError:
        return False


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _replace(directory: Path, texts: Mapping[str, str], own: Digests, new: Digests) -> None:
    """Writes all files elsewhere in the directory, then moves each to its place."""
    with draft_folder(directory) as folder:
        drafts = {name: folder / str(nth) for nth, name in enumerate(texts)}
        for name, text in texts.items():
            write_whole(drafts[name], text)
        both = {name: [*own.get(name, []), *digests] for name, digests in new.items()}
        write_whole(directory / NOTE, to_json({**own, **both}))
        for name, draft in drafts.items():
            draft.replace(directory / name)


@contextmanager
def _new_directories(directory: Path, names: Iterable[str]) -> Iterator[None]:
    """Makes the directory and those below it for the files `names`.

    After an exception, the directories that were made are removed with these files.
    """
    wanted = [directory, *((directory / name).parent for name in names)]
    missing = {place for path in wanted for place in (path, *path.parents) if not place.exists()}
    made: list[Path] = []
    try:
        for path in sorted(missing, key=lambda path: len(path.parts)):
            try:
                path.mkdir()
            except OSError as error:
                raise NotWritten(path, error) from error
            made.append(path)
        yield
    except BaseException:
        if directory in made:
            for name in [*names, NOTE]:
                (directory / name).unlink(missing_ok=True)
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir()
        raise
