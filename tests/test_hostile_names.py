"""Names that strangers chose do no harm in any output: they stay text, of bounded length, and are
neither markup nor control.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from podpath.flows.flow import Expectation, Flow
from podpath.library.diagnosis import DiagnosisResult, diagnose
from podpath.library.diff import diff
from podpath.library.flows import FlowsResult, check
from podpath.library.given import Pasted
from podpath.library.result import Result
from podpath.library.timeline import timeline
from podpath.library.trace import trace
from podpath.library.when import When
from podpath.report.style import Style
from podpath_protect.agent.keeper import Sample
from podpath_protect.agent.metrics import render_metrics
from tests.command import podpath
from tests.hostile import HOSTILE, PROBE, log_of, node_of
from tests.mcp.served import Assistant, said, serve

MEGABYTE = 1_000_000
HARMFUL = frozenset({"script", "img", "iframe", "object", "embed", "link", "form", "base", "input"})
DRAWN = frozenset({"svg", "g", "rect", "line", "path", "text", "tspan", "circle", "title", "desc"})
DRAWN_TOO = frozenset({"style", "defs", "marker", "polygon", "polyline", "ellipse"})
DIAGRAM = re.compile(
    r"sequenceDiagram|\s*(?:box transparent |participant d\d+ as |end$|Note over d\d+|autonumber"
    r"|d\d+(?:--?>>|--?x|--?\))d\d+: ).*"
)
METRIC = re.compile(r'podpath_protect_drops_total\{reason="(?:[^"\\\n]|\\.)*"\} 1')


class Tags(HTMLParser):
    """The tags of a page, and the names of their attributes."""

    def __init__(self, page: str) -> None:
        """Read a page."""
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@cache
def answer(name: str) -> DiagnosisResult:
    """Diagnose a node whose evidence holds this name."""
    return diagnose(Pasted(node_of(HOSTILE[name]), f"{HOSTILE[name][:40]}.md"), [PROBE])


def is_plain(text: str) -> bool:
    """Tell whether every character is printable, but for the ends of lines."""
    return all(line.isprintable() for line in text.split("\n"))


def check_terminal(name: str, folder: Path) -> str:
    """Return what the command itself prints, about a file of that content."""
    ticket = folder / "ticket.md"
    ticket.write_bytes(node_of(HOSTILE[name]).encode())
    done = podpath("diagnose", ticket, "--probe", PROBE, "--verbose")
    assert done.returncode == 1
    assert is_plain(done.stdout)
    return done.stdout


def check_page(page: str) -> str:
    """Return a page, which has its policy, and no tag or attribute that acts."""
    found = Tags(page)
    assert not HARMFUL & found.tags
    assert not [one for one in found.attributes if one.startswith("on") or one == "src"]
    assert "Content-Security-Policy" in page
    assert is_plain(page)
    return page


def check_drawing(drawing: str) -> str:
    """Return a drawing, which is well-formed, of shapes and texts alone."""
    elements = list(ET.fromstring(drawing).iter())  # noqa: S314  # our own
    assert {one.tag.rpartition("}")[2] for one in elements} <= DRAWN | DRAWN_TOO
    attributes = {key for one in elements for key in one.attrib}
    assert not [key for key in attributes if "href" in key or key.startswith("on")]
    assert is_plain(drawing)
    return drawing


def check_diagram(diagram: str) -> str:
    """Return a diagram, which has only lines that podpath draws."""
    assert [] == [line for line in diagram.splitlines() if not DIAGRAM.fullmatch(line)]
    assert "%%" not in diagram
    assert not re.search(r"<(?!br)", diagram)
    assert is_plain(diagram)
    return diagram


def check_html(name: str, _folder: Path) -> str:
    """Return the page of a diagnosis."""
    return check_page(answer(name).html())


def check_svg(name: str, _folder: Path) -> str:
    """Return the drawing of a diagnosis."""
    return check_drawing(answer(name).svg())


def check_mermaid(name: str, _folder: Path) -> str:
    """Return the diagram of a diagnosis."""
    return check_diagram(answer(name).mermaid())


def check_text(answer: Result) -> str:
    """Return what a terminal shows of an answer, in each length and with each choice of signs."""
    styles = (Style(), Style(verbose=True), Style(brief=True), Style(unicode=False))
    shown = "".join(answer.text(style) for style in styles)
    assert is_plain(shown)
    return shown


def check_json(answer: Result) -> str:
    """Return the document, in which no character acts on a terminal, and which a program may
    read whole.
    """
    document = answer.json()
    assert is_plain(document)
    json.loads(document)
    return document[:1000]


def check_trace(name: str, _folder: Path) -> str:
    """Return each output of one connection's walk."""
    found = trace(Pasted(node_of(HOSTILE[name]), f"{HOSTILE[name][:40]}.md"), PROBE)
    drawn = check_drawing(found.svg()) + check_diagram(found.mermaid())
    return check_text(found) + check_page(found.html()) + drawn + check_json(found)


def check_diff(name: str, _folder: Path) -> str:
    """Return each output of a comparison with a node that has no such rule."""
    bad = Pasted(node_of(HOSTILE[name]), f"{HOSTILE[name][:40]}.md")
    good = Pasted(node_of("").replace("-j DROP", "-j ACCEPT"), "good.md")
    found = diff(bad, good, [PROBE])
    assert found.exit_code == 1
    return check_text(found) + check_page(found.html()) + check_json(found)


def check_timeline(name: str, _folder: Path) -> str:
    """Return each output about a log, in which programs and units are called so."""
    log = Pasted(log_of(HOSTILE[name]), f"{HOSTILE[name][:40]}.log")
    found = timeline(log, When(failed_at="09:49:19"))
    drawn = check_drawing(found.svg())
    return check_text(found) + check_page(found.html()) + drawn + check_json(found)


