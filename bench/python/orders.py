"""What the clients of the table ``python`` share: they answer orders as src/rival.rs says it.

    standard output: ready VERSION
    standard input:  CASE WARM_UP BATCHES BATCH     and so on, until it ends
    standard output: ns ns ns ...                   one number for each batch
"""

from __future__ import annotations

import sys
import time
import typing

Case = typing.Callable[[], object]


def obey(version: str, cases: dict[str, Case]) -> None:
    """Says that it is ready, and times what it is told to until the input ends."""
    print("ready", version, flush=True)
    for line in sys.stdin:
        name, *numbers = line.split()
        warm_up, batches, batch = map(int, numbers)
        case = cases[name]
        for _ in range(warm_up):
            case()
        print(*times_ns(case, batches, batch), flush=True)


def times_ns(case: Case, batches: int, batch: int) -> list[int]:
    """How long each batch takes."""
    now, times, calls = time.monotonic_ns, [], range(batch)
    for _ in range(batches):
        begin = now()
        for _ in calls:
            case()
        times.append(now() - begin)
    return times
