"""Servers whose procedures are awaited: an event loop runs them, each in a task of its own."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import os
import select
import signal
import subprocess
import sys
import threading
import time
import types
import typing

import pytest

import nearcall
import nearcall.waiting
from conftest import SEEING, confined

Module = types.ModuleType

#: Calls that meet: more than a domain has processors.
MEETING = 40

#: Clients that come and go.
GONE = 10

#: Longer than anything takes, seconds.
LONG = 600.0


@contextlib.contextmanager
def served(name: str, make: typing.Callable[[], typing.Any]) -> typing.Iterator[typing.Any]:
    """A server that is exported by an event loop in a thread of its own; that loop."""
    ready, over = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def main() -> None:
        try:
            with nearcall.export(name, make()):
                loops.append(asyncio.get_running_loop())
                ready.set()
                await over.wait()
        finally:
            ready.set()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    ready.wait()
    assert loops, "it was not exported"
    try:
        yield loops[0]
    finally:
        loops[0].call_soon_threadsafe(over.set)
        thread.join()


class Witnessing:
    """What a server of ``witness.idl`` does that is awaited, but for ``linger``."""

    def __init__(self) -> None:
        self.begun, self.cancelled = 0, 0
        self.free = asyncio.Event()

    async def who(self) -> tuple[int, int, int]:
        await asyncio.sleep(0)
        call = await asyncio.create_task(self._current())
        assert call is not None
        importer = call.importer
        return importer.uid or 0, importer.gid or 0, importer.pid or 0

    async def _current(self) -> nearcall.CurrentCall | None:
        return nearcall.current_call()

    async def giver(self) -> int:
        raise RuntimeError("on purpose")

    async def left(self) -> int:
        await asyncio.sleep(0)
        call = nearcall.current_call()
        left = None if call is None else call.time_left
        return 2**64 - 1 if left is None else int(left * 1e9)

    async def linger(self) -> None:
        self.begun += 1
        try:
            await self.free.wait()
        except asyncio.CancelledError:
            # To clean up may take longer than it takes to look again.
            await asyncio.sleep(0.1)
            self.cancelled += 1
            raise

    async def seen(self) -> int:
        return self.cancelled


def witnessing(witness: Module) -> typing.Any:
    return type("Seen", (Witnessing, witness.WitnessAsyncServer), {})


def comes(count: typing.Callable[[], object], wanted: object) -> None:
    until = time.monotonic() + 30
    while count() != wanted:
        assert time.monotonic() < until, f"{count()}, not {wanted}"
        time.sleep(0.001)


def test_procedures_run_in_tasks_of_the_loop_that_exports(shapes: Module) -> None:
    threads: set[int] = set()

    class Meeting(shapes.BaseAsyncServer):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            self.count, self.all_there = 0, asyncio.Event()

        async def null(self) -> None: ...

        async def add(self, a: int, b: int) -> int:
            threads.add(threading.get_ident())
            self.count += 1
            if self.count == MEETING:
                self.all_there.set()
            await self.all_there.wait()
            return a + b

    with served("meeting", Meeting):
        client = shapes.BaseClient.import_("meeting", grows=True)
        sums: list[int] = []
        calls = [
            threading.Thread(target=lambda one=one: sums.append(client.add(one, 1)))
            for one in range(MEETING)
        ]
        for call in calls:
            call.start()
        for call in calls:
            call.join()
    assert sorted(sums) == list(range(1, MEETING + 1))
    assert len(threads) == 1 and threading.get_ident() not in threads


def test_one_loop_serves_and_calls(shapes: Module) -> None:
    class Relay(shapes.BaseAsyncServer):  # type: ignore[name-defined, misc]
        async def null(self) -> None: ...

        async def add(self, a: int, b: int) -> int:
            # Until it returns to where it came from.
            return b if a == 0 else 1 + await client.add(a - 1, b)

    client: typing.Any = None

    async def main() -> int:
        nonlocal client
        with nearcall.export("relay", Relay()):
            client = shapes.BaseAsyncClient.import_("relay")
            return typing.cast(int, await client.add(4, 10))

    assert asyncio.run(main()) == 14


def test_a_task_knows_which_call_it_serves(witness: Module) -> None:
    with served("known", witnessing(witness)):
        client = witness.WitnessClient.import_("known")
        assert client.who() == (os.getuid(), os.getgid(), os.getpid())
        assert client.left() == 2**64 - 1
        assert 0 < client.with_deadline(LONG).left() < LONG * 1e9
    assert nearcall.current_call() is None


def test_what_is_raised_is_told_to_whom_it_concerns(
    witness: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[typing.Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: told.append(found.exc_value))
    with served("raising", witnessing(witness)):
        client = witness.WitnessClient.import_("raising")
        with pytest.raises(nearcall.Panicked):
            client.giver()
        assert client.seen() == 0
    assert [str(one) for one in told] == ["on purpose"]


def test_a_result_of_another_type_is_no_result(
    shapes: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[typing.Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: told.append(found.exc_value))

    class Wrong(shapes.BaseAsyncServer):  # type: ignore[name-defined, misc]
        async def _null(self) -> None: ...

        @functools.wraps(_null)
        def null(self) -> None:
            """It cannot be awaited, and does not look so."""

        async def add(self, a: int, b: int) -> typing.Any:
            return str(a + b)

    with served("wrong", Wrong):
        client = shapes.BaseClient.import_("wrong")
        for call in (client.null, lambda: client.add(1, 2)):
            with pytest.raises(nearcall.Panicked):
                call()
    assert [type(one) for one in told] == [TypeError, TypeError]
    assert "await" in str(told[0]) and str(told[1]) == "returned: str where an int is wanted"


def plain(self: object) -> None:
    """It is not awaited."""


def generator(self: object) -> typing.Iterator[int]:
    yield 1


async def async_generator(self: object) -> typing.AsyncIterator[int]:
    yield 1


#: What is not awaited, and what is told of it.
NOT_AWAITED = {
    plain: "Plain.null is a plain `def`: the methods of an AsyncServer are awaited, write `async def`",
    generator: "Plain.null is a generator, and opens no feed to the client: it must not `yield`",
    async_generator: "Plain.null is a generator, and opens no feed to the client: it must not `yield`",
}


@pytest.mark.parametrize("null", NOT_AWAITED)
def test_what_is_not_awaited_is_not_exported(shapes: Module, null: typing.Any) -> None:
    async def main(**members: object) -> None:
        all_of = {"add": coroutine} | members
        server = type("Plain", (shapes.BaseAsyncServer,), all_of)
        with nearcall.export("plain", server()):
            pass

    async def coroutine(*_given: object) -> None: ...

    with pytest.raises(TypeError, match=f"^{NOT_AWAITED[null]}$"):
        asyncio.run(main(null=null))
    # Of these nobody can tell, or they are.
    for other in (
        coroutine,
        staticmethod(coroutine),
        functools.partial(coroutine),
        functools.wraps(coroutine)(lambda *given: coroutine(*given)),
    ):
        asyncio.run(main(null=other))


def test_a_generator_that_can_be_awaited_is(shapes: Module) -> None:
    @types.coroutine
    def marked(*_given: object) -> typing.Generator[typing.Any, typing.Any, None]:
        yield from asyncio.sleep(0).__await__()
        ran.append("marked")

    ran: list[str] = []
    for null in (marked, functools.partial(marked)):
        members = {"add": marked, "null": null}
        with served("marked", type("Marked", (shapes.BaseAsyncServer,), members)):
            shapes.BaseClient.import_("marked").null()
    assert ran == ["marked"] * 2


class Made:
    """The servers of a scene, which its loop makes."""

    def __init__(self, make: typing.Callable[[], typing.Any]) -> None:
        self.make, self.all = make, list[typing.Any]()

    def __call__(self) -> typing.Any:
        self.all.append(self.make())
        return self.all[-1]

    def begun(self) -> int:
        return sum(one.begun for one in self.all)


def test_a_task_is_cancelled_when_its_client_gives_up(witness: Module) -> None:
    made = Made(witnessing(witness))
    with served("given-up", made):
        client = witness.WitnessClient.import_("given-up")
        for times in range(1, 4):
            pending = client.posting.linger()
            comes(made.begun, times)
            pending.cancel()
            comes(client.seen, times)
            comes(lambda: client.binding.captured_count, 0)


def test_a_deadline_ends_a_task(witness: Module) -> None:
    made = Made(witnessing(witness))
    with served("late", made):
        client = witness.WitnessClient.import_("late")
        # One that comes late does not begin.
        while made.begun() == 0:
            with pytest.raises((nearcall.CallAborted, nearcall.NotExecuted)):
                client.with_deadline(0.2).linger()
        comes(lambda: client.seen() == made.begun(), True)


def test_tasks_are_cancelled_when_their_client_ends(witness: Module) -> None:
    begin = "witness.WitnessClient.import_('ended').linger()"
    made = Made(witnessing(witness))
    with served("ended", made):
        path = os.path.dirname(witness.__file__ or "")
        command = [sys.executable, "-c", SEEING + begin, path]
        child = subprocess.Popen(command, env=confined(command[0]))
        client = witness.WitnessClient.import_("ended")
        comes(made.begun, 1)
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        comes(client.seen, 1)


def test_calls_that_a_task_makes_have_the_time_of_the_one_it_serves(witness: Module) -> None:
    class Asking(Witnessing, witness.WitnessAsyncServer):  # type: ignore[name-defined, misc]
        later: asyncio.Task[int] | None = None

        async def left(self) -> int:
            own = await super().left()
            theirs = await asks.left()
            assert theirs <= own
            self.later = asyncio.create_task(self.unbound())
            return typing.cast(int, theirs)

        async def unbound(self) -> int:
            while (call := nearcall.current_call()) and not call.is_cancelled:
                await asyncio.sleep(0.001)
            return typing.cast(int, await asks.left())

        async def seen(self) -> int:
            """Whether a task that goes on when the call has returned has all the time there is."""
            assert self.later is not None
            return int(await self.later == 2**64 - 1)

    asks: typing.Any = None

    def make() -> typing.Any:
        nonlocal asks
        asks = witness.WitnessAsyncClient.import_("asked")
        return Asking()

    with served("asked", witnessing(witness)), served("asking", make):
        client = witness.WitnessClient.import_("asking")
        assert 0 < client.with_deadline(LONG).left() < LONG * 1e9
        assert client.seen() == 1


def test_tasks_that_wait_for_their_servers_end_are_woken(lasting: Module) -> None:
    class Lasting(lasting.LastingAsyncServer):  # type: ignore[name-defined, misc]
        count = 0

        async def last(self) -> int:
            call = nearcall.current_call()
            assert call is not None and not call.is_ending
            # A wait that is given up leaves the next one as it is.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(call.ending(), 0.001)
            self.count += 1
            await call.ending()
            return int(call.is_ending)

        async def begun(self) -> int:
            return self.count

    async def main() -> list[int]:
        exported = nearcall.export("lasting-tasks", Lasting())
        importing = lasting.LastingAsyncClient.import_
        client = await asyncio.to_thread(importing, "lasting-tasks", grows=True)
        calls = [asyncio.ensure_future(client.last()) for _ in range(MEETING)]
        while await client.begun() != MEETING:
            await asyncio.sleep(0.001)
        exported.withdraw()
        return await asyncio.wait_for(asyncio.gather(*calls), LONG)

    assert asyncio.run(main()) == [1] * MEETING


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_when_the_loop_is_closed_nobody_waits(witness: Module, is_cancelled: bool) -> None:
    exported: list[nearcall.Exported] = []
    outcomes: list[type] = []
    ready = threading.Event()

    async def main() -> None:
        try:
            server = witnessing(witness)()
            exported.append(nearcall.export("closing", server))
        finally:
            ready.set()
        while server.begun == 0:
            await asyncio.sleep(0.001)

    def run() -> None:
        if is_cancelled:
            return asyncio.run(main())
        loop = asyncio.new_event_loop()
        loop.run_until_complete(main())
        loop.close()

    def linger() -> None:
        try:
            client.linger()
        except nearcall.CallError as error:
            outcomes.append(type(error))

    thread = threading.Thread(target=run, daemon=True)
    gc.disable()
    try:
        thread.start()
        ready.wait()
        client = witness.WitnessClient.import_("closing")
        call = threading.Thread(target=linger, daemon=True)
        call.start()
        call.join(30)
        # It ran, and has no results; what comes later does not run.
        assert outcomes == [nearcall.Panicked]
        thread.join()
        with pytest.raises(nearcall.NotExecuted):
            client.seen()
    finally:
        gc.enable()
    exported[0].withdraw()


def test_a_task_that_goes_on_keeps_nothing_of_a_client(shapes: Module) -> None:
    class Beginning(shapes.BaseAsyncServer):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            self.going_on: list[asyncio.Task[None]] = []

        async def null(self) -> None:
            self.going_on.append(asyncio.create_task(asyncio.sleep(LONG)))

        async def add(self, a: int, b: int) -> int:
            return len(os.listdir("/proc/self/fd"))

    with served("beginning", Beginning):
        client = shapes.BaseClient.import_("beginning")
        before = client.add(0, 0)
        for _ in range(GONE):
            shapes.BaseClient.import_("beginning").null()
        gc.collect()
        # Less than one each: the process opens and closes some of its own meanwhile.
        comes(lambda: client.add(0, 0) < before + GONE, True)


def test_no_wake_is_lost_where_calls_and_wakes_come_at_once(
    servers: None, shapes: Module
) -> None:
    class Adding(shapes.BaseAsyncServer):  # type: ignore[name-defined, misc]
        async def null(self) -> None: ...

        async def add(self, a: int, b: int) -> int:
            return a + b

    async def sleeps(client: typing.Any) -> None:
        for _ in range(1_500):
            await client.wait(1)

    async def adds(name: str) -> None:
        client = shapes.BaseAsyncClient.import_(name)
        for number in range(500):
            assert await client.add(number, 1) == number + 1

    async def main() -> None:
        with nearcall.export("own", Adding()):
            client = shapes.ShapesAsyncClient.import_("rust", grows=True)
            tasks = [sleeps(client) for _ in range(16)]
            tasks += [adds(name) for name in ("own", "theirs") for _ in range(4)]
            await asyncio.wait_for(asyncio.gather(*tasks), 120)

    with served("theirs", Adding):
        asyncio.run(main())


def test_who_is_awaited_is_exported_by_a_loop(witness: Module) -> None:
    why = "no running event loop: a task exports an AsyncServer, whose loop runs it"
    with pytest.raises(RuntimeError, match=why):
        nearcall.export("nowhere", witnessing(witness)())


def test_a_call_whose_task_has_not_begun_when_its_loop_ends_did_not_run(shapes: Module) -> None:
    class Adding(shapes.BaseAsyncServer):  # type: ignore[name-defined, misc]
        async def null(self) -> None: ...

        async def add(self, a: int, b: int) -> int:
            return a + b

    async def main() -> tuple[nearcall.Exported, typing.Any]:
        exported = nearcall.export("unbegun", Adding())
        posted = shapes.BaseClient.import_("unbegun").posting.add(2, 3)
        # It has come, and its task is made as the loop ends.
        assert select.select([nearcall.waiting.wakes()], [], [], LONG)[0]
        return exported, posted

    exported, posted = asyncio.run(main())
    with exported, pytest.raises(nearcall.NotExecuted) as told:
        posted.collect()
    assert told.value.ran is nearcall.Ran.NO
