"""What the clients of the table ``python`` share: they answer orders as src/rival.rs says it.

    standard output: ready VERSION
    standard input:  CASE WARM_UP BATCHES BATCH     and so on, until it ends
    standard output: ns ns ns ...                   one number for each batch
"""

from __future__ import annotations

import asyncio
import sys
import time
import typing

Case = typing.Callable[[], object]

#: Makes so many calls.
Batch = typing.Callable[[int], object]
AwaitedBatch = typing.Callable[[int], typing.Coroutine[object, object, object]]


def obey(
    version: str,
    cases: dict[str, Case],
    batches_of: dict[str, Batch] | None = None,
    awaited: dict[str, AwaitedBatch] | None = None,
) -> None:
    """Says that it is ready, and times what it is told to until the input ends."""
    print("ready", version, flush=True)
    runner = asyncio.Runner()
    for line in sys.stdin:
        name, *numbers = line.split()
        warm_up, batches, batch = map(int, numbers)
        if awaited is not None and name in awaited:
            times = runner.run(awaited_times_ns(awaited[name], warm_up, batches, batch))
        elif batches_of is not None and name in batches_of:
            many = batches_of[name]
            many(warm_up)
            times = times_ns(lambda: many(batch), batches, 1)
        else:
            case = cases[name]
            for _ in range(warm_up):
                case()
            times = times_ns(case, batches, batch)
        print(*times, flush=True)


async def awaited_times_ns(
    case: AwaitedBatch, warm_up: int, batches: int, batch: int
) -> list[int]:
    """The same in an event loop that runs already."""
    now, times = time.monotonic_ns, []
    await case(warm_up)
    for _ in range(batches):
        begin = now()
        await case(batch)
        times.append(now() - begin)
    return times


def times_ns(case: Case, batches: int, batch: int) -> list[int]:
    """How long each batch takes."""
    now, times, calls = time.monotonic_ns, [], range(batch)
    for _ in range(batches):
        begin = now()
        for _ in calls:
            case()
        times.append(now() - begin)
    return times
