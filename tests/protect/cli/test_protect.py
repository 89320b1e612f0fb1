"""The group `podpath protect`: what it lists, and that each of its commands can be asked."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from podpath.net.errors import UsageError
from podpath_protect.cli.protect import COMMANDS, protect


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_where_the_table_says(name: str) -> None:
    """A command's module stands in the distribution, and its help shows it at work."""
    command = protect.get_command(click.Context(protect), name)
    assert command is not None
    assert COMMANDS[name].module.startswith("podpath_protect.cli.")
    asked = CliRunner().invoke(protect, [name, "--help"])
    assert 0 == asked.exit_code
    if not isinstance(command, click.Group):
        assert f"podpath protect {name}" in asked.output


def test_help_imports_no_part() -> None:
    """The list of commands is the table's, with its summaries."""
    asked = CliRunner().invoke(protect, ["--help"], terminal_width=200)
    listed = {name for name in COMMANDS if f"  {name} " in asked.output}
    assert (0, set(COMMANDS)) == (asked.exit_code, listed)


@pytest.mark.parametrize(
    "asked",
    [
        ["order", "--no-such"],
        ["sysctl", "--key", "net.ipv4.ip_forward"],
        ["repair", "--action", "forget"],
        ["validate", "--mode", "other"],
        ["chain", "lint", "--no-such"],
    ],
    ids=" ".join,
)
def test_what_is_not_understood_is_a_usage_error(asked: list[str]) -> None:
    """Nothing is looked at or changed then."""
    refused = CliRunner().invoke(protect, asked)
    assert 2 == refused.exit_code or isinstance(refused.exception, UsageError)
