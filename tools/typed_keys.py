"""Writes the types of an experiment's keys, `python/priolane/keys.py`, from the declarations in the compiled module.

The module lies in the tree, as type checkers read it before anything is compiled: `make keys` writes it, and
tests/test_typed_keys.py compares it with the declarations.
"""

import json
import keyword
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from priolane import _core

PLACE = Path(__file__).parent.parent / "python" / "priolane" / "keys.py"
_WIDTH = 120
_COMMENT = " " * 8 + "# "
_HEAD = '''"""The keys of an experiment as types, for editors, type checkers and annotations:

    import priolane
    from priolane.keys import Group

    mice: Group = {"name": "mice", "hosts": "*", "app": "poisson", "load": {"of": "host", "value": 0.2}}

Times, rates and sizes are texts with a unit. `priolane keys` explains each key. tools/typed_keys.py writes this module.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict
'''
_ROOT = ("keys",)
# Names of tables that several keys have.
_NAMES = {
    "bottleneck": "link",
    "flow_bytes": "range_of_sizes",
    "list": "listed_flow",
    "after_delay": "of_another_group",
}
# A table extends another one if it has all keys of the other, and these are more than this number.
_LEAST_SHARED = 10
# Longer lists of words are texts.
_MOST_WORDS = 40
_SCALARS = {"boolean": "bool", "integer": "int", "number": "float"}

Schema = Mapping[str, Any]


def module_text() -> str:
    """The module."""
    schema = json.loads(_core.schema("experiment"))
    return _Types(schema.get("$defs", {})).module(schema)


class _Types:
    """Tables of the schema as typed dictionaries. Equal tables share one."""

    def __init__(self, definitions: Schema) -> None:
        self.definitions = definitions
        self.tables: dict[str, dict[str, str]] = {}
        """The types of the keys of each table, by name."""
        self.texts: dict[str, str] = {}
        """The text of each table, by name, in an order in which each stands after those that it names."""

    def module(self, schema: Schema) -> str:
        self.table(schema, _ROOT)
        return "\n\n".join([_HEAD, *self.texts.values(), ""])

    def table(self, schema: Schema, path: tuple[str, ...]) -> str:
        """The name of the type of a table, whose text is added if there is no equal one."""
        above = () if path == _ROOT else path
        of = {key: self.of(value, (*above, key)) for key, value in _schemes_first(schema["properties"])}
        name_of = next((name for name, known in self.tables.items() if known == of), None)
        if name_of is None:
            name_of = self._new_name(path)
            base = max(
                (
                    name
                    for name, known in self.tables.items()
                    if len(known) > _LEAST_SHARED and known.items() < of.items()
                ),
                key=self._size,
                default="",
            )
            own = {key: of[key] for key in schema["properties"] if key not in self.tables.get(base, {})}
            self.texts[name_of] = _Table(name_of, base, own, schema["properties"]).text()
            self.tables[name_of] = of
        return name_of

    def _size(self, name: str) -> int:
        return len(self.tables[name])

    def _new_name(self, path: tuple[str, ...]) -> str:
        path = tuple(_NAMES.get(part, part) for part in path)
        words = [re.sub(r"[^a-z0-9]+", "_", part.lower()).title().replace("_", "") for part in path]
        of = next((nth for nth in range(len(words) - 1, -1, -1) if "".join(words[nth:]) not in self.texts), 0)
        name = "".join(words[of:])
        return f"Experiment{name}" if name in self.texts else name

    def of(self, schema: Schema, path: tuple[str, ...]) -> str:
        """The type of a value."""
        words, types = [], []
        for name in dict.fromkeys(self._alternatives(schema, path)):
            if name.startswith("Literal["):
                words.append(name.removeprefix("Literal[").removesuffix("]"))
            else:
                types.append(name)
        if "str | Path" in types:
            types = [name for name in types if name != "str"]
        literal = [f"Literal[{', '.join(words)}]"] if words else []
        return " | ".join([*literal, *types])

    def _alternatives(self, schema: Schema, path: tuple[str, ...]) -> Iterator[str]:
        if "$ref" in schema:
            yield from self._alternatives(self.definitions[schema["$ref"].rpartition("/")[2]], path)
        elif "oneOf" in schema or "anyOf" in schema:
            yield from self._choice(list(_flat(schema)), path)
        elif words := schema.get("enum") or ([schema["const"]] if "const" in schema else []):
            yield f"Literal[{', '.join(map(_literal, words))}]" if len(words) <= _MOST_WORDS else "str"
        elif schema.get("type") == "array":
            yield f"Sequence[{self.of(schema['items'], path)}]" if "items" in schema else "Sequence[Any]"
        elif schema.get("type") == "object":
            yield self._mapping(schema, path)
        elif schema.get("type") == "string":
            yield _text(schema, path)
        else:
            yield _SCALARS.get(schema.get("type", ""), "Any")

    def _choice(self, schemas: list[Schema], path: tuple[str, ...]) -> Iterator[str]:
        """The types of alternatives. Tables that a word such as `kind` chooses are one, with the keys of all."""
        tables = [schema for schema in schemas if schema.get("properties")]
        for schema in schemas:
            if schema not in tables:
                yield from self._alternatives(schema, path)
        if tables:
            yield self.table({"properties": _merged(tables)}, path)

    def _mapping(self, schema: Schema, path: tuple[str, ...]) -> str:
        if schema.get("properties"):
            return self.table(schema, path)
        of = schema.get("additionalProperties")
        return f"Mapping[str, {self.of(of, path) if isinstance(of, Mapping) and of else 'Any'}]"


