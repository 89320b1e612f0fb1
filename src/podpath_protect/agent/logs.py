"""Logs as JSON, a line for each: time, level, part, message, and the fields that the part gave.
Secrets are struck out.

No part logs a token, and this is the second safeguard: anything that looks like one is struck out
of every line, whichever part wrote it.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import IO, Literal

from podpath_protect.plain import plain

ROOT = "podpath"
LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
STRUCK = "[struck out]"
_SECRETS = (
    (
        re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
            re.DOTALL,
        ),
        STRUCK,
    ),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"), STRUCK),
    (re.compile(r"(?i)\b(bearer|basic) +[\w.~+/=-]{8,}"), rf"\1 {STRUCK}"),
    (
        re.compile(
            r"(?i)(?<![\w-])([\w-]*(?:token|password|passwd|secret|key-data|psk)"
            r"[\"']?\s*[:=]\s*)[\"']?[^\s\"',}]+"
        ),
        rf"\1{STRUCK}",
    ),
)


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        stamp = (
            datetime.fromtimestamp(record.created, UTC)
            .isoformat(timespec="milliseconds")
            .replace("+00:00", "Z")
        )
        line: dict[str, object] = {
            "time": stamp,
            "level": record.levelname.lower(),
            "part": record.name.rpartition(".")[2],
            "message": plain(strike_out(record.getMessage())),
        }
        line |= _clean(getattr(record, "fields", None))
        if record.exc_info:
            line["exception"] = strike_out(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=True, default=str)


class TextFormatter(logging.Formatter):
    """Writes a record for a person; control characters never reach the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        stamp = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        fields = " ".join(
            f"{name}={json.dumps(value, default=str)}"
            for name, value in _clean(getattr(record, "fields", None)).items()
        )
        text = (
            f"{stamp} {record.levelname.lower()} {record.name.rpartition('.')[2]}: "
            f"{strike_out(record.getMessage())} {fields}"
        )
        text += strike_out(self.formatException(record.exc_info)) if record.exc_info else ""
        return plain(text.rstrip())


def configure_logs(stream: IO[str], level: str, form: Literal["json", "text"]) -> None:
    """Let podpath's loggers write to a stream; called again, it changes level and form."""
    logger = logging.getLogger(ROOT)
    for handler in tuple(logger.handlers):
        logger.removeHandler(handler)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logger.addHandler(handler)
    logger.setLevel(LEVELS[level])
    logger.propagate = False


def strike_out(text: str) -> str:
    """Strike out what looks like a secret: web tokens, bearer tokens, private keys, values of names
    that speak of a secret.
    """
    for pattern, put in _SECRETS:
        text = pattern.sub(put, text)
    return text


def _clean(fields: object) -> dict[str, object]:
    if not isinstance(fields, Mapping):
        return {}
    return {str(name): _clean_value(value) for name, value in fields.items()}


def _clean_value(value: object) -> object:
    if isinstance(value, str):
        return plain(strike_out(value))
    if isinstance(value, (list, tuple)):
        return [_clean_value(each) for each in value]
    return value
