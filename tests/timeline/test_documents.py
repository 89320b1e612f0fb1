"""Logs within documents."""

from __future__ import annotations

from podpath.timeline.documents import find_logs
from tests.timeline.samples import CLIENT, MESSAGES, source

TICKET = f"""\
# Pods are unready

It began this morning, the database pod says:

```console
$ kubectl -n db logs pg-main-0
{CLIENT}
```

And the node:

```console
[root@kn-04 ~]# grep -v CRON /var/log/messages
{MESSAGES}
[root@kn-04 ~]# sysctl net.ipv4.conf.all.rp_filter
net.ipv4.conf.all.rp_filter = 1
```
"""


def test_a_file_that_is_a_log() -> None:
    """A log is one source as a whole."""
    whole = source(MESSAGES)

    assert (whole,) == find_logs(whole)


def test_logs_pasted_into_a_ticket() -> None:
    """Of a ticket the blocks that are logs are found, with their lines' numbers and the commands
    that printed them.
    """
    found = find_logs(source(TICKET, "ticket.md"))

    assert [7, 17] == [one.first_line for one in found]
    assert ["kubectl -n db logs pg-main-0", "grep -v CRON /var/log/messages"] == [
        one.command for one in found
    ]


def test_logs_between_prose_without_any_fence() -> None:
    """Logs that stand between prose, with nothing but blank lines round them, are told apart."""
    text = (
        f"Since last night nothing works.\n\n{CLIENT}\nand the node says\n\n{MESSAGES}\n"
        "What can it be? Help is welcome.\n"
    )
    found = find_logs(source(text, "mail.txt"))

    assert [CLIENT.splitlines(), MESSAGES.splitlines()] == [list(one.lines) for one in found]


def test_a_text_without_logs() -> None:
    """A text that holds no log gives none."""
    assert () == find_logs(source("hello\nthis is prose about a network", "notes.md"))
    assert () == find_logs(source("\n".join(f"line {number}" for number in range(6000)), "big.txt"))


def test_colors_are_taken_out() -> None:
    """What a terminal colored is read as if it had not."""
    colored = "\n".join(f"\x1b[2m{line}\x1b[0m" for line in MESSAGES.splitlines())

    assert tuple(MESSAGES.splitlines()) == find_logs(source(colored))[0].lines


def test_a_log_with_directives_is_one_log() -> None:
    """Directives such as `#Fields:` are no prompts."""
    directives = source("#Date: 2025-03-12\n#Fields: date time c-ip\n2025-03-12 09:49:03 10.0.0.1")

    assert (directives,) == find_logs(directives)
