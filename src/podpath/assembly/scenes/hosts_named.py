"""Which host an output is of, by its prompt or by the words above it: `On worker-2:`, `node1:`."""

from __future__ import annotations

import re

from podpath.assembly.scenes.scene import ReadSource, host_of_prompt

_PLACE = (
    r"(?:nodes?|hosts?|machines?|servers?|workers?|masters?|vms?|box|minion|controller|gateway)"
)
_LABEL = re.compile(
    rf"\W*(?:(?:on|from|at|in|of)\s+)?(?:the\s+)?(?:{_PLACE}[\s#]+)?[`*]*"
    rf"(?P<host>(?=\w*[A-Za-z])\w[\w.-]*[\d-][\w.-]*|(?:\d{{1,3}}\.){{3}}\d{{1,3}}|{_PLACE}[\d_-]?\w*|\d{{1,3}}|[A-Z])[`*]*"
    r"(?:\s+(?:shows?|says?|has|prints))?\s*[:.]?\W*",
    re.IGNORECASE,
)
_COMMON = re.compile(rf"{_PLACE}", re.IGNORECASE)
LONGEST = 60
"""Characters of a label that is nothing but a host's name."""


def name_host(scene: ReadSource) -> str | None:
    """Return the host that an output's prompt names, else the words above it, where they are
    nothing but a name.
    """
    prompt = host_of_prompt(scene)
    if prompt is not None:
        return prompt
    label = (scene.source.label or "").strip()
    found = _LABEL.fullmatch(label) if len(label) <= LONGEST else None
    if found is None or _COMMON.fullmatch(found["host"]):
        return None
    return found["host"].rstrip(".").lower()
