"""Entering network namespaces for a moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.collect.netns import NetnsError, inside


def test_a_path_that_is_no_namespace_is_refused(tmp_path: Path) -> None:
    """The message names the path and what the kernel said."""
    with (
        pytest.raises(NetnsError, match="expected a network namespace"),
        inside(str(tmp_path / "none")),
    ):
        pass


@pytest.mark.kernel("ip")
def test_one_is_back_home_after_the_block() -> None:
    """The thread's own namespace is the same before and after."""
    before = Path("/proc/thread-self/ns/net").stat().st_ino
    with inside("/proc/self/ns/net"):
        pass
    assert before == Path("/proc/thread-self/ns/net").stat().st_ino


@pytest.mark.kernel("ip")
def test_a_namespace_that_is_held_open_is_entered_by_its_descriptor() -> None:
    """What is no namespace is refused by its number."""
    with Path("/proc/self/ns/net").open("rb") as file, inside(file.fileno()):
        pass
    with (
        Path("/dev/null").open("rb") as file,
        pytest.raises(
            NetnsError, match=f"expected to enter descriptor {file.fileno()}, the kernel said"
        ),
        inside(file.fileno()),
    ):
        pass
