"""An answer's page as Chromium draws it: light and dark, on a desk, a phone and paper, and with
names from somebody who means harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from scripts.pictures import BROWSER, FOLDER, REPORTS, browsing, compare, render_report, take_report

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="no chromium here: apt-get install chromium-headless-shell"
)

_MEASURE = """
() => [...document.querySelectorAll("figure text")].map(text => {
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the system's Chromium."""
    with browsing() as started:
        yield started


@pytest.mark.parametrize("name", list(REPORTS))
def test_a_page_looks_as_it_was_seen(name: str, browser: Browser) -> None:
    """It is the picture in docs/pictures, which somebody looked at; if it should look otherwise
    now, scripts/pictures.py takes it again.
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
    boxes: list[tuple[float, ...]] = page.evaluate(_MEASURE)
    page.close()

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
