"""`read_text_of_user`: regular files within a bound; nothing that waits, and nothing without end."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import export_plans
from priolane._core import InputError
from priolane.cli import main
from priolane.storage.input_file import MOST_BYTES, read_text_of_user


def refusal(path: Path, most_bytes: int = MOST_BYTES) -> str:
    with pytest.raises(InputError) as caught:
        read_text_of_user(path, most_bytes=most_bytes)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    return text.removeprefix(f"{path}: ")


def test_a_regular_file_and_a_link_to_one_are_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes("a\r\nä\n".encode())
    (tmp_path / "link").symlink_to(file)
    assert read_text_of_user(file) == read_text_of_user(tmp_path / "link") == "a\r\nä\n"


def test_a_file_of_the_largest_size_is_read_and_one_byte_more_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 10)
    assert read_text_of_user(file, most_bytes=10) == "x" * 10
    assert refusal(file, most_bytes=9) == "the file is larger than 9 bytes. Use a file of at most that size."
    file.write_bytes(b"x" * (MOST_BYTES + 1))
    assert refusal(file).startswith("the file is larger than 1048576 bytes.")


def test_what_is_not_a_regular_file_is_refused_by_its_kind(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
    kinds = {tmp_path / "fifo": "a FIFO", tmp_path / "link": "a FIFO", tmp_path / "socket": "a socket"}
    kinds |= {tmp_path: "a directory", Path("/dev/zero"): "a device", Path("/dev/tty"): "a device"}
    for path, kind in kinds.items():
        assert refusal(path) == f"the path names {kind}, not a regular file. Use the path of a text file."


def test_a_fifo_that_takes_the_place_of_a_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, fifo = tmp_path / "file", tmp_path / "fifo"
    file.write_text("x", encoding="utf-8")
    os.mkfifo(fifo)
    regular = file.stat()
    monkeypatch.setattr(Path, "stat", lambda *_, **__: regular)
    assert "a FIFO" in refusal(fifo)


def test_a_missing_file_and_bytes_that_are_not_utf8_are_one_line_each(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none") == (
        "the file cannot be read: No such file or directory. Use the path of a readable text file."
    )
    (tmp_path / "bytes").write_bytes(b"ab\nc\xff")
    assert refusal(tmp_path / "bytes") == "line 2: byte 4 is not UTF-8. Use a text file in UTF-8."
    assert "null character" in refusal(tmp_path / "a\0b")


@pytest.mark.parametrize("option", ["--headroom", "--ports"])
def test_export_refuses_a_fifo_and_a_device_at_once(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = export_plans.write_experiment(tmp_path)
    os.mkfifo(tmp_path / "fifo.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    for name in ("fifo.csv", "zero.csv"):
        words = ["export", "sonic", str(experiment), "--scheme", "nos2", "-o", str(tmp_path / "out")]
        # A process of its own can be ended if it hangs.
        code = subprocess.run(
            [sys.executable, "-m", "priolane", *words, option, str(tmp_path / name)],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert code.returncode == 2
        assert code.stderr.count("\n") == 1
        assert "not a regular file" in code.stderr
        assert not (tmp_path / "out").exists()
    assert main(["export", "sonic", str(experiment), "--scheme", "nos2", option, str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
