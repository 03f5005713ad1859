"""No text of a file becomes a command: every hostile text at every place of every template, as its target reads it."""

import inspect
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
import pytest
from markdown_it import MarkdownIt

import export_plans
from hostile_texts import TEXTS
from priolane._core import InputError
from priolane.cli import main
from priolane.export import dcb, eos, files, hosts, junos, nft, nxos, sysctl, tc
from priolane.export import format as languages
from priolane.export.deployment import Deployment
from priolane.export.format import MARKDOWN, Format, UnsafeText, mark
from priolane.export.match import Match
from priolane.export.plan import Routing

HARMLESS = "harmless"
BY_SIZE = (
    ("scheme.%s.assign", '{ kind = "size", thresholds = ["100kB"] }'),
    ("scheme.%s.port", '{ kind = "strict", queues = 2, buffer = { shared = "240pkt" } }'),
)
# Classes by bytes sent that begin in the class of a group.
BY_GROUP = (
    ("scheme.%s.assign", '{ kind = "bytes_sent", levels = 2, thresholds = ["100kB"], first = { all = 1 } }'),
    ("scheme.%s.port", '{ kind = "strict", queues = 3, buffer = { shared = "240pkt" } }'),
)
# Together, these plans have each line of each template.
PLANS: tuple[tuple[str, tuple[tuple[str, str], ...], Routing], ...] = (
    ("nos2", (export_plans.PER_QUEUE,), "own"),
    ("nos2", (), "own"),
    ("aequitas", (), "own"),
    ("aequitas", (export_plans.PER_QUEUE,), "own"),
    ("dctcp", (), "own"),
    ("pias", (), "best"),
    ("timely", (), "own"),
    ("timely", (), "best"),
    ("prioplus_swift", (), "own"),
    ("prioplus_swift", (), "best"),
    ("paccp", (), "own"),
    ("dctcp", BY_SIZE, "own"),
    ("dctcp", BY_GROUP, "own"),
    ("newreno", (), "own"),
)

Content = dict[str, Any]
FOUR, SIX = export_plans.PREFIXES
# What users state besides, where it makes a difference to a target.
STATED: dict[str, tuple[Deployment, ...]] = {
    "tc": (Deployment(qdisc="ets"), Deployment(qdisc="htb")),
    "nft": (
        Deployment(),
        Deployment(idle=2, match=Match(((5000, 5010), (80, 80)), (FOUR, SIX), "system.slice/a.service")),
        Deployment(idle=2, match=Match((), (FOUR,))),
        Deployment(match=Match((), (SIX,))),
    ),
    "sysctl": (Deployment(prefixes=export_plans.PREFIXES),),
}


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Content]]:
    """The values that the targets give to each template for `PLANS`, each time with a free text among those found."""
    experiment = export_plans.write_experiment(tmp_path_factory.mktemp("plans"))
    by_name: dict[str, list[Content]] = {}
    with pytest.MonkeyPatch.context() as patch:

        def kept(template: str, content: Content) -> str:
            by_name.setdefault(template, []).append(content | {"findings": [HARMLESS]})
            return files.render(template, content)

        for module in (dcb, eos, hosts, junos, nft, nxos, sysctl, tc):
            patch.setattr(module, "render", kept)
        for scheme, sets, routing in PLANS:
            paper = ("scheme.%s.paper", f'"{HARMLESS}"')
            plan = export_plans.make(experiment, scheme, (*sets, paper), routing=routing)
            for target in ("dcb", "eos", "hosts", "junos", "nft", "nxos", "sysctl", "tc"):
                for deployment in STATED.get(target, (Deployment(),)):
                    try:
                        export_plans.run(target, plan, deployment)
                    except InputError:
                        continue
    return by_name


class Tampering:
    """A `finalize` that writes another text at one place of a template; a place is a line of the compiled template."""

    def __init__(self) -> None:
        self.places: dict[tuple[str, int], bool] = {}
        self.place: tuple[str, int] | None = None
        self.text = ""

    def __call__(self, value: object) -> str:
        frame = inspect.currentframe()
        assert frame is not None
        assert frame.f_back is not None
        place = (frame.f_back.f_code.co_filename, frame.f_back.f_lineno)
        is_text = not isinstance(value, int) or isinstance(value, bool)
        self.places[place] = is_text
        return mark(self.text if place == self.place and is_text else value)


@pytest.fixture
def tampering(monkeypatch: pytest.MonkeyPatch) -> Tampering:
    tampering = Tampering()
    environment = files._environment().overlay(finalize=tampering, cache_size=50)
    monkeypatch.setattr(files, "_environment", lambda: environment)
    return tampering


def commands(text: str, language: Format) -> list[str]:
    """The lines that are no comments, by the strictest view of what ends a line."""
    assert language.comment is not None
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(language.comment)]


