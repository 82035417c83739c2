"""Call a procedure in another process as if it were here.

``nearcall compile --language python calls.idl`` writes a module with a client and a server for
each interface::

    client = CallsClient.import_("calls")
    client.add(2, 3)

    class Calls(CallsServer):
        def add(self, a: int, b: int) -> int:
            return a + b

    with nearcall.export("calls", Calls()):
        ...
"""

import atexit as _atexit
import os as _os
import pkgutil as _pkgutil
import typing as _typing

from nearcall._native import (
    Binding,
    Clerk,
    CurrentCall,
    Descriptor,
    DomainOptions,
    Importer,
    Inlet,
    Lent,
    Outlet,
    Pending,
    WaitPolicy,
    configure,
    shut_down,
)
from nearcall._native import note_fork as _note_fork
from nearcall.errors import (
    BindError,
    CallAborted,
    CallError,
    CallFailed,
    Error,
    ExportError,
    GivenUp,
    Introduced,
    IntroductionOver,
    NoAStack,
    NoIntroduction,
    NoSuchName,
    NotAdmitted,
    NotExecuted,
    NotReady,
    OtherInterface,
    OtherVersion,
    OutOfRange,
    Outstanding,
    Overloaded,
    Panicked,
    Peer,
    ProcessEnded,
    Raised,
    Ran,
    Reason,
    ResultsRefused,
    Revoked,
    TimedOut,
    UsageError,
)
from nearcall.feeds import Feed, Sink, Taker
from nearcall.posting import call_all
from nearcall.raw import AsyncClient, AsyncServer, Client, Exported, Server, export
from nearcall.serving import current_call

# What protoc makes of `nearcall/options.proto` is `nearcall.options_pb2`, wherever it lies, for the
# modules that it makes of files which import that one.
__path__ = _pkgutil.extend_path(__path__, __name__)

if _typing.TYPE_CHECKING:
    from nearcall.waiting import AsyncFeed, AsyncInlet, AsyncOutlet, AsyncSink
else:

    def __getattr__(name):
        """What asyncio comes with, which few programs need and takes long to import."""
        if name not in ("AsyncFeed", "AsyncInlet", "AsyncOutlet", "AsyncSink"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from nearcall import waiting

        return getattr(waiting, name)

__all__ = [
    "AsyncClient",
    "AsyncFeed",
    "AsyncInlet",
    "AsyncOutlet",
    "AsyncServer",
    "AsyncSink",
    "BindError",
    "Binding",
    "CallAborted",
    "CallError",
    "CallFailed",
    "Clerk",
    "Client",
    "CurrentCall",
    "Descriptor",
    "DomainOptions",
    "Error",
    "ExportError",
    "Exported",
    "Feed",
    "GivenUp",
    "Importer",
    "Inlet",
    "Introduced",
    "IntroductionOver",
    "Lent",
    "NoAStack",
    "NoIntroduction",
    "NoSuchName",
    "NotAdmitted",
    "NotExecuted",
    "NotReady",
    "OtherInterface",
    "OtherVersion",
    "OutOfRange",
    "Outlet",
    "Outstanding",
    "Overloaded",
    "Panicked",
    "Peer",
    "ProcessEnded",
    "Pending",
    "Raised",
    "Ran",
    "Reason",
    "ResultsRefused",
    "Revoked",
    "Server",
    "Sink",
    "Taker",
    "TimedOut",
    "UsageError",
    "WaitPolicy",
    "call_all",
    "configure",
    "current_call",
    "export",
    "shut_down",
]

_atexit.register(shut_down)
_os.register_at_fork(after_in_child=_note_fork)
