"""Record the incidents of examples/incidents anew: `python -m examples.record [NAME...]`, as root.

Each is built in network namespaces of its own, broken, recorded (ticket, bundle), mended, recorded
again (good twin) and taken down. Times, ports and sequence numbers differ from one recording to the
next; names and addresses do not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from examples.record import (
    br_netfilter_off,
    host_disconnect,
    kube_proxy_before_cilium,
    rp_filter_reset,
)

INCIDENTS: dict[str, Callable[[Path], None]] = {
    "br-netfilter-off": br_netfilter_off.record,
    "host-disconnect": host_disconnect.record,
    "kube-proxy-before-cilium": kube_proxy_before_cilium.record,
    "rp-filter-reset": rp_filter_reset.record,
}


def main(names: list[str]) -> int:
    """Record the named incidents, or all."""
    unknown = sorted(set(names) - set(INCIDENTS))
    if unknown:
        print(
            f"no such incident: {', '.join(unknown)}; there are {', '.join(INCIDENTS)}",
            file=sys.stderr,
        )
        return 2
    if os.geteuid() != 0:
        print("recording makes network namespaces: run it as root", file=sys.stderr)
        return 2
    folder = Path(__file__).resolve().parents[1] / "incidents"
    for name in names or INCIDENTS:
        print(f"recording {name}")
        INCIDENTS[name](folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
