"""Makes the flow lists of PrioPlus's released training of models (Fig. 12c).

    python3 tools/study/training_lists.py study/papers/prioplus/fig12c

Three workers of a model form a ring. In an iteration each sends 2 (n - 1) / n of the model to the next one in one flow.
A worker computes when as many bytes as the model has, three quarters of the flow, have arrived from the worker before
it, and then begins its next iteration. Such a flow is two messages of one connection in `training_*.csv`: the first
ends with the packet that completes the model, and only the first belongs to its iteration. In `whole_*.csv` workers
wait for the whole flow.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

RACKS = 3
HOSTS_PER_RACK = 8
MODELS_PER_KIND = 4
# The lists last this long even in a network that delays nothing, in nanoseconds: the measured time of the figure.
LENGTH_NS = 20_000_000
# Payload of a packet of the released simulator.
PACKET = 1_000
# Name: bytes of the model, nanoseconds of computing.
KINDS = {"resnet": (2_244_609, 701_300), "vgg": (9_439_232, 2_742_875)}


@dataclass(frozen=True)
class Message:
    """The flow of a worker in an iteration: its hosts and class, and the row and delay that it waits for."""

    src: int
    dst: int
    of_class: int
    iteration: int
    waits: str


def whole(message: Message, size: int) -> list[str]:
    """A flow of one message."""
    payload = 2 * (RACKS - 1) * size // RACKS
    return [f"0,{message.src},{message.dst},{payload},{message.of_class},{message.iteration},,{message.waits}"]


def in_two(message: Message, size: int) -> list[str]:
    """A flow of two messages."""
    pair, iteration = f"0,{message.src},{message.dst}", message.iteration
    model = -(-size // PACKET) * PACKET
    rest = 2 * (RACKS - 1) * size // RACKS - model
    return [
        f"{pair},{model},{message.of_class},{iteration},{iteration},{message.waits}",
        f"{pair},{rest},{message.of_class},,{iteration},{message.waits}",
    ]


def rows(host: int, compute_ns: int, flow: Callable[[Message], list[str]]) -> list[str]:
    """The rows of a model whose class is that of its first worker, `host`, one iteration after the other."""
    workers = [host + HOSTS_PER_RACK * rack for rack in range(RACKS)]
    made: list[str] = []
    first: dict[int, int] = {}
    for iteration in range(LENGTH_NS // compute_ns + 1):
        before = first
        first = {}
        for worker, src in enumerate(workers):
            waits = f"{before[(worker - 1) % RACKS]},{compute_ns}" if iteration else ","
            first[worker] = len(made)
            made += flow(Message(src, workers[(worker + 1) % RACKS], host, iteration, waits))
    return made


def main(directory: Path) -> None:
    """Writes two lists for each model."""
    head = "# source: released configuration of Fig. 12c (tools/study/training_lists.py)\n"
    columns = "start_ns,src,dst,bytes,class,coflow,connection,after,delay_ns\n"
    for kind, (name, (size, compute_ns)) in enumerate(KINDS.items()):
        for model in range(MODELS_PER_KIND):
            for prefix, flow in (("training", in_two), ("whole", whole)):
                listed = rows(kind * MODELS_PER_KIND + model, compute_ns, partial(flow, size=size))
                (directory / f"{prefix}_{name}{model}.csv").write_text(head + columns + "\n".join(listed) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
