"""Exchanges: both ways in turn and at once, sides that are given up, refused, late, and cut by the end
of either process, and lies about their numbers."""

from __future__ import annotations

import asyncio
import gc
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time
import types
import typing

import pytest

import nearcall
from conftest import LATE, PROGRAMS, Process, confined, is_late, lying

Talking = types.ModuleType
Start = typing.Callable[..., Process]

#: Of no line.
NEVER = 2**32 - 1

#: Most words of a batch, and most numbers of four octets.
WORDS, NUMBERS = 31, 496

EXCHANGES = ("talk", "echo", "kept", "sums", "deaf", "mute")


@pytest.fixture(params=["rust", "python", "tasks"])
def client(
    request: pytest.FixtureRequest, talking_servers: None, talking: Talking
) -> typing.Iterator[typing.Any]:
    """A client of each server, which holds no exchange in the end."""
    client = talking.TalkingClient.import_(f"talking-{request.param}")
    yield client
    gc.collect()
    becomes(0, client.alive)


def becomes(wanted: int, count: typing.Callable[[], int]) -> None:
    until = time.monotonic() + 10
    while count() != wanted:
        assert time.monotonic() < until, f"{count()}, not {wanted}"
        time.sleep(0.001)


def test_one_thread_asks_and_is_answered_in_turn(client: typing.Any, talking: Talking) -> None:
    sink, feed = client.talk("hall: ", NEVER)
    for number in range(50):
        sink.put(talking.Line(number, "x" * number))
        sink.flush()
        assert next(feed) == talking.Line(number, "hall: " + "x" * number)
    for number in range(3):
        sink.put(talking.Line(number, ""))
    assert sink.end() is None
    assert [line.number for line in feed] == [0, 1, 2]
    assert list(feed) == []


def test_each_side_is_a_threads(client: typing.Any) -> None:
    for count in (0, 1, NUMBERS - 1, NUMBERS, NUMBERS + 1, 5000):
        sink, feed = client.sums()

        def put(sink: typing.Any = sink, count: int = count) -> None:
            with sink:
                for number in range(count):
                    sink.put(number)

        other = threading.Thread(target=put)
        other.start()
        total, sums = 0, []
        for number in range(count):
            total += number
            sums.append(total)
        assert list(feed) == sums
        other.join()


def test_what_is_raised_comes_at_once_or_behind_the_items(
    client: typing.Any, talking: Talking
) -> None:
    with pytest.raises(talking.Refused) as raised:
        client.talk("", NEVER)
    assert raised.value.code == -1
    sink, feed = client.talk("a", 2)
    for number in range(5):
        sink.put(talking.Line(number, "x"))
    sink.flush()
    assert [next(feed).text, next(feed).text] == ["ax", "ax"]
    with pytest.raises(talking.Refused) as raised:
        next(feed)
    assert (raised.value.code, raised.value.why) == (2, "not that")
    assert list(feed) == []


def test_a_side_that_is_given_up_leaves_the_other(client: typing.Any) -> None:
    before = client.given_up()
    sink, feed = client.echo()
    sink.put("word")
    sink.flush()
    assert next(feed) == "word"
    sink.close()
    # Its server has not had all, and leaves its outlet by an exception.
    with pytest.raises(nearcall.Panicked):
        next(feed)
    assert list(feed) == []
    becomes(before + 1, client.given_up)
    sink, feed = client.echo()
    feed.close()
    with pytest.raises(nearcall.NotExecuted, match="the feed to echo") as said:
        for _ in range(100_000):
            sink.put("word")
    assert said.value.ran is nearcall.Ran.MAYBE
    becomes(before + 2, client.given_up)


def test_a_server_may_end_either_side(client: typing.Any) -> None:
    sink, feed = client.deaf(5000)
    sink.put(1)
    with pytest.raises(nearcall.NotExecuted):
        sink.end()
    assert list(feed) == list(range(5000))
    sink, feed = client.mute(700)
    with pytest.raises(nearcall.NotExecuted):
        for number in range(100_000):
            sink.put(number)
    assert list(feed) == []


