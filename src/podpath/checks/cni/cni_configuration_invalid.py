"""cni-configuration-invalid: the CNI configuration cannot be read, or asks for what its plugin does not know.

What it is
    A file of /etc/cni/net.d is no valid JSON, lacks `type`, has a cniVersion that its plugin does not speak, or a
    NetworkAttachmentDefinition that a pod names does not exist.

Why it breaks
    The runtime leaves the file out or refuses the pod: the node stays NotReady, or its new pods stay in
    ContainerCreating.

How to confirm
    for f in /etc/cni/net.d/*; do echo $f; python3 -m json.tool < $f; done; podpath protect chain lint

How to fix
    Correct the file (a comma too many, a missing bracket), or its cniVersion; what an agent writes from a ConfigMap
    is put right there.

References
    CNI specification, section 1; libcni, ConfListFromBytes
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.CNI_CONFIGURATION,)
NAME = "cni-configuration-invalid"
KINDS = (MessageKind.PLUGIN_CONFIGURATION_INVALID,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    error = get_value(said, "error", "name", "file")
    error = f" ({error})" if error else ""
    meaning = Meaning(
        claim=f"The CNI configuration is not usable{error}.",
        breaks="every pod that the configuration is for",
        cure="correct the configuration",
        commands=("python3 -m json.tool < /etc/cni/net.d/FILE",),
    )
    yield tell(NAME, said, meaning)
