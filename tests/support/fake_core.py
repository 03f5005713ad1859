"""Stands in for the compiled module where a test is about Python's side alone: plan, resume, exit codes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import factories
from priolane._core import Damaged, InputError, RunFailed, Stopped


class FakeGrid:
    """Stands in for `_core.Grid`."""

    def __init__(self, core: "FakeCore", out: Path) -> None:
        self.core, self.out = core, out

    def run(self, run_id: str, progress: Callable[[float, int, int], bool] | None = None) -> str:
        core, directory = self.core, self.out / run_id
        if directory.exists():
            return json.dumps({"ran": False, "run": {}})
        if run_id in core.failing:
            raise RunFailed(f"run {run_id}: bytes are not conserved")
        if progress is not None and not progress(0.001, 3, 10):
            raise Stopped(f"run {run_id} was stopped")
        run = next(run for run in core.runs() if run["id"] == run_id)
        factories.make_run(directory, run)
        core.ran.append(run_id)
        return json.dumps({"ran": True, "run": factories.record(run)})

    def ready(self, run_id: str) -> bool:
        return (self.out / run_id).exists()

    def unit(self, run_id: str) -> str:
        return json.dumps({"run": run_id, "files": {}})

    def accept(self, run_id: str, answer: bytes) -> str:
        if answer != f"answer {run_id}".encode():
            raise Damaged(f"run {run_id}: the answer is damaged")
        return self.run(run_id)


class FakePlan:
    """Stands in for `_core.Plan`."""

    def __init__(self, core: "FakeCore", path: Path) -> None:
        self.core, self.path = core, path

    def to_json(self) -> str:
        plan = {"source": str(self.path), "title": "made by hand", "readings": [], "warnings": [], "alone": []}
        return json.dumps({**plan, "runs": self.core.runs()})

    def costs(self) -> list[float]:
        return [float(nth % 5) for nth, _ in enumerate(self.core.runs())]

    def texts(self) -> dict[str, str]:
        return {}

    def open(self, out_dir: Path, settings: str) -> FakeGrid:
        assert json.loads(settings).keys() - {"packs"} == {"engine", "verify", "threads", "others"}
        self.core.others = json.loads(settings)["others"]
        return FakeGrid(self.core, Path(out_dir))


class FakeExperiment:
    """Stands in for `_core.Experiment`, read from a file."""

    def __init__(self, core: "FakeCore", path: Path) -> None:
        self.core, self.path = core, path

    def plan(self, options: str) -> FakePlan:
        return self.core.plan(self.path, options)

    def check(self, options: str) -> str:
        return self.core.check(self.path, options)


class FakeCore:
    """Answers like `priolane._core`; `ran` lists what was simulated, runs in `failing` fail, reports have `panels`."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.options: list[dict[str, Any]] = []
        # The looks that were told of at each evaluation.
        self.earlier: list[list[dict[str, Any]]] = []
        self.failing: set[str] = set()
        self.traced: list[dict[str, Any]] = []
        self.others: list[str] = []
        self.check_bytes = 20_000_000
        self.panels = 1

    def runs(self) -> list[dict[str, Any]]:
        order = [
            (load, seed, scheme) for load in factories.LOADS for seed in factories.SEEDS for scheme in factories.SCHEMES
        ]
        return [
            {"id": f"{nth:016x}", "scheme": scheme, "point": {factories.LOAD: load}, "seed": seed}
            for nth, (load, seed, scheme) in enumerate(order)
        ]

    def plan(self, path: Path, options: str) -> "FakePlan":
        if not Path(path).is_file():
            raise InputError(f"{path}: no such file; give the path of an experiment")
        self.options.append(json.loads(options))
        return FakePlan(self, path)

    def from_path(self, path: Path) -> FakeExperiment:
        return FakeExperiment(self, path)

    def verdicts(self, path: Path, options: str, out_dir: Path, earlier: str) -> str:
        self.earlier.append(json.loads(earlier))
        assert Path(path).is_file()
        assert json.loads(options)
        assert Path(out_dir).is_dir()
        return json.dumps(factories.report(self.panels))

    def check(self, path: Path, options: str) -> str:
        self.plan(path, options)
        return json.dumps(
            {
                "points": 2,
                "schemes": 4,
                "seeds": 2,
                "runs": 16,
                "alone": 0,
                "packet_hops": 1.5e8,
                "seconds": 90.0,
                "bytes": self.check_bytes,
                "merged": {"title": "t", "claim": [{}, {}]},
                "loads": [
                    {
                        "point": {factories.LOAD: load},
                        "seconds": 0.002,
                        "tiers": [{"tier": "hosts, sending", "mean": load, "busiest": 1.5 * load}],
                        "steady": [],
                    }
                    for load in factories.LOADS
                ],
                "warnings": ["small"],
            }
        )

    def trace(
        self,
        path: Path,
        options: str,
        request: str,
        out_dir: Path,
        progress: Callable[[float, int, int], bool] | None = None,
    ) -> str:
        self.plan(path, options)
        answer = json.loads(request)
        assert answer.keys() == {"flow", "seed", "point", "at"}
        self.traced.append(answer)
        if answer["seed"] is None:
            raise InputError(f"{path}: 8 runs match. Add --seed K (from 1 to 2).")
        return json.dumps(factories.make_trace(Path(out_dir), answer["flow"]))

    def run_unit(self, unit: str, settings: str, texts: dict[str, str]) -> bytes:
        assert json.loads(settings).keys() == {"engine", "verify", "threads"}
        return f"answer {json.loads(unit)['run']}".encode()

    def catalogue(self) -> str:
        return json.dumps({"schemes": [{"name": "nos2", "paper": "NOS2"}], "transports": []})

    def thresholds(self, request: str) -> str:
        self.options.append(json.loads(request))
        if self.options[-1].get("sizes") == "nobody.csv":
            raise InputError("nobody.csv: the file cannot be read. Use the path of a CSV file.")
        return (factories.FIXTURES / "thresholds.json").read_text(encoding="utf-8")

    def bench_scenarios(self) -> list[str]:
        return ["web"]
