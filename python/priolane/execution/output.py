"""The directory that a grid writes, which may be the mirror of an object store."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from priolane._core import Stopped
from priolane.execution.settings import Settings
from priolane.storage.object_store import ObjectStore, StoreError
from priolane.storage.url import is_url
from priolane.text.printable import message


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
        for what in store.damaged.values():
            message(f"{what}; it is not taken")
        yield store.directory, replace(settings, on_saved=store.upload, give_up=store.abandon, packs=False)
        store.finish()
    except (KeyboardInterrupt, Stopped, StoreError):
        store.abandon()
        raise
    except BaseException:
        store.close()
        raise
    store.close()
