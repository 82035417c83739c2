"""A server ends, and another takes its name: who is bound to which, and what is called again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading
import types
import typing

import pytest

import nearcall
from nearcall import waiting
from conftest import ROOT, Process

Again = types.ModuleType
Start = typing.Callable[..., Process]
Serve = typing.Callable[[str], Process]

#: Seconds that no test waits unless it fails.
LONG = 60.0


@pytest.fixture
def serve(start: Start, again: Again) -> Serve:
    """Starts a server under a name, in the next life if there was one."""
    script = ROOT / "bindings/python/tests/again_server.py"
    return lambda name: start(sys.executable, script, again.__file__, name)


@contextlib.contextmanager
def followed(serve: Serve, first: Process, name: str) -> typing.Iterator[list[Process]]:
    """Has another server follow the first one as soon as that has ended."""
    lives = [first]

    def follow() -> None:
        first.child.wait(LONG)
        lives.append(serve(name))

    following = threading.Thread(target=follow)
    following.start()
    yield lives
    following.join()


def ended(process: Process, client: typing.Any) -> None:
    """Kills a server, and waits until the client's binding knows."""
    process.kill()
    process.child.wait()
    while not client.binding.is_revoked:
        os.sched_yield()


def test_an_idempotent_call_outlives_its_server(serve: Serve, again: Again) -> None:
    first = serve("outlived")
    client = again.AgainClient.import_("outlived", rebind_timeout=LONG)
    pid = client.pid()
    assert pid == first.child.pid
    with followed(serve, first, "outlived") as lives:
        assert client.outlive(pid) != pid
    assert client.pid() == lives[1].child.pid
    # The old binding stays what it was.
    assert client.binding.is_revoked


def test_results_and_exceptions_of_the_second_try(serve: Serve, again: Again) -> None:
    first = serve("carried")
    client = again.AgainClient.import_("carried", rebind_timeout=LONG)
    octets = bytes(range(256)) * 256
    with followed(serve, first, "carried") as lives:
        assert client.carry(client.pid(), "text", octets) == ("text", octets)
    second = lives[1]
    with followed(serve, second, "carried") as lives:
        fresh = again.AgainClient(client.binding.rebind())
        with pytest.raises(again.Gone) as raised:
            fresh.carry(second.child.pid, "", b"")
    assert raised.value.which == lives[1].child.pid
    assert raised.value.ran is nearcall.Ran.YES


def test_an_awaited_call_outlives_its_server(serve: Serve, again: Again) -> None:
    first = serve("awaited-life")
    client = again.AgainAsyncClient.import_("awaited-life", rebind_timeout=LONG)

    async def outlive() -> tuple[int, int]:
        pid = await client.pid()
        return pid, await client.outlive(pid)

    with followed(serve, first, "awaited-life") as lives:
        before, after = asyncio.run(outlive())
    assert [before, after] == [life.child.pid for life in lives]


