"""Names of files by kind of switch, and texts from templates."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jinja2

from priolane.export.plan import Plan, Switch

_TEMPLATES = Path(__file__).parent / "templates"


def render_by_role(plan: Plan, make: Callable[[Switch], Mapping[str, str]]) -> dict[str, str]:
    """The files of each kind of switch: in a directory of its name, if there are several kinds.

    Each is made twice: files carry what was found for all switches, and only the second time has it all been found.
    """
    several = len(plan.switches) > 1
    for switch in plan.switches:
        make(switch)
    return {
        (f"{switch.role}/{name}" if several else name): text
        for switch in plan.switches
        for name, text in make(switch).items()
    }


def render(template: str, content: Mapping[str, Any]) -> str:
    """The text of a template; a name that it does not find is an error."""
    environment = jinja2.Environment(  # noqa: S701 - the texts are configurations, not pages
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(content)
