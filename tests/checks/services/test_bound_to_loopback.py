"""Servers on loopback alone."""

from __future__ import annotations

from podpath.checks.services.bound_to_loopback import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
root@box:~# curl http://10.0.0.5:{asked}/
curl: (7) Failed to connect to 10.0.0.5 port {asked}: Connection refused
root@box:~# cat {path}
{text}
```
"""
NGINX = "server {{\n  listen {bind};\n  server_name x;\n  root /srv;\n}}"


def test_a_server_on_loopback_is_certain() -> None:
    """The setting and the attempt are quoted."""
    text = NGINX.format(bind="127.0.0.1:8080")
    (found,) = check(
        case_of_document(TICKET.format(asked=8080, path="/etc/nginx/sites-enabled/x", text=text))
    )

    assert "listen 127.0.0.1:8080;" == found.evidence[0].text.strip()


def test_the_port_may_stand_beside() -> None:
    """In the same section."""
    text = "[mysqld]\nport = 3306\nbind-address = 127.0.0.1"
    assert list(
        check(case_of_document(TICKET.format(asked=3306, path="/etc/mysql/my.cnf", text=text)))
    )
    assert not list(
        check(case_of_document(TICKET.format(asked=3307, path="/etc/mysql/my.cnf", text=text)))
    )


def test_a_server_for_all_is_right() -> None:
    """Another port, or every address."""
    for bind in ("0.0.0.0:8080", "127.0.0.1:9090", "8080"):
        text = NGINX.format(bind=bind)
        assert not list(
            check(
                case_of_document(
                    TICKET.format(asked=8080, path="/etc/nginx/sites-enabled/x", text=text)
                )
            )
        )


def test_a_name_server_on_loopback() -> None:
    """BIND says it by a block, unbound by a setting."""
    dig = (
        "root@box:~# dig @10.0.0.5 x.lan\n"
        ";; communications error to 10.0.0.5#53: connection refused"
    )
    named = "options {{\n  listen-on {{ {bind}; }};\n  recursion yes;\n}};"
    ticket = "```\n" + dig + "\nroot@box:~# cat /etc/bind/named.conf\n{text}\n```"

    assert list(check(case_of_document(ticket.format(text=named.format(bind="127.0.0.1")))))
    assert not list(check(case_of_document(ticket.format(text=named.format(bind="10.0.0.5")))))
