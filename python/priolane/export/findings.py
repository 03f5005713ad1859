"""The outcome of a scheme on its way to a target: refused, not expressed, changed, or worth knowing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from priolane._core import InputError
from priolane.export.coverage import Coverage

Step = Literal["load", "verify", "roll back"]
STEPS: tuple[Step, ...] = ("load", "verify", "roll back")


@dataclass(frozen=True)
class Change:
    """A setting for which the target has another value: its name, and the difference."""

    what: str
    error: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.what}: {self.error}"


@dataclass
class Findings:
    """Filled by a target while it writes.

    `refusals` mean that there is no configuration; `not_expressed` is what the target has no word for and its
    configuration leaves as it is, `changed` what it has in another value or form; `notes` are what to know besides,
    `steps` what to do with the files. `coverage` counts the switches and ports that have a configuration.
    """

    refusals: list[str] = field(default_factory=list)
    not_expressed: list[str] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    steps: dict[Step, list[str]] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=Coverage)

    def refuse(self, reason: str) -> None:
        """There will be no configuration, for this reason."""
        _once(self.refusals, reason)

    def omit(self, what: str) -> None:
        """The target has no word for this."""
        _once(self.not_expressed, what)

    def change(self, what: str, error: str) -> None:
        """The target has this otherwise."""
        change = Change(_one_line(what), _one_line(error))
        if change not in self.changed:
            self.changed.append(change)

    def note(self, text: str) -> None:
        """Further facts to know."""
        _once(self.notes, text)

    def do(self, step: Step, line: str) -> None:
        """A command, or what to do, to load the files, to see whether they work, or to go back."""
        _once(self.steps.setdefault(step, []), line)

    def step_lines(self) -> list[str]:
        """The steps, one line each, in the order in which they are done."""
        return [f"{step}: {line}" for step in STEPS for line in self.steps.get(step, [])]

    def raise_refusals(self, label: str, *, strict: bool) -> None:
        """Raises `InputError` with a line for each refusal; with `strict`, for everything listed too."""
        lines = list(self.refusals)
        if not lines and strict:
            lines += [f"not expressed: {what}" for what in self.not_expressed]
            lines += [f"changed: {change}" for change in self.changed]
        if lines:
            raise InputError("\n".join(f"{label}: {line}" for line in lines))

    def lines(self) -> list[str]:
        """Everything listed, one line each, as files carry it in comments."""
        return [
            *(f"not expressed: {what}" for what in self.not_expressed),
            *(f"changed: {change}" for change in self.changed),
            *(f"note: {text}" for text in self.notes),
        ]


@dataclass(frozen=True)
class ExportedFiles:
    """The files of a target by name, and what was found on the way."""

    files: Mapping[str, str]
    findings: Findings


def _once(texts: list[str], text: str) -> None:
    line = _one_line(text)
    if line not in texts:
        texts.append(line)


def _one_line(text: str) -> str:
    """The text with line breaks written as escapes: a name in a file could pass for a line of its own."""
    return "".join(char if len(f"{char}x".splitlines()) == 1 else repr(char)[1:-1] for char in text)
