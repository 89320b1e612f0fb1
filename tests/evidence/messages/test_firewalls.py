"""Lines of firewalls that stand alone."""

from __future__ import annotations

from podpath.evidence.messages.table import find_messages
from podpath.net.messages import MessageKind
from tests.evidence.consoles import block


def test_a_base_chain_without_its_table() -> None:
    """Hook and policy are its values."""
    (said,) = find_messages(block("type filter hook forward priority filter; policy drop;"))
    assert (MessageKind.BASE_CHAIN, "forward", "drop") == (
        said.kind,
        said.values["hook"],
        said.values["policy"],
    )


def test_dockers_option_is_one_where_docker_is_named() -> None:
    """Flannel has an option of that name too."""
    assert [one.kind for one in find_messages(block('DOCKER_OPT_IPMASQ="--ip-masq=true"'))] == [
        MessageKind.DOCKER_MASQUERADES
    ]
    assert find_messages(block("flanneld --ip-masq=true")) == ()
