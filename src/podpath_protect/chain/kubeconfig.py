"""A kubeconfig for the plugin, made of the service account that the kubelet mounts, and rewritten
whenever the token is.

It holds a bearer token: it is written with mode 0600, replaced whole, and its content stands in no
message and no log.
"""

from __future__ import annotations

import base64
import ipaddress
import json
from collections.abc import Mapping
from pathlib import Path

from podpath.net.errors import PodpathError
from podpath_protect.apply import Applier, Effect
from podpath_protect.chain.options import KubeconfigOptions

NAME = "podpath"


class KubeconfigError(PodpathError):
    """The kubeconfig cannot be made. The message says what is missing, and never what is in it."""


def make_server(environment: Mapping[str, str]) -> str:
    """Return the API server's URL from the service's variables; an IPv6 address gets its
    brackets.
    """
    host, port = (
        environment.get("KUBERNETES_SERVICE_HOST", ""),
        environment.get("KUBERNETES_SERVICE_PORT", "443"),
    )
    if not host:
        raise KubeconfigError(
            "expected KUBERNETES_SERVICE_HOST in the environment, or the option server"
        )
    try:
        bare = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return f"https://{host}:{port}"
    if bare.version == 6:
        return f"https://[{bare}]:{port}"
    return f"https://{bare}:{port}"


def write_kubeconfig(
    applier: Applier, options: KubeconfigOptions, environment: Mapping[str, str]
) -> Effect:
    """Write the kubeconfig where token, authority or address changed."""
    account = Path(options.account_dir)
    try:
        token = (account / "token").read_text(encoding="ascii").strip()
        authority = (account / "ca.crt").read_bytes()
    except OSError as error:
        raise KubeconfigError(
            f"expected a service account in {account}: {error.filename}: {error.strerror}"
        ) from error
    except UnicodeDecodeError as error:
        raise KubeconfigError(f"expected a token of ASCII in {account}/token") from error
    if not token:
        raise KubeconfigError(f"expected a token in {account}/token, saw an empty file")
    server = options.server or make_server(environment)
    return applier.write_file(
        Path(options.path), emit_kubeconfig(server, authority, token).encode(), mode=0o600
    )


def emit_kubeconfig(server: str, authority: bytes, token: str) -> str:
    """Write the kubeconfig as JSON, which every reader of YAML reads."""
    value = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": NAME,
                "cluster": {
                    "server": server,
                    "certificate-authority-data": base64.b64encode(authority).decode(),
                },
            }
        ],
        "users": [{"name": NAME, "user": {"token": token}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "current-context": NAME,
    }
    return json.dumps(value, indent=2) + "\n"
