"""What became of who said something: a program that gives up or ends with an error, a unit that
failed, and the calls that a trace shows to fail.

Such a line names no fault. Beside a line that does, it says that this was the last word.
"""

from __future__ import annotations

import re

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_ASKED = (
    r"(?!.*(?:SIGTERM|SIGINT|signal 15|signal 2\b|[Rr]eceived signal|gracefully|normally|"
    r"on request))"
)
"""What a program says that ends because somebody wants it to."""
_LAST_WORDS = (  # not `exit status 1`: so a program says of another one, which it may start again
    ("iving up", r"[Gg]iving up(?! the)"),
    ("ave up", r"\b[Gg]ave up\b"),
    ("xiting", r"\b[Ee]xiting\b"),
    ("bort", r"\b[Aa]borting\b"),
    ("erminating", r"\b[Tt]erminating\b"),
    ("annot continue", r"\b[Cc]annot continue\b"),
    ("ailing out", r"\b[Bb]ailing out\b"),
    ("uitting", r"\b[Qq]uitting\b"),
    ("usable", r"\b(?:unusable|not usable|is no longer usable)\b"),
    (
        "gnoring ",
        r"\b[Ii]gnoring (?:the )?(?:whole |entire )?(?:file|configuration|ruleset|table)\b",
    ),
)
_UNIT = (
    r"\b(?P<unit>[\w@.-]+)\.service: (?:Failed with result|Main process exited, code=(?:exited|"
    r"dumped), status=(?!0\b|143\b)|Control process exited, code=exited,? status=(?!0\b)|"
    r"Unit entered failed state|Start request repeated too quickly)"
)
ROWS: tuple[MessagePattern, ...] = (
    *(
        make_row(MessageKind.PROGRAM_ENDED, sign, rf"^{_ASKED}.*?(?P<end>{words})")
        for sign, words in _LAST_WORDS
    ),
    make_row(MessageKind.PROGRAM_ENDED, ".service: ", _UNIT),
    # klog.Fatal ends the process (k8s.io/klog v2, exitFunc)
    make_row(
        MessageKind.PROGRAM_ENDED, ".go:", r"(?:^|\s)F\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w-]+\.go:"
    ),
    make_row(
        MessageKind.PROGRAM_ENDED, ".service failed", r"Job for (?P<unit>[\w@.-]+)\.service failed"
    ),
    make_row(
        MessageKind.CONTAINER_CRASHES,
        "CrashLoopBackOff",
        r"(?:^|\s)(?P<pod>[a-z0-9][\w.-]*)\s+\d+/\d+\s+(?:Init:)?CrashLoopBackOff\b",
    ),
    make_row(MessageKind.CONTAINER_CRASHES, "ack-off restarting failed container"),
    make_row(MessageKind.PROGRAM_STARTED, "Started ", r"systemd\[\d+\]: Started (?P<name>.+)"),
    make_row(MessageKind.PROGRAM_STARTED, "active (", r"Active: active \((?:running|exited)\)"),
    make_row(
        MessageKind.CALL_FAILED,
        " = -1 E",
        r"\b(?P<call>[a-z_0-9]+)\((?P<arguments>.*)\)\s+= -1 (?P<errno>(?!EINPROGRESS|EAGAIN|EINTR|"
        r"ENOENT|ENOTTY)E[A-Z0-9]+) \((?P<error>[^)]+)\)",
    ),
)
ASIDE = frozenset({row.kind for row in ROWS})
"""Kinds that do not say what their line is about: whatever else it says counts beside them."""
_SPEAKER = re.compile(r"(?:^|[\s|>])(?P<speaker>[A-Za-z][\w.@/()-]*\[\d+\]): ")
_LOOKED_AT = 200


def find_speaker(line: str) -> str:
    """Return who printed a line of a log, by its name and number; empty where it does not say."""
    found = _SPEAKER.search(line[:_LOOKED_AT])
    return found["speaker"] if found is not None else ""
