"""Names of well-known ports, which tools print where nobody told them `-n` (/etc/services)."""

from __future__ import annotations

from collections.abc import Mapping

SERVICES: Mapping[str, int] = {
    "tcpmux": 1, "echo": 7, "discard": 9, "systat": 11, "daytime": 13, "qotd": 17, "chargen": 19,
    "ftp-data": 20, "ftp": 21, "ssh": 22, "telnet": 23, "smtp": 25, "mail": 25, "time": 37,
    "whois": 43, "nicname": 43, "tacacs": 49, "domain": 53, "bootps": 67, "bootpc": 68, "tftp": 69,
    "gopher": 70, "finger": 79, "http": 80, "www": 80, "kerberos": 88, "pop3": 110, "sunrpc": 111,
    "portmapper": 111, "auth": 113, "ident": 113, "nntp": 119, "ntp": 123, "epmap": 135,
    "netbios-ns": 137, "netbios-dgm": 138, "netbios-ssn": 139, "imap2": 143, "imap": 143,
    "snmp": 161, "snmp-trap": 162, "snmptrap": 162, "bgp": 179, "irc": 194, "ldap": 389,
    "https": 443, "microsoft-ds": 445, "kpasswd": 464, "submissions": 465, "saft": 487,
    "isakmp": 500, "exec": 512, "login": 513, "shell": 514, "syslog": 514, "printer": 515,
    "router": 520, "route": 520, "dhcpv6-client": 546, "dhcpv6-server": 547, "rtsp": 554,
    "nntps": 563, "submission": 587, "ipp": 631, "ldaps": 636, "domain-s": 853, "rsync": 873,
    "ftps-data": 989, "ftps": 990, "telnets": 992, "imaps": 993, "pop3s": 995, "socks": 1080,
    "openvpn": 1194, "ms-sql-s": 1433, "l2f": 1701, "l2tp": 1701, "radius": 1812,
    "radius-acct": 1813, "nfs": 2049, "etcd-client": 2379, "etcd-server": 2380,
    "iscsi-target": 3260, "mysql": 3306, "ms-wbt-server": 3389, "svn": 3690, "vxlan": 4789,
    "ipsec-nat-t": 4500, "postgresql": 5432, "amqps": 5671, "amqp": 5672, "x11": 6000,
    "redis": 6379, "http-alt": 8080, "webcache": 8080, "git": 9418, "prometheus": 9090,
    "kubelet": 10250,
}  # fmt: skip
"""Only names that mean the same port everywhere."""


def read_port(text: str) -> str:
    """Return a port as a number in text; `ValueError` for a name that is not well known."""
    if text.isdigit() and text.isascii():
        return text
    if text in SERVICES:
        return str(SERVICES[text])
    raise ValueError(f"expected a port by number, saw the name {text!r}")
