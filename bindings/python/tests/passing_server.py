"""The same server as ``passing-server``, in Python: ``passing_server.py MODULE VAULT FEEDING
[awaited]``."""

from __future__ import annotations

import os
import pathlib
import sys
import threading
import time
import typing

import nearcall
from awaiting import serve

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

    def ask(self, introduction: typing.Any) -> int:
        try:
            return passing.VaultClient.import_introduced(introduction).open_count()
        except nearcall.BindError:
            return 0

    def close(self, given: typing.Any) -> None:
        with given:
            assert not given.closed

    def open_count(self) -> int:
        return len(os.listdir("/proc/self/fd"))

    def either(self, link: typing.Any, file: typing.Any) -> typing.Any:
        return (None, file.detach()) if link is None else (link, None)


class Held:
    """Counts itself for as long as it is there."""

    count = 0
    lock = threading.Lock()

    def __init__(self) -> None:
        self.add(1)

    @classmethod
    def add(cls, number: int) -> None:
        with cls.lock:
            cls.count += number


class Eater(nearcall.Taker[typing.Any, typing.Any]):
    """What takes items, and what it makes of them."""

    def __init__(self, made: typing.Any, take: typing.Callable[..., typing.Any]) -> None:
        self.made, self.eat, self.held = made, take, Held()

    def take(self, item: typing.Any) -> None:
        self.made = self.eat(self.made, item)

    def end(self) -> typing.Any:
        return self.made

    def close(self) -> None:
        self.held.add(-1)


def items(all: typing.Iterable[typing.Any]) -> typing.Iterator[typing.Any]:
    """The same, counted from the first to the last."""
    held = Held()
    try:
        yield from all
    finally:
        held.add(-1)


class Feeding(passing.FeedingServer):
    def rows(self, name: str, count: int, refused: int) -> typing.Any:
        if not name:
            raise passing.Refused(-1, "not that")

        def row(key: int) -> typing.Any:
            if key == refused:
                raise passing.Refused(key, "not that")
            return passing.Row(key, f"{name} {key}")

        return items(map(row, range(count)))

    def numbers(self, count: int, pause_ms: int) -> typing.Any:
        def number(value: int) -> int:
            if pause_ms:
                time.sleep(pause_ms / 1000)
            return value

        return items(map(number, range(count)))

    def lines(self, letters: int) -> typing.Any:
        return items(["x" * letters])

    def octets(self, count: int) -> typing.Any:
        return items(octet % 256 for octet in range(count))

    def digests(self, count: int) -> typing.Any:
        return items(number.to_bytes(4, "big") for number in range(count))

    def torn(self) -> typing.Any:
        return items(passing.Row(key, "x" * (33 if key == 3 else 1)) for key in range(9))

    def load(self, name: str, refused: int) -> typing.Any:
        if not name:
            raise passing.Refused(-1, "not that")

        def take(count: int, row: typing.Any) -> int:
            if row.key == refused:
                raise passing.Refused(row.key, "not that")
            return count + 1

        return Eater(0, take)

    def sum(self) -> typing.Any:
        return Eater(0, lambda sum, number: sum + number)

    def joined(self) -> typing.Any:
        return Eater("", lambda all, line: all + line)

    def dropped(self) -> typing.Any:
        return Eater(None, lambda _, byte: None)

    def alive(self) -> int:
        return Held.count


serve(
    {
        sys.argv[2]: (Vault, passing.VaultAsyncServer),
        sys.argv[3]: (Feeding, passing.FeedingAsyncServer),
    }
)
