"""Where the API server is and who we are to it: a kubeconfig that is named, the pod's service
account, or a user's kubeconfig.

A service account's token is named by its file, never held: the kubelet writes a new one before the
old one ends, and it is read again when the server says that the old one has. Bare IPv6 addresses
get their brackets here (installers in the field write `https://fd00::1:443`, which is not a URL).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from ipaddress import IPv6Address
from pathlib import Path
from typing import NamedTuple

import msgspec
import yaml
from lightkube import ConfigError, KubeConfig, SingleConfig
from lightkube.config.models import Cluster, User

from podpath.net.errors import PodpathError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class AccessError(PodpathError):
    """There is no way to an API server, or what describes it cannot be read. It never holds what a
    file holds.
    """


class Access(NamedTuple):
    """One way to one API server."""

    config: SingleConfig
    origin: str
    """What described it: a kubeconfig's path and context, or the service account's folder. It is
    safe to print.
    """

    namespace: str = "default"
    """Where names are looked for that have no namespace: the context's, or the pod's own."""

    @property
    def server(self) -> str:
        """Return the server's URL."""
        return str(self.config.cluster.server)

    def __repr__(self) -> str:
        """Name the way without its secrets, which a log or a traceback would otherwise show."""
        return f"Access({self.server!r}, {self.origin!r})"

    def files(self) -> tuple[str, ...]:
        """Name the files that may be written anew while we run, other than the token's, which is
        read when it must be.
        """
        user = self.config.user
        named = (
            self.config.cluster.certificate_auth,
            user.client_cert if user else None,
            user.client_key if user else None,
        )
        return tuple(str(self.config.abs_file(name)) for name in named if name)


def find(
    kubeconfig: Path | None = None,
    *,
    context: str | None = None,
    environment: Mapping[str, str] | None = None,
    account: Path = SERVICE_ACCOUNT,
) -> Access:
    """Return the way that is named, or else the pod's own, or else the user's (`$KUBECONFIG`,
    `~/.kube/config`).
    """
    given = os.environ if environment is None else environment
    if kubeconfig is not None:
        return from_kubeconfig(kubeconfig, context)
    if given.get("KUBERNETES_SERVICE_HOST") and (account / "token").is_file():
        return from_service_account(account, given)
    if given.get("KUBECONFIG"):
        usual = Path(given["KUBECONFIG"])
    else:
        usual = Path(given.get("HOME") or "/root") / ".kube" / "config"
    if not usual.is_file():
        raise AccessError(
            f"no API server is known: neither {account}/token nor {usual} is there; "
            "name a kubeconfig with --kubeconfig"
        )
    return from_kubeconfig(usual, context)


def from_service_account(account: Path, environment: Mapping[str, str]) -> Access:
    """Return the way that the kubelet gives every pod."""
    port = environment.get("KUBERNETES_SERVICE_PORT") or "443"
    server = f"https://{_bracketed(environment['KUBERNETES_SERVICE_HOST'])}:{port}"
    certificate = account / "ca.crt"
    cluster = Cluster(
        server=server, certificate_auth=str(certificate) if certificate.is_file() else None
    )
    config = KubeConfig.from_one(
        cluster=cluster, user=User(token_file=str(account / "token"))
    ).get()
    if config is None:  # cannot be: the one context is the current one
        raise AccessError(f"{account}: no context")
    own = account / "namespace"
    space = own.read_text(encoding="utf-8").strip() if own.is_file() else ""
    return Access(config, f"service account {account}", space or config.namespace)


def from_kubeconfig(path: Path, context: str | None = None) -> Access:
    """Return the way that a kubeconfig's context describes; the current one unless named."""
    try:
        config = KubeConfig.from_file(path).get(context)
    except KeyError as error:
        raise AccessError(
            f"{path}: the context names a cluster or user that is not there: {error}"
        ) from error
    except (
        TypeError,
        AttributeError,
        msgspec.ValidationError,
        UnicodeDecodeError,
        yaml.YAMLError,
    ) as error:
        raise AccessError(f"{path}: this is no kubeconfig ({type(error).__name__})") from error
    except (ConfigError, OSError) as error:
        raise AccessError(f"{path}: {error}") from error
    if config is None:
        raise AccessError(f"{path}: no context is current; name one with --context")
    if config.user is None:
        config = config._replace(user=User())
    return Access(config, f"{path} (context {config.context_name})", config.namespace)


def _bracketed(host: str) -> str:
    try:
        return f"[{IPv6Address(host)}]"
    except ValueError:
        return host
