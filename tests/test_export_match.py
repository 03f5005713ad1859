"""`--match`, `--prefix` and `--idle`: what they take, and one message for what they do not."""

from ipaddress import ip_network
from pathlib import Path

import pytest

import export_plans
from hostile_texts import TEXTS
from priolane._core import InputError
from priolane.cli import main
from priolane.export.match import Match, read_match, read_networks


def test_ports_and_prefixes_that_meet_are_one() -> None:
    assert read_match(["port=6379,80-90,85-100,101,7", "address=10.0.0.0/9,fd00::/8,10.128.0.0/9"]) == Match(
        ports=((7, 7), (80, 101), (6379, 6379)), addresses=(ip_network("10.0.0.0/8"), ip_network("fd00::/8"))
    )
    assert read_match([]) is None


@pytest.mark.parametrize("path", ["a", "system.slice/nginx.service", "user.slice/user@1000.service/x-1.scope"])
def test_paths_of_real_cgroups_are_paths(path: str) -> None:
    result = read_match([f"cgroup={path}"])
    assert result is not None
    assert (result.cgroup, result.cgroup_level) == (path, len(path.split("/")))


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["port"], "write port=5000-5010"),
        (["user=root"], "write port=5000-5010"),
        (["port=1", "port=2"], "port is there twice"),
        (["port=0"], "'0' is no port"),
        (["port=65536"], "'65536' is no port"),
        (["port=9-8"], "'9-8' is no port"),
        (["port="], "'' is no port"),
        (["port=1;accept"], "is no port"),
        (["address=10.0.0.1/8"], "has host bits set"),
        (["address=here"], "write prefixes, such as 10.0.0.0/8,fd00::/8"),
        (["address=fe80::%eth0/128"], "an address with a zone"),
        (["cgroup="], "no path below /sys/fs/cgroup"),
        (["cgroup=/a"], "no path below /sys/fs/cgroup"),
        (["cgroup=a/../b"], "no path below /sys/fs/cgroup"),
        (['cgroup=a" accept'], "no path below /sys/fs/cgroup"),
        *(([f"cgroup={text}"], "no path below /sys/fs/cgroup") for text in TEXTS.values()),
        *(([f"port={text}"], "is no port") for text in TEXTS.values()),
        *(([f"address={text}"], "write prefixes") for text in TEXTS.values()),
    ],
)
def test_what_is_no_match_is_one_message(texts: list[str], says: str) -> None:
    with pytest.raises(InputError) as refused:
        read_match(texts)
    assert says in str(refused.value)


def test_prefixes_of_all_are_prefixes() -> None:
    assert [str(each) for each in read_networks("--prefix", "0.0.0.0/0, ::/0")] == ["0.0.0.0/0", "::/0"]


@pytest.mark.parametrize(
    ("target", "more", "says"),
    [
        ("nft", ["--match", "port=x"], "is no port or range"),
        ("sysctl", ["--prefix", "x"], "write prefixes"),
        ("sysctl", [], "name its addresses, such as --prefix"),
        ("tc", ["--match", "port=80"], "--match is of nft"),
        ("sysctl", ["--idle", "1s"], "--idle is of nft"),
        ("nft", ["--prefix", "10.0.0.0/8"], "--prefix is of sysctl"),
        ("eos", ["--into", "x.json"], "--into is of sonic"),
    ],
)
def test_an_option_of_another_target_is_not_dropped_in_silence(
    target: str, more: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = export_plans.write_experiment(tmp_path)
    words = ["export", target, str(experiment), "--scheme", "dctcp", "-o", str(tmp_path / "out"), *more]
    assert main(words) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert says in errors
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["0s", "1500ms", "2", "x", "86401s"])
def test_idle_times_are_whole_seconds(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    experiment = export_plans.write_experiment(tmp_path)
    with pytest.raises(SystemExit) as refused:
        main(["export", "nft", str(experiment), "--scheme", "pias", "--idle", text])
    assert refused.value.code == 2
    assert "--idle" in capsys.readouterr().err
