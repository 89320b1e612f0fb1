"""Tests of `protect.snapshot.options`: what the section may say."""

from __future__ import annotations

import pytest

from podpath.net.tables import TableError, parse_tables
from podpath_protect.agent.config import AgentConfig
from podpath_protect.snapshot.options import PORT, SnapshotOptions
from podpath_protect.validate.sockets import SocketEnd


def parse(text: str) -> AgentConfig:
    """Parse a configuration."""
    return parse_tables(text, "agent.toml", AgentConfig)


def test_an_empty_section_is_enough_beside_kubernetes() -> None:
    """It serves at the pod's addresses; without the section nothing is served."""
    config = parse("[kubernetes]\n[snapshot]\n")
    assert config.snapshot == SnapshotOptions()
    assert config.snapshot is not None
    assert config.snapshot.listen == (SocketEnd("pod", PORT),)
    assert config.parts() == ("snapshot",)
    assert parse("[order]\n").snapshot is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[snapshot]\n", r"\[kubernetes\] beside \[snapshot\]"),
        ('[kubernetes]\n[snapshot]\nlisten = "0.0.0.0:1"\n', "agent.toml:3"),
        ("[kubernetes]\n[snapshot]\nmegabytes = 0\n", "megabytes of 1 or more"),
        ('[kubernetes]\n[snapshot]\nlimit = "10ms"\n', "limit of 1s"),
        ('[kubernetes]\n[snapshot]\npassword = "x"\n', "password"),
    ],
)
def test_what_could_never_be_served_is_refused(text: str, told: str) -> None:
    """No API server, every address, no room, no time, or a key that nobody knows."""
    with pytest.raises(TableError, match=told):
        parse(text)
