"""What a procedure learns of the call that it serves: who calls, whether that one still waits, and
whether its server ends."""

from __future__ import annotations

import errno
import os
import pathlib
import resource
import subprocess
import sys
import threading
import time
import types
import typing

import pytest
from conftest import LATE, confined, is_late

import nearcall

Witness = types.ModuleType

#: Longer than any call takes, and when calls are given up that would never return, seconds.
LONG, SOON = 60.0, 0.05


@pytest.fixture
def client(witness: Witness) -> typing.Iterator[typing.Any]:
    class Seeing(witness.WitnessServer):  # type: ignore[name-defined, misc]
        count = 0

        def who(self) -> tuple[int, int, int]:
            caller = current().importer
            assert None not in (caller.uid, caller.gid, caller.pid)
            return caller.uid or 0, caller.gid or 0, caller.pid or 0

        def giver(self) -> int:
            giver = current().giver
            return -1 if giver is None or giver.pid is None else giver.pid

        def left(self) -> int:
            call = current()
            assert not call.is_cancelled
            left = call.time_left
            return 2**64 - 1 if left is None else int(left * 1e9)

        def linger(self) -> None:
            call = current()
            # Another thread may ask as well.
            asking = threading.Thread(target=until_cancelled, args=[call])
            asking.start()
            asking.join()
            self.count += 1

        def seen(self) -> int:
            return self.count

    with nearcall.export("witness", Seeing()):
        yield witness.WitnessClient.import_("witness")


def current() -> nearcall.CurrentCall:
    call = nearcall.current_call()
    assert call is not None
    return call


def until_cancelled(call: nearcall.CurrentCall) -> None:
    while not call.is_cancelled:
        time.sleep(0.001)


def test_who_calls(client: typing.Any) -> None:
    assert client.who() == (os.getuid(), os.getgid(), os.getpid())


def test_who_has_introduced_the_caller(client: typing.Any) -> None:
    assert client.giver() == -1
    introduced = type(client).import_introduced(client.binding.introduce())
    assert introduced.giver() == os.getpid()


@pytest.fixture
def groups() -> typing.Iterator[list[int]]:
    """The further groups of this process, of which there is one where that may be."""
    before = os.getgroups()
    try:
        os.setgroups([271_828])
    except PermissionError:
        yield before
        return
    yield os.getgroups()
    os.setgroups(before)


def cgroup() -> str | None:
    """The control group of this process, as the system tells."""
    lines = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
    return next((line[3:] for line in lines if line.startswith("0::")), None)


def test_what_else_is_known_of_the_caller_and_of_who_has_introduced_it(
    witness: Witness, seeing: typing.Any, groups: list[int]
) -> None:
    asked: list[nearcall.Importer | None] = []

    class Asking(type(seeing)):  # type: ignore[misc]
        def seen(self) -> int:
            asked.extend([current().importer, current().giver])
            return len(asked)

    with nearcall.export("asking", Asking()):
        client = witness.WitnessClient.import_("asking")
        introduced = witness.WitnessClient.import_introduced(client.binding.introduce())
        assert (client.seen(), introduced.seen()) == (2, 4)
        importer, nobody, other, giver = asked
        assert nobody is None
        for one in [importer, other, giver]:
            assert one is not None
            assert all(one.is_in_group(group) for group in groups)
            assert not one.is_in_group(max(groups, default=0) + 1) and one.are_groups_all
            assert one.cgroup() == cgroup()
            assert one.label is None or one.label
            pidfd = one.pidfd()
            try:
                told = pathlib.Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines()
                assert f"Pid:\t{os.getpid()}" in told
                assert not os.get_inheritable(pidfd)
            finally:
                # It is ours: else nobody could.
                os.close(pidfd)


def test_without_room_for_a_descriptor_there_is_no_pidfd(
    witness: Witness, seeing: typing.Any
) -> None:
    asked: list[nearcall.Importer] = []

    class Asking(type(seeing)):  # type: ignore[misc]
        def seen(self) -> int:
            asked.append(current().importer)
            return len(asked)

    with nearcall.export("asked", Asking()):
        client = witness.WitnessClient.import_("asked")
        assert client.seen() == 1
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
        try:
            with pytest.raises(OSError) as raised:
                asked[0].pidfd()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert raised.value.errno == errno.EMFILE


def test_how_long_the_caller_still_waits(client: typing.Any) -> None:
    assert client.left() == 2**64 - 1
    assert LONG / 2 < client.with_deadline(LONG).left() / 1e9 <= LONG


def test_a_call_that_its_caller_has_given_up_is_cancelled(client: typing.Any) -> None:
    # Beside other work one may be given up before it was taken.
    until = time.monotonic() + LONG
    while client.seen() == 0:
        assert time.monotonic() < until
        with pytest.raises(LATE) as raised:
            client.with_deadline(SOON).linger()
        assert is_late(raised.value)
        while client.binding.captured_count > 0:
            time.sleep(0.001)
    assert client.seen() == 1


#: Serves a call that takes as long as this process's part lives, and ends.
LASTING = """
import sys
import threading

import nearcall

sys.path.append(sys.argv[1])
import lasting

begun = threading.Event()


class Lasting(lasting.LastingServer):
    def last(self):
        call = nearcall.current_call()
        begun.set()
        while not call.is_ending:
            pass
        return 7

    def begun(self): return 1


exported = nearcall.export("lasting-to-exit", Lasting())
pending = lasting.LastingClient.import_("lasting-to-exit").posting.last()
begun.wait()
nearcall.shut_down()
print(pending.collect())
"""


def test_a_procedure_that_asks_keeps_no_end_waiting(lasting: types.ModuleType) -> None:
    stubs = str(pathlib.Path(lasting.__file__ or "").parent)
    command = [sys.executable, "-P", "-c", LASTING, stubs]
    environment = confined(sys.executable)
    ran = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=LONG
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "7\n", "")


def test_a_procedure_is_told_that_its_server_was_withdrawn(lasting: types.ModuleType) -> None:
    class Lasting(lasting.LastingServer):  # type: ignore[name-defined, misc]
        def last(self) -> int:
            call = current()
            asked.append(call.is_ending)
            while not call.is_ending and not call.is_cancelled:
                time.sleep(0.001)
            return int(call.is_ending)

        def begun(self) -> int:
            return len(asked)

    asked: list[bool] = []
    exported = nearcall.export("lasting", Lasting())
    client = lasting.LastingClient.import_("lasting")
    pending = client.with_deadline(LONG).posting.last()
    while client.begun() == 0:
        time.sleep(0.001)
    exported.withdraw()
    assert (pending.collect(), asked) == (1, [False])


def test_outside_of_a_procedure_there_is_none() -> None:
    assert nearcall.current_call() is None
