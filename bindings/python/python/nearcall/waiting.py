"""Calls that are awaited: each waits in a thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import typing

from nearcall._native import Cancellation

__all__ = ["in_thread", "until_cancelled"]

#: Most calls of this process that are awaited at once; more wait for one of them.
AWAITED_CALLS_MAX = 64

Made = typing.TypeVar("Made")


def in_thread(
    call: typing.Callable[..., Made], *arguments: object
) -> asyncio.Future[Made]:
    """Begins a call; it goes on when nobody awaits it any more."""
    return asyncio.get_running_loop().run_in_executor(_threads(), call, *arguments)


async def until_cancelled(call: typing.Callable[..., Made], *arguments: object) -> Made:
    """The same, but when the task is cancelled, what it calls is aborted within 20 ms. What it then
    has opened nonetheless is nobody's, and so is given up."""
    cancellation = Cancellation()
    try:
        return await in_thread(cancellation.run, call, *arguments)
    except asyncio.CancelledError:
        cancellation.cancel()
        raise


@functools.cache
def _threads() -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(AWAITED_CALLS_MAX, "nearcall")
