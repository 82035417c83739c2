"""Before a client goes: what it has posted oneway has run, if it asks for that."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import types

import pytest
from conftest import confined

#: As many as a client has A-stacks for it.
COUNT = 5

#: A client that posts, flushes and ends at once: where its stubs are, and its server.
LEAVING = f"""
import os
import sys

sys.path.append(sys.argv[1])
import shapes

client = shapes.ShapesClient.import_(sys.argv[2])
for _ in range({COUNT}):
    client.post(1)
left = client.binding.flush(30)
os._exit(left)
"""


@pytest.fixture(params=["rust", "python", "tasks"])
def name(request: pytest.FixtureRequest, servers: None) -> str:
    """Of each server."""
    assert isinstance(request.param, str)
    return request.param


def test_what_was_flushed_has_run(name: str, shapes: types.ModuleType) -> None:
    client, rounds = shapes.ShapesClient.import_(name), 20
    before = client.posted()
    for _ in range(rounds):
        leaving = shapes.ShapesClient.import_(name)
        for _ in range(COUNT):
            leaving.post(1)
        assert leaving.binding.flush(30) == 0
        del leaving
    assert client.posted() == before + rounds * COUNT


def test_of_a_process_that_ends(name: str, shapes: types.ModuleType) -> None:
    client, rounds = shapes.ShapesClient.import_(name), 3
    before = client.posted()
    directory = pathlib.Path(shapes.__file__ or "").parent
    for _ in range(rounds):
        command = [sys.executable, "-c", LEAVING, str(directory), name]
        assert subprocess.run(command, env=confined(sys.executable)).returncode == 0
    assert client.posted() == before + rounds * COUNT


def test_a_time_that_is_none_is_refused(name: str, shapes: types.ModuleType) -> None:
    client = shapes.ShapesClient.import_(name)
    assert client.binding.flush(0) == 0
    with pytest.raises(ValueError):
        client.binding.flush(-1)
