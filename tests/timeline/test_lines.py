"""The account of a log's lines."""

from __future__ import annotations

from podpath.timeline.lines import numbered, split_tagged


def test_a_tagged_line() -> None:
    """Host, program and message are told apart; the process id belongs to none of them."""
    assert ("systemd", "Started x: y", "node-7") == split_tagged("node-7 systemd[1]: Started x: y")[:3]


def test_a_tagged_line_without_a_host() -> None:
    """journalctl can leave the host out."""
    assert ("kernel", "eth0: link is down", "") == split_tagged("kernel: [  12.500000] eth0: link is down")[:3]


def test_a_line_without_a_tag() -> None:
    """What has no tag is a message as a whole."""
    assert ("", "no tag here", "node-7") == split_tagged("node-7 no tag here")[:3]


def test_blank_lines_are_not_numbered() -> None:
    """Lines of white space are left out, the others keep their indices."""
    assert [(0, "a"), (3, "b")] == list(numbered(["a", "", "  ", "b"]))
