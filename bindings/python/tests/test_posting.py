"""Several calls of one thread at once: posted now, collected later."""

from __future__ import annotations

import concurrent.futures
import gc
import os
import sys
import threading
import time
import types
import typing

import numpy
import pytest

import nearcall
from conftest import PROGRAMS, ROOT, TRIES, Process, aborted, is_interrupted

Module = types.ModuleType

#: More than a binding has A-stacks.
MANY = 100

#: The procedure `post` of ``Shapes``.
ONEWAY = 18


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
        yield shapes.BaseClient.import_("holding"), begun, free
        free.set()


def outstanding(post: typing.Callable[[], nearcall.Pending[int]]) -> list[nearcall.Pending[int]]:
    """A call on each A-stack."""
    pending: list[nearcall.Pending[int]] = []
    with pytest.raises(nearcall.Outstanding) as raised:
        while True:
            pending.append(post())
    assert isinstance(raised.value, nearcall.UsageError)
    assert raised.value.ran is nearcall.Ran.NO
    assert f"add: this thread has all {len(pending)} outstanding" in str(raised.value)
    return pending


def until_replied(pending: nearcall.Pending[typing.Any]) -> None:
    while not pending.is_replied:
        os.sched_yield()


def until_none_is_captured(client: typing.Any) -> None:
    while client.binding.captured_count > 0:
        os.sched_yield()


def test_calls_are_collected_in_any_order(client: typing.Any) -> None:
    posting = client.posting
    pending = [posting.add(value, 1) for value in range(4)]
    assert [one.collect() for one in reversed(pending)] == [4, 3, 2, 1]
    pending = [posting.add(value, 1) for value in range(4)]
    assert [one.collect() for one in pending] == [1, 2, 3, 4]


def test_what_is_collected_is_what_a_call_evaluates_to(client: typing.Any, shapes: Module) -> None:
    posting = client.posting
    assert posting.null().collect() is None
    assert posting.text("ab", "cd").collect() == "abcd"
    assert posting.swap(b"abcd").collect() == (b"ab", b"cd")
    scaled = posting.scale(numpy.arange(1_000, dtype=numpy.float64), 2.0).collect()
    assert numpy.array_equal(scaled, 2.0 * numpy.arange(1_000))
    assert posting.grow(shapes.Tree(1, [])).collect() == client.grow(shapes.Tree(1, []))
    posting.set_level(7).collect()
    assert posting.level().collect() == 7


def test_what_has_no_results_to_collect_is_not_posted(
    client: typing.Any, shapes: Module, passing: Module
) -> None:
    assert not hasattr(shapes.ShapesPosting, "post") and hasattr(shapes.ShapesPosting, "posted")
    assert hasattr(passing.FeedingClient, "rows") and not hasattr(passing.FeedingPosting, "rows")
    with pytest.raises(TypeError, match="post has no results to collect later"):
        client.binding.post(ONEWAY, 1)


def test_calls_are_under_way_at_once(shapes: Module) -> None:
    both = threading.Barrier(2, timeout=30)

    class Meeting(shapes.BaseServer):  # type: ignore[name-defined, misc]
        def null(self) -> None:
            both.wait()

        def add(self, a: int, b: int) -> int:
            return a + b

    with nearcall.export("meeting", Meeting()):
        posting = shapes.BaseClient.import_("meeting").posting
        first, second = posting.null(), posting.null()
        second.collect()
        first.collect()


def test_what_is_raised_is_raised_by_collect(client: typing.Any, shapes: Module) -> None:
    posting = client.posting
    gone, refused, failed = posting.swap(b""), posting.swap(b"\0abc"), posting.fail()
    with pytest.raises(nearcall.Panicked):
        failed.collect()
    with pytest.raises(shapes.Refused) as raised:
        refused.collect()
    assert raised.value.code == 4
    with pytest.raises(shapes.Gone):
        gone.collect()


def test_a_wrong_argument_is_raised_by_the_post(client: typing.Any) -> None:
    posting = client.posting
    with pytest.raises(nearcall.UsageError, match="narrow"):
        posting.text("nine bytes", "")
    with pytest.raises(TypeError):
        posting.add("1", 2)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        client.binding.post(1, 2)
    # Behind those that it inherits: its attribute's setter.
    told = [str(pytest.raises(TypeError, client.binding.post, at, *"many").value) for at in (2, 3)]
    assert any(" takes 1 argument, not 4" in one for one in told), told
    with pytest.raises(IndexError):
        client.binding.post(1_000)
    assert posting.add(1, 2).collect() == 3


