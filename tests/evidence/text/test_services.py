"""Names of well-known ports."""

from __future__ import annotations

import pytest

from podpath.evidence.text.services import SERVICES, read_port


@pytest.mark.parametrize(
    ("text", "number"), [("http", "80"), ("https", "443"), ("domain", "53"), ("6443", "6443")]
)
def test_ports_are_read_by_name_and_number(text: str, number: str) -> None:
    """What tools print without `-n` is a number again."""
    assert read_port(text) == number


def test_an_unknown_name_is_refused() -> None:
    """No number is guessed."""
    with pytest.raises(ValueError, match="saw the name 'ourservice'"):
        read_port("ourservice")


def test_all_ports_are_ports() -> None:
    """The table holds numbers between 1 and 65535."""
    assert all(0 < port < 65536 for port in SERVICES.values())
