"""The mesh's own ConfigMap, asked of the API server: whether the mesh is installed at all, and the
entry that its installer would chain.

A node alone cannot tell a cluster without a mesh from one whose installer has not come to it yet:
in both there is no program and no entry. The ConfigMap that the mesh's chart creates tells. It is
asked for only where the node shows nothing, and not again for half a minute. Where the server does
not answer, nothing is known, and the node stays unready.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from podpath.kube.client import Client, KubeError, Refused
from podpath_protect.chain.editing import ChainedPlugin, EditingError, parse_entry
from podpath_protect.chain.entries import MeshInstallation
from podpath_protect.chain.options import ChainOptions
from podpath_protect.cluster.objects import KubeConfigMap

ASK_SECONDS: Final = 30.0
MISSING: Final = 404
LONGEST: Final = 1 << 18
_BLANK: Final = re.compile(r"__[A-Z][A-Z_]*__")
"""What an installer fills in, as `__KUBECONFIG_FILEPATH__`; chained unfilled, it would stop every
pod.
"""


class MeshConfigMap:
    """Asks for the ConfigMap, and remembers the answer for a while. Mutable, and of one thread."""

    def __init__(self, client: Client, options: ChainOptions, clock: Callable[[], float]) -> None:
        """Keep the way; nothing is asked yet."""
        self._client, self._options, self._clock = client, options, clock
        self._asked = float("-inf")
        self._answer = MeshInstallation("unknown", "it was not asked for yet")

    def look(self) -> MeshInstallation:
        """Return what is known, asked at most half a minute ago."""
        now = self._clock()
        if now - self._asked >= ASK_SECONDS:
            self._asked, self._answer = now, self._ask()
        return self._answer

    def _ask(self) -> MeshInstallation:
        where = self._options.config_map
        namespace, _, name = where.partition("/")
        try:
            found = self._client.read(
                KubeConfigMap, f"/api/v1/namespaces/{namespace}/configmaps/{name}"
            )
        except Refused as refused:
            if refused.code == MISSING:
                return MeshInstallation("absent", f"there is no ConfigMap {where}")
            return MeshInstallation("unknown", f"ConfigMap {where} cannot be read: {refused}")
        except KubeError as error:
            return MeshInstallation("unknown", f"ConfigMap {where} cannot be read: {error}")
        entry = _read_entry(found.data.get(self._options.config_key, "")[:LONGEST])
        return MeshInstallation("installed", f"ConfigMap {where} is there", entry)


def _read_entry(text: str) -> ChainedPlugin | None:
    if not text or _BLANK.search(text):
        return None
    try:
        return parse_entry(text)
    except EditingError:
        return None
