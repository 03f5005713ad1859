"""Names of files by kind of switch, and texts from templates."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from priolane.export import format as languages
from priolane.export import ports
from priolane.export.findings import Findings
from priolane.export.plan import ExportPlan, Switch

_TEMPLATES = Path(__file__).parent / "templates"
# The language of each template that is not only a part of others.
FORMATS = {
    "dcb.j2": languages.SHELL,
    "eos.j2": languages.EOS,
    "hosts.j2": languages.MARKDOWN,
    "junos.j2": languages.JUNOS,
    "modprobe.j2": languages.SETTINGS,
    "nft.j2": languages.NFT,
    "nxos.j2": languages.NXOS,
    "routes.j2": languages.SHELL,
    "sysctl.j2": languages.SETTINGS,
    "tc_ets.j2": languages.SHELL,
    "tc_host_levels.j2": languages.SHELL,
    "tc_host_queue.j2": languages.SHELL,
    "tc_htb.j2": languages.SHELL,
}


def render_by_role(
    plan: ExportPlan, rule: str, findings: Findings, make: Callable[[Switch], tuple[str, str]]
) -> dict[str, str]:
    """The file of each kind of switch, which `make` gives with its name: in a directory, if there are several kinds.

    Each is made twice: files carry what was found for all switches, and only the second time has it all been found.
    Counts in `found.coverage` the ports that the files have; `rule` makes names of ports as in `ports.by_name`.
    """
    several = len(plan.switches) > 1
    for switch in plan.switches:
        make(switch)
    files: dict[str, str] = {}
    for switch in plan.switches:
        name, text = make(switch)
        files[f"{switch.role}/{name}" if several else name] = text
        findings.coverage.add(switch, [port for port, _ in ports.by_name(switch, rule)], text)
    return files


def render(template: str, content: Mapping[str, Any]) -> str:
    """The text of a template, its values escaped for its language; a name that it does not find is an error.

    Raises `UnsafeText` if a value stands outside of comments and is no word of the language.
    """
    return FORMATS[template].finish(_environment().get_template(template).render(content))


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(  # noqa: S701 - `finalize` and `Format.finish` escape for each language, not for HTML
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        finalize=languages.mark,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
