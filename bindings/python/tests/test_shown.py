"""What objects show themselves as: of which interface, under which name, and how it stands with
them. Whatever they are at, that waits for nobody."""

from __future__ import annotations

import asyncio
import os
import pathlib
import subprocess
import sys
import threading
import time
import typing

import pytest

import nearcall
from conftest import confined
from test_methods import till, tills

__all__ = ["tills"]


class Held(nearcall.Taker[int, int]):
    """Takes nothing until it is let."""

    def __init__(self, let: threading.Event) -> None:
        self.let = let

    def take(self, item: int) -> None:
        self.let.wait()

    def end(self) -> int:
        return 0


def slow(let: threading.Event) -> dict[str, object]:
    """Methods that do not return until they are let."""

    def follow(self: object, most: int) -> typing.Iterator[int]:
        let.wait()
        yield from range(most)

    return {
        "sum": lambda self, first, second: let.wait() and first + second,
        "follow": follow,
        "count": lambda self, most: Held(let),
    }


def test_clients_and_exports_show_interface_name_and_state(tills: typing.Any) -> None:
    exported = nearcall.export("till-shown", till(tills))
    client = tills.TillClient.import_("till-shown")
    at = "shop::Till at 'till-shown'"
    assert repr(exported) == f"<nearcall.Exported of {at}, open>"
    assert repr(exported.clerk) == f"<nearcall.Clerk of {at}, open>"
    assert repr(client) == f"<TillClient to {at}, open>"
    assert repr(client.with_deadline(1)) == f"<TillClient to {at}, open>"
    assert repr(client.posting) == f"<TillPosting to {at}, open>"
    assert repr(client.binding) == f"<nearcall.Binding to {at}, open>"
    assert repr(tills.TillAsyncClient(client.binding)) == f"<TillAsyncClient to {at}, open>"
    assert repr(client.binding.lend(64)) == "<nearcall.Lent of 64 bytes>"
    assert repr(tills.TillServer._interface) == "<nearcall.Interface shop::Till>"
    exported.withdraw()
    assert repr(exported) == f"<nearcall.Exported of {at}, withdrawn>"
    with pytest.raises(nearcall.Error):
        client.close()
    # The refusal of the call may be here first.
    while not client.binding.is_revoked:
        time.sleep(0.001)
    assert repr(client) == f"<TillClient to {at}, revoked>"
    assert repr(client.posting) == f"<TillPosting to {at}, revoked>"
    assert repr(object.__new__(tills.TillClient)) == "<TillClient that was not made whole>"


