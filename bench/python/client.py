"""The client of the table ``python``: ``client.py HERE THERE``, its processor and that of the servers
in Python, which it starts. What else it calls is exported in the directory that the environment
names."""

from __future__ import annotations

import asyncio
import os
import pathlib
import platform
import subprocess
import sys

# Before anything that starts threads, which inherit it.
os.sched_setaffinity(0, [int(sys.argv[1])])

import numpy  # noqa: E402

import nearcall  # noqa: E402

import orders  # noqa: E402
from calls import CallsAsyncClient, CallsClient, MovesClient  # noqa: E402
from calls import SeveralAsyncClient, SeveralClient  # noqa: E402

BYTES = 64 << 20

#: At once, as many as there are A-stacks.
AT_ONCE = 64


def function() -> None:
    """Does nothing."""


def main() -> None:
    """Starts the servers in Python, and calls them and what is exported."""
    script = pathlib.Path(__file__).with_name("server.py")
    command, pipe = [sys.executable, str(script), sys.argv[2]], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as server:
        assert server.stdout is not None
        if server.stdout.readline() != "ready\n":
            sys.exit("the servers in Python do not start")
        call()


def call() -> None:
    """Imports what is exported, and answers orders."""
    calls, moves = CallsClient.import_("calls"), MovesClient.import_("moves")
    if calls.add(2, 3) != 5:
        sys.exit("a call came back wrong")
    numbers = numpy.full(BYTES, 7, numpy.uint8)
    target = numpy.zeros_like(numbers)
    lent = moves.binding.lend(BYTES)
    numpy.frombuffer(memoryview(lent), numpy.uint8)[:] = 7
    several = SeveralClient.import_("several")
    post = several.posting.null
    threads, tasks = (SeveralClient.import_(f"several-{who}") for who in ("threads", "tasks"))
    awaited = CallsAsyncClient(calls.binding)

    def posted(count: int) -> None:
        nearcall.call_all(range(count), lambda _: post())

    async def alone(count: int) -> None:
        for _ in range(count):
            await awaited.null()

    def together(client: SeveralClient) -> orders.AwaitedBatch:
        calls = SeveralAsyncClient(client.binding)

        async def at_once(count: int) -> None:
            for _ in range(0, count, AT_ONCE):
                await asyncio.gather(*(calls.null() for _ in range(AT_ONCE)))

        return at_once

    async def nothing(count: int) -> None:
        for _ in range(0, count, AT_ONCE):
            await asyncio.gather(*(asyncio.sleep(0) for _ in range(AT_ONCE)))

    null, add, take, copy = calls.null, calls.add, moves.take, numpy.copyto
    orders.obey(
        f"CPython {platform.python_version()}, NumPy {numpy.__version__}",
        {
            "null": null,
            "add": lambda: add(2, 3),
            "function": function,
            "opaque": lambda: take(numbers),
            "lent": lambda: take(lent),
            "copy": lambda: copy(target, numbers),
            "threads": threads.null,
            "tasks": tasks.null,
        },
        {"posted-64": posted},
        {
            "awaited": alone,
            "awaited-64": together(several),
            "threads-64": together(threads),
            "tasks-64": together(tasks),
            "asyncio-64": nothing,
        },
    )


main()
