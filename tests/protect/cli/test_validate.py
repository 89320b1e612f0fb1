"""`podpath protect validate`: a mesh's own options for its mode, and what is refused."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from podpath.net.errors import UsageError
from podpath_protect.cli.validate import _guess_style, _logger, validate

NOTHING = {
    "run_validation": False,
    "skip_rule_apply": False,
    "probe_timeout": None,
    "listen_addr": None,
    "connect_addr": None,
}


@pytest.mark.parametrize(
    ("given", "style"),
    [
        ({}, "podpath"),
        ({"run_validation": True}, "istio"),
        ({"probe_timeout": "5s"}, "istio"),
        ({"listen_addr": "[::]:4140"}, "linkerd"),
        ({"connect_addr": "1.1.1.1:20001"}, "linkerd"),
    ],
)
def test_options_of_a_mesh_stand_for_its_mode(given: dict[str, object], style: str) -> None:
    """A pod's template need not be changed."""
    assert style == _guess_style({**NOTHING, **given})


@pytest.mark.parametrize(
    ("level", "said"), [("info", 2), ("linkerd=debug,warn", 1), ("off", 0), ("trace", 2)]
)
def test_a_level_holds_back_what_is_below(
    level: str, said: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a filter the last word counts."""
    tell = _logger(level, "plain")
    tell("info", "begun")
    tell("error", "not redirected")
    assert said == len(capsys.readouterr().err.splitlines())


def test_an_unknown_level_is_refused() -> None:
    """Before anything is probed."""
    refused = CliRunner().invoke(validate, ["--mode", "podpath", "--log-level", "loud"])
    with pytest.raises(UsageError, match="'loud'"):
        raise refused.exception or AssertionError(refused.output)


def test_a_wildcard_answers_nobody() -> None:
    """A reflector says from which address it answers."""
    refused = CliRunner().invoke(validate, ["--reflect", "0.0.0.0:4190"])
    with pytest.raises(UsageError, match=re.escape("saw the wildcard 0.0.0.0")):
        raise refused.exception or AssertionError(refused.output)
