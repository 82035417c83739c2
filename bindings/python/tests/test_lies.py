"""A peer that tells every kind of lie at every place of every interface file: each is refused, and
nothing crashes. What is told, and what is counted, is ``lies-to-python``'s."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from conftest import PROGRAMS, RECORD


def test_lies_are_refused_and_valid_messages_are_not(tmp_path: pathlib.Path) -> None:
    tmp_path.chmod(0o700)
    command = [PROGRAMS / "lies-to-python", sys.executable, tmp_path, os.environ[RECORD]]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    readers = ["Python server", "Python client", "Python, awaited client", "Python, posted client"]
    for reader in readers:
        assert f"{reader}: " in done.stdout
