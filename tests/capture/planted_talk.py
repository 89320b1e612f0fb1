"""Conversations that are sent through a planted world: TCP with its retransmissions, DNS, pings."""

from __future__ import annotations

from dataclasses import dataclass

from tests.capture.planted import (
    ACK,
    FIN,
    MILLISECOND,
    MSS,
    PUSH,
    RST,
    SECOND,
    START,
    SYN,
    Ends,
    Packet,
    World,
    address,
)


@dataclass
class Talker:
    """One TCP connection in the making."""

    world: World
    ends: Ends
    time: int
    stamped: bool = True

    def __post_init__(self) -> None:
        """Draw the initial sequence numbers, near the place where they wrap now and then."""
        draw = self.world.draw
        self.isn = {
            True: draw.choice((draw.getrandbits(32), 0xFFFFFFFF - draw.getrandbits(15))),
            False: draw.getrandbits(32),
        }
        self.next = dict(self.isn)
        self.acked = {True: 0, False: 0}
        self.ident = {True: draw.getrandbits(16), False: draw.getrandbits(16)}

    def packet(
        self,
        *,
        forward: bool,
        flags: int,
        size: int = 0,
        seq: int | None = None,
        ident: bool = True,
    ) -> Packet:
        """Make a packet; SYN-ACKs and resets have no identification, as Linux sends them."""
        self.ident[forward] = self.ident[forward] % 0xFFFF + 1
        stamp = (self.time // MILLISECOND & 0xFFFFFFF) + 1 if self.stamped else 0
        return Packet(
            protocol=6, forward=forward, flags=flags,
            seq=self.next[forward] if seq is None else seq, size=size,
            ack=self.acked[forward] if flags & ACK else 0,
            ident=self.ident[forward] if ident else 0, stamp=stamp,
        )  # fmt: skip

    def until_it_arrives(self, packet: Packet, tries: int = 5) -> bool:
        """Send a packet again and again; say whether it arrived."""
        for attempt in range(tries):
            if self.world.send([packet], self.ends, self.time):
                return True
            self.time += (200 << attempt) * MILLISECOND
            packet = self.packet(
                forward=packet.forward,
                flags=packet.flags,
                size=packet.size,
                seq=packet.seq,
                ident=packet.ident != 0,
            )
        return False

    def open(self) -> bool:
        """Shake hands; say whether it came to that."""
        self.acked = {True: 0, False: self.isn[True] + 1}
        if not self.until_it_arrives(self.packet(forward=True, flags=SYN)):
            return False
        self.time += 5 * MILLISECOND
        if not self.until_it_arrives(self.packet(forward=False, flags=SYN | ACK, ident=False)):
            return False
        self.next = {True: self.isn[True] + 1, False: self.isn[False] + 1}
        self.acked = {True: self.next[False], False: self.next[True]}
        self.time += 5 * MILLISECOND
        self.world.send([self.packet(forward=True, flags=ACK)], self.ends, self.time)
        self.time += 5 * MILLISECOND
        return True

    def talk(self, *, forward: bool, size: int) -> bool:
        """Send some data in one burst, again what was lost, and acknowledge it; say whether all
        came.
        """
        start = self.next[forward]
        flight = self.packet(forward=forward, flags=ACK | PUSH, size=size)
        self.ident[forward] = (self.ident[forward] + size // MSS) % 0xFFFF + 1
        arrived = self.world.send([flight], self.ends, self.time)
        self.time += 7 * MILLISECOND
        self.next[forward] += size
        have = {
            seq for packet in arrived for seq in range(packet.seq - start, packet.end - start, MSS)
        }
        if have:
            self.world.send([self.packet(forward=not forward, flags=ACK)], self.ends, self.time)
        self.time += 220 * MILLISECOND if len(have) * MSS < size else 0
        for begin in range(0, size, MSS):
            again = self.packet(
                forward=forward, flags=ACK | PUSH, seq=start + begin, size=min(MSS, size - begin)
            )
            if begin not in have and not self.until_it_arrives(again):
                return False
            self.time += MILLISECOND
        self.acked[not forward] = self.next[forward]
        self.world.send([self.packet(forward=not forward, flags=ACK)], self.ends, self.time)
        self.time += 3 * MILLISECOND
        return True

    def close(self) -> None:
        """End it, by FINs or by a reset."""
        if self.world.draw.random() < 0.2:
            self.world.send(
                [self.packet(forward=False, flags=RST, ident=False)], self.ends, self.time
            )
            return
        for forward in (True, False):
            if not self.until_it_arrives(self.packet(forward=forward, flags=FIN | ACK)):
                return
            self.next[forward] += 1
            self.acked[not forward] = self.next[forward]
            self.time += 5 * MILLISECOND
        self.world.send([self.packet(forward=True, flags=ACK)], self.ends, self.time)


def populate(world: World, connections: int = 12) -> World:
    """Send conversations through a world, with a heartbeat that nothing happens to before, between
    and behind them.
    """
    draw = world.draw
    for number in range(connections):
        ends = Ends(
            address(draw.randint(2, 5)),
            32768 + number,
            f"10.96.0.{draw.randint(1, 3)}",
            draw.choice((80, 443)),
        )
        talker = Talker(
            world, ends, START + SECOND + draw.randint(0, 20 * SECOND), draw.random() < 0.7
        )
        if talker.open():
            sizes = [
                (
                    draw.random() < 0.4,
                    draw.choice((draw.randint(1, MSS), draw.randint(MSS, 6 * MSS))),
                )
                for _ in range(4)
            ]
            if all(talker.talk(forward=forward, size=size) for forward, size in sizes):
                talker.close()
    for number in range(connections // 2):
        ask(
            world,
            Ends(address(draw.randint(2, 5)), 40000 + number, "10.96.0.10", 53),
            START + draw.randint(SECOND, 20 * SECOND),
        )
        ping(
            world,
            Ends(address(draw.randint(2, 5)), 700 + number, "10.96.0.20", 700 + number),
            START + draw.randint(1, 20) * SECOND,
        )
    beat(world)
    return world


def ask(world: World, ends: Ends, time: int) -> None:
    """Ask a name, up to three times, of a resolver that answers."""
    question = world.draw.randbytes(2) + bytes(30)
    for attempt in range(3):
        ident = world.draw.getrandbits(16)
        when = time + attempt * 5 * SECOND
        if world.send(
            [Packet(17, forward=True, ident=ident, body=question)], ends, when
        ) and world.send(
            [Packet(17, forward=False, ident=0, body=question + b"answer")],
            ends,
            when + 10 * MILLISECOND,
        ):
            return


def ping(world: World, ends: Ends, time: int) -> None:
    """Send pings, one a second."""
    for number in range(1, 4):
        when, body = time + number * SECOND, world.draw.randbytes(24)
        if world.send(
            [Packet(1, forward=True, ident=world.draw.getrandbits(16), echo=number, body=body)],
            ends,
            when,
        ):
            world.send(
                [
                    Packet(
                        1, forward=False, ident=world.draw.getrandbits(16), echo=number, body=body
                    )
                ],
                ends,
                when + 10 * MILLISECOND,
            )


def beat(world: World) -> None:
    """Send what always arrives, before and behind everything else, to each server."""
    loss, world.loss = world.loss, 0.0
    number = 0
    for when in (START, START + 100 * SECOND):
        for host in (1, 2, 3, 10, 20):
            for pod in range(2, 6):
                number += 1
                talker = Talker(
                    world,
                    Ends(
                        address(pod),
                        20000 + number,
                        f"10.96.0.{host}",
                        {10: 53, 20: 700}.get(host, 80),
                    ),
                    when,
                )
                talker.open()
                talker.talk(forward=True, size=100)
                talker.talk(forward=False, size=3 * MSS)
    world.loss = loss
