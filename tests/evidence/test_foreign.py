"""Files of other tools' bundles become sources: with a command, a namespace and a host, and never
silently none.
"""

from __future__ import annotations

import pytest

from podpath.evidence.foreign import BundleFile, NamedFile, find_bundles, read_bundled
from podpath.evidence.gathered import Evidence, make_gap
from podpath.net.errors import EvidenceError
from podpath.net.provenance import GapKind, Source

FILES = {
    "b/sos_commands/host/hostname": b"n1\n",
    "b/sos_commands/networking/ip_-d_address": b"1: lo: <LOOPBACK> mtu 65536\n",
    "b/sos_commands/networking/namespaces/cni-1/ip_netns_exec_cni-1_iptables-save": b"",
    "b/sos_commands/networking/namespaces/cni-1/unheard-of": b"x\n",
    "b/sos_commands/systemd/systemctl_list-units": b"x\n",
    "b/var/log/messages": b"x\n",
    "b/unheard-of": b"x\n",
    "elsewhere.txt": b"x\n",
}
BUNDLES = find_bundles([NamedFile(name, data) for name, data in FILES.items()])


def sniffed() -> Evidence:
    """Read a file by its content, as one that is half understood."""
    return Evidence((Source(name="sniffed", lines=("x",)),), (make_gap("sniffed", "why"),))


def refused() -> Evidence:
    """Refuse a file, as one that is no text."""
    raise EvidenceError("no text")


def read(name: str) -> Evidence | None:
    """Read one of the files."""
    return read_bundled(BUNDLES, BundleFile(name, f"/x/{name}", FILES[name]), sniffed)


def test_an_output_has_its_command_and_its_host() -> None:
    """A row names the command; the bundle names the node."""
    found = read("b/sos_commands/networking/ip_-d_address")
    assert found is not None
    (source,) = found.sources
    assert ("ip -d address", None, "n1") == (source.command, source.netns, source.host)
    assert "/x/b/sos_commands/networking/ip_-d_address" == source.name


def test_an_empty_file_tells_where_errors_would_stand_in_it() -> None:
    """A sosreport keeps no file of what did not run; the EKS log collector does, and drops
    errors.
    """
    found = read("b/sos_commands/networking/namespaces/cni-1/ip_netns_exec_cni-1_iptables-save")
    assert found is not None
    assert [("iptables-save", "cni-1", ())] == [
        (source.command, source.netns, source.lines) for source in found.sources
    ]
    eks = find_bundles(
        [NamedFile("networking/iptables-save.txt", b""), NamedFile("networking/iprule.txt", b"")]
    )
    assert read_bundled(
        eks, BundleFile("networking/iptables-save.txt", "s", b""), sniffed
    ) == Evidence((), ())


@pytest.mark.parametrize(
    ("name", "netns"),
    [("b/unheard-of", None), ("b/sos_commands/networking/namespaces/cni-1/unheard-of", "cni-1")],
)
def test_what_no_row_knows_is_read_by_its_content(name: str, netns: str | None) -> None:
    """It keeps its gaps, and the place that its folder tells."""
    found = read(name)
    assert found is not None
    assert [(netns, "n1")] == [(source.netns, source.host) for source in found.sources]
    assert [GapKind.UNREAD] == [gap.kind for gap in found.gaps]


def test_a_log_decides_nothing() -> None:
    """What is not understood of a log, or is no text, forbids no all-clear."""
    found = read("b/var/log/messages")
    assert found is not None
    assert [GapKind.ASIDE] == [gap.kind for gap in found.gaps]
    binary = read_bundled(BUNDLES, BundleFile("b/var/log/messages", "m", b""), refused)
    assert binary is not None
    assert [("no text", GapKind.ASIDE)] == [(gap.why, gap.kind) for gap in binary.gaps]


def test_what_is_left_out_is_said() -> None:
    """A file of no network fact is a gap with its name; one of no bundle is the caller's."""
    found = read("b/sos_commands/systemd/systemctl_list-units")
    assert found is not None
    assert [("/x/b/sos_commands/systemd/systemctl_list-units", GapKind.ASIDE)] == [
        (gap.span.source.name, gap.kind) for gap in found.gaps
    ]
    assert read("elsewhere.txt") is None


def test_an_output_that_is_no_text_is_an_error() -> None:
    """Whoever reads the bundle makes a gap of it."""
    with pytest.raises(EvidenceError):
        read_bundled(
            BUNDLES,
            BundleFile("b/sos_commands/networking/ip_-d_address", "s", b"\x7fELF" + bytes(99)),
            sniffed,
        )
