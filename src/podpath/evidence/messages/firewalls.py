"""Lines about a firewall that stand alone: base chains without their table, options of Docker's
files.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

ROWS: tuple[MessagePattern, ...] = (
    make_row(
        MessageKind.BASE_CHAIN,
        "type filter hook ",
        (
            r"type filter hook (?P<hook>\w+) priority (?P<priority>[^;]+); policy "
            r"(?P<policy>accept|drop)"
        ),
    ),
    make_row(
        MessageKind.DOCKER_MASQUERADES,
        "--ip-masq=true",
        r"(?P<option>DOCKER_(?:OPT_IPMASQ|NETWORK_OPTIONS|OPTS)|dockerd?)\b.*--ip-masq=true",
    ),
)
