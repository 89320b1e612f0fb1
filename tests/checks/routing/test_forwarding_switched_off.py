"""A sysctl file that switches forwarding off."""

from __future__ import annotations

import pytest

from podpath.checks.routing.forwarding_switched_off import check
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

FAULT = """\
```
$ cat /etc/sysctl.d/99-cis.conf
net.ipv4.ip_forward = 0
net.ipv4.conf.all.send_redirects = 0
$ sysctl net.ipv4.ip_forward
net.ipv4.ip_forward = 0
```
"""
ALMOST = """\
```
$ cat /etc/sysctl.d/99-cis.conf
net.ipv4.ip_forward = 0
$ sysctl net.ipv4.ip_forward
net.ipv4.ip_forward = 1
```
"""
HEALTHY = """\
```
$ cat /etc/sysctl.d/99-k8s.conf
net.ipv4.ip_forward = 1
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "net.ipv4.ip_forward = 0" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "forwarding" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A file that did not come to count, and one that is right."""
    assert [] == list(check(case_of_document(ticket)))


@pytest.mark.parametrize(
    ("prose", "value", "certainties"),
    [
        ("After a reboot Docker warns that IPv4 forwarding is disabled.", 0, [1.0]),
        ("The log of the engine says that ip forwarding is off.", 0, [1.0]),
        ("A warning: IPv4 forwarding is disabled. Networking will not work.", 0, [1.0]),
        ("Docker warns that IPv4 forwarding is disabled.", 1, []),
        ("Docker is slow to start since the last update.", 0, [0.6]),
    ],
)
def test_a_program_that_warns_of_it_makes_it_certain(
    prose: str, value: int, certainties: list[float]
) -> None:
    """Beside the value that shows it; where forwarding is on, the warning is over."""
    text = f"{prose}\n\n```\n# wanted by the benchmark\nnet.ipv4.ip_forward = {value}\n```\n"

    assert certainties == [one.certainty for one in check(ticket_of(text))]
