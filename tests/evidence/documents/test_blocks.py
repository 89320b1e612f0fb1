"""Blocks become sources with their indentation taken off."""

from __future__ import annotations

from podpath.evidence.documents.blocks import dedent, join_command


def test_dedent() -> None:
    """What all lines start with goes, up to a bound; blank lines become empty."""
    assert ("a", "  b", "") == dedent(["    a", "      b", "  "])
    assert ("  a", "b") == dedent(["  a", "b"])
    assert (" a",) == dedent(["   a"], most=2)
    assert ("\ta", "b") == dedent(["\t\ta", "\tb"])


def test_join_command() -> None:
    r"""A command wrapped with `\` is one line, without the sign that a shell prints before its
    later lines.
    """
    assert "cilium install --a --b" == join_command(["cilium install \\", "    --a \\", "> --b"])
    assert "ip a" == join_command(["ip a \\"])
