"""The options by which `podpath why` reads a live cluster, and the reading: objects of the API, and
snapshots of the nodes that the ends are on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

import click

from podpath.cli.output import note_unwritten
from podpath.library.given import Packed, Pasted
from podpath.library.progress import Progress
from podpath.net.errors import MissingExtra, PodpathError, UsageError

if TYPE_CHECKING:
    from podpath.sources.gathering import ClusterEvidence, GatheringOptions

F = TypeVar("F", bound=Callable[..., Any])
EVERY_NODE = "*"
"""Stands for an end on every node (`sources.location`)."""
_EXTRA = "reading a cluster needs more packages: pip install 'podpath[k8s]'"


class NothingTaken(PodpathError):
    """Of no node that is asked about there is a snapshot. The message says what would give one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOptions:
    """What the options say."""

    live: bool
    kubeconfig: str | None
    context: str | None
    namespaces: tuple[str, ...]
    agent_namespace: str
    account: str
    collect: bool
    image: str | None
    save: str | None

    @property
    def asked_for(self) -> bool:
        """Tell whether anything was given that makes no sense without a cluster."""
        named = (self.kubeconfig, self.context, self.image, self.save)
        return self.live or self.collect or any(named)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEvidence:
    """What a cluster gave, as evidence."""

    nodes: Mapping[str, Packed]
    objects: tuple[Pasted, ...]
    lacking: tuple[str, ...]
    """A sentence for each thing that is missing."""
    absent: tuple[str, ...]
    """The nodes that the ends are on and that gave nothing."""
    near: tuple[str, ...] = ()
    """The Kubernetes namespaces in which names are looked for first that have none."""


_OPTIONS = (
    click.option(
        "--live",
        is_flag=True,
        help="Read the cluster even if --node or --objects is given, for what they leave out.",
    ),
    click.option(
        "--kubeconfig", metavar="FILE", help="The kubeconfig of the cluster. [$KUBECONFIG]"
    ),
    click.option("--context", metavar="NAME", help="The kubeconfig's context. [the current one]"),
    click.option(
        "-n",
        "--namespace",
        "namespaces",
        multiple=True,
        metavar="NAME",
        help="The namespace of names that have none, and the only one whose objects are read "
        "beside those that the ends name; may be repeated. [the context's; those of all are read]",
    ),
    click.option(
        "--agent-namespace",
        default="podpath",
        show_default=True,
        metavar="NAME",
        help="The namespace that podpath's agents are in.",
    ),
    click.option(
        "--account",
        default="podpath/podpath-reader",
        show_default=True,
        metavar="NS/NAME",
        help="The service account that identifies you to the agents.",
    ),
    click.option(
        "--collect",
        is_flag=True,
        help="If no agent serves a node, run a privileged pod on it for one snapshot.",
    ),
    click.option(
        "--image", metavar="IMAGE", help="The image of that pod; it must contain podpath."
    ),
    click.option(
        "--save",
        metavar="FOLDER",
        help="Keep what was read in a new folder, to query it again with --node and --objects.",
    ),
)


def live_options(command: F) -> F:
    """Add the options of a live cluster; the command takes them as `LiveOptions` has them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def cluster_options(command: F) -> F:
    """Add the same where `--live` means something else, and `--cluster` asks for the cluster."""
    flag = click.option(
        "--cluster", "from_cluster", is_flag=True, help="Read the cluster that kubectl speaks to."
    )
    for option in (*reversed(_OPTIONS[1:]), flag):
        command = option(command)
    return command


def read_cluster(
    options: LiveOptions,
    ends: tuple[str, ...],
    known: Collection[str],
    progress: Progress,
    meanwhile: Callable[[], object] | None = None,
    *,
    every_pod: bool = False,
) -> LiveEvidence:
    """Read the cluster; `NothingTaken` where no node has a snapshot, and none is given by hand.
    `meanwhile` is done while the nodes are waited for. `every_pod` takes snapshots where any pod of
    a workload is, not only the one to ask about.
    """
    if options.collect and not options.image:
        raise UsageError("--collect: expected --image IMAGE too, with podpath in it")
    save = None if options.save is None else Path(options.save)
    if save is not None and save.exists():
        raise UsageError(f"{save} exists already; name another folder or remove it")
    try:
        from podpath.kube import access  # needs an extra
        from podpath.kube.client import Client  # as above
        from podpath.sources.gathering import gather_cluster  # as above
    except ImportError as error:
        raise MissingExtra(_EXTRA) from error
    found = access.find(
        None if options.kubeconfig is None else Path(options.kubeconfig), context=options.context
    )
    near = options.namespaces or (found.namespace,)
    made = _make_options(options, known, near, every_pod=every_pod)
    if meanwhile is not None:  # nobody waits for it where reading the cluster fails
        Thread(target=meanwhile, daemon=True).start()
    with Client(found) as client:
        evidence = gather_cluster(client, ends, made, progress)
    if save is not None:
        try:
            _save(save, evidence)
        except OSError as error:  # what was read from a cluster is not read in vain
            note_unwritten(f"{error.filename or save}: {str(error.strerror).lower()}")
    if not (evidence.bundles or known or evidence.unplaced):
        raise NothingTaken("\n".join(evidence.lacking) or _say_nowhere(ends))
    return LiveEvidence(
        nodes={name: Packed(data, f"{name}.tar.gz") for name, data in evidence.bundles.items()},
        objects=tuple(Pasted(each.text, each.name) for each in evidence.objects.documents()),
        lacking=evidence.lacking,
        absent=evidence.absent,
        near=near,
    )


def _make_options(
    options: LiveOptions, known: Collection[str], near: tuple[str, ...], *, every_pod: bool
) -> GatheringOptions:
    from podpath.kube.grants import ServiceAccountName  # needs an extra
    from podpath.sources.agents import AgentAccess  # as above
    from podpath.sources.collector import CollectorOptions  # as above
    from podpath.sources.gathering import GatheringOptions as Gathering  # as above

    namespace, sign, name = options.account.partition("/")
    if not (namespace and sign and name):
        raise UsageError(f"--account: expected NAMESPACE/NAME, saw {options.account!r}")
    collector = None
    if options.collect and options.image:
        collector = CollectorOptions(image=options.image)
    return Gathering(
        namespaces=options.namespaces,
        near=near,
        agents=options.agent_namespace,
        asker=AgentAccess(account=ServiceAccountName(namespace, name)),
        collector=collector,
        known=known,
        every_pod=every_pod,
    )


def _save(folder: Path, evidence: ClusterEvidence) -> None:
    """Write what was read, where nobody else reads it."""
    (folder / "api").mkdir(parents=True, mode=0o700)
    folder.chmod(0o700)
    for document in evidence.objects.documents():
        (folder / document.name).write_text(document.text, encoding="utf-8")
    for name, data in evidence.bundles.items():
        (folder / f"{name}.tar.gz").write_bytes(data)


def _say_nowhere(ends: tuple[str, ...]) -> str:
    return (
        f"expected {' or '.join(ends)} on a node of this cluster, saw neither: `kubectl get "
        "pods,svc -A -o wide` lists them"
    )
