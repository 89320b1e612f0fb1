"""Two compared nodes as a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.library.diff import DiffResult, diff
from podpath.library.given import Pasted
from podpath.report.pages.diff_page import render_diff_page
from tests.report.pages.documents import Document

INCIDENT = Path(__file__).resolve().parents[3] / "examples" / "incidents" / "rp-filter-reset"
HOSTILE = """\
Pod <script>alert(1)</script> cannot reach 10.0.0.9.

```
# sysctl net.ipv4.ip_forward
net.ipv4.ip_forward = {forward}
# ip rule add from 10.0.0.1 lookup "<b>x</b>"
```
"""


@pytest.fixture(scope="module")
def answer() -> DiffResult:
    """Provide the comparison of a recorded incident's node with its good one."""
    return diff(INCIDENT / "bundle", INCIDENT / "good")


def test_the_page_says_what_differs_and_draws_where_it_fails(answer: DiffResult) -> None:
    """The claim, both nodes' lines, the cure, and the same connection where it works."""
    page = answer.html()
    document = Document(page)

    assert document.strange == []
    assert "net.ipv4.conf.all.rp_filter is 1 here, and 0 where it works" in document.text
    assert "sysctl -w net.ipv4.conf.all.rp_filter=0" in document.text
    assert "SYN-ACK, step by step: dropped in netns host (IP_RPFILTER)" in document.text
    assert "The same connection on the other node" in document.text
    assert page.index("<svg") < page.index("The lines that differ")


def test_the_path_is_drawn_by_itself(answer: DiffResult) -> None:
    """The branch is the one that fails."""
    assert answer.drawn is not None
    assert not answer.drawn.works
    assert "dropped at rp_filter" in answer.svg()
    assert "rp_filter" in answer.mermaid()


def test_nodes_without_a_connection_are_a_page_without_a_drawing() -> None:
    """Names from the evidence stay text."""
    bad, good = (Pasted(HOSTILE.format(forward=value), f"{value}.md") for value in (0, 1))
    page = render_diff_page(diff(bad, good).comparison)

    assert Document(page).strange == []
    assert "<script>" not in page
