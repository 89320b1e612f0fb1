"""A path as SVG: well-formed, of the signs that it needs alone, whatever the evidence holds."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from hypothesis import HealthCheck, given, settings

from podpath.datapath.tracing.trace import Branch
from podpath.library.diagnosis import diagnose
from podpath.report.drawings.path_drawing import draw_path
from podpath.report.drawings.path_svg import render_path_svg
from tests.report import diagnoses

TICKET = (
    Path(__file__).resolve().parents[3] / "examples" / "incidents" / "rp-filter-reset" / "ticket.md"
)
NAMESPACE = "{http://www.w3.org/2000/svg}"
KNOWN = {"svg", "style", "title", "rect", "line", "path", "circle", "text"}
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
