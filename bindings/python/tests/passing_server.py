"""The same server as ``passing-server``, in Python: ``passing_server.py MODULE NAME``."""

from __future__ import annotations

import os
import pathlib
import sys
import typing

import nearcall

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
import passing  # noqa: E402


def pipe_with(text: str) -> typing.IO[bytes]:
    read, write = os.pipe()
    with os.fdopen(write, "w") as file:
        file.write(text)
    return os.fdopen(read, "rb")


class Vault(passing.VaultServer):
    def swap(self, file: typing.Any, text: str, link: typing.Any) -> typing.Any:
        if text == "busy":
            raise passing.Busy(7)
        # One as the object that it came as, the other as a number, which is handed over.
        return link, file.detach()

    def measure(self, segment: typing.Any) -> int:
        return os.fstat(segment.fileno()).st_size

    def piped(self, text: str) -> typing.Any:
        return pipe_with(text)

    def torn(self) -> typing.Any:
        return os.dup(0), "123456789"

    def wrong(self) -> typing.Any:
        read, write = os.pipe()
        os.close(write)
        return read

    def close(self, given: typing.Any) -> None:
        with given:
            assert not given.closed

    def open_count(self) -> int:
        return len(os.listdir("/proc/self/fd"))


with nearcall.export(sys.argv[2], Vault()):
    print("ready", flush=True)
    sys.stdin.read()
