"""The text of a class that is a part of a scheme: its declaration, and the class that it makes.

Reading a scheme parses the text and runs nothing of it; a run runs it, once in each process.
"""

import ast
import builtins
import difflib
import hashlib
import importlib
import inspect
import linecache
import sys
import traceback
import types
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from priolane._core import InputError

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

METHODS = {
    "CongestionControl": {"on_ack": "ack", "on_loss": "loss", "on_timeout": "loss"},
    "Rule": {"priority": "flow, u"},
    "Admission": {"open": "flow, u", "on_completed": "report"},
}
"""The methods that a class must have, with their arguments, by the class of `priolane.scheme` that states them."""
OPTIONAL = ("__init__", "on_recovered", "rank", "on_report", "on_aborted")
"""Methods that a class may have."""
_SCHEME = "priolane.scheme"
_BASES = {*METHODS, "Protocol", "object", "ABC", "Generic"}


class Declared(NamedTuple):
    """The declaration of a class in a text, or a mistake: `what` is empty if there is none."""

    ecn: bool
    """Whether packets are ECN-capable."""
    key: str = "class"
    """The key at fault: `class` or `keys`."""
    what: str = ""
    fix: str = ""


class _Wrong(Exception):
    """A mistake in a text, or in the keys for its class."""

    def __init__(self, what: str, fix: str, key: str = "class") -> None:
        super().__init__(what)
        self.what, self.fix, self.key = what, fix, key


class _Class(NamedTuple):
    ecn: bool
    defaults: dict[str, Any]
    """Attributes with their values if these are literals, else `None`."""


def declared(file: str, name: str, text: str, keys: Mapping[str, Any], contract: str = "CongestionControl") -> Declared:
    """The declaration of the class `name`, whose attributes `keys` are to replace, in the text of `file`.

    `contract` is the class of `priolane.scheme` whose methods it must have.
    """
    try:
        declaration = _read(file, name, text, contract)
        for key, value in keys.items():
            _require_attribute(name, declaration.defaults, key, value)
    except _Wrong as wrong:
        return Declared(ecn=False, key=wrong.key, what=wrong.what, fix=wrong.fix)
    return Declared(ecn=declaration.ecn)


def _require_attribute(name: str, defaults: Mapping[str, Any], key: str, value: Any) -> None:
    if key not in defaults:
        near = difflib.get_close_matches(key, defaults, 1)
        fix = f"Did you mean `{near[0]}`?" if near else f"an attribute of the class: {_listed(defaults)}"
        raise _Wrong(f"{name} has no attribute {key!r}", fix, "keys")
    default = defaults[key]
    is_number = [isinstance(each, int | float) and not isinstance(each, bool) for each in (default, value)]
    if default is not None and is_number != [True, True] and type(default) is not type(value):
        raise _Wrong(f"{key} is {value!r}, and {default!r} in the class", "a value of the same type", "keys")


@lru_cache(maxsize=256)
def _read(file: str, name: str, text: str, contract: str) -> _Class:
    tree = _parsed(file, text)
    if foreign := next(_foreign_imports(tree), None):
        what = f"{file}, line {foreign[0]}: it imports {foreign[1]}, whose code is not a part of the run's id"
        raise _Wrong(what, f"Import the standard library and {_SCHEME} only")
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    if name not in classes:
        has = f"It has {_listed(classes)}" if classes else "It has no class"
        raise _Wrong(f"{file} has no class {name!r}", f"{has}; write its name after the colon")
    lines, unknown = _with_bases(classes[name], classes)
    members = {child.name for node in lines for child in node.body if isinstance(child, ast.FunctionDef)}
    missing = [method for method in METHODS[contract] if method not in members]
    if missing and not unknown:
        what = f"{name} in {file} has no method {missing[0]}"
        raise _Wrong(what, f"def {missing[0]}(self, {METHODS[contract][missing[0]]}) in the class")
    attributes = _attributes(lines)
    ecn = attributes.pop("ecn", False) if contract == "CongestionControl" else False
    if not isinstance(ecn, bool):
        raise _Wrong(f"{name}.ecn is not stated as True or False", "ecn = True in the class")
    return _Class(ecn, attributes)


def _parsed(file: str, text: str) -> ast.Module:
    try:
        return ast.parse(text, file)
    except SyntaxError as error:
        place = file if error.lineno is None else f"{file}, line {error.lineno}"
        raise _Wrong(f"{place}: {error.msg}", "a file that Python can read") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise _Wrong(f"{file}: {error}", "a file that Python can read") from None


def _foreign_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "priolane" else [module]
        if isinstance(node, ast.Name) and node.id == "__import__":
            names = ["modules by `__import__`"]
        for name in names:
            if not is_covered(name):
                yield node.lineno, name  # type: ignore[attr-defined]


def is_covered(module: str) -> bool:
    """Whether a class may import a module: the standard library, and the types of events."""
    # `importlib` would import anything.
    root = module.partition(".")[0]
    return module == _SCHEME or (root in sys.stdlib_module_names and root != "importlib")


