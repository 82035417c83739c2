"""A child that was forked drops what its parent has, and the parent notices nothing."""

from __future__ import annotations

import asyncio
import gc
import os
import types
import typing
import unittest.mock

import pytest

import nearcall

Passing = types.ModuleType
Shapes = types.ModuleType
Witness = types.ModuleType

#: Longer than anything takes, seconds.
LONG = 60.0


def in_child(drop: typing.Callable[[], object]) -> None:
    """Has a child do that, and collect what nobody holds then."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            drop()
            gc.collect()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_a_binding_goes_on(rust: typing.Any, shapes: Shapes) -> None:
    held = {"client": shapes.ShapesClient.import_("rust")}
    assert held["client"].add(2, 3) == 5
    in_child(held.clear)
    assert held["client"].add(3, 4) == 7
    assert not held["client"].binding.is_revoked


def test_a_posted_call_is_collected(rust: typing.Any, shapes: Shapes) -> None:
    client = shapes.ShapesClient.import_("rust")
    for let_go in (list.clear, lambda calls: [call.cancel() for call in calls]):
        calls = [client.posting.add(n, 1) for n in range(3)]
        in_child(lambda let_go=let_go, calls=calls: let_go(calls))  # type: ignore[misc]
        assert [call.collect() for call in calls] == [1, 2, 3]
    assert client.binding.captured_count == 0


def test_lent_memory_stays_lent(rust: typing.Any, shapes: Shapes) -> None:
    client = shapes.ShapesClient.import_("rust")
    held = [client.binding.lend(1 << 20)]
    memoryview(held[0])[:3] = b"abc"
    in_child(held.clear)
    returned, back = client.swap(held[0])
    assert len(returned) + len(back) == 1 << 20 and returned[:3] == b"abc"


def test_a_child_is_refused_what_would_be_its_parents_call(
    rust: typing.Any, shapes: Shapes
) -> None:
    client = shapes.ShapesClient.import_("rust")
    awaiting = shapes.ShapesAsyncClient.import_("rust")
    posted = client.posting.add(1, 2)

    async def awaited() -> None:
        await awaiting.add(2, 3)

    def refused() -> None:
        for use in (
            lambda: client.add(2, 3),
            lambda: client.posting.add(2, 3),
            posted.collect,
            lambda: asyncio.run(awaited()),
            lambda: client.binding.lend(1),
            client.binding.rebind,
            client.binding.introduce,
            lambda: shapes.ShapesClient.import_("rust"),
        ):
            with pytest.raises(RuntimeError, match="was forked from"):
                use()

    in_child(refused)
    assert client.add(3, 4) == 7
    assert posted.collect() == 3
    assert not client.binding.is_revoked


def test_a_child_is_refused_what_a_thread_of_its_parents_would_make(passing: Passing) -> None:
    idle = dict.fromkeys(passing.FeedingServer.__abstractmethods__, unittest.mock.Mock())
    counting = {"numbers": lambda self, count, pause_ms: iter(range(count))}
    server = type("Counting", (passing.FeedingServer,), idle | counting)
    with nearcall.export("counting", server()):
        client = passing.FeedingAsyncClient.import_("counting")

        async def numbers() -> list[int]:
            async with asyncio.timeout(LONG):
                return [number async for number in await client.numbers(5, 0)]

        def refused() -> None:
            with pytest.raises(RuntimeError, match="was forked from"):
                asyncio.run(numbers())

        assert asyncio.run(numbers()) == list(range(5))
        in_child(refused)
        assert asyncio.run(numbers()) == list(range(5))


def test_an_export_goes_on(witness: Witness, seeing: typing.Any) -> None:
    held = [nearcall.export("forked", seeing)]
    client = witness.WitnessClient.import_("forked")
    assert client.giver() == 7
    in_child(held.clear)
    in_child(held[0].withdraw)
    assert client.giver() == 7
    assert witness.WitnessClient.import_("forked").seen() == 9
    held[0].withdraw()
    with pytest.raises(nearcall.NoSuchName):
        witness.WitnessClient.import_("forked", timeout=0.1)