def test_whoever_is_slow_keeps_the_other_waiting(client: typing.Any) -> None:
    before = client.moved()
    _sink, feed = client.deaf(1_000_000)
    assert next(feed) == 0
    # The first one is there before it is counted.
    begin = time.monotonic()
    while client.moved() == before and time.monotonic() < begin + 10:
        time.sleep(0.001)
    time.sleep(0.05)
    assert 1 <= client.moved() - before <= 2 * NUMBERS
    feed.close()

    def put_count(deadline: float) -> int:
        """How many words wait; on a loaded machine an earlier batch may be late."""
        count = 0
        try:
            sink, feed = client.with_deadline(deadline).kept()
            while count < 10 * WORDS:
                sink.put("word")
                count += 1
        except LATE as error:
            assert is_late(error)
        if count > 0:
            with pytest.raises(LATE) as raised:
                next(feed)
            assert is_late(raised.value)
            assert list(feed) == []
        # More, if one that was given up was opened nonetheless.
        assert client.let_go() >= 1 or count + 1 != 2 * WORDS
        assert count < 2 * WORDS
        return count

    assert any(put_count(deadline) + 1 == 2 * WORDS for deadline in (1, 10, 60))


def test_an_item_that_is_refused_was_not_put(client: typing.Any, talking: Talking) -> None:
    sink, feed = client.talk("a", NEVER)
    sink.put(talking.Line(1, "b"))
    with pytest.raises(nearcall.UsageError, match="number is -1"):
        sink.put(talking.Line(-1, ""))
    with pytest.raises(TypeError):
        sink.put("line")
    sink.put(talking.Line(2, "c"))
    sink.end()
    assert [line.text for line in feed] == ["ab", "ac"]


def test_control_c_interrupts_an_exchange(client: typing.Any) -> None:
    own = threading.main_thread().ident
    assert own is not None
    _sink, feed = client.kept()
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.2, signal.pthread_kill, (own, signal.SIGINT)).start()
        next(feed)
    assert client.let_go() == 1


