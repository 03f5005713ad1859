"""SVG as text. Attributes and texts are escaped here and nowhere else, so that no text of a file becomes markup."""

import html
import re
from collections.abc import Mapping

from markupsafe import Markup

# What XML does not allow: most control characters, halves of surrogate pairs, U+FFFE and U+FFFF.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAME = re.compile(r"[a-zA-Z][a-zA-Z-]*")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

Attributes = Mapping[str, str | float | None]


def escape(text: str) -> Markup:
    """Returns `text` as markup that shows it. Characters that XML does not allow become U+FFFD."""
    return Markup(html.escape(_FORBIDDEN.sub(_REPLACEMENT, text), quote=True))  # noqa: S704 - escaped just now


def element(name: str, attributes: Attributes, *inside: Markup) -> Markup:
    """Returns an element. Attributes that are `None` are left out; numbers have one decimal at most."""
    written = "".join(f' {key}="{_attribute(value)}"' for key, value in attributes.items() if value is not None)
    if not all(map(_NAME.fullmatch, (name, *attributes))):
        raise ValueError(f"{name}: a name of an element or attribute consists of letters and hyphens")
    opening = f"<{name}{written}"
    content = Markup().join(inside)
    return Markup(f"{opening}>{content}</{name}>" if inside else f"{opening}/>")  # noqa: S704 - escaped above


def text(content: str, attributes: Attributes) -> Markup:
    """Returns a `<text>` element that shows `content` in one line."""
    return element("text", attributes, escape(one_line(content)))


def title(content: str) -> Markup:
    """Returns a `<title>`, which browsers show on hover and screen readers read."""
    return element("title", {}, escape(content))


def path(drawn: str, attributes: Attributes, *inside: Markup) -> Markup:
    """Returns a `<path>` with the outline `drawn`."""
    return element("path", {**attributes, "d": drawn}, *inside)


def group(attributes: Attributes, *inside: Markup) -> Markup:
    """Returns a `<g>`; it is empty markup without content."""
    return element("g", attributes, *inside) if inside else Markup()


def polyline(points: list[tuple[float, float]]) -> str:
    """Returns the outline of straight lines from point to point."""
    return "".join(f"{'L' if nth else 'M'}{number(x)} {number(y)}" for nth, (x, y) in enumerate(points))


def number(value: float) -> str:
    """Returns a coordinate in pixels, to a tenth."""
    written = f"{value:.1f}".removesuffix(".0")
    return "0" if written == "-0" else written


def one_line(content: str) -> str:
    """Returns `content` with each run of white space as one space."""
    return " ".join(content.split())


def _attribute(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else number(value)
