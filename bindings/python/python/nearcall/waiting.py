"""Calls that are awaited, and procedures that are: the runtime wakes the event loop. What opens, or
carries, a client's feed waits in a thread.

Nothing else of this package needs asyncio, which takes longer to import than all of it: so this
module is imported by what awaits, when it does."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import os
import typing
import weakref

from nearcall._native import (
    Binding,
    Cancellation,
    Coming,
    Ending,
    Going,
    Inlet,
    Outlet,
    ServedCall,
    Wakes,
    begin,
    wake_number,
)
from nearcall.serving import SERVED
from nearcall.shown import shown

__all__ = [
    "AsyncFeed",
    "AsyncInlet",
    "AsyncOutlet",
    "AsyncSink",
    "called",
    "ready",
    "until_cancelled",
    "wakes",
]

#: Most calls of this process that wait in threads at once; more wait for one of them.
THREADS_MAX = 64

#: Between two looks whether clients have given up calls that run, seconds.
LOOK_SLICE = 0.02

Came = typing.TypeVar("Came", covariant=True)
Sent = typing.TypeVar("Sent", contravariant=True)
Made = typing.TypeVar("Made", covariant=True)
Waited = typing.TypeVar("Waited")


class _Loop:
    """What an event loop watches, who waits to be woken, and which calls it serves. Nobody but the
    loop holds it: it goes when the loop is closed, also with calls under way, and their clients are
    told. A frame of a coroutine may be kept for longer, and so holds none of it but its parts."""

    __slots__ = ("__weakref__", "_is_looking", "_serving", "parked", "threaded", "wakes")

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
        self.parked: dict[int, asyncio.Future[None]] = {}
        #: Of the calls that threads make for its tasks.
        self.threaded: set[Cancellation] = set()
        #: ``None``: its task was cancelled.
        self._serving: dict[asyncio.Task[None], ServedCall | None] = {}
        self._is_looking = False
        weakref.finalize(self, _close, self.wakes, self._serving, self.threaded)
        loop.add_reader(self.wakes.fileno(), self._wake)

    def _wake(self) -> None:
        woken, calls = self.wakes.take()
        for number in woken:
            future = self.parked.get(number)
            if future is not None and not future.done():
                future.set_result(None)
        if calls:
            self._serve(calls)

    def _serve(self, calls: list[ServedCall]) -> None:
        loop = asyncio.get_running_loop()
        for call in calls:
            task = loop.create_task(_served(call))
            self._serving[task] = call
            task.add_done_callback(_forget)
        if not self._is_looking:
            self._is_looking = True
            loop.call_later(LOOK_SLICE, _look)

    def forget(self, task: asyncio.Task[None]) -> None:
        """A task is done."""
        self._serving.pop(task, None)

    def look(self) -> None:
        """Cancels the tasks that serve calls which nobody waits for any more; once, so that they
        can clean up."""
        for task, call in self._serving.items():
            if call is not None and call.is_cancelled:
                self._serving[task] = None
                task.cancel()
        self._is_looking = bool(self._serving)
        if self._is_looking:
            asyncio.get_running_loop().call_later(LOOK_SLICE, _look)


def _forget(task: asyncio.Task[None]) -> None:
    _Loop.running().forget(task)


def _look() -> None:
    _Loop.running().look()


def _close(
    wakes: Wakes,
    serving: dict[asyncio.Task[None], ServedCall | None],
    threaded: set[Cancellation],
) -> None:
    """The loop is closed: nothing is run any more."""
    wakes.close()
    for cancellation in tuple(threaded):
        cancellation.cancel()
    for call in serving.values():
        if call is not None:
            call.give_up()


async def _woken(parked: dict[int, asyncio.Future[None]], number: int) -> None:
    """Waits until what has that number was woken."""
    future = asyncio.get_running_loop().create_future()
    parked[number] = future
    try:
        await future
    finally:
        del parked[number]


_LOOPS: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[_Loop]] = (
    weakref.WeakKeyDictionary()
)


def wakes() -> Wakes:
    """Where the running event loop is told of calls that it is to serve."""
    try:
        asyncio.get_running_loop()
    except RuntimeError as error:
        raise RuntimeError(f"{error}: a task exports an AsyncServer, whose loop runs it") from None
    return _Loop.running().wakes


async def _served(call: ServedCall) -> None:
    """Serves a call, and the feed to one side that it opens."""
    SERVED.set(call)
    try:
        arguments = call.arguments()
        if arguments is None:
            return
        results = await _run(call, arguments)
    except (asyncio.CancelledError, GeneratorExit):
        call.give_up()
        raise
    except Exception as raised:
        call.fail(raised)
    except BaseException as raised:
        call.fail(raised)
        raise
    else:
        call.reply(results)


async def _run(call: ServedCall, arguments: tuple[typing.Any, ...]) -> object:
    """What the method evaluates to. What it opens is open from then on that there can be items."""
    match call.opens:
        case "source":
            *given, outlet = arguments
            made = aiter(call.function(*given))
            call.open()
            await _give(made, outlet)
            return None
        case "taker":
            *given, inlet = arguments
            taking = call.function(*given, AsyncInlet(inlet))
            call.open()
            return await taking
        case "exchange":
            *given, inlet, outlet = arguments
            arguments = (*given, AsyncInlet(inlet), AsyncOutlet(outlet))
    return await call.function(*arguments)


async def _give(items: typing.AsyncIterator[object], outlet: Outlet[typing.Any]) -> None:
    """Gives the client what an async generator makes, as long as it wants that."""
    try:
        async for item in items:
            while (is_put := outlet.put_made(item)) is None:
                await ready(outlet)
            if not is_put:
                break
    finally:
        close = getattr(items, "aclose", None)
        if close is not None:
            await close()


async def called(binding: Binding, procedure: int, *arguments: object) -> typing.Any:
    """A call. When the task is cancelled, it is given up at once, and its server can see it."""
    loop = _Loop.running()
    begun, parked = begin(binding, loop.wakes, SERVED.get(), procedure, *arguments), loop.parked
    del loop
    if begun is None:
        return await until_cancelled(binding.call, procedure, *arguments)
    try:
        while not (polled := begun.poll()):
            if begun.is_woken:
                await asyncio.sleep(0)
            else:
                await _woken(parked, begun.number)
        if isinstance(polled, bool):
            return begun.outcome()
    finally:
        begun.give_up()
    # Its server has ended, and it may run twice: to bind anew takes a while.
    return await until_cancelled(polled.collect)


def in_thread(
    call: typing.Callable[..., Waited], *arguments: object
) -> asyncio.Future[Waited]:
    """Begins a call; it goes on when nobody awaits it any more."""
    return asyncio.get_running_loop().run_in_executor(_threads(), call, *arguments)


async def until_cancelled(call: typing.Callable[..., Waited], *arguments: object) -> Waited:
    """As :func:`in_thread`, but when the task is cancelled or closed, or its loop is, what it calls
    is aborted within 20 ms.
    What it then has opened nonetheless is nobody's, and so is given up."""
    cancellation = Cancellation(SERVED.get())
    threaded = _Loop.running().threaded
    threaded.add(cancellation)
    try:
        return await in_thread(cancellation.run, call, *arguments)
    except (asyncio.CancelledError, GeneratorExit):
        cancellation.cancel()
        raise
    finally:
        threaded.discard(cancellation)