def test_nothing_that_inherits_keeps_a_client_from_being_shown(tills: typing.Any) -> None:
    nowhere = type("Nowhere", (tills.TillClient,), {})
    nowhere.__module__ = typing.cast(str, None)
    assert repr(object.__new__(nowhere)) == "<Nowhere that was not made whole>"
    raising = property(lambda self: 1 // 0)
    torn = type("Torn", (tills.TillClient,), {"_binding": raising})
    assert repr(object.__new__(torn)) == "<Torn whose _binding raises ZeroDivisionError>"


SHUT_DOWN = """
import sys, time

sys.path.insert(0, sys.argv[1])
import nearcall, tills


class Till(tills.TillServer):
    def sum(self, first, second): return first + second
    def close(self): ...
    def count(self, most): ...
    def follow(self, most): return []


exported = nearcall.export("till-over", Till())
client = tills.TillClient.import_("till-over")
nearcall.shut_down()
# The server's end is told to clients behind it.
while not client.binding.is_revoked:
    time.sleep(0.001)
print(exported, exported.clerk, client, sep="\\n")
"""


def test_what_was_exported_is_withdrawn_once_its_domain_was_shut_down(tills: typing.Any) -> None:
    command = [sys.executable, "-P", "-c", SHUT_DOWN, str(pathlib.Path(tills.__file__).parent)]
    environment = confined(sys.executable)
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    at = "shop::Till at 'till-over'"
    shown = [f"<nearcall.Exported of {at}, withdrawn>", f"<nearcall.Clerk of {at}, withdrawn>"]
    shown += [f"<TillClient to {at}, revoked>"]
    assert (ran.returncode, ran.stdout.splitlines(), ran.stderr) == (0, shown, "")


def test_posted_calls_show_how_far_they_are(tills: typing.Any) -> None:
    let = threading.Event()
    with nearcall.export("till-posted", till(tills, **slow(let))):
        posting = tills.TillClient.import_("till-posted").posting
        first, second = posting.sum(1, 2), posting.sum(3, 4)
        of = "of shop::Till.sum"
        assert repr(first) == f"<nearcall.Pending {of} at 'till-posted', under way>"
        second.cancel()
        assert repr(second) == f"<nearcall.Pending {of}, cancelled>"
        let.set()
        while not first.is_replied:
            pass
        assert repr(first) == f"<nearcall.Pending {of} at 'till-posted', replied>"
        assert first.collect() == 3
        assert repr(first) == f"<nearcall.Pending {of}, collected>"


def test_feeds_are_shown_while_a_thread_waits_for_them(tills: typing.Any) -> None:
    let = threading.Event()
    with nearcall.export("till-fed", till(tills, **slow(let))):
        client = tills.TillClient.import_("till-fed")
        feed, sink = client.follow(2), client.count(1)
        sink.put(7)
        items: list[int] = []
        threads = [threading.Thread(target=items.extend, args=(feed,))]
        threads.append(threading.Thread(target=sink.flush))
        for thread in threads:
            thread.start()
        follow = "of shop::Till.follow at 'till-fed'"
        count = "of shop::Till.count at 'till-fed'"
        assert repr(feed) == f"<nearcall.Feed {follow}, open>"
        assert repr(sink) == f"<nearcall.Sink {count}, open>"
        let.set()
        for thread in threads:
            thread.join()
        assert items == [0, 1]
        assert repr(feed) == f"<nearcall.Feed {follow}, over>"
        sink.close()
        assert repr(sink) == f"<nearcall.Sink {count}, over>"


def test_awaited_ends_are_shown(tills: typing.Any, talking: typing.Any) -> None:
    seen: list[str] = []

    async def echo(_server: object, *given: typing.Any) -> None:
        inlet, outlet = given[-2:]
        seen.extend([repr(inlet), repr(outlet), repr(nearcall.current_call())])
        inlet.close()
        outlet.close()
        seen.extend([repr(inlet), repr(outlet)])

    async def main() -> None:
        idle = dict.fromkeys(talking.TalkingAsyncServer.__abstractmethods__, echo)
        server = type("Echoing", (talking.TalkingAsyncServer,), idle)()
        with nearcall.export("talk-shown", server):
            client = talking.TalkingAsyncClient.import_("talk-shown")
            sink, feed = await client.echo()
            of = "talking::Talking.echo"
            assert repr(sink) == f"<nearcall.AsyncSink of {of} at 'talk-shown', open>"
            assert repr(feed) == f"<nearcall.AsyncFeed of {of} at 'talk-shown', open>"
            assert [one async for one in feed] == []
            assert repr(feed) == f"<nearcall.AsyncFeed of {of} at 'talk-shown', over>"
            ids = f"pid={os.getpid()}, uid={os.getuid()}, gid={os.getgid()}"
            assert seen == [
                f"<nearcall.AsyncInlet of {of}, open>",
                f"<nearcall.AsyncOutlet of {of}, open>",
                f"<nearcall.CurrentCall of Importer({ids}), running>",
                f"<nearcall.AsyncInlet of {of}, closed>",
                f"<nearcall.AsyncOutlet of {of}, closed>",
            ]

    asyncio.run(main())


def test_a_child_shows_what_its_parent_has(tills: typing.Any) -> None:
    with nearcall.export("till-parent", till(tills)) as exported:
        client = tills.TillClient.import_("till-parent")
        shown = [exported, client, client.posting, client.posting.sum(1, 2), client.follow(1)]
        child = os.fork()
        if child == 0:
            is_told = all(repr(one).endswith(", of the parent process>") for one in shown)
            os._exit(0 if is_told else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_a_clerk_is_asked_while_another_thread_has_it(
    tills: typing.Any, tmp_path: pathlib.Path
) -> None:
    """Whoever has its lock may wait for the interpreter's, and is not waited for with that."""
    policy = tmp_path / "own.policy"
    policy.write_text('[[rule]]\nid = "all"\nverdict = "admit"\n')
    policy.chmod(0o600)
    exported = nearcall.export("till-asked", till(tills), policy=policy)
    is_over = threading.Event()

    def read_again() -> None:
        for _ in range(100):
            exported.set_policy(policy)
        is_over.set()

    thread = threading.Thread(target=read_again)
    thread.start()
    while not is_over.is_set():
        assert "till-asked" in exported.clerk.path
        assert exported.clerk.binding_count == 0
        assert repr(exported).endswith("open>")
    thread.join()
    exported.withdraw()
