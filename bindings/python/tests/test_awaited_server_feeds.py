"""Feeds to one side of servers that are awaited: async generators, and tasks that are given an
inlet. What they share with the feeds of other servers is in ``test_feeds.py``."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import os
import sys
import threading
import types
import typing
import unittest.mock

import pytest

import nearcall
import nearcall.waiting
from test_awaited_servers import comes, served
from test_feeds import NEVER

Module = types.ModuleType

#: Feeds that are open at once: more than a domain has processors, and fewer than a binding may have.
OPEN = 40


def feeding(passing: Module, **members: object) -> typing.Any:
    """A server with these procedures."""
    # Nobody calls the others.
    idle = unittest.mock.Mock()
    all_of = dict.fromkeys(passing.FeedingAsyncServer.__abstractmethods__, idle) | members
    return type("Feeding", (passing.FeedingAsyncServer,), all_of)


class Ends:
    """How often tasks have begun, and how they ended."""

    def __init__(self) -> None:
        self.begun, self.cancelled, self.given_up = 0, 0, 0
        self.free = asyncio.Event()

    async def numbers(self, count: int, pause_ms: int) -> typing.AsyncIterator[int]:
        """One number, and others when that is allowed."""
        self.begun += 1
        try:
            yield 0
            await self.free.wait()
            for number in range(1, count):
                yield number
        except asyncio.CancelledError:
            # To clean up may take longer than it takes to look again.
            await asyncio.sleep(0.1)
            self.cancelled += 1
            raise

    async def sum(self, inlet: nearcall.AsyncInlet[int]) -> int:
        self.begun += 1
        total = 0
        try:
            async for number in inlet:
                total += number
        except (nearcall.GivenUp, asyncio.CancelledError):
            self.given_up += 1
            raise
        return total

    async def alive(self) -> int:
        return self.begun - self.cancelled - self.given_up


def ending(passing: Module) -> tuple[typing.Callable[[], typing.Any], list[Ends]]:
    """A server that counts, and where its loop leaves the counts."""
    all_ends: list[Ends] = []

    def make() -> typing.Any:
        ends = Ends()
        all_ends.append(ends)
        # They are bound already.
        own = {name: staticmethod(getattr(ends, name)) for name in ("numbers", "sum", "alive")}
        return feeding(passing, **own)()

    return make, all_ends


def test_feeds_that_wait_keep_no_processor(passing: Module) -> None:
    make, all_ends = ending(passing)
    with served("waiting", make) as loop:
        client = passing.FeedingClient.import_("waiting", grows=True)
        feeds = [iter(client.numbers(5, 0)) for _ in range(OPEN)]
        assert [next(feed) for feed in feeds] == [0] * OPEN
        sinks = [client.sum() for _ in range(10)]
        for sink in sinks:
            sink.put(7)
            sink.flush()
        # All of them wait for something, and a call goes through.
        assert client.alive() == OPEN + 10
        loop.call_soon_threadsafe(all_ends[0].free.set)
        assert [list(feed) for feed in feeds] == [[1, 2, 3, 4]] * OPEN
        assert [sink.end() for sink in sinks] == [7] * 10


def test_a_feed_that_its_client_gives_up_is_cancelled(passing: Module) -> None:
    make, all_ends = ending(passing)
    with served("given-up", make):
        client = passing.FeedingClient.import_("given-up")
        with client.numbers(5, 0) as feed:
            assert next(feed) == 0
            comes(client.alive, 1)
        comes(lambda: all_ends[0].cancelled, 1)
        with pytest.raises(ZeroDivisionError), client.sum() as sink:
            sink.put(1)
            sink.flush()
            comes(client.alive, 1)
            raise ZeroDivisionError
        comes(lambda: all_ends[0].given_up, 1)
        # And with the binding.
        other = passing.FeedingClient.import_("given-up")
        feed = other.numbers(5, 0)
        assert next(feed) == 0
        del other, feed
        comes(client.alive, 0)
        assert all_ends[0].begun == 3


def test_a_feed_that_nobody_holds_when_its_task_is_cancelled_is_given_up(passing: Module) -> None:
    make, all_ends = ending(passing)
    told: list[typing.Any] = []

    async def follow(client: typing.Any, begun: asyncio.Event) -> None:
        async for number in await client.numbers(5, 0):
            assert number == 0
            begun.set()

    async def all() -> int:
        asyncio.get_running_loop().set_exception_handler(lambda _, found: told.append(found))
        client = passing.FeedingAsyncClient.import_("unheld")
        # More than there are A-stacks.
        for _ in range(12):
            begun = asyncio.Event()
            task = asyncio.create_task(follow(client, begun))
            await begun.wait()
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            del task
        return int(await asyncio.wait_for(client.alive(), 30))

    with served("unheld", make):
        asyncio.run(all())
        comes(lambda: all_ends[0].cancelled, 12)
    gc.collect()
    assert told == []


@pytest.mark.parametrize("way", ["comes", "goes"])
def test_a_loop_that_ends_with_an_error_nobody_waits_for_tells_nothing(
    passing: Module, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    make, _ = ending(passing)
    told: list[typing.Any] = []
    thread = concurrent.futures.ThreadPoolExecutor(1)
    monkeypatch.setattr(nearcall.waiting, "_threads", lambda: thread)
    free = threading.Event()

    async def main() -> None:
        client = passing.FeedingAsyncClient.import_("unwaited")
        if way == "comes":
            opened = await client.numbers(5, 0)
            # Its next item never comes.
            assert await anext(opened) == 0
            asked = anext(opened)
        else:
            opened = await client.sum()
            # Its batch goes behind this, when the feed is over.
            thread.submit(free.wait, 60)
            asked = opened.flush()
        task = asyncio.create_task(asked)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await opened.aclose()
        free.set()
        # The loop is told of the batch when this is over, and goes round once more.
        thread.submit(int).result(60)

    with served("unwaited", make), thread:
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda _, found: told.append(found))
        loop.run_until_complete(main())
        loop.close()
        gc.collect()
    assert told == []


def test_an_answer_may_come_before_the_last_item(passing: Module) -> None:
    async def sum(inlet: nearcall.AsyncInlet[int]) -> int:
        total = 0
        async for number in inlet:
            total += number
            if number == 3:
                break
        inlet.close()
        await asyncio.sleep(0.05)
        return total

    with served("early", lambda: feeding(passing, sum=staticmethod(sum))()):
        client = passing.FeedingClient.import_("early")
        sink = client.sum()
        for number in range(5_000):
            sink.put(number)
        assert sink.end() == 6


def test_what_is_raised_comes_behind_the_items(
    passing: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, str]] = []
    tell: typing.Any = lambda found: told.append((found.object.__name__, str(found.exc_value)))  # noqa: E731
    monkeypatch.setattr(sys, "unraisablehook", tell)

    async def rows(name: str, count: int, refused: int) -> typing.AsyncIterator[typing.Any]:
        for key in range(count):
            if key == refused:
                raise passing.Refused(key, name)
            yield passing.Row(key, name)
        raise RuntimeError("on purpose")

    async def load(name: str, refused: int, inlet: nearcall.AsyncInlet[typing.Any]) -> int:
        async for row in inlet:
            if row.key == refused:
                raise passing.Refused(row.key, name)
        raise RuntimeError("on purpose")

    members = {"rows": staticmethod(rows), "load": staticmethod(load)}
    with served("raising", lambda: feeding(passing, **members)()):
        client = passing.FeedingClient.import_("raising")
        for refused, error in ((3, passing.Refused), (NEVER, nearcall.Panicked)):
            feed, came = client.rows("row", 5, refused), list[int]()
            with pytest.raises(error):
                for row in feed:
                    came.append(row.key)
            assert came == list(range(min(5, refused)))
            load = client.load("load", refused)
            with pytest.raises(error):
                # Of many items one batch is told of it, of few the end.
                for key in range(5_000 if refused == 3 else 5):
                    load.put(passing.Row(key, "row"))
                load.end()
    assert told == [("rows", "on purpose"), ("load", "on purpose")]


def test_a_loop_that_is_closed_leaves_its_clients_with_an_error(passing: Module) -> None:
    outcomes: list[type] = []
    begun, exported = threading.Event(), list[nearcall.Exported]()

    async def numbers(count: int, pause_ms: int) -> typing.AsyncIterator[int]:
        yield 0
        begun.set()
        await asyncio.sleep(600)

    async def main() -> None:
        server = feeding(passing, numbers=staticmethod(numbers))()
        exported.append(nearcall.export("closing", server))
        ready.set()
        await asyncio.to_thread(begun.wait)

    def read() -> None:
        client = passing.FeedingClient.import_("closing")
        try:
            assert list(client.numbers(5, 0)) == []
        except nearcall.CallError as error:
            outcomes.append(type(error))

    ready = threading.Event()
    reader = threading.Thread(target=lambda: (ready.wait(), read()), daemon=True)
    reader.start()
    asyncio.run(main())
    reader.join(30)
    assert outcomes == [nearcall.Panicked]
    exported[0].withdraw()


@pytest.mark.parametrize("kind", ["a coroutine", "a generator"])
def test_what_opens_a_feed_to_the_client_is_an_async_generator(
    passing: Module, kind: str
) -> None:
    async def coroutine(count: int, pause_ms: int) -> list[int]:
        return [count, pause_ms]

    def generator(count: int, pause_ms: int) -> typing.Iterator[int]:
        yield count + pause_ms

    numbers: typing.Any = coroutine if kind == "a coroutine" else generator

    async def main() -> None:
        says = f"numbers is {kind}: its items come of an async generator"
        with pytest.raises(TypeError, match=says):
            nearcall.export("wrong", feeding(passing, numbers=staticmethod(numbers))())

    asyncio.run(main())


def test_a_task_knows_who_has_opened_its_feed(passing: Module) -> None:
    seen: list[tuple[int | None, bool, float | None]] = []
    calls: list[nearcall.CurrentCall] = []

    def look() -> None:
        call = nearcall.current_call()
        assert call is not None
        seen.append((call.importer.pid, call.is_cancelled, call.time_left))
        calls.append(call)

    async def numbers(count: int, pause_ms: int) -> typing.AsyncIterator[int]:
        look()
        yield count
        look()

    async def sum(inlet: nearcall.AsyncInlet[int]) -> int:
        async for _ in inlet:
            look()
        return len(seen)

    members = {"numbers": staticmethod(numbers), "sum": staticmethod(sum)}
    with served("known", lambda: feeding(passing, **members)()):
        client = passing.FeedingClient.import_("known").with_deadline(600.0)
        assert list(client.numbers(5, 0)) == [5]
        sink = client.sum()
        sink.put(1)
        assert sink.end() == 3
        assert seen == [(os.getpid(), False, None)] * 3
        comes(lambda: [call.is_cancelled for call in calls], [True] * 3)


def test_a_generator_that_is_closed_is_not_cancelled_while_it_cleans_up(passing: Module) -> None:
    cleaned: list[bool] = []

    async def numbers(count: int, pause_ms: int) -> typing.AsyncIterator[int]:
        try:
            while True:
                yield count
        finally:
            cleaned.append(False)
            # Longer than it takes to look for feeds that were given up.
            await asyncio.sleep(0.1)
            cleaned.append(True)

    with served("cleaned", lambda: feeding(passing, numbers=staticmethod(numbers))()):
        client = passing.FeedingClient.import_("cleaned")
        with client.numbers(5, 0) as feed:
            assert next(feed) == 5
        comes(lambda: cleaned, [False, True])


def test_what_is_raised_when_nobody_reads_any_more_is_shown(
    passing: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[typing.Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: told.append(found.exc_value))

    async def numbers(count: int, pause_ms: int) -> typing.AsyncIterator[int]:
        try:
            yield count
            await asyncio.sleep(pause_ms / 1e3)
            while True:
                yield count
        finally:
            raise RuntimeError(f"numbers {pause_ms}")

    async def sum(inlet: nearcall.AsyncInlet[int]) -> int:
        try:
            return len([item async for item in inlet])
        finally:
            raise RuntimeError("sum")

    async def load(name: str, refused: int, inlet: nearcall.AsyncInlet[typing.Any]) -> int:
        try:
            return len([item async for item in inlet])
        finally:
            if refused != NEVER:
                raise passing.Refused(refused, name)

    members = {"numbers": staticmethod(numbers), "sum": staticmethod(sum)}
    with served("shown", lambda: feeding(passing, load=staticmethod(load), **members)()):
        client = passing.FeedingClient.import_("shown")
        wanted = []
        for pause_ms in (600_000, 0):
            with client.numbers(5, pause_ms) as feed:
                assert next(feed) == 5
            wanted.append(f"numbers {pause_ms}")
            comes(lambda: [str(one) for one in told], wanted)
        # What the client knows, or might have known, is not.
        for refused in (3, NEVER):
            client.load("load", refused).close()
        client.sum().close()
        comes(lambda: [str(one) for one in told], [*wanted, "sum"])
