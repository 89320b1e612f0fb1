"""What goes out is short and safe to print, whatever came in."""

from __future__ import annotations

import pytest

from podpath_mcp.bounds import COMMAND, shorten, shorten_commands, shorten_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("eth0", "eth0"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("pod\u202egnp.exe", "pod\\u202egnp.exe"),
        ("one\ntwo", "one\\ntwo"),
    ],
)
def test_a_name_is_spelled_out(text: str, shown: str) -> None:
    """Controls and marks that reorder text are spelled, and stay on one line."""
    assert shorten(text, 40) == shown


def test_a_name_of_two_megabytes_is_shortened() -> None:
    """Both ends stay, and the spelled-out form is what is measured."""
    shown = shorten("a" + "\x1b" * 2_000_000 + "z", 60)

    assert (60, "a", "z", True) == (len(shown), shown[0], shown[-1], shown.isprintable())


def test_lines_are_shortened_together() -> None:
    """Lines stay lines, as many as fit."""
    shown = shorten_lines("\n".join(["x" * 30] * 100), 100)

    assert shown.startswith("x" * 30 + "\n" + "x" * 30)
    assert shown.endswith("\n...")
    assert 110 > len(shown)


def test_half_a_command_is_never_given() -> None:
    """A command that is too long is left out and counted, as are those beyond the first."""
    commands = ["ip link set eth0 up", "echo " + "x" * COMMAND, "true", "false"]

    assert shorten_commands(commands, 3) == (["ip link set eth0 up", "true"], 2)
