"""Endpoints of one service of which one does not answer."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.services.endpoint_refuses import check
from tests.checks.pasted import ticket_of

ENDPOINTS = """
``` yaml
kind: Endpoints
apiVersion: v1
metadata:
  name: hook
subsets:
- addresses:
  - ip: 10.1.0.66
  - ip: 10.1.1.157
  ports:
  - port: 8443
```
"""
OK = "```\n$ curl -sk -o /dev/null -w '%{http_code}' https://10.1.0.66:8443/\n415\n```\n"
BAD = "```\n$ curl -k https://10.1.1.157:8443/\ncurl: (7) connect: Connection refused\n```\n"
SILENT = "```\n$ curl -k https://10.1.1.157:8443/\ncurl: (28) Connection timed out\n```\n"
BROKEN = "Half of the calls of the hook are refused.\n"


def find(*parts: str) -> list[Finding]:
    """Return what is found in a ticket of these parts."""
    return list(check(ticket_of("\n".join((BROKEN, *parts)))))


@pytest.mark.parametrize(("answer", "certainty"), [(BAD, 1.0), (SILENT, 0.7)])
def test_one_endpoint_does_not_answer(answer: str, certainty: float) -> None:
    """A refusal convicts; silence may be the way there."""
    (finding,) = find(ENDPOINTS, OK, answer)

    assert certainty == finding.certainty
    assert bool(finding.asks) is (certainty < 1)
    assert finding.evidence[0].text.startswith("curl: ")
    assert finding.evidence[1].text.strip() == "- ip: 10.1.1.157"


@pytest.mark.parametrize(
    "parts",
    [(OK, BAD), (ENDPOINTS, BAD), (ENDPOINTS, OK), (ENDPOINTS.replace("1.157", "1.9"), OK, BAD)],
    ids=["no endpoints", "none answers", "all answer", "another address"],
)
def test_what_says_nothing_of_one_endpoint(parts: tuple[str, ...]) -> None:
    """Both sides of the comparison have to be stated."""
    assert not find(*parts)
