"""The same server as ``shapes-server``, in Python: ``server.py MODULE NAME [awaited]``."""

from __future__ import annotations

import pathlib
import sys
import time
import typing

import numpy

from awaiting import serve

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
import shapes  # noqa: E402


class Shapes(shapes.ShapesServer):
    def __init__(self) -> None:
        self.value = 0
        self.sum = 0

    def null(self) -> None:
        pass

    def add(self, a: int, b: int) -> int:
        return (a + b + 2**31) % 2**32 - 2**31

    def level(self) -> int:
        return self.value

    def set_level(self, value: int) -> None:
        self.value = value

    def words(
        self, a: bool, b: int, c: str, d: str, e: int, f: int, g: int, h: int, i: float, j: float,
        k: typing.Any, l: typing.Any, m: typing.Any,
    ) -> typing.Any:  # fmt: skip
        m.sum = -m.sum
        flags = l | shapes.Rights.OWN
        middle = shapes.Level.MIDDLE
        return (not a, b ^ 255, c, d, -e, f ^ 65535, -g, h ^ (2**64 - 1), 2 * i, 2 * j, middle, flags, m)

    def text(self, narrow: str, wide: str) -> str:
        return narrow + wide

    def bytes(self, given: typing.Any) -> typing.Any:
        return given[::-1]

    bytes_ = bytes

    def swap(self, given: typing.Any) -> typing.Any:
        if not given:
            raise shapes.Gone()
        if given[0] == 0:
            place = shapes.Point(1.0, -1.0)
            raise shapes.Refused("it begins with 0", len(given), place)
        half = len(given) // 2
        return given[:half], given[half:]

    def scale(self, given: typing.Any, factor: float) -> typing.Any:
        return given * factor

    def narrow(self, given: typing.Any) -> None:
        pass

    def turn(self, one: typing.Any, all: typing.Any) -> typing.Any:
        return numpy.concatenate([all, one[numpy.newaxis]])

    def meet(self, given: typing.Any, maybe: typing.Any) -> typing.Any:
        if maybe.discriminator:
            maybe = shapes.Maybe(True, -maybe.value)
        return given, given.place, maybe

    def grow(self, given: typing.Any) -> typing.Any:
        return shapes.Tree(given.value + 1, [given])

    def choose(self, given: typing.Any) -> typing.Any:
        return given

    def letters(self, given: typing.Any, levels: typing.Any) -> typing.Any:
        return [*given, str(len(levels))]

    def percent(self, given: int, all: typing.Any) -> int:
        return given + int(sum(all))

    def wait(self, milliseconds: int) -> None:
        time.sleep(milliseconds / 1000)

    def fail(self) -> None:
        raise RuntimeError("asked to")

    def post(self, value: int) -> None:
        self.sum += value

    def posted(self) -> int:
        return self.sum


serve({sys.argv[2]: (Shapes, shapes.ShapesAsyncServer)})
