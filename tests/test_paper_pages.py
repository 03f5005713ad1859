"""The page of each paper: headline, picture, command, and the answer of every figure, all of the records."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from priolane.execution.prediction import check
from priolane.model.experiment import Options
from priolane.study import catalogue
from priolane.study.outcomes import Outcome

sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "site_pages"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "study"))
import finding_pages
import pages as site_pages
import paper_pages

import gallery
import headlines
import ledger

# Two minutes of one core, which carries ten million packets a second over a hop. Seconds would depend on this machine.
MOST_PACKET_HOPS = 1.2e9


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    return dict(paper_pages.pages())


def test_every_paper_has_a_page_in_the_navigation(written: dict[str, str]) -> None:
    assert list(written) == [f"findings/{paper}/index.md" for paper in ledger.NAMES]
    (section,) = site_pages.navigation([{"Figures and findings": []}])
    first = [next(iter(entry.values()))[0] for entry in section["Figures and findings"]]
    assert first == list(written)


def test_a_page_begins_with_its_headline_whether_it_holds_a_picture_and_a_command(written: dict[str, str]) -> None:
    records = ledger.shipped()
    for paper in catalogue.papers():
        if not paper.headlines:
            continue
        stated, claim = next(headlines.of_paper(paper, records))
        recorded = [headline for _, headline in headlines.of_paper(paper, records)]
        title, lead, picture, command = written[f"findings/{paper.id}/index.md"].split("\n\n")[:4]
        assert title == f"# {paper.name}: what holds"
        assert lead.startswith(f"**{headlines.counted(recorded)} The first: {stated['says']}. This ")
        assert ("This holds:" in lead) == (claim["verdict"] == "reproduced")
        numbers = headlines.in_numbers(paper, stated, claim)
        assert numbers.here in lead
        # The numbers have a subject, and what is allowed is a clause.
        assert "the runs have" not in lead
        assert "the claim is equal" not in lead
        assert "the claim is above" not in lead
        if numbers.is_percentage:
            assert f"the claim asks for {numbers.asks}.**" in lead
        elif claim["test"]["kind"] in ("equal", "ratio"):
            assert f"the claim allows {100 * claim['test']['within']:g} % either way.**" in lead
        # The answer of the figure in words follows, and the claims that are lost.
        assert f"]({stated['figure']}.md): " in lead
        lost = r"Of \d+ claims in all, \d+ do not hold, \d+ are impossible as printed, and \d+ are undecided\.$"
        assert re.search(lost, lead)
        kept = [
            figure
            for headline in paper.headlines
            if (figure := f"{paper.id}/{headline['figure']}") in gallery.pictures()
        ]
        assert f'src="../../images/gallery/{kept[0].replace("/", "-")}.webp"' in picture
        assert command == f"```sh\npriolane reproduce {paper.id}/{stated['figure']} --quick\n```"


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        (["reproduced", "reproduced"], "Of 2 headlines, 2 hold here."),
        (["contradicted", "undecided"], "Of 2 headlines, 0 hold here, 1 does not, and 1 is undecided."),
        (
            ["reproduced", "contradicted", "contradicted", "undecided"],
            "Of 4 headlines, 1 holds here, 2 do not, and 1 is undecided.",
        ),
    ],
)
def test_headlines_are_counted_by_what_became_of_them(verdicts: list[str], sentence: str) -> None:
    assert headlines.counted([{"verdict": verdict} for verdict in verdicts]) == sentence


def test_commands_of_headlines_take_two_minutes_at_most() -> None:
    for paper in catalogue.papers():
        for stated in paper.headlines:
            (item,) = catalogue.find(f"{paper.id}/{stated['figure']}")
            assert item.experiment is not None
            hops = check(item.experiment, Options(size="quick"))["packet_hops"]
            assert hops <= MOST_PACKET_HOPS, item.key


def test_a_page_has_the_answer_of_every_finding_of_its_paper(written: dict[str, str]) -> None:
    for page, text in finding_pages.pages():
        paper = page.split("/")[1]
        shown = set(finding_pages.by_figure().values())
        if page in shown and f"findings/{paper}/index.md" in written:
            assert paper_pages.answer(text) in written[f"findings/{paper}/index.md"], page


def test_outcomes_of_the_pages_add_up_to_those_of_the_ledger(written: dict[str, str]) -> None:
    added: Counter[str] = Counter()
    for text in written.values():
        added.update(
            {name: int(count) for name, count in re.findall(r"^\| ([a-z ]+) \| (\d+) \|$", text, re.MULTILINE)}
        )
    total = ledger.total(ledger.shipped())
    assert added == Counter({outcome.value: count for outcome, count in total.items() if count})


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("# A\n\n**One is\ntwice [two](b.md).**\n\nMore **bold**.\n", "One is twice two."),
        ("# A\n\n**Yes.** (Talk)\n", "Yes."),
    ],
)
def test_the_answer_of_a_finding_is_its_first_bold_text(text: str, answer: str) -> None:
    assert paper_pages.answer(text) == answer


def test_a_finding_without_an_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="begins with its answer in bold"):
        paper_pages.answer("# A\n\nNumbers are **bold** here.\n")


def test_shares_are_of_decided_and_of_judged_claims() -> None:
    total = {
        Outcome.REPRODUCED: 12,
        Outcome.UNDER_A_READING: 3,
        Outcome.IMPOSSIBLE: 2,
        Outcome.FAILS: 3,
        Outcome.UNDECIDED: 5,
        Outcome.FITTED: 100,
    }
    # 17 of 20, and 5 of 25.
    text = ledger.shares(Counter(total))
    assert text.startswith("Of the 20 decided claims, 85 % are reproduced")
    assert "Undecided are 20 % of 25" in text
    assert ledger.shares(Counter({Outcome.FITTED: 1})) == "No claim was judged."
