"""The page's server: its files, its questions, its bounds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from podpath.net.errors import UsageError
from podpath_ui.bounds import ASKED, UPLOADED
from podpath_ui.guard import Guard
from podpath_ui.questions import Questions
from podpath_ui.server import make_app, read_said
from tests.ui.asgi import PORT, TOKEN, Got, request
from tests.ui.evidence import HEALTHY, asking, reader

BYTES = {"content-type": "application/octet-stream"}


@pytest.fixture
def app() -> Guard:
    """Return the server of the page."""
    return make_app(Questions(reader()), PORT, TOKEN)


def _ask(app: Guard, question: str, said: Mapping[str, object]) -> Got:
    return request(app, f"/{TOKEN}/{question}", method="POST", parts=(json.dumps(said).encode(),))


def _said(got: Got) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(got.body)
    return answer


@pytest.mark.parametrize(
    ("name", "kind"), [("", "text/html"), ("page.css", "text/css"), ("page.js", "text/javascript")]
)
def test_the_page_is_its_own_files(app: Guard, name: str, kind: str) -> None:
    """Three files, none of which names another host."""
    got = request(app, f"/{TOKEN}/{name}")
    assert got.status == 200
    assert got.headers["content-type"].startswith(kind)
    assert b"//" not in got.body.replace(b"// ", b"")


def test_a_question_is_answered_with_a_page(app: Guard) -> None:
    """The answer names a page, which may run nothing."""
    answer = _said(_ask(app, "follow", asking()))
    page = request(app, f"/{TOKEN}/answers/{answer['pages'][0]['number']}")
    assert page.status == 200
    assert "sandbox allow-same-origin;" in page.headers["content-security-policy"]
    assert "script-src" not in page.headers["content-security-policy"]
    assert request(app, f"/{TOKEN}/answers/999").status == 404


def test_a_change_and_a_comparison_are_asked(app: Guard) -> None:
    """What the page says of a change and of another node reaches the library."""
    change = {**asking(), "change": "sysctl -w net.ipv4.ip_forward=1", "netns": "host"}
    assert len(_said(_ask(app, "change", change))["pages"]) == 3
    sent = request(
        app, f"/{TOKEN}/other?name=good.md", method="POST", headers=BYTES, parts=(HEALTHY.encode(),)
    )
    assert _said(sent) == {"compared": "good.md"}
    assert _said(_ask(app, "compare", asking()))["color"] == "bad"
    assert _said(_ask(app, "explain", asking()))["fixes"]


def test_what_is_wrong_is_said(app: Guard) -> None:
    """A mistake of the asker ends as a sentence."""
    got = _ask(app, "follow", asking(source=""))
    assert (got.status, _said(got)["error"][:5]) == (400, "From:")
    assert _ask(app, "again", {}).status == 400


@pytest.mark.parametrize("question", ["follow", "explain", "change", "compare", "again", "other"])
def test_no_get_asks_for_work(app: Guard, question: str) -> None:
    """What takes time or changes what is compared with is a POST."""
    assert request(app, f"/{TOKEN}/{question}").status == 405


def test_what_is_too_long_is_refused_before_it_is_here(app: Guard) -> None:
    """A body stops where it is longer than what is taken; the rest is not read."""
    part = b"x" * (1 << 20)
    more = (part,) * (UPLOADED // len(part) + 1)
    got = request(app, f"/{TOKEN}/other", method="POST", headers=BYTES, parts=(*more, b"never"))
    assert got.status == 413
    got = request(app, f"/{TOKEN}/follow", method="POST", parts=(b" " * ASKED, b"x", b"never"))
    assert got.status == 413


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
def test_a_form_of_another_page_is_refused(app: Guard, kind: str) -> None:
    """What a plain form can send is no question."""
    got = request(app, f"/{TOKEN}/follow", method="POST", headers={"content-type": kind})
    assert got.status == 400


def test_what_can_be_chosen_is_told(app: Guard) -> None:
    """The page gets its lists by a GET, which changes nothing."""
    offered = _said(request(app, f"/{TOKEN}/node"))
    assert (offered["node"], offered["live"]) == ("node1", False)
    assert len(offered["ends"]) == 6


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"[]", b"{", b'{"source": 1}', b'{"change": ["x"]}', b"[" * 100_000]
)
def test_what_is_not_the_form_is_refused(body: bytes) -> None:
    """Whatever comes, it is texts by name or an error."""
    with pytest.raises(UsageError, match="expected the page's form"):
        read_said(body)


def test_what_the_form_leaves_out_is_empty() -> None:
    """A text for each field."""
    said = read_said(b'{"source": "host", "more": "x"}')
    assert (said["source"], said["netns"]) == ("host", "")
