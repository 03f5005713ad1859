"""The forms of a `config_db.json`: as SONiC writes it today, as it did before 2021, and as a dump of its database.

    nested    {"QUEUE": {"Ethernet0|3": {...}}}, the file of a switch
    flat      {"QUEUE|Ethernet0|3": {...}}, a dump of the database
    brackets  "[WRED_PROFILE|AZURE]" in place of "AZURE"
    lists     "Ethernet0,Ethernet4|3-4" in place of one key for each port

`one_form` makes nested tables without brackets and lists of them.
"""

import re
from collections.abc import Iterator
from typing import Any

_REFERENCE = re.compile(r"\[[A-Z0-9_]+\|([^\[\]|]+)\]")
_BY_PORT = ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG", "PORT_QOS_MAP")
"""Tables whose keys begin with a port, or had several ports."""


def one_form(config: Any) -> Any:
    """The configuration in the form that switches have today; what is no configuration stays as it is."""
    if not isinstance(config, dict):
        return config
    nested: dict[str, Any] = {}
    for name, rows in config.items():
        table, bar, key = name.partition("|")
        if bar:
            own = nested.setdefault(table, {})
            if isinstance(own, dict):
                own[key] = rows
        elif isinstance(rows, dict):
            nested[name] = {**rows, **nested.get(name, {})}
        else:
            nested[name] = rows
    return {name: dict(_rows(name, rows)) if isinstance(rows, dict) else rows for name, rows in nested.items()}


def _rows(table: str, rows: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, row in rows.items():
        plain = {field: _plain(value) for field, value in row.items()} if isinstance(row, dict) else row
        ports, bar, rest = key.partition("|")
        for port in ports.split(",") if table in _BY_PORT else (ports,):
            yield f"{port}{bar}{rest}", plain


def _plain(value: Any) -> Any:
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return match[1] if match else value
