"""A command run in a container through the API server (`pods/exec`), its output as it comes.

The stream goes by way of the kubelet, which every API server reaches, so it needs no port of the
node's; nothing of what is printed stands in a log of the node.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec
from httpx2.websockets import WebSocketDisconnect

from podpath.kube.client import Client, Unreachable
from podpath.kube.objects import KubeStatus

PROTOCOL: Final = "v4.channel.k8s.io"
"""Messages whose first byte is the channel; known to kubelets since 1.4, and to every later one."""
_OUT, _COMPLAINT, _STATUS = 1, 2, 3
_LONGEST_COMPLAINT = 4000
_MOST_HELD = 16 << 20
_LOOK_SECONDS = 0.5
"""How soon a command that prints nothing is left, where somebody wants to stop."""


class ContainerName(NamedTuple):
    """A container of a pod."""

    namespace: str
    pod: str
    container: str

    @property
    def path(self) -> str:
        """Return where commands are run in it."""
        return f"/api/v1/namespaces/{self.namespace}/pods/{self.pod}/exec"


class CommandOutput(NamedTuple):
    """What a command printed, and how it ended."""

    content: bytes
    complaint: bytes
    """The end of what it wrote to standard error."""
    failure: str
    """Why it failed; empty where it did not."""


class _Channels:
    """What has come so far."""

    def __init__(self, most: int, told: Callable[[int], None]) -> None:
        self._most, self._told = most, told
        self.content, self.complaint = bytearray(), bytearray()
        self.end: bytes | None = None

    def take(self, message: bytes) -> None:
        """Take one message."""
        piece = message[1:]
        channel = message[0] if piece else None
        if channel == _OUT:
            self.content += piece
            self._told(len(self.content))
        elif channel == _COMPLAINT:
            self.complaint += piece
            del self.complaint[:-_LONGEST_COMPLAINT]
        elif channel == _STATUS:
            self.end = piece
        if len(self.content) > self._most:
            raise Unreachable(f"the command printed more than {self._most >> 20} MB")


def run_command(
    client: Client,
    name: ContainerName,
    command: Sequence[str],
    *,
    most: int,
    seconds: float,
    told: Callable[[int], None] = lambda size: None,  # noqa: ARG005  # nobody listens
) -> CommandOutput:
    """Run a command to its end; `Unreachable` where that does not come within the seconds, or more
    than `most` bytes come. `told` hears how many have come.
    """
    until = time.monotonic() + seconds
    query = [("container", name.container), ("stdout", "true"), ("stderr", "true")]
    query += [("command", word) for word in command]
    channels = _Channels(most, told)
    with client.converse(name.path, query=query, protocol=PROTOCOL, seconds=seconds) as session:
        while channels.end is None:
            left = until - time.monotonic()
            if left <= 0:
                raise Unreachable(f"{' '.join(command)}: no end within {seconds:.0f} s")
            try:
                channels.take(session.receive_bytes(timeout=left))
            except WebSocketDisconnect:
                break
    return CommandOutput(
        bytes(channels.content), bytes(channels.complaint), _read_end(channels.end)
    )


def follow_command(
    client: Client,
    name: ContainerName,
    command: Sequence[str],
    heard: Callable[[bytes], None],
    *,
    stopping: Callable[[], bool],
    seconds: float,
) -> str:
    """Run a command and hand on what it prints as it comes, until it ends, the seconds are over or
    somebody wants to stop; return why it failed, empty where it did not.
    """
    until = time.monotonic() + seconds
    query = [("container", name.container), ("stdout", "true"), ("stderr", "true")]
    query += [("command", word) for word in command]
    channels = _Channels(_MOST_HELD, lambda size: None)  # noqa: ARG005  # nobody counts
    with client.converse(name.path, query=query, protocol=PROTOCOL, seconds=seconds) as session:
        while channels.end is None and not stopping():
            left = until - time.monotonic()
            if left <= 0:
                return ""
            try:
                channels.take(session.receive_bytes(timeout=min(left, _LOOK_SECONDS)))
            except TimeoutError:
                continue
            except WebSocketDisconnect:
                break
            if channels.content:
                heard(bytes(channels.content))
                channels.content.clear()
    if stopping():
        return ""
    failure = _read_end(channels.end)
    said = channels.complaint.decode("utf-8", "replace").strip()
    return f"{failure}; {said}" if failure else ""


def _read_end(end: bytes | None) -> str:
    """Return why a command failed, by the status that comes last."""
    if end is None:
        return "the connection ended before the command did"
    try:
        status = msgspec.json.decode(end, type=_End)
    except msgspec.DecodeError:
        return end.decode("utf-8", "replace")
    if status.status == "Success":
        return ""
    return status.message or status.reason or "it failed"


class _End(KubeStatus, frozen=True, gc=False):
    status: str = ""
