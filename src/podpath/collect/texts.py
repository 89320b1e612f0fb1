"""A file that is read as it stands: one that says what to do, and is no evidence."""

from __future__ import annotations

import sys
from pathlib import Path

from podpath.net.errors import UsageError

MOST = 256 << 20
"""Bytes of such a file: a ruleset of a large cluster has tens of millions."""
STDIN = "-"


def read_text(path: str) -> str:
    """Return a file's text; `UsageError` where it cannot be read, or is none. `-` is standard
    input.
    """
    try:
        if path == STDIN:
            data = sys.stdin.buffer.read(MOST + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(MOST + 1)
        if len(data) > MOST:
            raise UsageError(f"{path}: expected at most {MOST >> 20} MB, saw more")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path}: expected text in UTF-8, saw another byte at {error.start}"
        ) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        raise UsageError(f"{path}: {str(reason).lower()}") from error
