"""A certificate, an address that an API server passes requests on to, and a served endpoint."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path


def make_certificate(folder: Path, name: str = "tls") -> tuple[str, str]:
    """Make a certificate and its key, as the agent's init container does."""
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    command = (
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
        *("-nodes", "-days", "3650", "-subj", f"/CN={name}"),
        *("-keyout", str(key), "-out", str(certificate)),
    )
    subprocess.run(command, check=True, capture_output=True)
    return str(certificate), str(key)


def own_address() -> str:
    """Return an address of this machine beside loopback, to which no API server passes anything on;
    where there is none it gets one, on its loopback device.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            found = str(probe.getsockname()[0])
        except OSError:
            found = "127.0.0.1"
    if not found.startswith("127."):
        return found
    added = "192.0.2.199"
    subprocess.run(("ip", "addr", "replace", f"{added}/32", "dev", "lo"), check=True)
    return added
