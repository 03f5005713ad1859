"""Makes the flow lists of PrioPlus's released training of models (Fig. 12c).

    python3 tools/study/training_lists.py study/papers/prioplus/fig12c

Three workers of a model form a ring. In an iteration each sends 2 (n - 1) / n of the model to the next one in one flow.
A worker computes when the flow of the worker before it has arrived, and then begins its next iteration.
"""

import sys
from pathlib import Path

RACKS = 3
HOSTS_PER_RACK = 8
MODELS_PER_KIND = 4
# The lists last this long even in a network that delays nothing, in nanoseconds: the measured time of the figure.
LENGTH_NS = 20_000_000
# Name: bytes of the model, nanoseconds of computing.
KINDS = {"resnet": (2_244_609, 701_300), "vgg": (9_439_232, 2_742_875)}


def rows(host: int, size: int, compute_ns: int) -> list[str]:
    """The flows of a model whose class is that of its first worker, `host`, one iteration after the other."""
    workers = [host + HOSTS_PER_RACK * rack for rack in range(RACKS)]
    payload = 2 * (RACKS - 1) * size // RACKS
    made = []
    for iteration in range(LENGTH_NS // compute_ns + 1):
        for worker, src in enumerate(workers):
            dst = workers[(worker + 1) % RACKS]
            before = (iteration - 1) * RACKS + (worker - 1) % RACKS
            waits = f"{before},{compute_ns}" if iteration else ","
            made.append(f"0,{src},{dst},{payload},{host},{iteration},{waits}")
    return made


def main(directory: Path) -> None:
    """Writes a list for each model."""
    head = "# source: released configuration of Fig. 12c (tools/study/training_lists.py)\n"
    for kind, (name, (size, compute_ns)) in enumerate(KINDS.items()):
        for model in range(MODELS_PER_KIND):
            listed = rows(kind * MODELS_PER_KIND + model, size, compute_ns)
            text = head + "start_ns,src,dst,bytes,class,coflow,after,delay_ns\n" + "\n".join(listed) + "\n"
            (directory / f"training_{name}{model}.csv").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
