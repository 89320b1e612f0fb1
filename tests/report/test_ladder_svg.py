"""Ladders as pictures."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

from podpath.report.ladder_svg import render_ladder_svg
from tests.capture.ladder_worlds import laid_out

SVG = "{http://www.w3.org/2000/svg}"


def drawn(text: str) -> ET.Element:
    """Read a picture."""
    return ET.fromstring(text)  # noqa: S314 - our own


def test_a_picture_has_a_line_for_each_point_and_a_cross_for_each_loss() -> None:
    """Four life lines, three crosses, and the words of each loss."""
    picture = drawn(render_ladder_svg(laid_out()))
    lines = [line.get("class") for line in picture.iter(f"{SVG}line")]
    texts = [text.text for text in picture.iter(f"{SVG}text")]

    assert 4 == lines.count("post")
    assert 3 == lines.count("lost")
    assert "SYN-ACK lost between D and C" in texts
    assert 3 + 1 * 3 + 3 == lines.count("way")
    assert 3 == lines.count("back")


def test_names_cannot_break_out() -> None:
    """Markup and controls in a name are text."""
    ladder = laid_out()
    hostile = replace(
        ladder, posts=(replace(ladder.posts[0], name='"><script>\x1b'), *ladder.posts[1:])
    )
    text = render_ladder_svg(hostile)

    assert [] == list(drawn(text).iter(f"{SVG}script"))
    assert "\x1b" not in text


def test_rows_that_are_left_out_are_counted() -> None:
    """A long connection says how much is not drawn; a packet that a point missed passes it
    dashed.
    """
    ladder = laid_out()
    past = replace(ladder.steps[0], packets=((1,), (), (3,), (4,)))
    text = render_ladder_svg(replace(ladder, steps=(past,) * 100))

    assert "82 more packets" in text
    assert 'class="way past"' in text
