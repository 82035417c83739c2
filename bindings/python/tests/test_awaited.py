"""Calls that are awaited: the runtime wakes the event loop, and no thread waits."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import os
import sys
import threading
import time
import types
import typing
import weakref

import numpy
import pytest

import nearcall
from conftest import ROOT, TRIES, Process, is_interrupted, is_late

Module = types.ModuleType

#: More than a binding has A-stacks.
MANY = 100


@pytest.fixture(params=["rust", "python"])
def awaited(request: pytest.FixtureRequest, shapes: Module) -> typing.Any:
    """A client of either server, whose calls are awaited."""
    return shapes.ShapesAsyncClient(request.getfixturevalue(request.param).binding)


#: A client, when its ``null`` has begun, and what lets that return.
Held = tuple[typing.Any, threading.Event, threading.Event]


@pytest.fixture
def held(shapes: Module) -> typing.Iterator[Held]:
    """Its server is in this process."""
    begun, free = threading.Event(), threading.Event()

    class Holding(shapes.BaseServer):  # type: ignore[name-defined, misc]
        def null(self) -> None:
            begun.set()
            free.wait(60)

        def add(self, a: int, b: int) -> int:
            return a + b

    with nearcall.export("holding", Holding()):
        yield shapes.BaseAsyncClient.import_("holding"), begun, free
        free.set()


async def until(is_so: typing.Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.001)


def test_an_awaited_call_takes_no_thread(awaited: typing.Any, shapes: Module) -> None:
    async def calls() -> None:
        waiting = asyncio.create_task(awaited.wait(50))
        assert [await awaited.add(value, 1) for value in range(MANY)] == list(range(1, MANY + 1))
        assert await awaited.swap(b"abcd") == (b"ab", b"cd")
        assert await awaited.null() is None
        assert await awaited.post(1) is None
        with pytest.raises(shapes.Gone):
            await awaited.swap(b"")
        with pytest.raises(TypeError):
            await awaited.add("1", 2)
        await waiting

    before = threading.active_count()
    asyncio.run(calls())
    assert threading.active_count() == before


def test_more_calls_than_there_are_astacks_wait_for_each_other(awaited: typing.Any) -> None:
    async def calls() -> typing.Any:
        return await asyncio.gather(*(awaited.add(value, 1) for value in range(MANY)))

    assert asyncio.run(calls()) == list(range(1, MANY + 1))


def test_long_arguments_are_copied_by_a_thread(awaited: typing.Any) -> None:
    given = numpy.arange(1 << 17, dtype=numpy.float64)

    async def calls() -> typing.Any:
        return await asyncio.gather(*(awaited.scale(given, float(by)) for by in range(4)))

    for by, scaled in enumerate(asyncio.run(calls())):
        assert numpy.array_equal(scaled, by * given)


def test_the_server_sees_that_a_task_was_cancelled(witness: Module) -> None:
    begun, ended = threading.Event(), threading.Event()

    class Seeing(witness.WitnessServer):  # type: ignore[name-defined, misc]
        def who(self) -> tuple[int, int, int]:
            return 0, 0, 0

        def giver(self) -> int:
            return 0

        def left(self) -> int:
            return 0

        def linger(self) -> None:
            call = nearcall.current_call()
            begun.set()
            while call is not None and not call.is_cancelled:
                time.sleep(0.001)
            ended.set()

        def seen(self) -> int:
            return 0

    async def cancel(client: typing.Any) -> None:
        task = asyncio.create_task(client.linger())
        await until(begun.is_set)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(ended.is_set)
        await until(lambda: client.binding.captured_count == 0)

    with nearcall.export("cancelled", Seeing()):
        asyncio.run(cancel(witness.WitnessAsyncClient.import_("cancelled")))


def test_a_call_is_cancelled_that_waits_for_an_astack(held: Held) -> None:
    client, _, free = held

    async def calls() -> None:
        waiting = [asyncio.create_task(client.null()) for _ in range(MANY)]
        await asyncio.sleep(0.05)
        late = asyncio.create_task(client.add(1, 2))
        hasty = asyncio.create_task(client.with_deadline(0.05).add(1, 2))
        await asyncio.sleep(0.02)
        late.cancel()
        with pytest.raises(asyncio.CancelledError):
            await late
        with pytest.raises((nearcall.NoAStack, nearcall.NotExecuted)) as raised:
            await hasty
        assert is_late(raised.value)
        free.set()
        await asyncio.gather(*waiting)
        assert await client.add(1, 2) == 3

    asyncio.run(calls())


def test_a_thread_whose_tasks_have_every_astack_is_told(held: Held, shapes: Module) -> None:
    client, _, free = held
    blocking = shapes.BaseClient(client.binding)

    async def calls() -> None:
        waiting = [asyncio.create_task(client.null()) for _ in range(MANY)]
        await asyncio.sleep(0.05)
        with pytest.raises(nearcall.Outstanding):
            blocking.add(1, 2)
        free.set()
        await asyncio.gather(*waiting)
        assert blocking.add(1, 2) == 3

    asyncio.run(calls())


def test_a_deadline_passes_while_a_call_is_awaited(held: Held) -> None:
    client, _, free = held
    hasty = client.with_deadline(0.1)

    async def calls() -> list[typing.Any]:
        waiting = (hasty.null() for _ in range(3))
        return await asyncio.gather(*waiting, return_exceptions=True)

    # Beside other work it may pass before they are posted.
    for _ in range(TRIES):
        outcomes = asyncio.run(calls())
        assert all(map(is_late, outcomes)), outcomes
        if any(isinstance(outcome, nearcall.CallAborted) for outcome in outcomes):
            break
    else:
        pytest.fail("none was posted")
    assert not free.is_set()


def test_the_death_of_a_server_is_told_to_all_tasks(
    start: typing.Callable[..., Process], shapes: Module
) -> None:
    script = ROOT / "bindings/python/tests/posting_server.py"
    process = start(sys.executable, script, shapes.__file__, "mortal")
    client = shapes.BaseAsyncClient.import_("mortal")
    assert process.child.stdout is not None
    begun = threading.Thread(target=process.child.stdout.readline)
    begun.start()

    async def calls() -> list[typing.Any]:
        first = asyncio.create_task(client.null())
        await until(lambda: not begun.is_alive())
        process.stop()
        others = [asyncio.create_task(client.add(1, 2)) for _ in range(MANY)]
        await asyncio.sleep(0.02)
        process.kill()
        return await asyncio.gather(first, *others, return_exceptions=True)

    first, *others = asyncio.run(calls())
    assert isinstance(first, nearcall.CallFailed)
    assert {type(outcome) for outcome in others} == {nearcall.NotExecuted}


def test_several_loops_share_a_client(awaited: typing.Any) -> None:
    async def calls(own: int) -> list[int]:
        values = range(own, own + MANY)
        sums: list[int] = await asyncio.gather(*(awaited.add(value, 1) for value in values))
        return sums

    owns = range(0, 4 * MANY, MANY)
    with concurrent.futures.ThreadPoolExecutor(len(owns)) as threads:
        sums = list(threads.map(lambda own: asyncio.run(calls(own)), owns))
    assert sums == [list(range(own + 1, own + MANY + 1)) for own in owns]


def test_loops_that_have_ended_leave_no_descriptor(awaited: typing.Any) -> None:
    def descriptors() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    asyncio.run(awaited.add(1, 2))
    before = descriptors()
    for _ in range(20):
        asyncio.run(awaited.add(1, 2))
    assert descriptors() == before


def test_a_loop_that_is_closed_gives_up_what_it_has_under_way(held: Held) -> None:
    client, begun, free = held

    async def begin() -> None:
        asyncio.create_task(client.null())
        await until(begun.is_set)
        # By then it waits to be woken, and nobody but the loop holds it.
        await asyncio.sleep(0.05)
        gc.collect()
        assert client.binding.captured_count == 0

    gc.collect()
    before = set(os.listdir("/proc/self/fd"))
    loop = asyncio.new_event_loop()
    loop.run_until_complete(begin())
    loop.close()
    ended = weakref.ref(loop)
    del loop
    gc.collect()
    assert ended() is None
    assert set(os.listdir("/proc/self/fd")) <= before
    assert client.binding.captured_count == 1
    free.set()


def test_control_c_ends_an_awaited_call(rust: typing.Any, shapes: Module) -> None:
    client = shapes.ShapesAsyncClient(rust.binding)

    def is_given_up() -> bool:
        while rust.binding.captured_count > 0:
            time.sleep(0.001)
        was_interrupted = is_interrupted(lambda: asyncio.run(client.wait(3_000)))
        return was_interrupted and rust.binding.captured_count == 1

    assert any(is_given_up() for _ in range(TRIES))
    assert rust.add(2, 3) == 5
