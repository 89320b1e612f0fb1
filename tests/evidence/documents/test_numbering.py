"""Numbers of an editor are taken off what was pasted; a listing keeps its own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from podpath.evidence.documents.numbering import strip_numbers
from podpath.evidence.documents.regions import DocumentLine

STANZA = ("iface eth0 inet static", "    address 10.8.9.96", "", "    netmask 255.255.255.0")


def _lines(*texts: str) -> tuple[DocumentLine, ...]:
    return tuple(DocumentLine(number, text) for number, text in enumerate(texts, 1))


def _stripped(*texts: str) -> Sequence[str]:
    return [line.text for line in strip_numbers(_lines(*texts))]


@pytest.mark.parametrize("mark", ["{} ", "  {} ", "     {}\t", "{}:"])
def test_numbers_of_an_editor_are_taken_off(mark: str) -> None:
    """Whatever stands behind the number, the line's own indentation stays, and lines round the run
    do.
    """
    numbered = [mark.format(number) + text for number, text in enumerate(STANZA, 12)]

    assert ["The file:", *STANZA, "It fails."] == _stripped("The file:", *numbered, "It fails.")


def test_an_empty_line_has_a_number_alone() -> None:
    """An editor prints nothing behind the number of an empty line."""
    lines = (f"7 {STANZA[0]}", "8", f"9 {STANZA[3]}")

    assert [STANZA[0], "", STANZA[3]] == _stripped(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        # ip -o link
        ("1: lo    inet 127.0.0.1/8 scope host lo", "2: eth0    inet 10.0.0.7/24 scope global eth0",
         "3: eth1    inet 10.1.0.7/24 scope global eth1"),
        # iptables -nL --line-numbers
        ("1    ACCEPT     all  --  0.0.0.0/0            0.0.0.0/0",
         "2    DROP       all  --  10.0.0.0/8           0.0.0.0/0",
         "3    ACCEPT     tcp  --  0.0.0.0/0            0.0.0.0/0"),
        # traceroute
        (" 1  10.0.0.1  0.4 ms  0.4 ms  0.4 ms", " 2  10.1.0.1  0.9 ms  0.8 ms  0.9 ms",
         " 3  * * *"),
        # a list of steps
        ("1. default via 10.0.0.1 dev eth0", "2. I tried again", "3. it failed"),
        # too few, and not one after another
        ("1 auto eth0", "2 iface eth0 inet static"),
        ("1 iface eth0 inet static", "3 address 10.8.9.96", "5 netmask 255.255.255.0"),
    ],
)  # fmt: skip
def test_other_numbers_stay(lines: tuple[str, ...]) -> None:
    """A listing's own numbers, those of a list, and a few that may be anything."""
    assert list(lines) == _stripped(*lines)