def test_control_c_interrupts_a_server_s_ends(talking: Talking) -> None:
    ends: queue.Queue[typing.Any] = queue.Queue()

    def kept(_server: object, inlet: typing.Any, outlet: typing.Any) -> None:
        ends.put((inlet, outlet))

    # Nobody calls the others.
    procedures = dict.fromkeys(talking.TalkingServer.__abstractmethods__, lambda *_: None)
    keeping = type("Keeping", (talking.TalkingServer,), procedures | {"kept": kept})
    own = threading.main_thread().ident
    assert own is not None
    with nearcall.export("keeping", keeping()):
        sink, feed = talking.TalkingClient.import_("keeping").kept()
        inlet, outlet = ends.get(timeout=10)
        threading.Timer(0.2, signal.pthread_kill, (own, signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            next(inlet)
        sink.put("there is one")
        sink.flush()
        assert next(inlet) == "there is one"
        threading.Timer(0.2, signal.pthread_kill, (own, signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            while True:
                outlet.put("more than it asks for")
        assert next(feed) == "more than it asks for"
        inlet.close()
        outlet.close()


def test_as_many_exchanges_as_a_binding_may_have(client: typing.Any) -> None:
    held = [client.echo() for _ in range(32)]
    with pytest.raises(nearcall.UsageError, match="echo opens: .* 64 feeds open"):
        client.echo()
    for sink, feed in held:
        sink.end()
        assert list(feed) == []
    sink, feed = client.echo()


def test_the_death_of_a_server_ends_both_sides(start: Start, talking: Talking) -> None:
    start(PROGRAMS / "talking-server", "mortal-talking")
    client = talking.TalkingClient.import_("mortal-talking")
    sink, feed = client.talk("last words", 5)
    for number in range(5):
        sink.put(talking.Line(number, ""))
        sink.flush()
        assert next(feed).number == number
    sink.put(talking.Line(5, ""))
    with pytest.raises((nearcall.CallFailed, nearcall.NotExecuted)):
        sink.flush()
        next(feed)
    with pytest.raises((nearcall.CallFailed, nearcall.NotExecuted)):
        sink.put(talking.Line(6, ""))
        sink.flush()


def test_the_death_of_a_client_ends_both_sides(client: typing.Any, talking: Talking) -> None:
    before = client.given_up()
    directory = str(pathlib.Path(talking.__file__ or "").parent)
    program = (
        f"import sys; sys.path.insert(0, {directory!r})\n"
        "import os, talking\n"
        f"sink, feed = talking.TalkingClient.import_({client.binding.name!r}).echo()\n"
        "sink.put('word'); sink.flush(); assert next(feed) == 'word'\n"
        "os._exit(0)\n"
    )
    command = [sys.executable, "-P", "-c", program]
    subprocess.run(command, env=confined(command[0]), check=True, timeout=60)
    becomes(before + 1, client.given_up)


def test_sides_are_awaited(client: typing.Any, talking: Talking) -> None:
    waiting = talking.TalkingAsyncClient(client.binding)

    async def summed(count: int) -> list[int]:
        sink, feed = await waiting.sums()

        async def put() -> None:
            async with sink:
                for number in range(count):
                    await sink.put(number)

        task = asyncio.create_task(put())
        sums = [one async for one in feed]
        await task
        return sums

    async def all() -> None:
        assert await asyncio.gather(summed(1000), summed(3)) == [
            [number * (number + 1) // 2 for number in range(count)] for count in (1000, 3)
        ]
        sink, feed = await waiting.echo()
        # What came while nobody waited any more is kept.
        first = asyncio.create_task(anext(feed))
        await asyncio.sleep(0.05)
        first.cancel()
        await sink.put("word")
        await sink.flush()
        assert await anext(feed) == "word"
        await sink.aclose()
        with pytest.raises(nearcall.Panicked):
            await anext(feed)
        assert [word async for word in feed] == []

    asyncio.run(all())


class Idle:
    """A server of nothing but what a test says."""

    def __new__(cls, talking: Talking, **own: typing.Any) -> typing.Any:
        names = talking.TalkingServer.__abstractmethods__
        functions = {name: own.get(name, lambda *_: 0) for name in names}
        return type("Idle", (talking.TalkingServer,), functions)()


def test_an_opening_whose_task_is_cancelled_is_aborted(talking: Talking) -> None:
    """While its procedure is in there; both of the server's ends are then given up."""
    began, goes_on, given_up = threading.Event(), threading.Event(), []

    def late(_: object, inlet: nearcall.Inlet[str], outlet: nearcall.Outlet[str]) -> None:
        began.set()
        goes_on.wait(10)
        threading.Thread(target=talk, args=(inlet, outlet), daemon=True).start()

    def talk(inlet: nearcall.Inlet[str], outlet: nearcall.Outlet[str]) -> None:
        with pytest.raises(nearcall.GivenUp):
            list(inlet)
        given_up.append("inlet")
        # The first may go before the outlet is given up, too.
        with pytest.raises(nearcall.GivenUp):
            while True:
                outlet.put("word")
        given_up.append("outlet")

    async def until(holds: typing.Callable[[], bool]) -> None:
        end = time.monotonic() + 10
        while not holds():
            assert time.monotonic() < end
            await asyncio.sleep(0.01)

    async def cancel(client: typing.Any) -> None:
        opening = asyncio.create_task(client.echo())
        await until(began.is_set)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        await until(lambda: client.binding.captured_count == 1)
        assert given_up == []
        goes_on.set()
        await until(lambda: client.binding.captured_count == 0)
        await until(lambda: given_up == ["inlet", "outlet"])

    with nearcall.export("late", Idle(talking, echo=late)):
        asyncio.run(cancel(talking.TalkingAsyncClient.import_("late")))


def test_what_a_procedure_leaves_is_not_whole(talking: Talking) -> None:
    """Ends that nobody holds: the inlet takes none, and no items are not all there are."""
    with nearcall.export("leaves", Idle(talking, echo=lambda *_: None)):
        sink, feed = talking.TalkingClient.import_("leaves").echo()
        with pytest.raises(nearcall.Panicked):
            next(feed)
        sink.put("word")
        with pytest.raises(nearcall.NotExecuted):
            sink.flush()


def test_what_an_outlet_is_given_wrongly_is_its_own_error(
    talking: Talking, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[object, str]] = []
    show: typing.Any = lambda error: shown.append((error.object, str(error.exc_value)))  # noqa: E731
    monkeypatch.setattr(sys, "unraisablehook", show)
    ends: list[typing.Any] = []
    server = Idle(talking, echo=lambda _server, *both: ends.extend(both))
    with nearcall.export("wrongly", server):
        _sink, feed = talking.TalkingClient.import_("wrongly").echo()
        inlet, outlet = ends
        with pytest.raises(TypeError, match="int where a str"):
            outlet.put(1)
        outlet.put("word")
        with pytest.raises(TypeError):
            outlet.raise_("no exception")
        outlet.raise_(ZeroDivisionError("by nothing"))
        assert next(feed) == "word"
        with pytest.raises(nearcall.Panicked):
            next(feed)
        with pytest.raises(ValueError, match="closed"):
            outlet.put("word")
        inlet.close()
        assert list(inlet) == []
    assert shown == [(server.echo, "by nothing")]


def test_an_inlet_is_one_threads_and_ends_with_its_binding(talking: Talking) -> None:
    ends: list[typing.Any] = []
    found: list[typing.Any] = []
    server = Idle(talking, echo=lambda _server, *both: ends.extend(both))

    def take() -> None:
        try:
            found.extend(ends[0])
        except nearcall.GivenUp as given_up:
            found.append(given_up)

    with nearcall.export("one", server):
        sink, _feed = talking.TalkingClient.import_("one").echo()
        other = threading.Thread(target=take)
        other.start()
        # With words there neither thread waits in vain; in the end it is the other one that does.
        own: list[str] = []
        put_count, is_others = 0, False
        while not is_others:
            assert put_count < 1000
            sink.put("word")
            sink.flush()
            put_count += 1
            try:
                own.append(next(ends[0]))
            except RuntimeError as error:
                is_others = "another thread" in str(error)
        begin = time.monotonic()
        while len(own) + len(found) < put_count:
            assert time.monotonic() < begin + 10
            time.sleep(0.001)
        # Likely it waits for the next one by then.
        time.sleep(0.1)
        with pytest.raises(RuntimeError, match="another thread"):
            ends[0].close()
    other.join(10)
    assert len(own) + len(found) == put_count + 1
    assert isinstance(found[-1], nearcall.GivenUp)


def test_what_is_not_due_is_refused(
    client: typing.Any, talking: Talking, tmp_path: pathlib.Path
) -> None:
    """A client that lies about numbers; the exchange that it has goes on."""
    binding = lying(talking, tmp_path).TalkingClient.import_(client.binding.name).binding
    text = pathlib.Path(talking.__file__ or "").read_text()
    names = [line.split('"')[1] for line in text.splitlines() if line.startswith('            "')]

    def call(name: str, *arguments: object) -> typing.Any:
        return binding.call(names.index(name), *arguments)

    def refused(name: str, *arguments: object) -> None:
        way = "of" if name.startswith("_next_") else "to"
        told = f"the feed {way} {name.rpartition('_')[2]} broke off"
        with pytest.raises(nearcall.NotExecuted, match=told) as raised:
            call(name, *arguments)
        assert raised.value.ran is nearcall.Ran.MAYBE

    came, sent = call("echo")
    for feed, number in ((came, 1), (came, NEVER), (sent, 0), (came + 100, 0)):
        refused("_next_echo", feed, number)
    for sink, number in ((sent, 1), (sent, NEVER), (came, 0), (sent + 100, 0)):
        refused("_put_echo", sink, number, ["word"])
    refused("_put_echo", sent, 0, ["word"] * (WORDS + 1))
    for other in ("kept", "sums", "talk"):
        refused(f"_next_{other}", came, 0)
        refused(f"_end_{other}", sent)
    refused("_put_kept", sent, 0, ["word"])
    refused("_put_sums", sent, 0, [1, 2])
    refused("_end_echo", came)
    call("_put_echo", sent, 0, ["word"])
    call("_end_echo", sent)
    items, is_last = call("_next_echo", came, 0)
    assert items == ["word"]
    # The server may have ended it behind that word, or a moment later.
    if not is_last:
        assert call("_next_echo", came, 1) == ([], True)
    refused("_next_echo", came, 2)
    del binding


def test_a_server_that_lies_about_batches_is_blamed(talking: Talking, tmp_path: pathlib.Path) -> None:
    module = lying(talking, tmp_path)
    names = module.TalkingServer.__abstractmethods__
    own = {name: lambda *_: 0 for name in names} | {"echo": lambda *_: (1, 2)}
    batches: list[typing.Any] = []
    carried = [f"_{part}_{name}" for name in EXCHANGES for part in ("next", "put", "end")]
    own |= {name: lambda *_: 0 for name in carried} | {"_next_echo": lambda *_: batches.pop(0)}
    server = type("Liar", (module.TalkingServer,), own)()
    with nearcall.export("talking-liar", server):
        for lie in (([], False), (["word"] * (WORDS + 1), False)):
            batches[:] = [(["one"], False), lie]
            client = talking.TalkingClient.import_("talking-liar")
            _sink, feed = client.echo()
            assert next(feed) == "one"
            with pytest.raises(nearcall.Peer):
                next(feed)
            assert client.binding.is_revoked and list(feed) == []
