"""Runs on the workers of a Dask cluster. `distributed` is imported here and nowhere else.

Calls carry text and a reference to `priolane.execution.work_unit.run`, but no code and no path of this machine. A
worker plugin sends the files that runs name to each worker once, including workers that join later or restart.
"""

import concurrent.futures
import hashlib
import logging
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from priolane._core import InputError, RunFailed
from priolane.execution import work_unit
from priolane.execution.backend import Backend
from priolane.execution.dispatch import Call, Completion, WorkerDied, cannot_import
from priolane.execution.signals import deferred

try:
    import dask
    import distributed
    from distributed.client import as_completed
    from distributed.scheduler import KilledWorker
except ImportError as _missing:
    raise InputError(f"--on: Dask cannot be loaded ({_missing}); pip install 'priolane[cluster]'") from _missing

_CONNECT_S = 10
_TICK_S = 0.01


class FilePlugin(distributed.WorkerPlugin):  # type: ignore[misc] # Dask is typed in part
    """Gives a worker the files that runs name."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """`texts` by SHA-256."""
        self.texts = dict(texts)
        self.name = "priolane-" + hashlib.sha256("".join(sorted(texts)).encode()).hexdigest()[:16]

    def setup(self, worker: Any) -> None:  # noqa: ARG002
        """Called in a worker when it starts."""
        work_unit.cache_files(self.texts)


class DaskWorkers:
    """Calls through a client of Dask."""

    def __init__(self, client: Any, name: str, function: Any = work_unit.run) -> None:
        """`name` is what messages call the cluster; `function` is what workers do, by default a unit."""
        self.name = name
        self._client, self._function = client, function
        self._runs: dict[str, str] = {}
        """Runs by the keys under which they are under way."""
        self._done = as_completed(loop=client.loop, with_results=True, raise_errors=False)

    def submit(self, calls: Sequence[Call]) -> None:
        """Submits calls in one message. A run has one key: two clients that ask for it share its task."""
        self._require_connection()
        keys = []
        for call in calls:
            mark = hashlib.sha256(call.text.encode()).hexdigest()[:8]
            keys.append(f"priolane-{call.run_id}-{mark}-{call.attempt}")
        texts, files = [call.text for call in calls], [call.texts for call in calls]
        futures = self._client.map(self._function, texts, files, key=keys, pure=False)
        self._runs.update(zip(keys, (call.run_id for call in calls), strict=True))
        self._done.update(futures)

    def completions(self, timeout_s: float) -> Sequence[Completion]:
        """The calls under way; results are dropped from the cluster as they come."""
        end = time.monotonic() + timeout_s
        while not self._done.has_ready() and time.monotonic() < end:
            self._require_connection()
            time.sleep(_TICK_S)
        return [self._completion(future, result) for future, result in self._done.next_batch(block=False)]

    def _completion(self, future: Any, result: Any) -> Completion:
        run_id = self._runs.pop(future.key)
        if isinstance(result, bytes):
            return Completion(run_id, result)
        error = result[1] if isinstance(result, tuple) else result
        if isinstance(error, KilledWorker):
            died = WorkerDied(f"run {run_id}: the workers that had it ended (killed, or out of memory)")
            return Completion(run_id, error=died)
        if future.status in ("cancelled", "lost") or isinstance(error, concurrent.futures.CancelledError):
            raise self._connection_lost()
        return Completion(run_id, error=error)

    def _require_connection(self) -> None:
        if self._client.status != "running":
            raise self._connection_lost()

    def _connection_lost(self) -> RunFailed:
        return RunFailed(f"{self.name}: the scheduler is gone; start it again, and run the same command again")

    def workers(self) -> int | None:
        """The number of workers that the scheduler has."""
        self._require_connection()
        try:
            return len(self._client.nthreads())
        except (OSError, TimeoutError, concurrent.futures.TimeoutError) as error:
            raise self._connection_lost() from error

    def require_same_version_everywhere(self) -> None:
        """Raises `RunFailed` if a worker that is there has no priolane, or another one, with what to install."""
        try:
            identities = self._client.run(work_unit.identity, on_error="return")
        except ImportError as error:
            raise RunFailed(f"{self.name}: {cannot_import(error)}") from error
        wants = work_unit.identity()
        for address, has in identities.items():
            if isinstance(has, ImportError):
                raise RunFailed(f"{self.name}: {address}: {cannot_import(has)}")
            if isinstance(has, BaseException):
                raise RunFailed(f"{self.name}: {address} does not answer: {has!r}")
            if tuple(has) != wants:
                raise work_unit.VersionMismatch(work_unit.version_mismatch(f"{self.name}: {address}", has, wants))

    def cancel(self) -> None:
        """Drops what has not begun; a worker ends the run that it has begun."""
        self._done.clear()
        self._runs.clear()


@contextmanager
def connected(backend: Backend, texts: Mapping[str, str], function: Any = work_unit.run) -> Iterator[DaskWorkers]:
    """A connection to the cluster of `backend`, whose workers have `texts` and do `function`; a cluster of
    ours ends with it.

    Raises `InputError` if there is none, `RunFailed` if its workers have another priolane.
    """
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        # Workers inherit the mask: Ctrl-C is for this process to handle.
        with deferred(signal.SIGINT):
            client = stack.enter_context(_client(backend, stack))
        client.loop.asyncio_loop.set_exception_handler(_drop)
        workers = DaskWorkers(client, str(backend), function)
        workers.require_same_version_everywhere()
        if texts:
            plugin = FilePlugin(texts)
            client.register_plugin(plugin)
            stack.callback(_forget, client, plugin)
        yield workers


def _drop(loop: Any, context: Mapping[str, Any]) -> None:
    """Drops the errors that nothing waits for on the loop of a client, which no one else uses.

    The loop ends while Dask's own waits are under way, and asyncio would print their timeouts when Python destroys
    them, which may be after the last line of the command.
    """


def _forget(client: Any, plugin: FilePlugin) -> None:
    if client.status == "running":
        with suppress(OSError, TimeoutError, ValueError):
            client.unregister_worker_plugin(plugin.name)


def _client(backend: Backend, stack: ExitStack) -> Any:
    if backend.kind == "dask":
        address = f"tcp://{backend.address}"
        try:
            return distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"--on {backend}: no Dask scheduler answers there within {_CONNECT_S} s ({error}); start one with "
                "`dask scheduler`, and see docs/clusters.md"
            ) from error
    cluster = stack.enter_context(_local(backend.count) if backend.kind == "dask-local" else _slurm(backend.count))
    return distributed.Client(cluster, timeout=_CONNECT_S, set_as_default=False)


def _local(workers: int) -> Any:
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        # Dask takes a port for its status page even so: any that is free.
        scheduler_kwargs={"dashboard_address": ":0"},
        silence_logs=logging.CRITICAL,
    )


def _slurm(jobs: int) -> Any:
    try:
        from dask_jobqueue import SLURMCluster  # noqa: PLC0415
    except ImportError as error:
        raise InputError(f"--on slurm: {error}; pip install 'priolane[cluster]'") from error
    if shutil.which("sbatch") is None:
        raise InputError("--on slurm: there is no sbatch here; run it on a login node of the Slurm cluster")
    try:
        scheduler_options = dask.config.get("jobqueue.slurm.scheduler-options", None) or {}
        cluster = SLURMCluster(scheduler_options={"dashboard": False, "dashboard_address": ":0"} | scheduler_options)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"--on slurm: {error}; state what a job is in ~/.config/dask/jobqueue.yaml (docs/clusters.md#slurm)"
        ) from error
    cluster.scale(jobs=jobs)
    return cluster


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences the logs of Dask, which tell of each worker and connection; priolane says in a line what matters."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado")]
    before = {each: each.level for logger in loggers for each in (logger, *_children(logger))}
    for each in before:
        each.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for each, level in before.items():
            each.setLevel(level)


def _children(logger: logging.Logger) -> list[logging.Logger]:
    known = logging.root.manager.loggerDict.items()
    return [each for name, each in known if name.startswith(f"{logger.name}.") and isinstance(each, logging.Logger)]
