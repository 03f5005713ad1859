"""CSV that a spreadsheet shows and does not calculate."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

# A spreadsheet takes a cell that begins so for a formula; the last four are the wide forms.
_FORMULA = tuple("=+-@\t\n\uff1d\uff0b\uff0d\uff20")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)")


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """The rows as CSV with line feeds.

    A text that a spreadsheet would take for a formula gets an apostrophe before it, as spreadsheets themselves write
    it. Numbers stay as they are.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([csv_cell(cell) for cell in row] for row in rows)
    return stream.getvalue()


def csv_cell(text: str) -> str:
    """The text of one cell; carriage returns, which end a row in some readers, become line feeds."""
    cell = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{cell}" if cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell) else cell
