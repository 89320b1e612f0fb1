"""A path as SVG: well-formed, of the signs that it needs alone, whatever the evidence holds."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

from hypothesis import HealthCheck, given, settings

from podpath.datapath.tracing.trace import Branch
from podpath.library.diagnosis import diagnose
from podpath.report.drawings.path_drawing import draw_path
from podpath.report.drawings.path_layout import COLUMN, EDGE, LINE
from podpath.report.drawings.path_svg import STYLE, render_path_svg
from tests.report import diagnoses

TICKET = (
    Path(__file__).resolve().parents[3] / "examples" / "incidents" / "rp-filter-reset" / "ticket.md"
)
NAMESPACE = "{http://www.w3.org/2000/svg}"
TEXT = f"{NAMESPACE}text"
KNOWN = {"svg", "style", "title", "g", "rect", "line", "path", "circle", "text", "tspan"}
START = 30
"""Pixels: of what is beside a packet's line, its texts begin within that of its left edge."""
EXAMPLES = settings(
    max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def read_picture(text: str) -> ET.Element:
    """Read a picture."""
    return ET.fromstring(text)  # noqa: S314 - our own


def test_the_break_is_said() -> None:
    """The drawing names doors, headers and how the reply ended."""
    drawing = read_picture(diagnose(TICKET).svg())
    said = " ".join(element.text or "" for element in drawing.iter(f"{NAMESPACE}text"))
    assert "lxcd25f81c07be3" in said
    assert "10.88.5.203:40000" in said
    assert "dropped at rp_filter" in said
    broken = [one for one in drawing.iter(f"{NAMESPACE}path") if one.get("class") == "broken"]
    assert broken


def test_each_hop_has_its_header() -> None:
    """Beside each stop its two ends and its TTL, in the color of what became of them there, and in
    full for who points at it.
    """
    drawing = read_picture(diagnose(TICKET.parents[1] / "br-netfilter-off" / "ticket.md").svg())
    stops = drawing.findall(f"{NAMESPACE}g")
    said = [" ".join("".join(one.itertext()) for one in stop.findall(TEXT)) for stop in stops]
    assert len(said) == len(drawing.findall(f".//{NAMESPACE}circle"))
    assert all("10.61.9.14:37236" in one and "TTL 6" in one for one in said)
    assert said[0] == "10.61.9.14:37236 › 10.97.44.210:80 TTL 64"
    assert said[3] == (
        "10.61.9.14:37236 › 10.97.44.210:80 ⇒ 10.61.9.31:8080 TTL 63 MAC ?›0a:6c:3d:09:00:1f"
    )
    assert [text.get("class") for text in stops[3].findall(TEXT)] == [
        "header same",
        "header same",
        "header rewritten",
        "macs rewritten",
    ]
    assert "goes on as tcp 10.61.9.14:37236 > 10.61.9.31:8080 [SYN]" in (
        stops[3].findtext(f"{NAMESPACE}title") or ""
    )


@EXAMPLES
@given(diagnoses.branches)
def test_no_words_stand_on_others(branch: Branch) -> None:
    """In a column no two lines are closer than a line is high, and none is wider than its column,
    however often a packet comes to the same door.
    """
    drawing = read_picture(render_path_svg(draw_path(branch)))
    columns: dict[int, list[int]] = {}
    for text in drawing.iter(TEXT):
        columns.setdefault(int(text.get("x", "-1")), []).append(int(text.get("y", "-1")))
        font = (text.get("class") or "").split()[:1]
        if font in (["header"], ["macs"]):
            width = {"header": 6.7, "macs": 5.5}[font[0]] * len("".join(text.itertext()))
            assert width <= COLUMN - START + EDGE
    for ys in columns.values():
        assert all(below - above >= LINE for above, below in pairwise(sorted(ys)))


@EXAMPLES
@given(diagnoses.branches)
def test_any_branch_is_well_formed(branch: Branch) -> None:
    """Names cannot leave their place: an XML reader takes it, and finds our elements alone."""
    drawing = read_picture(render_path_svg(draw_path(branch)))
    assert {element.tag.removeprefix(NAMESPACE) for element in drawing.iter()} <= KNOWN


@EXAMPLES
@given(diagnoses.branches)
def test_nothing_is_drawn_outside(branch: Branch) -> None:
    """Each text begins within the picture."""
    drawing = read_picture(render_path_svg(draw_path(branch)))
    width, height = (float(drawing.get(side, "0")) for side in ("width", "height"))
    for text in drawing.iter(f"{NAMESPACE}text"):
        assert 0 <= float(text.get("x", "-1")) < width
        assert 0 <= float(text.get("y", "-1")) <= height


LEGIBLE = 4.5
"""The least contrast of small text (WCAG 2.2, success criterion 1.4.3)."""


def measure_light(color: str) -> float:
    """Return a color's relative luminance, as WCAG defines it."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_words_can_be_read_in_either_scheme() -> None:
    """Each color of text stands out from the boxes that it is written in, by day and by night."""
    schemes = STYLE.split("@media(prefers-color-scheme:dark)")
    assert len(schemes) == 2
    for scheme in schemes:
        (box,) = re.findall(r"\.path \.box{fill:(#\w{6})", scheme)
        texts = re.findall(r"\.path (?:text|\.same|\.rewritten)[^{]*{[^}]*fill:(#\w{6})", scheme)
        assert len(texts) == 6
        for text in texts:
            dark, light = sorted((measure_light(box), measure_light(text)))
            assert (light + 0.05) / (dark + 0.05) >= LEGIBLE, (box, text)
