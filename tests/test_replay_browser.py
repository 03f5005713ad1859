"""The replay page as a reader's browser shows it: alone, drawn, hovered, played, in the dark, on a phone."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import browser
import made_recording as made
from adversarial import ADVERSARIAL
from priolane.replay.page import page as page_of
from priolane.replay.recording import Recording

CHROMIUM = browser.find()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=f"no browser here: none of {', '.join(browser.NAMES)}"),
    pytest.mark.xdist_group("browser"),
]

PLAYER = "replay.player"
# How long a page may take to unpack, on a machine that does other things.
_TRIES, _PAUSE_S = 600, 0.1


@pytest.fixture(scope="module")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Page]:
    assert CHROMIUM is not None
    with browser.started(CHROMIUM, tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("replay") / "replay.html"
    to.write_text(page_of(made.large(), "priolane trace x.toml --flow 0 --page replay.html"), encoding="utf-8")
    return to


def opened(blank: browser.Page, path: Path) -> browser.Page:
    """The page, unpacked."""
    blank.open(path)
    for _ in range(_TRIES):
        if blank.value("document.body.dataset.state") is not None:
            break
        time.sleep(_PAUSE_S)
    assert blank.value("document.body.dataset.state") == "ready"
    return blank


@pytest.fixture
def page(blank: browser.Page, path: Path) -> browser.Page:
    return opened(blank, path)


def colours_of(page: browser.Page, canvas: str) -> int:
    """The number of different colours on a canvas."""
    value: int = page.value(
        f"(() => {{ const c = document.getElementById('{canvas}');"
        " const data = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);"
        " return new Set(data).size; })()"
    )
    return value


def test_the_page_says_nothing_and_asks_for_nothing(page: browser.Page) -> None:
    assert page.complaints() == []
    assert len(page.of("Network.requestWillBeSent")) == 1
    assert page.value("performance.getEntriesByType('resource').length") == 0


def test_everything_is_drawn_and_unpacked_whole(page: browser.Page) -> None:
    assert page.value(f"{PLAYER}.model.columns.hop_packet.length") == 100_000
    page.value(f"{PLAYER}.seek({PLAYER}.model.ends / 3)")
    for canvas in ("network", "axis", "tracks", "lines", "queues"):
        assert colours_of(page, canvas) > 5, canvas


def test_what_is_on_links_and_in_queues_is_what_the_recording_says(page: browser.Page) -> None:
    recording = made.large()
    hops = recording.hops
    for at in (1_000_000, 777_777_777, 2_500_000_123):
        page.value(f"{PLAYER}.seek({PLAYER}.model.ticks({at / 1e6}))")
        on_links = int(((hops["start_ps"] >= 0) & (hops["start_ps"] <= at) & (hops["arrived_ps"] > at)).sum())
        held = int(((hops["queued_ps"] <= at) & (hops["start_ps"] > at)).sum())
        says = page.value("document.getElementById('held').textContent")
        assert says.startswith(f"{on_links} packets on links, {held} in queues"), at
        assert on_links > 0
    assert held > 0


def test_a_frame_looks_only_at_what_it_draws(page: browser.Page) -> None:
    # Of 100,000 hops a frame visits those on links at its instant, found by binary search, and nothing else.
    counts: list[Any] = page.value(
        f"(() => {{ const p = {PLAYER}; const of = p.network; const shown = []; const packets = of.packets.bind(of);"
        " of.packets = (time) => { const many = packets(time); shown.push(many); return many; };"
        " p.model.visited = 0; p.frames = 0; p.drawnMs = 0;"
        " for (let i = 0; i < 400; i += 1) p.seek((p.model.ends * i) / 400);"
        " return [p.model.visited, shown.reduce((a, b) => a + b), Math.max(...shown), p.drawnMs / p.frames]; })()"
    )
    visited, shown, most, milliseconds = counts
    print(f"a frame of 100,000 hops takes {milliseconds:.2f} ms")  # noqa: T201 - measured, and no condition of the test
    assert visited == shown > 400
    assert most < 100


def test_playing_moves_time_and_stops_at_the_end(page: browser.Page) -> None:
    page.value("document.getElementById('speed').selectedIndex = document.getElementById('speed').length - 1")
    page.value(f"{PLAYER}.seek({PLAYER}.model.ends * 0.9)")
    page.value("document.getElementById('play').click()")
    assert page.value("document.getElementById('play').textContent") == "Pause"
    for _ in range(_TRIES):
        if not page.value(f"{PLAYER}.isPlaying"):
            break
        time.sleep(_PAUSE_S)
    assert page.value(f"[{PLAYER}.isPlaying, {PLAYER}.time === {PLAYER}.model.ends]") == [False, True]
    assert page.value("document.getElementById('play').textContent") == "Play"


def test_the_slider_and_the_axis_seek(page: browser.Page) -> None:
    page.value(
        "(slider => { slider.value = 2500; slider.dispatchEvent(new Event('input')); })"
        "(document.getElementById('slider'))"
    )
    assert page.value(f"{PLAYER}.time / {PLAYER}.model.ends") == pytest.approx(0.25)
    x, y = page.value(
        "(e => { e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
        f" return [b.x + ({PLAYER}.axis.x({PLAYER}.model.ends * 0.6)), b.y + 30]; }})(document.getElementById('axis'))"
    )
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    assert page.value(f"{PLAYER}.time / {PLAYER}.model.ends") == pytest.approx(0.6, abs=0.005)
    page.value("document.getElementById('closer').click()")
    wide = page.value(f"({PLAYER}.axis.until - {PLAYER}.axis.from) / {PLAYER}.model.ends")
    assert wide == pytest.approx(0.4)


def point(page: browser.Page, canvas: str, place: str) -> str:
    """Points at a place of a canvas, an expression that gives x and y, and returns what the page says of it."""
    x, y = page.value(
        "(e => { e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
        f" const [x, y] = {place}; return [b.x + x, b.y + y]; }})(document.getElementById('{canvas}'))"
    )
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    assert page.value("document.getElementById('tip').hidden") is False
    text: str = page.value("document.getElementById('tip').textContent")
    return text


def test_pointing_says_what_a_thing_is(page: browser.Page) -> None:
    # At 1,000.5 us packet 5,000 of flow 0 is on its first link.
    page.value(f"{PLAYER}.seek({PLAYER}.model.ticks(1000.9))")
    at = f"(l => [l.x + l.ux * l.length * 0.4, l.y + l.uy * l.length * 0.4])({PLAYER}.network.lanes[0])"
    text = point(page, "network", at)
    assert "data 182,500..183,960, 1,538 B, class 0" in text
    assert "flow 0: h0 to h4, 913 kB" in text
    assert "at h0->leaf0 from 1,000.000 us, with 0 packets in the queues of the port" in text
    node = f"(n => [n.x, n.y])({PLAYER}.network.nodes[16])"
    assert point(page, "network", node).startswith("switch leaf0")
    drop = f"[{PLAYER}.axis.x({PLAYER}.model.columns.mark_at[{PLAYER}.axis.rows[0].marks[2]]), 2 + 20 * 2.5]"
    text = point(page, "axis", drop)
    assert "dropped in a port" in text
    assert "data" in text
    assert point(page, "axis", f"[{PLAYER}.axis.left + 20, 10]").startswith("flow 0: h0 to h4")
    assert "flow 7 cwnd:" in point(page, "lines", f"[{PLAYER}.axis.left + 200, 40]")
    assert point(page, "queues", "[200, 10]").startswith("queue of leaf")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    assert page.value("document.getElementById('tip').hidden") is True


def longest_wait(recording: Recording, flow: int) -> tuple[int, int]:
    """The row of the hop at which packets of a flow waited longest in what is shown, and the middle of that wait."""
    hops, last = recording.hops, recording.ends_ps
    waits = []
    for row in range(len(hops["flow"])):
        if hops["flow"][row] != flow or hops["queued_ps"][row] > last:
            continue
        ends = [int(hops[name][row]) for name in ("start_ps", "removed_ps") if hops[name][row] >= 0]
        left = ends[0] if ends else last
        waits.append((left - int(hops["queued_ps"][row]), -int(hops["queued_ps"][row]), -row))
    longest, queued, row = max(waits)
    return -row, -queued + longest // 2


def test_the_page_opens_where_the_traced_flow_waits_longest(page: browser.Page) -> None:
    recording = made.large()
    row, at = longest_wait(recording, recording.part.flows[0])
    hops = recording.hops
    opened_at = page.value(f"{PLAYER}.model.us({PLAYER}.time)")
    assert opened_at == pytest.approx(at / 1e6, abs=0.01)
    assert page.value("document.getElementById('packet').hidden") is False
    assert page.value(f"{PLAYER}.panel.packet") == int(hops["packet"][row])
    most = page.value("document.querySelector('#packet-hops strong').textContent")
    assert most.startswith(recording.links[int(hops["link"][row])]["port"])


def click(page: browser.Page, canvas: str, place: str) -> None:
    x, y = page.value(
        "(e => { e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
        f" const [x, y] = {place}; return [b.x + x, b.y + y]; }})(document.getElementById('{canvas}'))"
    )
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def panel(page: browser.Page) -> tuple[str, str, list[str]]:
    """Title, line and ports of the panel."""
    value = page.value(
        "[document.getElementById('packet-title').textContent, document.getElementById('packet-about').textContent,"
        " [...document.querySelectorAll('#packet-hops li')].map(one => one.textContent)]"
    )
    return value[0], value[1], value[2]


def require_panel_of(page: browser.Page, packet: int) -> None:
    """The panel says of a packet what the recording does."""
    recording = made.large()
    hops = recording.hops
    rows = [row for row in range(len(hops["packet"])) if hops["packet"][row] == packet]
    title, about, ports = panel(page)
    first = rows[0]
    offset = int(hops["offset"][first])
    assert title == f"Packet: data {offset:,}..{offset + int(hops['payload'][first]):,}"
    assert about.startswith(f"flow {hops['flow'][first]}: ")
    assert f"Class {hops['class'][first]}, {hops['wire'][first]:,} B" in about
    assert len(ports) == len(rows)
    for text, row in zip(ports, rows, strict=True):
        assert text.startswith(f"{recording.links[int(hops['link'][row])]['port']}: waited ")
        waited = (max(hops["start_ps"][row], hops["removed_ps"][row]) - hops["queued_ps"][row]) / 1e6
        assert float(text.split(" waited ")[1].split()[0]) == pytest.approx(waited, rel=0.005)
        assert ("dropped" in text) == (hops["fate"][row] == "dropped")


def test_a_click_on_a_packet_says_what_it_is_and_where_it_waited(page: browser.Page) -> None:
    page.value(f"{PLAYER}.panel.close()")
    # Any instant at which a packet of a chosen flow is on a link.
    page.value(f"(() => {{ const p = {PLAYER}; for (let t = 0; !p.network.found.length; t += 5e5) p.seek(t); }})()")
    disc = f"{PLAYER}.network.found[0]"
    packet = page.value(f"{PLAYER}.model.columns.hop_packet[{disc}.hop]")
    click(page, "network", f"[{disc}.x, {disc}.y]")
    require_panel_of(page, packet)
    # A packet of a flow that is not chosen, on the track of the last port.
    page.value(f"{PLAYER}.panel.close()")
    row = page.value(f"{PLAYER}.tracks.links.length - 1")
    hop = page.value(f"(m => (of => of[of.length >> 1])(m.links[{PLAYER}.tracks.links[{row}]]))({PLAYER}.model)")
    columns = f"{PLAYER}.model.columns"
    middle = f"{columns}.hop_leaves[{hop}] + {columns}.hop_sending[{hop}] / 2"
    page.value(f"{PLAYER}.seek({middle})")
    page.value(f"while ({PLAYER}.axis.until - {PLAYER}.axis.from > 1e8) {PLAYER}.zoom(0.4)")
    click(page, "tracks", f"[{PLAYER}.axis.x({middle}), {PLAYER}.tracks.top({row}) + 8]")
    require_panel_of(page, page.value(f"{columns}.hop_packet[{hop}]"))


def test_keys_go_along_the_packets_of_the_traced_flow(page: browser.Page) -> None:
    recording = made.large()
    flow = recording.part.flows[0]
    own = sorted(
        {int(packet) for packet, of in zip(recording.hops["packet"], recording.hops["flow"], strict=True) if of == flow}
    )
    press = "document.dispatchEvent(new KeyboardEvent('keydown', { key: '%s' }))"
    page.value(f"{PLAYER}.panel.close()")
    page.value(press % "n")
    require_panel_of(page, own[0])
    page.value(press % "n")
    page.value(press % "n")
    page.value(press % "p")
    require_panel_of(page, own[1])
    at = page.value(f"{PLAYER}.time")
    assert at == page.value(f"(m => m.instantOf(m.longestOf(m.hopsOf({own[1]}))))({PLAYER}.model)")
    page.value(press % "Escape")
    assert page.value("document.getElementById('packet').hidden") is True
    assert page.value(f"{PLAYER}.time") == at


def test_tracks_begin_with_the_ports_on_the_way_of_the_flows(page: browser.Page) -> None:
    recording = made.large()
    hops = recording.hops
    passed = {
        recording.links[int(link)]["port"]
        for link, flow in zip(hops["link"], hops["flow"], strict=True)
        if flow in recording.part.flows
    }
    rows = page.value(f"{PLAYER}.tracks.links.map(link => {PLAYER}.model.head.links[link].port)")
    own = page.value(f"{PLAYER}.tracks.own")
    assert set(rows[:own]) == passed
    assert not set(rows[own:]) & passed


def test_names_of_nodes_do_not_lie_on_links(page: browser.Page) -> None:
    lanes = page.value(
        f"{PLAYER}.network.lanes.map(at => [at.x, at.y, at.x + at.ux * at.length, at.y + at.uy * at.length])"
    )
    nodes = page.value(
        "(n => n.nodes.map((at, nth) => n.boxes[nth] ? [at.x - n.boxes[nth].half, at.y - n.radius,"
        " at.x + n.boxes[nth].half, at.y + n.radius]"
        " : [at.x - 8, at.y + n.radius + 2, at.x + 8, at.y + n.radius + 14]))"
        f"({PLAYER}.network)"
    )
    steps = [nth / 200 for nth in range(201)]
    for left, top, right, bottom in nodes:
        for x0, y0, x1, y1 in lanes:
            for part in steps:
                x, y = x0 + part * (x1 - x0), y0 + part * (y1 - y0)
                assert not (left < x < right and top < y < bottom)


@pytest.mark.parametrize(("scheme", "sign"), [("light", 1), ("dark", -1)])
def test_colours_of_classes_are_in_order_and_can_be_seen(page: browser.Page, scheme: str, sign: int) -> None:
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    try:
        shades, paper = page.value(
            "(() => { replay.forgetColours(); return [replay.colours().classes, replay.colours().paper]; })()"
        )
    finally:
        page.call("Emulation.setEmulatedMedia", features=[])
    lights = [luminance(shade) for shade in shades]
    assert lights == sorted(lights, reverse=sign < 0)
    ground = luminance(paper)
    assert min((max(light, ground) + 0.05) / (min(light, ground) + 0.05) for light in lights) >= 3.0


def luminance(colour: str) -> float:
    """WCAG's relative luminance of `#rrggbb`."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(("scheme", "colours"), [("dark", ["#1d2024", "#f4ed27"]), ("light", ["#ffffff", "#0d0887"])])
