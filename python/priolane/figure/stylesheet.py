"""The style sheet of figures: the hues of the palette in light and dark as variables, then `figure.css`."""

from functools import cache
from pathlib import Path

from priolane.figure.palette import DARK, HUES, LIGHT

_FILE = Path(__file__).parent / "figure.css"
SCRIPT = Path(__file__).parent / "figure.js"
"""The script that reads figures."""

# Of what has no style of its own.
_GREY_LIGHT, _GREY_DARK = "#7b8087", "#8c9198"


@cache
def stylesheet() -> str:
    """The style sheet as text."""
    light, dark = (_variables(*of) for of in ((LIGHT, _GREY_LIGHT), (DARK, _GREY_DARK)))
    classes = "".join(f".c{nth} {{ --k: var(--c{nth}); }}\n" for nth in (*range(HUES), "g"))
    variables = f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    # A printer has white paper.
    printed = f"@media print {{ :root {{ {light} }} }}\n"
    return f"{variables}{printed}{classes}{_FILE.read_text(encoding='utf-8')}"


def _variables(hues: tuple[str, ...], grey: str) -> str:
    return " ".join(f"--c{nth}: {hue};" for nth, hue in (*enumerate(hues), ("g", grey)))