@functools.cache
def _threads() -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(THREADS_MAX, "nearcall")


# A child of fork(2) has none of its parent's threads: what it opens is refused, and does not wait
# for one of those.
os.register_at_fork(after_in_child=_threads.cache_clear)


def _outcome(
    call: typing.Callable[..., Waited], *arguments: object
) -> typing.Callable[[], Waited]:
    """What a call evaluates to or raises, for whoever asks. A future of the loop's that has an
    exception is told as lost when nobody has asked, and of a batch nobody has to."""
    outcome = concurrent.futures.Future[Waited]()
    try:
        outcome.set_result(call(*arguments))
    except Exception as raised:
        outcome.set_exception(raised)
    return outcome.result


class AsyncFeed(typing.Generic[Came]):
    """A :class:`Feed` whose batches are awaited. What came while nobody waited any more, because
    the task was cancelled, is kept for who asks next, until the feed is closed or not held by
    anybody."""

    __slots__ = ("_cancellation", "_coming", "_items", "_pending")

    def __init__(self, coming: Coming) -> None:
        self._coming = coming
        #: Of the thread that waits for a batch, and holds what comes as long.
        self._cancellation = Cancellation()
        self._items: typing.Iterator[Came] = iter(())
        self._pending: (
            asyncio.Future[typing.Callable[[], list[typing.Any] | None]] | None
        ) = None

    def __repr__(self) -> str:
        return shown(self, "_coming")

    def __del__(self) -> None:
        self._give_up()

    def __aiter__(self) -> typing.Self:
        return self

    async def __anext__(self) -> Came:
        while True:
            for item in self._items:
                return item
            batch = await self._batch()
            if batch is None:
                raise StopAsyncIteration
            self._items = iter(batch)

    async def _batch(self) -> list[typing.Any] | None:
        if self._pending is None:
            self._pending = in_thread(_outcome, self._cancellation.run, self._coming.batch)
        outcome = await asyncio.shield(self._pending)
        self._pending = None
        return outcome()

    async def aclose(self) -> None:
        """Gives up what has not come yet; whoever waits for it has an error."""
        self._items = iter(())
        self._give_up()

    def _give_up(self) -> None:
        self._coming.give_up()
        self._cancellation.cancel()

    async def __aenter__(self) -> typing.Self:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        await self.aclose()


