"""Services whose announcement a speaker takes back."""

from __future__ import annotations

import pytest

from podpath.checks.services.service_withdrawn import check
from tests.checks.pasted import ticket_of

TICKET = """\
The address of service web is not reached from outside, connections time out.{more}

```
{lines}
```
"""
WITHDRAWN = (
    '{{"event":"serviceWithdrawn","ip":"","msg":"withdrawing service announcement",'
    '"protocol":"layer2","reason":"{reason}","service":"default/web"}}'
)
ANNOUNCED = '{"event":"serviceAnnounced","ip":"10.0.0.9","service":"default/web"}'


@pytest.mark.parametrize(
    ("reason", "more", "certainties"),
    [
        ("noEndpoints", "", [0.7]),
        ("nodeLabeledExcludeBalancers", "", [0.7]),
        ("notOwner", "", [0.4]),
        ("notOwner", " It is a single-node cluster.", [0.7]),
        ("serviceDeleted", "", []),
    ],
)
def test_the_reason_is_told(reason: str, more: str, certainties: list[float]) -> None:
    """That another node is to announce it, all speakers but one say of a sound service."""
    lines = WITHDRAWN.format(reason=reason)
    found = list(check(ticket_of(TICKET.format(lines=lines, more=more))))

    assert certainties == [one.certainty for one in found]
    assert all(reason in str(one.claim) for one in found)


@pytest.mark.parametrize(("first", "expected"), [(True, 0), (False, 1)])
def test_a_later_announcement_clears_it(first: bool, expected: int) -> None:  # noqa: FBT001
    """An earlier one does not."""
    lines = [WITHDRAWN.format(reason="notOwner"), ANNOUNCED]
    text = "\n".join(lines if first else lines[::-1])

    assert expected == len(list(check(ticket_of(TICKET.format(lines=text, more="")))))
