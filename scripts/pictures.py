"""Pictures of an answer's page and of `podpath ui`, as the system's Chromium draws them.

    python -m scripts.pictures

takes those of docs/pictures again, to be looked at before they are committed. Tests take the same
ones, and compare: what moves or hides a part of a page does not go unseen.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from podpath.library.diagnosis import diagnose
from podpath.library.given import Pasted
from tests.hostile import HOSTILE, PROBE, node_of

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium")
PATIENCE = 60_000
"""Milliseconds: the machine may be busy."""
_BLOCK = 16
"""Pixels: of squares this wide the mean colors are compared, so that another version of a font is
no difference.
"""
_TELLING = 40
"""Of 255: squares that differ by less look the same."""
_SHRINK = """
async ([picture, block]) => {
  const image = new Image();
  image.src = "data:image/png;base64," + picture;
  await image.decode();
  const [width, height] = [Math.ceil(image.width / block), Math.ceil(image.height / block)];
  const canvas = new OffscreenCanvas(width, height).getContext("2d");
  canvas.imageSmoothingQuality = "high";
  canvas.drawImage(image, 0, 0, width, height);
  return [image.width, image.height, Array.from(canvas.getImageData(0, 0, width, height).data)];
}
"""


class Shown(NamedTuple):
    """How a page is shown."""

    width: int
    height: int
    scheme: Literal["light", "dark"] = "light"
    media: Literal["screen", "print"] = "screen"
    hostile: bool = False
    """Whether its names come from somebody who means harm."""


REPORTS: Mapping[str, Shown] = {
    "report": Shown(900, 1000),
    "report-dark": Shown(900, 1000, scheme="dark"),
    "report-phone": Shown(390, 844),
    "report-phone-dark": Shown(390, 844, scheme="dark"),
    "report-paper": Shown(794, 1123, media="print"),
    "report-hostile": Shown(900, 1000, hostile=True),
    "report-hostile-phone": Shown(390, 844, scheme="dark", hostile=True),
}
"""Pictures of an answer's page, by their files' names."""
PAGES: Mapping[str, Shown] = {
    "ui": Shown(1200, 1500),
    "ui-phone-dark": Shown(390, 844, scheme="dark"),
}
"""Pictures of `podpath ui`."""


@contextmanager
def browsing() -> Iterator[Browser]:
    """Start the system's Chromium."""
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield started
        started.close()


@contextmanager
def _opened(browser: Browser, shown: Shown) -> Iterator[Page]:
    """Open an empty page that is shown so."""
    page = browser.new_page(
        viewport={"width": shown.width, "height": shown.height}, color_scheme=shown.scheme
    )
    page.set_default_timeout(PATIENCE)
    page.emulate_media(media=shown.media, color_scheme=shown.scheme)
    yield page
    page.close()


def render_report(*, hostile: bool) -> str:
    """Return an answer's page: of an example, or of evidence with hostile names."""
    if hostile:
        name = "".join(HOSTILE[kind] for kind in ("markup", "script", "right-to-left", "escape"))
        return diagnose(Pasted(node_of(name), "ticket.md"), [PROBE]).html()
    incident = ROOT / "examples" / "incidents" / "kube-proxy-before-cilium"
    text = (incident / "ticket.md").read_text(encoding="utf-8")
    return diagnose(Pasted(text, "ticket.md")).html()


def take_report(browser: Browser, html: str, shown: Shown) -> bytes:
    """Return the picture of an answer's page."""
    with _opened(browser, shown) as page:
        page.set_content(html)
        return page.screenshot()


def take_page(browser: Browser, address: str, shown: Shown) -> bytes:
    """Return the picture of `podpath ui` after somebody asked what breaks a connection."""
    with _opened(browser, shown) as page:
        page.goto(address)
        page.get_by_role("button", name="192.168.77.11").click()
        page.get_by_role("button", name="What breaks it?").click()
        page.frame_locator("iframe").get_by_text("The deciding lines").wait_for()
        page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        return page.screenshot()


@contextmanager
def serving() -> Iterator[str]:
    """Start `podpath ui` with an example's bundle, and yield the address that it prints."""
    bundle = ROOT / "examples" / "incidents" / "rp-filter-reset" / "bundle"
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "podpath", "ui", bundle.relative_to(ROOT)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert server.stdout is not None
    try:
        lines = iter(server.stdout.readline, "")
        yield next(found[0] for line in lines if (found := re.search(r"http://\S+", line)))
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)


def compare(browser: Browser, one: bytes, other: bytes) -> float:
    """Return by how much two pictures differ: the share of their squares whose mean color does, 1
    where they have different sizes.
    """
    page = browser.new_page()
    (*size, first), (*other_size, second) = (_shrink(page, each) for each in (one, other))
    page.close()
    if size != other_size:
        return 1.0
    differing = 0
    for at in range(0, len(first), 4):
        channels = zip(first[at : at + 4], second[at : at + 4], strict=True)
        differing += any(abs(here - there) >= _TELLING for here, there in channels)
    return differing / (len(first) / 4)


def _shrink(page: Page, picture: bytes) -> tuple[Any, ...]:
    """Return a picture's width and height, and the mean colors of its squares."""
    found: list[Any] = page.evaluate(_SHRINK, [base64.b64encode(picture).decode(), _BLOCK])
    return tuple(found)


def main() -> None:
    """Take all of them."""
    FOLDER.mkdir(exist_ok=True)
    with browsing() as browser:
        for name, shown in REPORTS.items():
            taken = take_report(browser, render_report(hostile=shown.hostile), shown)
            (FOLDER / f"{name}.png").write_bytes(taken)
        with serving() as address:
            for name, shown in PAGES.items():
                (FOLDER / f"{name}.png").write_bytes(take_page(browser, address, shown))
    sys.stdout.write(f"{FOLDER}: {len(REPORTS) + len(PAGES)} pictures\n")


if __name__ == "__main__":
    main()
