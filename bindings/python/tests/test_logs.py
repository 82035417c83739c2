"""What the runtime tells is a record of `logging`: of who came and went, and of who lies."""

from __future__ import annotations

import json
import logging
import pathlib
import subprocess
import sys
import time
import types
import typing

import pytest

import nearcall
from conftest import PROGRAMS, SEEING, Process, confined
from nearcall import logs

#: Exports, is called once, and ends.
PROGRAM = SEEING + """
import logging

if len(sys.argv) > 2:
    said = "%(levelname)s %(name)s %(message)s"
    logging.basicConfig(level=sys.argv[2], filename=sys.argv[3], filemode="w", format=said)


with nearcall.export("told", Seeing()):
    assert witness.WitnessClient.import_("told").seen() == 9
"""


def told(witness: types.ModuleType, place: pathlib.Path, *level: str) -> tuple[list[str], str]:
    """What the program logs, and what it says on standard error."""
    script = place / "told.py"
    script.write_text(PROGRAM)
    stubs = pathlib.Path(witness.__file__ or "").parent
    # A file that is closed at exit, and opened anew if it is written to then.
    logged = place / "logged"
    logged.write_text("")
    told_how = [*level, str(logged)] if level else []
    command = [sys.executable, "-P", str(script), str(stubs), *told_how]
    env = confined(command[0])
    ran = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    assert ran.stdout == ""
    return logged.read_text().splitlines(), ran.stderr


def test_who_came_and_went_is_written_down(
    witness: types.ModuleType, tmp_path: pathlib.Path
) -> None:
    (bound, revoked), said = told(witness, tmp_path, "INFO")
    assert bound.startswith("INFO nearcall.audit bound name=told interface=witness::Witness uid=")
    assert " rule=" in bound and " dropped=0" in bound
    # It is told at the end of the process, and arrives.
    assert revoked.startswith("INFO nearcall.audit revoked name=told") and " reason=" in revoked
    assert said == ""


def test_nothing_is_said_where_nobody_asks(
    witness: types.ModuleType, tmp_path: pathlib.Path
) -> None:
    assert told(witness, tmp_path) == ([], "")
    assert told(witness, tmp_path, "WARNING") == ([], "")


#: Calls liars when all that was imported later than this was is gone.
LATE = """
import atexit
import logging
import sys
import time


def call_liars():
    for client in clients:
        try:
            client.swap(b"1")
        except nearcall.Error:
            pass


atexit.register(call_liars)
import nearcall

sys.path.append(sys.argv[1])
import shapes

# Slow, so that whoever tells is in the middle of it when the interpreter ends.
handler = logging.Handler()
handler.emit = lambda record: time.sleep(0.02)
logging.getLogger().addHandler(handler)
clients = [shapes.ShapesClient.import_("late-lies") for _ in range(8)]
"""

#: Ends its part where it is told something.
ENDS = """
import logging
import sys

import nearcall

sys.path.append(sys.argv[1])
import shapes

handler = logging.Handler()
handler.emit = lambda record: nearcall.shut_down()
logging.getLogger().addHandler(handler)
try:
    shapes.ShapesClient.import_("late-lies").swap(b"1")
except nearcall.Peer as error:
    print(error.ran.value)
"""


@pytest.mark.parametrize("script", [LATE, ENDS])
def test_what_is_told_at_the_end_ends_no_process(
    start: typing.Callable[..., Process], shapes: types.ModuleType, script: str
) -> None:
    start(PROGRAMS / "hostile-server", "late-lies")
    stubs = str(pathlib.Path(shapes.__file__ or "").parent)
    for _ in range(5):
        command = [sys.executable, "-P", "-c", script, stubs]
        env = confined(command[0])
        ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
        assert (ran.returncode, ran.stderr) == (0, "")


def test_who_lies_is_warned_of(
    start: typing.Callable[..., Process],
    shapes: types.ModuleType,
    caplog: pytest.LogCaptureFixture,
) -> None:
    start(PROGRAMS / "hostile-server", "told-lies")
    client = shapes.ShapesClient.import_("told-lies")
    with pytest.raises(nearcall.Peer):
        client.swap(b"1")
    record = awaited(caplog, "the server broke the protocol")
    assert (record.levelno, record.name) == (logging.WARNING, "nearcall.client.wait")
    fields: dict[str, typing.Any] = record.__dict__["nearcall"]
    assert fields["name"] == "told-lies" and fields["message"] in record.getMessage()


def awaited(caplog: pytest.LogCaptureFixture, message: str) -> logging.LogRecord:
    """The record with that in it, which comes from a thread of its own."""
    for _ in range(1000):
        found = [record for record in caplog.records if message in record.getMessage()]
        if found:
            return found[0]
        time.sleep(0.01)
    pytest.fail(f"{message!r} was not logged in 10 s")


def test_how_many_lines_were_left_out_is_told(caplog: pytest.LogCaptureFixture) -> None:
    event = {"timestamp": "now", "level": "WARN", "message": "no room", "target": "nearcall::a::b"}
    logs.tell(logging.WARNING, json.dumps(event), 7)
    (record,) = caplog.records
    assert (record.name, record.getMessage()) == ("nearcall.a.b", "no room left_out=7")
    assert record.__dict__["nearcall"] == {"message": "no room", "left_out": 7}
    logs.tell(logging.INFO, json.dumps(event), 5)
    assert len(caplog.records) == 1
    # Also those before one that nobody wants to see.
    logs.tell(logging.WARNING, json.dumps(event), 2)
    assert caplog.records[1].getMessage() == "no room left_out=7"
