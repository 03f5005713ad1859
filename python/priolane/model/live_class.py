"""The text of a class of this session, such as a cell of a notebook, as a file that other processes can run.

The text has the class and what it uses of the session: imports, constants, functions and other classes.
"""

import ast
import dis
import linecache
import sys
import textwrap
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from priolane._core import InputError
from priolane.model.class_source import is_covered, loaded

_CONSTANTS = (bool, int, float, complex, str, bytes, type(None))


def named_classes(value: Any, texts: dict[str, str]) -> Any:
    """`value` with a name such as `NewReno:NewReno` for each class in it; adds the texts of their files to `texts`.

    Raises `InputError` if the text of a class is not to be had.
    """
    if isinstance(value, type):
        file, text = f"{value.__name__}.py", class_text(value)
        if texts.setdefault(file, text) != text:
            raise InputError(f"two classes of the experiment are called {value.__name__}; rename one of them")
        return f"{value.__name__}:{value.__name__}"
    if isinstance(value, Mapping):
        return {key: named_classes(item, texts) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return [named_classes(item, texts) for item in value]
    return value


def class_text(cls: type) -> str:
    """The text of a file with `cls` and what it uses; raises `InputError` if that is not to be had."""
    text = _Text(cls.__name__)
    text.define(cls)
    written = text.written()
    _require_unchanged(cls, loaded(f"{cls.__name__}.py", cls.__name__, written, {}))
    return written


def _require_unchanged(live: type, again: type) -> None:
    """Raises `InputError` if a class of the session is not what its text makes: an attribute was set later."""
    names = {*vars(live), *vars(again)} - {*vars(type("Empty", (), {})), "__annotations__", "__abstractmethods__"}
    for name in sorted(names):
        if _comparable(vars(live).get(name)) != _comparable(vars(again).get(name)):
            raise InputError(
                f"{live.__name__}.{name} is not what the text of the class says: it was changed after the definition. "
                "Define the class again with the change, or give attributes other values with `keys`"
            )


def _comparable(value: Any) -> Any:
    """A value without what differs between two definitions of the same text."""
    if isinstance(value, staticmethod | classmethod | property):
        return (type(value), _comparable(getattr(value, "__func__", None) or getattr(value, "fget", None)))
    if isinstance(value, types.FunctionType):
        return (_code(value.__code__), value.__defaults__, value.__kwdefaults__)
    return value if _is_constant(value) else type(value)


def _code(code: types.CodeType) -> tuple[Any, ...]:
    consts = tuple(_code(each) if isinstance(each, types.CodeType) else each for each in code.co_consts)
    return (code.co_code, code.co_names, code.co_varnames, consts)


class _Text:
    """The parts of a text."""

    def __init__(self, of: str) -> None:
        self._of = of
        self._imports: dict[str, str] = {}
        self._constants: dict[str, str] = {}
        self._definitions: dict[str, str] = {}
        self._objects: dict[str, Any] = {}

    def written(self) -> str:
        imports = "\n".join(sorted(self._imports.values()))
        constants = "\n".join(f"{name} = {value}" for name, value in sorted(self._constants.items()))
        parts = [part for part in (imports, constants) if part]
        return "\n\n\n".join(["\n\n".join(parts), *self._definitions.values()]).lstrip() + "\n"

    def define(self, defined: type | types.FunctionType) -> None:
        """Adds a class or a function, after what it uses."""
        source = _source(defined)
        self._objects[defined.__name__] = defined
        namespace = vars(sys.modules[defined.__module__])
        for name in dict.fromkeys(_globals(compile(source, self._of, "exec"))):
            if name in namespace and name != defined.__name__:
                self._use(name, namespace[name])
        self._definitions[defined.__name__] = source

    def _use(self, name: str, value: Any) -> None:
        known = self._objects.setdefault(name, value)
        if known is not value and known != value:
            raise InputError(f"{self._of} uses two things that are called {name}; rename one of them")
        if name in self._imports or name in self._constants or (known is value and name in self._definitions):
            return
        module = getattr(value, "__module__", None)
        if isinstance(value, types.ModuleType):
            self._imports[name] = _import(value.__name__, name)
        elif isinstance(module, str) and is_covered(_public(module)) and hasattr(value, "__name__"):
            self._imports[name] = f"from {_public(module)} import {_as(value.__name__, name)}"
        elif isinstance(value, type | types.FunctionType) and name == value.__name__:
            self.define(value)
        elif _is_constant(value):
            self._constants[name] = repr(value)
        else:
            kind = type(value).__name__
            raise InputError(
                f"{self._of} uses {name} of this session, which is of type {kind}; a class may use imports, numbers, "
                "texts, tuples of them, functions and classes. Write it as one of these, or inside the class"
            )


def _public(module: str) -> str:
    """The module that exports what the compiled module defines."""
    return "priolane.scheme" if module == "priolane._core" else module


def _import(module: str, name: str) -> str:
    if "." in module and module.rpartition(".")[2] == name:
        return f"from {module.rpartition('.')[0]} import {name}"
    return f"import {_as(module, name)}"


def _as(what: str, name: str) -> str:
    return what if what == name else f"{what} as {name}"


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(_is_constant(item) for item in value)
    return type(value) in _CONSTANTS


def _globals(code: types.CodeType) -> Iterator[str]:
    """The names that code takes from its module."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals(constant)


def _source(defined: type | types.FunctionType) -> str:
    """The text of a class or a function by itself."""
    name = defined.__name__
    code = next(_codes(defined), None)
    if "<locals>" in defined.__qualname__ or "." in defined.__qualname__:
        raise InputError(
            f"{defined.__qualname__} is defined within another; define {name} by itself, in a cell or a file"
        )
    lines = linecache.getlines(code.co_filename, vars(sys.modules[defined.__module__])) if code else []
    wanted = ast.ClassDef if isinstance(defined, type) else ast.FunctionDef
    tree = ast.parse("".join(lines))
    for node in ast.walk(tree):
        if isinstance(node, wanted) and node.name == name and code is not None and node.end_lineno is not None:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first <= code.co_firstlineno <= node.end_lineno:
                return textwrap.dedent("".join(lines[first - 1 : node.end_lineno])).rstrip()
    raise InputError(f"the text of {name} is not there; define it in a notebook or in a file")


def _codes(defined: type | types.FunctionType) -> Iterator[types.CodeType]:
    if isinstance(defined, types.FunctionType):
        yield defined.__code__
        return
    for member in vars(defined).values():
        if isinstance(member, types.FunctionType) and member.__qualname__.startswith(f"{defined.__qualname__}."):
            yield member.__code__
