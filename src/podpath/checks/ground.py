"""Why a fault that could be something else is certain after all, or a certain one is not: what is
stated beside its lines.
"""

from __future__ import annotations

from enum import Enum, auto


class Unsettling(Enum):
    """A stated fact that makes a certain fault a possible one."""

    OVER = auto()
    """The log goes on about the same device, long after its last word of this fault."""
    WORKS = auto()
    """Something is seen to be answered over the device that is said to be broken."""
    UNREAD_BESIDE = auto()
    """An output about the same thing was not read, which may say why."""
    EXISTS = auto()
    """What is to be made is said to be there already, by the same name."""
    RECOVERED = auto()
    """The same log says that it came up again, and it did not fail after that."""
    STANDS = auto()
    """Another output shows the same thing up."""
    OTHER_DEVICE = auto()
    """What people say fails is on another device, or never leaves the node."""
    OTHER_FAILURE = auto()
    """People say that something fails, and not that anything is not made or does not start."""
    OWN_WORDS = auto()
    """An output about the same program says, or may say, why it does not run, or that it does."""
    OUTSIDE_RANGE = auto()
    """No address that is said to fail lies in both ranges."""
    ITS_OWN = auto()
    """Nothing shows that the device in the way belongs to somebody else."""
    NO_SPEED = auto()
    """A card beside it reports no speed, which keeps it out of what needs one."""
    LATER = auto()
    """The same, done by hand later, works: nothing is wrong with what was refused."""
    TYPED = auto()
    """It is the answer to a command that somebody typed, and no component's."""
    DONE = auto()
    """The same log says afterwards that what had failed was done."""
    RUNS = auto()
    """The pods of the program that said so are shown running, each of their containers ready."""

    LONG_AGO = auto()
    """It is an event, not a state, and days older than what else was printed."""
    OTHER_PROGRAM = auto()
    """It stands in the log of a program that nobody mentions."""
    TENTATIVE = auto()
    """The address is listed, and duplicate address detection has not passed."""
    CUT_OFF = auto()
    """Who said so gets no answer from anybody else either: what it waits for is not what fails."""
    OTHER_FAMILY = auto()
    """It is about IPv6 on the link alone, and nobody says that anything of IPv6 fails."""
    NO_SERVICE = auto()
    """What people say fails is no connection to a service from elsewhere than a pod."""
    TEARDOWN = auto()
    """It was said while an old sandbox was taken away."""
    ONLY_PROBED = auto()
    """A program looked for it at its start, and goes on without it, or in another mode."""
    PERHAPS_BUILT_IN = auto()
    """It was looked for in a container, or the next line says that the kernel may have it."""
    AGAIN = auto()
    """The same command, typed again later, does not say it."""
    NOT_LOADED = auto()
    """A file of rules is refused when it is loaded, and these may be its rules."""
    SUPPOSED = auto()
    """It is quoted as what would be printed, or should be."""
    RESCUE = auto()
    """What runs is a rescue system, or another system in a chroot."""
    REASON_BESIDE = auto()
    """It gives no reason, and the same event has a failure with one."""
    AGENT_DOWN = auto()
    """People say that the network plugin's own pods do not run, which is why."""
    PAST = auto()
    """A sentence below it says that it is of another time or host, or over."""
    XDP_QUEUE = auto()
    """Its driver says beside it that a queue hangs on which XDP sends."""


class Ground(Enum):
    """A stated fact that settles a possible fault."""

    ENDED = auto()
    """Who said it gave up, or the unit that does this work failed: it was not tried again."""
    SAME_ERROR = auto()
    """A trace of calls shows the same error of the kernel."""
    BY_HAND = auto()
    """The same, done by hand later, helps: what it needed was not there at that time."""
    AT_CONTAINER_START = auto()
    """What fails begins when a container starts or stops, and so does what was done to its
    device.
    """
    SAME_MECHANISM = auto()
    """A second line states the same mechanism."""
    LASTING = auto()
    """The same error was met again, and is of a sort that waiting does not cure."""
    OUTSIDE_NAMES = auto()
    """People say that names outside the cluster fail at times: the way to who answers for them is
    open, and the line says who does not.
    """
    SERVICE_MASKED = auto()
    """What stands in the place of a masked address says that it is a service's."""
    OTHERS_ANSWERED = auto()
    """People say that names resolve, and only a question of another sort goes unanswered."""
    ITS_TASK = auto()
    """What people miss is what the program that ended is there for."""
    OWN_REJECT = auto()
    """Who prohibits is who is asked: the firewall is its own."""
    INSISTED = auto()
    """The hop says so again and again, so the sender does not take it."""
    SYMPTOM = auto()
    """What people say fails is what this state breaks."""
    ONE_NODE = auto()
    """The cluster is said to be one machine: packets between its pods cross its bridge alone."""
    WHOLE_TTL = auto()
    """The packets are those of a ping that was given no TTL: they start with a whole one."""
    SAME_PORT = auto()
    """People write of that very port, and of no other that fails; and the kernel drops what comes.
    """
