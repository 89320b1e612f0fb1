"""Who may have a snapshot, or watch drops: whoever holds a token that was made for this node's
agent, and whom the API server lets `get` `nodes/snapshot`, or `nodes/drops`, of this node. For
metrics the right is `nodes/metrics`, and the token the one that a scraper has.

Nothing else of a request is believed. A token that cannot be one is refused without asking, and no
more than a few are asked about in a second, so that the agent cannot be used to ask the API server
on a stranger's behalf.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from podpath.kube.client import Client, KubeError, Refused
from podpath.kube.grants import ResourceRight, is_allowed, review_token
from podpath.kube.snapshots import audience_of, right_to

_TOKEN = re.compile(r"[\w-]{1,1024}\.[\w-]{1,6144}\.[\w-]{1,2048}")
"""A signed token (RFC 7519) as service accounts have it, of at most 9 KB."""
FORBIDDEN = 403
_HINT = "; the ClusterRole podpath-agent-{0} grants it to the agent (deploy/{0} has it)"
MOST_REVIEWS = 5
"""Tokens a second that the API server is asked about."""
REMEMBERED_SECONDS = 10.0
"""How long an answer is believed: several requests of one asker are one question."""
_MOST_REMEMBERED = 64

Entry = Literal["allowed", "unknown", "forbidden", "held", "unreachable"]
ENTRIES: Final[tuple[Entry, ...]] = ("allowed", "unknown", "forbidden", "held", "unreachable")


class Admission(NamedTuple):
    """What became of a request at the gate."""

    entry: Entry
    """`unknown`: no token, or nobody's, or one for another; `held`: too many were asked about."""
    user: str = ""
    """Whose token it is, where that is known."""
    why: str = ""


class Gate:
    """Decides for each token. Threads may share it."""

    def __init__(
        self,
        client: Client,
        node: str,
        clock: Callable[[], float] = time.monotonic,
        right: Callable[[str], ResourceRight] = right_to,
        audience: str | None = None,
        part: str = "snapshot",
    ) -> None:
        """Keep which node it is about, and which right on it is asked for. `audience` is whom
        tokens are made for: None is this node's agent, empty the API server itself. `part` names
        who grants the agent what it asks with.
        """
        self._client, self._clock = client, clock
        self._audience = audience_of(node) if audience is None else audience
        self._right, self._hint = right(node), _HINT.format(part)
        self._lock = threading.Lock()
        self._asked: list[float] = []
        self._remembered: dict[bytes, tuple[float, Admission]] = {}
        self._trusted: dict[bytes, None] = {}
        """Those that were let in when they were last asked about: strangers who use the questions
        up do not keep them out.
        """

    def admit(self, token: str) -> Admission:
        """Decide."""
        if _TOKEN.fullmatch(token) is None:
            return Admission("unknown", why="a token for this agent is expected")
        digest = hashlib.sha256(token.encode("ascii")).digest()
        with self._lock:
            now = self._clock()
            known = self._remembered.get(digest)
            if known is not None and now - known[0] < REMEMBERED_SECONDS:
                return known[1]
            self._asked = [each for each in self._asked if now - each < 1.0]
            if len(self._asked) >= MOST_REVIEWS and digest not in self._trusted:
                return Admission("held", why="too many tokens in a second")
            self._asked.append(now)
        admission = self._review(token)
        if admission.entry != "unreachable":
            self._remember(digest, now, admission)
        return admission

    def _review(self, token: str) -> Admission:
        try:
            identity = review_token(self._client, token, self._audience)
            if identity is None:
                return Admission("unknown", why="nobody's token, or not for this node's agent")
            right = self._right
            if is_allowed(self._client, identity, right):
                return Admission("allowed", identity.username)
        except Refused as refused:
            lacks = refused.code == FORBIDDEN
            return Admission("unreachable", why=f"{refused}{self._hint if lacks else ''}")
        except KubeError as error:
            return Admission("unreachable", why=str(error))
        lacking = f"{right.verb} {right.resource}/{right.subresource} of {right.group}"
        return Admission(
            "forbidden", identity.username, f"{identity.username} may not {lacking} ({right.name})"
        )

    def _remember(self, digest: bytes, now: float, admission: Admission) -> None:
        with self._lock:
            self._remembered[digest] = (now, admission)
            self._trusted.pop(digest, None)
            if admission.entry == "allowed":
                self._trusted[digest] = None
            while len(self._trusted) > _MOST_REMEMBERED:
                del self._trusted[next(iter(self._trusted))]
            while len(self._remembered) > _MOST_REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