def test_a_thread_is_taken_by_the_second_try_of_an_awaited_call_alone(
    serve: Serve, again: Again, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[object] = []

    def in_thread(call: typing.Callable[..., typing.Any], *given: object) -> typing.Any:
        taken.append(call)
        return make(call, *given)

    make = waiting.in_thread
    monkeypatch.setattr(waiting, "in_thread", in_thread)
    first = serve("threadless")
    client = again.AgainAsyncClient.import_("threadless", rebind_timeout=LONG)

    async def outlive() -> int:
        pids = await asyncio.gather(*(client.pid() for _ in range(20)))
        assert pids == [first.child.pid] * 20 and taken == []
        with pytest.raises(again.Gone) as raised:
            await client.carry(0, "", b"")
        assert raised.value.which == first.child.pid and taken == []
        after: int = await client.outlive(first.child.pid)
        return after

    with followed(serve, first, "threadless") as lives:
        assert asyncio.run(outlive()) == lives[1].child.pid
    assert len(taken) == 1


def test_an_awaited_call_without_a_next_life_fails_as_the_first_try(
    serve: Serve, again: Again
) -> None:
    first = serve("lifeless")
    client = again.AgainAsyncClient.import_("lifeless")

    async def outlive() -> None:
        with pytest.raises(nearcall.CallFailed) as raised:
            await client.outlive(first.child.pid)
        assert raised.value.incarnation == client.binding.incarnation
        # Of what is not posted as well.
        with pytest.raises(nearcall.NotExecuted):
            await client.pid()

    asyncio.run(outlive())


def test_a_deadline_holds_for_both_tries_of_an_awaited_call(serve: Serve, again: Again) -> None:
    first = serve("awaited-deadline")
    client = again.AgainAsyncClient.import_("awaited-deadline", rebind_timeout=LONG)
    pid = first.child.pid
    ended(first, client)

    async def outlive() -> None:
        with pytest.raises(nearcall.NotExecuted):
            await client.with_deadline(0.3).outlive(pid)

    asyncio.run(outlive())


class Watched:
    """Knows of the call that a thread makes for a task whether it has begun, and is over."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.over = threading.Event(), threading.Event()
        self.make = waiting.in_thread
        monkeypatch.setattr(waiting, "in_thread", self.in_thread)

    def in_thread(self, *call: typing.Any) -> typing.Any:
        return self.make(self.run, *call)

    def run(self, call: typing.Callable[..., object], *given: object) -> object:
        self.begun.set()
        try:
            return call(*given)
        finally:
            self.over.set()


@pytest.fixture
def in_vain(
    serve: Serve, again: Again, monkeypatch: pytest.MonkeyPatch
) -> tuple[typing.Any, Watched]:
    """A client whose server has ended, which waits for the next one for longer than a test does;
    and what is known of the thread that waits then."""
    first = serve("awaited-in-vain")
    client = again.AgainAsyncClient.import_("awaited-in-vain", rebind_timeout=2 * LONG)
    ended(first, client)
    return client, Watched(monkeypatch)


def test_a_task_is_cancelled_while_its_second_try_waits(
    in_vain: tuple[typing.Any, Watched],
) -> None:
    client, second_try = in_vain

    async def cancelled() -> None:
        call = asyncio.ensure_future(client.pid())
        while not second_try.begun.is_set():
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancelled())
    # Its thread waits no longer either.
    assert second_try.over.wait(LONG)


def test_a_task_is_closed_while_its_second_try_waits(
    in_vain: tuple[typing.Any, Watched],
) -> None:
    client, second_try = in_vain

    async def closed() -> None:
        call = client.pid()
        # Its first step, as a task makes it.
        call.send(None)
        while not second_try.begun.is_set():
            await asyncio.sleep(0)
        call.close()

    asyncio.run(closed())
    assert second_try.over.wait(LONG)


def test_a_loop_is_closed_while_the_second_try_of_its_task_waits(
    in_vain: tuple[typing.Any, Watched],
) -> None:
    client, second_try = in_vain
    loop = asyncio.new_event_loop()

    async def left() -> typing.Any:
        call = asyncio.ensure_future(client.pid())
        while not second_try.begun.is_set():
            await asyncio.sleep(0)
        return call

    call = loop.run_until_complete(left())
    # Nobody cancels it, and it is held.
    loop.close()
    assert second_try.over.wait(LONG)
    assert not call.done()


def test_posted_calls_outlive_their_server(serve: Serve, again: Again) -> None:
    first = serve("posted-life")
    client = again.AgainClient.import_("posted-life", rebind_timeout=LONG)
    octets = bytearray(b"octets" * 20_000)
    before = bytes(octets)
    with followed(serve, first, "posted-life") as lives:
        pid = client.pid()
        carried = client.posting.carry(pid, "text", octets)
        outlived = client.posting.outlive(pid)
        # They are the caller's again.
        octets[:] = bytes(len(octets))
        assert carried.collect() == ("text", before)
        after = outlived.collect()
    assert after == lives[1].child.pid
    # Over the dead binding.
    early = client.posting.pid()
    assert early.is_replied
    assert early.collect() == after
    client.posting.outlive(0).cancel()
    with pytest.raises(again.Gone) as raised:
        client.posting.carry(0, "", b"").collect()
    assert raised.value.which == after


def test_what_is_posted_and_may_not_run_twice_fails(serve: Serve, again: Again) -> None:
    first = serve("posted-once")
    client = again.AgainClient.import_("posted-once", rebind_timeout=LONG)
    ended = client.posting.end(client.pid())
    first.child.wait()
    serve("posted-once")
    with pytest.raises(nearcall.CallFailed) as raised:
        ended.collect()
    assert raised.value.ran is nearcall.Ran.MAYBE
    with pytest.raises(nearcall.NotExecuted):
        client.posting.end(0)


def test_a_deadline_holds_for_both_tries_of_a_posted_call(serve: Serve, again: Again) -> None:
    first = serve("posted-hasty")
    client = again.AgainClient.import_("posted-hasty", rebind_timeout=LONG)
    ended(first, client)
    with pytest.raises(nearcall.NotExecuted):
        client.with_deadline(0.05).posting.pid().collect()


def test_what_may_not_run_twice_fails(serve: Serve, again: Again) -> None:
    first = serve("once-only")
    client = again.AgainClient.import_("once-only", rebind_timeout=LONG)
    with pytest.raises(nearcall.CallFailed) as raised:
        client.end(client.pid())
    assert raised.value.ran is nearcall.Ran.MAYBE
    first.child.wait()
    second = serve("once-only")
    # Nothing rebinds behind its back.
    with pytest.raises(nearcall.NotExecuted):
        client.end(0)
    assert again.AgainClient(client.binding.rebind()).end(0) == second.child.pid


def test_without_a_next_life_the_first_failure_is_told(serve: Serve, again: Again) -> None:
    serve("no-next")
    client = again.AgainClient.import_("no-next")
    with pytest.raises(nearcall.CallFailed, match="outlive"):
        client.outlive(client.pid())
    with pytest.raises(nearcall.NoSuchName, match="no-next"):
        client.binding.rebind()


def test_a_rebind_takes_what_is_exported_now(serve: Serve, again: Again) -> None:
    first = serve("rebound")
    client = again.AgainClient.import_("rebound")
    same = client.binding.rebind()
    assert same.incarnation == client.binding.incarnation
    ended(first, client)
    second = serve("rebound")
    rebound = client.binding.rebind()
    assert rebound.incarnation > client.binding.incarnation
    assert not rebound.is_revoked and client.binding.is_revoked
    assert again.AgainClient(rebound).pid() == second.child.pid
    assert asyncio.run(again.AgainAsyncClient(rebound).pid()) == second.child.pid


def test_a_rebind_waits_for_a_server_that_comes_later(serve: Serve, again: Again) -> None:
    first = serve("later")
    client = again.AgainClient.import_("later", rebind_timeout=LONG)
    ended(first, client)
    rebound: list[nearcall.Binding] = []
    waiting = threading.Thread(target=lambda: rebound.append(client.binding.rebind()))
    waiting.start()
    second = serve("later")
    waiting.join()
    assert again.AgainClient(rebound[0]).pid() == second.child.pid


def test_an_import_waits_for_a_server_that_comes_later(serve: Serve, again: Again) -> None:
    bound: list[typing.Any] = []
    waiting = threading.Thread(
        target=lambda: bound.append(again.AgainClient.import_("comes", ready_timeout=LONG))
    )
    waiting.start()
    server = serve("comes")
    waiting.join()
    assert bound[0].pid() == server.child.pid


def test_an_import_in_vain_says_for_what_and_how_long(again: Again) -> None:
    with pytest.raises(nearcall.NotReady, match='"never" was not ready within 20ms: no domain'):
        again.AgainClient.import_("never", ready_timeout=0.02)


@pytest.mark.parametrize("is_over", [True, False])
def test_an_import_ends_with_the_process_that_it_waits_for(
    serve: Serve, again: Again, is_over: bool
) -> None:
    process = serve("another")
    with open(os.pidfd_open(process.child.pid), "rb") as pidfd:
        if is_over:
            process.kill()
            os.waitid(os.P_PIDFD, pidfd.fileno(), os.WEXITED | os.WNOWAIT)
        else:
            threading.Thread(target=process.kill).start()
        with pytest.raises(nearcall.ProcessEnded) as raised:
            again.AgainClient.import_("never", ready_timeout=LONG, ready_pidfd=pidfd)
    words = '"never" was not ready when the process that it waited for ended (signal: 9 (SIGKILL))'
    assert str(raised.value).startswith(words + ": no domain")
    assert isinstance(raised.value.__cause__, nearcall.NoSuchName)
    assert (raised.value.ran, raised.value.may_retry) == (nearcall.Ran.NO, False)
    # It is its parent's to wait for, as before.
    assert process.child.wait(LONG) == -signal.SIGKILL


def test_a_descriptor_of_another_kind_is_no_pidfd(again: Again) -> None:
    wrong = pytest.raises(nearcall.BindError, match="^ready_pidfd is no pidfd$")
    with socket.socket() as other, wrong:
        again.AgainClient.import_("never", ready_timeout=LONG, ready_pidfd=other)


def test_a_rebind_in_vain_says_for_what_and_how_long(serve: Serve, again: Again) -> None:
    serve("vain")
    client = again.AgainClient.import_("vain", rebind_timeout=0.05)
    with pytest.raises(nearcall.CallFailed):
        client.outlive(client.pid())
    with pytest.raises(nearcall.BindError, match='"vain" was not ready within 50ms: no domain'):
        client.binding.rebind()


def test_a_deadline_holds_for_both_tries(serve: Serve, again: Again) -> None:
    first = serve("hasty")
    client = again.AgainClient.import_("hasty", rebind_timeout=LONG)
    ended(first, client)
    # It would wait for a minute else.
    with pytest.raises(nearcall.NotExecuted):
        client.with_deadline(0.05).pid()


@pytest.mark.parametrize("what", ["bind", "import", "rebind"])
def test_a_signal_ends_what_waits(serve: Serve, again: Again, what: str) -> None:
    first = serve("interrupted")
    client = again.AgainClient.import_("interrupted", rebind_timeout=LONG)
    if what == "bind":
        first.stop()
    else:
        ended(first, client)
    begun, own = threading.Event(), threading.get_ident()

    def interrupt() -> None:
        begun.wait()
        signal.pthread_kill(own, signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        begun.set()
        if what == "bind":
            again.AgainClient.import_("interrupted", timeout=LONG)
        if what == "import":
            again.AgainClient.import_("interrupted", ready_timeout=LONG)
        client.binding.rebind()
    interrupting.join()
    first.child.send_signal(signal.SIGCONT)


def test_a_wait_that_is_no_time_is_refused(again: Again) -> None:
    with pytest.raises(ValueError, match="rebind_timeout is -1.0 seconds: it may be 0 to 184"):
        again.AgainClient.import_("nobody", rebind_timeout=-1)
    with pytest.raises(ValueError, match="ready_timeout is -2.0 seconds: it may be 0 to 184"):
        again.AgainClient.import_("nobody", ready_timeout=-2)
    with pytest.raises(ValueError, match=r"^timeout is 1e300 seconds: it may be 0 to 184"):
        again.AgainClient.import_("nobody", timeout=1e300)
