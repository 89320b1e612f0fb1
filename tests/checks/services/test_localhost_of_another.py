"""Programs that listen on localhost or are asked there, where each end has its own."""

from __future__ import annotations

import pytest

from podpath.checks.services.localhost_of_another import LIKELY, POSSIBLE, check
from tests.checks.pasted import ticket_of

FORWARDED = """\
kubectl port-forward svc/web {flags}8080:80 says

Forwarding from {address}:8080 -> 8080

and from my phone http://192.168.1.44:8080 (my laptop) does not load: connection refused.
"""
DEVELOPED = """\
I start the dev server in a container; it prints

  Local:   http://localhost:5173/
{network}

`docker run -p 5173:5173 app`; the browser on the host says connection reset.
"""
SHOWN = """\
It listens on 9100 (ss in the container: LISTEN 127.0.0.1:9100). Prometheus on another machine: \
Get "http://172.22.9.3:9100/metrics": dial tcp 172.22.9.3:9100: connect: connection refused
"""
FRESH = """\
Two rootless containers. The server listens on 7000. From the second one:

```
$ podman {run} img/tools nc -v localhost 7000
nc: connect to localhost port 7000 (tcp) failed: Connection refused
```
"""


def certainties(text: str) -> list[float]:
    """Return how sure each finding is."""
    return [one.certainty for one in check(ticket_of(text))]


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        (FORWARDED.format(flags="", address="127.0.0.1"), LIKELY),
        (DEVELOPED.format(network="  Network: use --host to expose"), LIKELY),
        (
            SHOWN,
            LIKELY,
        ),
        (
            "The api container cannot connect to db at localhost:5432: connection refused.",
            POSSIBLE,
        ),
        (FRESH.format(run="run -it --rm --name=cli"), POSSIBLE),
    ],
    ids=["port-forward", "dev-server", "ss", "compose", "fresh"],
)
def test_localhost_is_each_namespace_own(text: str, sure: float) -> None:
    """The listener's or the client's words show it."""
    assert [sure] == certainties(text)


@pytest.mark.parametrize(
    "text",
    [
        FORWARDED.format(flags="--address 0.0.0.0 ", address="0.0.0.0"),
        DEVELOPED.format(network="  Network: http://172.17.0.2:5173/\n listening on 0.0.0.0:5173"),
        "The api container cannot connect to db:5432: connection refused.",
        "The container cannot connect to localhost:5432 with hostNetwork: connection refused.",
        "The host cannot connect to localhost:5432: connection refused.",
        FRESH.format(run="exec srv"),
        FRESH.format(run="run --rm --network host"),
    ],
    ids=["all", "both", "name", "host-network", "host", "its-own-program", "run-with-the-host"],
)
def test_others_share_it_or_ask_elsewhere(text: str) -> None:
    """The program listens on all addresses, or who asks may have the same localhost."""
    assert [] == certainties(text)
