"""A command line as a shell cuts it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.commands.shells import parse_shell


def _words(text: str) -> list[tuple[str, list[str]]]:
    return [(step.operator, [word.text for word in step.words]) for step in parse_shell(text)]


def test_a_pipe_needs_no_blanks() -> None:
    """A `|` right between two words cuts them."""
    assert [("", ["conntrack", "-L"]), ("|", ["grep", "10.0.0.1"])] == _words(
        "conntrack -L|grep 10.0.0.1"
    )


def test_quotes_keep_operators() -> None:
    """Operators in quotes are part of a word."""
    assert [("", ["tcpdump", "-i", "any", "port 80 | 81"])] == _words(
        "tcpdump -i any 'port 80 | 81'"
    )


def test_redirections_are_no_words() -> None:
    """A redirection's target is kept apart from the arguments."""
    step = parse_shell("echo 1 >/proc/sys/net/ipv4/ip_forward 2>&1")[0]
    assert ["echo", "1"] == [word.text for word in step.words]
    assert [(">", "/proc/sys/net/ipv4/ip_forward"), ("2>&", "1")] == [
        tuple(redirect) for redirect in step.redirects
    ]


def test_a_placeholder_is_a_word() -> None:
    """`<pod>`, as manuals write it, is no redirection."""
    assert [("", ["kubectl", "exec", "<cilium pod>", "--", "ip", "a"])] == _words(
        "kubectl exec <cilium pod> -- ip a"
    )


@given(st.text(alphabet="ab '\"\\|&;<>()$`#\n", max_size=40))
def test_never_raises(text: str) -> None:
    """Any text is cut into something."""
    parse_shell(text)
