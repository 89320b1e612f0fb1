"""Scans ask for what is not there: nobody lost anything."""

from __future__ import annotations

from tests.checks.made_captures import case_of, faults, found, tcp

SCANNER = "10.7.0.66"


def test_half_open_scan_has_no_lost_handshakes() -> None:
    """Open ports answer a scanner that keeps no state, and repeat their SYN-ACK."""
    lines: list[str] = []
    for port in range(1, 31):
        near, far = f"{SCANNER}.{50_000 + port}", f"198.18.4.9.{port}"
        lines.append(tcp(port / 100, f"{near} > {far}", "S", 1000 + port))
        lines += [
            tcp(port / 100 + after, f"{far} > {near}", "S.", 7, 1001 + port)
            for after in (0.001, 1.001, 3.001)
        ]
    few = [line for line in lines if any(f"9.{port}" in line for port in (3, 5))]

    assert found(case_of(*sorted(lines)), "handshake-repeated") == []
    assert found(case_of(*sorted(few)), "handshake-repeated") != []


def test_syn_to_many_servers_is_not_translated() -> None:
    """A scanner sends one SYN, from one port with one number, to all of them; some answer."""
    near = f"{SCANNER}.60000"
    lines = [tcp(at / 1000, f"{near} > 198.18.4.{at}.443", "S", 4242) for at in range(1, 9)]
    answer = tcp(0.02, f"198.18.4.7.443 > {near}", "S.", 9, 4243)
    lines += [answer, tcp(0.021, f"{near} > 198.18.4.7.443", "R", 4243)]

    assert "untranslated-reply" not in faults(case_of(*lines))


def test_client_that_asks_both_servers_itself_is_answered_by_both() -> None:
    """The second SYN comes too late to be a copy of the first on its way."""
    near = f"{SCANNER}.60000"
    lines = (
        tcp(0.0, f"{near} > 198.18.4.1.443", "S", 4242),
        tcp(0.5, f"{near} > 198.18.4.2.443", "S", 4242),
        tcp(0.51, f"198.18.4.2.443 > {near}", "S.", 9, 4243),
        tcp(0.52, f"{near} > 198.18.4.2.443", "R", 4243),
    )

    assert "untranslated-reply" not in faults(case_of(*lines))
