"""Pictures of figures beside their verdicts: the gallery, and the head of a finding."""

import html
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import finding_pages
import ledger_pages
import links
import phone_pictures
import scores
from markdown_text import plain, table

import gallery
import ledger
from priolane.model import folders
from priolane.model.shipped_schemes import about
from priolane.report.sentences.words import sentence_case
from priolane.study import catalogue
from priolane.study.record import Record

# A line has room for the shipped schemes of a figure with no more than these.
_FEW_SCHEMES = 6
# The end of the name of a picture for phones, and the screens that show it, as docs/assets/site.css has them.
_PHONE, _PHONES = "-phone", "(max-width: 44.9375em)"


@cache
def _runs() -> Mapping[str, Any]:
    """The run that each picture shows, by figure."""
    return {figure: gallery.run_shown(path) for figure, path in gallery.pictures().items()}


def files() -> dict[str, Path]:
    """The files of pictures, by their path on the site."""
    return {_path(figure): path for figure, path in gallery.pictures().items()}


def phone_files() -> dict[str, bytes]:
    """The pictures for phones, by their path on the site: of figures whose panels stand in two columns."""
    stacks = _stacks()
    return {_path(figure, _PHONE): stack for figure, stack in stacks.items()}


@cache
def _stacks() -> Mapping[str, bytes]:
    made = {figure: phone_pictures.stacked(path) for figure, path in gallery.pictures().items()}
    return {figure: stack for figure, stack in made.items() if stack is not None}


def _path(figure: str, ending: str = "") -> str:
    return f"images/gallery/{_anchor(figure)}{ending}.webp"


def pictures() -> str:
    """Every figure with results as a thumbnail that leads to its page, by paper."""
    parts: list[str] = []
    for paper, items in groupby(
        (item for item in catalogue.figures() if item.experiment is not None), lambda item: item.paper
    ):
        parts.append(f"## {ledger.NAMES.get(paper, 'Our own figures')} {{ #{paper} }}\n")
        parts += ['<div class="thumbnails" markdown>\n', *(_thumbnail(item) for item in items), "\n</div>\n"]
    return "\n".join(parts)


def cited_papers() -> str:
    """The papers whose figures are experiments: name, title, venue."""
    rows = ((paper.name, paper.title, paper.venue or "–") for paper in catalogue.papers() if paper.id in ledger.NAMES)
    return table(("name", "title", "venue"), rows)


def _thumbnail(item: catalogue.PaperFigure) -> str:
    """A figure as an entry of the grid: its picture and its name, which lead to its page, and its recorded verdicts."""
    to, record = _page(item), ledger_pages.record_of(item.key)
    name = f"`{item.key}`" if item.name == "ours" else f"{plain(item.name)}"
    verdicts = ledger_pages.pills(record.standings()) if record is not None else "no verdicts"
    drawn = f"[{_shown(item)}]({to})" if item.key in _runs() else _shown(item)
    return f'- <a id="{_anchor(item.key)}"></a>{drawn}\n  **[{name}]({to})** {plain(item.about)}\n  {verdicts}'


def _page(item: catalogue.PaperFigure) -> str:
    """The page of a figure: its finding, or its claims in the ledger."""
    return finding_pages.by_figure().get(item.key, f"ledger.md#{_anchor(item.key)}")


def _shown(item: catalogue.PaperFigure) -> str:
    """The small picture, which loads when it is scrolled to and says on hover which run it shows."""
    if item.key not in _runs():
        return f"*No picture is kept: `priolane reproduce {item.key} --quick` draws it.*"
    words = " ".join(_picture_run(item.key)).replace("*", "").replace("`", "")
    hover = f' title="{words}"' if words else ""
    return f"![{plain(item.about)}]({_path(item.key)}){{ loading=lazy{hover} }}"