def _with_bases(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> tuple[list[ast.ClassDef], bool]:
    """The class and its bases in the same text, and whether it has a base elsewhere."""
    lines, waiting, unknown = [], [node], False
    while waiting:
        current = waiting.pop()
        if current in lines:
            continue
        lines.append(current)
        for base in current.bases:
            word = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
            if word in classes:
                waiting.append(classes[word])
            elif word not in _BASES:
                unknown = True
    return lines, unknown


def _attributes(lines: list[ast.ClassDef]) -> dict[str, Any]:
    """The values of the attributes of a class; those of a class go before those of its bases."""
    attributes: dict[str, Any] = {}
    for node in reversed(lines):
        for child in node.body:
            targets: list[ast.expr] = []
            if isinstance(child, ast.Assign):
                targets = child.targets
            elif isinstance(child, ast.AnnAssign) and child.value is not None:
                targets = [child.target]
            for target in targets:
                attributes.update(_assigned(target, child.value))  # type: ignore[attr-defined]
    return attributes


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, Any]]:
    if isinstance(target, ast.Name):
        try:
            yield target.id, ast.literal_eval(value)
        except ValueError:
            yield target.id, None
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for element, item in zip(target.elts, value.elts, strict=True):
            yield from _assigned(element, item)


def loaded(file: str, name: str, text: str, keys: Mapping[str, Any], contract: str | None = None) -> type:
    """The class `name` of `text` with `keys` as its attributes; raises `InputError` if the text cannot be run.

    `contract` is the class of `priolane.scheme` whose methods it must have; `None` if that is not known yet.
    """
    attribute = getattr(_module(file, text), name, None)
    if not isinstance(attribute, type):
        raise InputError(f"{file}: {name} is {type(attribute).__name__} and not a class once the file has run")
    methods = METHODS.get(contract or "", {})
    missing = [method for method in methods if not callable(getattr(attribute, method, None))]
    if inspect.isabstract(attribute):
        missing += sorted(vars(attribute).get("__abstractmethods__", ()))
    if missing:
        raise InputError(f"{file}: {name} has no method {missing[0]}; write it in the class")
    for method in (*methods, *OPTIONAL):
        function = getattr(attribute, method, None)
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            raise InputError(f"{file}: {name}.{method} has `yield` or is `async`, so that a call runs none of it")
    if not keys:
        return attribute
    own = {key: float(value) if isinstance(getattr(attribute, key), float) else value for key, value in keys.items()}
    members = {**own, "__module__": attribute.__module__, "__qualname__": attribute.__qualname__}
    return types.new_class(name, (attribute,), exec_body=lambda namespace: namespace.update(members))


def own_methods(own_class: type, contract: str) -> list[str]:
    """The methods that a class may have and has, other than those of the base class that states the contract."""
    base = getattr(importlib.import_module(_SCHEME), contract)
    return [
        method for method in OPTIONAL if getattr(own_class, method, None) not in (None, getattr(base, method, None))
    ]


def _module(file: str, text: str) -> types.ModuleType:
    """The module that a text makes. Each run runs the text again, so that runs share no state."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    module = types.ModuleType(f"priolane_class_{digest}")
    module.__file__ = file
    # Tracebacks have the lines of the text, which may be in no file.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    sys.modules[module.__name__] = module
    # `exec` and `eval` in the text take these builtins, too.
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import_covered, "print": _print}
    try:
        exec(compile(text, file, "exec"), module.__dict__)  # noqa: S102 - it is what the user asks for
    except KeyboardInterrupt:
        del sys.modules[module.__name__]
        raise
    except BaseException as error:  # noqa: BLE001 - any may be raised by a user's text, `SystemExit` too
        del sys.modules[module.__name__]
        raise InputError(f"{file} fails when it is run:\n{traceback_text(error)}") from None
    return module


def _import_covered(name: str, scope: Any = None, local: Any = None, names: Sequence[str] = (), level: int = 0) -> Any:
    """`__import__` of a text: imports what a class may import, however the text asks for it."""
    modules = [f"{name}.{each}" for each in names] if name == "priolane" else [name]
    foreign = next((each for each in modules if level > 0 or not is_covered(each)), None)
    if foreign is not None:
        raise ImportError(
            f"{foreign} is not a part of the run's id: a class imports the standard library and {_SCHEME}"
        )
    return builtins.__import__(name, scope, local, names, level)


def _print(*values: object, file: "SupportsWrite[str] | None" = None, **options: Any) -> None:
    """`print` of a text: without a file it writes to standard error, as standard output has the command's result."""
    print(*values, file=sys.stderr if file is None else file, **options)


def traceback_text(error: BaseException) -> str:
    """An exception with its traceback, without the frames of this module."""
    trace = traceback.TracebackException.from_exception(error)
    for each in (trace, trace.__cause__, trace.__context__):
        if each is not None:
            each.stack[:] = [frame for frame in each.stack if frame.filename != __file__]
    return "".join(trace.format()).rstrip()


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(names) if names else "it has none"
