"""A client that stops in the middle of a large argument (docs/design/0008): a server in Python has
its other threads run, and serves others."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
import time
import types
import typing

import pytest

#: The client that is stopped: it does nothing but copy large arguments, and goes on after each.
CALLING = """
import sys

import nearcall
import numpy

sys.path.append(sys.argv[1])
import shapes

client = shapes.ShapesClient.import_(sys.argv[2])
given = numpy.ones(4_000_000, numpy.float64)
client.scale(given, 1.0)
print("ready", flush=True)
while True:
    client.scale(given, 1.0)
"""

#: Stops of which one has to meet a client that copies an argument: some of its time it does.
TRIES = 30

#: Longer than a client of that length is waited for.
STOPPED_S = 1.5


def test_others_are_served_while_a_client_has_stopped_in_an_argument(
    shapes: types.ModuleType, start: typing.Callable[..., typing.Any]
) -> None:
    directory = pathlib.Path(shapes.__file__ or "").parent
    script = pathlib.Path(__file__).parent / "server.py"
    start(sys.executable, script, shapes.__file__, "stalled")
    other = shapes.ShapesClient.import_("stalled").with_deadline(STOPPED_S / 2)
    for _ in range(TRIES):
        client = start(sys.executable, "-c", CALLING, directory, "stalled")
        client.stop()
        until = time.monotonic() + STOPPED_S
        while time.monotonic() < until:
            assert other.add(3, 4) == 7
        client.child.send_signal(signal.SIGCONT)
        try:
            # What it was stopped in was given up, if it was an argument.
            client.child.wait(timeout=1)
            # By an exception that nobody catches.
            client.codes = {1}
            said = client.end()
            if "the server refused the arguments" in said:
                return
        except subprocess.TimeoutExpired:
            client.kill()
    pytest.fail("no stop met a client that copied")
