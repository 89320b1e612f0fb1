"""Connection tracking: who saw which packet decides NEW, ESTABLISHED, RELATED and INVALID.

Theory of operation. A connection is an entry with two tuples: `original`, of the direction of its
first packet, and `reply`, which answers are expected to have. They are each other's inverse until
NAT changes `reply`. A packet finds its entry by its own tuple and its zone; which of the two tuples
matched is the packet's direction. The life of an entry:

```text
                 no entry has the tuple                 confirm: the last hook passes it
    packet  ------------------------------>  unconfirmed  ---------------->  confirmed
       |                                          |                              |
       | NOTRACK      dropped at any hook: gone   v         later packets find it, |
       v                                       (nothing)    replies set seen_reply v
   UNTRACKED                                                  ESTABLISHED, assured
```

The packet is NEW while no reply was seen and it goes in the original direction, RELATED where an
ICMP error quotes the entry or a helper expected it, ESTABLISHED once a reply was seen, and INVALID
where the protocol forbids it: then nothing hangs on it, and no NAT is undone for it. That is how a
path that conntrack sees in one direction only breaks a connection that every rule allows.

For TCP each direction moves one machine on (`tcp.TRANSITIONS`, the kernel's own table):

```text
                 syn               syn-ack (reply)             ack
    NONE  ------------->  SYN_SENT  ------------->  SYN_RECV  ------->  ESTABLISHED
      |                    |                         |                      | fin
      | ack, tcp_loose     | syn of the other        | rst                  v
      v                    v side: SYN_SENT2         v                  FIN_WAIT > CLOSE_WAIT >
   ESTABLISHED                                     CLOSE  <---- rst ----  LAST_ACK > TIME_WAIT
```

A table's cell may say `sIV` (the segment is INVALID) or `sIG` (it is let through, the state stays).

Invariants:

- A table belongs to one branch of one conversation; the evidence's entries are a shared snapshot,
  copied into the table when a packet first meets one.
- Only confirmed entries are found. A packet that is dropped before the last hook leaves nothing.
- Two confirmed entries never share a tuple in one zone and direction.
- The state of an entry changes only by a packet that is not INVALID, or by a reset that the host
  itself sends in answer.

The stages that use all this are in `datapath.netfilter.tracking`: `track` finds or makes the entry
where a packet first meets conntrack, `confirm` enters it behind the last hook.
"""

from podpath.datapath.conntrack.connection import Connection, Zone
from podpath.datapath.conntrack.table import ConntrackTable

__all__ = ["Connection", "ConntrackTable", "Zone"]
