"""The flags of the numbers of claims, in a sentence for each kind of flag and class of flows."""

import math
from collections.abc import Sequence

from priolane.report.sentences.words import sentence_case
from priolane.results.report import Claim, Flag


def flag_texts(claims: Sequence[Claim]) -> list[str]:
    """A sentence for each kind and class that is flagged, the one that is furthest beyond its limit first.

    It tells the numbers of the worst scheme, and names the others.
    """
    groups: dict[tuple[str, str], dict[str, Flag]] = {}
    for claim in claims:
        for flag in claim.flags:
            group = groups.setdefault((flag.kind, flag.of_class or flag.text), {})
            known = group.get(flag.scheme)
            if known is None or excess(flag) > excess(known):
                group[flag.scheme] = flag
    worst_first = [sorted(group.values(), key=excess, reverse=True) for group in groups.values()]
    return [_sentence(flags) for flags in sorted(worst_first, key=lambda flags: excess(flags[0]), reverse=True)]


def excess(flag: Flag) -> float:
    """The ratio of the number of a flag to its limit, in factors; 0 where it has none."""
    if not flag.measured or not flag.limit:
        return 0.0
    return abs(math.log(flag.measured / flag.limit))


def _sentence(flags: Sequence[Flag]) -> str:
    worst, *others = flags
    also = f"; also {', '.join(flag.scheme for flag in others)}" if others else ""
    return f"{sentence_case(worst.text)}{also}."
