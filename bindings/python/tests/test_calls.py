"""Waiting, failing, giving up: what a call does besides moving values."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import sys
import threading
import time
import types
import typing

import pytest

import nearcall
from conftest import PROGRAMS, ROOT, TRIES, Process, aborted, is_interrupted

Shapes = types.ModuleType


def test_a_name_that_nobody_exports(shapes: Shapes) -> None:
    with pytest.raises(nearcall.NoSuchName, match="nobody"):
        shapes.ShapesClient.import_("nobody")


def test_another_interface_is_refused(
    start: typing.Callable[..., Process], shapes: Shapes
) -> None:
    start(PROGRAMS / "shapes-server", "other")
    with pytest.raises(nearcall.BindError, match="shapes::Base"):
        shapes.BaseClient.import_("other")


def test_a_name_is_exported_once(start: typing.Callable[..., Process], shapes: Shapes) -> None:
    start(PROGRAMS / "shapes-server", "once")
    with pytest.raises(nearcall.ExportError, match="already exported"):
        nearcall.export("once", idle_server(shapes))


def idle_server(shapes: Shapes) -> typing.Any:
    class Idle(shapes.BaseServer):  # type: ignore[name-defined, misc]
        def null(self) -> None:
            pass

        def add(self, a: int, b: int) -> int:
            return a + b

    return Idle()


def test_a_server_of_this_process(shapes: Shapes) -> None:
    with nearcall.export("own", idle_server(shapes)) as exported:
        client = shapes.BaseClient.import_("own")
        assert client.add(2, 3) == 5
        assert exported.clerk.binding_count == 1
        assert client.binding.name == "own" and client.binding.astack_count > 0
    # A call may still be posted while the withdrawal is on its way.
    with pytest.raises(nearcall.CallError):
        client.add(2, 3)
    # That it is refused may come before the news of why.
    while not client.binding.is_revoked:
        os.sched_yield()
    with pytest.raises(nearcall.NotExecuted) as raised:
        client.add(2, 3)
    assert raised.value.ran is nearcall.Ran.NO


def test_a_processor_keeps_what_the_interpreter_knows_of_it(shapes: Shapes) -> None:
    own = threading.local()

    class Counting(shapes.BaseServer):  # type: ignore[name-defined, misc]
        def null(self) -> None:
            pass

        def add(self, a: int, b: int) -> int:
            own.count = getattr(own, "count", 0) + 1
            return typing.cast(int, own.count)

    with nearcall.export("counting", Counting()):
        client = shapes.BaseClient.import_("counting")
        assert max(client.add(0, 0) for _ in range(100)) > 1


def test_what_a_server_lacks_is_told_when_it_is_made(shapes: Shapes) -> None:
    with pytest.raises(TypeError, match="abstract"):
        shapes.BaseServer()


def test_an_error_of_the_server_is_a_panic(client: typing.Any) -> None:
    with pytest.raises(nearcall.Panicked) as raised:
        client.fail()
    assert raised.value.ran is nearcall.Ran.YES
    client.null()


def test_a_server_in_python_shows_its_traceback(
    start: typing.Callable[..., Process], shapes: Shapes
) -> None:
    script = ROOT / "bindings/python/tests/server.py"
    process = start(sys.executable, script, shapes.__file__, "shown")
    with pytest.raises(nearcall.Panicked):
        shapes.ShapesClient.import_("shown").fail()
    assert "RuntimeError: asked to" in process.end()


def test_a_deadline_of_no_time_posts_nothing(rust: typing.Any) -> None:
    late = rust.with_deadline(0)
    for call in (late.null, late.posting.null):
        with pytest.raises(nearcall.NotExecuted) as raised:
            call()
        assert raised.value.ran is nearcall.Ran.NO


def test_a_deadline_that_is_no_time_is_refused(rust: typing.Any) -> None:
    for never in (-1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="deadline is .* seconds: it may be 0 to 184"):
            rust.with_deadline(never)


def test_a_deadline_aborts(rust: typing.Any) -> None:
    rust.null()
    assert aborted(lambda: rust.with_deadline(0.05).wait(3_000)).ran is nearcall.Ran.MAYBE
    assert rust.binding.captured_count >= 1


def test_the_death_of_a_server_ends_its_call(
    start: typing.Callable[..., Process], shapes: Shapes
) -> None:
    # One whose server is killed before it has taken the call did not run.
    for _ in range(TRIES):
        process = start(PROGRAMS / "shapes-server", "mortal")
        client = shapes.ShapesClient.import_("mortal")
        threading.Timer(0.2, process.kill).start()
        with pytest.raises((nearcall.CallFailed, nearcall.NotExecuted)) as raised:
            client.wait(60_000)
        if isinstance(raised.value, nearcall.CallFailed):
            break
        assert raised.value.reason is nearcall.Reason.SERVER_ENDED
    assert raised.value.ran is nearcall.Ran.MAYBE
    with pytest.raises(nearcall.NotExecuted):
        client.null()


def test_other_threads_run_while_a_call_waits(rust: typing.Any) -> None:
    def turns(milliseconds: int) -> int:
        waiting = threading.Thread(target=rust.wait, args=(milliseconds,))
        waiting.start()
        turns = 0
        while waiting.is_alive():
            turns += 1
            time.sleep(0.001)
        return turns

    # One that kept them from running would leave them a turn or two.
    assert any(turns(300 << doubling) > 5 for doubling in range(5))


def test_threads_share_a_client(rust: typing.Any) -> None:
    def call(own: int) -> list[int]:
        return [rust.add(own, value) for value in range(500)]

    owns = range(0, 8_000, 1_000)
    with concurrent.futures.ThreadPoolExecutor(len(owns)) as threads:
        sums = list(threads.map(call, owns))
    assert sums == [list(range(own, own + 500)) for own in owns]


def test_control_c_interrupts_a_call(rust: typing.Any) -> None:
    def is_given_up() -> bool:
        while rust.binding.captured_count > 0:
            time.sleep(0.001)
        return is_interrupted(lambda: rust.wait(3_000)) and rust.binding.captured_count == 1

    assert any(is_given_up() for _ in range(TRIES))
    assert rust.add(2, 3) == 5


def test_calls_are_awaited_together(rust: typing.Any, shapes: Shapes) -> None:
    client = shapes.ShapesAsyncClient(rust.binding)

    async def are_together(milliseconds: int) -> bool:
        waiting = asyncio.create_task(client.wait(milliseconds))
        sums = [await client.add(value, 1) for value in range(10)]
        assert sums == list(range(1, 11))
        are_together = not waiting.done()
        await waiting
        return are_together

    assert any(asyncio.run(are_together(300 << doubling)) for doubling in range(5))


def test_a_call_whose_task_is_cancelled_is_aborted(
    rust: typing.Any, shapes: Shapes
) -> None:
    client = shapes.ShapesAsyncClient(rust.binding)

    async def is_aborted(milliseconds: int) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(client.wait(milliseconds), 0.2)
        begun, is_aborted = time.monotonic(), False
        while not is_aborted and time.monotonic() - begun < milliseconds / 2_000:
            await asyncio.sleep(0.01)
            is_aborted = rust.binding.captured_count > 0
        assert await client.add(2, 3) == 5
        return is_aborted

    # It may have returned before anybody looks.
    assert any(asyncio.run(is_aborted(3_000 << doubling)) for doubling in range(4))


def test_an_awaited_call_raises(rust: typing.Any, shapes: Shapes) -> None:
    client = shapes.ShapesAsyncClient(rust.binding)

    async def call() -> None:
        with pytest.raises(shapes.Gone):
            await client.swap(b"")

    asyncio.run(call())
    aborted(lambda: asyncio.run(client.with_deadline(0.05).wait(3_000)))


def test_a_child_that_was_forked_is_told(rust: typing.Any, shapes: Shapes) -> None:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            shapes.ShapesClient.import_("rust")
            os.write(write, b"imported")
        except RuntimeError as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert b"was forked" in os.read(read, 1000)
