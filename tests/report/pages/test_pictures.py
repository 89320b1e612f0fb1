"""An answer's page as Chromium draws it: light and dark, on a desk, a phone and paper, and with
names from somebody who means harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from podpath.library.diagnosis import diagnose
from podpath.library.given import Pasted
from podpath.library.timeline import timeline
from podpath.library.when import When
from scripts.pictures import BROWSER, FOLDER, REPORTS, browsing, compare, render_report, take_report

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="no chromium here: apt-get install chromium-headless-shell"
)

TICKETS = (FOLDER.parents[1] / "examples" / "incidents").glob("*/ticket.md")
EXAMPLES = sorted(ticket.parent for ticket in TICKETS)
_MEASURE = """
() => [...document.querySelectorAll("figure text")].filter(
  text => text.checkVisibility({contentVisibilityAuto: true})
).map(text => {
  const box = text.getBoundingClientRect();
  const drawing = text.ownerSVGElement, frame = drawing.getBoundingClientRect();
  const scale = frame.width / drawing.viewBox.baseVal.width;
  const size = parseFloat(getComputedStyle(text).fontSize) * scale;
  const air = 0.15 * box.height;
  return [box.left, box.top + air, box.right, box.bottom - air, frame.right, size];
}).filter(box => box[2] > box[0])
"""
"""Where each text that is shown stands, without the air above and below its letters; where its
drawing ends; and how large it is set.
"""


_FIRST_SEEN = """
() => {
  const low = element => element.getBoundingClientRect().bottom;
  const shown = element => element.checkVisibility({contentVisibilityAuto: true});
  const find = what => [...document.querySelectorAll(what)].filter(shown).map(low);
  return [find("h1")[0], Math.max(...find("figure text.broken")), find("mark")[0]];
}
"""
"""Where the claim, the words on the break and the first deciding line end."""
ADDRESSES = (
    "2001:db8:1234:5678:9abc:def0:1234:5678",
    "2001:db8:aaaa:bbbb:cccc:dddd:eeee:1111",
    "2001:db8:1234:5678:9abc:def0:1234:9999",
)
WIDE_NAME = "网络接口名字五"
WIDE_TICKET = f"""\
root@node1:~# ip addr
2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc fq state UP
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    inet6 {ADDRESSES[2]}/64 scope global
3: {WIDE_NAME}: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    inet6 2001:db8:1234:5678:9abc:def0:1235:1/112 scope global
root@node1:~# ip -6 route
default via fe80::1 dev eth0
2001:db8:1234:5678:9abc:def0:1234:0/112 dev {WIDE_NAME} proto kernel metric 256
root@node1:~# sysctl net.ipv6.conf.all.forwarding
net.ipv6.conf.all.forwarding = 1
root@node1:~# ip6tables-save
*nat
:POSTROUTING ACCEPT [0:0]
-A POSTROUTING -s {ADDRESSES[0]}/128 -j SNAT --to-source {ADDRESSES[2]}
COMMIT
*filter
:FORWARD ACCEPT [0:0]
-A FORWARD -d {ADDRESSES[0]}/128 -j DROP
COMMIT
"""
"""Addresses as long as they get, and a device whose name takes two columns a sign."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the system's Chromium."""
    with browsing() as started:
        yield started


@pytest.mark.parametrize("name", list(REPORTS))
def test_a_page_looks_as_it_was_seen(name: str, browser: Browser) -> None:
    """It is the picture in docs/pictures, which somebody looked at; if it should look otherwise
    now, `python -m scripts.pictures` takes it again.
    """
    shown = REPORTS[name]
    taken = take_report(browser, render_report(hostile=shown.hostile), shown)

    assert compare(browser, (FOLDER / f"{name}.png").read_bytes(), taken) < 0.03


@pytest.mark.parametrize("name", ["report", "report-phone", "report-paper", "report-hostile"])
def test_words_of_a_drawing_stand_apart(name: str, browser: Browser) -> None:
    """As the browser sets them, no two texts of a drawn path overlap, none passes the drawing's
    edge, and they are no smaller than 7.5 pixels, on a phone and on paper.
    """
    shown = REPORTS[name]
    page = browser.new_page(viewport={"width": shown.width, "height": shown.height})
    page.emulate_media(media=shown.media)
    page.set_content(render_report(hostile=shown.hostile))
    assert_words_stand_apart(page)
    page.close()


