"""Empty units per second through `priolane.execution.dispatch`: what an engine costs beside the runs.

    python tools/sweep_rate.py local 10000
    python tools/sweep_rate.py dask-local:2 10000
    python tools/sweep_rate.py dask://127.0.0.1:8786 10000

A unit is 300 bytes of text there and nothing back. Asked: 500 a second on `local`, 200 on a Dask cluster of two
workers.
"""

import concurrent.futures
import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from priolane.execution import work_unit
from priolane.execution.backend import LOCAL, parse_backend
from priolane.execution.dispatch import CallSource, Dispatcher, RemoteWorkers
from priolane.execution.pool import ExecutorWorkers
from priolane.execution.worker import JobResult

_SIZE = 300


@contextmanager
def start_workers(place: str) -> Iterator[RemoteWorkers]:
    """The carrier of units to `place`: a process, or a worker for each core with `local`."""
    on = parse_backend(place)
    if on == LOCAL:
        with concurrent.futures.ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
            yield ExecutorWorkers(pool, work_unit.no_op)
        return
    from priolane.execution.cluster import connected  # noqa: PLC0415

    with connected(on, {}, work_unit.no_op) as dask:
        yield dask


def rate(place: str, units: int) -> float:
    """Units per second."""
    work = CallSource(lambda run_id: run_id.ljust(_SIZE), lambda run_id, _: JobResult(run_id, ran=True), dict)
    with start_workers(place) as through:
        # Workers that start are not what is measured.
        warm = [f"warm {nth}" for nth in range(100)]
        for ids in (warm, [str(nth) for nth in range(units)]):
            begun = time.perf_counter()
            done = sum(1 for _ in Dispatcher(through, work, print).execute(ids))
            if done != len(ids):
                raise SystemExit(f"{done} of {len(ids)} came back")
        return units / (time.perf_counter() - begun)


def main(arguments: list[str]) -> None:
    """Prints the rate, and the largest memory of this process."""
    place, units = arguments[0], int(arguments[1])
    per_second = rate(place, units)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{place}: {units} empty units, {per_second:,.0f} a second, client {memory:,.0f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
