"""`podpath protect repair`: the policy that options and a file make together."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from podpath_protect.cli.repair import _policy, _watch_chain
from tests.protect.folders import BRIDGE, MESH, listed

NOTHING = {
    "policy_file": None,
    "dry_run": False,
    "bare_pods": False,
    "actions": (),
    "selector": None,
}
ENTRY = '{"type": "linkerd-cni"}'


def test_an_option_is_stronger_than_the_file(tmp_path: Path) -> None:
    """Actions that are named replace the file's; a dry run in either is one."""
    file = tmp_path / "repair.toml"
    file.write_text('actions = ["evict"]\ndry_run = true\n', encoding="utf-8")
    policy = _policy({**NOTHING, "policy_file": str(file), "actions": ("label", "mend")})
    assert (("label", "mend"), True) == (policy.actions, policy.dry_run)


def test_a_policy_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """By its name, and the system's word for it."""
    missing = tmp_path / "repair.toml"
    with pytest.raises(click.UsageError, match="No such file"):
        _policy({**NOTHING, "policy_file": str(missing)})


@pytest.mark.parametrize(("plugins", "well"), [((BRIDGE, MESH), True), ((BRIDGE,), False)])
def test_nothing_is_done_while_the_chain_lacks_the_plugin(
    tmp_path: Path, plugins: tuple[dict[str, object], ...], *, well: bool
) -> None:
    """The chain is looked at only where an entry is named, and says why it is not well."""
    (tmp_path / "10-k8s.conflist").write_text(listed(*plugins), encoding="utf-8")
    for name in ("bridge", "linkerd-cni"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(0o755)
    given: dict[str, object] = {
        "chain_entry": ENTRY,
        "conf_dir": str(tmp_path),
        "bin_dirs": (str(tmp_path),),
    }
    assert well == ("" == _watch_chain(given)())
    assert "" == _watch_chain({**given, "chain_entry": None})()
