"""What can go wrong. Every error says whether the procedure ran, as ``error.ran``."""

import copyreg
import enum
import functools
import reprlib
import typing

_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 80


class Ran(enum.Enum):
    """Whether a procedure ran."""

    #: No: a retry cannot run it twice.
    NO = "no"
    #: Nobody can tell: retry only what is idempotent.
    MAYBE = "maybe"
    #: Yes, once.
    YES = "yes"


class Reason(enum.Enum):
    """Why a procedure did not run."""

    #: The server's domain ended before it took the call.
    SERVER_ENDED = "server ended"
    #: The binding was revoked before the call.
    REVOKED = "revoked"
    #: The server has given the binding up, and refused the call: it ends, has withdrawn the name, or
    #: has another policy.
    REFUSED = "refused"
    #: The server refused the arguments: to it they are not what the interface promises.
    ARGUMENTS_REFUSED = "arguments refused"
    #: The server's policy does not let this client call this procedure.
    NOT_PERMITTED = "not permitted"
    #: The server was made from a version of the interface that does not have the procedure.
    NOT_PROVIDED = "not provided"
    #: The deadline passed before the call was posted.
    DEADLINE_PASSED = "deadline passed"
    #: The arguments lie out of line, and the server has no room for them now: its clients of this
    #: user have their share. Try again later.
    OVERLOADED = "overloaded"
    #: The descriptors of the call could not be sent: the server does not read what it is sent, or
    #: this user has too many under way. Try again later.
    DESCRIPTORS_NOT_SENT = "descriptors not sent"
    #: The feed that the item was for is over: an error has said so before.
    FEED_OVER = "feed over"


class Error(Exception):
    """Whatever this package raises."""

    ran: Ran = Ran.NO

    #: Whether the same may be tried once more as it is: nothing has run, and another time it may.
    #: Not at once where there was no room, and of a binding that is over on what
    #: ``binding.rebind()`` returns.
    may_retry: bool = False

    def __init__(
        self, *details: object, ran: Ran | None = None, may_retry: bool | None = None
    ) -> None:
        super().__init__(*details)
        if ran is not None:
            self.ran = ran
        if may_retry is not None:
            self.may_retry = may_retry


class Raised(Error):
    """An exception that the interface file declares: the procedure ran, and raised it."""

    ran = Ran.YES

    def __str__(self) -> str:
        """Its members by name, also those that were given by name; long ones are cut."""
        members = getattr(self, "__dataclass_fields__", ())
        return ", ".join(f"{name}={_SHOWN.repr(getattr(self, name))}" for name in members)

    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Members that were given by name are in ``__dict__`` alone: whoever pickles or copies, and
        made another one of the arguments, would lack them."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class CallError(Error):
    """Why a call has no results."""

    #: The life of the server that the call is or was in, where that may have run it: see
    #: ``binding.incarnation``.
    incarnation: int | None = None

    def __init__(
        self,
        *details: object,
        ran: Ran | None = None,
        may_retry: bool | None = None,
        incarnation: int | None = None,
    ) -> None:
        super().__init__(*details, ran=ran, may_retry=may_retry)
        if incarnation is not None:
            self.incarnation = incarnation


class UsageError(CallError):
    """An argument is none that the interface allows, or this client has as many feeds open as it
    may. Nothing was posted."""


class Outstanding(UsageError):
    """This thread has posted calls on all A-stacks that there are, and collects none of them while
    it waits for one. Nothing was posted."""


class OutOfRange(UsageError, ValueError):
    """A time is none that Protocol Buffers have, or none of its class in Python. An argument that
    is out of range is a `UsageError`."""


class NoAStack(CallError):
    """No A-stack came free before the deadline. Nothing was posted."""


class NotExecuted(CallError):
    """The procedure was proven not to have run, so that a retry is safe; or a batch of a feed was,
    and what has opened the feed has run: then ``ran`` is ``MAYBE``."""

    def __init__(
        self,
        *details: object,
        reason: Reason,
        ran: Ran | None = None,
        may_retry: bool | None = None,
    ) -> None:
        super().__init__(*details, ran=ran, may_retry=may_retry)
        #: Why not.
        self.reason: Reason = reason

    def __reduce__(self) -> tuple[typing.Any, ...]:
        """Whoever pickles or copies makes another one of the arguments alone."""
        return functools.partial(type(self), reason=self.reason), self.args, self.__dict__


class CallFailed(CallError):
    """The server's domain ended while it held the call. The procedure may have run."""


class CallAborted(CallError):
    """The deadline passed; the server may still be running the procedure."""


class Panicked(CallError):
    """The procedure ran, and ended with an error of its own, or left what it was to reply with. The
    server lives on."""


class ResultsRefused(CallError):
    """The procedure ran, and its results are none that the interface allows."""


class Peer(CallError):
    """The server broke the protocol. The binding is revoked."""


class GivenUp(Error):
    """To a procedure: the client of an exchange has given this side up, or has ended."""

    ran = Ran.YES


class BindError(Error):
    """Why there is no binding. What is none of the classes below is of the name itself, or of a
    server that broke the bind protocol or went away in the middle of it, of memory or descriptors
    that the system refused, or of a ``ready_pidfd`` that is no pidfd."""


class NoSuchName(BindError):
    """No domain exports this name."""


class NotAdmitted(BindError):
    """The server does not admit this process."""


class OtherInterface(BindError):
    """The server exports another interface under this name."""


class OtherVersion(BindError):
    """The server has another version of the interface, and neither of the two only adds to the
    other what may be added: operations at the end, or members and enumerators at the end of what
    is ``@appendable``. ``nearcall diff`` of both files tells more."""


class Overloaded(BindError):
    """The server has no room now, or none for clients of this user. Try again later."""


class TimedOut(BindError):
    """The server did not answer in time."""


class NotReady(BindError):
    """An import or a rebind that waits has waited as long as it may, and nobody has exported the
    name. Its ``__cause__`` is why there was no binding when it last tried."""


class ProcessEnded(BindError):
    """The process that an import waited for has ended, and nobody has exported the name. Its
    ``__cause__`` is why there was no binding when it was tried once more, after that end."""


class NoIntroduction(BindError):
    """The descriptor that was to be imported from is no introduction."""


class IntroductionOver(BindError):
    """The introduction is over: it was used, it waited too long, or whoever gave it, or the server,
    has gone. Another one may be had from a giver."""


class Introduced(BindError):
    """The binding was introduced, so there is no name to rebind by: another introduction may be had
    from a giver."""


class Revoked(BindError):
    """The binding that somebody was to be introduced to is revoked."""


class ExportError(Error):
    """Why an interface is not exported."""
