"""Oneofs in bytes that no stub writes: each is read, or refused, as the table says by which they
are sent to servers in Rust, C and C++, too."""

from __future__ import annotations

import pathlib
import subprocess
import typing

import nearcall
from conftest import PROGRAMS, ROOT, confined, generated


def told(piece: typing.Any) -> str:
    """A piece in the words in which it is wanted."""
    what = piece.what
    if what.discriminator == 0:
        assert what.value is None
        held = "-"
    else:
        held = f"({told(what.value)})" if what.discriminator == 3 else str(what.value)
    return f"{held}/{piece.after}"


def test_odd_oneofs_are_read_as_the_table_says(tmp_path: pathlib.Path) -> None:
    pieces = generated(ROOT / "tests/stubs-c/pieces.proto", tmp_path)
    seen: list[tuple[str, str]] = []

    class Judge(pieces.JudgeServer):  # type: ignore[name-defined, misc]
        def look(self, request: typing.Any) -> None:
            heaps = [request.listed, request.mapped.values()]
            told_of = ["".join(f"{told(piece)}," for piece in heap) for heap in heaps]
            seen.append((request.want, ";".join(told_of)))

    with nearcall.export("odd-python", Judge()):
        command = [PROGRAMS / "odd-pieces", "odd-python"]
        env = confined(command[0])
        done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    read, refused = map(int, done.stdout.split())
    assert len(seen) == read >= 40
    assert refused >= 80
    assert [one for one in seen if one[0] != one[1]] == []
