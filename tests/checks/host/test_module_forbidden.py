"""Modules that something lacks and modprobe's configuration keeps out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import podpath
from podpath.checks.host.module_forbidden import OPEN, check
from podpath.library.given import Pasted
from tests.checks.pasted import found

FORBIDS = """
# grep -r ip_vs /etc/modprobe.d/
/etc/modprobe.d/hardening.conf:install ip_vs /bin/false
"""
LINE = "/etc/modprobe.d/hardening.conf:install ip_vs /bin/false"


def test_a_forbidden_module_is_lacking() -> None:
    """The line that forbids it comes first."""
    failed = "modprobe: ERROR: could not insert 'ip_vs': Invalid argument"
    assert [(1.0, LINE)] == found(check, f"# modprobe ip_vs\n{failed}{FORBIDS}")
    line = "install ip_vs_sh /bin/true"
    text = (
        f"kernel: IPVS: Scheduler module ip_vs_sh not found\n# cat /etc/modprobe.d/a.conf\n{line}"
    )
    assert [(1.0, line)] == found(check, text)


def test_modprobe_says_itself_what_it_ran() -> None:
    """Its own line is enough."""
    text = """
# modprobe br_netfilter
modprobe: ERROR: libkmod/libkmod-module.c:990 command_do() Error running install command \
'/bin/false' for module br_netfilter: retcode 1
modprobe: ERROR: could not insert 'br_netfilter': Invalid argument
"""
    ((sure, line),) = found(check, text)

    assert sure == 1.0
    assert "command_do()" in line


def test_a_device_type_is_loaded_by_its_alias() -> None:
    """The type stands in the command, or in the trace above the kernel's answer."""
    forbids = "# cat /etc/modprobe.d/cis.conf\ninstall 8021q /bin/true\n"
    told = [(1.0, "install 8021q /bin/true")]
    for asked in (
        "# ip link add link eth0 name eth0.9 type vlan id 9",
        "[#] ip link add v type vlan",
    ):
        assert told == found(
            check, f"{asked}\nRTNETLINK answers: Operation not supported\n{forbids}"
        )
        assert [] == found(check, f"{asked}\nRTNETLINK answers: File exists\n{forbids}")


def test_a_table_needs_its_module() -> None:
    """A table of ip6tables is no module of iptables'."""
    failed = (
        "# {}tables -t nat -S\n{}tables v1.8.7 (legacy): can't initialize {}tables table `nat': "
        "Table does not exist (do you need to insmod?)\n"
    )
    forbids = "# cat /etc/modprobe.d/n.conf\ninstall iptable_nat /bin/false\n"

    assert [(1.0, "install iptable_nat /bin/false")] == found(
        check, failed.format("ip", "ip", "ip") + forbids
    )
    assert [] == found(check, failed.format("ip6", "ip6", "ip6") + forbids)


@pytest.mark.parametrize(
    "line",
    [
        "modprobe: ERROR: could not insert 'ip_vs': Operation not permitted",
        "modprobe: FATAL: Module ip_vs not found in directory /lib/modules/6.1.0-18-amd64",
    ],
)
def test_another_error_is_not_made_by_the_line(line: str) -> None:
    """Who looks for the file, or is denied to load it, did not run the install command."""
    assert [(OPEN, LINE)] == found(check, f"# modprobe ip_vs\n{line}{FORBIDS}")


def test_a_container_may_have_another_configuration() -> None:
    """kube-proxy's modprobe reads the files of its own image."""
    text = f"""
# kubectl logs -n kube-system kube-proxy-7x2kd
W0412 08:11:02.120011 1 server_others.go:445] Can't use the IPVS proxier: required kernel modules \
are not loaded: [ip_vs ip_vs_rr]
{FORBIDS}"""
    assert [(OPEN, LINE)] == found(check, text)


@pytest.mark.parametrize(
    "rest",
    [
        "# cat /etc/modprobe.d/a.conf\nblacklist ip_vs",
        "# cat /etc/modprobe.d/a.conf\n# install ip_vs /bin/false",
        "# cat /etc/modprobe.d/a.conf\ninstall sctp /bin/false",
    ],
)
def test_what_does_not_keep_it_out(rest: str) -> None:
    """A blacklist stops aliases only; a comment and another module's line say nothing."""
    failed = "# modprobe ip_vs\nmodprobe: ERROR: could not insert 'ip_vs': Invalid argument\n"

    assert [] == found(check, failed + rest)


def test_a_loaded_module_is_not_kept_out() -> None:
    """It was loaded before the line was written, or without modprobe."""
    loaded = "# lsmod\nModule                  Size  Used by\nip_vs  188416  6 ip_vs_rr\n"
    failed = "# modprobe ip_vs\nmodprobe: ERROR: could not insert 'ip_vs': Invalid argument"

    assert [] == found(check, f"{loaded}{failed}{FORBIDS}")


def test_its_lines_hold_those_of_the_check_of_the_line_alone() -> None:
    """So what the line alone says is not told again."""
    text = f"""
The balancer does not start.

```
# modprobe ip_vs
modprobe: ERROR: could not insert 'ip_vs': Invalid argument
{FORBIDS}
```
"""
    checks = [one.check for one in podpath.diagnose(Pasted(text, "ticket.md")).findings]

    assert ["module-forbidden"] == checks


@pytest.mark.kernel("modprobe")
def test_modprobe_does_what_the_page_says(tmp_path: Path) -> None:
    """An install line wins over a file that is not there; a blacklist does not hold by name."""
    (tmp_path / "a.conf").write_text(
        "install ip_vs /bin/false\ninstall vxlan /bin/true\nblacklist sctp\n", encoding="utf-8"
    )

    def load(name: str) -> tuple[int, str]:
        done = subprocess.run(
            ["modprobe", "-C", str(tmp_path), "-S", "0.0.0", name],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stderr

    code, words = load("ip_vs")
    assert code == 1
    assert "Error running install command '/bin/false' for module ip_vs" in words
    assert "could not insert 'ip_vs': Invalid argument" in words
    assert load("vxlan") == (0, "")
    assert "Module sctp not found in directory" in load("sctp")[1]
