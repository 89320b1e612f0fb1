"""What a typed command really runs, and where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.commands.typed import parse_typed

CASES = [
    ("nsenter --net=/proc/4711/ns/net curl web.example -v", "curl web.example -v", "pid 4711"),
    ("sudo nsenter -t 1234 -n ip a", "ip a", "pid 1234"),
    ("nsenter -n -t1 iptables-save", "iptables-save", None),
    ("nsenter --net=/var/run/netns/cni-77 ss -tlnp", "ss -tlnp", "cni-77"),
    ("ip netns exec red ip route", "ip route", "red"),
    ("ip -d -n blue route show", "ip -d route show", "blue"),
    ("bridge -n blue fdb", "bridge fdb", "blue"),
    ("kubectl exec -it -n kube-system coredns-1 -- ip a", "ip a", "pod/kube-system/coredns-1"),
    ("kubectl -n kube-system exec ds/cilium -- cilium status", "cilium status", None),
    (
        "kubectl exec web-0 -c app -- sh -c 'ip route | head -3'",
        "ip route | head -3",
        "pod/default/web-0",
    ),
    ("kubectl exec deploy/web -- ip a", "ip a", "deployment/default/web"),
    (
        "kubectl run -it --rm t --image=busybox -- wget -qO- 10.0.0.1",
        "wget -qO- 10.0.0.1",
        "pod/default/t",
    ),
    ("kubectl debug node/w1 -it --image=busybox -- chroot /host ip r", "ip r", None),
    ("docker exec kind-worker2 iptables -S", "iptables -S", None),
    ("docker exec -u root api ip a", "ip a", "container api"),
    ("docker run --rm -p 80:80 -e A=1 -it alpine ip a", "ip a", "container of alpine"),
    (
        "docker run --rm -itp 80:80 -v/a:/b --network web busybox ping -c1 10.0.0.1",
        "ping -c1 10.0.0.1",
        "container of busybox on web",
    ),
    ("docker run --rm --name one --net lan alpine sh -c 'ip r'", "ip r", "container one"),
    ("docker run --rm --net=host --privileged x/conntrack:1 -L", "conntrack -L", None),
    ("docker run --net container:web alpine ip a", "ip a", "container web"),
    ("nerdctl run --rm alpine cat /etc/resolv.conf", "cat /etc/resolv.conf", "container of alpine"),
    ("docker run -d --name web nginx", "docker run -d --name web nginx", None),
    ("docker run -itd alpine sleep 9", "docker run -itd alpine sleep 9", None),
    ("docker run hello-world", "docker run hello-world", None),
    ("docker compose -f a.yml exec -T api ip a", "ip a", "container api"),
    ("docker-compose run --rm --service-ports api ip a", "ip a", "container of api"),
    ("docker compose up -d", "docker compose up -d", None),
    ("docker container exec api ip a", "ip a", "container api"),
    ("lxc exec local:web --env A=1 -- ip a", "ip a", "container web"),
    ("lxc list", "lxc list", None),
    ("pct exec 101 -- ip r", "ip r", "container 101"),
    ("machinectl shell web /sbin/ip r", "/sbin/ip r", "container web"),
    ("lxc-attach -n web -- ip r", "ip r", "container web"),
    ("lxc-attach web ip r", "ip r", "container web"),
    ("ctr -n k8s.io t exec --exec-id 1 app ip a", "ip a", "container app"),
    ("ctr containers ls", "ctr containers ls", None),
    ("kubectl run web --image=nginx", "kubectl run web --image=nginx", None),
    (
        """kubectl run t -it --image=x --overrides='{"spec":{"hostNetwork": true}}' -- ip a""",
        "ip a",
        None,
    ),
    ("crictl exec 0123456789abcdef ip a", "ip a", "container 0123456789ab"),
    ("minikube ssh 'sudo iptables-save'", "iptables-save", None),
    ("minikube ssh -- sudo iptables -S", "iptables -S", None),
    ("watch -n1 'ip route'", "ip route", None),
    ("sudo -E -u root time ip r", "ip r", None),
    ("cd /tmp && sudo tcpdump -i any", "tcpdump -i any", None),
    ("LC_ALL=C ip a", "ip a", None),
    ("conntrack -L # all of it", "conntrack -L", None),
]


@pytest.mark.parametrize(("raw", "text", "netns"), CASES)
def test_looks_through_wrappers(raw: str, text: str, netns: str | None) -> None:
    """The program that prints and its network namespace are found behind whatever runs it."""
    typed = parse_typed(raw)
    assert (text, netns) == (typed.text, typed.netns)


@pytest.mark.parametrize(
    "raw", ["kubectl exec -it web-0 -- /bin/sh", "ip netns exec red bash", "nsenter -t 55 -m -u -n"]
)
def test_knows_a_shell_that_is_opened(raw: str) -> None:
    """A wrapper that runs a bare shell, or nothing, opens one."""
    assert parse_typed(raw).opens_shell


@given(
    st.lists(
        st.sampled_from(
            [
                "sudo",
                "nsenter",
                "-t",
                "-n",
                "ip",
                "netns",
                "exec",
                "kubectl",
                "docker",
                "sh",
                "-c",
                "--",
                "|",
                "&&",
                ";",
                "watch",
                "a",
                "'b c'",
                "<",
            ]
        )
    )
)
def test_never_raises(words: list[str]) -> None:
    """Any row of words is looked through, and that ends."""
    parse_typed(" ".join(words))
