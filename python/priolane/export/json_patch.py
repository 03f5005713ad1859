"""The difference of two configurations as a JSON patch (RFC 6902), which SONiC's `config apply-patch` takes."""

from collections.abc import Mapping
from typing import Any

Operation = dict[str, Any]

# Tables, rows and fields: what is below a field is replaced as a whole.
_LEVELS = 3


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Operation]:
    """The operations that make `new` of `old`, and leave everything that both have.

    Tables, rows and fields are compared one by one. A table or row that only one of the two has is added or removed
    as a whole, so that no table becomes empty on the way, which SONiC refuses.
    """
    return _difference(old, new, "", _LEVELS)


def _difference(old: Mapping[str, Any], new: Mapping[str, Any], path: str, levels: int) -> list[Operation]:
    operations: list[Operation] = []
    for name in sorted(old.keys() | new.keys()):
        here = f"{path}/{_escaped(name)}"
        if name not in new:
            operations.append({"op": "remove", "path": here})
        elif name not in old:
            operations.append({"op": "add", "path": here, "value": new[name]})
        elif old[name] != new[name]:
            before, after = old[name], new[name]
            if levels > 1 and isinstance(before, Mapping) and isinstance(after, Mapping) and before and after:
                operations += _difference(before, after, here, levels - 1)
            else:
                operations.append({"op": "replace", "path": here, "value": after})
    return operations


def segments(path: str) -> list[str]:
    """The names of a path, without the escapes of JSON pointers (RFC 6901)."""
    return [name.replace("~1", "/").replace("~0", "~") for name in path.split("/")[1:]]


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