def test_light_and_dark_have_their_colours(page: browser.Page, scheme: str, colours: list[str]) -> None:
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    result = None
    for _ in range(_TRIES):
        result = page.value("[replay.colours().paper, replay.classColour(0)]")
        if result == colours:
            break
        time.sleep(_PAUSE_S)
    page.call("Emulation.setEmulatedMedia", features=[])
    assert result == colours


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_scrolls_one_way_only(blank: browser.Page, path: Path, width: int) -> None:
    page = opened(blank, path)
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=2, mobile=True)
    assert page.value("document.documentElement.scrollWidth") <= width
    assert page.value("document.getElementById('network').getBoundingClientRect().right") <= width
    page.call("Emulation.clearDeviceMetricsOverride")


@pytest.mark.parametrize("nth", range(len(ADVERSARIAL)))
def test_hostile_texts_stay_text(blank: browser.Page, tmp_path: Path, nth: int) -> None:
    text = ADVERSARIAL[nth]
    small = made.large(200)
    nodes = [{"name": text, "tier": 0}, *small.nodes[1:]]
    links = [{**small.links[0], "port": text}, *small.links[1:]]
    recording = replace(small, nodes=nodes, links=links, scheme=text)
    to = tmp_path / "replay.html"
    to.write_text(page_of(recording, text), encoding="utf-8")
    page = opened(blank, to)
    page.value(f"{PLAYER}.seek({PLAYER}.model.ends / 2)")
    point(page, "network", f"(n => [n.x, n.y])({PLAYER}.network.nodes[0])")
    assert page.complaints() == []
    assert page.of("Page.javascriptDialogOpening") == []
    assert len(page.of("Network.requestWillBeSent")) == 1
    assert page.value("document.images.length + document.links.length") == 0
