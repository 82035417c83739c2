"""Calls that are awaited: the runtime wakes the event loop. What opens, or carries, a feed waits in
a thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import typing
import weakref

from nearcall._native import Binding, Cancellation, Wakes, begin

__all__ = ["called", "in_thread", "until_cancelled"]

#: Most calls of this process that wait in threads at once; more wait for one of them.
THREADS_MAX = 64

Made = typing.TypeVar("Made")


class _Loop:
    """What an event loop watches, and who waits to be woken. Nobody but the loop holds it, which
    it holds as well: both go when the loop is closed, also with calls under way."""

    __slots__ = ("__weakref__", "_parked", "wakes")

    @staticmethod
    def running() -> _Loop:
        """That of the running event loop."""
        running = asyncio.get_running_loop()
        known = _LOOPS.get(running)
        own = None if known is None else known()
        if own is None:
            own = _Loop(running)
            _LOOPS[running] = weakref.ref(own)
        return own

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.wakes = Wakes()
        self._parked: dict[int, asyncio.Future[None]] = {}
        loop.add_reader(self.wakes.fileno(), self._wake)

    def _wake(self) -> None:
        for number in self.wakes.take():
            future = self._parked.get(number)
            if future is not None and not future.done():
                future.set_result(None)

    async def woken(self, number: int) -> None:
        """Waits until the call of that number was woken."""
        future = asyncio.get_running_loop().create_future()
        self._parked[number] = future
        try:
            await future
        finally:
            del self._parked[number]


_LOOPS: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[_Loop]] = (
    weakref.WeakKeyDictionary()
)


async def called(binding: Binding, procedure: int, *arguments: object) -> typing.Any:
    """A call. When the task is cancelled, it is given up at once, and its server can see it."""
    loop = _Loop.running()
    begun = begin(binding, loop.wakes, procedure, *arguments)
    if begun is None:
        return await until_cancelled(binding.call, procedure, *arguments)
    try:
        while not begun.poll():
            if begun.is_woken:
                await asyncio.sleep(0)
            else:
                await loop.woken(begun.number)
        return begun.outcome()
    finally:
        begun.give_up()


def in_thread(
    call: typing.Callable[..., Made], *arguments: object
) -> asyncio.Future[Made]:
    """Begins a call; it goes on when nobody awaits it any more."""
    return asyncio.get_running_loop().run_in_executor(_threads(), call, *arguments)


async def until_cancelled(call: typing.Callable[..., Made], *arguments: object) -> Made:
    """As :func:`in_thread`, but when the task is cancelled, what it calls is aborted within 20 ms.
    What it then has opened nonetheless is nobody's, and so is given up."""
    cancellation = Cancellation()
    try:
        return await in_thread(cancellation.run, call, *arguments)
    except asyncio.CancelledError:
        cancellation.cancel()
        raise


@functools.cache
def _threads() -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(THREADS_MAX, "nearcall")
