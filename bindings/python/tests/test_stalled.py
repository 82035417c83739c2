"""A client that stops in the middle of a large argument (docs/design/0008): a server in Python has
its other threads run, and serves others."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import pathlib
import signal
import sys
import threading
import time
import types
import typing

import pytest

#: The client that is stopped: a page in the middle of its argument is taken from it, so that the
#: copy faults there again and again. Another thread of it is told of the fault, stops all of it,
#: and gives the page back when it goes on.
CALLING = """
import ctypes
import mmap
import os
import signal
import sys
import threading

import nearcall
import numpy

os.sched_setaffinity(0, {int(sys.argv[3])})
sys.path.append(sys.argv[1])
import shapes

client = shapes.ShapesClient.import_(sys.argv[2])
memory = mmap.mmap(-1, 32_000_000)
given = numpy.frombuffer(memory, numpy.float64)
# From the second one on a server reads such an argument while it is copied.
client.scale(given, 1.0)
page = ctypes.c_void_p(given.ctypes.data + 4000 * mmap.PAGESIZE)
protect = ctypes.CDLL(None, use_errno=True).mprotect

told, tell = os.pipe()
os.set_blocking(tell, False)
signal.signal(signal.SIGSEGV, lambda *_: None)
signal.set_wakeup_fd(tell, warn_on_full_buffer=False)

def stop():
    os.read(told, 1)
    os.kill(os.getpid(), signal.SIGSTOP)
    assert protect(page, mmap.PAGESIZE, mmap.PROT_READ) == 0

threading.Thread(target=stop, daemon=True).start()
assert protect(page, mmap.PAGESIZE, 0) == 0
print("ready", flush=True)
client.scale(given, 1.0)
"""

#: How long a client is stopped, until that is longer than one of that length is waited for: where
#: the server itself has to wait for a processor, only some of the time counts.
STOPS_S = (1.5, 3, 6, 12, 24)

#: How long others' calls are looked for: less than the client that was stopped is waited for.
LOOKED_S = 1.0


@contextlib.contextmanager
def kept_awake(other: typing.Any) -> typing.Iterator[list[float]]:
    """Has another client call without an end, so that the server does not sleep: each returns.
    When each of them did."""
    is_over, returned = threading.Event(), list[float]()

    def call() -> None:
        while not is_over.is_set():
            assert other.add(3, 4) == 7
            returned.append(time.monotonic())

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        called = pool.submit(call)
        try:
            yield returned
        finally:
            is_over.set()
        called.result()


def test_others_are_served_while_a_client_has_stopped_in_an_argument(
    shapes: types.ModuleType, start: typing.Callable[..., typing.Any]
) -> None:
    processors = os.sched_getaffinity(0)
    if len(processors) < 2:
        pytest.skip("one processor: a server reads no argument while it is copied")
    own, clients = sorted(processors)[:2]
    served, refused = list[bool](), list[bool]()
    directory = pathlib.Path(shapes.__file__ or "").parent
    script = pathlib.Path(__file__).parent / "server.py"
    # The server's, too: an argument from another one is read while it is copied.
    os.sched_setaffinity(0, {own})
    try:
        start(sys.executable, script, shapes.__file__, "stalled")
        other = shapes.ShapesClient.import_("stalled")
        for stop_s in STOPS_S:
            with kept_awake(other) as returned:
                client = start(sys.executable, "-c", CALLING, directory, "stalled", clients)
                os.waitid(os.P_PID, client.child.pid, os.WSTOPPED)
                stopped = time.monotonic()
                time.sleep(LOOKED_S)
                # Behind the one that was under way then; unless the machine stood still meanwhile.
                served.append(sum(at > stopped for at in list(returned)) > 1)
                time.sleep(stop_s - LOOKED_S)
            client.child.send_signal(signal.SIGCONT)
            # Else by an exception that nobody catches: what it was stopped in was given up.
            client.codes = {0, 1}
            refused.append("the server refused the arguments" in client.end())
            if served[-1] and refused[-1]:
                return
    finally:
        os.sched_setaffinity(0, processors)
    assert any(served), "others wait as well"
    pytest.fail(f"the server has waited for a client that was stopped: {served}, {refused}")
