"""Pages of the keys of every part and every table of an experiment."""

import re
from collections.abc import Iterator, Sequence

from markdown_text import code, plain, sentence, source, table

from priolane.cli.keys import kind
from priolane.model import key_examples
from priolane.model.keys import EXPERIMENT, Key, Part, parts

_ROWS = {
    "transport": ("Transports", "How fast a flow sends, and how losses are repaired."),
    "assign": ("Assignment", "Which class a flow asks for."),
    "admit": ("Admission", "Whether a flow gets the class that it asks for."),
    "host": ("Host schedulers", "The order in which the flows of a host send."),
    "nic": ("NICs", "What is between the transport of a host and its link."),
    "port": ("Switch ports", "What a port keeps, marks, and serves next."),
    "topology": ("Topologies", "Hosts, switches, and links: `[topology]` of an experiment."),
    "app": ("Applications", "What starts flows: `app` of a `[[group]]`."),
    EXPERIMENT: ("Tables of an experiment", "The tables of an experiment file, and the keys above them."),
}
# A default that is a value, and not words about one.
_LITERAL = re.compile(r"[^ ]+|\[.*\]|\{.*\}")
_COLUMNS = ("key", "type", "default", "example", "meaning", "source")


def index() -> str:
    """All rows with their parts, with links to the keys."""
    lines = []
    for row, (title, about) in _ROWS.items():
        lines.append(f"## {title} {{ #{row} }}\n\n{about}\n")
        of_row = [part for part in parts() if part.row == row]
        if row == EXPERIMENT:
            lines.append(", ".join(f"[{_escaped(part.name)}]({_place(part)})" for part in of_row) + "\n")
        else:
            cells = ((f"[`{p.name}`]({_place(p)})", sentence(plain(p.summary)), source(p.source, "")) for p in of_row)
            lines.append(table(("part", "what it does", "source"), cells))
    return "\n".join(lines)


def _place(part: Part) -> str:
    return f"reference/{part.row}.md#{anchor(part)}"


def _escaped(name: str) -> str:
    return name.replace("[", "\\[").replace("]", "\\]")


def pages() -> Iterator[tuple[str, str]]:
    """A page for each row, with its path."""
    for row, (title, about) in _ROWS.items():
        of_row = [part for part in parts() if part.row == row]
        sections = [_section(part) for part in of_row]
        groups = [_group(name, keys) for name, keys in _groups(of_row).items()]
        yield f"reference/{row}.md", "\n".join([f"# {title}\n\n{about}\n", *sections, *groups])


def titles() -> dict[str, str]:
    """The path and the title of each page, for the navigation."""
    return {f"reference/{row}.md": title for row, (title, _) in _ROWS.items()}


def anchor(part: Part) -> str:
    """The anchor of a part on the page of its row."""
    return part.table.replace("_", "-")


def _section(part: Part) -> str:
    name = part.name if part.row == EXPERIMENT else f"`{part.name}`"
    lines = [f"## {_escaped(name)} {{ #{anchor(part)} }}\n"]
    if part.summary:
        lines.append(sentence(plain(part.summary)) + "\n")
    fields = {"Source": source(part.source, "../"), "Requires": _list(part.requires), "Provides": _list(part.provides)}
    lines += [f"- **{word}**: {text}" for word, text in fields.items() if text]
    lines.append("")
    own = [key for key in part.keys if not key.group]
    if own:
        lines.append(_table(part, own))
    shared: dict[str, list[str]] = {}
    for key in part.keys:
        if key.group and "." not in key.name:
            shared.setdefault(key.group, []).append(code(key.name))
    lines += [
        f"From the [keys of `{group}`](#keys-of-{group.replace('_', '-')}): {', '.join(names)}.\n"
        for group, names in shared.items()
    ]
    if not part.keys:
        lines.append("It has no keys.\n")
    return "\n".join(lines)


def _list(clauses: Sequence[str]) -> str:
    return "; ".join(clauses)


def _groups(listed: Sequence[Part]) -> dict[str, list[tuple[Part, Key]]]:
    """The keys of each shared group, each once, with a part that has it."""
    groups: dict[str, list[tuple[Part, Key]]] = {}
    for part in listed:
        for key in part.keys:
            keys = groups.setdefault(key.group, []) if key.group else []
            if key not in (known for _, known in keys):
                keys.append((part, key))
    return groups


def _group(name: str, keys: Sequence[tuple[Part, Key]]) -> str:
    rows = [_row(part, key) for part, key in keys]
    return f"## Keys of `{name}` {{ #keys-of-{name.replace('_', '-')} }}\n\n{table(_COLUMNS, rows)}"


def _table(part: Part, keys: Sequence[Key]) -> str:
    return table(_COLUMNS, [_row(part, key) for key in keys])


def _row(part: Part, key: Key) -> tuple[str, ...]:
    example = key_examples.find_example(part, key)
    stated = code(key.default) if _LITERAL.fullmatch(key.default) else plain(key.default)
    default = "**must be stated**" if key.required else stated or "–"
    return (
        code(key.name),
        plain(kind(key)),
        default,
        code(example.value) if example else "–",
        plain(key.meaning),
        source(plain(key.source), "../") or "–",
    )
