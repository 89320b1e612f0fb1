"""The timeline as text, JSON and picture."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta, timezone
from importlib import resources
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podpath.report.style import Style
from podpath.report.timeline_json import render_timeline_json
from podpath.report.timeline_svg import render_timeline_svg
from podpath.report.timeline_text import render_timeline
from podpath.timeline.build import ToldFailure
from podpath.timeline.chronicle import Chronicle
from tests.timeline.samples import CLIENT, MESSAGES, at, chronicle

PLAIN = Style()
SVG = "{http://www.w3.org/2000/svg}"
EVIL = 'Mar 12 03:13:47 kn-04 systemd[1]: Started \x1b[31m<script>"&\u202e evil </svg>.\n'


def schema() -> dict[str, Any]:
    """Return the published schema."""
    text = (
        resources.files("podpath.report")
        .joinpath("schema", "timeline-v1.json")
        .read_text(encoding="utf-8")
    )
    loaded: dict[str, Any] = json.loads(text)
    return loaded


CHRONICLES = {
    "found": chronicle(MESSAGES, CLIENT),
    "no window": chronicle(MESSAGES),
    "given": chronicle(
        MESSAGES, told=ToldFailure(failed_at=at("03:13:59"), timeout=10, last_ok=at("03:13:39"))
    ),
    "quiet": chronicle(
        "Mar 12 03:13:47 n sshd: a\nMar 12 03:30:47 n sshd: a",
        told=ToldFailure(failed_at=at("03:20:00"), last_ok=at("03:14:00")),
    ),
    "evil": chronicle(MESSAGES + EVIL, CLIENT),
    "empty": Chronicle(window=None),
    "unplaced": chronicle("4s  Warning  Unhealthy  pod/pg-0  Readiness probe failed: timeout"),
}


@pytest.mark.parametrize("name", CHRONICLES)
def test_json_keeps_its_schema(name: str) -> None:
    """Every answer is valid under the published schema."""
    document = json.loads(render_timeline_json(CHRONICLES[name]))

    jsonschema.validate(document, schema())
    assert CHRONICLES[name].verdict == document["verdict"]


@pytest.mark.parametrize("name", CHRONICLES)
@pytest.mark.parametrize(
    "style",
    [PLAIN, Style(color=True, verbose=True, unicode=False, width=60)],
    ids=["plain", "rich"],
)
def test_text_is_safe(name: str, style: Style) -> None:
    """No control or bidirectional character of a log reaches the terminal."""
    text = render_timeline(CHRONICLES[name], style)

    assert "\u202e" not in text
    assert "\x1b[31m<" not in text
    assert text.endswith("\n")


@pytest.mark.parametrize("name", CHRONICLES)
def test_the_picture_is_wellformed(name: str) -> None:
    """The picture is XML without scripts, whatever the log holds."""
    root = ET.fromstring(render_timeline_svg(CHRONICLES[name]))  # noqa: S314 - our own output

    assert f"{SVG}svg" == root.tag
    assert not list(root.iter(f"{SVG}script"))


def test_the_text_tells_the_story() -> None:
    """The chain's links with their moments and lines, how long before, and what it leads to stand
    in the text.
    """
    text = render_timeline(CHRONICLES["found"], PLAIN)

    assert text.startswith("LIKELY: An upgrade of polkit restarts polkit")
    for words in (
        "03:13:38  polkit is upgraded", "log-0:3 | Mar 12 03:13:38",
        "2.8 s before the first failing request began", "podpath explain rp-filter",
        "failing since    2025-03-12 03:13:49.815", "(timeout 10 s)", "-------- last success",
        "-------- first failing request began",
    ):  # fmt: skip
        assert words in text


def test_times_are_of_the_zone() -> None:
    """Moments are told on the wall clock of the zone that the caller names."""
    text = render_timeline(replace(CHRONICLES["given"], zone=timezone(timedelta(hours=8))), PLAIN)

    assert "window (UTC+08:00)" in text
    assert "2025-03-12 11:13:49" in text


def test_the_window_stands_in_the_picture() -> None:
    """The window is a band from the last success to where the first failing request began, the
    chain a line through its events.
    """
    root = ET.fromstring(render_timeline_svg(CHRONICLES["given"]))  # noqa: S314 - our own output
    (band,) = [one for one in root.iter(f"{SVG}rect") if one.get("class") == "window"]
    (chain,) = list(root.iter(f"{SVG}polyline"))
    last = float((chain.get("points") or "").split()[-1].split(",")[0])
    left = float(band.get("x") or 0)

    assert left < last < left + float(band.get("width") or 0)
    assert {"package", "service", "sysctl"} <= {one.text for one in root.iter(f"{SVG}text")}


@given(
    st.lists(st.text(max_size=60), max_size=5),
    st.sampled_from(["systemd[1]: Started ", "kernel: ", "tuned: applied "]),
)
@settings(max_examples=60, deadline=None)
def test_any_message_is_drawn_and_told(messages: list[str], head: str) -> None:
    """Whatever stands in a log, all three reports can be made of it."""
    lines = "\n".join(
        f"Mar 12 03:13:4{number} kn-04 {head}{message}".replace("\n", " ")
        for number, message in enumerate(messages)
    )
    found = chronicle(
        lines or "x", told=ToldFailure(failed_at=at("03:13:59"), timeout=10, last_ok=at("03:13:39"))
    )
    clean = render_timeline_svg(found)
    ET.fromstring(clean)  # noqa: S314 - our own output

    jsonschema.validate(json.loads(render_timeline_json(found)), schema())
    assert render_timeline(found, PLAIN)
