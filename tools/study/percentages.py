"""Headlines that a paper states as a percentage: what was measured, what the paper has, and what its claim allows.

A headline of paper.toml with `percent` says how its percentage follows from the number of its claim. The number may be
a ratio of what the paper compares, of either side to the other, or a share.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from priolane.report.sentences.quantities import quantity_words
from priolane.study import catalogue


@dataclass(frozen=True)
class Formula:
    """A percentage as a function of the number of a claim. `word` stands behind it, and `opposite` behind one that is
    below 0. `new` is the place of the scheme that the sentence is about, of two that are compared."""

    percent: Callable[[float], float]
    word: str
    opposite: str
    new: int

    def text(self, value: float) -> str:
        """`35.5 % less`."""
        shown = self.percent(value)
        word = self.opposite if shown < 0 else self.word
        return f"{abs(shown):.1f} %{f' {word}' if word else ''}"

    def between(self, low: float, high: float) -> str:
        """`20.3 to 57.0 % less`."""
        ends = sorted((self.percent(low), self.percent(high)))
        behind = f" {self.word}" if self.word else ""
        return f"{ends[0]:.1f} to {ends[1]:.1f} %{behind}"


FORMULAS = {
    "1 - 1 / ratio": Formula(lambda ratio: 100 * (1 - 1 / ratio), "less", "more", new=1),
    "1 - ratio": Formula(lambda ratio: 100 * (1 - ratio), "less", "more", new=0),
    "ratio - 1": Formula(lambda ratio: 100 * (ratio - 1), "more", "less", new=0),
    "1 / ratio - 1": Formula(lambda ratio: 100 * (1 / ratio - 1), "more", "less", new=1),
    "share": Formula(lambda share: 100 * share, "", "", new=0),
}
"""The formulas by the text of `percent`."""


def formula_of(headline: Mapping[str, str]) -> Formula | None:
    """The formula of a headline; `None` where the paper states no percentage. Raises `SystemExit` for an
    unknown one."""
    stated = headline.get("percent")
    if stated is None:
        return None
    if stated not in FORMULAS:
        raise SystemExit(f"percent = {stated!r}: must be one of {', '.join(map(repr, FORMULAS))}")
    return FORMULAS[stated]


def question(formula: Formula, test: Mapping[str, Any]) -> str:
    """The criterion of a claim: `44.1 % less; 20.3 to 57.0 % less is allowed`."""
    if test["kind"] == "ratio":
        paper, within = test["paper"], test["within"]
        allowed = formula.between(paper * (1 - within), paper * (1 + within))
        return f"{formula.text(paper)}; {allowed} is allowed"
    if test["kind"] == "equal":
        return f"at most {100 * test['within']:g} % apart"
    if "above" in test and "below" in test:
        return formula.between(test["above"], test["below"])
    end = test["above"] if "above" in test else test["below"]
    is_least = ("above" in test) == (formula.percent(2.0) > formula.percent(1.0))
    if abs(formula.percent(end)) < 0.05:
        return formula.word if is_least else formula.opposite
    return f"{'at least' if is_least else 'at most'} {formula.text(end)}"


def measured(formula: Formula, items: list[Mapping[str, Any]], most: int) -> str:
    """The values with their intervals: `35.5 % less [34.6, 36.3]`; of more than `most` the ends."""
    values = sorted(
        (item for item in items if item["mean"] is not None), key=lambda item: formula.percent(item["mean"])
    )
    texts = [_value(formula, item) for item in values]
    if len(texts) <= most:
        return ", ".join(texts) or "–"
    return f"{texts[0]} to {texts[-1]} ({extent(values)})"


def extent(items: Sequence[Mapping[str, Any]]) -> str:
    """The number of values of a claim: `4 loads`, or `3 pairs x 4 loads` where each pair has one at each load."""
    pairs = {tuple(side["scheme"] for side in item.get("sides", ())) for item in items}
    points = {repr(sorted(item["at"].items(), key=str)): item["at"] for item in items}
    names = {name for at in points.values() for name in at}
    word = "loads" if names and all(name.endswith("load.value") for name in names) else "points"
    if len(pairs) * len(points) != len(items) or len(points) == 1:
        return f"{len(items)} values"
    return f"{len(pairs)} pairs x {len(points)} {word}" if len(pairs) > 1 else f"{len(points)} {word}"


def _value(formula: Formula, item: Mapping[str, Any]) -> str:
    text = formula.text(item["mean"])
    if item["low"] is None or item["high"] is None:
        return text
    sign = -1 if formula.word and formula.percent(item["mean"]) < 0 else 1
    ends = sorted(sign * formula.percent(item[end]) for end in ("low", "high"))
    return f"{text} [{ends[0]:.1f}, {ends[1]:.1f}]"


def compared(formula: Formula, figure: str, claim: Mapping[str, Any]) -> str:
    """The quantity that is less or more: `mean FCT with top against expresspass`; every pair is named, or the schemes
    of which each pair is compared."""
    items = claim["compared"] or claim["measured"]
    pairs = list(dict.fromkeys(_pair(formula, figure, item) for item in items))
    words = list(dict.fromkeys(words for words, _ in pairs))
    two = {frozenset(_scheme(figure, side) for side in item.get("sides", ())) for item in items}
    schemes = list(dict.fromkeys(_scheme(figure, side) for item in items for side in item.get("sides", ())))
    if len(two) > 1 and two == set(map(frozenset, combinations(schemes, 2))):
        return f"{' and '.join(words)}, each pair of {', '.join(schemes)}"
    return f"{' and '.join(words)} {', '.join(dict.fromkeys(schemes for _, schemes in pairs))}".rstrip()


def _pair(formula: Formula, figure: str, item: Mapping[str, Any]) -> tuple[str, str]:
    sides = item.get("sides", ())
    words = quantity_words(sides[0]["quantity"])
    if len(sides) == 1:
        scheme = _scheme(figure, sides[0])
        if not formula.word:
            return words, f"with {scheme}"
        return words.removeprefix("gain in "), f"with {scheme} against {_baseline(_found(figure))}"
    new, old = (sides[formula.new], sides[1 - formula.new])
    return words, f"with {_scheme(figure, new)} against {_scheme(figure, old)}"


def _found(figure: str) -> catalogue.PaperFigure:
    (found,) = catalogue.find(figure)
    return found


def _scheme(figure: str, side: Mapping[str, Any]) -> str:
    """The name of a scheme for tables, which stands before a colon in its words."""
    name: str = side["scheme"]
    words = _found(figure).names.get(name, "")
    return words.partition(":")[0] if ":" in words else name


def _baseline(item: catalogue.PaperFigure) -> str:
    """The scheme that gains are relative to."""
    return str(item.stated.get("metrics", {}).get("baseline", "the baseline"))
