"""Causes of verdicts, as experiment files state them beside claims (`[[claim]] cause`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class CauseKind(Enum):
    """The part that decides the verdict of a claim."""

    PAPER = "paper"
    """The paper contradicts itself, or its number is impossible in the system that it describes."""
    UNSTATED = "unstated"
    """A choice that the paper does not state."""
    OURS = "ours"
    """Our band, our sentence or our measure."""
    RELEASE = "release"
    """Our model or its size differs from what the authors released."""
    FINDING = "finding"
    """The claim does not hold."""

    @property
    def words(self) -> str:
        """The kind as the beginning of a sentence."""
        return _WORDS[self]


_WORDS = {
    CauseKind.PAPER: "the paper contradicts itself",
    CauseKind.UNSTATED: "a choice that the paper does not state decides",
    CauseKind.OURS: "our band or our sentence decides",
    CauseKind.RELEASE: "our model or its size differs from the authors' release",
    CauseKind.FINDING: "the claim does not hold",
}


@dataclass(frozen=True)
class Cause:
    """The cause of a verdict, with what shows it: one of the three texts, the others are empty.

    `proof` names a test, or a bound that the figure draws. `reading` is the reading of the paper under which the
    claim is reproduced. `evidence` is a sentence.
    """

    kind: CauseKind
    proof: str = ""
    reading: str = ""
    evidence: str = ""

    @classmethod
    def of(cls, value: Mapping[str, Any] | None) -> "Cause | None":
        """The cause in a report, a record, or an experiment file; `None` where none is stated.

        Raises `ValueError` if the kind is unknown, or if not exactly one text is given.
        """
        if value is None:
            return None
        texts = {key: value[key] for key in ("proof", "reading", "evidence") if value.get(key)}
        if len(texts) != 1:
            raise ValueError(f"a cause has one of proof, reading and evidence, not {', '.join(texts) or 'none'}")
        return cls(CauseKind(value["kind"]), **texts)

    @property
    def proves_impossible(self) -> bool:
        """Whether a test or a bound proves that the number of the paper is impossible."""
        return self.kind is CauseKind.PAPER and bool(self.proof)

    def as_json(self) -> dict[str, str]:
        """The cause as an experiment file states it."""
        texts = {"proof": self.proof, "reading": self.reading, "evidence": self.evidence}
        return {"kind": self.kind.value} | {key: text for key, text in texts.items() if text}

    def __str__(self) -> str:
        """The cause in a sentence without its full stop."""
        if self.reading:
            return f"{self.kind.words}: the claim is reproduced under the reading {self.reading}"
        if self.proof:
            return f"{self.kind.words}: {_told(self.proof)}"
        return f"{self.kind.words}: {self.evidence.removesuffix('.')}"


def _told(proof: str) -> str:
    """A proof in words: the name of its test, or the bound that the figure draws."""
    file, named, test = proof.partition("::")
    if not named:
        return f"the figure draws the bound {proof}"
    return f"{test.removeprefix('test_').replace('_', ' ')} ({file})"
