"""Serves ``Base`` of ``shapes.idl``: ``posting_server.py MODULE NAME``. Says when ``null`` has begun,
which never returns."""

from __future__ import annotations

import pathlib
import sys
import threading

import nearcall

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
import shapes  # noqa: E402


class Base(shapes.BaseServer):
    def null(self) -> None:
        print("begun", flush=True)
        threading.Event().wait()

    def add(self, a: int, b: int) -> int:
        return a + b


with nearcall.export(sys.argv[2], Base()):
    print("ready", flush=True)
    sys.stdin.read()