def figure(key: str, up: str) -> str:
    """The head of a finding: picture, recorded verdicts, command. `up` leads from the page to docs/."""
    (item,) = [figure for figure in catalogue.figures() if figure.key == key]
    record = ledger_pages.record_of(key)
    if record is None:
        raise KeyError(f"no record of {key}")
    return "\n".join(
        [
            f"{scores.of_record(record, up)}\n",
            # Beside the legend, which is below the first screen where a picture has many panels.
            *_names(item),
            picture(key, up),
            f"{_of_ours(item)}Recorded in the {_measured(record)}.\n",
            " · ".join([*_picture_run(key), *_links(item, up)]) + "\n",
            f"```sh\n{record.command}\n```\n",
        ]
    )


def _names(item: catalogue.PaperFigure) -> Iterator[str]:
    """A line that says what the schemes of a figure are: those that the study names, and shipped ones if these are few.
    A shipped scheme of which the experiment changes a key has no words; nothing where nobody explains one."""
    if item.experiment is None:
        return
    stated = item.stated
    schemes, changed = stated["schemes"], stated.get("scheme", {})
    shipped = {} if len(schemes) > _FEW_SCHEMES else {name: about(name) for name in schemes if name not in changed}
    words = {name: item.names.get(name) or shipped.get(name, "") for name in schemes}
    shown = [f"`{name}`: {sentence_case(plain(text.rstrip('.')))}." for name, text in words.items() if text]
    if shown:
        yield " ".join(shown) + "\n"


def _of_ours(item: catalogue.PaperFigure) -> str:
    return "A figure of ours. " if item.name == "ours" else ""


def _measured(record: Record) -> str:
    """The size of the recorded run: `default size, 8 seeds, 1,280 runs`."""
    grid = record.grids[0]
    seeds, runs = len(grid["seeds"]), grid["runs"]
    return f"{grid['size']} size, {seeds} seed{'' if seeds == 1 else 's'}, {runs:,} run{'' if runs == 1 else 's'}"


def has_picture(key: str) -> bool:
    """Whether a picture of the figure is kept."""
    return key in _runs()


def picture(key: str, up: str) -> str:
    """The picture of a figure as HTML, or a sentence without one. `up` leads from the page to docs/."""
    (item,) = [figure for figure in catalogue.figures() if figure.key == key]
    if key not in _runs():
        return f"*No picture is kept: `priolane reproduce {key} --quick` draws it.*\n"
    phone = f"{up}{_path(key, _PHONE)}"
    narrow = f'<source media="{_PHONES}" srcset="{phone}">' if key in _stacks() else ""
    image = f'<img src="{up}{_path(key)}" alt="{html.escape(plain(item.about))}">'
    is_scrolled = not narrow and phone_pictures.is_wide(gallery.pictures()[key])
    kind = "figure scrolled" if is_scrolled else "figure"
    return f'<div class="{kind}"><picture>{narrow}{image}</picture></div>\n'


def _picture_run(key: str) -> Iterator[str]:
    """The run that the picture shows, and whether it is the recorded one; nothing without a picture."""
    record = ledger_pages.record_of(key)
    run = _runs().get(key)
    if run is None or record is None:
        return
    size = f"{run['size']} size, {run['seeds']} seed{'s' if run['seeds'] > 1 else ''}"
    digest = run["digest"]
    run_shown = "the recorded run" if digest == record.grids[0]["digest"] else "a run *other* than the recorded one"
    yield f"The picture shows {run_shown}: {size}, digest `{digest[:16]}`"


def _links(item: catalogue.PaperFigure, up: str) -> Iterator[str]:
    yield f"[all claims with their values]({up}ledger.md#{ledger_pages.claims_of(item.key)})"
    yield f"[gallery]({up}gallery.md#{_anchor(item.key)})"
    file = folders.folder(Path("study"), item.key) / folders.EXPERIMENT
    yield f"[experiment]({links.REPOSITORY}/blob/main/{file.as_posix()})"


def _anchor(key: str) -> str:
    return key.replace("/", "-")
