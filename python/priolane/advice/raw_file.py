"""Files that are no flow list: the format that `priolane import` finds in them, and the command that imports them."""

import json
import tempfile
from pathlib import Path

from priolane import _core
from priolane._core import InputError
from priolane.text.command_line import command_line, path_word

_LIST = "flows.csv"


def how_to_import(path: Path) -> str:
    """The command that makes a flow list of a log or capture, or the reason why none does, as a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        request = {"format": "auto", "file": str(path), "out": str(Path(folder) / _LIST)}
        try:
            kind = json.loads(_core.import_flows(json.dumps(request)))["format"]
        except InputError as error:
            reason = str(error).splitlines()[0].removeprefix(f"{path}: ")
            return f"`priolane import auto` says of it: {reason}"
    command = command_line("priolane", "import", kind, path_word(path), "-o", _LIST)
    return f"It is a file of the format {kind}: {command}, then give {_LIST} to advise"
