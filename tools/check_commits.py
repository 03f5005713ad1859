"""Fails when the subject of a commit has not the form that CONTRIBUTING asks for: `sim/engine: split the arrival list`.

Judged are the commits since the one that added this file, merges left out; without a history there is nothing to judge.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LONGEST = 72

_SUBJECT = re.compile(r"(?P<area>[a-z0-9_.-]+(?:/[a-z0-9_.-]+)*): (?P<summary>.+)")
# Words with which a subject says what was done, or that something was, in place of what the commit does.
_NOT_IMPERATIVE = re.compile(r"(?:\w+(?:ed|ing)|a|an|the|what|one|no|more)\b", re.IGNORECASE)
# Imperatives that look like participles.
_IMPERATIVE = frozenset(
    {"bring", "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "string", "succeed"}
)


def violation(subject: str) -> str | None:
    """The mistake in a subject, if there is one."""
    match = _SUBJECT.fullmatch(subject)
    if match is None:
        return "has no area, or more than one. Use `area: summary`, such as `sim/engine: skip empty windows`."
    if len(subject) > LONGEST:
        return f"has {len(subject)} characters. Use at most {LONGEST}; the rest belongs in the body."
    if subject.endswith("."):
        return "ends with a period. Leave it out."
    first = match["summary"].split()[0]
    if first.lower() not in _IMPERATIVE and _NOT_IMPERATIVE.fullmatch(first):
        return f"begins with `{first}`. Use the imperative: add, fix, split, remove."
    return None


def _git(*arguments: str) -> str:
    called = subprocess.run(  # noqa: S603
        ["git", *arguments],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return called.stdout if called.returncode == 0 else ""


def subjects() -> list[str]:
    """Subjects of the commits to be judged, newest first."""
    added = _git("log", "--format=%H", "--diff-filter=A", "--", "tools/check_commits.py").split()
    return _git("log", "--no-merges", "--format=%s", f"{added[-1]}..HEAD").splitlines() if added else []


def main() -> int:
    """Judges the subjects; the exit code is 1 if one is refused."""
    judged = subjects()
    violations = [f"{subject!r} {wrong}" for subject in judged if (wrong := violation(subject))]
    print("\n".join(violations) or f"commits: {len(judged)} subjects have an area and an imperative")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
