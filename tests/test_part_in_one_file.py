"""A part is one file: nothing outside it names it but lists, where it is a word each."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# The list of each row, the module list, the titles of assumptions, and the shipped schemes.
LISTS = {
    "timely": {
        "crates/priolane-core/src/transport/controllers.rs",
        "crates/priolane-core/src/transport/mod.rs",
        "crates/priolane-lab/src/assumptions/list.rs",
        "crates/priolane-lab/src/scheme/shipped.rs",
    },
    "sp_pifo": {
        "crates/priolane-core/src/port/disciplines.rs",
        "crates/priolane-core/src/port/mod.rs",
    },
}
# The types of keys, which tools/typed_keys.py writes from the declarations.
GENERATED = "python/priolane/keys.py"
TESTS = {"crates/priolane-core/src/port/differential.rs"}
FILES = {
    "timely": "crates/priolane-core/src/transport/timely.rs",
    "sp_pifo": "crates/priolane-core/src/port/sp_pifo.rs",
}


@pytest.mark.parametrize("name", LISTS)
def test_no_file_but_lists_names_a_part(name: str) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "crates", "python"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    camel = "".join(word.capitalize() for word in name.split("_"))
    named = re.compile(rf'"{name}"|\b{camel}\b|\b{name}::|^{name} = |mod {name};', re.MULTILINE)
    results = set()
    for path in listed.stdout.splitlines():
        if (
            Path(path).suffix not in (".rs", ".py", ".toml")
            or path.startswith("python/priolane/schemes")
            or path == GENERATED
        ):
            continue
        text = (ROOT / path).read_text(encoding="utf-8")
        # What tests say of a part is no list.
        text = text.partition("#[cfg(test)]")[0] if path.endswith(".rs") else text
        is_test = "/tests" in path or path in TESTS or path.endswith("tests.rs")
        if not is_test and named.search(text):
            results.add(path)
    assert results == {FILES[name], *LISTS[name]}
