"""`podpath protect sysctl`: how a key is written, and what a look at a tree of keys answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from podpath.net.errors import UsageError
from podpath_protect.cli.sysctl import parse_setting, sysctl
from podpath_protect.sysctl.profiles import list_profiles

KEY = Path("/proc/sys/net/ipv4/ip_forward")


@pytest.mark.parametrize(
    ("text", "value", "policy"),
    [
        ("net.ipv4.ip_forward=1", "1", "exact"),
        ("net.core.somaxconn>=4096", "4096", "floor"),
        ("net.ipv4.tcp_retries2<=8", "8", "ceiling"),
        ("net.ipv4.ip_local_port_range=1024\t 65000", "1024 65000", "exact"),
    ],
)
def test_a_key_says_how_it_is_held(text: str, value: str, policy: str) -> None:
    """By its sign; values of several words are held word by word."""
    setting = parse_setting(text)
    assert (value, policy) == (setting.value, setting.policy)


@pytest.mark.parametrize("text", ["net.ipv4.ip_forward", "net.ipv4.ip_forward=", "=1"])
def test_a_key_without_all_of_it_is_refused(text: str) -> None:
    """The answer says what was given and what was expected."""
    with pytest.raises(UsageError, match="expected"):
        parse_setting(text)


@pytest.mark.parametrize("holds", [True, False])
def test_a_look_answers_by_its_exit_code(tmp_path: Path, *, holds: bool) -> None:
    """What holds is 0, what does not is 1; nothing is written without --fix."""
    kept = KEY.read_text(encoding="ascii").strip()
    wanted = kept if holds else str(1 - int(kept))
    asked = ["--root", str(tmp_path), "--key", f"net.ipv4.ip_forward={wanted}", "--json"]
    looked = CliRunner().invoke(sysctl, asked)
    told = json.loads(looked.output)
    assert (0 if holds else 1, holds) == (looked.exit_code, told["holds"])
    assert (kept, []) == (told["keys"][0]["value"], told["writes"])
    assert kept == KEY.read_text(encoding="ascii").strip()


def test_profiles_are_listed_with_their_keys() -> None:
    """Each by its name and title, its keys below."""
    listed = CliRunner().invoke(sysctl, ["--profiles"]).output
    heads = {line.partition(":")[0] for line in listed.splitlines() if not line.startswith(" ")}
    assert set(list_profiles()) == heads
