"""Faults of rules that a message of a program or the kernel tells by itself."""

from __future__ import annotations

from podpath.checks.category import Category
from podpath.checks.finding import FollowUp
from podpath.checks.ground import Ground
from podpath.checks.message_check import ASIDE, MessageCheck, Value
from podpath.net.messages import MessageKind as Kind

ROWS: tuple[MessageCheck, ...] = (
    MessageCheck(
        name="docker-chains-missing",
        title="Docker's chains are gone from iptables.",
        kinds=(Kind.CHAIN_OF_DOCKER_MISSING,),
        categories=(Category.RULESET_FAILURE, Category.SERVICE_RULES_MISSING),
        claim=(
            "Docker's chain {chain} no longer exists: something flushed iptables after Docker had "
            "started."
        ),
        values=(Value("chain", default="DOCKER"),),
        breaks="published ports and new networks",
        cure="restart Docker, and keep others from flushing its rules",
        commands=("systemctl restart docker",),
        what=(
            "Docker writes a rule into a chain of its own (DOCKER, DOCKER-ISOLATION-...) that no "
            "longer exists."
        ),
        why="Something flushed iptables after dockerd had started: firewalld's reload or restart, "
        "an admin's script, iptables-restore, a switch between legacy and nft. Docker creates its "
        "chains only at its start, so publishing ports and creating networks fail until then.",
        confirm="iptables -t nat -S | grep DOCKER; journalctl -u docker -u firewalld -u iptables",
        fix=(
            "systemctl restart docker; let whatever flushes the rules run before Docker, or leave "
            "Docker's chains alone."
        ),
        references="libnetwork/iptables; Docker, Packet filtering and firewalls",
    ),
    MessageCheck(
        name="traced-drop",
        title="the kernel traced a packet to the rule that dropped it.",
        kinds=(Kind.TRACED_TO_DROP,),
        categories=(Category.HOST_FIREWALL, Category.FORWARD_POLICY, Category.RULE_ORDER),
        claim="A traced packet is dropped in chain {chain} of table {table} by {rule}.",
        values=(Value("chain"), Value("table"), Value("rule", default="a rule of it")),
        breaks="packets like the one that was traced",
        cure="accept the packet before that rule, or change the rule where its owner writes it",
        what=(
            "nft monitor trace or xtables-monitor shows the rules that a marked packet met, and a "
            "drop at its end."
        ),
        why=(
            "The verdict of a trace is the kernel's own: the packet went no further. A reject ends "
            "in the verdict drop, too."
        ),
        confirm="nft monitor trace; nft -a list ruleset; iptables-save -c",
        fix=(
            "Find who writes the rule (kube-proxy, the CNI plugin, a firewall) and change it "
            "there, or accept the packet above."
        ),
        references=(
            "nft(8), MONITOR; xtables-monitor(8); "
            "net/netfilter/nf_tables_trace.c:nft_trace_notify v6.12"
        ),
    ),
    MessageCheck(
        name="ruleset-not-written",
        title="a component cannot write its rules.",
        kinds=(
            Kind.IPTABLES_FAILED,
            Kind.RESTORE_FAILED,
            Kind.SET_FAILED,
            Kind.NFT_FAILED,
            Kind.XTABLES_LOCKED,
        ),
        categories=(Category.RULESET_FAILURE,),
        claim="A component cannot write its rules{error}.",
        values=(Value("error", frame=ASIDE),),
        breaks="what the rules were for",
        cure="see which line fails, and use one backend of iptables everywhere",
        certainty=0.6,
        settled_by=frozenset({Ground.ENDED, Ground.SAME_ERROR, Ground.BY_HAND}),
        ask=FollowUp(
            fact="which component fails to write its rules, and whether it still does",
            command="iptables --version; iptables-save | head; journalctl -u docker -u kubelet; "
            "kubectl logs -n kube-system -l k8s-app=kube-proxy --tail=50",
            decides="the same error at each sync: it is the cause; once: it is over",
        ),
        what=(
            "iptables, iptables-restore, nft or ipset answered with an error, or waits for the "
            "lock of xtables."
        ),
        why="A restore is all or nothing: with one line that fails none is written, and services "
        "keep old backends or have none. Mixed versions or backends (legacy and nft), a set that a "
        "rule still uses, a missing extension or a held lock are behind it.",
        confirm=(
            "iptables --version; iptables-save | grep -c .; ls -l /run/xtables.lock; "
            "fuser -v /run/xtables.lock"
        ),
        fix=(
            "Use one backend and one version on the host and in containers; remove what holds the "
            "lock or floods the tables."
        ),
        references="iptables-restore(8); kube-proxy, syncProxyRules",
    ),
    MessageCheck(
        name="zone-conflict",
        title="firewalld refuses Docker's bridge, which another zone has.",
        kinds=(Kind.ZONE_CONFLICT,),
        categories=(Category.HOST_FIREWALL, Category.RULESET_FAILURE),
        claim="firewalld has {device} in another zone than Docker's, so Docker cannot set it up.",
        values=(Value("device", default="docker0"),),
        breaks="containers of that bridge",
        cure="remove the interface from the other zone",
        commands=("firewall-cmd --permanent --zone=ZONE --remove-interface={device}",),
        what=(
            "Docker puts its bridges into firewalld's zone docker; the interface is bound to "
            "another zone already."
        ),
        why=(
            "dockerd does not start, or the bridge's traffic follows the other zone, which rejects "
            "it."
        ),
        confirm="firewall-cmd --get-zone-of-interface=docker0; firewall-cmd --list-all-zones",
        fix=(
            "firewall-cmd --permanent --zone=ZONE --remove-interface=docker0; "
            "firewall-cmd --reload; systemctl restart docker"
        ),
        references="Docker, Integration with firewalld; firewall-cmd(1)",
    ),
    MessageCheck(
        name="rule-gone",
        title="a rule that the engine wrote is gone.",
        kinds=(Kind.RULE_GONE,),
        categories=(Category.SERVICE_RULES_MISSING, Category.RULESET_FAILURE),
        claim=(
            "The engine's own rule in {chain} is gone: something else flushed or replaced the "
            "rules."
        ),
        values=(Value("chain", default="its chain"),),
        breaks="published ports and networks of the engine",
        cure="restart the engine, and keep others from flushing its rules",
        commands=("systemctl restart docker",),
        what=(
            "The engine deletes a rule that it wrote and does not find it: `Bad rule (does a "
            "matching rule exist in that chain?)`, `No chain/target/match by that name`."
        ),
        why=(
            "firewalld, a script with iptables -F or iptables-restore removed it while the engine "
            "ran; the other rules are gone as well."
        ),
        confirm="iptables-save -c; journalctl -u firewalld -u iptables -u nftables",
        fix="systemctl restart docker, after every reload of the firewall.",
        references="Docker, packet filtering and firewalls",
    ),
    MessageCheck(
        name="set-full",
        title="a set of addresses is full.",
        kinds=(Kind.SET_FULL,),
        categories=(Category.RULESET_FAILURE, Category.RESOURCE_LIMIT),
        claim="The set {name} is full: addresses that should be in it are not.",
        values=(Value("name", default="of the rules"),),
        breaks="what the rules with that set should accept or drop",
        cure="make the set again with a larger maxelem",
        what="`Set ... is full, maxelem ... reached`, `Hash is full, cannot add more elements`.",
        why="A set of ipset has a maximum of elements (65536 where none is named).",
        confirm="ipset list -t",
        fix="ipset create NEW hash:ip maxelem 1048576; ipset swap; raise the setting of the agent.",
        references="ipset(8), maxelem",
    ),
)
