"""`priolane keys`: the keys of parts and tables, with type, range, unit, default, example and source."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from priolane import _core
from priolane._core import InputError
from priolane.cli import show
from priolane.model import key_examples
from priolane.model.keys import Key, Part, find, parts

# Units that name a dimension: any unit of it is allowed.
_DIMENSIONS = ("time", "rate")
_COLUMNS = ("key", "type", "default", "example", "meaning", "source")


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument(
        "part",
        nargs="?",
        metavar="PART",
        help="a row (transport), a part (transport.dctcp, dctcp), a table (time) or a key (sizes); default: all parts",
    )
    command.add_argument(
        "--schema",
        choices=("experiment", "scheme"),
        help="the JSON Schema of experiment or scheme files, with which an editor completes and checks them",
    )
    command.add_argument("--json", action="store_true", help="as JSON, one object per part")
    command.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Prints the keys of what was named, or the names."""
    if args.schema is not None:
        if args.part is not None:
            raise InputError(f"--schema has all parts: remove {args.part}")
        show.json_lines(json.loads(_core.schema(args.schema)), indent=2)
        return 0
    wanted = list(parts()) if args.part is None else find(args.part)
    if args.json:
        show.json_lines([described(part) for part in wanted], indent=2)
    elif args.part is None:
        show.table(["part", "keys", "what it is"], [[part.title, str(len(part.keys)), part.summary] for part in wanted])
        show.line("priolane keys PART prints the keys of one")
    else:
        for nth, part in enumerate(wanted):
            if nth:
                show.line("")
            _print(part)
    return 0


def described(part: Part) -> dict[str, Any]:
    """A part with its keys, as JSON has it."""
    return {
        "part": part.title,
        "row": part.row,
        "summary": part.summary,
        "source": part.source,
        "requires": list(part.requires),
        "provides": list(part.provides),
        "keys": [_entry(part, key) for key in part.keys],
    }


def _entry(part: Part, key: Key) -> dict[str, Any]:
    example = key_examples.find_example(part, key)
    return {
        "key": key.name,
        "meaning": key.meaning,
        "type": key.value.type,
        "range": key.value.range or None,
        "unit": key.value.unit or None,
        "values": list(key.value.words),
        "required": key.required,
        "default": key.default or None,
        "example": example.value if example else None,
        "example_from": (example.file or None) if example else None,
        "source": key.source or None,
    }


def _print(part: Part) -> None:
    show.line(f"{part.title}: {part.summary}" if part.summary else part.title)
    for word, fields in (("source", [part.source]), ("requires", part.requires), ("provides", part.provides)):
        if any(fields):
            show.line(f"  {word}: {'; '.join(fields)}")
    if part.keys:
        show.table(_COLUMNS, [_row(part, key) for key in part.keys])


def _row(part: Part, key: Key) -> Sequence[str]:
    example = key_examples.find_example(part, key)
    default = "must be stated" if key.required else key.default or "–"
    return key.name, kind(key), default, example.value if example else "–", key.meaning, key.source or "–"


def kind(key: Key) -> str:
    """The type of a key with its values, range and unit, in words: `number in (0, 1]`, `time above 0; or off`."""
    value = key.value
    words = ", ".join(value.words)
    text = words if value.type == "one of" else value.type.replace("one of", words)
    measured = value.type.endswith("quantity")
    if measured:
        unit = value.unit if value.unit in _DIMENSIONS else f"quantity in {value.unit}"
        text = text.removesuffix("quantity") + unit
    if value.range:
        text += f" {_range(value.range)}"
    if value.unit and not measured:
        text += f"; unit {value.unit}"
    if words and words not in text:
        text += f"; or {words}"
    return text


def _range(interval: str) -> str:
    """An interval in words where it has one end: `(0, )` is `above 0`."""
    low, _, high = interval[1:-1].partition(",")
    if high.strip():
        return f"in {interval}"
    return f"{'above' if interval.startswith('(') else 'from'} {low.strip()}"
