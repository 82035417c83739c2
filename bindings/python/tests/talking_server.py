"""A server of ``talking.idl``: ``talking_server.py MODULE NAME [awaited]`` exports it until its
standard input ends. Each exchange is a thread's, or a task's of one that is awaited."""

from __future__ import annotations

import asyncio
import os
import pathlib
import sys
import threading
import typing

import nearcall

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
import talking  # noqa: E402

Work = typing.Callable[[], None]


class Counts:
    """What the server counts."""

    alive = given_up = moved = 0
    lock = threading.Lock()

    @classmethod
    def add(cls, name: str, number: int) -> None:
        with cls.lock:
            setattr(cls, name, getattr(cls, name) + number)


def begin(work: Work) -> None:
    """Works on a thread of its own, and counts how that ends."""

    def run() -> None:
        try:
            work()
        except nearcall.GivenUp:
            Counts.add("given_up", 1)
        finally:
            Counts.add("alive", -2)

    Counts.add("alive", 2)
    threading.Thread(target=run, daemon=True).start()


class Talking(talking.TalkingServer):
    def __init__(self) -> None:
        self.both_kept: list[typing.Any] = []

    def talk(self, room: str, refused: int, inlet: typing.Any, outlet: typing.Any) -> None:
        if not room:
            raise talking.Refused(-1, "not that")

        def work() -> None:
            with inlet, outlet:
                for line in inlet:
                    if line.number == refused:
                        if room == "last words":
                            os._exit(0)
                        raise talking.Refused(refused, "not that")
                    outlet.put(talking.Line(line.number, room + line.text))

        def quietly() -> None:
            try:
                work()
            except talking.Refused:
                # The outlet has raised it.
                pass

        begin(quietly)

    def echo(self, inlet: typing.Any, outlet: typing.Any) -> None:
        def work() -> None:
            with inlet, outlet:
                for word in inlet:
                    outlet.put(word)

        begin(work)

    def kept(self, inlet: typing.Any, outlet: typing.Any) -> None:
        self.both_kept.append((inlet, outlet))
        Counts.add("alive", 2)

    def sums(self, inlet: typing.Any, outlet: typing.Any) -> None:
        def work() -> None:
            total = 0
            with inlet, outlet:
                for number in inlet:
                    total += number
                    outlet.put(total)

        begin(work)

    def deaf(self, count: int, inlet: typing.Any, outlet: typing.Any) -> None:
        inlet.close()

        def work() -> None:
            with outlet:
                for number in range(count):
                    outlet.put(number)
                    Counts.add("moved", 1)

        begin(work)

    def mute(self, count: int, inlet: typing.Any, outlet: typing.Any) -> None:
        def work() -> None:
            with inlet, outlet:
                for wanted, number in zip(range(count), inlet):
                    assert wanted == number
                    Counts.add("moved", 1)

        begin(work)

    def let_go(self) -> int:
        kept, self.both_kept = self.both_kept, []
        for inlet, outlet in kept:
            inlet.close()
            outlet.close()
        Counts.add("alive", -2 * len(kept))
        return len(kept)

    def alive(self) -> int:
        return Counts.alive

    def given_up(self) -> int:
        return Counts.given_up

    def moved(self) -> int:
        return Counts.moved


class AwaitedTalking(talking.TalkingAsyncServer):
    """The same, of which each exchange is a task's."""

    def __init__(self) -> None:
        self.own, self.working = Talking(), set[asyncio.Task[None]]()

    def begin(self, work: typing.Coroutine[typing.Any, typing.Any, None]) -> None:
        """Works on in a task of its own, and counts how that ends."""

        async def run() -> None:
            try:
                await work
            except nearcall.GivenUp:
                Counts.add("given_up", 1)
            except talking.Refused:
                # The outlet has raised it.
                pass
            finally:
                Counts.add("alive", -2)

        Counts.add("alive", 2)
        task = asyncio.create_task(run())
        self.working.add(task)
        task.add_done_callback(self.working.discard)

    async def talk(self, room: str, refused: int, inlet: typing.Any, outlet: typing.Any) -> None:
        if not room:
            raise talking.Refused(-1, "not that")

        async def work() -> None:
            async with inlet, outlet:
                async for line in inlet:
                    if line.number == refused:
                        if room == "last words":
                            os._exit(0)
                        raise talking.Refused(refused, "not that")
                    await outlet.put(talking.Line(line.number, room + line.text))

        self.begin(work())

    async def echo(self, inlet: typing.Any, outlet: typing.Any) -> None:
        async def work() -> None:
            async with inlet, outlet:
                async for word in inlet:
                    await outlet.put(word)

        self.begin(work())

    async def kept(self, inlet: typing.Any, outlet: typing.Any) -> None:
        self.own.kept(inlet, outlet)

    async def sums(self, inlet: typing.Any, outlet: typing.Any) -> None:
        async def work() -> None:
            total = 0
            async with inlet, outlet:
                async for number in inlet:
                    total += number
                    await outlet.put(total)

        self.begin(work())

    async def deaf(self, count: int, inlet: typing.Any, outlet: typing.Any) -> None:
        inlet.close()

        async def work() -> None:
            async with outlet:
                for number in range(count):
                    await outlet.put(number)
                    Counts.add("moved", 1)

        self.begin(work())

    async def mute(self, count: int, inlet: typing.Any, outlet: typing.Any) -> None:
        async def work() -> None:
            async with inlet, outlet:
                for wanted in range(count):
                    assert wanted == await anext(inlet)
                    Counts.add("moved", 1)

        self.begin(work())

    async def let_go(self) -> int:
        return self.own.let_go()

    async def alive(self) -> int:
        return Counts.alive

    async def given_up(self) -> int:
        return Counts.given_up

    async def moved(self) -> int:
        return Counts.moved


def told() -> None:
    print("ready", flush=True)
    sys.stdin.read()


async def await_all() -> None:
    with nearcall.export(sys.argv[2], AwaitedTalking()):
        await asyncio.to_thread(told)


if sys.argv[-1] == "awaited":
    asyncio.run(await_all())
else:
    with nearcall.export(sys.argv[2], Talking()):
        told()
