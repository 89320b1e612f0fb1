"""A call reads what the user named at the start, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.library.given import Pasted, ThisNode
from podpath.net.errors import UsageError
from podpath_mcp.allowed import THIS_NODE, AllowedEvidence, resolve_folder
from podpath_mcp.bounds import PASTED


@pytest.fixture
def tickets(tmp_path: Path) -> Path:
    """Provide a folder that may be read, beside a file that may not."""
    folder = tmp_path / "tickets"
    (folder / "node1").mkdir(parents=True)
    (folder / "a.md").write_text("a")
    (tmp_path / "secret").write_text("s")
    (tmp_path / "tickets-of-others").mkdir()
    (tmp_path / "tickets-of-others" / "b.md").write_text("b")
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    (folder / "in").symlink_to(folder / "a.md")
    (folder / "round").symlink_to(folder / "round")
    return folder


def test_what_is_in_the_folder_is_found(tickets: Path) -> None:
    """By its name there, by its whole name, and through a link that stays inside."""
    allowed = AllowedEvidence(folders=(tickets,))
    names = ["a.md", "node1", "node1/../a.md", str(tickets / "a.md"), "in", "."]
    first = tickets / "a.md"

    assert [first, tickets / "node1", first, first, first, tickets] == [
        allowed.find_path(name) for name in names
    ]


@pytest.mark.parametrize(
    "name",
    [
        "../secret",
        "node1/../../secret",
        "out",
        "up/secret",
        "up",
        "/etc/passwd",
        "../tickets-of-others/b.md",
        "round",
        "nothing.md",
        "-",
        "a.md\0",
        "~/x",
        "x" * 5000,
    ],
)
def test_what_is_outside_is_refused(tickets: Path, name: str) -> None:
    """The refusal is the same whether something is there or not."""
    with pytest.raises(UsageError, match=r"expected a file or folder in .*, saw none there"):
        AllowedEvidence(folders=(tickets,)).find_path(name)


def test_without_a_folder_only_text_is_read(tickets: Path) -> None:
    """What is pasted needs no folder."""
    allowed = AllowedEvidence()

    assert (Pasted("ip route", "pasted"),) == allowed.list_pieces([], "ip route")
    with pytest.raises(UsageError, match="no folder was named"):
        allowed.list_pieces([str(tickets / "a.md")])


def test_this_node_is_asked_only_where_the_user_said_so(tickets: Path) -> None:
    """The word stands for the node with --live, and for nothing without it."""
    folders = (tickets,)
    live = AllowedEvidence(folders=folders, this_node=True)

    assert (ThisNode(logs=True),) == live.list_pieces([THIS_NODE])
    with pytest.raises(UsageError, match="podpath mcp --live"):
        AllowedEvidence(folders=folders).list_pieces([THIS_NODE])


@pytest.mark.parametrize(
    ("pasted", "why"), [("", "saw neither"), (" \n", "saw neither"), ("x" * (PASTED + 1), "4 MB")]
)
def test_evidence_is_needed_and_bounded(pasted: str, why: str) -> None:
    """None at all, and more text than a call may bring, are refused."""
    with pytest.raises(UsageError, match=why):
        AllowedEvidence().list_pieces([], pasted)


def test_a_folder_is_resolved_at_the_start(tickets: Path) -> None:
    """A link to it is followed once; a file or nothing is no folder."""
    (tickets.parent / "link").symlink_to(tickets)

    assert tickets.resolve() == resolve_folder(str(tickets.parent / "link"))
    for name in (str(tickets / "a.md"), str(tickets / "nothing"), "a\0"):
        with pytest.raises(UsageError):
            resolve_folder(name)