class AsyncSink(typing.Generic[Sent, Made]):
    """A :class:`Sink` whose batches are awaited. A batch goes on when the task that awaits it is
    cancelled, and whoever puts the next item waits for it."""

    __slots__ = ("_going", "_pending")

    def __init__(self, going: Going) -> None:
        self._going = going
        self._pending: asyncio.Future[typing.Callable[[], None]] | None = None

    def __repr__(self) -> str:
        return shown(self, "_going")

    async def put(self, item: Sent) -> None:
        """As :meth:`Sink.put`."""
        await self._settled()
        if self._going.put(item):
            await self.flush()

    async def flush(self) -> None:
        """As :meth:`Sink.flush`."""
        await self._settled()
        self._pending = in_thread(_outcome, self._going.flush)
        await self._settled()

    async def end(self) -> Made:
        """As :meth:`Sink.end`; aborted, and given up, if it is cancelled."""
        await self._settled()
        try:
            made: Made = await until_cancelled(self._going.end)
        except asyncio.CancelledError:
            self._going.give_up()
            raise
        return made

    async def _settled(self) -> None:
        if self._pending is None:
            return
        outcome = await asyncio.shield(self._pending)
        self._pending = None
        outcome()

    async def aclose(self) -> None:
        """Gives it up, if it was not ended."""
        self._going.give_up()

    async def __aenter__(self) -> typing.Self:
        return self

    async def __aexit__(self, raised: object, *_more: object) -> None:
        if raised is not None:
            await self.aclose()
        elif not self._going.is_over:
            await self.end()


async def ready(end: Inlet[typing.Any] | Outlet[typing.Any] | Ending) -> None:
    """Waits until an end of an exchange will not, or a server's end has come."""
    loop, number = _Loop.running(), wake_number()
    wakes, parked = loop.wakes, loop.parked
    del loop
    while not end.is_ready(wakes, number):
        await _woken(parked, number)


class AsyncInlet(typing.Generic[Came]):
    """An :class:`Inlet` whose items are awaited. Belongs to one task at a time."""

    __slots__ = ("_inlet", "_items")

    def __init__(self, inlet: Inlet[Came]) -> None:
        self._inlet = inlet
        self._items: typing.Iterator[Came] = iter(())

    def __repr__(self) -> str:
        return shown(self, "_inlet")

    def __aiter__(self) -> typing.Self:
        return self

    async def __anext__(self) -> Came:
        while True:
            for item in self._items:
                return item
            batch = self._inlet.batch()
            if batch is None:
                raise StopAsyncIteration
            if not batch:
                await ready(self._inlet)
            self._items = iter(batch)

    def close(self) -> None:
        """Takes no more items."""
        self._items = iter(())
        self._inlet.close()

    async def __aenter__(self) -> typing.Self:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        self.close()


class AsyncOutlet(typing.Generic[Sent]):
    """An :class:`Outlet` that is awaited until there is room. Belongs to one task at a time. Left as
    a context, it raises what was raised, but for :class:`GivenUp`; a task that is cancelled leaves
    its client with an error, and so does an outlet that is not closed."""

    __slots__ = ("_outlet",)

    def __init__(self, outlet: Outlet[Sent]) -> None:
        self._outlet = outlet

    def __repr__(self) -> str:
        return shown(self, "_outlet")

    async def put(self, item: Sent) -> None:
        """As :meth:`Outlet.put`."""
        await ready(self._outlet)
        self._outlet.put(item)

    def raise_(self, raised: BaseException) -> None:
        """As :meth:`Outlet.raise_`."""
        self._outlet.raise_(raised)

    def close(self) -> None:
        """There are no more items."""
        self._outlet.close()

    async def __aenter__(self) -> typing.Self:
        return self

    async def __aexit__(
        self, kind: object, raised: BaseException | None, traceback: object
    ) -> None:
        self._outlet.__exit__(kind, raised, traceback)
