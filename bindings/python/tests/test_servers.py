"""That a server which ends as it should not, or makes a system call that is not listed, fails its
test."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys

import pytest
from conftest import BASE, RECORD, Process, confined, strayed

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


def test_a_server_that_makes_a_system_call_which_is_not_listed_fails_its_test(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "record"
    monkeypatch.setenv(RECORD, str(record))
    process = Process(sys.executable, "-c", READY + "os.chdir('/')")
    named = "the system call chdir is not on the list of system calls"
    with pytest.raises(AssertionError, match=f"ended with 159: {named}\n"):
        process.end()
    assert strayed(record) == [f"strayed: {named}"]
    started, confined, _ = record.read_text().splitlines()
    assert (started, confined) == ("started", f"confined {process.child.pid}")


def test_an_interpreter_outside_of_an_environment_begins_with_what_is_listed(
    tmp_path: pathlib.Path,
) -> None:
    # It looks for what its user has installed, which one in an environment does not.
    program = "import site, sys; print(site.ENABLE_USER_SITE, sys.prefix == sys.base_prefix)"
    # This user has installed nothing, whoever runs the test.
    environment = confined(BASE) | {"HOME": str(tmp_path), "PYTHONUSERBASE": str(tmp_path)}
    environment.pop("PYTHONNOUSERSITE", None)
    ran = subprocess.run([BASE, "-c", program], env=environment, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("True True\n", "")


def test_what_would_not_be_confined_is_not_started() -> None:
    with pytest.raises(AssertionError, match="would be started, and not confined"):
        subprocess.run([sys.executable, "-c", ""])