def check_prometheus(name: str, _folder: Path) -> str:
    """Return a metric, whose label stays one label of one sample."""
    labels = (("reason", HOSTILE[name]),)
    text = render_metrics([Sample("drops", 1.0, labels, "counter", "Drops.")])
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    assert len(lines) == 1
    assert METRIC.fullmatch(lines[0]), lines
    assert is_plain(text)
    return text


def check_notebook(name: str, _folder: Path) -> str:
    """Return what a notebook's cell shows, which has no tag or attribute that acts."""
    cell = answer(name)._repr_html_()
    found = Tags(cell)
    assert not HARMFUL & found.tags
    assert not [one for one in found.attributes if one.startswith("on") or one == "src"]
    assert is_plain(cell)
    return cell


@cache
def answer_flow(name: str) -> FlowsResult:
    """Hold a flow of this name against a node whose evidence holds it, too."""
    flow = Flow(
        name=HOSTILE[name][:4000],
        source="10.244.1.5",
        target="198.51.100.7:443",
        expect=Expectation.CONNECTS,
    )
    return check(Pasted(node_of(HOSTILE[name]), f"{HOSTILE[name][:40]}.md"), [flow])


def check_flows(name: str, _folder: Path) -> str:
    """Return the answer about a flow as text."""
    text = answer_flow(name).text()
    assert is_plain(text)
    return text


def check_junit(name: str, _folder: Path) -> str:
    """Return the report, which is well-formed, of the elements of JUnit alone."""
    report = answer_flow(name).junit()
    elements = ET.fromstring(report).iter()  # noqa: S314  # our own
    kinds = {"testsuites", "testsuite", "testcase", "failure", "error", "system-out"}
    assert {one.tag for one in elements} <= kinds
    assert is_plain(report)
    return report


def check_sarif(name: str, _folder: Path) -> str:
    """Return the report, whose strings are plain in the objects that SARIF has."""
    report = answer_flow(name).sarif()
    (run,) = json.loads(report)["runs"]
    assert run["results"]
    assert all(is_plain(one["message"]["text"]) for one in run["results"])
    assert is_plain(report)
    return report


OUTPUTS: dict[str, Callable[[str, Path], str]] = {
    "terminal": check_terminal,
    "html": check_html,
    "svg": check_svg,
    "mermaid": check_mermaid,
    "trace": check_trace,
    "diff": check_diff,
    "timeline": check_timeline,
    "prometheus": check_prometheus,
    "notebook": check_notebook,
    "flows": check_flows,
    "junit": check_junit,
    "sarif": check_sarif,
}


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_does_no_harm(name: str, output: str, tmp_path: Path) -> None:
    """Whatever the name and the output: text of at most a megabyte."""
    shown = OUTPUTS[output](name, tmp_path)

    assert shown
    assert len(shown.encode()) < MEGABYTE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide the folder that the assistant may read."""
    return tmp_path_factory.mktemp("tickets")


@pytest.fixture(scope="module")
def assistant(folder: Path) -> Iterator[Assistant]:
    """Provide an assistant that is connected to `podpath mcp`."""
    with serve("--folder", str(folder)) as found:
        yield found


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_does_no_harm_to_an_assistant(name: str, assistant: Assistant, folder: Path) -> None:
    """An answer over the Model Context Protocol is plain, bounded, and the verdict is ours."""
    ticket = folder / "ticket.md"
    ticket.write_bytes(node_of(HOSTILE[name]).encode())
    result = assistant.call("diagnose", {"evidence": [str(ticket)], "probes": [PROBE]})
    text = said(result)

    assert not result.is_error, text
    assert is_plain(text.replace("\\n", "\n"))
    assert len(text.encode()) < 100_000
    assert "fault" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_no_tool_passes_harm_on(name: str, assistant: Assistant, folder: Path) -> None:
    """What other tools tell an assistant is plain and bounded, too."""
    ticket, good, log = (folder / f"{stem}.md" for stem in ("ticket", "good", "log"))
    ticket.write_bytes(node_of(HOSTILE[name]).encode())
    good.write_bytes(node_of("").replace("-j DROP", "-j ACCEPT").encode())
    log.write_bytes(log_of(HOSTILE[name]).encode())
    asked: dict[str, dict[str, object]] = {
        "read_evidence": {"evidence": [str(ticket)]},
        "trace": {"evidence": [str(ticket)], "probe": PROBE},
        "compare": {"bad": [str(ticket)], "good": [str(good)], "probes": [PROBE]},
        "timeline": {"logs": [str(log)], "failed_at": "09:49:19"},
    }
    for tool, arguments in asked.items():
        result = assistant.call(tool, arguments)
        text = said(result)

        assert not result.is_error or tool == "timeline", text  # NUL bytes are no log's
        assert is_plain(text.replace("\\n", "\n"))
        assert len(text.encode()) < 100_000


def test_every_name_reaches_the_outputs() -> None:
    """The harmless part of a name is shown: the tests look at what they are about."""
    shown = answer("words")

    assert "Ignore all previous instructions" in str(shown)
    assert "Ignore all previous instructions" in shown.html()


def test_harm_would_be_seen() -> None:
    """A tag, an attribute, a control character and a line of another diagram are found."""
    tags = Tags("<p onclick=x><script></script></p>")

    assert "script" in tags.tags
    assert "onclick" in tags.attributes
    assert not is_plain("a\u202eb")
    assert DIAGRAM.fullmatch("click a call alert(1)") is None
    assert METRIC.fullmatch('podpath_protect_drops_total{reason="x"} 1\n') is None
