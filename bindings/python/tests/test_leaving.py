"""What a client has posted oneway just before it goes is begun all the same."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import types
import typing

import pytest

#: As many as a client has A-stacks for it.
COUNT = 5

#: A client that goes: where its stubs are, its server, and how.
LEAVING = f"""
import os
import signal
import sys

sys.path.append(sys.argv[1])
import shapes

client = shapes.ShapesClient.import_(sys.argv[2])
for _ in range({COUNT}):
    client.post(1)
if sys.argv[3] == "exits":
    os._exit(0)
if sys.argv[3] == "is killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(params=["rust", "python", "tasks"])
def name(request: pytest.FixtureRequest, servers: None) -> str:
    """Of each server."""
    assert isinstance(request.param, str)
    return request.param


def wait_for(client: typing.Any, posted: int) -> None:
    while client.posted() < posted:
        pass
    assert client.posted() == posted


def test_of_one_that_is_released(name: str, shapes: types.ModuleType) -> None:
    client, rounds = shapes.ShapesClient.import_(name), 50
    before = client.posted()
    for _ in range(rounds):
        leaving = shapes.ShapesClient.import_(name)
        for _ in range(COUNT):
            leaving.post(1)
        del leaving
    wait_for(client, before + rounds * COUNT)


@pytest.mark.parametrize("end", ["returns", "exits", "is killed"])
def test_of_a_process_that_ends(name: str, shapes: types.ModuleType, end: str) -> None:
    client, rounds = shapes.ShapesClient.import_(name), 3
    before = client.posted()
    directory = pathlib.Path(shapes.__file__ or "").parent
    for _ in range(rounds):
        command = [sys.executable, "-c", LEAVING, str(directory), name, end]
        code = subprocess.run(command).returncode
        assert (code == 0) == (end != "is killed")
    wait_for(client, before + rounds * COUNT)
