"""Messages that say how a connection failed."""

from __future__ import annotations

import pytest

from podpath.evidence.attempts.failures import parse_failure, parse_result
from podpath.net.protocols import protocol_name

MESSAGES = [
    ("Get http://10.4.3.6:9001/health: net/http: request canceled while waiting for connection (Client.Timeout exceeded)",
     "tcp 10.4.3.6:9001 timeout"),
    ('Get "https://10.9.0.1:443/api": dial tcp 10.9.0.1:443: connect: no route to host', "tcp 10.9.0.1:443 unreachable"),
    ("Get https://10.9.0.1/api?timeout=10s: context deadline exceeded.", "tcp 10.9.0.1:443 timeout"),
    ("dial tcp [fd00::1]:443: i/o timeout", "tcp fd00::1:443 timeout"),
    ("lookup web on 10.9.0.10:53: read udp 10.4.1.5:43213->10.9.0.10:53: i/o timeout", "udp 10.9.0.10:53 timeout"),
    ("read tcp 10.4.1.5:43213->10.9.0.10:80: read: connection reset by peer", "tcp 10.9.0.10:80 reset"),
    ("connect to 10.0.0.1 port 22: Connection timed out", "tcp 10.0.0.1:22 timeout"),
    ("dial tcp 10.0.0.1:22: connect: connection refused", "tcp 10.0.0.1:22 refused"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "expected"), MESSAGES)
def test_messages(message: str, expected: str) -> None:
    """The address that was dialled and the way it failed are read."""
    failure = parse_failure(message)
    assert failure is not None
    assert expected == f"{protocol_name(failure.protocol)} {failure.dst}:{failure.dport} {failure.result}"


@pytest.mark.parametrize(
    "message",
    ["all is well at https://10.0.0.1/", "connection refused", "dial tcp web.example:80: i/o timeout", "10.0.0.300:80 timeout"],
)
def test_others(message: str) -> None:
    """A message without a failure, or without an address, is no attempt."""
    assert parse_failure(message) is None


LANGUAGES = [
    ("连接超时", "timeout"), ("拒绝连接", "refused"), ("没有到主机的路由", "unreachable"), ("Connexion refusée", "refused"),
    ("Keine Route zum Zielrechner", "unreachable"), ("接続がタイムアウトしました", "timeout"), ("no such file", None),
]  # fmt: skip


@pytest.mark.parametrize(("message", "result"), LANGUAGES)
def test_other_languages(message: str, result: str | None) -> None:
    """The words of strerror(3) are known in the languages that tickets come in."""
    assert result == parse_result(message)