def tokens(text: str) -> list[tuple[str, str]]:
    """The structure of a Markdown text, without its texts."""
    results: list[tuple[str, str]] = []
    for token in MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text):
        results.append((token.type, token.tag))
        inline = [each for each in token.children or [] if each.type not in ("text", "text_special")]
        results += [(each.type, each.tag) for each in inline]
    return results


def structure(text: str, language: Format) -> object:
    return tokens(text) if language is MARKDOWN else commands(text, language)


def one_of_each(contents: dict[str, list[Content]], template: str, tampering: Tampering) -> Iterator[Content]:
    """The fewest contents in their order that reach every place that any content reaches."""
    known: set[tuple[str, int]] = set()
    for content in contents[template]:
        tampering.places.clear()
        files.render(template, content)
        if not tampering.places.keys() <= known:
            known |= tampering.places.keys()
            yield content


@pytest.mark.parametrize("template", sorted(files.FORMATS))
def test_a_hostile_text_at_any_place_of_a_template_is_a_comment_or_refused(
    template: str, contents: dict[str, list[Content]], tampering: Tampering
) -> None:
    language = files.FORMATS[template]
    done: dict[tuple[str, int], str] = {}
    for content in list(one_of_each(contents, template, tampering)):
        tampering.place = None
        tampering.places.clear()
        expected = structure(files.render(template, content), language)
        for place in [place for place, is_text in tampering.places.items() if is_text and place not in done]:
            tampering.place, outcomes = place, set()
            for text in TEXTS.values():
                tampering.text = text
                try:
                    rendered = files.render(template, content)
                except UnsafeText:
                    outcomes.add("refused")
                    continue
                outcomes.add("written")
                assert structure(rendered, language) == expected, (place, text)
                assert rendered.replace("\n", "").isprintable()
                assert language is MARKDOWN or not re.search(r"\\$", rendered, re.MULTILINE)
                assert max(map(len, rendered.splitlines())) < 1_500
            assert len(outcomes) == 1, (place, outcomes)
            done[place] = outcomes.pop()
    assert "written" in done.values(), "the template has a header with free text"


def test_every_template_has_a_language_and_every_place_of_it_was_reached(
    contents: dict[str, list[Content]], tampering: Tampering
) -> None:
    folder = Path(files.__file__).parent / "templates"
    parts = {"calls.j2", "head.j2", "nft_match.j2", "red.j2", "root.j2"}
    assert {path.name for path in folder.glob("*.j2")} == files.FORMATS.keys() | parts
    for template in files.FORMATS:
        for content in contents[template]:
            files.render(template, content)
    reached: dict[str, set[int]] = {}
    for name, line in tampering.places:
        reached.setdefault(Path(name).name, set()).add(line)
    environment = files._environment()
    for path in folder.glob("*.j2"):
        source = environment.compile(path.read_text(encoding="utf-8"), path.name, raw=True)
        places = sum("environment.finalize(" in line for line in source.splitlines())
        assert len(reached.get(path.name, ())) == places, path.name


def spoiled(template: str, content: Content, text: str) -> str:
    """The template with the text as scheme, paper, purpose and everything that was found."""
    texts: Content = {"plan": replace(content["plan"], scheme=text, paper=text), "findings": [text, text]}
    return files.render(template, content | texts | {key: text for key in ("what", "covers") if key in content})


SHELLS = sorted(name for name, language in files.FORMATS.items() if language is languages.SHELL)


