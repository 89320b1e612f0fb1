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
    "kubelet": 10250, "hbci": 3000, "dec-notes": 3333, "terabase": 4000, "commplex-main": 5000,
    "commplex-link": 5001, "personal-agent": 5555, "esmagent": 5601, "sun-sr-https": 6443,
    "afs3-fileserver": 7000, "afs3-callback": 7001, "irdmi": 8000, "vcom-tunnel": 8001,
    "teradataordbms": 8002, "mxi": 8005, "sunproxyadmin": 8081, "d-s-n": 8086,
    "pcsync-https": 8443, "otv": 8472, "fmtp": 8500, "ddi-tcp-1": 8888, "cslistener": 9000,
    "etlservicemgr": 9001, "dynamid": 9002, "glrpc": 9080, "websm": 9090, "xmltec-xmlmail": 9091,
    "xmlipcregsvc": 9092, "copycat": 9093, "hp-pdl-datastr": 9100, "pdl-datastream": 9100,
    "jetdirect": 9100, "wap-wsp": 9200, "vrace": 9300, "tungsten-https": 9443, "distinct": 9999,
    "ndmp": 10000, "memcache": 11211, "eforward": 2181, "squid": 3128, "geneve": 6081,
    "ndmps": 30000, "zabbix-agent": 10050, "cbt": 7777, "sip": 5060, "sips": 5061,
}  # fmt: skip
"""Only names that mean the same port everywhere."""


def read_port(text: str) -> str:
    """Return a port as a number in text; `ValueError` for a name that is not well known."""
    if text.isdigit() and text.isascii():
        return text
    if text in SERVICES:
        return str(SERVICES[text])
    raise ValueError(f"expected a port by number, saw the name {text!r}")