@pytest.mark.parametrize("name", ["report", "report-phone"])
def test_long_addresses_and_wide_names_have_room(name: str, browser: Browser) -> None:
    """IPv6 ends are told in full, over lines of their own; a name of wide signs stays in its
    column.
    """
    shown = REPORTS[name]
    probe = f"tcp [{ADDRESSES[0]}]:40000 > [{ADDRESSES[1]}]:44300 in {WIDE_NAME}"
    answer = diagnose(Pasted(WIDE_TICKET, "ticket.md"), [probe])
    page = browser.new_page(viewport={"width": shown.width, "height": shown.height})
    page.set_content(answer.html())
    assert_words_stand_apart(page)
    said = "".join(page.locator("figure text").all_text_contents()).replace(" ", "")
    page.close()

    assert all(f"[{address}]" in said for address in ADDRESSES)
    assert WIDE_NAME in said


@pytest.mark.parametrize("incident", EXAMPLES, ids=lambda path: str(path.name))
def test_a_phone_shows_first_what_decides(incident: Path, browser: Browser) -> None:
    """Before anything is scrolled or opened: the claim, the way of the packet that broke the path
    with its break, and the deciding line.
    """
    shown = REPORTS["report-phone"]
    text = (incident / "ticket.md").read_text(encoding="utf-8")
    page = browser.new_page(viewport={"width": shown.width, "height": shown.height})
    page.set_content(diagnose(Pasted(text, "ticket.md")).html())
    ends: list[float] = page.evaluate(_FIRST_SEEN)
    width = page.evaluate("document.documentElement.scrollWidth")
    page.close()

    assert len(ends) == 3
    assert max(ends) <= shown.height
    assert width == shown.width


def assert_words_stand_apart(page: Page) -> None:
    """Check the texts of the drawings that a page shows."""
    boxes: list[tuple[float, ...]] = page.evaluate(_MEASURE)
    assert len(boxes) > 10
    for number, (left, top, right, bottom, edge, size) in enumerate(boxes):
        assert right <= edge
        assert size >= 7.5
        for x, y, far, low, *_ in boxes[number + 1 :]:
            assert right <= x or far <= left or bottom <= y or low <= top


def test_what_hides_or_recolors_a_part_is_seen(browser: Browser) -> None:
    """Without its drawing, in the other scheme, or as wide as another screen, it is no longer the
    same picture.
    """
    kept = (FOLDER / "report.png").read_bytes()
    page = render_report(hostile=False)
    without = re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)
    undrawn = take_report(browser, without, REPORTS["report"])

    assert compare(browser, kept, kept) == 0
    assert compare(browser, kept, undrawn) > 0.1
    assert compare(browser, kept, (FOLDER / "report-dark.png").read_bytes()) > 0.5
    assert compare(browser, kept, (FOLDER / "report-phone.png").read_bytes()) == 1


def test_a_timeline_is_legible_on_a_phone(browser: Browser) -> None:
    """Its letters are as large as can be read, the end of the window, where it failed, is in sight
    without scrolling, words beside it do not cover each other, and the paper is dark by night.
    """
    log = "".join(
        f"Feb 11 09:49:1{second} node1 systemd[1]: Started firewalld - dynamic firewall daemon.\n"
        for second in range(5)
    )
    found = timeline(Pasted(log, "messages"), When(failed_at="09:49:19", timeout="3s"))
    page = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    try:
        page.set_content(found.html())
        sizes = [box[5] for box in page.evaluate(_MEASURE)]
        began, failed = (
            page.locator("figure text.small", has_text=word).first.bounding_box()
            for word in ("began", "failed")
        )
        paper = page.evaluate("getComputedStyle(document.querySelector('.paper')).fill")
        width = page.evaluate("document.documentElement.scrollWidth")
    finally:
        page.close()

    assert min(sizes) >= 8
    assert width == 390
    assert paper == "rgb(13, 17, 23)"
    assert began is not None
    assert failed is not None
    assert began["x"] + began["width"] < failed["x"] < failed["x"] + failed["width"] < 390
