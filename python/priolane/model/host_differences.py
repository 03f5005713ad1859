"""The settings of hosts in which the schemes of an experiment differ, so that a difference of results may be theirs."""

from collections.abc import Iterator, Mapping
from typing import Any

# The key of the merged scheme, the key of `[host]` that states it for all schemes, and what it is.
_KEYS = (
    ("nic", "host.nic", "the transmit queue of hosts"),
    ("handshake", "host.handshake", "the handshake before a flow's first packet"),
    ("min_rto", "host.min_rto", "the minimum of the retransmission timeout"),
)


def host_differences(schemes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A sentence for each setting of hosts that is not the same in all merged schemes that have it."""
    return list(_differences(schemes))


def _differences(schemes: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for key, stated, meaning in _KEYS:
        values: dict[str, list[str]] = {}
        for name, scheme in schemes.items():
            value = _nic(scheme) if key == "nic" else scheme["transport"].get(key)
            if value is not None:
                values.setdefault(str(value), []).append(name)
        if len(values) > 1:
            differences = "; ".join(f"{value}: {', '.join(names)}" for value, names in values.items())
            yield f"schemes differ in {meaning} ({differences}); `{stated}` states one for all that have it"


def _nic(scheme: Mapping[str, Any]) -> str | None:
    """Whether hosts have a transmit queue; `None` for one of tokens, which belongs to its transport."""
    nic = scheme["nic"]
    if nic == "tokens":
        return None
    return "none" if nic == "pull" else "a queue"
