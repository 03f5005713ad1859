"""Names that the package has given up: they still work for one version, with a warning that says the new one."""

import warnings
from typing import Any


def renamed(old: str, new: str) -> Any:
    """A property `old` that gives the attribute `new`, with a `DeprecationWarning` at the line that reads it."""

    def read(instance: object) -> Any:
        warnings.warn(
            f"{type(instance).__name__}.{old} is now {new}; the old name goes with the next minor release",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(instance, new)

    return property(read, doc=f"The former name of `{new}`.")
