"""Pages in a real browser: shown as meant, and nothing in the evidence runs, loads or is drawn as
markup.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from podpath.library.diagnosis import diagnose
from podpath.library.given import Pasted

BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0")
HOSTILE = (
    "<script>document.title='run'</script>",
    '"><img src=x onerror="document.title=1">',
    "</style><style>*{display:none}</style>",
    "\u202e\u2066right-to-left",
    "\x1b[31mred\x07",
    "n" * 2_000_000,
)
TICKET = """\
A pod cannot reach 10.0.0.9.

```
# ip route
default via 10.0.0.1 dev eth0
unreachable 10.0.0.9 {name}
# iptables-save
*filter
:FORWARD ACCEPT [0:0]
-A FORWARD -d 10.0.0.9/32 -m comment --comment "{name}" -j DROP
COMMIT
```
"""
needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="no chromium here: apt-get install chromium-headless-shell"
)


def browse(page: str, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Open a page, and return what the browser made of it."""
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    return subprocess.run(
        [str(BROWSER), *FLAGS, f"--user-data-dir={folder}/profile", *flags, file.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )


@needs_browser
@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: repr(name[:12]))
def test_hostile_names_do_nothing(name: str, tmp_path: Path) -> None:
    """The page that the browser holds has no element of theirs, and its title is ours."""
    answer = diagnose(Pasted(TICKET.format(name=name), "ticket.md"))
    done = browse(answer.html(), tmp_path, "--dump-dom")
    title = re.search(r"<title>([^<]*)</title>", done.stdout)
    assert title is not None
    assert title[1].startswith(("CAUSE", "FAULT", "UNDECIDED"))
    assert not re.search(r"<(?:script|img|iframe|link|object)", done.stdout)
    assert done.stdout.count("<style>") <= 2
    assert "Content Security Policy" not in done.stderr


@needs_browser
def test_policy_stops_what_slips_through(tmp_path: Path) -> None:
    """A script, an image and a style that stood in a page all the same are refused."""
    page = diagnose(Pasted(TICKET.format(name="x"), "ticket.md")).html()
    slipped = "<script>document.title='run'</script><img src='https://example.invalid/x.png'>"
    style = "<style>h1{display:none}</style>"
    done = browse(page.replace("<h1>", f"{slipped}{style}<h1>"), tmp_path, "--dump-dom")
    assert "<title>run</title>" not in done.stdout
    for refused in ("inline script", "image", "inline style"):
        assert refused in done.stderr.lower()


@needs_browser
@pytest.mark.parametrize("width", [390, 1200])
def test_page_is_drawn(width: int, repository: Path, tmp_path: Path) -> None:
    """On a phone and on a desk: a picture of that width, with our red, green and blue in it."""
    page = diagnose(repository / "examples/incidents/kube-proxy-before-cilium/ticket.md").html()
    picture = tmp_path / "page.png"
    size = f"--window-size={width},1400"
    browse(page, tmp_path, "--hide-scrollbars", size, f"--screenshot={picture}")
    header = picture.read_bytes()[:24]
    assert header.startswith(b"\x89PNG")
    assert int.from_bytes(header[16:20], "big") == width
    assert picture.stat().st_size > 40_000
