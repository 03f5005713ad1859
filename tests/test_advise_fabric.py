"""The fabric file of `priolane advise`, and which schemes can be deployed on it."""

import json
from pathlib import Path

import pytest

from advise_files import EVERYTHING, FABRIC, write_fabric, write_flows, write_recorded
from priolane import _core
from priolane._core import InputError
from priolane.advice import fabric as fabric_module
from priolane.advice import feasible
from priolane.advice.fabric import TODAY, read_fabric, scaled
from priolane.advice.feasible import requires, shipped
from priolane.advice.flow_list import read_flows


def test_every_mistake_of_a_fabric_has_a_line(tmp_path: Path) -> None:
    wrong = '[switch]\nqueues = 40\nint = "yes"\nspeed = 3\n[hots]\n[today]\nschema = "dctcp"\n'
    with pytest.raises(InputError) as error:
        read_fabric(write_fabric(tmp_path, wrong))
    lines = str(error.value).splitlines()
    keys = ["hots", "switch.buffer", "switch.int", "switch.queues", "switch.speed", "today.schema", "topology"]
    assert [line.split("`")[1] for line in lines] == keys
    assert all(line.startswith(str(tmp_path)) for line in lines)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ("switch = 3", "key `switch`: this is not a table"),
        ('today = "dctcp"', "key `today`: this is not a table"),
        ("[today]\nscheme = 3", "key `today.scheme`: 3 is no name"),
        ('[today]\ntransport = "dctcp"', "key `today.transport`: this is not a table; a row, such as"),
        ("[metrics]\nclasses = 3", "key `metrics.classes`: this is not a table"),
        (
            '[switch]\nbuffer = { per_queue = "240pkt" }\nqueues = 2\necn = { at = { "10Gbps" = 65 } }',
            "key `switch.ecn`",
        ),
    ],
)
def test_what_is_no_table_or_no_text_is_a_mistake(tmp_path: Path, stated: str, message: str) -> None:
    path = tmp_path / "fabric.toml"
    path.write_text(f'{stated}\n[topology]\nkind = "single_switch"\n', encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_fabric(path)
    other = tmp_path / "switch.toml"
    other.write_text("host = 3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"switch\.toml: key `host`: this is not a table"):
        read_fabric(write_fabric(tmp_path), other)
    with pytest.raises(InputError, match="queues: 0 is not a number from 1 to 16"):
        read_fabric(write_fabric(tmp_path), queues=0)


def test_a_fabric_names_what_was_not_stated_and_marks_at_every_rate(tmp_path: Path) -> None:
    fabric = read_fabric(write_fabric(tmp_path), queues=2)
    assert fabric.queues == 2
    assert fabric.ecn == "auto"
    assert fabric.host_rate == 25e9
    # 65 packets at 10 Gbit/s are 162.5 at 25; DCTCP's file has 650 at 100.
    assert fabric.marking == {"per": "queue", "at": {"25Gbps": "163pkt", "100Gbps": "650pkt"}}
    assert any("200ms" in text for text in fabric.assumed)
    assert any("no pfc, int, trimming" in text for text in fabric.assumed)
    stated = FABRIC + 'ecn = { at = { "25Gbps" = "100pkt" } }\n[host]\nmin_rto = "5ms"\n'
    fabric = read_fabric(write_fabric(tmp_path, stated))
    # What the table omits is the scheme's own, as in any experiment.
    assert fabric.marking == {"per": "port", "at": {"25Gbps": "100pkt", "100Gbps": "650pkt"}}
    assert not read_fabric(write_fabric(tmp_path, FABRIC + "ecn = false\n")).marking
    assert not any("200ms" in text for text in fabric.assumed)


def test_what_runs_today_is_stated_or_assumed_and_said_to_be(tmp_path: Path) -> None:
    nothing = read_fabric(write_fabric(tmp_path))
    assert dict(nothing.today) == {"base": TODAY}
    assert any("[today] is not stated" in line for line in nothing.assumed)
    stated = '[today]\nscheme = "dctcp"\ntransport = { init_window = "20pkt" }\n'
    own = read_fabric(write_fabric(tmp_path, FABRIC + stated))
    assert dict(own.today) == {"base": "dctcp", "transport": {"init_window": "20pkt"}}
    assert not any("[today]" in line for line in own.assumed)
    # The command's word replaces the file's, its rows included.
    other = read_fabric(write_fabric(tmp_path, FABRIC + stated), today="pias")
    assert dict(other.today) == {"base": "pias"}
    assert not any("[today]" in line for line in other.assumed)


def test_a_kernel_module_loads_a_congestion_control_and_not_the_other_way(tmp_path: Path) -> None:
    module = read_fabric(write_fabric(tmp_path, FABRIC + "[host]\nkernel_module = true\n"))
    assert {"kernel_module", "congestion_module"} <= module.features
    assert not any("congestion_module" in line for line in module.assumed)
    congestion = read_fabric(write_fabric(tmp_path, FABRIC + "[host]\ncongestion_module = true\n"))
    assert "congestion_module" in congestion.features
    assert "kernel_module" not in congestion.features
    both = read_fabric(write_fabric(tmp_path, FABRIC + "[host]\nkernel_module = true\ncongestion_module = false\n"))
    assert "congestion_module" not in both.features


def test_a_switch_file_replaces_what_the_fabric_says(tmp_path: Path) -> None:
    switch = tmp_path / "switch.toml"
    switch.write_text("[switch]\nqueues = 7\nint = true\n[host]\nuser_stack = true\n", encoding="utf-8")
    fabric = read_fabric(write_fabric(tmp_path), switch)
    assert fabric.queues == 7
    assert {"int", "user_stack"} <= fabric.features
    switch.write_text("[topology]\nqueues = 7\n", encoding="utf-8")
    with pytest.raises(InputError, match="only \\[switch\\] and \\[host\\] belong here"):
        read_fabric(write_fabric(tmp_path), switch)


def test_the_fabric_file_of_the_page_reads(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "advise.md").read_text(encoding="utf-8")
    text = page.split("```toml\n")[1].split("```")[0]
    fabric = read_fabric(write_fabric(tmp_path, text))
    assert fabric.queues == 3
    assert set(fabric.features) == {"ecn", "dscp", "congestion_control"}


def test_every_key_that_may_be_stated_is_in_the_tables_of_the_page() -> None:
    page = (Path(__file__).parents[1] / "docs" / "advise.md").read_text(encoding="utf-8")
    keys = {*fabric_module.SWITCH_FEATURES, *fabric_module.HOST_FEATURES}
    assert not [key for key in keys if f".{key}`" not in page]


def test_limits_scale_in_whole_packets_or_bytes() -> None:
    assert [scaled("65pkt", 2.5), scaled("97.5kB", 0.5)] == ["163pkt", "48750B"]
    with pytest.raises(InputError, match="is not a number of bytes"):
        scaled("many", 2)


def test_requirements_are_read_from_rows() -> None:
    assert requires(shipped()["hpcc"]) == ("int", "congestion_module", "pfc")
    assert requires(shipped()["newreno"]) == ()
    assert requires(shipped()["nos2"]) == ("ecn", "congestion_control", "dscp")
    assert requires(shipped()["top"]) == ("token_limiter", "kernel_module", "sizes_known")


def test_what_is_possible_follows_what_switches_hosts_and_flows_have(tmp_path: Path) -> None:
    flows = read_flows(write_recorded(tmp_path))
    by_name = {scheme.scheme: scheme for scheme in feasible.feasible(read_fabric(write_fabric(tmp_path)), flows)}
    assert set(by_name) == {entry["name"] for entry in json.loads(_core.catalogue())["schemes"]}
    assert {name for name, scheme in by_name.items() if scheme} == {"newreno", "cubic", "dctcp", "nos2", "pias", "es8"}
    assert by_name["hpcc"].reasons[0].startswith("no switch here writes telemetry")
    assert any("takes 8 queues" in reason for reason in by_name["top"].reasons)
    assert by_name["srpt"].is_bound
    assert {name for name, scheme in by_name.items() if scheme.twin} == {"ns3_dctcp"}
    everything = read_fabric(write_fabric(tmp_path, FABRIC.replace("queues = 3", "queues = 9") + EVERYTHING))
    able = {scheme.scheme for scheme in feasible.feasible(everything, flows) if scheme}
    assert {"hpcc", "top", "ndp", "homa", "pfabric", "physical_swift", "prioplus_swift"} <= able
    # What a list of flows does not say, no equipment replaces.
    assert not {"paccp", "d2tcp", "aequitas", "firapam"} & able


def test_swift_takes_a_module_of_congestion_control_and_homa_one_of_a_transport(tmp_path: Path) -> None:
    flows = read_flows(write_recorded(tmp_path))
    fabric = read_fabric(write_fabric(tmp_path, FABRIC + "[host]\ncongestion_module = true\nsizes_known = true\n"))
    by_name = {scheme.scheme: scheme for scheme in feasible.feasible(fabric, flows)}
    assert by_name["swift"]
    assert by_name["homa"].reasons == ("no host here loads a transport as a kernel module: host.kernel_module",)


def test_dcqcn_takes_nics_and_no_module_of_a_kernel(tmp_path: Path) -> None:
    flows = read_flows(write_recorded(tmp_path))
    by_name = {scheme.scheme: scheme for scheme in feasible.feasible(read_fabric(write_fabric(tmp_path)), flows)}
    assert by_name["dcqcn"].reasons == (
        "no host here has RoCE NICs, which run this congestion control: host.congestion_module",
    )
    assert by_name["swift"].reasons == (
        "no host here loads a congestion control as a kernel module: host.congestion_module",
    )


def test_a_column_of_the_list_makes_schemes_possible(tmp_path: Path) -> None:
    rows = [(nth * 1000, nth % 48, (nth + 7) % 48, 2000, nth % 3, 10**9) for nth in range(100)]
    flows = read_flows(write_flows(tmp_path, rows, "start_ns,src,dst,bytes,class,deadline_ns"))
    fabric = read_fabric(write_fabric(tmp_path, FABRIC + EVERYTHING))
    able = {scheme.scheme for scheme in feasible.feasible(fabric, flows) if scheme}
    assert "d2tcp" in able
    assert not {"aequitas", "firapam"} & able
