import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parent.parent / "tools" / "files_of_others.py"
TABLE = "0 0\n10000 15\n30000000 100\n"
NETWORK = (
    "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 1\n"
)
HIGHEST = "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nDownlink_Latency_ns 1\n"
FLOWS = "Nodes 4\\nConnections 1\\n0->3 id 1 start 0 size 9\\n"


def git(folder: Path, *arguments: str) -> str:
    named = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    called = subprocess.run(["git", "-C", str(folder), *named, *arguments], capture_output=True, text=True, check=True)
    return called.stdout.strip()


def entry(commit: str, path: str, form: str, more: str = "") -> str:
    return f'[[file]]\nrepository = "a/b"\ncommit = "{commit}"\npath = "{path}"\nimport = ["{form}"]\n{more}\n'


def run(clones: Path, listed: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(TOOL), str(clones), "--list", str(listed)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clones" / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "sizes.txt").write_text(TABLE, encoding="utf-8")
    (folder / "small.topo").write_text(NETWORK + HIGHEST, encoding="utf-8")
    (folder / "cut.topo").write_text(NETWORK, encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "files")
    # What is there now is not what was there at the commit.
    (folder / "sizes.txt").write_text("x\n", encoding="utf-8")
    return folder


def test_files_are_read_at_their_commits_and_counted(clone: Path, tmp_path: Path) -> None:
    commit = git(clone, "rev-parse", "HEAD")
    network = f'is_topology = true\nflows = "{FLOWS}"\n'
    good = entry(commit, "sizes.txt", "sizes") + entry(commit, "small.topo", "htsim", network)
    limit = entry(commit, "cut.topo", "htsim", network + 'says = "there is no tier 1"\n')
    listed = tmp_path / "list.toml"
    listed.write_text(good + limit, encoding="utf-8")
    done = run(tmp_path / "clones", listed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 files of 1 repositories: 2 read, 1 refused for a stated limit, 0 not as listed" in done.stdout
    assert sorted(path.name for path in clone.iterdir()) == [".git", "cut.topo", "sizes.txt", "small.topo"]


def test_another_answer_than_the_listed_one_fails(clone: Path, tmp_path: Path) -> None:
    commit = git(clone, "rev-parse", "HEAD")
    listed = tmp_path / "list.toml"
    listed.write_text(
        entry(commit, "sizes.txt", "sizes", 'says = "some limit"\n')
        + entry(commit, "cut.topo", "htsim")
        + entry(commit, "small.topo", "sizes", 'says = "another message"\n'),
        encoding="utf-8",
    )
    done = run(tmp_path / "clones", listed)
    assert (done.returncode, done.stdout.count("wrong: a/b ")) == (1, 3), done.stdout + done.stderr
    listed.write_text(entry(commit, "nothing.txt", "sizes"), encoding="utf-8")
    assert "nothing.txt" in run(tmp_path / "clones", listed).stderr
