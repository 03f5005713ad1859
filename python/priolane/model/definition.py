"""An experiment before options, sweeps and schemes are applied: a file, or values."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from priolane import _core
from priolane._core import InputError

if TYPE_CHECKING:
    from typing import Unpack

    from priolane.keys import Keys

VALUES = "the experiment"
"""The name in messages of an experiment that is in no file."""
_LONGEST_NAME = 60


class Experiment:
    """An experiment: the keys of an experiment file, as Python values.

        experiment = priolane.Experiment(
            title="One rack",
            schemes=["dctcp", "pias"],
            time={"measure": "10ms"},
            topology={"kind": "single_switch", "hosts": 8, "host_link": {"rate": "10Gbps", "delay": "1us"}},
            group=[{"name": "all", "hosts": "*", "app": "poisson", "sizes": "web_search",
                    "load": {"of": "host", "counts": "payload", "value": 0.5}}],
        )
        results = priolane.run(experiment, out="runs/first")

    Run ids are those of an experiment file with the same keys.
    """

    def __init__(
        self, keys: Mapping[str, Any] | None = None, /, *, folder: str | Path = ".", **more: "Unpack[Keys]"
    ) -> None:
        """Takes keys as a mapping, as keywords, or both; files that they name are relative to `folder`.

        Values are text, numbers, booleans, lists, mappings, paths, and classes that control flows. Raises
        `InputError` for a value that no file can have; `plan`, `check` and `run` report wrong keys, each by its name.
        """
        from priolane.model.live_class import named_classes  # noqa: PLC0415 - commands, which read files, start sooner

        twice = sorted(set(keys or {}) & set(more))
        if twice:
            raise InputError(f"{twice[0]}: the key is given in the mapping and as an argument; give it once")
        self.texts: dict[str, str] = {}
        """The texts of the classes among the values, by the names of their files."""
        values = plain(named_classes({**(keys or {}), **more}, self.texts), "")
        title = values.get("title", "")
        words = re.findall(r"[a-z0-9]+", title.lower() if isinstance(title, str) else "")
        self.path: Path | None = None
        """The file that it was read from."""
        self.name = "-".join(words)[:_LONGEST_NAME] or "experiment"
        """The name of its file without the suffix; of values, their title in lower case with hyphens."""
        self.core = _core.Experiment.from_json(VALUES, json.dumps(values), Path(folder), self.texts)
        """The same in the compiled module."""

    @classmethod
    def load(cls, path: str | Path) -> "Experiment":
        """Reads an experiment file; raises `InputError` if it cannot be read or is not TOML."""
        loaded = cls.__new__(cls)
        loaded.path, loaded.texts = Path(path), {}
        loaded.name = experiment_name(path)
        loaded.core = _core.Experiment.from_path(Path(path))
        return loaded

    def __repr__(self) -> str:
        """The name, and the file if it was read from one."""
        return f"<priolane.Experiment {self.name!r}{'' if self.path is None else f' of {self.path}'}>"

    def to_toml(self) -> str:
        """The text of an experiment file with the same keys."""
        return self.core.to_toml()

    def save(self, path: str | Path) -> Path:
        """Writes an experiment file with the same keys, and its classes beside it; returns its path.

        Other files that it names are not copied.

        Raises `InputError` if there is a file already; a file with the same class may be there.
        """
        file = Path(path)
        for name, text in self.texts.items():
            beside = file.with_name(name)
            if not beside.is_file() or beside.read_text(encoding="utf-8") != text:
                _write_new(beside, text)
        _write_new(file, self.to_toml())
        return file


def _write_new(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError as error:
        raise InputError(f"{file}: there is a file already; choose another name") from error


Source: TypeAlias = str | Path | Mapping[str, Any] | Experiment
"""An experiment file, the keys of one, or an experiment."""


def as_experiment(source: Source) -> Experiment:
    """The experiment that is in a file, a mapping, or given as such."""
    if isinstance(source, Experiment):
        return source
    return Experiment(source) if isinstance(source, Mapping) else Experiment.load(source)


def experiment_name(path: str | Path) -> str:
    """The name of an experiment by its file: `first` for `first.toml`, and `fig6` for `fig6/figure.toml`."""
    file = Path(path)
    return file.absolute().parent.name if file.name == "figure.toml" else file.stem


def plain(value: Any, key: str) -> Any:
    """A Python value as JSON has it; `key` is its name in messages. Raises `InputError` for what a file cannot have."""
    if isinstance(value, Mapping):
        return {str(name): plain(item, f"{key}.{name}" if key else str(name)) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return [plain(item, f"{key}[{nth}]") for nth, item in enumerate(value)]
    if callable(getattr(value, "tolist", None)):
        return plain(value.tolist(), key)
    return _scalar(value, key)


def _scalar(value: Any, key: str) -> bool | str | int | float:
    if isinstance(value, bool | str):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    raise InputError(
        f"{key}: a file has no form for {value!r}; give text, a finite number, a boolean, a list or a mapping"
    )
