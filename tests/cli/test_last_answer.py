"""What the last answer found, kept for `podpath explain`."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from podpath.cli.last_answer import keep_checks, read_checks
from podpath.cli.main import podpath
from podpath.net.errors import UsageError


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a folder for state."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "podpath" / "last-checks"


def _keep_on_terminal(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout.isatty", lambda: True)
        keep_checks(names)


def test_only_an_answer_on_a_terminal_is_kept(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once, for this user's eyes, and the last answer's alone."""
    keep_checks(["rp-filter"])
    assert not state.exists()
    with pytest.raises(UsageError, match="no answer on this"):
        read_checks()
    _keep_on_terminal(monkeypatch, "chain-order", "rp-filter", "chain-order")
    assert ("chain-order", "rp-filter") == read_checks()
    assert 0o600 == stat.S_IMODE(state.stat().st_mode)
    _keep_on_terminal(monkeypatch, "rp-filter")
    assert (("rp-filter",), [state]) == (read_checks(), list(state.parent.iterdir()))


def test_what_cannot_be_kept_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer matters more."""
    (tmp_path / "podpath").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    _keep_on_terminal(monkeypatch, "rp-filter")
    assert "" == (tmp_path / "podpath").read_text(encoding="utf-8")


def test_a_relative_folder_counts_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be another one in each working directory, which may be a bundle's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    _keep_on_terminal(monkeypatch, "rp-filter")
    assert [tmp_path / "home"] == list(tmp_path.iterdir())


def test_explain_opens_the_page_of_what_was_found(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the first, with the others named; names that are no checks are passed over."""
    _keep_on_terminal(monkeypatch, "\x1b[31m", "rp-filter", "chain-order")
    said = CliRunner().invoke(podpath, ["explain"]).stdout
    assert CliRunner().invoke(podpath, ["explain", "rp-filter"]).stdout in said
    assert said.endswith("\nalso found: chain-order\n")
    assert (
        "rp-filter"
        == json.loads(CliRunner().invoke(podpath, ["explain", "--json"]).stdout)["check"]
    )
    state.write_bytes(b"\xff\n" * 100_000)
    refused = CliRunner().invoke(podpath, ["explain"]).exception
    assert "the last answer found no fault by name: `podpath checks` lists them" == str(refused)