def test_what_is_lent_is_copied_by_the_post(rust: typing.Any) -> None:
    lent = rust.binding.lend(4)
    memory = memoryview(lent)
    memory[:] = b"abcd"
    pending = rust.posting.swap(lent)
    memory[:] = b"efgh"
    assert pending.collect() == (b"ab", b"cd")
    assert rust.posting.swap(memory).collect() == (b"ef", b"gh")


def test_is_replied_tells_without_waiting(held: Held) -> None:
    client, _, free = held
    pending = client.posting.null()
    assert not pending.is_replied
    free.set()
    until_replied(pending)
    assert pending.collect() is None
    assert pending.is_replied


def test_a_call_is_collected_once(client: typing.Any) -> None:
    pending = client.posting.add(2, 3)
    assert pending.collect() == 5
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the call of add was collected already"):
            pending.collect()
    pending.cancel()


def test_another_thread_collects(client: typing.Any) -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as other:
        for value in range(MANY):
            pending = client.posting.add(value, 1)
            assert other.submit(pending.collect).result() == value + 1
    assert client.add(2, 3) == 5


def test_a_deadline_counts_from_the_post(rust: typing.Any) -> None:
    hasty = rust.with_deadline(0.2).posting

    def collected_late() -> None:
        late, there = hasty.wait(1_000), hasty.add(2, 3)
        until_replied(there)
        time.sleep(0.3)
        assert there.collect() == 5
        late.collect()

    assert aborted(collected_late).ran is nearcall.Ran.MAYBE
    assert rust.binding.captured_count >= 1


def test_the_server_sees_that_a_call_is_cancelled(witness: Module) -> None:
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

    with nearcall.export("cancelled", Seeing()):
        client = witness.WitnessClient.import_("cancelled")
        pending = client.posting.linger()
        assert begun.wait(30) and not ended.is_set()
        pending.cancel()
        assert ended.wait(30)
        with pytest.raises(RuntimeError, match="the call of linger was cancelled already"):
            pending.collect()
        pending.cancel()
        until_none_is_captured(client)


def test_what_is_dropped_gives_its_astack_back(client: typing.Any) -> None:
    for _ in range(MANY):
        client.posting.add(1, 2)
    until_none_is_captured(client)
    assert len([one.collect() for one in outstanding(lambda: client.posting.add(1, 2))]) > 1


def test_a_drop_does_not_wait(held: Held) -> None:
    client, begun, free = held
    pending = client.posting.null()
    assert begun.wait(30)
    del pending
    gc.collect()
    assert not free.is_set() and client.binding.captured_count == 1
    free.set()
    until_none_is_captured(client)


def test_what_outlives_its_client_is_collected(rust: typing.Any, shapes: Module) -> None:
    pending = shapes.ShapesClient.import_("rust").posting.add(2, 3)
    gc.collect()
    assert pending.collect() == 5


def test_a_thread_with_every_astack_outstanding_is_told(client: typing.Any) -> None:
    posting = client.posting
    pending = outstanding(lambda: posting.add(1, 2))
    with pytest.raises(nearcall.Outstanding):
        client.add(1, 2)
    assert [one.collect() for one in pending] == [3] * len(pending)
    assert posting.add(1, 2).collect() == 3


def test_call_all_makes_more_calls_than_there_are_astacks(client: typing.Any) -> None:
    posting = client.posting
    pairs = [(value, 1) for value in range(MANY)]
    sums = nearcall.call_all(pairs, lambda pair: posting.add(*pair))
    assert sums == list(range(1, MANY + 1))
    assert nearcall.call_all([], lambda pair: posting.add(*pair)) == []
    assert len(outstanding(lambda: posting.add(1, 2))) < MANY