def _schemes_first(keys: Mapping[str, Schema]) -> list[tuple[str, Schema]]:
    """Keys with their schemas: parts of schemes have the shorter names."""
    return sorted(keys.items(), key=lambda item: item[0] != "scheme")


def _flat(schema: Schema) -> Iterator[Schema]:
    """The alternatives of a value, and those of its alternatives."""
    for each in schema.get("oneOf") or schema.get("anyOf") or ():
        if "oneOf" in each or "anyOf" in each:
            yield from _flat(each)
        else:
            yield each


def _literal(word: object) -> str:
    return json.dumps(word) if isinstance(word, str) else repr(word)


def _merged(tables: list[Schema]) -> dict[str, Schema]:
    """The keys of all tables, each with the alternatives that they give it."""
    schemas: dict[str, list[Schema]] = {}
    for table in tables:
        for key, value in table["properties"].items():
            if value not in schemas.setdefault(key, []):
                schemas[key].append(value)
    return {key: _joined(values) for key, values in sorted(schemas.items())}


def _joined(values: list[Schema]) -> Schema:
    if len(values) == 1:
        return values[0]
    about = next((value["description"] for value in values if "description" in value), None)
    if all("const" in value for value in values):
        joined: dict[str, Any] = {"enum": [value["const"] for value in values]}
    else:
        joined = {"anyOf": values}
    return joined if about is None else {**joined, "description": about}


def _text(schema: Schema, path: tuple[str, ...]) -> str:
    if path[-1] == "class":
        return "str | type[Any]"
    # Those with an example are quantities; any other may be the path of a file.
    return "str" if "examples" in schema else "str | Path"


def _is_attribute(key: str) -> bool:
    return key.isidentifier() and not keyword.iskeyword(key)


def _about(schema: Schema) -> str:
    """The meaning of a key, without the links of the documentation."""
    about = schema.get("description") or next((branch.get("description", "") for branch in schema.get("anyOf", [])), "")
    without = re.sub(r"; docs/[^\s)]*\.md#[^\s)]+", "", about)
    text = re.sub(r" \(docs/[^\s)]*\)", "", without).rstrip(".")
    return text[:1].upper() + text[1:]


def _documentation(about: str) -> list[str]:
    text = f'"""{about}."""'.replace("\\", "\\\\")
    return textwrap.wrap(text, _WIDTH - 4, break_long_words=False, break_on_hyphens=False)


class _Table(NamedTuple):
    """A table: its name, the table whose keys it has, too, or "", the types of its own keys, and their schemas."""

    name: str
    base: str
    own: Mapping[str, str]
    schemas: Mapping[str, Schema]

    def text(self) -> str:
        """The table in Python. One with a key that is a word of Python, such as `from`, is a call."""
        is_class = self.base or all(map(_is_attribute, self.own))
        return "\n".join(self._class() if is_class else self._call())

    def _class(self) -> Iterator[str]:
        yield f"class {self.name}({self.base or 'TypedDict'}, total=False):"
        for key, table in self.own.items():
            yield f"    {key}: {table}"
            if about := _about(self.schemas[key]):
                yield textwrap.indent("\n".join(_documentation(about)), "    ")

    def _call(self) -> Iterator[str]:
        yield f"{self.name} = TypedDict("
        yield f'    "{self.name}",'
        yield "    {"
        for key, table in self.own.items():
            if about := _about(self.schemas[key]):
                yield from textwrap.wrap(
                    f"{about}.", _WIDTH, initial_indent=_COMMENT, subsequent_indent=_COMMENT, break_on_hyphens=False
                )
            yield f'        "{key}": {table},'
        yield "    },"
        yield "    total=False,"
        yield ")"


def main() -> None:
    """Writes the module."""
    PLACE.write_text(module_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
