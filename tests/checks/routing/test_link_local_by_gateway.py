"""Link-local addresses by a gateway."""

from __future__ import annotations

import pytest

from podpath.checks.routing.link_local_by_gateway import check
from tests.checks.pasted import case_of

ANSWER = "# ip route get {address}\n{address} {way} src 10.192.80.75 uid 0\n    cache\n"


def test_the_answer_is_quoted() -> None:
    """It is possible, and nothing but silence proves it."""
    way = "via 10.192.80.1 dev ens5"
    (found,) = check(case_of(ANSWER.format(address="169.254.173.150", way=way)))

    assert found.evidence[0].text.startswith(f"169.254.173.150 {way}")
    assert (0.7, 1) == (found.certainty, len(found.asks))


@pytest.mark.parametrize(
    ("address", "way"),
    [
        ("169.254.173.150", "dev veth12"),
        ("169.254.169.254", "via 10.192.80.1 dev ens5"),
        ("10.42.0.7", "via 10.192.80.1 dev ens5"),
        ("169.254.173.150", "via 169.254.1.1 dev tun0"),
    ],
    ids=["own", "metadata", "another", "link-local"],
)
def test_what_only_looks_like_it_is_let_be(address: str, way: str) -> None:
    """A route by a device, clouds' own services, and a gateway on the same link."""
    assert [] == list(check(case_of(ANSWER.format(address=address, way=way))))
