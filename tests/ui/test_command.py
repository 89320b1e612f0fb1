"""`podpath ui` on the command line; tests/ui/test_browser.py serves by it."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import click
import pytest

from podpath.net.errors import EvidenceError, MissingExtra
from podpath_ui.command import ui
from tests.ui.evidence import TICKET


def test_without_evidence_it_is_a_usage_error() -> None:
    """Evidence or --live."""
    with pytest.raises(click.UsageError, match="EVIDENCE"):
        ui.main([], standalone_mode=False)


def test_evidence_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """Before anything is served."""
    with pytest.raises(EvidenceError, match="nothing-here"):
        ui.main([str(tmp_path / "nothing-here")], standalone_mode=False)


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    """By the system's own words."""
    ticket = tmp_path / "ticket.md"
    ticket.write_text(TICKET)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with pytest.raises(OSError, match="in use"):
            ui.main([str(ticket), "--port", port], standalone_mode=False)


def test_without_its_libraries_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, as for every extra."""
    monkeypatch.setitem(sys.modules, "podpath_ui.server", None)
    with pytest.raises(MissingExtra, match=r"pip install 'podpath\[ui\]'"):
        ui.main(["--live"], standalone_mode=False)
