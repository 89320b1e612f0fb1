"""`podpath protect agent --check`: what a configuration would run here."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from podpath.net.errors import PodpathError
from podpath_protect.cli.agent import agent


def test_a_good_configuration_is_described(tmp_path: Path) -> None:
    """Its parts and where it can be asked; nothing of the node is looked at."""
    config = tmp_path / "agent.toml"
    config.write_text("[order]\n[sysctl]\n", encoding="utf-8")
    asked = CliRunner().invoke(agent, ["--check", "--config", str(config)])
    said = dict(line.split(": ", 1) for line in asked.output.splitlines())
    assert (0, "good", "no") == (asked.exit_code, said[str(config)], said["kubernetes"])
    assert {"order", "sysctl"} == set(said["parts"].split(", "))


def test_a_wrong_one_names_its_line(tmp_path: Path) -> None:
    """The front door makes one clear line of it, and exits with 2."""
    config = tmp_path / "agent.toml"
    config.write_text("[order]\nmode = 'both'\n", encoding="utf-8")
    asked = CliRunner().invoke(agent, ["--check", "--config", str(config)])
    assert isinstance(asked.exception, PodpathError)
    assert f"{config}:2" in str(asked.exception)
