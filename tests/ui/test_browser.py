"""The page in a real browser, by the command as users start it: clicked, typed into, and given
hostile evidence.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.ui.evidence import HEALTHY, SERVICE, TICKET

BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium")
PATIENCE = 60_000
"""Milliseconds: the machine may be busy."""
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    '\\"><svg onload=alert(1)>',
    "\\u202e\\u2066gnp.0-bew",
    "\\e[31mred\\a",
    "n" * 2_000_000,
)
"""As YAML spells them between double quotes."""
PODS = """
root@node1:~# kubectl get pods -A -o yaml
apiVersion: v1
items:
{pods}kind: List
"""
POD = """- apiVersion: v1
  kind: Pod
  metadata:
    name: "{name}"
    namespace: shop
  spec:
    nodeName: node1
  status:
    podIP: 10.244.1.{number}
"""
RULE = '-A FORWARD -s 10.244.1.20 -m comment --comment "{}" -j DROP'
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="no chromium here: apt-get install chromium-headless-shell"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the system's Chromium."""
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield started
        started.close()


@contextmanager
def serve(*arguments: str | Path) -> Iterator[str]:
    """Start `podpath ui`, and yield the address that it prints; end it as a user does."""
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "podpath", "ui", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert server.stdout is not None
    try:
        lines = iter(server.stdout.readline, "")
        yield next(found[0] for line in lines if (found := re.search(r"http://\S+", line)))
    finally:
        server.send_signal(signal.SIGINT)
        _, complaints = server.communicate(timeout=60)
    assert (server.returncode, complaints) == (0, "")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the ticket, and return the page's address."""
    ticket = tmp_path_factory.mktemp("evidence") / "ticket.md"
    ticket.write_text(TICKET)
    with serve(ticket) as printed:
        yield printed


@contextmanager
def opened(browser: Browser, address: str, **settings: object) -> Iterator[Page]:
    """Open the page; nothing that it meets may fail, warn or come from elsewhere, but that a
    mistake of the asker is answered with 400.
    """
    context = browser.new_context(**settings)  # type: ignore[arg-type]  # as Playwright names them
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text))
    page.on("dialog", lambda shown: wrong.append(shown.message))
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.goto(address)
    yield page
    assert [said for said in wrong if "400 (Bad Request)" not in said] == []
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    context.close()


def _frame_says(page: Page, title: str, text: str) -> None:
    said = page.frame_locator(f'iframe[title="{title}"]').locator("body")
    expect(said).to_contain_text(text, timeout=PATIENCE)


def test_a_user_asks_tries_and_compares(browser: Browser, address: str, tmp_path: Path) -> None:
    """Ends are chosen from the lists, by mouse and by keys; what breaks it is shown with its
    line; its fix is tried in the model; and a healthy node is uploaded and compared with.
    """
    good = tmp_path / "good.md"
    good.write_text(HEALTHY)
    with opened(browser, address) as page:
        expect(page.get_by_text("node1", exact=True)).to_be_visible()
        page.get_by_label("From", exact=True).first.click()
        page.get_by_role("option", name="pod/shop/web-0").click()
        target = page.get_by_role("combobox", name="To", exact=True)
        target.fill("api")
        target.press("ArrowDown")
        target.press("ArrowDown")
        target.press("Enter")
        expect(target).to_have_value(SERVICE)
        expect(page.get_by_label("Port")).to_have_value("80")
        target.press("Enter")
        expect(page.get_by_role("heading", name="The path")).to_be_focused(timeout=PATIENCE)
        _frame_says(page, "The path", "net.ipv4.ip_forward = 0")
        page.get_by_role("button", name="What breaks it?").click()
        _frame_says(page, "What breaks it", "sysctl -w net.ipv4.ip_forward=1")
        page.get_by_role("button", name="Try it in the model").click()
        _frame_says(page, "What the change does", "as far as it was walked, it connects")
        expect(page.locator("iframe")).to_have_count(3)
        page.get_by_text("Compare with a node where it works").click()
        page.get_by_label("Its bundle").set_input_files(good)
        expect(page.get_by_text("Compared with good.md.")).to_be_visible(timeout=PATIENCE)
        page.get_by_role("button", name="Find the difference").click()
        _frame_says(page, "The difference", "net.ipv4.ip_forward is 0 here, and 1")
        height = page.locator("iframe").bounding_box()
        assert height is not None
        assert height["height"] > 300
        page.get_by_role("combobox", name="From", exact=True).fill("nobody there")
        page.get_by_role("button", name="Follow the packets").click()
        expect(page.get_by_role("alert")).to_contain_text("From: expected an end")


def test_hostile_names_do_nothing(browser: Browser, tmp_path: Path) -> None:
    """On a phone, in the dark: names of pods and comments of rules are text, in the lists and in
    the answer, and nothing runs, loads or covers the page.
    """
    pods = "".join(POD.format(name=name, number=20 + at) for at, name in enumerate(HOSTILE))
    rules = "\n".join(RULE.format(name.replace('\\"', "'")) for name in HOSTILE)
    ticket = tmp_path / "ticket.md"
    text = TICKET.replace(
        "root@node1:~# ip route", PODS.format(pods=pods) + "root@node1:~# ip route"
    )
    filters = f"*filter\n:FORWARD ACCEPT [0:0]\n{rules}\nCOMMIT\n*nat"
    ticket.write_text(text.replace("ip_forward = 0", "ip_forward = 1").replace("*nat", filters))
    phone = {"width": 390, "height": 844}
    with (
        serve(ticket) as address,
        opened(browser, address, viewport=phone, color_scheme="dark") as page,
    ):
        page.get_by_role("combobox", name="From", exact=True).click()
        options = page.get_by_role("listbox", name="From").get_by_role("option")
        expect(options).to_have_count(8 + 2)
        assert all("\u202e" not in name and len(name) < 400 for name in options.all_inner_texts())
        options.filter(has_text="<img").click()
        page.get_by_role("combobox", name="To", exact=True).fill("203.0.113.9")
        page.get_by_label("Port").fill("443")
        page.get_by_role("button", name="Follow the packets").click()
        _frame_says(page, "The path", "-j DROP")
        answer = page.frame_locator("iframe")
        expect(answer.locator("script, img, iframe, object")).to_have_count(0)
        expect(page.locator("#answer img, #answer script, .list img")).to_have_count(0)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= phone["width"]


def test_an_address_without_its_token_shows_nothing(browser: Browser, address: str) -> None:
    """The page's address without its token gets nothing, and another page cannot read it with."""
    page = browser.new_page()
    answer = page.goto(re.sub(r"/[^/]+/$", "/", address))
    assert answer is not None
    assert (answer.status, answer.text()) == (404, "")
    page.goto("data:text/html,<h1>another page</h1>")
    tried = page.evaluate("a => fetch(a + 'node').then(() => 'read', () => 'refused')", address)
    assert tried == "refused"
    page.close()
