"""Messages that say how a connection failed."""

from __future__ import annotations

import pytest

from podpath.evidence.attempts.failures import parse_failure, parse_result
from podpath.net.protocols import protocol_name

MESSAGES = [
    (("Get http://10.4.3.6:9001/health: net/http: request canceled while waiting for connection "
     "(Client.Timeout exceeded)"),
     "tcp 10.4.3.6:9001 timeout"),
    (
        'Get "https://10.9.0.1:443/api": dial tcp 10.9.0.1:443: connect: no route to host',
        "tcp 10.9.0.1:443 no route to host",
    ),
    (
        "Get https://10.9.0.1/api?timeout=10s: context deadline exceeded.",
        "tcp 10.9.0.1:443 timeout",
    ),
    ("dial tcp [fd00::1]:443: i/o timeout", "tcp fd00::1:443 timeout"),
    (
        "lookup web on 10.9.0.10:53: read udp 10.4.1.5:43213->10.9.0.10:53: i/o timeout",
        "udp 10.9.0.10:53 timeout",
    ),
    (
        "read tcp 10.4.1.5:43213->10.9.0.10:80: read: connection reset by peer",
        "tcp 10.9.0.10:80 reset",
    ),
    ("connect to 10.0.0.1 port 22: Connection timed out", "tcp 10.0.0.1:22 timeout"),
    ("dial tcp 10.0.0.1:22: connect: connection refused", "tcp 10.0.0.1:22 refused"),
    (
        "dial tcp 10.0.0.1:22: connect: network is unreachable",
        "tcp 10.0.0.1:22 network unreachable",
    ),
    (
        "dial tcp 10.0.0.1:22: connect: operation not permitted",
        "tcp 10.0.0.1:22 operation not permitted",
    ),
    ("dial tcp 10.0.0.1:22: connect: permission denied", "tcp 10.0.0.1:22 permission denied"),
    ("dial tcp 10.0.0.1:22: connect: invalid argument", "tcp 10.0.0.1:22 invalid argument"),
    ('Get "https://10.9.0.1:443/api": net/http: TLS handshake timeout', "tcp 10.9.0.1:443 hangs"),
    ("dial tcp: lookup web on 10.9.0.10:53: no such host", "udp 10.9.0.10:53 name unknown"),
    (
        "dial tcp: lookup web on 10.9.0.10:53: server misbehaving",
        "udp 10.9.0.10:53 name server fails",
    ),
    ("lookup web on 10.9.0.10:53: dial udp 10.9.0.10:53: connect: network is unreachable",
     "udp 10.9.0.10:53 network unreachable"),
    (
        "lookup web on 10.9.0.10:53: read udp 10.4.1.5:1->10.9.0.10:53: read: connection refused",
        "udp 10.9.0.10:53 refused",
    ),
    ("Error: connect ECONNREFUSED 10.0.0.7:5000", "tcp 10.0.0.7:5000 refused"),
    (
        "Error: connect EHOSTUNREACH 10.0.0.7:5000 - Local (10.1.0.2:40000)",
        "tcp 10.0.0.7:5000 no route to host",
    ),
    (
        "java.net.ConnectException: Connection timed out: /10.0.0.7:8080",
        "tcp 10.0.0.7:8080 timeout",
    ),
    (
        "finishConnect(..) failed: No route to host: web/10.0.0.7:8080",
        "tcp 10.0.0.7:8080 no route to host",
    ),
    (("HTTPConnectionPool(host='10.0.0.7', port=80): Max retries (Caused by "
     "NewConnectionError('[Errno 113] No route to host'))"),
     "tcp 10.0.0.7:80 no route to host"),
    (
        "Could not connect to Redis at 10.0.0.7:6379: Connection refused",
        "tcp 10.0.0.7:6379 refused",
    ),
    (
        "ERROR 2003 (HY000): Can't connect to MySQL server on '10.0.0.7' (113)",
        "tcp 10.0.0.7:3306 no route to host",
    ),
    (
        "ERROR 2003 (HY000): Can't connect to MySQL server on '10.0.0.7:3307' (110)",
        "tcp 10.0.0.7:3307 timeout",
    ),
    (
        'psql: error: connection to server at "10.0.0.7", port 5432 failed: Connection timed out',
        "tcp 10.0.0.7:5432 timeout",
    ),
    (
        "ssh: connect to host 10.0.0.7 port 22: Network is unreachable",
        "tcp 10.0.0.7:22 network unreachable",
    ),
    ("Connection reset by 10.0.0.7 port 22: Connection reset by peer", "tcp 10.0.0.7:22 reset"),
    (
        'Failed to dial target host "10.0.0.7:50051": context deadline exceeded',
        "tcp 10.0.0.7:50051 timeout",
    ),
    (("error trying to connect: tcp connect error: 10.0.0.7:80 at 10.0.0.7:80: Connection refused "
     "(os error 111)"),
     "tcp 10.0.0.7:80 refused"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "expected"), MESSAGES)
def test_messages(message: str, expected: str) -> None:
    """The address that was dialled and the way it failed are read."""
    failure = parse_failure(message)
    assert failure is not None
    assert (
        expected
        == f"{protocol_name(failure.protocol)} {failure.dst}:{failure.dport} {failure.result}"
    )


@pytest.mark.parametrize(
    "message",
    [
        "all is well at https://10.0.0.1/",
        "connection refused",
        "dial tcp web.example:80: i/o timeout",
        "10.0.0.300:80 timeout",
    ],
)
def test_others(message: str) -> None:
    """A message without a failure, or without an address, is no attempt."""
    assert parse_failure(message) is None


LANGUAGES = [
    ("连接超时", "timeout"), ("拒绝连接", "refused"), ("没有到主机的路由", "no route to host"),
    ("Connexion refusée", "refused"), ("Keine Route zum Zielrechner", "no route to host"),
    ("接続がタイムアウトしました", "timeout"), ("no such file", None),
]  # fmt: skip


@pytest.mark.parametrize(("message", "result"), LANGUAGES)
def test_other_languages(message: str, result: str | None) -> None:
    """The words of strerror(3) are known in the languages that tickets come in."""
    assert result == parse_result(message)
