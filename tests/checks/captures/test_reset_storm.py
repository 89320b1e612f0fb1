"""Resets that only end what is done are no storm."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Severity
from podpath.node.case import Case
from tests.checks.made_captures import SERVER, case_of, exchange, found, handshake, tcp


def closed_by(*ends: str) -> Case:
    """Read a dozen connections within a second, each with a request, its answer, and an end: `F`
    or `R`, with the side that sends it.
    """
    lines: list[str] = []
    for number in range(12):
        client, at = f"10.7.0.5.{42_000 + number}", number * 0.05
        ways = {"c": f"{client} > {SERVER}", "s": f"{SERVER} > {client}"}
        lines += [*handshake(at, client), *exchange(at + 0.021, client)]
        for place, end in enumerate(ends):
            side, flag = end[0], end[1]
            numbers = (81, 401) if side == "c" else (401, 81)
            lines.append(tcp(at + 0.06 + place / 1000, ways[side], f"{flag}.", *numbers))
    return case_of(*sorted(lines))


@pytest.mark.parametrize("ends", [("sF", "cR"), ("cF", "cR"), ("cF", "sF", "sR"), ("cR",)])
def test_reset_that_ends_what_is_done_does_not_count(ends: tuple[str, ...]) -> None:
    """After a FIN, or once a client has its answer, a reset closes a connection."""
    assert found(closed_by(*ends), "reset-storm") == []


def test_server_that_resets_what_it_did_not_end_is_found() -> None:
    """Established connections that the server drops are told."""
    (finding,) = found(closed_by("sR"), "reset-storm")

    assert finding.severity == Severity.FAULT
