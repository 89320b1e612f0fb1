"""Golden tickets: console output alone, without a word of prose, under the names of the report and
under others.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import podpath
from tests.golden.renaming import Renaming, make_renaming

TICKETS = Path(__file__).parent.parent / "data" / "tickets"
NAMES = sorted(path.name for path in TICKETS.iterdir())
AS_REPORTED = Renaming(xor=0, mac_xor=0, words=())


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
@pytest.mark.parametrize("form", ["console.md", "console.txt"])
@pytest.mark.parametrize("name", NAMES)
def test_cause_is_named_from_console_output_alone(
    name: str, form: str, seed: int | None, tmp_path: Path
) -> None:
    """The cause, its deciding lines and its cure are named, whatever the devices, addresses, chains
    and hosts are called.
    """
    expected = json.loads((TICKETS / name / "expected.json").read_text())
    renaming = AS_REPORTED if seed is None else make_renaming(seed, tuple(expected["words"]))
    ticket = tmp_path / "ticket.md"
    ticket.write_text(renaming.text((TICKETS / name / form).read_text()))
    result = podpath.diagnose(ticket)
    assert result.exit_code == expected["exit"], result.text()
    answer = result.data()
    first = answer["findings"][0]
    quoted = _squeeze("\n".join(quote["text"] for quote in first["evidence"]))
    said = _squeeze(" ".join([first["claim"], *first.get("reasoning", [])]))
    commands = "\n".join(command for repair in first["repairs"] for command in repair["commands"])
    asked = "\n".join(unknown["ask"] for unknown in answer["unknowns"][:1])
    for words, seen in (
        ("evidence", quoted),
        ("says", said),
        ("commands", commands),
        ("asks", asked),
    ):
        for piece in expected[words]:
            assert _squeeze(renaming.text(piece)) in _squeeze(seen), (words, piece, seen)


def _squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text)
