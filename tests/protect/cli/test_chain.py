"""`podpath protect chain lint`: a folder judged, as text, as JSON and by the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from podpath_protect.cli.chain import chain
from tests.protect.folders import BRIDGE, PORTMAP, listed


@pytest.mark.parametrize(
    ("text", "code"), [(listed(BRIDGE, PORTMAP), 0), (listed(BRIDGE).replace("{", "[", 1), 1)]
)
def test_a_folder_is_judged(tmp_path: Path, text: str, code: int) -> None:
    """A list that loads is well; one that is no JSON is an error, told with its file."""
    (tmp_path / "10-k8s.conflist").write_text(text, encoding="utf-8")
    judged = CliRunner().invoke(chain, ["lint", str(tmp_path), "--json"])
    told = json.loads(judged.output)
    assert code == judged.exit_code
    assert "podpath/cni-lint/v1" == told["schema"]
    errors = [each["file"] for each in told["remarks"] if each["severity"] == "error"]
    assert ["10-k8s.conflist"] * code == errors[:1]
