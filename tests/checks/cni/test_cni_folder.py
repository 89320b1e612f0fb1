"""The folder of CNI configurations as `diagnose` sees it in a bundle or a ticket."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podpath.checks.cni.cni_folder import check
from podpath.checks.finding import Finding
from podpath.library.reading import read
from podpath.report.claims import spell_claim
from tests.command import podpath
from tests.protect.folders import BRIDGE, MESH, PORTMAP, listed, single


def bundle(tmp_path: Path, **files: str) -> Path:
    """Write a bundle with these CNI files."""
    folder = tmp_path / "bundle" / "node" / "cni"
    folder.mkdir(parents=True)
    (tmp_path / "bundle" / "bundle.json").write_text(
        '{"node": "n1", "netns": {"host": {"role": "host"}}}'
    )
    for key, text in files.items():
        base, _, extension = key.removeprefix("a").rpartition("_")
        (folder / f"{base}.{extension}").write_text(text)
    return tmp_path / "bundle"


def findings(path: Path) -> list[Finding]:
    """Return what the check finds."""
    return list(check(read(path).facts))


@pytest.mark.parity("D2")
@pytest.mark.parametrize(
    "text", ["", "{", listed().replace("plugins", "plugin")], ids=["empty", "cut off", "misspelt"]
)
def test_a_broken_first_file_is_a_fault(tmp_path: Path, text: str) -> None:
    """The file, its line and what both runtimes make of it are named; the check is found by
    `diagnose` with code 1.
    """
    path = bundle(tmp_path, a05_conflist=text, a10_conflist=listed())
    (found,) = findings(path)
    done = podpath("diagnose", path, "--json")

    assert ("fault", True) == (found.severity, spell_claim(found.claim).startswith("05.conflist: "))
    assert "containerd loads nothing because of it, CRI-O passes over it" in spell_claim(
        found.claim
    )
    assert found.evidence[0].source.name.endswith("node/cni/05.conflist")
    assert (1, ["cni-folder"]) == (
        done.returncode,
        [one["check"] for one in json.loads(done.stdout)["findings"]],
    )


def test_a_good_folder_has_nothing_wrong(tmp_path: Path) -> None:
    """A chained list, a single configuration behind it and a broken file behind both are no
    fault.
    """
    path = bundle(
        tmp_path, a05_conflist=listed(BRIDGE, PORTMAP, MESH), a10_conf=single(), a20_conflist="{"
    )

    assert [] == findings(path)


def test_what_cilium_set_aside_is_a_risk(tmp_path: Path) -> None:
    """A file that was renamed names the setting that did it."""
    path = bundle(tmp_path, a05_conflist=listed())
    (path / "node" / "cni" / "10.conflist.cilium_bak").write_text(listed(BRIDGE, MESH))
    (found,) = findings(path)

    assert ("risk", True) == (found.severity, "cni.exclusive" in found.prevention)


def test_a_pasted_file_is_judged_by_itself(tmp_path: Path) -> None:
    """In a ticket the rest of the folder is unknown: only what is wrong with the file alone is
    said.
    """
    ticket = tmp_path / "ticket.md"
    ticket.write_text(
        f"```\nroot@n1:~# cat /etc/cni/net.d/10-x.conflist\n{listed(PORTMAP, BRIDGE)}\n```\n"
    )
    (found,) = findings(ticket)

    assert "portmap comes first in the chain" in spell_claim(found.claim)
    assert '"type": "portmap"' in found.evidence[0].text
