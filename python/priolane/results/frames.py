"""The library pandas, an extra that is slow to load: data frames take it, and nothing else does."""

from types import ModuleType

INSTALL = "pip install pandas"
"""The command that installs pandas."""


def load_pandas(user: str) -> ModuleType:
    """The module pandas; raises `ImportError`, which names `user` and what to install, where there is none."""
    try:
        import pandas  # noqa: PLC0415 - slow to load
    except ImportError as error:
        raise ImportError(f"{user} needs pandas, which is not installed; {INSTALL}") from error
    return pandas
