"""Feeds: none, one and many items, batches that end and begin, refusals, deadlines and deaths, and that
nothing is held that nobody reads."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import pathlib
import subprocess
import sys
import threading
import time
import types
import typing

import pytest

import nearcall
from conftest import (
    LATE,
    PROGRAMS,
    ROOT,
    TRIES,
    Process,
    confined,
    generated,
    is_interrupted,
    is_late,
    lying,
)

Passing = types.ModuleType
Start = typing.Callable[..., Process]

#: Of no row.
NEVER = 2**32 - 1

#: Most numbers of a batch.
BATCH = 496


@pytest.fixture(params=["rust", "python", "tasks"])
def feeding(
    request: pytest.FixtureRequest, passing_servers: None, passing: Passing
) -> typing.Iterator[typing.Any]:
    """A client of each server, which holds no feed in the end."""
    client = passing.FeedingClient.import_(f"feeding-{request.param}")
    yield client
    none_alive(client)


def none_alive(client: typing.Any) -> None:
    gc.collect()
    until = time.monotonic() + 10
    while client.alive() != 0:
        assert time.monotonic() < until, f"{client.alive()} feeds are alive"
        time.sleep(0.01)


def test_items_come(feeding: typing.Any, passing: Passing) -> None:
    for count in (0, 1, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH, 20_000):
        assert list(feeding.numbers(count, 0)) == list(range(count))
    assert list(feeding.octets(3000)) == [octet % 256 for octet in range(3000)]
    assert list(feeding.digests(600))[258:260] == [b"\0\0\1\2", b"\0\0\1\3"]
    assert list(feeding.lines(100_000)) == ["x" * 100_000]
    rows = list(feeding.rows("row", 100, NEVER))
    assert rows[99] == passing.Row(99, "row 99") and len(rows) == 100
    assert type(next(feeding.numbers(1, 0))) is int


def test_a_feed_leaves_its_room_however_it_ends(feeding: typing.Any) -> None:
    for _ in range(65):
        assert list(feeding.numbers(2, 0)) == [0, 1]
        assert feeding.sum().end() == 0
        feeding.sum().close()
        with pytest.raises(nearcall.Raised):
            list(feeding.rows("", 1, NEVER))
        none_alive(feeding)
    held = [feeding.sum() for _ in range(64)]
    del held


def test_items_go(feeding: typing.Any, passing: Passing) -> None:
    for count in (0, 1, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH, 20_000):
        sink = feeding.sum()
        for number in range(count):
            sink.put(number)
        assert sink.end() == sum(range(count))
    with feeding.load("x", NEVER) as load:
        for key in range(300):
            load.put(passing.Row(key, "a"))
        assert load.end() == 300
    with feeding.joined() as joined:
        for line in ("ab", "", "c" * 5000):
            joined.put(line)
        joined.flush()
        assert joined.end() == "ab" + "c" * 5000
    with feeding.dropped() as dropped:
        for octet in range(5000):
            dropped.put(octet % 256)
        assert dropped.end() is None


def test_what_is_raised_comes_after_the_items_before_it(
    feeding: typing.Any, passing: Passing
) -> None:
    with pytest.raises(passing.Refused) as raised:
        list(feeding.rows("", 1, NEVER))
    assert raised.value.code == -1
    rows = feeding.rows("row", 100, 40)
    assert [next(rows).key for _ in range(40)] == list(range(40))
    with pytest.raises(passing.Refused) as raised:
        next(rows)
    assert (raised.value.code, raised.value.why) == (40, "not that")
    assert list(rows) == []


def test_a_taker_may_refuse_an_item(feeding: typing.Any, passing: Passing) -> None:
    with pytest.raises(passing.Refused):
        feeding.load("", NEVER).end()
    load = feeding.load("x", 3)
    for key in range(5):
        load.put(passing.Row(key, ""))
    with pytest.raises(passing.Refused) as raised:
        load.end()
    assert raised.value.code == 3
    for late in (lambda: load.put(passing.Row(9, "")), load.flush, load.end):
        with pytest.raises(nearcall.NotExecuted, match="the feed to load is over"):
            late()


def test_items_over_a_bound_end_their_feed(feeding: typing.Any) -> None:
    torn = feeding.torn()
    with pytest.raises(nearcall.ResultsRefused):
        list(torn)
    assert list(torn) == []


def test_an_item_that_is_refused_was_not_put(feeding: typing.Any, passing: Passing) -> None:
    with feeding.load("x", NEVER) as load:
        load.put(passing.Row(1, "a"))
        for wrong in (passing.Row(-1, ""), passing.Row(0, "x" * 33)):
            with pytest.raises(nearcall.UsageError, match="key is -1|name.* 33 .*32"):
                load.put(wrong)
        for wrong in ("row", passing.Row("1", ""), None):
            with pytest.raises(TypeError):
                load.put(wrong)
        load.put(passing.Row(2, "b"))
        assert load.end() == 2


def test_an_item_is_what_it_was_when_it_was_put(feeding: typing.Any, passing: Passing) -> None:
    load, row = feeding.load("x", 1), passing.Row(0, "a")
    load.put(row)
    row.key = 1
    assert load.end() == 1


def test_what_is_given_up_is_dropped(feeding: typing.Any, passing: Passing) -> None:
    rows = feeding.rows("row", 1000, NEVER)
    assert next(rows).key == 0 and feeding.alive() == 1
    rows.close()
    assert list(rows) == []
    none_alive(feeding)
    with feeding.numbers(10_000, 0) as numbers:
        next(numbers)
    assert list(numbers) == []
    load = feeding.load("x", NEVER)
    load.put(passing.Row(1, ""))
    del load, numbers, rows
    none_alive(feeding)


def test_a_context_ends_a_sink_unless_something_is_raised(
    feeding: typing.Any, passing: Passing
) -> None:
    with feeding.sum() as sink:
        sink.put(1)
    with pytest.raises(nearcall.NotExecuted):
        sink.put(2)
    with pytest.raises(passing.Refused), feeding.load("x", 7) as load:
        load.put(passing.Row(7, ""))
    with pytest.raises(ZeroDivisionError), feeding.load("x", 7) as load:
        load.put(passing.Row(7, ""))
        raise ZeroDivisionError
    with pytest.raises(nearcall.NotExecuted):
        load.flush()


def test_each_batch_has_the_deadline(feeding: typing.Any) -> None:
    hasty = feeding.with_deadline(0.05)

    def is_ended() -> bool:
        """Unless the item is there before anybody looks, or the deadline passes before it is open,
        or before the call for a batch is posted."""
        try:
            numbers = hasty.numbers(3, 400)
        except LATE as error:
            assert is_late(error), error
            return False
        try:
            next(numbers)
        except LATE as error:
            assert is_late(error), error
            assert list(numbers) == []
            return isinstance(error, nearcall.CallAborted)
        return False

    assert any(is_ended() for _ in range(TRIES))


def test_control_c_interrupts_a_feed(feeding: typing.Any) -> None:
    def is_over() -> bool:
        slow = feeding.numbers(2, 1500)
        return is_interrupted(lambda: next(slow)) and list(slow) == []

    assert any(is_over() for _ in range(TRIES))


def test_one_thread_at_a_time(feeding: typing.Any) -> None:
    def is_refused_meanwhile(pause_ms: int) -> bool:
        """Unless the other thread has not begun when this one asks, or has ended."""
        slow = feeding.numbers(2, pause_ms)
        found: list[typing.Any] = []

        def read() -> None:
            with contextlib.suppress(RuntimeError):
                found.extend(slow)

        other = threading.Thread(target=read)
        other.start()
        time.sleep(pause_ms / 2_000)
        try:
            found.extend(itertools.islice(slow, 1))
        except RuntimeError as error:
            assert "another thread" in str(error)
            other.join()
            assert found == [0, 1]
            return True
        other.join()
        return False

    assert any(is_refused_meanwhile(300 << doubling) for doubling in range(5))


def test_as_many_feeds_as_a_binding_may_have(feeding: typing.Any) -> None:
    held = [feeding.numbers(BATCH + 1, 0) for _ in range(64)]
    assert [next(numbers) for numbers in held] == [0] * 64
    with pytest.raises(nearcall.UsageError, match="numbers opens: .* 64 feeds open"):
        feeding.numbers(1, 0)
    held.pop()
    assert list(opened(lambda: feeding.numbers(1, 0))) == [0]


def opened(open: typing.Callable[[], typing.Any]) -> typing.Any:
    """Opens a feed in the room of one that was given up: whoever keeps the server's house may be
    about to close that one just now."""
    until = time.monotonic() + 10
    while True:
        try:
            return open()
        except nearcall.ResultsRefused:
            assert time.monotonic() < until
            time.sleep(0.001)


def test_the_death_of_a_server_ends_its_feeds(start: Start, passing: Passing) -> None:
    # A call for a batch whose server is killed before it has taken it did not run.
    for _ in range(TRIES):
        process = start(PROGRAMS / "passing-server", "mortal-vault", "mortal-feeding")
        client = passing.FeedingClient.import_("mortal-feeding")
        numbers, sink = client.numbers(2, 60_000), client.sum()
        threading.Timer(0.2, process.kill).start()
        with pytest.raises((nearcall.CallFailed, nearcall.NotExecuted)) as raised:
            next(numbers)
        if isinstance(raised.value, nearcall.CallFailed):
            break
        assert raised.value.reason is nearcall.Reason.SERVER_ENDED
    assert raised.value.ran is nearcall.Ran.MAYBE
    sink.put(1)
    with pytest.raises(nearcall.NotExecuted):
        sink.end()
    assert list(numbers) == []


class Idle:
    """A server of nothing but what a test says."""

    def __new__(cls, passing: Passing, **own: typing.Any) -> typing.Any:
        names = passing.FeedingServer.__abstractmethods__
        functions = {name: own.get(name, lambda *_: 0) for name in names}
        return type("Idle", (passing.FeedingServer,), functions)()


def test_a_server_makes_no_more_than_is_asked_for(passing: Passing) -> None:
    made = 0

    def numbers(_server: object, count: int, _pause: int) -> typing.Iterator[int]:
        nonlocal made
        for made in range(1, count + 1):
            yield made

    with nearcall.export("lazy", Idle(passing, numbers=numbers)):
        feed = passing.FeedingClient.import_("lazy").numbers(100_000, 0)
        assert made == 0
        assert next(feed) == 1
        time.sleep(0.05)
        assert 1 <= made <= BATCH
        assert sum(1 for _ in feed) == 99_999


def gated(gate: threading.Semaphore) -> typing.Any:
    """Numbers from 0: three at once, each further one when it passes the gate, until nobody wants
    more."""

    def numbers(_server: object, count: int, _pause: int) -> typing.Iterator[int]:
        for number in range(count):
            while number >= 3 and not gate.acquire(timeout=0.01):
                call = nearcall.current_call()
                if call is None or call.is_cancelled:
                    return
            yield number

    return numbers


def test_what_is_made_before_an_iterator_waits_arrives(passing: Passing) -> None:
    gate = threading.Semaphore(0)
    with nearcall.export("gated", Idle(passing, numbers=gated(gate))):
        client = passing.FeedingClient.import_("gated").with_deadline(60)
        numbers = client.numbers(1000, 0)
        assert list(itertools.islice(numbers, 3)) == [0, 1, 2]
        made = 3
        for count in (1, 2, 1, 50, 1, 5):
            gate.release(count)
            assert list(itertools.islice(numbers, count)) == list(range(made, made + count))
            made += count
        numbers.close()


def test_a_feed_that_another_thread_closes_ends_for_who_waits(passing: Passing) -> None:
    gate = threading.Semaphore(0)
    with nearcall.export("closed", Idle(passing, numbers=gated(gate))):
        numbers = passing.FeedingClient.import_("closed").with_deadline(60).numbers(1000, 0)
        assert list(itertools.islice(numbers, 3)) == [0, 1, 2]
        closes = threading.Timer(0.05, numbers.close)
        closes.start()
        with pytest.raises(nearcall.NotExecuted):
            next(numbers)
        closes.join()
        assert list(numbers) == []


def test_what_is_raised_when_nobody_wants_it_may_ask_for_its_call(passing: Passing) -> None:
    asked: list[bool] = []

    class Asks:
        def __init__(self, call: nearcall.CurrentCall) -> None:
            self.call = call

        def __del__(self) -> None:
            asked.append(self.call.is_cancelled)

    def numbers(*_: int) -> typing.Iterator[int]:
        yield 0
        call = nearcall.current_call()
        assert call is not None
        while not call.is_cancelled:
            time.sleep(0.001)
        raise RuntimeError(Asks(call))

    with nearcall.export("asks", Idle(passing, numbers=numbers)):
        given_up = passing.FeedingClient.import_("asks").with_deadline(60).numbers(1000, 0)
        assert next(given_up) == 0
        given_up.close()
        until = time.monotonic() + 10
        while not asked and time.monotonic() < until:
            time.sleep(0.01)
    assert asked == [True]


def test_what_a_server_returns_wrongly_is_its_own_error(
    passing: Passing, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    of: list[object] = []

    def show(error: typing.Any) -> None:
        shown.append(str(error.exc_value))
        of.append(error.object)

    monkeypatch.setattr(sys, "unraisablehook", show)
    wrong = Idle(passing, numbers=lambda *_: ["one"], lines=lambda *_: 1, sum=lambda *_: [1])
    with nearcall.export("wrong", wrong):
        client = passing.FeedingClient.import_("wrong")
        for call in (lambda: next(client.numbers(1, 0)), lambda: client.lines(1), client.sum):
            with pytest.raises(nearcall.Panicked):
                call()
    assert "str where an int" in shown[0] and "not iterable" in shown[1] and "take()" in shown[2]
    assert of == [wrong.numbers, wrong.lines, wrong.sum]


def test_a_taker_is_closed_once_whatever_ends_its_feed(passing: Passing) -> None:
    events: list[str] = []

    class Sum(nearcall.Taker[int, int]):
        def take(self, item: int) -> None:
            events.append("take")

        def end(self) -> int:
            events.append("end")
            return 5

        def close(self) -> None:
            events.append("close")

    def happened(wanted: list[str]) -> None:
        until = time.monotonic() + 10
        while len(events) < len(wanted) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.05)
        assert events == wanted
        events.clear()

    with nearcall.export("closing", Idle(passing, sum=lambda *_: Sum())):
        client = passing.FeedingClient.import_("closing")
        with client.sum() as sink:
            sink.put(1)
            assert sink.end() == 5
        happened(["take", "end", "close"])
        sink = client.sum()
        sink.put(1)
        sink.flush()
        sink.close()
        happened(["take", "close"])
        client.sum().close()
        happened(["close"])
        left = client.sum()
        left.put(1)
        left.flush()
    happened(["take", "close"])


def test_feeds_are_awaited(feeding: typing.Any, passing: Passing) -> None:
    client = passing.FeedingAsyncClient(feeding.binding)

    async def come(count: int) -> list[int]:
        return [number async for number in await client.numbers(count, 0)]

    async def go(count: int) -> int:
        async with await client.sum() as sink:
            for number in range(count):
                await sink.put(number)
            return typing.cast(int, await sink.end())

    async def all() -> None:
        came = await asyncio.gather(*(come(count) for count in (0, 1, BATCH, 2000)))
        assert came == [list(range(count)) for count in (0, 1, BATCH, 2000)]
        assert await asyncio.gather(go(1000), go(BATCH)) == [499_500, sum(range(BATCH))]
        rows = await client.rows("row", 9, 2)
        assert [(await anext(rows)).key for _ in range(2)] == [0, 1]
        with pytest.raises(passing.Refused):
            await anext(rows)
        assert [row async for row in rows] == []
        with pytest.raises(passing.Refused):
            async with await client.load("x", 0) as load:
                await load.put(passing.Row(0, ""))
        with pytest.raises(ZeroDivisionError):
            async with await client.load("x", 0):
                raise ZeroDivisionError
        async with await client.numbers(10_000, 0) as numbers:
            assert await anext(numbers) == 0
        assert [number async for number in numbers] == []

    asyncio.run(all())


def test_a_wait_that_is_cancelled_loses_no_item(feeding: typing.Any, passing: Passing) -> None:
    client = passing.FeedingAsyncClient(feeding.binding)

    async def all() -> int:
        """How many waits were cancelled."""
        slow, came, cancelled = await client.numbers(4, 60), [], 0
        while True:
            try:
                came.append(await asyncio.wait_for(anext(slow), 0.02))
            except TimeoutError:
                cancelled += 1
            except StopAsyncIteration:
                assert came == [0, 1, 2, 3]
                return cancelled

    # Items that are there are not waited for.
    assert any(asyncio.run(all()) > 2 for _ in range(TRIES))


class Counted(nearcall.Taker[int, int]):
    """What a procedure returns, of either kind, counted for as long as it is there."""

    alive = 0

    def __init__(self) -> None:
        Counted.alive += 1

    def __del__(self) -> None:
        Counted.alive -= 1

    def __iter__(self) -> typing.Iterator[int]:
        return iter(())

    def take(self, item: int) -> None: ...

    def end(self) -> int:
        return 0


async def until(holds: typing.Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("way, arguments", [("numbers", (1, 0)), ("sum", ())])
def test_an_opening_whose_task_is_cancelled_is_aborted(
    passing: Passing, way: str, arguments: tuple[int, ...]
) -> None:
    """While its procedure is in there; what that then opens nonetheless is dropped."""
    goes_on = threading.Event()

    def late(*_: object) -> Counted:
        made = Counted()
        goes_on.wait(10)
        return made

    async def cancel(client: typing.Any) -> None:
        opening = asyncio.create_task(getattr(client, way)(*arguments))
        await until(lambda: Counted.alive == 1)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        await until(lambda: client.binding.captured_count == 1)
        assert Counted.alive == 1
        goes_on.set()
        await until(lambda: client.binding.captured_count == 0 and Counted.alive == 0)

    names = passing.FeedingServer.__abstractmethods__
    server = type("Late", (passing.FeedingServer,), dict.fromkeys(names, late))
    with nearcall.export(f"late-{way}", server()):
        asyncio.run(cancel(passing.FeedingAsyncClient.import_(f"late-{way}")))


def test_openings_that_are_cancelled_at_any_moment_leave_nothing_open(
    feeding: typing.Any, passing: Passing
) -> None:
    """More of them than a binding may have open."""
    client = passing.FeedingAsyncClient(feeding.binding)

    async def all() -> int:
        cancelled = 0
        for number in range(200):
            opening = asyncio.create_task(client.numbers(1, 0) if number % 2 else client.sum())
            await asyncio.sleep(number % 20 / 20_000)
            opening.cancel()
            try:
                await opening
            except asyncio.CancelledError:
                cancelled += 1
        return cancelled

    assert asyncio.run(all()) > 0


def test_a_put_that_is_cancelled_goes_on(passing: Passing) -> None:
    class Slow(nearcall.Taker[int, int]):
        sum = 0

        def take(self, item: int) -> None:
            assert goes_on.wait(60)
            self.sum += item

        def end(self) -> int:
            return self.sum

    async def all(client: typing.Any) -> None:
        sink = await client.sum()
        await sink.put(1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(sink.flush(), 0.02)
        goes_on.set()
        await sink.put(2)
        assert await sink.end() == 3
        goes_on.clear()
        given_up = await client.sum()
        await given_up.put(1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(given_up.end(), 0.02)
        goes_on.set()

    goes_on = threading.Event()
    with nearcall.export("slow", Idle(passing, sum=lambda *_: Slow())):
        asyncio.run(all(passing.FeedingAsyncClient.import_("slow")))


def test_a_client_that_asks_for_what_is_not_due_is_refused(
    feeding: typing.Any, passing: Passing, tmp_path: pathlib.Path
) -> None:
    binding = lying(passing, tmp_path).FeedingClient.import_(feeding.binding.name).binding
    text = pathlib.Path(passing.__file__ or "").read_text()
    text = text[text.index('"passing::Feeding"') :]
    names = [line.split('"')[1] for line in text.splitlines() if line.startswith('            "')]

    def call(name: str, *arguments: object) -> typing.Any:
        return binding.call(names.index(name), *arguments)

    def refused(name: str, *arguments: object) -> None:
        with pytest.raises(nearcall.NotExecuted) as raised:
            call(name, *arguments)
        assert raised.value.ran is nearcall.Ran.MAYBE

    numbers = call("numbers", 2000, 0)
    refused("_next_numbers", numbers, 1)
    items, is_last = call("_next_numbers", numbers, 0)
    assert list(items) == list(range(len(items))) and not is_last
    refused("_next_numbers", numbers, 0)
    refused("_next_numbers", numbers + 100, 0)
    refused("_put_sum", numbers, 1, [1, 2])
    refused("_end_sum", numbers)
    refused("_next_lines", numbers, 1)
    refused("_next_rows", call("numbers", 9, 0), 0)
    total = call("sum")
    refused("_put_sum", total, 0, [0] * (BATCH + 1))
    call("_put_sum", total, 0, [1, 2])
    assert call("_end_sum", total) == 3
    refused("_put_dropped", call("sum"), 0, b"1234")
    refused("_end_joined", call("sum"))
    refused("_end_sum", total)
    del binding


def test_a_server_that_lies_about_batches_is_blamed(
    passing: Passing, tmp_path: pathlib.Path
) -> None:
    module = lying(passing, tmp_path)
    batches: list[typing.Any] = []
    own = {
        "numbers": lambda *_: 1,
        "rows": lambda *_: 1,
        "_next_numbers": lambda *_: batches.pop(0),
    }
    names = module.FeedingServer.__abstractmethods__
    idle = {name: lambda *_: 0 for name in names}
    carriers = ("_next_rows", "_next_lines", "_next_octets", "_next_digests", "_next_torn")
    sinks = ("load", "sum", "joined", "dropped")
    carried = [f"_{part}_{name}" for name in sinks for part in ("put", "end")]
    idle |= {name: lambda *_: 0 for name in (*carriers, *carried)}
    server = type("Liar", (module.FeedingServer,), idle | own)()
    with nearcall.export("liar", server):
        for lie in (([], False), ([0] * (BATCH + 1), False)):
            batches[:] = [([1, 2], False), lie]
            client = passing.FeedingClient.import_("liar")
            feed = client.numbers(0, 0)
            assert [next(feed), next(feed)] == [1, 2]
            with pytest.raises(nearcall.Peer):
                next(feed)
            assert client.binding.is_revoked and list(feed) == []


def test_streams_of_proto_files(tmp_path: pathlib.Path) -> None:
    streams = generated(ROOT / "tests/idl/rust/streams.proto", tmp_path)

    class Size(nearcall.Taker[typing.Any, typing.Any]):
        def __init__(self) -> None:
            self.bytes = 0

        def take(self, item: typing.Any) -> None:
            self.bytes += len(item.part)

        def end(self) -> typing.Any:
            return streams.Summary(self.bytes)

    class Nothing(Size):
        def end(self) -> None:
            pass

    beats: list[typing.Any] = []

    class Beats(Nothing):
        def take(self, item: typing.Any) -> None:
            beats.append(item)

    class Transfers(streams.TransfersServer):  # type: ignore[name-defined, misc]
        def get(self, request: typing.Any) -> typing.Iterator[typing.Any]:
            for offset in range(0, request.bytes_, 10):
                yield streams.Chunk(b"x" * min(10, request.bytes_ - offset), offset)

        def put(self) -> Size:
            return Size()

        def fill(self) -> Nothing:
            return Nothing()

        def all(self) -> list[typing.Any]:
            return [streams.Summary(1), streams.Summary(2)]

        def watch(self) -> typing.Iterator[typing.Any]:
            return (streams.Empty() for _ in range(2_500))

        def beat(self) -> Beats:
            return Beats()

    with nearcall.export("transfers", Transfers()):
        client = streams.TransfersClient.import_("transfers")
        chunks = list(client.get(streams.Summary(25)))
        assert [(len(chunk.part), chunk.offset) for chunk in chunks] == [(10, 0), (10, 10), (5, 20)]
        with client.put() as put:
            for chunk in chunks:
                put.put(chunk)
            assert put.end().bytes_ == 25
        with client.fill() as fill:
            fill.put(chunks[0])
            assert fill.end() is None
        assert [summary.bytes_ for summary in client.all()] == [1, 2]
        # More than two batches of what has nothing to say.
        assert list(client.watch()) == [streams.Empty()] * 2_500
        with client.beat() as beat:
            for _ in range(1_025):
                beat.put(streams.Empty())
            assert beat.end() is None
        assert beats == [streams.Empty()] * 1_025


@pytest.mark.parametrize("is_withdrawn", [False, True])
def test_feeds_at_the_end_of_the_interpreter(
    passing: Passing, tmp_path: pathlib.Path, is_withdrawn: bool
) -> None:
    """What is over by then is released, and nothing hangs."""
    last = "exported.withdraw(); closed.wait(10)" if is_withdrawn else ""
    (tmp_path / "ends.py").write_text(
        f"import sys; sys.path.insert(0, {str(pathlib.Path(passing.__file__ or '').parent)!r})\n"
        "import threading, nearcall, passing\n"
        "closed = threading.Event()\n"
        "class Sum(nearcall.Taker[int, int]):\n"
        "    def take(self, item): pass\n"
        "    def end(self): return 0\n"
        "    def close(self): print('closed', flush=True); closed.set()\n"
        "names = passing.FeedingServer.__abstractmethods__\n"
        "own = {name: lambda *_: 0 for name in names} | {'sum': lambda *_: Sum()}\n"
        "exported = nearcall.export('ends', type('Ends', (passing.FeedingServer,), own)())\n"
        "sink = passing.FeedingClient.import_('ends').sum()\n"
        f"sink.put(1); sink.flush(); {last}\n"
    )
    command = [sys.executable, "-P", tmp_path / "ends.py"]
    env = confined(command[0])
    ended = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not is_withdrawn or ended.stdout == "closed\n"
