"""The first screen of a page: what came out as a sentence, its numbers and verdict, and the worst warning."""

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from priolane.report.difference import difference
from priolane.report.forest_rows import allowed_band
from priolane.report.grid_text import grid_text
from priolane.report.leading import lead_class, worst_first
from priolane.report.meanings import class_in_words
from priolane.report.overview import Overview
from priolane.report.sentences import finding, headline, is_measured, title_is_claim_alone, verdict_text
from priolane.report.sentences.quantities import quantity_words
from priolane.report.sentences.rows import furthest, judged
from priolane.report.sentences.values import Detail, estimate_text, range_text
from priolane.report.setting import setting_text
from priolane.report.templates import badge_of, coded
from priolane.results.report import Claim, Report, Source, tally_texts
from priolane.results.results import Results
from priolane.study.recorded import Recorded

# A longer sentence has smaller letters, and a longer warning ends in an ellipsis: the checks have all of it.
_MOST_NUMBERS = 3
_LONG_HEADLINE = 110
_LONGEST_WARNING = 200


@dataclass(frozen=True)
class Answer:
    """The texts of the first screen, from top to bottom.

    `pill` has class and sign of the verdict, `None` without claims. `flag` says what is wrong with the number, `count`
    how many other claims there are, and `more` how many warnings are not told here. `of_class` is the class of flows
    that it is about.
    """

    eyebrow: str
    headline: str
    is_long: bool
    numbers: str
    pill: Mapping[str, str] | None
    verdict: str
    flag: str
    count: str
    warning: Markup
    more: int
    of_class: str | None


def answer(results: Results, view: Overview, kept: Recorded) -> Answer:
    """The first screen of results."""
    report = results.report
    warnings = worst_first(report, of_study=kept.of_study)
    eyebrow, more = _eyebrow(results), max(len(warnings) - 1, 0)
    warning = coded(_cut(warnings[0])) if warnings else Markup()
    lead = report.lead
    if lead is None:
        difference_text = difference(view, grid_text(results))
        is_long = len(difference_text.headline) > _LONG_HEADLINE
        texts = (eyebrow, difference_text.headline, is_long, difference_text.numbers)
        return Answer(*texts, None, "", "", difference_text.basis, warning, more, difference_text.of_class)
    title = kept.conclusion.rstrip(".") or headline(lead)
    of_class = lead_class(report)
    parts = [*_numbers(lead, title, kept), class_in_words(view, of_class)]
    return Answer(
        eyebrow=eyebrow,
        headline=title,
        is_long=len(title) > _LONG_HEADLINE,
        numbers=" · ".join(part for part in parts if part),
        pill=badge_of(lead),
        verdict=verdict_text(lead),
        flag=lead.flag_kinds,
        count=_count(report, lead, kept),
        warning=warning,
        more=more,
        of_class=of_class,
    )


def _numbers(lead: Claim, title: str, kept: Recorded) -> list[str]:
    """The numbers below the title, and of which quantity they are where no words say that: with their claim where the
    title is the conclusion of the figure, as a sentence where the title is the claim alone, and none where the title
    has them."""
    if kept.conclusion or title_is_claim_alone(lead):
        says = f"Claim: {finding(lead, Detail.BRIEF)}" if kept.conclusion else finding(lead)
        quantity = _unsaid_quantity(lead, f"{title} {says}")
        return [says, f"quantity: {quantity}"] if quantity else [says]
    quantity, numbers = _unsaid_quantity(lead, title), numbers_text(lead)
    if not numbers or f"({numbers} here" in title:
        return [f"quantity: {quantity}"] if quantity else []
    return [f"{quantity}: {numbers}" if quantity else numbers]


def _unsaid_quantity(claim: Claim, words: str) -> str:
    """The quantity of all values of a claim, `gain in mean FCT`; empty where the words have it, and where values are of
    several."""
    quantities = {side.quantity for item in claim.contrasts for side in item.sides}
    if len(quantities) != 1:
        return ""
    quantity = quantity_words(quantities.pop())
    # Papers write average for mean, and the bare name for both.
    spelled = words.casefold().replace("average", "mean")
    return "" if quantity.removeprefix("gain in ").casefold() in spelled else quantity


def numbers_text(claim: Claim) -> str:
    """The values of a claim with their intervals: `load 0.5: 2.9 [1.9, 4.4] · load 0.8: 3.5 [3.0, 4.2]`, or of more
    than three the one that is furthest from what is asked."""
    if not is_measured(claim):
        return ""
    rows, unit = judged(claim), claim.contrasts[0].unit
    if len(rows) > _MOST_NUMBERS:
        band = allowed_band(claim)
        if band is None:
            return range_text([estimate for _, estimate in rows], unit)
        place, estimate = rows[furthest(claim, band.distance)]
        return f"furthest off of {len(rows)}: {estimate_text(estimate, unit)} at {place}"
    texts = [(place, estimate_text(estimate, unit)) for place, estimate in rows]
    return " · ".join(f"{place}: {text}" if place else text for place, text in texts)


def _eyebrow(results: Results) -> str:
    report = results.report
    origin = f"{report.paper}, {report.figure}" if report.paper and report.figure else report.paper
    # The title of a paper's figure says its setting.
    parts = (origin or report.title, "" if origin else setting_text(results), grid_text(results))
    return " · ".join(part for part in parts if part)


def _count(report: Report, lead: Claim, kept: Recorded) -> str:
    recorded = kept.words.get(lead.text, "")
    parts = [f"recorded: {recorded}"] if recorded else []
    claims = len(report.claims)
    if claims > 1:
        counted = tally_texts(report)
        owned = len(counted) > 1
        counts = "; ".join(f"ours: {text}" if owned and source is Source.OURS else text for source, text in counted)
        parts.append(f"one of {claims} claims: {counts}")
    return "; ".join(parts)


def _cut(text: str) -> str:
    """A warning with its full stop; what is too long ends at a word, with no code left open."""
    whole = text.rstrip(".") + "."
    if len(whole) <= _LONGEST_WARNING:
        return whole
    kept = whole[:_LONGEST_WARNING].rpartition(" ")[0] or whole[:_LONGEST_WARNING]
    if kept.count("`") % 2:
        kept = kept.rpartition("`")[0].rstrip()
    return f"{kept} …"
