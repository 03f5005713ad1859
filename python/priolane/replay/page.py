"""The page of a recording: one file that takes nothing from elsewhere; its policy allows its own scripts only."""

import json
from pathlib import Path

import jinja2
from markupsafe import Markup

from priolane.replay.backlog import missing_packets
from priolane.replay.content import content
from priolane.replay.recording import Recording
from priolane.report.generator import GENERATOR
from priolane.report.templates import inline, own
from priolane.results.report import point_text
from priolane.text.template_cache import TemplateCache

_HERE = Path(__file__).parent
# In the order in which they need each other.
_SCRIPTS = ("data", "canvas", "model", "words", "network", "axis", "tracks", "lines", "queues", "packet", "player")


def page(recording: Recording, command: str) -> str:
    """The page's HTML; `command` is what makes it again."""
    made = content(recording)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        bytecode_cache=TemplateCache(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # In JSON no tag can begin, whatever names the experiment gives.
    head = json.dumps(made.head, ensure_ascii=True).replace("<", "\\u003c")
    return environment.get_template("page.html.j2").render(
        styles=[own("page.css"), inline(_HERE / "replay.css")],
        scripts=[inline(_HERE / f"replay_{name}.js") for name in _SCRIPTS],
        generator=GENERATOR,
        title=title(recording),
        says=says(recording),
        classes=list(zip(made.head["classes"], made.head["shades"], strict=True)),
        flows=len(recording.part.flows),
        traced=recording.part.flows[0],
        notes=notes(recording),
        run=recording.run,
        digest=recording.digest[:16],
        command=command,
        head=Markup(head),  # noqa: S704 - JSON without a tag
        columns=Markup(made.packed.text),  # noqa: S704 - base64
    )


def title(recording: Recording) -> str:
    """The recording that is played."""
    flows = ", ".join(map(str, recording.part.flows))
    return f"{recording.scheme}: replay of flow{'s' if len(recording.part.flows) > 1 else ''} {flows}"


def says(recording: Recording) -> str:
    """The run and its part, in a line."""
    part = recording.part
    where = ", ".join(part for part in (point_text(recording.point), f"seed {recording.seed}") if part)
    hops = len(recording.hops["flow"])
    packets = int((recording.hops["hop"] == 0).sum())
    return (
        f"{where}; {part.from_ps / 1e6:,.3f} us to {recording.ends_ps / 1e6:,.3f} us: {packets:,} packets of "
        f"{len(recording.flows):,} flows on {hops:,} hops"
    )


def notes(recording: Recording) -> list[str]:
    """The properties that the page does not show, in sentences."""
    sentences = []
    if recording.full_ps is not None:
        sentences.append(
            f"The page ends at {recording.full_ps / 1e6:,.3f} us, at {recording.part.most_hops:,} hops: --most-hops "
            "takes more, --from begins later."
        )
    short = int((missing_packets(recording) > 0).sum())
    if short:
        sentences.append(
            f"{short:,} packets found packets in ports that were sent before the page begins: until those have left, "
            "queues are longer than shown. --from begins earlier."
        )
    return sentences
