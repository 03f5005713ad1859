"""The work of a process of a cluster: one run as JSON in, its results as bytes out, without a file in common.

    call     {"version": ..., "build": ..., "settings": ..., "unit": ...}, the unit as `Grid.unit` writes it
    answer   bytes for `Grid.accept`, or a request for files that this process has not seen

A process keeps the named files that it was sent, by their SHA-256: they come once, with a call or by `cache_files`.
"""

import json
from collections.abc import Iterable, Mapping

from priolane import _core

_WANTS = b"priolane wants files\n"

_texts: dict[str, str] = {}


class VersionMismatch(_core.RunFailed):
    """This process has another priolane than the one that asks it."""


def identity() -> tuple[str, str]:
    """Version of priolane and of its results, and the hash of the sources that make them."""
    return _core.version(), _core.BUILD


def encode_call(unit: str, settings: str) -> str:
    """The call that carries out a unit of this version."""
    version, build = identity()
    return json.dumps({"version": version, "build": build, "settings": settings, "unit": unit})


def run(text: str, texts: Mapping[str, str] | None = None) -> bytes:
    """Carries out a call; `texts` are files by SHA-256 that come with it.

    Raises `VersionMismatch` before anything else is read, and what a run raises.
    """
    call = json.loads(text)
    require_same_version((call.get("version"), call.get("build")), "this worker")
    cache_files(texts or {})
    needed = set(json.loads(call["unit"])["files"].values())
    missing = sorted(needed - _texts.keys())
    if missing:
        return _WANTS + json.dumps(missing).encode()
    by_digest = {digest: _texts[digest] for digest in needed}
    return _core.run_unit(call["unit"], call["settings"], by_digest)


def cache_files(texts: Mapping[str, str]) -> None:
    """Keeps files by SHA-256 for the calls to come."""
    _texts.update(texts)


def requested_files(answer: bytes) -> list[str] | None:
    """The files that an answer asks for; `None` if it is the answer to the call."""
    if not answer.startswith(_WANTS):
        return None
    return [str(digest) for digest in json.loads(answer.removeprefix(_WANTS))]


def require_same_version(expected: tuple[str | None, str | None], who: str) -> None:
    """Raises `VersionMismatch` if this process is of another version or build than `expected`."""
    if expected != identity():
        raise VersionMismatch(version_mismatch(who, identity(), expected))


def version_mismatch(who: str, has: Iterable[str | None], wants: Iterable[str | None]) -> str:
    """Says that a process has another priolane than the one that asks, and what to install."""
    (version, build), (version_wanted, build_wanted) = has, wants
    release = str(version_wanted).partition("+")[0]
    remedy = f"install there: pip install 'priolane[cluster]=={release}'"
    if version == version_wanted:
        remedy = "install one wheel on both sides (`make wheel` writes it to dist/)"
    return (
        f"{who} has priolane {version} (build {build}), these runs want {version_wanted} (build {build_wanted}); "
        f"{remedy}, then start the workers again"
    )


def no_op(text: str, texts: Mapping[str, str] | None = None) -> bytes:  # noqa: ARG001
    """A call without work, whose cost is that of the engine: tools/sweep_rate.py."""
    return b""
