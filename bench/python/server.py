"""The servers of the table ``python``: ``server.py PROCESSOR`` exports ``several-threads``, whose
procedures run on threads of the package's, and ``several-tasks``, whose procedures an event loop
awaits, in the directory that the environment names, until its standard input ends."""

from __future__ import annotations

import asyncio
import os
import sys

# Before anything that starts threads, which inherit it.
os.sched_setaffinity(0, [int(sys.argv[1])])

import nearcall  # noqa: E402

from calls import SeveralAsyncServer, SeveralServer  # noqa: E402


class Threads(SeveralServer):
    """Does nothing."""

    def null(self) -> None:
        """At once."""

    def leaf(self) -> None:
        """Not called."""


class Tasks(SeveralAsyncServer):
    """Does nothing."""

    async def null(self) -> None:
        """At once."""

    async def leaf(self) -> None:
        """Not called."""


def told() -> None:
    """Says that it is ready, and waits for the end."""
    print("ready", flush=True)
    sys.stdin.read()


async def main() -> None:
    """Exports both."""
    threads = nearcall.export("several-threads", Threads())
    with threads, nearcall.export("several-tasks", Tasks()):
        await asyncio.to_thread(told)


asyncio.run(main())
