"""What curl prints says what came of a request."""

from __future__ import annotations

import pytest

from podpath.evidence.attempts.curl import read_curl, recognise_curl
from podpath.evidence.formats import CERTAIN
from podpath.evidence.records import AttemptRecord
from tests.evidence.attempted import attempted
from tests.evidence.consoles import FOLDER, block, load_console, read

RECORDED = [
    ("curl-refused", "10.77.0.2:81", "refused"),
    ("curl-no-arp-reply", "10.77.0.9:80", "no route to host"),
    ("curl-verbose-timeout", "10.77.0.2:90", "timeout"),
    ("curl-verbose-ok", "10.77.0.2:8080", "ok"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "target", "result"), RECORDED)
def test_recorded(name: str, target: str, result: str) -> None:
    """Real outputs are recognised, and the exit code, the message or the time it took decides."""
    assert [("tcp", target, result, "curl", "host")] == attempted(
        read(load_console(FOLDER / "clients" / f"{name}.txt"))
    )


TEXTS = [
    (
        "curl http://10.4.3.6:9001/health", "curl: (7) Failed connect to 10.4.3.6:9001; 连接超时",
        "10.4.3.6:9001", "timeout",
    ),
    ("curl http://10.4.3.6:9001/health", '{"balance": 1204}', "10.4.3.6:9001", "ok"),
    (
        "curl -m 3 https://10.4.3.6", "curl: (28) Connection timed out after 3001 milliseconds",
        "10.4.3.6:443", "timeout",
    ),
    (
        "curl -v web",
        "* Connected to web (10.4.3.6) port 80 (#0)\n> GET / HTTP/1.1\n> Host: web\n>",
        "10.4.3.6:80", "hangs",
    ),
    ("curl -v web", "*   Trying 10.4.3.6:80...\n^C", "10.4.3.6:80", "interrupted"),
    (
        "curl -v web", "* Connected to web (10.4.3.6) port 80 (#0)\n> GET / HTTP/1.1\n>\n^C",
        "10.4.3.6:80", "interrupted",
    ),
    ("curl -m 9 https://10.4.3.6", ("curl: (28) Operation timed out after 9001 milliseconds with 0 "
                                   "bytes received"), "10.4.3.6:443",
     "hangs"),
    ("curl -v https://10.4.3.6", ("* Connected to 10.4.3.6 (10.4.3.6) port 443\n"
                                 "curl: (28) SSL connection timeout"), "10.4.3.6:443",
     "hangs"),
    ("curl https://10.4.3.6", ("curl: (35) OpenSSL SSL_connect: Connection reset by peer in "
                              "connection to 10.4.3.6:443"),
     "10.4.3.6:443",
     "reset"),
    ("curl https://10.4.3.6", ("curl: (60) SSL certificate problem: unable to get local issuer "
                              "certificate"), "10.4.3.6:443",
     "error answer"),
    (
        "curl http://10.4.3.6", "curl: (7) Failed to connect to 10.4.3.6: Network is unreachable",
        "10.4.3.6:80", "network unreachable",
    ),
    ("curl -v web", ("*   Trying 10.4.3.6:80...\n"
                    "* connect to 10.4.3.6 port 80 failed: No route to host\ncurl: (7) Failed"),
     "10.4.3.6:80", "no route to host"),
    ("curl -v web", ("*   Trying 10.4.3.6:80...\n"
                    "* Immediate connect fail for 10.4.3.6: Network unreachable"),
     "10.4.3.6:80", "network unreachable"),
    ("curl 10.4.3.6", "curl: (56) Recv failure: Connection reset by peer", "10.4.3.6:80", "reset"),
    ("curl -s 10.4.3.6", "command terminated with exit code 28", "10.4.3.6:80", "timeout"),
    ("curl -s 10.4.3.6", "<html>\ncommand terminated with exit code 56", "10.4.3.6:80", "reset"),
    ('curl -s -o /dev/null -w "%{http_code}" 10.4.3.6:8080', "000", "10.4.3.6:8080", "timeout"),
    ('curl -s -o /dev/null -w "%{http_code}" 10.4.3.6:8080', "200", "10.4.3.6:8080", "ok"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "text", "target", "result"), TEXTS)
def test_other_outputs(command: str, text: str, target: str, result: str) -> None:
    """Messages in any language, bodies, status codes, and a request that nothing answered are
    read.
    """
    assert [("tcp", target, result, "curl", "host")] == attempted(read_curl(block(text, command)))


@pytest.mark.parametrize(
    "text",
    ["> GET / HTTP/1.1\n> Host: web.example\n>", "curl: (6) Could not resolve host: web.example"],
)
def test_a_name_alone_is_a_gap(text: str) -> None:
    """Without an address there is no attempt, but a gap that says so."""
    reading = read_curl(block(text, "curl -v web.example"))
    assert not attempted(reading)
    assert 1 == len(reading.gaps)


def test_the_error_alone_is_enough() -> None:
    """Without its command, curl's error is recognised and names the destination."""
    source = block("curl: (28) Failed to connect to 10.4.3.6 port 80: Connection timed out")
    assert CERTAIN == recognise_curl(source)
    assert [("tcp", "10.4.3.6:80", "timeout", "curl", None)] == attempted(read_curl(source))


def test_an_address_that_fails_before_another_connects_is_no_failure() -> None:
    """curl goes on with the next address of the name."""
    lines = "* connect to 10.4.3.6 port 80 failed: No route to host\n"
    lines += "* Connected to web (10.4.3.7) port 80"
    records = read(block(lines, "curl -v web")).records

    assert [] == [one for one in records if isinstance(one, AttemptRecord) and one.result != "ok"]
