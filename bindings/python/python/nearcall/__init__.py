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

from nearcall._native import (
    Binding,
    Clerk,
    CurrentCall,
    Descriptor,
    Importer,
    Inlet,
    Lent,
    Outlet,
    Pending,
    current_call,
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
    NoAStack,
    NoSuchName,
    NotAdmitted,
    NotExecuted,
    Outstanding,
    Panicked,
    Peer,
    Raised,
    Ran,
    ResultsRefused,
    UsageError,
)
from nearcall.feeds import AsyncFeed, AsyncSink, Feed, Sink, Taker
from nearcall.posting import call_all
from nearcall.raw import AsyncClient, Client, Exported, Server, export

__all__ = [
    "AsyncClient",
    "AsyncFeed",
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
    "Error",
    "ExportError",
    "Exported",
    "Feed",
    "GivenUp",
    "Importer",
    "Inlet",
    "Lent",
    "NoAStack",
    "NoSuchName",
    "NotAdmitted",
    "NotExecuted",
    "Outlet",
    "Outstanding",
    "Panicked",
    "Peer",
    "Pending",
    "Raised",
    "Ran",
    "ResultsRefused",
    "Server",
    "Sink",
    "Taker",
    "UsageError",
    "call_all",
    "current_call",
    "export",
    "shut_down",
]

_atexit.register(shut_down)
_os.register_at_fork(after_in_child=_note_fork)
