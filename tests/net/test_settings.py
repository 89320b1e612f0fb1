"""Configuration files in one form."""

from __future__ import annotations

from podpath.net.provenance import Source, Span
from podpath.net.settings import Setting, SettingsFile

PLACE = Span(Source(name="ticket.md", lines=("x",)), 1, 1)


def test_settings_are_found_by_name_and_by_block() -> None:
    """Case does not count; a block is found by the first word of its head."""
    one = Setting(('zone "home.lan" IN',), "Type", "master", PLACE)
    other = Setting(("options", "listen-on port 53"), "127.0.0.1", "", PLACE)
    file = SettingsFile(kind="named", path="", settings=(one, other), span=PLACE)

    assert [one] == list(file.all("type"))
    assert [other] == list(file.within("listen-on"))
    assert {one.path: [one], other.path: [other]} == file.blocks()


def test_words_stand_without_marks() -> None:
    """Lists are spelled with commas, brackets and quotation marks."""
    assert ("10.0.0.1/24", "10.0.0.2/24") == Setting(
        (), "addresses", '["10.0.0.1/24", "10.0.0.2/24"]', PLACE
    ).words
