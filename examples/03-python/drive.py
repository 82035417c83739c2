"""Drives the engine, which is a process of its own."""

import time

import numpy

from engine import Empty, EngineClient


def main() -> None:
    engine = EngineClient.import_("engine")
    samples = numpy.sin(numpy.linspace(0.0, 6.28, 1_000_000))
    summary = engine.summarise(samples)
    print(f"{summary.least:.3f} to {summary.greatest:.3f}")
    smooth = engine.smooth(samples[:10], 3)
    print(f"{smooth.dtype} {smooth.shape}: {smooth[:3]}")
    try:
        engine.summarise([])
    except Empty as empty:
        print(f"raised {type(empty).__name__}; the procedure ran: {empty.ran.value}")
    calls = 10_000
    start = time.perf_counter()
    for _ in range(calls):
        engine.null()
    print(f"a call takes {(time.perf_counter() - start) / calls * 1e6:.2f} us")


if __name__ == "__main__":
    main()
