"""Programs that listen where nobody asks them."""

from __future__ import annotations

import pytest

from podpath.checks.services.listens_elsewhere import POSSIBLE, check
from tests.checks.pasted import ticket_of

SERVICE = """
$ kubectl get svc api -o yaml
apiVersion: v1
kind: Service
metadata:
  name: api
spec:
  ports:
  - port: 80
    targetPort: 8080
  selector:
    app: api
"""
TRIED = "$ nc -vz 10.70.1.8 8080\nnc: 10.70.1.8 (10.70.1.8:8080): Connection refused\n"
SLICE = """
$ kubectl get endpointslices
NAME        ADDRESSTYPE   PORTS   ENDPOINTS    AGE
api-x9k2c   IPv4          8080    10.70.1.8    4d
"""
PS = """
$ docker ps
CONTAINER ID   IMAGE   COMMAND    CREATED         STATUS         PORTS                    NAMES
3f2a9c7d1e5b   web:1   "node s"   2 minutes ago   Up 2 minutes   0.0.0.0:9000->3000/tcp   web
"""
RESET = "$ curl http://localhost:9000/\ncurl: (56) Recv failure: Connection reset by peer\n"


def sure(*blocks: str, prose: str = "It fails.") -> list[float]:
    """Return how sure each finding is."""
    text = "\n".join(blocks)
    return [one.certainty for one in check(ticket_of(f"{prose}\n\n```\n{text}\n```\n"))]


def log(line: str, pod: str = "api-7c9d-x2vqk") -> str:
    """Return a pod's log."""
    return f"$ kubectl logs {pod}\n{line}\n"


@pytest.mark.parametrize(
    "line",
    ["listening on :8000", "Listening at: http://0.0.0.0:8000 (1)", "listening on 127.0.0.1:8080"],
)
@pytest.mark.parametrize("target", [SERVICE, SLICE])
def test_the_refused_target_is_not_the_programs(line: str, target: str) -> None:
    """By another port, or since it is on loopback; whatever leads there."""
    assert [1.0] == sure(log(line), target, TRIED)


def test_numbers_that_differ_are_possible() -> None:
    """Nobody is seen to be refused there; people say that the service refuses."""
    assert [POSSIBLE] == sure(log("listening on :8000"), SERVICE, prose="The service api refuses.")
    assert [] == sure(log("listening on :8000"), SERVICE, prose="The service api is slow.")


@pytest.mark.parametrize(
    "line",
    [
        "listening on [::]:8080",
        "metrics server listening on :9100",
        "error: listening on :8000 failed",
        "connected to 10.0.0.9:8000",
    ],
)
def test_what_listens_there_or_says_nothing_of_it(line: str) -> None:
    """The target's port on all addresses, a port beside it, an error and a client."""
    assert [] == sure(log(line), SERVICE, TRIED)


def test_another_workloads_log_is_no_matter() -> None:
    """Its name is not the service's, though it may begin with that."""
    for pod in ("worker-5d", "api-gateway-7c9d-x2vqk", "api-proxy"):
        assert [] == sure(log("listening on :8000", pod), SERVICE, TRIED)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Listening on http://127.0.0.1:3000", [1.0]),
        ("Listening on http://0.0.0.0:5000", [1.0]),
        ("Listening on http://0.0.0.0:3000", []),
    ],
)
def test_a_published_port_leads_to_the_containers_own_address(
    line: str, expected: list[float]
) -> None:
    """The engine's proxy is refused there, and resets its client."""
    assert expected == sure(f"$ docker logs web\n{line}\n", PS, RESET)


def test_a_listing_of_the_containers_sockets_says_the_same() -> None:
    """A whole one, taken in its namespace."""
    sockets = (
        "$ docker exec web ss -ltn\nState   Recv-Q  Send-Q   Local Address:Port   Peer "
        "Address:Port\nLISTEN  0       511          {}:3000        0.0.0.0:*\n"
    )

    assert [1.0] == sure(sockets.format("127.0.0.1"), PS, RESET)
    assert [] == sure(sockets.format("0.0.0.0"), PS, RESET)


def test_a_sentence_publishes_the_port() -> None:
    """The log is compose's, the try is by the host's loopback."""
    text = "search-1  | INFO  server ready on http://localhost:9000\n" + RESET

    assert [1.0] == sure(text, prose="Compose publishes 9000:9000; the connection is reset.")
    assert [] == sure(text, prose="The connection is reset.")
