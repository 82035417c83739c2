"""What can go wrong. Every error says whether the procedure ran, as ``error.ran``."""

import enum
import reprlib

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


class Error(Exception):
    """Whatever this package raises."""

    ran: Ran = Ran.NO

    def __init__(self, *details: object, ran: Ran | None = None) -> None:
        super().__init__(*details)
        if ran is not None:
            self.ran = ran


class Raised(Error):
    """An exception that the interface file declares: the procedure ran, and raised it."""

    ran = Ran.YES

    def __str__(self) -> str:
        """Its members by name, also those that were given by name; long ones are cut."""
        members = getattr(self, "__dataclass_fields__", ())
        return ", ".join(f"{name}={_SHOWN.repr(getattr(self, name))}" for name in members)


class CallError(Error):
    """Why a call has no results."""


class UsageError(CallError):
    """An argument is none that the interface allows. Nothing was posted."""


class Outstanding(UsageError):
    """This thread has posted calls on all A-stacks that there are, and collects none of them while
    it waits for one. Nothing was posted."""


class NoAStack(CallError):
    """No A-stack came free before the deadline. Nothing was posted."""


class NotExecuted(CallError):
    """The procedure was proven not to have run. A retry is safe."""


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
    """Why there is no binding."""


class NoSuchName(BindError):
    """No domain exports this name."""


class NotAdmitted(BindError):
    """The server does not admit this process."""


class ExportError(Error):
    """Why an interface is not exported."""