def test_call_all_collects_everything_before_it_raises(client: typing.Any, shapes: Module) -> None:
    posting = client.posting
    given = [b"ab", b"", b"\0", b"cd"]
    with pytest.raises(shapes.Gone):
        nearcall.call_all(given, posting.swap)
    outcomes = nearcall.call_all(given, posting.swap, return_exceptions=True)
    assert outcomes[0] == (b"a", b"b") and outcomes[3] == (b"c", b"d")
    assert isinstance(outcomes[1], shapes.Gone) and isinstance(outcomes[2], shapes.Refused)
    mixed = [1, "2", 3]
    outcomes = nearcall.call_all(mixed, lambda one: posting.add(one, 1), return_exceptions=True)
    assert outcomes[0] == 2 and isinstance(outcomes[1], TypeError) and outcomes[2] == 4


def test_call_all_refuses_at_the_first_item_what_does_not_post(client: typing.Any) -> None:
    made = []

    def call(value: int) -> int:
        made.append(value)
        return typing.cast(int, client.add(value, 1))

    for return_exceptions in (False, True):
        with pytest.raises(TypeError, match=r"returns int .* use those of client\.posting"):
            nearcall.call_all([1, 2, 3], call, return_exceptions=return_exceptions)
    assert made == [1, 1]


def test_threads_that_call_all_do_not_wait_for_each_other(rust: typing.Any) -> None:
    posting = rust.posting

    def sums(own: int) -> bool:
        values = range(own, own + MANY)
        return nearcall.call_all(values, lambda one: posting.add(one, 1)) == [
            value + 1 for value in values
        ]

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert all(threads.map(sums, range(8)))


def test_call_all_cancels_when_its_items_raise(held: Held) -> None:
    client, begun, free = held

    def items() -> typing.Iterator[int]:
        yield 1
        assert begun.wait(30)
        raise KeyError("items")

    with pytest.raises(KeyError, match="items"):
        nearcall.call_all(items(), lambda _: client.posting.null())
    assert not free.is_set() and client.binding.captured_count == 1
    free.set()
    until_none_is_captured(client)


def test_control_c_interrupts_a_collect(rust: typing.Any) -> None:
    def is_given_up() -> bool:
        until_none_is_captured(rust)
        pending = rust.posting.wait(3_000)
        return is_interrupted(pending.collect) and rust.binding.captured_count == 1

    assert any(is_given_up() for _ in range(TRIES))
    assert rust.add(2, 3) == 5


def test_other_threads_run_while_one_collects(held: Held) -> None:
    client, _, free = held
    pending = client.posting.null()
    # If collect kept the interpreter's lock, nobody would set it.
    threading.Timer(0.1, free.set).start()
    assert pending.collect() is None


def test_the_death_of_a_server_tells_calls_apart(
    start: typing.Callable[..., Process], shapes: Module
) -> None:
    script = ROOT / "bindings/python/tests/posting_server.py"
    process = start(sys.executable, script, shapes.__file__, "mortal")
    posting = shapes.BaseClient.import_("mortal").posting
    begun = posting.null()
    assert process.child.stdout is not None and process.child.stdout.readline() == "begun\n"
    process.stop()
    waiting = [posting.add(1, 2) for _ in range(2)]
    process.kill()
    with pytest.raises(nearcall.CallFailed) as failed:
        begun.collect()
    assert failed.value.ran is nearcall.Ran.MAYBE
    for pending in waiting:
        with pytest.raises(nearcall.NotExecuted) as not_executed:
            pending.collect()
        assert not_executed.value.ran is nearcall.Ran.NO


def test_a_posted_call_is_not_made_once_more(
    start: typing.Callable[..., Process], again: Module
) -> None:
    script = ROOT / "bindings/python/tests/again_server.py"
    process = start(sys.executable, script, again.__file__, "once-only")
    client = again.AgainClient.import_("once-only")
    with pytest.raises(nearcall.CallFailed):
        client.posting.outlive(client.pid()).collect()
    process.child.wait()


def test_a_server_in_rust_that_ends_is_told(
    start: typing.Callable[..., Process], shapes: Module
) -> None:
    process = start(PROGRAMS / "shapes-server", "ending")
    posting = shapes.ShapesClient.import_("ending").posting
    pending = [posting.wait(60_000) for _ in range(3)]
    process.kill()
    for one in pending:
        with pytest.raises(nearcall.CallError) as raised:
            one.collect()
        assert isinstance(raised.value, nearcall.CallFailed | nearcall.NotExecuted)
