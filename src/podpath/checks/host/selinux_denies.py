"""selinux-denies: SELinux denies a program its connection or port.

What it is
    An AVC line of the audit log: denied name_connect, name_bind or the like on a socket.

Why it breaks
    The program's type may not connect to or listen on that port: connect fails with EACCES (502 of a proxy), whatever
    the firewall says.

How to confirm
    ausearch -m avc -ts recent; getsebool -a | grep connect; semanage port -l

How to fix
    setsebool -P httpd_can_network_connect 1; semanage port -a -t TYPE -p tcp PORT

References
    audit2allow(1); httpd_selinux(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.OTHER,
    Category.APPLICATION,
)
NAME = "selinux-denies"
KINDS = (MessageKind.ACCESS_DENIED,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    program = get_value(said, "program", default="a program")
    port = get_value(said, "port")
    port = f" ({port})" if port else ""
    meaning = Meaning(
        claim=f"SELinux denies {program} its connection or port{port}.",
        breaks="that program's connections",
        cure="allow it by a boolean or by the port's type",
        commands=("ausearch -m avc -ts recent",),
    )
    yield tell(NAME, said, meaning)
