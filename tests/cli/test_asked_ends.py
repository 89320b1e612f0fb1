"""What the command says of ends and places that are probably mistyped."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from podpath.cli.main import podpath
from podpath.library.why import why
from podpath.net.errors import UsageError
from tests.library.samples import RP_FILTER

BUNDLE = RP_FILTER / "bundle"
POD = "cni-2f6ab8c1-08d4-4e39-a7c5-51b3f9d20e74"


def test_it_is_said_beside_the_answer() -> None:
    """On standard error: the answer and its exit code stay what they were."""
    asked = ["trace", str(BUNDLE), "--probe", "tcp 10.88.5.62 > 192.168.77.11:6443"]
    done = CliRunner().invoke(podpath, asked)
    assert "podpath: nothing in the evidence speaks of 10.88.5.62; did you mean" in done.stderr
    assert ("did you mean" in done.stdout, 3) == (False, done.exit_code)
    answer = why("10.88.5.62", "192.168.77.11:6443", nodes={"kn-4": str(BUNDLE)})
    assert [sentence in done.stderr for sentence in answer.doubts] == [True]


@pytest.mark.parametrize(
    ("place", "meant"),
    [("from cni-2f6ab8c1", POD), ("from hsot", "host"), ("in eth7", "eth0"), ("in wlan", "")],
)
def test_a_place_that_is_not_there(place: str, meant: str) -> None:
    """The error suggests what begins so, or is spelled nearly so."""
    with pytest.raises(UsageError) as refused:
        podpath.main(
            ["trace", str(BUNDLE), "--probe", f"tcp 10.88.5.61 > 192.168.77.11:6443 {place}"],
            standalone_mode=False,
        )
    assert f"did you mean {meant}" in str(refused.value) if meant else "mean" not in str(refused)