def ran(script: str, folder: Path) -> list[str]:
    """The commands that a script runs, each with its words, on a path that has only what records them."""
    tools, work = folder / "bin", folder / "work"
    shutil.rmtree(folder, ignore_errors=True)
    tools.mkdir(parents=True)
    work.mkdir()
    log = folder / "log"
    for name in ("tc", "dcb", "ip", "touch", "reload", "id", "install"):
        tool = tools / name
        says = 'case "$*" in *match*) echo default via 192.0.2.1 dev eth0 ;; esac\n' if name == "ip" else ""
        text = f'#!/bin/sh\nprintf "%s\\036" {name} "$@" >> {log}\nprintf "\\n" >> {log}\n{says}'
        tool.write_text(text, encoding="utf-8")
        tool.chmod(0o755)
    path = work / "script.sh"
    path.write_text(script, encoding="utf-8")
    subprocess.run(["/bin/sh", "-n", path], check=True, timeout=30)
    done = subprocess.run(
        ["/bin/sh", path, "DEVICE"],
        check=False,
        cwd=work,
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [each.name for each in work.iterdir()] == ["script.sh"]
    return log.read_text(encoding="utf-8").split("\n")[:-1]


@pytest.mark.parametrize("template", SHELLS)
def test_a_script_runs_the_same_commands_whatever_its_free_texts(
    template: str, contents: dict[str, list[Content]], tmp_path: Path
) -> None:
    content = contents[template][0]
    expected = ran(files.render(template, content), tmp_path / "run")
    assert {line.split("\036")[0] for line in expected} <= {"tc", "dcb", "ip"}
    for text in ("".join(f" {text}" for text in TEXTS.values()), *TEXTS.values()):
        assert ran(spoiled(template, content, text), tmp_path / "run") == expected


def isolated() -> list[str] | None:
    """A command before others that gives them a network namespace of their own; `None` where that is not allowed."""
    words = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
    if shutil.which("unshare") is None:
        return None
    return words if subprocess.run([*words, "true"], check=False, capture_output=True).returncode == 0 else None


def test_nft_reads_the_same_rules_whatever_the_free_texts(contents: dict[str, list[Content]], tmp_path: Path) -> None:
    alone = isolated()
    tool = shutil.which("nft") or shutil.which("nft", path="/usr/sbin:/sbin")
    if tool is None or alone is None:
        pytest.skip("nft or a network namespace is missing: nothing reads mark.nft here")
    file = tmp_path / "mark.nft"

    def rules(text: str) -> str:
        file.write_text(text, encoding="utf-8")
        script = f"{tool} -c -f {file} && {tool} -f {file} && {tool} list ruleset"
        done = subprocess.run([*alone, "sh", "-c", script], check=False, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    content = contents["nft.j2"][0]
    expected = rules(files.render("nft.j2", content))
    assert "table inet priolane" in expected
    for text in TEXTS.values():
        assert rules(spoiled("nft.j2", content, text)) == expected


def settings(text: str) -> list[list[str]]:
    """The lines of a file as sysctl and modprobe read them: a backslash joins lines, `#` and `;` begin comments."""
    joined = text.replace("\\\n", "")
    lines = (line.split() for line in joined.splitlines())
    return [words for words in lines if words and words[0][0] not in "#;"]


@pytest.mark.parametrize("template", ["sysctl.j2", "modprobe.j2"])
def test_settings_are_the_same_whatever_the_free_texts(template: str, contents: dict[str, list[Content]]) -> None:
    content = contents[template][0]
    expected = settings(files.render(template, content))
    assert all(words[0] == "options" if template == "modprobe.j2" else words[1] == "=" for words in expected)
    for text in TEXTS.values():
        written = spoiled(template, content, text)
        assert settings(written) == expected
        assert max(len(line.encode()) for line in written.splitlines()) < 4_095


@pytest.mark.parametrize("target", ["tc", "dcb", "nft", "sysctl", "eos", "nxos", "hosts", "sonic"])
def test_the_command_writes_no_line_of_a_paper(target: str, tmp_path: Path) -> None:
    experiment = export_plans.write_experiment(tmp_path)
    scheme = {"nft": "pias", "tc": "pias"}.get(target, "dctcp")
    paper = rf'scheme.{scheme}.paper="P\ntouch pwned\n#\u2028reload\u202e\u001b[31m"'
    out = tmp_path / "out"
    more = ["--prefix", "10.0.0.0/8"] if target == "sysctl" else []
    words = ["export", target, str(experiment), "--scheme", scheme, "-o", str(out), *more, "--set"]
    assert main([*words, paper]) == 0
    written = "".join(path.read_text(encoding="utf-8") for path in sorted(out.rglob("*")) if path.is_file())
    assert not re.search(r"^\s*(touch|reload)", written, re.MULTILINE)
    assert written.replace("\n", "").isprintable()


def test_a_word_that_is_none_is_refused_and_a_text_of_a_template_is_not_taken_for_a_value() -> None:
    template = jinja2.Environment(finalize=mark).from_string("# {{ a }}\nport {{ a }}\n")  # noqa: S701
    assert languages.SHELL.finish(template.render(a="swp1.100")) == "# swp1.100\nport swp1.100\n".rstrip("\n")
    for text in TEXTS.values():
        with pytest.raises(UnsafeText):
            languages.SHELL.finish(template.render(a=text))
    # A value that looks like the sign of a comment does not make its line one.
    hidden = jinja2.Environment(finalize=mark).from_string("{{ a }} {{ b }}")  # noqa: S701
    with pytest.raises(UnsafeText):
        languages.SHELL.finish(hidden.render(a="#", b="; x"))


@pytest.mark.parametrize("template", ["eos.j2", "nxos.j2", "junos.j2"])
def test_free_text_for_the_command_line_of_a_switch_is_ascii_that_asks_for_nothing(
    template: str, contents: dict[str, list[Content]]
) -> None:
    for text in (*TEXTS.values(), "what? \\ ä"):
        written = spoiled(template, contents[template][0], text)
        assert set(written) <= {"\n", *map(chr, range(0x20, 0x7F))} - {"?", "\\"}
