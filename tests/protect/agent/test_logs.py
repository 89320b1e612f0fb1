"""Logs are lines of JSON, and no secret stands in them, whoever logs it."""

from __future__ import annotations

import io
import json
import logging
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath_protect.agent.logs import STRUCK, configure_logs, strike_out

TOKEN = "eyJhbGciOiJSUzI1NiIsImtpZCI6IiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl"


def write(message: str, form: str = "json", **fields: object) -> str:
    """Log a message and give the line."""
    stream = io.StringIO()
    configure_logs(stream, "info", "json" if form == "json" else "text")
    logging.getLogger("podpath.protect.test").info(message, extra={"fields": fields})
    logging.getLogger("podpath").handlers.clear()
    return stream.getvalue()


def test_a_line_is_json() -> None:
    """Time in UTC, level, part, message and the part's fields."""
    line = json.loads(write("it holds", key="net.ipv4.ip_forward", count=3))

    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "part": "test",
        "message": "it holds",
        "key": "net.ipv4.ip_forward",
        "count": 3,
    }


@given(st.text(max_size=80))
def test_whatever_is_logged_is_one_line(text: str) -> None:
    """Names from the system cannot break a line, in either form."""
    for form in ("json", "text"):
        line = write(text, form, name=text)
        assert line.endswith("\n")
        assert line.count("\n") == 1
        assert line[:-1].isprintable()


@pytest.mark.parametrize(
    "text",
    [
        f"the server said: {TOKEN}",
        f"Authorization: Bearer {TOKEN}",
        "Authorization: Basic dXNlcjpwYXNzd29yZA==",
        'kubeconfig {"token": "abcdef0123456789"}',
        "token: abcdef0123456789",
        "psk=abcdef0123456789",
        "client-key-data: abcdef0123456789",
        "wpa-psk=abcdef0123456789",
        "my-api-token = abcdef0123456789",
        "-----BEGIN RSA PRIVATE KEY-----\nabcdef0123456789\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_secrets_are_struck_out(text: str) -> None:
    """In the message and in fields, also in lists."""
    line = write(text, text=text, texts=[text])

    assert STRUCK in line
    assert not any(
        secret in line for secret in ("abcdef0123456789", "c2lnbmF0dXJl", "dXNlcjpwYXNzd29yZA")
    )


@pytest.mark.parametrize("word", ["a-", "token", "a-token ", "-----BEGIN ", "bearer ", "eyJ", "="])
def test_no_words_take_long_to_strike_out(word: str) -> None:
    """Termination messages and rules are anybody's: 64 KB of what half looks like a secret take a
    moment (a name of hyphens alone took 13 s of the processor in 16 KB).
    """
    began = time.process_time()
    strike_out(word * (65_536 // len(word)))

    assert time.process_time() - began < 1.0


def test_what_is_no_secret_is_left_alone() -> None:
    """Findings speak of tokens without showing one."""
    text = "the service account's token was written anew; sysctl -w 'net.ipv4.ip_forward=1'"

    assert strike_out(text) == text


def test_an_exception_is_part_of_the_line() -> None:
    """A bug's traceback is logged, without secrets."""
    stream = io.StringIO()
    configure_logs(stream, "info", "json")
    try:
        int(f"bad {TOKEN}")
    except ValueError:
        logging.getLogger("podpath.x").exception("a bug")
    logging.getLogger("podpath").handlers.clear()

    assert (
        "ValueError: invalid literal for int() with base 10: 'bad [struck out]'"
        in json.loads(stream.getvalue())["exception"]
    )
