"""Ladders as pictures."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from podpath.report.ladder_svg import FITS, break_name, render_ladder_svg, shorten_names
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


LONG = (
    "/home/ops/case/web-frontend-7d9c5b6f4-x2k9p_shop-production_eth0.pcap",
    "/home/ops/case/node1/worker-node-eu-central-1a-0007.example.internal-ens192.pcap ifindex 3",
    "/home/ops/case/node1/flannel.1.pcap",
    "/home/ops/case/" + 60 * "x",
)


def test_names_of_points_are_whole() -> None:
    """Above its life line and in the legend a point has all of its name, but for the folder that
    all are in.
    """
    ladder = laid_out()
    posts = tuple(replace(post, name=name) for post, name in zip(ladder.posts, LONG, strict=True))
    texts = list(drawn(render_ladder_svg(replace(ladder, posts=posts))).iter(f"{SVG}text"))
    shown = [name.removeprefix("/home/ops/case/") for name in LONG]
    for at, name in enumerate(shown):
        lines = [one for one in texts if one.get("x") == str(260 + 190 * at)]
        head = "".join(one.text or "" for one in lines if one.get("text-anchor") == "middle")
        assert head.replace(" ", "") == f"{'ABCD'[at]}{name}".replace(" ", "")
        assert any((one.text or "").startswith(f"{'ABCD'[at]}  {name}: ") for one in texts)


@pytest.mark.parametrize("many", [1, 40])
def test_nothing_is_printed_over_itself(many: int) -> None:
    """No two texts share a place, whatever was lost and however long names are."""
    ladder = laid_out()
    posts = tuple(replace(post, name=name) for post, name in zip(ladder.posts, LONG, strict=True))
    steps = tuple(
        replace(step, packets=tuple(numbers and tuple(range(190_000, 190_000 + many))
                                    for numbers in step.packets))
        for step in ladder.steps
    )  # fmt: skip
    both = replace(steps[4], lost=(*steps[4].lost, (0, 1, "data 1:1449"), (2, 3, "FIN")))
    picture = drawn(render_ladder_svg(replace(ladder, posts=posts, steps=(*steps, both, *steps))))
    boxes = [_box(text) for text in picture.iter(f"{SVG}text")]
    height = float(picture.get("height", "0"))
    over = [
        (one, other)
        for number, one in enumerate(boxes)
        for other in boxes[number + 1 :]
        if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    ]

    assert [] == over
    assert max(box[3] for box in boxes) < height


def _box(text: ET.Element) -> tuple[float, float, float, float]:
    """Estimate where a text stands: a letter is at most 7 wide in bold, and 6.4 in small print."""
    words, kind = text.text or "", text.get("class")
    wide = len(words) * {"title": 9.0, "bad": 7.0, "small": 6.4}.get(kind or "", 6.6)
    x, y = float(text.get("x", "0")), float(text.get("y", "0"))
    left = x - wide * {"middle": 0.5, "end": 1.0}.get(text.get("text-anchor", ""), 0.0)
    return left, y - 9, left + wide, y + 2


def test_a_name_is_broken_where_it_may_be() -> None:
    """Behind hyphens, dots and the like; within only where a part is too long by itself."""
    assert break_name("A eth0.pcap") == ["A eth0.pcap"]
    assert break_name("A worker-eu-central-1a-0007.pcap") == [
        "A worker-eu-central-1a-",
        "0007.pcap",
    ]
    assert [len(line) for line in break_name("A " + 60 * "x")] == [1, FITS, FITS, 12]
    assert break_name("") == [""]


def test_the_folder_of_all_names_is_left_out() -> None:
    """What only some have in front stays."""
    assert shorten_names(["/a/b/one.pcap", "/a/b/c/two.pcap"]) == ["one.pcap", "c/two.pcap"]
    assert shorten_names(["/a/b/one.pcap", "/a/bc/two.pcap"]) == ["b/one.pcap", "bc/two.pcap"]
    assert shorten_names(["one.pcap", "/a/two.pcap"]) == ["one.pcap", "/a/two.pcap"]
    assert shorten_names([]) == []
