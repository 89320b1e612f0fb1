"""`podpath ui` as Chromium draws it: on a desk, and on a phone in the dark."""

from __future__ import annotations

import pytest

from scripts.pictures import BROWSER, FOLDER, PAGES, browsing, compare, serving, take_page


@pytest.mark.skipif(
    BROWSER is None, reason="no chromium here: apt-get install chromium-headless-shell"
)
def test_the_page_looks_as_it_was_seen() -> None:
    """It is the picture in docs/pictures, which somebody looked at; if it should look otherwise
    now, `python -m scripts.pictures` takes it again.
    """
    with browsing() as browser, serving() as address:
        differing = {
            name: compare(
                browser,
                (FOLDER / f"{name}.png").read_bytes(),
                take_page(browser, address, shown),
            )
            for name, shown in PAGES.items()
        }

    assert {} == {name: share for name, share in differing.items() if share >= 0.03}
