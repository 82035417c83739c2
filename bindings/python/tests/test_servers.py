"""That a server which ends as it should not fails its test."""

from __future__ import annotations

import signal
import sys

import pytest
from conftest import Process

READY = "print('ready', flush=True); import os, sys; "


def test_a_server_that_crashes_or_raises_fails_its_test() -> None:
    for code, how in [(-signal.SIGABRT, "os.abort()"), (1, "raise KeyError('lost')"), (3, "sys.exit(3)")]:
        process = Process(sys.executable, "-c", READY + how)
        with pytest.raises(AssertionError, match=f"ended with {int(code)}:"):
            process.end()
        # Whoever asks again is told again.
        with pytest.raises(AssertionError):
            process.end()


def test_a_server_that_is_killed_may_have_been_and_may_not_have_crashed() -> None:
    process = Process(sys.executable, "-c", READY + "sys.stdin.read()")
    process.kill()
    assert process.end() == ""
    crashed = Process(sys.executable, "-c", READY + "os.abort()")
    crashed.child.wait(10)
    crashed.kill()
    with pytest.raises(AssertionError, match="ended with -6:"):
        crashed.end()


def test_a_server_that_ends_in_order_says_what_it_has_to_say() -> None:
    process = Process(sys.executable, "-c", READY + "sys.stdin.read(); sys.stderr.write('over')")
    assert process.end() == process.end() == "over"
