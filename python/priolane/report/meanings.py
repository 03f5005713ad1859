"""The meaning of names on a page: classes by their bounds, schemes by their files, and the words of the study."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from priolane.model.shipped_schemes import about
from priolane.report.overview import ALL, Overview
from priolane.report.sentences.values import NO_BREAK
from priolane.report.sentences.words import sentence_case
from priolane.results.report import Panel
from priolane.results.results import Results
from priolane.study.recorded import figure_of

# More letters than this are folded.
_MOST_LETTERS = 420
_SIZE = re.compile(r"(?<=\d)(?=[kMG]?B\b)")


@dataclass(frozen=True)
class Meanings:
    """The names of a page with what they mean, and whether they are so many that they are folded."""

    entries: tuple[tuple[str, str], ...]
    is_long: bool


def panels_in_words(results: Results, view: Overview) -> list[Panel]:
    """The panels of a report that are drawn; classes along x have words with their bounds."""
    words = _classes(results, view)

    def in_words(panel: Panel) -> Panel:
        classes = {metric.partition(".")[2] for metric in panel.metrics}
        return replace(panel, words={name: text for name, text in words.items() if name in classes})

    return [in_words(panel) for panel in results.report.drawn]


def meanings(results: Results, view: Overview) -> Meanings:
    """The schemes of results in words: those of the study, or the comment at the top of a shipped file.

    A scheme of which a key is set or swept has no words, nor has one that nobody explains.
    """
    study, changed = _study(results), _changed(results, view)
    named = ((name, study.get(name) or about(name)) for name in view.schemes if name not in changed)
    entries = tuple((name, sentence_case(text.rstrip("."))) for name, text in named if text)
    return Meanings(entries, sum(len(name) + len(text) for name, text in entries) > _MOST_LETTERS)


def _changed(results: Results, view: Overview) -> set[str]:
    """The schemes whose keys a command set, or that are swept."""
    keys = [*(key for key, _ in results.options.sets), *(key for point in view.points for key in point)]
    return {key.split(".")[1] for key in keys if key.startswith("scheme.") and key.count(".") > 1}


def class_in_words(view: Overview, of_class: str | None) -> str:
    """A class of flows with its bounds: `small: below 100 kB`; empty for all flows, and for a class without bounds."""
    texts = {section.name: section.text for section in view.classes if section.name != ALL}
    text = texts.get(of_class or "", "")
    return f"{of_class}: {_SIZE.sub(NO_BREAK, text)}" if text else ""


def _classes(results: Results, view: Overview) -> dict[str, str]:
    """Each class with its bounds, `small: below 100 kB`, or as the study calls it."""
    words = {section.name: class_in_words(view, section.name) for section in view.classes}
    return {**{name: text for name, text in words.items() if text}, ALL: "all flows", **_study(results)}


def _study(results: Results) -> Mapping[str, str]:
    """The names of the figure of the study whose file these results are of; empty for other experiments."""
    item = figure_of(results)
    return {} if item is None else item.names
